"""Reading and validation of untrusted JSON.

A shape is a function that raises :class:`Mismatch` for the first invalid value of a document; the functions of this
module combine shapes. A document that passes needs no further checks.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from rankscope.errors import InputError

MAX_BYTES = 1 << 28
"""Maximum size of a document: 256 MB, far beyond any study."""

Shape: TypeAlias = Callable[[Any, str], None]
"""Validator of a value at a location such as ``settings.alpha``."""


class Mismatch(ValueError):  # noqa: N818 - becomes an InputError once the file has a name
    """A value that does not have the shape: ``settings.alpha: a number from 0 to 1 is expected, not 'x'``."""

    def __init__(self, location: str, problem: str) -> None:
        super().__init__(f"{location or 'the document'}: {problem}")

    @classmethod
    def from_value(cls, location: str, expected: str, value: object) -> Mismatch:
        """Return the error for an unexpected value, which is quoted in short."""
        shown = repr(value)
        return cls(
            location, f"{expected} is expected, not {shown if len(shown) <= 40 else f'{shown[:37]}...'}"
        )


def read_json(path: Path, shape: Shape, hint: str) -> Any:
    """Return the content of a JSON file; raise InputError if it does not have the shape."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot read ({error.strerror})", path=path, hint=hint) from None
    if len(data) > MAX_BYTES:
        raise InputError(f"the file is longer than {MAX_BYTES >> 20} MB", path=path, hint=hint)
    content = parse_json(data, path, hint)
    try:
        shape(content, "")
    except Mismatch as mismatch:
        raise InputError(str(mismatch), path=path, hint=hint) from None
    return content


def parse_json(data: bytes, path: str | Path, hint: str, line: int | None = None) -> Any:
    """Parse JSON; rejects repeated names in objects. ``line`` is the line of the text in its file."""
    try:
        text = data.decode("utf-8", "surrogateescape")
        return _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        problem = str(error) if isinstance(error, _RepeatedName) else "the text is not valid JSON"
        problem_line = error.lineno if isinstance(error, json.JSONDecodeError) and line is None else line
        raise InputError(problem, path=path, line=problem_line, hint=hint) from None


class _RepeatedName(ValueError):  # noqa: N818 - becomes an InputError
    """A repeated name in an object; JSON parsers differ in the value they use."""


def _reject_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        # Up to the first repetition, the dict has the names in the order of the pairs.
        distinct = [*result, None]
        repeated = next(name for (name, _), first in zip(pairs, distinct, strict=False) if name != first)
        raise _RepeatedName(f"{repeated!r} occurs twice")
    return result


def _reject_constant(constant: str) -> None:
    raise ValueError(constant)


# json.loads() would create a decoder per call, which takes longer than parsing a short line.
_DECODER = json.JSONDecoder(parse_constant=_reject_constant, object_pairs_hook=_reject_repeated)


def record(required: Mapping[str, Shape], also: Mapping[str, Shape] | None = None) -> Shape:
    """Return the shape of an object with required and optional fields, and no others.

    >>> record({"x": integer()})({"x": 1}, "")
    >>> record({"x": integer()})({"x": 1, "y": 2}, "settings")
    Traceback (most recent call last):
    ...
    rankscope.json_documents.Mismatch: settings.y: there should be no such field
    """
    shapes = {**required, **(also or {})}

    def check(value: Any, location: str) -> None:
        if not isinstance(value, dict):
            raise Mismatch.from_value(location, "an object", value)
        for name in required:
            if name not in value:
                raise Mismatch(location, f"the field {name!r} is missing")
        for name, inner in value.items():
            if name not in shapes:
                raise Mismatch(_join(location, name), "there should be no such field")
            shapes[name](inner, _join(location, name))

    return check


def object_shape(key: Shape, value: Shape) -> Shape:
    """Return the shape of an object with arbitrary names, given the shapes of names and values."""

    def check(mapping: Any, location: str) -> None:
        if not isinstance(mapping, dict):
            raise Mismatch.from_value(location, "an object", mapping)
        for name, inner in mapping.items():
            key(name, f"a name in {location}" if location else "a name")
            value(inner, _join(location, name))

    return check


def list_shape(each: Shape, min_length: int = 0) -> Shape:
    """Return the shape of a list of at least ``min_length`` values."""

    def check(value: Any, location: str) -> None:
        if not isinstance(value, list) or len(value) < min_length:
            raise Mismatch.from_value(
                location, f"a list of {min_length} or more" if min_length else "a list", value
            )
        for i, inner in enumerate(value):
            each(inner, f"{location}[{i}]")

    return check


def _shape(expected: str, is_valid: Callable[[Any], bool]) -> Shape:
    """Return the shape of the values that are valid; ``expected`` describes them."""

    def check(value: Any, location: str) -> None:
        if not is_valid(value):
            raise Mismatch.from_value(location, expected, value)

    return check


def text(pattern: str = "(?s).*", expected: str = "a text") -> Shape:
    """Return the shape of a text without NUL, encodable as UTF-8, that fully matches ``pattern``."""
    compiled = re.compile(pattern)
    return _shape(expected, lambda value: _is_text(value) and bool(compiled.fullmatch(value)))


def number(low: float = -math.inf, high: float = math.inf) -> Shape:
    """Return the shape of a finite number within inclusive bounds."""
    expected = f"a number{_describe_bounds(low, high)}"
    return _shape(expected, lambda value: _is_number(value) and low <= value <= high)


def integer(low: float = -math.inf, high: float = math.inf) -> Shape:
    """Return the shape of an integer within inclusive bounds."""
    expected = f"a whole number{_describe_bounds(low, high)}"
    return _shape(expected, lambda value: type(value) is int and low <= value <= high)


def one_of(choices: Collection[str]) -> Shape:
    """Return the shape of a text among ``choices``."""
    return _shape(f"one of {', '.join(choices)}", lambda value: isinstance(value, str) and value in choices)


def optional(shape: Shape) -> Shape:
    """Return the shape of a value or null."""

    def check(value: Any, location: str) -> None:
        if value is not None:
            shape(value, location)

    return check


def _is_text(value: object) -> bool:
    if not isinstance(value, str) or "\0" in value:
        return False
    try:
        return bool(value.encode("utf-8", "surrogateescape")) or not value
    except UnicodeEncodeError:  # A lone surrogate cannot be written to a file or terminal.
        return False


def _is_number(value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # The integer is larger than any float.
        return False


boolean = _shape("true or false", lambda value: isinstance(value, bool))
"""Shape of true and false."""

scalar = _shape(
    "a text, a number, true, false or null",
    lambda value: value is None or isinstance(value, bool) or _is_text(value) or _is_number(value),
)
"""Shape of a cell of a table: a text, a finite number, true, false or null."""


def _describe_bounds(low: float, high: float) -> str:
    bounds = [f" {word} {bound}" for word, bound in (("from", low), ("to", high)) if math.isfinite(bound)]
    return "".join(bounds)


def _join(location: str, name: str) -> str:
    return f"{location}.{name}" if location else str(name)
