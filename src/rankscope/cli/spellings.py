"""Options that had other names: one word means one thing in every command, and the old words still work for a release.

``-q`` is every topic; ``--topics`` some of the topics; ``--depth`` ranks of a list and ``--pool-depth`` of a pool;
``--cutoff`` the N at which lists are evaluated and ``--length`` how long the laboratory's rankings are; ``--ratios``
percent of the judgments; ``--plot`` a figure into a file, ``study --plots`` all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

__all__ = ["FORMER", "respelt"]

FORMER = {
    "bounds": {"--ratio": "--ratios"},
    "explore": {"--length": "--cutoff"},
    "pools": {"--depth": "--pool-depth", "--ratio": "--ratios", "--runs": "--per-run", "-q": "--per-run"},
    "power": {"--pairs": "--per-pair", "-q": "--per-pair"},
    "report": {"--length": "--cutoff"},
    "study": {"--depth": "--pool-depth", "--ratio": "--ratios"},
}
"""What options of commands were called, and what they are called now."""


def respelt(command: str, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments of a command in the words of today, and a note for each old one.

    >>> respelt("pools", ["q", "runs/", "--depth=10"])
    (['q', 'runs/', '--pool-depth=10'], ['--depth is now called --pool-depth'])
    """
    former = FORMER.get(command, {})
    notes: dict[str, None] = {}

    def today() -> Iterator[str]:
        options = True
        for word in words:
            options = options and word != "--"
            name, equals, value = word.partition("=")
            if options and name in former:
                notes[f"{name} is now called {former[name]}"] = None
                yield former[name] + equals + value
            else:
                yield word

    return list(today()), list(notes)
