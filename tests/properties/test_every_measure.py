"""Every measure of the registry through the same invariances; a new measure joins by being registered."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import numpy as np
import pytest

from rankscope.errors import MeasureError
from rankscope.judging import Judged, judge
from rankscope.measures import REGISTRY, Measure, measure
from rankscope.measures.base import respects_swaps, rewards_grades
from rankscope.read import Qrels, Run, Runs

pytestmark = pytest.mark.product
# The value may change when unjudged documents are put at the end: these look at the length of a list.
LENGTH_MATTERS = {
    *("SetP", "SetF", "SetAP", "SetRelP", "Utility", "NumRet", "Unjudged", "RBPResidual", "RnDCG"),
    *("Compat", "Judged", "SFT", "Accuracy"),
    *("CT", "ACT", "nCT"),
    *("RBU", "Terminal"),
}
# Ranks have weights, but a document's gain is not its weight: means over ranks, the ideal ranking, recall of aspects.
NOT_PROPORTIONAL = {"IdealDCG", "nDCG_rel", "RnDCG", "DS_nDCG"}
# Which of several equally good documents a greedy ideal ranking takes first depends on their ids.
GREEDY = {"alpha_nDCG", "nNRBP", "nERR_IA", "nCT"}


def distinct() -> list[Measure]:
    """Return every measure once, without aliases."""
    return [item for name, item in REGISTRY.items() if item.name == name]


def variants(item: Measure) -> list[Measure]:
    """Return a measure with its defaults, with a cutoff, and with each parameter changed."""
    measures = [with_cutoff(item)] if item.cutoff_rule == "required" else [item]
    if item.cutoff_rule == "optional":
        measures.append(item @ 3)
    for key, parameter in item.parameters.items():
        for value in other_values(key, parameter):
            try:
                measures.append(measures[0](**{key: value}))
            except MeasureError:
                continue  # Some parameters exclude each other.
    return list(dict.fromkeys(measures))


def with_cutoff(item: Measure) -> Measure:
    try:
        return item @ 5
    except MeasureError:
        return item @ 0.5


def other_values(key: str, parameter: object) -> list[object]:
    choices = getattr(parameter, "choices", ())
    default = getattr(parameter, "default", None)
    if choices:
        return [choice for choice in choices if choice != default]
    if isinstance(default, bool):
        return [not default]
    others = {"rel": [2], "p": [0.5], "beta": [0.25], "gains": ["exp2", "0,1,5,2", "1=3,2=1"], "T": [2.5]}
    return {**others, "times": ["1", "2,3,50"]}.get(key, [])


EVERY = [variant for item in distinct() for variant in variants(item)]
each = pytest.mark.parametrize("item", EVERY, ids=str)
each_of_any_length = pytest.mark.parametrize(
    "item", [item for item in EVERY if item.name not in LENGTH_MATTERS], ids=str
)
each_with_ranks = pytest.mark.parametrize(
    "item",
    [
        item
        for item in EVERY
        if item.cutoff_rule != "none"
        and item.cutoff_meaning == "ranks considered"
        # without unjudged documents those below may stand above the cutoff
        and not item.settings.get("judged_only")
    ],
    ids=str,
)


# collections ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Collection:
    """Judgments (topic, aspect, document, grade) and, for each run and topic, a ranking."""

    judgments: tuple[tuple[str, str, str, int], ...]
    runs: dict[str, dict[str, list[str]]]

    @staticmethod
    def random(seed: int) -> Collection:
        rng = np.random.default_rng(seed)
        judgments, rankings = [], {}
        for t in range(1, 8):
            documents = [f"d{i}" for i in range(int(rng.integers(3, 26)))]
            pooled = [document for document in documents if rng.random() < 0.6] or documents[:1]
            best = int(rng.integers(0, 4)) if t > 2 else 3
            for document in pooled:
                for aspect in "12"[: 1 + int(rng.random() < 0.5)]:
                    grade = int(rng.integers(-1, best + 1))
                    judgments.append((str(t), aspect, document, grade))
            rankings[str(t)] = documents
        runs = {}
        for name in ("a", "b", "c", "d"):
            runs[name] = {
                topic: [
                    str(d) for d in rng.permutation(documents)[: int(rng.integers(1, len(documents) + 1))]
                ]
                for topic, documents in rankings.items()
                if rng.random() < 0.9 or topic == "1"
            }
        return Collection(tuple(judgments), runs)

    def judged(self) -> Judged:
        topics, aspects, documents, grades = zip(*self.judgments, strict=True)
        qrels = Qrels.from_columns(
            [topic.encode() for topic in topics],
            [aspect.encode() for aspect in aspects],
            [document.encode() for document in documents],
            np.array(grades, np.int32),
            aspects=True,
        )
        return judge(qrels, Runs([Run.from_dict(lists, name) for name, lists in self.runs.items()]))

    def renamed(self, topics: dict[str, str], document: dict[str, str]) -> Collection:
        judgments = [(topics[t], a, document[d], g) for t, a, d, g in self.judgments]
        runs = {
            name: {topics[t]: [document[d] for d in ranking] for t, ranking in lists.items()}
            for name, lists in self.runs.items()
        }
        return Collection(tuple(judgments), runs)


SEEDS = range(4)


@cache
def collection(seed: int) -> Collection:
    return Collection.random(seed)


@cache
def apply_change(seed: int, change: str) -> Judged:
    """Return a collection after a change that should not matter, or unchanged for ``plain``."""
    plain = collection(seed)
    rng = np.random.default_rng(seed)
    topics = {str(t): str(t) for t in range(1, 8)}
    documents = [f"d{i}" for i in range(26)]
    same = {document: document for document in documents}
    if change == "other documents":
        plain = plain.renamed(topics, dict(zip(documents, rng.permutation(documents).tolist(), strict=True)))
    elif change == "longer names":
        plain = plain.renamed(topics, {document: f"x-{document}" for document in documents})
    elif change == "other topics":
        plain = plain.renamed({topic: f"q{8 - int(topic)}" for topic in topics}, same)
    elif change == "shuffled judgments":
        order = rng.permutation(len(plain.judgments))
        plain = replace(plain, judgments=tuple(plain.judgments[i] for i in order))
    elif change == "other run order":
        plain = replace(plain, runs=dict(reversed(plain.runs.items())))
    elif change == "padded":
        tail = [f"unknown{i}" for i in range(7)]
        padded = {name: {t: r + tail for t, r in lists.items()} for name, lists in plain.runs.items()}
        plain = replace(plain, runs=padded)
    elif change == "cut at 3":
        cut = {name: {t: r[:3] for t, r in lists.items()} for name, lists in plain.runs.items()}
        plain = replace(plain, runs=cut)
    return plain.judged()


def values(item: Measure, judged: Judged) -> np.ndarray:
    return np.asarray(judged.grid(item.evaluate(judged.lists)))


@cache
def plain_values(item: Measure, seed: int) -> np.ndarray:
    plain = values(item, apply_change(seed, "plain"))
    plain.flags.writeable = False  # Tests share it.
    return plain


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.tobytes() == b.tobytes()


# invariances ------------------------------------------------------------------------------------------------


@each
def test_every_list_has_one_value_within_the_range(item: Measure) -> None:
    low, high = item.range
    for seed in SEEDS:
        actual = plain_values(item, seed)
        judged = apply_change(seed, "plain")
        assert actual.shape == (len(judged.runs), len(judged.topics)) and actual.dtype == np.float64
        defined = actual[~np.isnan(actual)]
        assert (defined >= low - 1e-12).all() and (defined <= high + 1e-12).all()


@each
def test_something_is_measured(item: Measure) -> None:
    """A sweep over measures that are always undefined or never differ would show nothing."""
    actual = np.concatenate([plain_values(item, seed).ravel() for seed in SEEDS])
    defined = actual[~np.isnan(actual)]
    assert len(defined) > 0
    assert len(set(defined.tolist())) > 1 or item.name in ("NumQ",)


@each
def test_names_of_documents_do_not_matter(item: Measure) -> None:
    change = "longer names" if item.name in GREEDY else "other documents"
    for seed in SEEDS:
        # the same numbers, though aspects may be added up in another order
        np.testing.assert_allclose(
            values(item, apply_change(seed, change)), plain_values(item, seed), rtol=1e-12, atol=1e-12
        )


@each
def test_names_and_order_of_topics_do_not_matter(item: Measure) -> None:
    for seed in SEEDS:
        assert same_bits(
            values(item, apply_change(seed, "other topics"))[:, ::-1].copy(), plain_values(item, seed)
        )


@each
def test_order_of_judgments_does_not_matter(item: Measure) -> None:
    for seed in SEEDS:
        assert same_bits(values(item, apply_change(seed, "shuffled judgments")), plain_values(item, seed))


@each
def test_order_of_runs_does_not_matter(item: Measure) -> None:
    for seed in SEEDS:
        assert same_bits(
            values(item, apply_change(seed, "other run order"))[::-1].copy(), plain_values(item, seed)
        )


@each
def test_runs_together_are_runs_one_by_one(item: Measure) -> None:
    for seed in SEEDS:
        together = plain_values(item, seed)
        judged = apply_change(seed, "plain")
        for r in range(len(judged.runs)):
            alone = item.evaluate(judged.with_runs([r]).lists)
            assert same_bits(np.asarray(alone), together[r].copy())


def padding_changes(item: Measure, seed: int) -> bool:
    is_present = apply_change(seed, "plain").present.reshape(-1)
    padded = values(item, apply_change(seed, "padded")).ravel()
    return not np.array_equal(
        padded[is_present], plain_values(item, seed).ravel()[is_present], equal_nan=True
    )


@each_of_any_length
def test_unjudged_documents_at_the_end_do_not_matter(item: Measure) -> None:
    assert not any(padding_changes(item, seed) for seed in SEEDS)


@pytest.mark.parametrize("name", sorted(LENGTH_MATTERS))
def test_no_exemption_is_stale(name: str) -> None:
    variants_by_name = [item for item in EVERY if item.name == name]
    assert any(padding_changes(item, seed) for item in variants_by_name for seed in SEEDS)


@each_with_ranks
def test_documents_below_the_cutoff_do_not_matter(item: Measure) -> None:
    for seed in SEEDS:
        at_three = item @ 3
        np.testing.assert_array_equal(
            values(at_three, apply_change(seed, "cut at 3")), plain_values(at_three, seed)
        )


@pytest.mark.parametrize("item", [item for item in EVERY if not item.sees_grades], ids=str)
def test_grades_that_a_measure_does_not_see_do_not_matter(item: Measure) -> None:
    lowest = item.settings["rel"]
    for seed in SEEDS:
        plain_ = apply_change(seed, "plain")
        grade = plain_.qrels.grade
        merged = np.where(grade >= max(1, lowest), max(1, lowest), grade).astype(np.int32)
        np.testing.assert_array_equal(values(item, plain_.with_grades(merged)), plain_values(item, seed))


# measures as values -----------------------------------------------------------------------------------------


@each
def test_text_is_a_fixed_point(item: Measure) -> None:
    repeated = measure(str(item))
    assert str(repeated) == str(item) and repeated == item and hash(repeated) == hash(item)
    assert type(repeated) is type(item)


@each
def test_pickled_measures_are_the_same(item: Measure) -> None:
    repeated = pickle.loads(pickle.dumps(item))
    assert repeated == item and hash(repeated) == hash(item) and repeated.settings == item.settings
    # Equal measures share the cached values, so these are evaluated.
    assert same_bits(values(repeated, apply_change(0, "plain")), plain_values(item, 0))


@each
def test_measures_are_immutable(item: Measure) -> None:
    with pytest.raises(AttributeError):
        item.rel = 7  # type: ignore[attr-defined]


def test_different_measures_are_different() -> None:
    assert len(set(EVERY)) == len(EVERY) == len({str(item) for item in EVERY})


@pytest.mark.parametrize("item", distinct(), ids=lambda item: item.name)
def test_every_measure_is_documented(item: Measure) -> None:
    assert item.meaning.endswith(".") and item.formula and item.reference
    assert all(parameter.meaning for parameter in item.parameters.values())
    low, high = item.range
    assert low < high and not math.isnan(low + high if math.isfinite(low + high) else 0.0)


@pytest.mark.parametrize("item", distinct(), ids=lambda item: item.name)
def test_every_measure_describes_its_user(item: Measure) -> None:
    assert "user" in vars(type(item)), "a sentence of its own: the user of the parent is another one"
    assert item.user.endswith(".") and item.user.count(". ") == 0 and 20 < len(item.user) < 260
    assert item.user[0].isupper()


@each
def test_weights_of_ranks_are_those_by_which_documents_gain(item: Measure) -> None:
    """If ranks have weights, a relevant document gains in proportion to them, and 0 below the cutoff."""
    weights = item.rank_weights(6)
    if weights is None:
        return
    assert weights.shape == (6,) and (weights >= 0).all()
    assert item.cutoff is None or not weights[int(item.cutoff) :].any()
    qrels = Qrels.from_dict({"q": {"r": 3, "other": 3}})
    runs = [Run.from_dict({"q": [*"uvwxy"[:rank], "r", *"uvwxy"[rank:]]}, str(rank)) for rank in range(6)]
    actual = item.evaluate(judge(qrels, Runs(runs)).lists)
    if item.name in NOT_PROPORTIONAL:
        return
    gained = (
        actual - item.evaluate(judge(qrels, Runs([Run.from_dict({"q": list("uvwxyz")}, "none")])).lists)[0]
    )
    np.testing.assert_allclose(gained / (gained.max() or 1), weights / (weights.max() or 1), atol=1e-9)


@pytest.mark.parametrize("item", distinct(), ids=lambda item: item.name)
def test_unknown_parameters_and_cutoffs_are_refused(item: Measure) -> None:
    with pytest.raises(MeasureError, match="no parameter 'nonsense'"):
        item(nonsense=1)
    for cutoff in (-1, float("nan")):
        with pytest.raises(MeasureError):
            item @ cutoff


# declared properties ----------------------------------------------------------------------------------------


SHORT_LISTS = [*product((None, 0, 1, 2), repeat=4)]
"""Grades by rank of all rankings of four documents; None is unjudged."""


@cache
def judged_short_lists() -> Judged:
    """Return the rankings as topics with the same two missed relevant documents."""
    rankings, judgments = {}, {}
    for number, grades in enumerate(SHORT_LISTS):
        ranked = {f"d{rank}": grade for rank, grade in enumerate(grades)}
        rankings[f"{number:03}"] = [*ranked]
        judgments[f"{number:03}"] = {d: g for d, g in ranked.items() if g is not None} | {"x": 1, "y": 2}
    return judge(Qrels.from_dict(judgments), Run.from_dict(rankings))


def improvements(grades: tuple[int | None, ...], by_swap: bool) -> Iterator[tuple[int | None, ...]]:
    """Yield the rankings with a better document moved up past a judged one, or with a higher grade.

    Bpref ignores unjudged documents but counts judged ones, so that it may prefer an unjudged one at the top.
    """
    for rank, grade in enumerate(grades):
        if by_swap:
            for lower in range(rank + 1, len(grades)):
                if grade is not None and (grades[lower] or 0) > grade:
                    changed = [*grades]
                    changed[rank], changed[lower] = grades[lower], grade
                    yield tuple(changed)
        elif (grade or 0) < 2:
            yield (*grades[:rank], (grade or 0) + 1, *grades[rank + 1 :])


@pytest.mark.parametrize("declaration", [respects_swaps, rewards_grades], ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("item", [item for item in EVERY if not item.needs_aspects], ids=str)
def test_an_improvement_never_lowers_the_value_of_a_measure_that_declares_so(
    item: Measure, declaration: Callable[[Measure], bool]
) -> None:
    if not declaration(item):
        return
    values = dict(zip(SHORT_LISTS, item.evaluate(judged_short_lists().lists).tolist(), strict=True))
    for grades, value in values.items():
        for better in improvements(grades, declaration is respects_swaps):
            assert not values[better] < value - 1e-12, (
                f"{item} declares {declaration.__name__}, but {better} has {values[better]}, and {grades} {value}"
            )
