"""Comparison of results with recorded ones; a failure names the value that changed, and both values."""

from __future__ import annotations

import hashlib
import json
import math
import pkgutil
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

from rankscope.errors import InputError

_LONG_NUMBER = re.compile(r"-?[0-9]+\.[0-9]{12,}(?:e[-+]?[0-9]+)?")
"""A number in a text with all its digits."""

MAX_ROWS = 40
"""Number of rows of a table that are recorded."""


def to_plain(value: Any) -> Any:
    """Return a value as JSON has it: numbers with twelve digits, NaN and infinity as text."""
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [to_plain(item) for item in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(f"{value:.12g}") if math.isfinite(value) else str(value)
    return value if value is None else str(value)


def sum_up(numbers: Any) -> list[float]:
    """Return the sum of the finite numbers, and their sum weighted by position, which changes with their order."""
    flat = np.where(np.isfinite(numbers), numbers, 0.0)
    return [float(flat.sum()), float(flat @ np.arange(1, len(flat) + 1))]


def shorten(texts: list[str]) -> str:
    """Return the texts, of which long ones end in a digest."""
    text = "|".join(texts)
    return text if len(text) <= 48 else f"{text[:32]}… {hashlib.sha256(text.encode()).hexdigest()[:8]}"


def summarise(value: Any) -> dict[str, Any]:
    """Return the values of each property of a nested description: a few, or their number and sums; texts shortened."""
    properties: dict[str, list[Any]] = {}

    def collect(value: Any, path: str) -> None:
        if isinstance(value, dict):
            for name, part in value.items():
                collect(part, f"{path} {name}".strip())
        elif isinstance(value, list | tuple | np.ndarray):
            for part in value:
                collect(part, path)
        else:
            properties.setdefault(path, []).append(value)

    collect(value, "")
    result: dict[str, Any] = {}
    for name, values in properties.items():
        numbers = [float(v) for v in values if isinstance(v, int | float | np.number)]
        texts = [str(v) for v in values if not isinstance(v, int | float | np.number)]
        if len(set(numbers)) == 1:
            numbers = [len(numbers), numbers[0]]
        elif len(numbers) > 3:
            numbers = [len(numbers), *sum_up(numbers)]
        if numbers:
            result[name] = [float(f"{number:.7g}") for number in numbers]
        if texts and set(texts) != {"None"}:
            few = [texts[0], f"{len(texts)} times"] if len(texts) > 1 and len(set(texts)) == 1 else texts
            result[name] = [*result.get(name, []), shorten(few)] if name in result else shorten(few)
    return result


def describe_tables(result: Any) -> dict[str, Any]:
    """Return the caption, columns, number of rows and first rows of every table of a result."""
    return {
        name: [table.caption, list(table.columns), len(table), *map(list, map(dict.values, table.records()[:MAX_ROWS]))]
        for name, table in result.tables.items()
    }  # fmt: skip


def describe_definitions(package: ModuleType) -> dict[str, Any]:
    """Return the constants of the modules of a package, and the defaults of their functions and data classes."""
    described: dict[str, Any] = {}
    for module_info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = import_module(module_info.name)
        for name, value in vars(module).items():
            if getattr(value, "__module__", module_info.name) != module_info.name:
                continue
            is_constant = name.isupper() and isinstance(value, int | float | str | tuple | list | dict)
            if is_constant and "0x" not in repr(value):
                described[f"{module_info.name} {name}"] = shorten([repr(value)])
            for function in [value, *vars(value).values()] if isinstance(value, type) else [value]:
                function = getattr(function, "__wrapped__", getattr(function, "__func__", function))
                for parameter in (
                    signature(function).parameters.values() if isinstance(function, FunctionType) else ()
                ):
                    if parameter.default is not parameter.empty and "0x" not in repr(parameter.default):
                        name = f"{module_info.name} {function.__qualname__} {parameter.name}"
                        described[name] = shorten([repr(parameter.default)])
    return described


def describe_names(package: ModuleType) -> dict[str, list[str]]:
    """Return the constants and defaults of a package by name, whichever modules have them."""
    described: dict[str, list[str]] = {}
    for name, value in sorted(describe_definitions(package).items()):
        values = described.setdefault(name.partition(" ")[2], [])
        if value not in values:
            values.append(value)
    return dict(sorted(described.items()))


def describe_error(call: Callable[..., Any], /, **options: Any) -> str:
    """Return the error that options raise, or the number of rows of each table."""
    try:
        result = call(**options)
    except InputError as error:
        return f"{type(error).__name__}: {error}"
    return ", ".join(f"{len(table)} {name}" for name, table in result.tables.items())


def find_difference(actual: Any, expected: Any, path: str) -> str | None:
    """Return the path to the first value that differs, with both values; None if all are equal."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        if list(actual) != list(expected):
            return f"{path}: {list(actual)} instead of {list(expected)}"
        pairs = [(actual[key], expected[key], f"{path}, {key}") for key in expected]
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(actual) != len(expected):
            return f"{path}: {len(actual)} entries instead of {len(expected)}: {actual} instead of {expected}"
        names = _name_entries(expected)
        pairs = [(*pair, f"{path}, {name}") for *pair, name in zip(actual, expected, names, strict=True)]
        if _is_table(expected) and actual[1] == expected[1]:
            pairs = pairs[:3] + [
                (*cells, f"{location}, {column}")
                for row, recorded, location in pairs[3:]
                for *cells, column in zip(row, recorded, expected[1], strict=True)
            ]
    elif (
        actual == expected
        or (isinstance(expected, float) and actual == pytest.approx(expected, rel=1e-9, abs=1e-12))
        or (isinstance(expected, str) and isinstance(actual, str) and _are_close(actual, expected))
    ):
        return None
    else:
        return f"{path}: {actual!r} instead of {expected!r}"
    return next((text for pair in pairs if (text := find_difference(*pair)) is not None), None)


def _are_close(actual: str, expected: str) -> bool:
    """Return whether texts differ only in the last digits of numbers, which depend on the processor."""
    if _LONG_NUMBER.sub("0.", actual) != _LONG_NUMBER.sub("0.", expected):
        return False
    numbers = ([float(number) for number in _LONG_NUMBER.findall(text)] for text in (actual, expected))
    return next(numbers) == pytest.approx(next(numbers), rel=1e-9, abs=1e-12)


def _is_table(expected: list[Any]) -> bool:
    is_titled = len(expected) >= 3 and isinstance(expected[0], str | None) and isinstance(expected[1], list)
    return is_titled and isinstance(expected[2], int)


def _name_entries(expected: list[Any]) -> list[str]:
    if _is_table(expected):
        return ["caption", "columns", "rows", *(f"row {row}" for row in range(1, len(expected) - 2))]
    return [f"entry {index}" for index in range(1, len(expected) + 1)]


def assert_recorded(actual: Any, file: Path, name: str) -> None:
    """Compare a plain value with the entry of a JSON file."""
    difference = find_difference(actual, _read_recorded(file)[name], name)
    assert difference is None, difference


@cache
def _read_recorded(file: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return values


def known_measures(file: Path, module: str) -> list[str]:
    """Return the names of the built-in measures when a file was recorded; of all of them while ``module`` records.

    Random cases draw from these measures. Otherwise a new measure would change every case.
    """
    if module != "__main__":
        names: list[str] = _read_recorded(file)["measures"]
        return names
    from rankscope.measures import REGISTRY

    return sorted({measure.name for measure in REGISTRY.values() if measure.family != "user"})


def write_recorded(file: Path, values: Mapping[str, Any]) -> None:
    """Write a JSON file with one line per entry; an entry that differs only in last digits is kept."""
    before = json.loads(file.read_text("utf-8")) if file.exists() else {}
    values = {
        name: before[name] if name in before and find_difference(value, before[name], "") is None else value
        for name, value in values.items()
    }
    lines = [
        f"{json.dumps(name)}: {json.dumps(value, separators=(',', ':'))}" for name, value in values.items()
    ]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
