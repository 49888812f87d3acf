"""Lists in memory give the hits of the same lists in a file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.read import Qrels, Run
from rankscope.read.orders import ORDERS
from rankscope.scan import RunHits, memory, scan_run
from rankscope.scan.memory import rank_judged

QRELS = Qrels.from_dict({"1": {"a": 1, "b": 0, "é": 2}, "2": {"a": 1}})
scores = st.sampled_from([1.0, 1.0 + 1e-9, 2.0, -0.0, 0.0, 3e38, 1e39, -1e-46, 0.1])
lists = st.dictionaries(st.sampled_from(["a", "b", "c", "é", "z"]), scores, min_size=1)


def in_a_file(run: dict[str, dict[str, float]], order: str) -> RunHits:
    lines = [f"{t} Q0 {d} {i} {s!r} t" for t, one in run.items() for i, (d, s) in enumerate(one.items(), 1)]
    return scan_run(Run("t", order, source="\n".join(lines).encode()), QRELS, ties=True)


@given(st.dictionaries(st.sampled_from(["1", "2", "3"]), lists, min_size=1), st.sampled_from(ORDERS))
def test_dicts_are_scanned_like_files(run: dict[str, dict[str, float]], order: str) -> None:
    in_memory = scan_run(Run.from_dict(run, order=order), QRELS, ties=True)
    from_file = in_a_file(run, order)
    for name in ("topic", "length", "offsets", "rank", "judgment", "tied", "ignored_topics"):
        assert list(getattr(in_memory, name)) == list(getattr(from_file, name)), name
    assert in_memory.ties is not None
    assert from_file.ties is not None
    assert in_memory.ties.first.tolist() == from_file.ties.first.tolist()
    assert in_memory.ties.size.tolist() == from_file.ties.size.tolist()


def test_ties_of_32_bits_are_counted_for_dicts() -> None:
    run = {"1": {"a": 1.0, "b": 1.0 + 1e-9}}
    assert scan_run(Run.from_dict(run, order="trec_eval9"), QRELS).tied.tolist() == [2]
    assert scan_run(Run.from_dict(run, order="trec_eval"), QRELS).tied.tolist() == [0]


@given(lists, st.sets(st.sampled_from(["a", "b", "é", "nowhere"])))
def test_ranks_of_judged_documents_are_those_of_the_whole_list(
    one: dict[str, float], judged: set[str]
) -> None:
    qrels = Qrels.from_dict({"1": {**dict.fromkeys(judged, 1), "never": 0}})
    whole = scan_run(Run.from_dict({"1": one}, order="trec_eval9"), qrels)
    numbers = qrels.document_numbers("1")
    rank, judgment, offsets = rank_judged([{}, one, one], [numbers, numbers, {}])
    assert (rank.tolist(), judgment.tolist()) == (whole.rank.tolist(), whole.judgment.tolist())
    assert offsets.tolist() == [0, 0, len(rank), len(rank)]


@given(st.lists(st.tuples(lists, st.dictionaries(st.sampled_from(["a", "b", "é"]), st.integers(-2, 3)))))
def test_few_short_and_long_lists_give_the_same(pairs: list[tuple[dict[str, float], dict[str, int]]]) -> None:
    runs, judged = [one for one, _ in pairs], [known for _, known in pairs]
    ways = (
        memory._rank_in_few_lists(runs, judged),
        memory._rank_in_long_lists(runs, judged),
        memory._rank_in_short_lists(runs, judged, [*map(len, runs)]) if pairs else rank_judged([], []),
    )
    first, *others = [tuple(array.tolist() for array in found) for found in ways]
    assert others == [first, first]


def test_nan_is_the_lowest_score_in_lists_of_any_length() -> None:
    short = {"a": float("nan"), "b": 1.0, "c": float("nan")}
    long = {**short, **{f"x{i}": 2.0 + i for i in range(200)}}
    numbers = {"a": 1, "b": 2, "c": 3}
    assert rank_judged([short], [numbers])[0].tolist() == [1, 2, 3]
    assert rank_judged([short] * 60, [numbers] * 60)[1].tolist() == [2, 3, 1] * 60
    assert rank_judged([long], [numbers])[:2][0].tolist() == [201, 202, 203]
    assert rank_judged([long], [numbers])[1].tolist() == [2, 3, 1]


@pytest.mark.parametrize("order", ["rank", "file"])
def test_orders_without_scores_have_no_ties(order: str) -> None:
    hits = scan_run(Run.from_dict({"1": {"a": 1.0, "b": 1.0}}, order=order), QRELS, ties=True)
    assert hits.ties is not None
    assert hits.ties.first.tolist() == hits.rank.tolist()
    assert hits.ties.size.tolist() == [1, 1]
