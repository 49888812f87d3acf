"""Distribution functions of SciPy, imported without the rest of scipy.special."""

from __future__ import annotations

import subprocess
import sys

SHORT = """
import sys
from rankscope.analysis.stats import special_functions as ours
assert "scipy.special" not in sys.modules and "numpy.f2py" not in sys.modules
import scipy.special, scipy.stats
assert all(getattr(ours, name) is getattr(scipy.special, name) for name in ours.__all__)
assert scipy.special.zeta(2.0, 1.0) > 1.6 and scipy.stats.norm.cdf(0) == 0.5
"""
WITH_A_THREAD = """
import sys, threading
stop = threading.Event()
thread = threading.Thread(target=stop.wait)
thread.start()
from rankscope.analysis.stats import special_functions as ours
stop.set()
assert sys.modules["scipy.special"].stdtrit is ours.stdtrit
"""


def _run(code):
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_functions_are_those_of_scipy_and_the_package_is_imported_only_by_others():
    _run(SHORT)


def test_with_other_threads_the_whole_package_is_imported():
    _run(WITH_A_THREAD)


def test_a_package_that_is_already_imported_is_used():
    _run("import scipy.special, sys\nbefore = sys.modules['scipy.special']\n"
         "from rankscope.analysis.stats.special_functions import ndtr\n"
         "assert sys.modules['scipy.special'] is before and before.ndtr is ndtr")  # fmt: skip
