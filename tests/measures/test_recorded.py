"""Every measure, with every parameter, has the values it had before on one collection of many odd lists.

The values in recorded.json were written by the measures themselves; other tests hold them against other programs,
papers and enumerations. What this one notices is a value that changed and was not meant to. Whoever means it calls

    python -m tests.measures.test_recorded

and looks at the difference before committing it.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.certainty.values import judged_as, validate_options
from rankscope.errors import MeasureError
from rankscope.judging import Judged
from rankscope.judging.lists import Lists
from rankscope.measures import REGISTRY, Measure, parse
from rankscope.measures.archetypes import find_archetypes
from rankscope.scores import score

RECORDED = Path(__file__).with_name("recorded.json")
BUILT_IN = {measure.name: measure for measure in REGISTRY.values() if measure.family != "user"}
MEASURES = sorted(BUILT_IN.values(), key=lambda one: one.name)
TEXTS = {
    "gains": ["exp2", "0,1,3", "0,2,3,7", "1=3,2=9", "0,-0.5,0.25,1"],
    "measure": ["RBP(p=0.5)", "P@4", "DCG", "nDCG@6", "AP@9", "RR", "RBP(p=0.5,graded=True)"],
    "grades": ["linear", "0,1,5,6"],
    "times": ["8.5,11", "1,2,3,4"],
    "levels": ["0.2,0.7"],
}
"""For parameters that are texts."""
TOGETHER = (
    "nCT(bound='trec-dd-2017',iteration=2)",
    "nCT(bound='trec-dd-2017',iteration=2)@5",
    "CT(iteration=2)",
)
"""Parameters that matter beside another one."""
HANDLINGS = [
    ("expected", "nonrelevant"),
    ("best", "nonrelevant"),
    ("worst", "nonrelevant"),
    ("break", "condense"),
]


def numbers(seed: int) -> Iterator[int]:
    """Numbers that are as good as random, and the same everywhere."""
    while True:
        seed = (seed * 1103515245 + 12345) % 2**31
        yield seed >> 8


@cache
def collection() -> tuple[rs.Qrels, rs.Runs]:
    """Topics with and without relevant documents; lists that are empty, short, long, perfect, reversed, tied."""
    draw = numbers(7)
    judged: dict[str, dict[str, dict[str, int]]] = {}
    for topic in range(12):
        grades = [0, 0, 1, 2, 3][: 1 + topic % 5] if topic else [0]
        judged[f"t{topic}"] = {
            f"d{n}": {f"a{a}": grades[next(draw) % len(grades)] for a in range(3) if next(draw) % 3 or not a}
            for n in range(3 + 2 * topic)
        }
    runs: dict[str, dict[str, dict[str, float]]] = {"perfect": {}, "reversed": {}}
    for topic, mine in judged.items():
        best = sorted(mine, key=lambda document: -max(mine[document].values()))
        runs["perfect"][topic] = {document: -float(rank) for rank, document in enumerate(best)}
        runs["reversed"][topic] = {document: float(rank) for rank, document in enumerate(best)}
    for name, pool, tied in (("shallow", 6, 1), ("deep", 60, 1), ("tied", 30, 4), ("noisy", 45, 2)):
        runs[name] = {
            topic: {f"d{next(draw) % pool}": float(next(draw) % 97 // tied) for _ in range(next(draw) % pool)}
            for topic in judged
            if next(draw) % 7
        }
    return rs.Qrels.from_dict(judged), rs.Runs(
        [rs.Run.from_dict(lists, name=name) for name, lists in runs.items()]
    )


def settings_of(measure: Measure) -> Iterator[str]:
    """The measure as it is, cut, and with each parameter at its bounds and between, or as each of its choices."""
    yield ""
    for key, one in measure.parameters.items():
        if one.choices:
            yield from (f"{key}={choice!r}" for choice in one.choices if choice != one.default)
        elif isinstance(one.default, str):
            yield from (f"{key}={text!r}" for text in TEXTS[key])
        elif isinstance(one.default, bool):
            yield f"{key}={not one.default}"
        elif isinstance(one.default, int):
            yield from (f"{key}={value}" for value in (one.default + 1, one.default + 2))
        elif isinstance(one.default, float):
            yield from (f"{key}={value}" for value in (0.3, 0.75, 2.5))


def spelled() -> list[Measure]:
    found = {}
    for measure in MEASURES:
        cuts = ["@4", "@10"] if measure.cutoff_rule == "required" else ["", "@1", "@5", "@40"]
        for setting in settings_of(measure):
            for cut in cuts if not setting else cuts[:1] + cuts[2:3]:
                try:
                    one = parse(f"{measure.name}({setting}){cut}")
                except MeasureError:  # this measure has no such cutoff, or no such value
                    continue
                found[str(one)] = one
    return [*found.values(), *map(parse, TOGETHER)]


def summed(values: Any) -> list[Any]:
    """What a change of any value changes: a sum with uneven weights, and how many are undefined."""
    flat = np.asarray(values, np.float64).ravel()
    weights = 1 + np.sqrt(np.arange(len(flat)))
    known = np.isfinite(flat)
    total = float((flat[known] * weights[known]).sum())
    return [float(f"{total:.12g}"), int(np.isnan(flat).sum()), int(np.isinf(flat).sum())]


def values(judged: Judged, measures: list[Measure]) -> dict[str, Any]:
    """Of each measure; or what it says, if it has no values here."""
    found: dict[str, Any] = {}
    for measure in measures:
        try:
            found[str(measure)] = summed(score(judged, [measure]).values)
        except rs.errors.InputError as error:
            found[str(measure)] = str(error)
    return found


def values_under(ties: str, unjudged: str) -> dict[str, Any]:
    plain = [one for one in spelled() if "(" not in str(one)]
    measures = list(
        {one.name: one for one in plain if one.cutoff != 40}.values()
    )  # each at its largest cutoff but one
    return values(judged_as(*collection(), validate_options(ties, unjudged)), measures)


def ranges() -> dict[str, Any]:
    """The lowest and the highest values over labels of unjudged documents, of one run."""
    qrels, runs = collection()
    judged = judged_as(qrels, rs.Runs([runs["shallow"]]), validate_options("break", "bounds"))
    found: dict[str, Any] = {}
    for measure in spelled():
        if ("(" in str(measure) and measure.name not in ("nDCG", "RBP", "ERR", "DCG")) or measure.cutoff in (
            1,
            40,
        ):
            continue  # so that it takes a second
        try:
            low, high = score(judged, [measure]).bounds(measure)
            found[str(measure)] = [*summed(low.values), *summed(high.values)]
        except rs.errors.InputError as error:
            found[str(measure)] = str(error)
    return found


def weights() -> dict[str, Any]:
    """Of the first ranks, and of all that there may be."""
    found = {}
    for measure in spelled():
        weighed, whole = measure.rank_weights(12), getattr(measure, "total_weight", lambda: None)()
        found[str(measure)] = (
            None if weighed is None else [*summed(weighed), *summed(0.0 if whole is None else whole)]
        )
    return found


def every_list(graded: bool) -> Judged:
    """All lists of six documents, where up to two relevant ones were not found, each as a topic."""
    judged, ranked = {}, {}
    for number in range(64):
        for missed in range(3):
            topic = f"{number}-{missed}"
            ranked[topic] = [f"d{n}" for n in range(6)]
            grades = [1 + (number * 5 + n * n) % 3 if graded else 1 for n in range(6)]
            judged[topic] = {f"d{n}": grades[n] * (number >> n & 1) for n in range(6) if (number + n) % 5}
            judged[topic] |= {f"m{n}": 1 + n * graded for n in range(missed)} | {"x": 0}
    return rs.judge(rs.Qrels.from_dict(judged), rs.Run.from_dict(ranked))


def graded_lists() -> Lists:
    """All orders of six documents of grades 0 to 3, each as a topic."""
    orders = sorted(set(permutations([0, 1, 1, 2, 3, 3])))
    judged = {
        str(n): {f"d{rank}": grade for rank, grade in enumerate(order)} for n, order in enumerate(orders)
    }
    ranked = {topic: list(mine) for topic, mine in judged.items()}
    return rs.judge(rs.Qrels.from_dict(judged), rs.Run.from_dict(ranked)).lists


def archetypes() -> dict[str, Any]:
    found = {}
    every = {f"every graded={graded}": every_list(graded).lists for graded in (False, True)}
    for name, lists in {"odd": rs.judge(*collection()).lists, **every, "graded": graded_lists()}.items():
        for crossing in ("sign-change", "matters"):
            for cutoff in (1000, 8, 6, 5):
                kinds = find_archetypes(lists, crossing=crossing, cutoff=cutoff).tolist()
                places = {
                    kind: [n for n, one in enumerate(kinds) if one == kind] for kind in sorted(set(kinds))
                }
                found[f"{name} {crossing} {cutoff}"] = {kind: [len(n), sum(n)] for kind, n in places.items()}
    return found


def expect(found: dict[str, Any], name: str) -> None:
    expected = json.loads(RECORDED.read_text("utf-8"))[name]
    assert list(found) == list(expected)
    different = {
        measure: (one, expected[measure])
        for measure, one in found.items()
        if one != expected[measure] and one != pytest.approx(expected[measure], rel=1e-9, abs=1e-10)
    }
    assert not different


def test_values_with_every_parameter() -> None:
    expect(values(rs.judge(*collection()), spelled()), "values")


@pytest.mark.parametrize("graded", [False, True])
def test_values_of_every_short_list(graded: bool) -> None:
    expect(values(every_list(graded), spelled()), f"every list {'graded' if graded else 'binary'}")


@pytest.mark.parametrize(("ties", "unjudged"), HANDLINGS)
def test_values_where_documents_are_tied_or_unjudged(ties: str, unjudged: str) -> None:
    expect(values_under(ties, unjudged), f"{ties} {unjudged}")


def test_ranges_over_labels_of_unjudged_documents() -> None:
    expect(ranges(), "ranges")


def test_weights_of_ranks() -> None:
    expect(weights(), "weights")


def test_archetypes() -> None:
    expect(archetypes(), "archetypes")


def record() -> None:
    from tests.measures.test_pages import declared

    found: dict[str, Any] = {"values": values(rs.judge(*collection()), spelled()), "weights": weights()}
    found |= {
        f"every list {name}": values(every_list(name == "graded"), spelled()) for name in ("binary", "graded")
    }
    found |= {"ranges": ranges(), "archetypes": archetypes(), "declared": declared()}
    found |= {f"{ties} {unjudged}": values_under(ties, unjudged) for ties, unjudged in HANDLINGS}
    lines = [
        f"{json.dumps(name)}: {{\n"
        + ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in one.items())
        + "\n}"
        for name, one in found.items()
    ]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        record()
