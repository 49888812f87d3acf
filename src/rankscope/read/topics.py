"""Some of the topics, as people name them: ``351,401-410``, or a file with a topic on each line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from rankscope.errors import InputError, SettingsError, nearest

__all__ = ["chosen_topics"]


def chosen_topics(text: str, topics: Sequence[str]) -> tuple[str, ...]:
    """Those of the topics that a text names, in their own order.

    It names topics between commas, and with a hyphen all numbers from one to another; or else a file of such names.

    >>> chosen_topics("7,1-3", ["1", "2", "3", "4", "7"]), chosen_topics("wt-1", ["wt-1", "wt-2"])
    (('1', '2', '3', '7'), ('wt-1',))
    """
    names = [part.strip() for part in text.split(",") if part.strip()]
    place: Path | None = None
    if any(not _found(name, topics) for name in names) and _is_file(text):
        place = Path(text)
        names = _names(place)
    if not names:
        raise SettingsError("no topic is named", path=place, hint="write topics such as 351,401-410")
    chosen: set[str] = set()
    for name in names:
        found = _found(name, topics)
        if not found:
            near = nearest(name, topics) or f"there are topics such as {topics[0]}"
            raise InputError(f"topic {name!r} has no judgments", path=place, hint=near)
        chosen |= found
    return tuple(topic for topic in topics if topic in chosen)


def _found(name: str, topics: Sequence[str]) -> set[str]:
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
    lines = path.read_text("utf-8", "surrogateescape").splitlines()
    words = (line.split() for line in lines)
    return [fields[0] for fields in words if fields and not fields[0].startswith("#")]
