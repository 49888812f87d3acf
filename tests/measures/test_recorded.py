"""Every measure, with every parameter, has its recorded values on a collection of unusual rankings.

The measures themselves computed the values in recorded.json; other tests compare them with other programs, papers and
enumerations. These tests detect unintended changes. After an intended change, run

    python -m tests.measures.test_recorded

and review the difference before you commit it.

All values of a measure with default parameters are recorded. Other values are recorded as checksums, which locate a
single changed value. A failure names the measure, run, topic and both values.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.certainty.values import judge_with_options, validate_options
from rankscope.errors import MeasureError
from rankscope.judging import Judged
from rankscope.judging.lists import Lists
from rankscope.measures import REGISTRY, Measure, parse
from rankscope.measures.effort_curves import find_archetypes
from rankscope.scores import score

RECORDED = Path(__file__).with_name("recorded.json")
BUILT_IN = {measure.name: measure for measure in REGISTRY.values() if measure.family != "user"}
MEASURES = sorted(BUILT_IN.values(), key=lambda measure: measure.name)
TEXTS = {
    "gains": ["exp2", "0,1,3", "0,2,3,7", "1=3,2=9", "0,-0.5,0.25,1"],
    "measure": ["RBP(p=0.5)", "P@4", "DCG", "nDCG@6", "AP@9", "RR", "RBP(p=0.5,graded=True)"],
    "grades": ["linear", "0,1,5,6"],
    "times": ["8.5,11", "1,2,3,4"],
    "levels": ["0.2,0.7"],
}
"""Values of text parameters."""
TOGETHER = (
    "nCT(bound='trec-dd-2017',iteration=2)",
    "nCT(bound='trec-dd-2017',iteration=2)@5",
    "CT(iteration=2)",
)
"""Parameters that have an effect only together with others."""
HANDLINGS = [
    ("expected", "nonrelevant"),
    ("best", "nonrelevant"),
    ("worst", "nonrelevant"),
    ("break", "condense"),
]


def numbers(seed: int) -> Iterator[int]:
    """Yield pseudo-random numbers that are the same on every machine."""
    while True:
        seed = (seed * 1103515245 + 12345) % 2**31
        yield seed >> 8


@cache
def collection() -> tuple[rs.Qrels, rs.Runs]:
    """Return topics with and without relevant documents; empty, short, long, perfect, reversed and tied rankings."""
    draw = numbers(7)
    judged: dict[str, dict[str, dict[str, int]]] = {}
    for topic in range(12):
        grades = [0, 0, 1, 2, 3][: 1 + topic % 5] if topic else [0]
        judged[f"t{topic}"] = {
            f"d{n}": {f"a{a}": grades[next(draw) % len(grades)] for a in range(3) if next(draw) % 3 or not a}
            for n in range(3 + 2 * topic)
        }
    runs: dict[str, dict[str, dict[str, float]]] = {"perfect": {}, "reversed": {}}
    for topic, grades_by_document in judged.items():
        best = sorted(grades_by_document, key=lambda document: -max(judged[topic][document].values()))
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


def iter_settings(measure: Measure) -> Iterator[str]:
    """Yield no setting, and each parameter with several values, or with each of its choices."""
    yield ""
    for key, parameter in measure.parameters.items():
        default = parameter.default
        if parameter.choices:
            yield from (f"{key}={choice!r}" for choice in parameter.choices if choice != default)
        elif isinstance(default, str):
            yield from (f"{key}={text!r}" for text in TEXTS[key])
        elif isinstance(default, bool):
            yield f"{key}={not default}"
        elif isinstance(default, int):
            yield from (f"{key}={value}" for value in (default + 1, default + 2))
        elif isinstance(default, float):
            yield from (f"{key}={value}" for value in (0.3, 0.75, 2.5))


def list_variants() -> list[Measure]:
    """Return all measures with several cutoffs and parameters."""
    variants = {}
    for measure in MEASURES:
        cuts = ["@4", "@10"] if measure.cutoff_rule == "required" else ["", "@1", "@5", "@40"]
        for setting in iter_settings(measure):
            for cut in cuts if not setting else cuts[:1] + cuts[2:3]:
                try:
                    variant = parse(f"{measure.name}({setting}){cut}")
                except MeasureError:  # The measure does not accept this cutoff or value.
                    continue
                variants[str(variant)] = variant
    return [*variants.values(), *map(parse, TOGETHER)]


Values = dict[str, Any]
"""Values of measures by name: an array, or the text of an error."""


def evaluate(judged: Judged, measures: list[Measure]) -> Values:
    return {str(measure): compute(lambda: score(judged, [measure]).values) for measure in measures}  # noqa: B023


def compute(function: Callable[[], Any]) -> Any:
    """Return an array of values, or the text of an error."""
    try:
        return np.asarray(function(), np.float64).ravel()
    except rs.errors.InputError as error:
        return str(error)


def evaluate_with(ties: str, unjudged: str) -> Values:
    """Evaluate each measure at its largest cutoff but one."""
    plain = [measure for measure in list_variants() if "(" not in str(measure)]
    measures = list({measure.name: measure for measure in plain if measure.cutoff != 40}.values())
    return evaluate(judge_with_options(*collection(), validate_options(ties, unjudged)), measures)


def ranges() -> Values:
    """Return the lowest and the highest values over labels of unjudged documents, of one run."""
    qrels, runs = collection()
    judged = judge_with_options(qrels, rs.Runs([runs["shallow"]]), validate_options("break", "bounds"))
    values: Values = {}
    for measure in list_variants():
        is_plain = "(" not in str(measure) or measure.name in ("nDCG", "RBP", "ERR", "DCG")
        if is_plain and measure.cutoff not in (1, 40):  # The others would take too long.
            values[str(measure)] = compute(
                lambda: [part.values for part in score(judged, [measure]).bounds(measure)]  # noqa: B023
            )
    return values


def weights() -> Values:
    """Return the weights of the first ranks, and the total weight."""
    values: Values = {}
    for measure in list_variants():
        by_rank, total = measure.rank_weights(12), getattr(measure, "total_weight", lambda: None)()
        values[str(measure)] = (
            None if by_rank is None else np.array([*by_rank, 0.0 if total is None else total])
        )
    return values


def every_list(graded: bool) -> Judged:
    """Return all rankings of six documents with up to two missing relevant documents, each as a topic."""
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
    """Return all orders of six documents of grades 0 to 3, each as a topic."""
    orders = sorted(set(permutations([0, 1, 1, 2, 3, 3])))
    judged = {
        str(n): {f"d{rank}": grade for rank, grade in enumerate(order)} for n, order in enumerate(orders)
    }
    ranked = {topic: list(grades) for topic, grades in judged.items()}
    return rs.judge(rs.Qrels.from_dict(judged), rs.Run.from_dict(ranked)).lists


def archetypes() -> dict[str, Any]:
    """Return, per collection and archetype, the number of rankings and the sum of their indices."""
    counts: dict[str, Any] = {}
    all_lists = {f"every graded={graded}": every_list(graded).lists for graded in (False, True)}
    for name, lists in {"odd": rs.judge(*collection()).lists, **all_lists, "graded": graded_lists()}.items():
        for crossing in ("sign-change", "matters"):
            for cutoff in (1000, 8, 6, 5):
                kinds = find_archetypes(lists, crossing=crossing, cutoff=cutoff)
                indices = {
                    kind: np.flatnonzero(kinds == kind).tolist() for kind in sorted(set(kinds.tolist()))
                }
                counts[f"{name} {crossing} {cutoff}"] = {
                    kind: [len(n), sum(n)] for kind, n in indices.items()
                }
    return counts


def list_labels(judged: Judged) -> list[str]:
    return [f"run {run}, topic {topic}" for run in judged.runs for topic in judged.topics]


def sections() -> dict[str, Callable[[], tuple[Values, list[str]]]]:
    """Return, for each section of recorded.json, a function that returns values and their labels."""

    def judged_section(judged: Judged, values: Values) -> tuple[Values, list[str]]:
        return values, list_labels(judged)

    def every_section(graded: bool) -> tuple[Values, list[str]]:
        return judged_section(every_list(graded), evaluate(every_list(graded), list_variants()))

    shallow = rs.judge(collection()[0], rs.Runs([collection()[1]["shallow"]]))
    odd = rs.judge(*collection())
    return {
        "values": lambda: judged_section(odd, evaluate(odd, list_variants())),
        "weights": lambda: (weights(), [*(f"rank {rank}" for rank in range(1, 13)), "total"]),
        "every list binary": lambda: every_section(False),
        "every list graded": lambda: every_section(True),
        "ranges": lambda: (
            ranges(),
            [f"{end}, {label}" for end in ("lowest", "highest") for label in list_labels(shallow)],
        ),
        **{
            f"{ties} {unjudged}": lambda ties=ties, unjudged=unjudged: judged_section(
                odd, evaluate_with(ties, unjudged)
            )
            for ties, unjudged in HANDLINGS
        },
    }


def round_number(value: float) -> Any:
    return float(f"{value:.12g}") if np.isfinite(value) else str(value)


def to_record(measure: str, values: Any, section: str) -> Any:
    """Return the recorded form: all values of default measures in the section "values", else a checksum.

    A checksum is the sum of the finite values, and their sum weighted with the index, which locate a single changed
    value; and the number and the sum of indices of NaN, of positive and of negative infinity.
    """
    if not isinstance(values, np.ndarray):
        return values
    if section == "values" and "(" not in measure and "@1" not in measure:
        return [round_number(value) for value in values.tolist()]
    index, finite = np.arange(1, len(values) + 1), np.isfinite(values)
    sums = [(values[finite] * weight[finite]).sum() for weight in (np.ones(len(values)), index)]
    checksum: dict[str, Any] = {"sums": [*map(round_number, sums)]}
    for name, mask in {"nan": np.isnan(values), "inf": values == np.inf, "-inf": values == -np.inf}.items():
        checksum |= {name: [int(mask.sum()), int(index[mask].sum())]} if mask.any() else {}
    return checksum


def is_same(actual: Any, expected: Any) -> bool:
    if isinstance(actual, dict) and isinstance(expected, dict):
        return actual.keys() == expected.keys() and all(is_same(actual[key], expected[key]) for key in actual)
    if isinstance(actual, list) and isinstance(expected, list):
        return len(actual) == len(expected) and all(map(is_same, actual, expected))
    return bool(actual == expected or (
        isinstance(actual, float) and isinstance(expected, float)
        and actual == pytest.approx(expected, rel=1e-9, abs=1e-10)
    ))  # fmt: skip


def explain(measure: str, values: Any, actual: Any, expected: Any, labels: list[str]) -> str:
    """Name the values that changed, with the values before and now."""
    if isinstance(actual, list) and isinstance(expected, list) and len(actual) == len(expected):
        pairs = [item for item in zip(labels, actual, expected, strict=True) if not is_same(*item[1:])]
        return "; ".join(
            f"{measure}, {label}: {current} instead of {before}" for label, current, before in pairs
        )
    if (
        isinstance(actual, dict)
        and isinstance(expected, dict)
        and {**actual, "sums": 0} == {**expected, "sums": 0}
    ):
        change, moment = (
            current - before for current, before in zip(actual["sums"], expected["sums"], strict=True)
        )
        position = moment / change if change else 0.0
        if abs(position - round(position)) < 1e-3 and 1 <= round(position) <= len(values):
            index = round(position) - 1
            return f"{measure}, {labels[index]}: {values[index]} instead of {values[index] - change:.9g}"
        return f"{measure}, several of {len(values)} values, their sums: {actual['sums']} instead of {expected['sums']}"
    return f"{measure}: {actual} instead of {expected}"


def find_changes(values: Values, labels: list[str], section: str, recorded: dict[str, Any]) -> list[str]:
    assert list(values) == list(recorded)
    return [
        f"{section}: {explain(measure, value, actual, recorded[measure], labels)}"
        for measure, value in values.items()
        if not is_same(actual := to_record(measure, value, section), recorded[measure])
    ]


@cache
def read_recorded() -> dict[str, Any]:
    recorded: dict[str, Any] = json.loads(RECORDED.read_text("utf-8"))
    return recorded


@pytest.mark.parametrize("section", sections())
def test_values_are_those_recorded(section: str) -> None:
    changes = find_changes(*sections()[section](), section, read_recorded()[section])
    assert not changes, "\n".join(changes[:20])


def test_archetypes() -> None:
    counts, recorded = archetypes(), read_recorded()["archetypes"]
    assert list(counts) == list(recorded)
    changes = [
        f"{name}: {counts[name]} instead of {recorded[name]}"
        for name in counts
        if counts[name] != recorded[name]
    ]
    assert not changes, "\n".join(changes)


@pytest.mark.parametrize("measure", ["AP", "AP(rel=2)", "P@4", "SDCG@10"])
def test_a_changed_value_is_named(measure: str) -> None:
    """A failure names section, measure, run, topic and both values, also if only a checksum is recorded."""
    judged = rs.judge(*collection())
    before = evaluate(judged, [parse(measure)])
    recorded = {name: to_record(name, values, "values") for name, values in before.items()}
    changed = before[measure].copy()
    changed[17] += 0.25
    (message,) = find_changes({measure: changed}, list_labels(judged), "values", recorded)
    run, topic = judged.runs[17 // len(judged.topics)], judged.topics[17 % len(judged.topics)]
    current, _, value = message.removeprefix(f"values: {measure}, run {run}, topic {topic}: ").partition(
        " instead of "
    )
    assert (float(current), float(value)) == pytest.approx((changed[17], before[measure][17]), abs=1e-8), (
        message
    )


def record() -> None:
    from tests.measures.test_pages import declared

    records: dict[str, Any] = {
        section: {name: to_record(name, values, section) for name, values in compute_section()[0].items()}
        for section, compute_section in sections().items()
    }
    records |= {"archetypes": archetypes(), "declared": declared()}
    lines = [
        f"{json.dumps(name)}: {{\n"
        + ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in record.items())
        + "\n}"
        for name, record in records.items()
    ]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        record()
