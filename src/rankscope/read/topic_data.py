"""Attributes of topics, such as language, length or traffic, and weights of topics.

An attribute table has a column of topics (``topic``, ``qid`` or ``query_id``, or else the first one) and any others:
texts, categories, numbers and dates.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from rankscope.errors import InputError, SettingsError, suggest_names
from rankscope.read.frames import column_meaning
from rankscope.read.ids import key_text
from rankscope.read.score_rows import open_score_rows
from rankscope.read.scores import check_distinct

Attributes = Mapping[str, Mapping[str, Any]]
"""Attributes of topics: ``{topic: {column: value}}``."""
_LOW, _HIGH = 1e-100, 1e100
"""Smallest and largest weight: the sums of squares of others overflow, or round to 0."""


def read_topic_data(source: Any, key: str = "query_id") -> dict[str, dict[str, Any]]:
    """Read attributes of topics: CSV, TSV, JSON lines, a frame, or a dict of dicts; or those of another ``key``.

    >>> read_topic_data({"q1": {"lang": "en"}, 2: {"lang": "it"}})
    {'q1': {'lang': 'en'}, '2': {'lang': 'it'}}
    >>> read_topic_data({"qid": [1, 2], "lang": ["en", "it"]})
    {'1': {'lang': 'en'}, '2': {'lang': 'it'}}
    """
    if isinstance(source, Mapping) and all(isinstance(row, Mapping) for row in source.values()):
        return {key_text(topic, "topic"): dict(row) for topic, row in source.items()}
    path, table = open_score_rows(source, None)
    meanings = [column_meaning(name) or name.strip().lower() for name in table.header]
    k, noun = meanings.index(key) if key in meanings else 0, "topic" if key == "query_id" else key
    data: dict[str, dict[str, Any]] = {}
    for line, row in table.rows:
        cells = [cell.strip() if isinstance(cell, str) else cell for cell in row]
        topic = key_text(cells[k], noun)
        if topic in data:
            hint = f"give each {noun} one row"
            raise InputError(f"{noun} {topic!r} occurs twice", path=path, line=line, hint=hint)
        data[topic] = {name: cells[c] for c, name in enumerate(table.header) if c != k}
    if not data:
        raise InputError(f"there is no {noun}", path=path, hint=f"give a header and a row per {noun}")
    if len(table.header) == 1:
        hint = "give attributes in further columns, separated by commas or tabs"
        raise InputError(f"there is a single column, {table.header[0]!r}", path=path, hint=hint)
    check_distinct(table.header, "column", path, 1)
    return data


def attribute_values(data: Attributes, name: str, topics: Iterable[str]) -> list[Any]:
    """Return the values of a column for some topics, None where there is no value."""
    names = dict.fromkeys(column for row in data.values() for column in row)
    if name not in names:
        hint = suggest_names(name, names) or (f"there are {', '.join(names)}" if names else "give topic data")
        raise InputError(f"no attribute of topics is called {name!r}", hint=hint)
    topics = list(topics)
    if topics and data.keys().isdisjoint(topics):
        problem = f"the topic data has none of the topics: topic {next(iter(data))!r} was not evaluated"
        raise InputError(problem, hint="give the names of topics as they are in the judgments or scores")
    values = [data.get(topic, {}).get(name) for topic in topics]
    return [None if value == "" or value != value else value for value in values]


def topic_weights(weights: str | Mapping[Any, Any], data: Attributes, topics: Sequence[str]) -> list[float]:
    """Return the weight of each topic, from a column of the attributes or from a mapping.

    >>> topic_weights({"q1": 2, "q2": "0.5"}, {}, ["q1", "q2"])
    [2.0, 0.5]
    """
    if isinstance(weights, str):
        values = attribute_values(data, weights, topics)
    elif isinstance(weights, Mapping):
        by_topic = {key_text(topic, "topic"): weight for topic, weight in weights.items()}
        values = [by_topic.get(topic) for topic in topics]
    else:
        hint = "name a column of topic_data, or give a mapping of topics to weights"
        raise SettingsError(f"weights of type {type(weights).__name__}", hint=hint)
    return [_parse_weight(value, topic) for topic, value in zip(topics, values, strict=True)]


def _parse_weight(value: Any, topic: str) -> float:
    hint = "give every topic a positive number, or select topics"
    if value is None:
        raise InputError(f"topic {topic!r} has no weight", hint=hint)
    with suppress(TypeError, ValueError):
        number = "" if isinstance(value, bool) or "_" in str(value) else value
        if _LOW <= (weight := float(number)) <= _HIGH:
            return weight
    problem = f"topic {topic!r} has the weight {value!r}, not a positive finite number"
    raise InputError(f"{problem} from {_LOW:g} to {_HIGH:g}", hint=hint)


def slice_topics(values: Sequence[Any], bins: int | None, name: str) -> dict[str, list[int]]:
    """Return the indices of the topics of each slice: of every value, or of quantile bins of numbers or dates.

    Topics without a value are the slice ``(none)``, the last one.

    >>> slice_topics(["it", "en", None, "it"], None, "lang")
    {'en': [1], 'it': [0, 3], '(none)': [2]}
    >>> slice_topics([3, 1, 10, 2, 2], 2, "length")
    {'1–2': [1, 3, 4], '3–10': [0, 2]}
    >>> list(slice_topics([0.123456, 0.2, 0.34567, 0.345678], 2, "difficulty"))
    ['0.12346–0.2', '0.34567–0.34568']
    """
    missing = [t for t, value in enumerate(values) if value is None]
    numbers = {t: _order_number(value) for t, value in enumerate(values) if value is not None}
    is_ordered = None not in numbers.values()
    slices: dict[str, list[int]] = {}
    if bins is None:
        for t in sorted(numbers, key=lambda t: (numbers[t] if is_ordered else 0, str(values[t]))):
            slices.setdefault(str(values[t]), []).append(t)
        if len(slices) > 2 and len(slices) == len(numbers):
            hint = f"give quantile bins, such as {name}:4" if is_ordered else "name one with fewer values"
            raise SettingsError(f"every topic has a different {name}", hint=hint)
    elif not is_ordered:
        value = next(values[t] for t, number in numbers.items() if number is None)
        hint = f"leave out :{bins}, or use numbers or dates"
        raise InputError(f"{name} has the value {value!r}, and bins need numbers or dates", hint=hint)
    elif numbers:
        import numpy as np

        topics = sorted(numbers, key=lambda t: numbers[t] or 0)
        keys = np.array([numbers[t] for t in topics], float)
        index = np.searchsorted(np.quantile(keys, np.arange(1, bins) / bins), keys, side="left")
        parts = [part.tolist() for part in np.split(topics, np.flatnonzero(np.diff(index)) + 1)]
        # The fewest digits, from 3 to 6, that keep apart what 6 digits keep apart.
        names = [[_bin_end(values[t], n) for part in parts for t in (part[0], part[-1])] for n in range(3, 7)]
        ends = iter(next(made for made in names if len({*made}) == len({*names[-1]})))
        for low, high, part in zip(ends, ends, parts, strict=True):
            slices.setdefault(low if low == high else f"{low}–{high}", []).extend(part)
    return {label: sorted(own) for label, own in slices.items()} | ({"(none)": missing} if missing else {})


def _bin_end(value: Any, digits: int) -> str:
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def _order_number(value: Any) -> float | None:
    """Return the number of a number or of an ISO date, or None."""
    from datetime import datetime

    with suppress(TypeError, ValueError):
        number = float(value)
        return number if math.isfinite(number) else None
    with suppress(ValueError):
        return datetime.fromisoformat(str(value)).replace(tzinfo=None).toordinal()
    return None
