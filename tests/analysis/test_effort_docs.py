"""The page about effort prints what the program prints."""

from __future__ import annotations

import doctest
import json
import shlex
from pathlib import Path

import pytest

from rankscope.cli.main import main

PAGE = Path(__file__).parents[2] / "docs" / "effort.md"


def test_examples_of_the_page() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8", parser=_Fenced())
    assert result.attempted > 20 and result.failed == 0


class _Fenced(doctest.DocTestParser):
    """Examples in Markdown fences; the fence is not part of what is printed."""

    def parse(self, string: str, name: str = "<string>") -> list[str | doctest.Example]:
        return super().parse(string.replace("```python\n", "\n").replace("```\n", "\n"), name)


def test_broken_axioms(capfd: pytest.CaptureFixture[str]) -> None:
    """Check the numbers printed in the documentation against the output of the documented command."""
    [command] = [
        line
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("rankscope properties")
    ]
    assert main([*shlex.split(command)[1:], "-f", "json"]) == 0
    rows = json.loads(capfd.readouterr().out)["tables"]["properties"]
    counts = {(row["measure"], row["property"]): (row["violations"], row["cases"]) for row in rows}
    assert counts["AP", "swap"][0] == counts["AP", "replacement"][0] == 0
    printed = PAGE.read_text(encoding="utf-8")
    for name, plural in (("swap", "swaps"), ("replacement", "replacements")):
        violations, cases = counts["Twist@10", name]
        assert violations > 0 and f"{violations:,} of {cases:,} {plural}" in printed
