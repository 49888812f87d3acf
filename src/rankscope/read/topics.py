"""Some of the topics, as people name them: ``351,401-410``, or a file with a topic on each line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from rankscope.errors import InputError, SettingsError, suggest_names
from rankscope.read.delimited import text_lines
from rankscope.read.source import Source

__all__ = ["chosen_topics"]


def chosen_topics(
    named: str | Sequence[str], topics: Sequence[str], lacks: str = "has no judgments"
) -> tuple[str, ...]:
    """Those of the topics that are named, in their own order; ``lacks`` says what is wrong with any other.

    A text names topics between commas, and with a hyphen all numbers from one to another; or else a file of such names.
    A list has the topics themselves.

    >>> chosen_topics("7,1-3", ["1", "2", "3", "4", "7"]), chosen_topics("wt-1", ["wt-1", "wt-2"])
    (('1', '2', '3', '7'), ('wt-1',))
    """
    place: Path | None = None
    known = frozenset(topics)
    if not isinstance(named, str):
        names = [*named]
        found = {name: {name} & known for name in names}
    else:
        names = [part.strip() for part in named.split(",") if part.strip()]
        found = {name: _found(name, known) for name in names}
        if not all(found.values()) and _is_file(named):
            place = Path(named)
            names = _names(place)
            found = {name: _found(name, known) for name in names}
    if not names:
        raise SettingsError("no topic is named", path=place, hint="write topics such as 351,401-410")
    for name in names:
        if not found[name]:
            near = suggest_names(name, topics) or f"there are topics such as {topics[0]}"
            raise InputError(f"topic {name!r} {lacks}", path=place, hint=near)
    chosen = frozenset().union(*found.values())
    return tuple(topic for topic in topics if topic in chosen)


def _found(name: str, topics: frozenset[str]) -> set[str]:
    """The topic of that name, or the topics between two numbers."""
    if name in topics:
        return {name}
    between = re.fullmatch(r"(\d{1,18})-(\d{1,18})", name, re.ASCII)
    if between is None:
        return set()
    low, high = map(int, between.groups())
    return {
        topic for topic in topics if re.fullmatch(r"\d{1,18}", topic, re.ASCII) and low <= int(topic) <= high
    }


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _names(path: Path) -> list[str]:
    """The first word of every line; lines that begin with # say nothing."""
    words = (line.split() for _, line in text_lines(Source.of(path)))
    return [fields[0] for fields in words if fields and not fields[0].startswith("#")]
