"""Functions of the laboratory give the recorded results for random combinations of their options.

The laboratory itself computed the values in recorded_options.json; other tests compare them with brute force. Options
that meet, such as a fixed length and relations between named rankings, take paths that calls with one option miss.
After an intended change, run

    python -m tests.lab.test_recorded_options

and review the difference before you commit it.
"""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.recorded import assert_recorded, describe_tables, summarise, to_plain, write_recorded

from rankscope.errors import InputError, SettingsError
from rankscope.lab import (
    archetype_ranges,
    difference_structure,
    properties,
    rank_weights,
    related_rankings,
    scales,
)
from rankscope.lab.axioms.relations import RELATIONS
from rankscope.lab.measurement.interval_comparison import compare_intervals

RECORDED = Path(__file__).with_name("recorded_options.json")
MEASURES = (
    "AP", "P@2", "P(rel=2)@3", "RR", "nDCG@3", "DCG", "CG@1", "CG@3", "ERR", "RBP(p=0.5)", "RBP(p=0.8)", "Rprec", "R@2",
    "Bpref", "Twist", "Success@1", "BalancePoint",
)  # fmt: skip
BY_ASPECT = ("ACT", "AP_IA", "alpha_nDCG@3", "StRec@2", "alpha_nDCG", "NRBP")


def _worlds(luck: random.Random) -> dict[str, Any]:
    """Return options of kinds of documents and of the pairs of rankings that are compared."""
    aspects = luck.choice([None, None, 1, 2, 2, 3])
    grades = luck.choice([None, 1, 2]) if aspects else luck.choice([1, 2, 3])
    usable = [name for name, each in RELATIONS.items() if not each.needs_aspects or not grades]
    depth = luck.choice([1, 2, 3, 3]) if (aspects or 1) + (grades or 1) < 5 else 2
    return {
        "aspects": aspects, "grades": grades, "depth": depth,
        "relevant": luck.choice([None, None, 1, 2]), "nonrelevant": luck.choice([None, None, 1, 2]),
        "weights": [luck.choice([0.5, 0.25, 1.0]) for _ in range(aspects)] if aspects and luck.random() < 0.3 else None,
        "multi_aspect": bool(aspects and luck.random() < 0.2),
        "properties": luck.choice([None, luck.sample(usable, min(6, len(usable)))]),
        "fixed_length": luck.random() < 0.4, "include_impossible": luck.random() < 0.3,
    }  # fmt: skip


def _measures(luck: random.Random, by_aspect: bool = False, number: int = 3) -> str:
    known = [*MEASURES[: 17 if luck.random() < 0.1 else 16], *(2 * BY_ASPECT if by_aspect else ())]
    return " ".join(dict.fromkeys(luck.sample(known, number)))


def _properties(luck: random.Random) -> Any:
    options = _worlds(luck)
    names = _measures(luck, options["aspects"] is not None)
    return properties, names, options | {"examples": luck.randint(1, 3), "jobs": 1}


def _named_properties(luck: random.Random) -> Any:
    """Return a call for relations that name their rankings, which may be long."""
    named = [name for name, relation in RELATIONS.items() if relation.words is not None]
    options = {"grades": luck.randint(1, 2), "depth": luck.randint(1, 9), "fixed_length": luck.random() < 0.5}
    options |= {"relevant": luck.choice([None, 2, 5]), "properties": luck.sample(named, luck.randint(1, 2))}
    return properties, _measures(luck), options | {"include_impossible": luck.random() < 0.5, "jobs": 1}


def _related(luck: random.Random) -> Any:
    options = _worlds(luck)
    options["depth"] = min(2, options["depth"])
    return related_rankings, luck.choice([None, _measures(luck, options["aspects"] is not None, 1)]), options


def _scales(luck: random.Random) -> Any:
    grades = luck.choice([1, 1, 1, 2])
    return scales, _measures(luck, number=2), {
        "length": luck.randint(1, 5 if grades == 1 else 2), "grades": grades,
        "equal_relevant": luck.choice([None, True, False]), "relevant": luck.choice([None, None, 1, 2, 4]),
        "count": luck.choice(["auto", "exact", "sample"]), "samples": 40, "seed": luck.randint(1, 9),
        "jobs": 1,
    }  # fmt: skip


def _structures(luck: random.Random) -> Any:
    return difference_structure, _measures(luck, number=2), {
        "length": luck.randint(1, 3), "relevant": luck.choice([None, None, 1, 2]),
    }  # fmt: skip


def _ranges(luck: random.Random) -> Any:
    sizes = {"length": luck.randint(2, 6), "grades": luck.randint(1, 2)}
    return archetype_ranges, luck.randint(1, 3), sizes | {"crossing": luck.choice(["sign-change", "matters"])}


def _intervals(luck: random.Random) -> Any:
    length, best = luck.randint(1, 6), luck.randint(1, 2)
    r, u = ([luck.randint(0, best) for _ in range(length)] for _ in range(2))
    s, v = ([luck.randint(grade if luck.random() < 0.9 else 0, best) for grade in each] for each in (r, u))
    ends = ["".join(map(str, word)) for word in (r, s, u, v)]
    return (
        compare_intervals,
        ends[0],
        dict(zip("suv", ends[1:], strict=True)) | {"measure": luck.choice([None, *MEASURES[:11]])},
    )


def _weights(luck: random.Random) -> Any:
    names = ["P@5", "RBP(p=0.5)", "DCG", "nDCG@4", "CG@3", "DCG(discount='jk')", "nDCG"]
    return rank_weights, " ".join(luck.sample(names, 2)), {"depth": luck.randint(1, 12)}


CALLS: dict[str, tuple[Callable[[random.Random], Any], int]] = {
    "properties": (_properties, 70),
    "properties of named rankings": (_named_properties, 30),
    "related rankings": (_related, 40),
    "scales": (_scales, 60),
    "difference structure": (_structures, 20),
    "archetype ranges": (_ranges, 20),
    "intervals": (_intervals, 60),
    "rank weights": (_weights, 10),
}
"""How calls are drawn, and their number."""
CASES = [(name, seed) for name, (_, number) in CALLS.items() for seed in range(number)]


def describe(name: str, seed: int) -> Any:
    """Return a call and a summary of its result, or its error."""
    function, first, options = CALLS[name][0](random.Random(seed))
    shown = ", ".join(
        [repr(first), *(f"{key}={value!r}" for key, value in options.items() if value is not None)]
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = function(first, **options)
    except (InputError, SettingsError) as error:
        return [shown, f"{type(error).__name__}: {error}"]
    tables = {key: table[3:] for key, table in describe_tables(result).items()}
    columns = {key: list(table.columns) for key, table in result.tables.items()}
    numbers = {key: len(table) for key, table in result.tables.items()}
    settings = json.dumps(to_plain(result.settings))
    plain: Any = to_plain({"text": repr(result), "rows": numbers, "settings": settings})
    for key, rows in to_plain(tables).items():
        plain[key] = {column: [row[k] for row in rows] for k, column in enumerate(columns[key])}
    return [shown, to_plain(summarise(plain))]


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_results_of_random_options_change_only_on_purpose(name: str, seed: int) -> None:
    assert_recorded(describe(name, seed), RECORDED, f"{name} {seed}")


if __name__ == "__main__":
    write_recorded(RECORDED, {f"{name} {seed}": describe(name, seed) for name, seed in CASES})
