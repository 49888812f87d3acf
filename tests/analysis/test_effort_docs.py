"""The page about effort prints what the program prints."""

from __future__ import annotations

import doctest
from pathlib import Path


def test_examples_of_the_page() -> None:
    page = Path(__file__).parents[2] / "docs" / "effort.md"
    result = doctest.testfile(str(page), module_relative=False, encoding="utf-8", parser=_Fenced())
    assert result.attempted > 20 and result.failed == 0


class _Fenced(doctest.DocTestParser):
    """Examples in Markdown fences; the fence is not part of what is printed."""

    def parse(self, string: str, name: str = "<string>") -> list[str | doctest.Example]:
        return super().parse(string.replace("```python\n", "\n").replace("```\n", "\n"), name)
