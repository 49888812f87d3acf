"""``python -m rankscope`` is ``rankscope``."""

import sys

from rankscope.cli.main import main

sys.exit(main())
