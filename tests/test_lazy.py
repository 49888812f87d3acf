"""Modules that are put off: loaded whole when something of them is used, and not before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rankscope.lazy import is_put_off, put_off, use


def printed(program: str, place: Path | None = None) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=place, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


BEGIN = """
import sys
from rankscope.lazy import is_put_off, put_off, use
put_off("numpy")
import numpy
import numpy as np
assert is_put_off("numpy") and "numpy._core" not in sys.modules
"""


@pytest.mark.parametrize(
    "used",
    [
        "np.arange(3)",
        "import numpy.typing",
        "from numpy import linalg",
        "import numpy.linalg",
        "import numpy.linalg._linalg, numpy._core._multiarray_umath",
        "from numpy.linalg import LinAlgError; assert LinAlgError is np.linalg.LinAlgError",
        "from numpy.random import default_rng; default_rng(1)",
        "import scipy.stats; scipy.stats.kendalltau([1, 2, 3], [1, 3, 2])",
        "use('numpy')",
        "import pickle; pickle.dumps(np.float64(1))",
    ],
)
def test_numpy_is_whole_when_it_is_used(used: str) -> None:
    check = (
        "assert not is_put_off('numpy') and np is numpy is sys.modules['numpy']\n"
        "from numpy.linalg import _linalg\n"
        "assert np.linalg.LinAlgError is _linalg.LinAlgError and np.linalg is sys.modules['numpy.linalg']\n"
        "assert np.linalg.__spec__.origin.endswith('__init__.py') and np.linalg._linalg is _linalg\n"
        "assert type(np).__name__ == 'module' and np.__path__ and np.linalg.inv([[2.0]]).tolist() == [[0.5]]\n"
        "print(np.sum(np.ones(3)))"
    )
    assert printed(f"{BEGIN}{used}\n{check}") == "3.0\n"


def test_a_module_that_is_loaded_stays_as_it_is() -> None:
    before = sys.modules["pathlib"]
    put_off("pathlib")
    use("pathlib")
    assert sys.modules["pathlib"] is before and not is_put_off("pathlib")


def test_there_may_be_no_such_module() -> None:
    put_off("no_such_module_anywhere")
    assert "no_such_module_anywhere" not in sys.modules


def test_a_module_that_fails_can_be_tried_again(tmp_path: Path) -> None:
    (tmp_path / "broken_now.py").write_text("raise OSError('not today')\n")
    program = (
        "import sys\nfrom rankscope.lazy import put_off\nput_off('broken_now')\nimport broken_now\n"
        "try:\n    broken_now.anything\nexcept OSError as error:\n    print(error, 'broken_now' in sys.modules)\n"
    )
    assert printed(program, tmp_path) == "not today False\n"
