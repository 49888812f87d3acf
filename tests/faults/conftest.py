"""The faulty disks are a module of their own: the tests import it, and so do the processes that they kill."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
