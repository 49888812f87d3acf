"""The numbers of findings from scratch are a module of their own, which the tests import."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
