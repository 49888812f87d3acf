"""Values, errors and bounds under ties and unjudged documents of random collections are the recorded ones.

Other tests prove that no statement is false, which bounds that are too wide also satisfy. The program itself gave the
values in recorded.json: these tests detect unintended changes. After an intended change, run

    python -m tests.certainty.test_recorded

and review the difference before you commit it.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.certainty import test_joint_brute_force as brute_force
from tests.recorded import assert_recorded, known_measures, summarise, to_plain, write_recorded

import rankscope as rs
from rankscope.errors import InputError
from rankscope.measures import Measure

RECORDED = Path(__file__).with_name("recorded.json")
MEASURES = known_measures(RECORDED, __name__)
PLAIN, BY_ASPECT = (
    [measure for measure in pool if measure.name in MEASURES]
    for pool in (brute_force.PLAIN, brute_force.BY_ASPECT)
)
N_WORLDS = 6
OPTIONS = [
    (ties, unjudged)
    for ties in ("break", "expected", "best", "worst")
    for unjudged in ("nonrelevant", "condense", "bounds")
][1:]
CASES = [
    (kind, seed)
    for kind in ("values", "pairs", "pairs of few lists", "documents")
    for seed in range(N_WORLDS)
]


def larger_collection(seed: int) -> tuple[Any, Any, list[Measure]]:
    """Return judgments and runs of more and longer lists than those that brute force can evaluate."""
    luck = random.Random(seed)
    documents = [f"d{number}" for number in range(9)]
    by_aspect = seed % 5 == 4
    qrels: dict[str, Any] = {}
    runs: dict[str, Any] = {name: {} for name in "ABCD"[: 2 + seed % 3]}
    for topic in ("q1", "q2"):
        grades = {d: luck.choice([0, 0, 1, 2, -1]) for d in documents if luck.random() < 0.6}
        grades[luck.choice(documents)] = 1
        qrels[topic] = {d: {"1": max(g, 0), "2": g % 2} for d, g in grades.items()} if by_aspect else grades
        for lists in runs.values():
            if luck.random() < 0.95:
                retrieved = luck.sample(documents, luck.randint(0, 6))
                lists[topic] = {d: float(luck.randint(1, 5)) for d in retrieved}
    pool = BY_ASPECT if by_aspect else PLAIN
    return qrels, runs, luck.sample(pool, min(len(pool), 6))


def collections(seed: int) -> list[tuple[Any, Any, list[Measure]]]:
    world = brute_force.World(seed, PLAIN, BY_ASPECT)
    return [(world.qrels, world.runs, world.measures), larger_collection(seed)]


def describe_values(seed: int) -> Any:
    """Return values, and those of means, with their uncertainty under all options."""
    described = {}
    for number, (qrels, runs, measures) in enumerate(collections(seed)):
        for ties, unjudged in OPTIONS:
            for missing in ("zero", "skip") if (ties, unjudged) == ("expected", "bounds") else ("zero",):
                scores = rs.evaluate(qrels, runs, measures, ties=ties, unjudged=unjudged, missing=missing)
                described[f"{number} {ties} {unjudged} {missing}"] = summarise(
                    [scores.topics_table(means=True).records(), scores["means"].records()]
                )
    return described


def describe_pairs(seed: int) -> Any:
    """Return which orders of two runs are certain, by measure."""
    return {
        f"{number} {measure}": describe(
            lambda m=measure, q=qrels, r=runs: rs.certain(rs.evaluate(q, r, m), labels=True)
        )
        for number, (qrels, runs, measures) in enumerate(collections(seed))
        for measure in measures
    }


def describe_pairs_of_few_lists(seed: int) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rankscope.certainty.cases.MAX_LISTS", 3)
        return describe_pairs(seed)


def describe_documents(seed: int) -> Any:
    """Return the documents to judge next."""
    return {
        f"{number}": describe(
            lambda q=qrels, r=runs: rs.next(rs.evaluate(q, r, "P@5 nDCG@3 RBP(p=0.7) DCG(gains=exp2)@4"), 20)
        )
        for number, (qrels, runs, _) in enumerate(collections(seed))
    }


def describe(call: Callable[[], Any]) -> Any:
    """Return a summary of the tables of a result, or the error."""
    try:
        result = call()
    except InputError as error:
        return str(error)
    return summarise({name: table.records() for name, table in result.tables.items()})


DESCRIBED = {
    "values": describe_values,
    "pairs": describe_pairs,
    "pairs of few lists": describe_pairs_of_few_lists,
    "documents": describe_documents,
}


def describe_case(kind: str, seed: int) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return to_plain(DESCRIBED[kind](seed))


@pytest.mark.product(8)
@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_certainty_changes_only_on_purpose(kind: str, seed: int) -> None:
    assert_recorded(describe_case(kind, seed), RECORDED, f"{kind} {seed}")


if __name__ == "__main__":
    described = {f"{kind} {seed}": describe_case(kind, seed) for kind, seed in CASES}
    write_recorded(RECORDED, {"measures": MEASURES, **described})
