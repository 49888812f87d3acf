"""``python -m rankscope`` is ``rankscope``."""

import sys

from rankscope.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
