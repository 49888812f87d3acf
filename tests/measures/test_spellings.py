"""Names that people type: those of other programs, in any case."""

from __future__ import annotations

import pytest

from rankscope.errors import MeasureError
from rankscope.measures import REGISTRY, measure
from rankscope.measures.spellings import SPELLINGS, respelled
from rankscope.trec_eval.names import ENTRIES, RelevanceSettings, parse_columns

# what these print depends on parameters that a name alone does not carry, or is no number
NOT_NAMES = {"runid", "relstring", "rbp", "rbp_resid"}


@pytest.mark.parametrize(
    ("typed", "understood"),
    [
        ("map", "AP"),
        ("P_5", "P@5"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("recip_rank", "RR"),
        ("recall_1000", "R@1000"),
        ("iprec_at_recall_0.10", "IPrec@0.1"),
        ("ndcg_at_10", "nDCG@10"),
        ("mrr_at_10", "RR@10"),
        ("hit_rate@10", "Success@10"),
        ("mrr", "RR"),
        ("precision@3", "P@3"),
        ("ndcg@10", "nDCG@10"),
        ("NDCG @ 10", "nDCG@10"),
        ("twist", "Twist"),
        ("ap(rel=2)@100", "AP(rel=2)@100"),
        ("MAP", "AP"),
        ("alpha_ndcg@20", "alpha_nDCG@20"),
        ("ERR-IA@10", "ERR_IA@10"),
        ("r-precision", "Rprec"),
        ("ndcg_burges@10", "nDCG(gains='exp2')@10"),
    ],
)
def test_names_that_people_type(typed: str, understood: str) -> None:
    assert str(measure(typed)) == understood


@pytest.mark.parametrize(
    "entry",
    [e for e in ENTRIES.values() if "qrels" in e.formats and e.name not in NOT_NAMES],
    ids=lambda e: e.name,
)
def test_every_name_that_trec_eval_prints_is_its_measure(entry: object) -> None:
    for column in parse_columns([entry.name], RelevanceSettings(), "qrels"):  # type: ignore[attr-defined]
        if column.measure is not None:
            assert measure(column.label) == column.measure, column.label


def test_no_two_measures_differ_by_case_alone() -> None:
    by_spelling: dict[str, set[object]] = {}
    for name, item in REGISTRY.items():
        by_spelling.setdefault(name.lower(), set()).add(item)
    assert [name for name, items in by_spelling.items() if len(items) > 1] == []


def test_every_spelling_leads_to_a_measure_of_the_registry() -> None:
    others = [other.lower() for listed in SPELLINGS.values() for other in listed]
    assert len(set(others)) == len(others)
    for name, listed in SPELLINGS.items():
        assert name.partition("(")[0] in REGISTRY
        for other in listed:
            understood = respelled(other, REGISTRY)
            assert understood is not None
            assert REGISTRY[understood.partition("(")[0]] == REGISTRY[name.partition("(")[0]]


@pytest.mark.parametrize("wrong", ["bm25", "ndcg_cut_", "map@", "P_5_6", "_10", "", "@10", "nonsense_at_10"])
def test_invalid_spellings_raise(wrong: str) -> None:
    with pytest.raises(MeasureError):
        measure(wrong)
