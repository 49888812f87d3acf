"""JSON that somebody else may have written: read within bounds, and checked against a shape before it is used.

A shape is a function that raises :class:`Mismatch` for the first place that is not as it should be; the functions here
make shapes from smaller ones. What passes can be used without a further look.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from rankscope.errors import InputError

__all__ = [
    "Mismatch",
    "Shape",
    "boolean",
    "integer",
    "list_of",
    "mapping_of",
    "number",
    "one_of",
    "optional",
    "parse_json",
    "read_json",
    "record",
    "scalar",
    "text",
]

MOST_BYTES = 1 << 28
"""Of a document: 256 MB, far beyond any study."""

Shape: TypeAlias = Callable[[Any, str], None]
"""A check of a value that stands at a place such as ``settings.alpha``."""


class Mismatch(ValueError):  # noqa: N818 - becomes an InputError once the file has a name
    """A value that does not have the shape: ``settings.alpha: a number from 0 to 1 is expected, not 'x'``."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"{place or 'the document'}: {problem}")

    @classmethod
    def from_value(cls, place: str, expected: str, value: object) -> Mismatch:
        """Another value than the one that is expected."""
        shown = repr(value)
        return cls(place, f"{expected} is expected, not {shown if len(shown) <= 40 else f'{shown[:37]}...'}")


def read_json(path: Path, shape: Shape, hint: str) -> Any:
    """The content of a JSON file that has a shape; one clear line for any other file."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot read ({error.strerror})", path=path, hint=hint) from None
    if len(data) > MOST_BYTES:
        raise InputError(f"longer than {MOST_BYTES >> 20} MB", path=path, hint=hint)
    content = parse_json(data, path, hint)
    try:
        shape(content, "")
    except Mismatch as mismatch:
        raise InputError(str(mismatch), path=path, hint=hint) from None
    return content


def parse_json(data: bytes, path: str | Path, hint: str, line: int | None = None) -> Any:
    """What a JSON text says, every name of an object once; ``line`` is where it stands in its file."""
    try:
        return json.loads(
            data.decode("utf-8", "surrogateescape"), parse_constant=_refuse, object_pairs_hook=_unrepeated
        )
    except (ValueError, RecursionError) as error:
        what = str(error) if isinstance(error, _Repeated) else "this is not JSON"
        found = error.lineno if isinstance(error, json.JSONDecodeError) and line is None else line
        raise InputError(what, path=path, line=found, hint=hint) from None


class _Repeated(ValueError):  # noqa: N818 - the same
    """A name that an object has twice: which of the two counts, programs disagree about."""


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise _Repeated(f"{next(name for name, count in counts.items() if count > 1)!r} is given twice")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def record(required: Mapping[str, Shape], also: Mapping[str, Shape] | None = None) -> Shape:
    """An object with these fields, perhaps some of the others, and no more.

    >>> record({"x": integer()})({"x": 1}, "")
    >>> record({"x": integer()})({"x": 1, "y": 2}, "settings")
    Traceback (most recent call last):
    ...
    rankscope.json_documents.Mismatch: settings.y: there should be no such field
    """
    known = {**required, **(also or {})}

    def check(value: Any, place: str) -> None:
        if not isinstance(value, dict):
            raise Mismatch.from_value(place, "an object", value)
        for name in required:
            if name not in value:
                raise Mismatch(place, f"the field {name!r} is missing")
        for name, inner in value.items():
            if name not in known:
                raise Mismatch(_below(place, name), "there should be no such field")
            known[name](inner, _below(place, name))

    return check


def mapping_of(key: Shape, value: Shape) -> Shape:
    """An object with any fields whose names and values have shapes."""

    def check(found: Any, place: str) -> None:
        if not isinstance(found, dict):
            raise Mismatch.from_value(place, "an object", found)
        for name, inner in found.items():
            key(name, f"a name in {place}" if place else "a name")
            value(inner, _below(place, name))

    return check


def list_of(each: Shape, least: int = 0) -> Shape:
    """A list of so many values or more."""

    def check(value: Any, place: str) -> None:
        if not isinstance(value, list) or len(value) < least:
            raise Mismatch.from_value(place, f"a list of {least} or more" if least else "a list", value)
        for i, inner in enumerate(value):
            each(inner, f"{place}[{i}]")

    return check


def text(pattern: str | None = None, what: str = "a text") -> Shape:
    """A text that can be the name of a file; if there is a pattern, one that matches it as a whole."""
    wanted = None if pattern is None else re.compile(pattern)

    def check(value: Any, place: str) -> None:
        if not _is_text(value) or (wanted and not wanted.fullmatch(value)):
            raise Mismatch.from_value(place, what, value)

    return check


def number(low: float = -math.inf, high: float = math.inf) -> Shape:
    """A number that is finite and inside bounds, which belong to it."""

    def check(value: Any, place: str) -> None:
        if not _is_number(value) or not low <= value <= high:
            raise Mismatch.from_value(place, f"a number{_between(low, high)}", value)

    return check


def integer(low: int | None = None, high: int | None = None) -> Shape:
    """A whole number inside bounds, which belong to it."""
    least, most = -math.inf if low is None else low, math.inf if high is None else high

    def check(value: Any, place: str) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise Mismatch.from_value(place, f"a whole number{_between(least, most)}", value)

    return check


def boolean(value: Any, place: str) -> None:
    """True or false."""
    if not isinstance(value, bool):
        raise Mismatch.from_value(place, "true or false", value)


def scalar(value: Any, place: str) -> None:
    """A text, a finite number, true, false or null: what a cell of a table can be."""
    if value is not None and not isinstance(value, bool) and not _is_text(value) and not _is_number(value):
        raise Mismatch.from_value(place, "a text, a number, true, false or null", value)


def one_of(choices: Collection[str]) -> Shape:
    """One of some texts."""

    def check(value: Any, place: str) -> None:
        if not isinstance(value, str) or value not in choices:
            raise Mismatch.from_value(place, f"one of {', '.join(choices)}", value)

    return check


def optional(shape: Shape) -> Shape:
    """A value of a shape, or null."""

    def check(value: Any, place: str) -> None:
        if value is not None:
            shape(value, place)

    return check


def _is_text(value: object) -> bool:
    if not isinstance(value, str) or "\0" in value:
        return False
    try:
        return bool(value.encode("utf-8", "surrogateescape")) or not value
    except UnicodeEncodeError:  # half of a character, which no file and no terminal takes
        return False


def _is_number(value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond all floating-point numbers
        return False


def _between(low: float, high: float) -> str:
    bounds = [f" {word} {bound}" for word, bound in (("from", low), ("to", high)) if math.isfinite(bound)]
    return "".join(bounds)


def _below(place: str, name: str) -> str:
    return f"{place}.{name}" if place else str(name)
