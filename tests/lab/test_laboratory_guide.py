"""The guide to the laboratory says what the program does: its examples run."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "laboratory.md"


def test_the_examples_of_the_guide() -> None:
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8", optionflags=flags)
    assert tried > 15
    assert failed == 0
