"""Which documents should be judged next? Those whose labels can move the orders of runs that are not certain yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope.analysis.certain import in_order_of_ids, knowing_documents
from rankscope.analysis.stats.matrices import rounded
from rankscope.analysis.stats.randomness import generator
from rankscope.analysis.stats.significance import all_pairs
from rankscope.certainty.labels import best_label
from rankscope.certainty.pairs import SLACK, TopicHits, hits_by_topic, lowest_differences, pair_form
from rankscope.errors import InputError, MeasureError, SettingsError
from rankscope.judging import UNJUDGED, Judged, judge
from rankscope.measures import Measure, parse_many
from rankscope.measures.forms import Weighted
from rankscope.read import Qrels, open_collection
from rankscope.read.ids import to_text
from rankscope.result import TableResult
from rankscope.scores import Scores, score
from rankscope.tables import Cell, Table

__all__ = ["judging_orders", "next_judgments", "read_template", "template", "with_labels"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CELLS = 1 << 22
_OPEN = "?"


def next_judgments(scores: Scores, budget: int = 200) -> TableResult:
    """The unjudged documents whose labels can move most: at most ``budget`` of them.

    The influence of a document on a topic is the sum, over the pairs of runs whose order by the mean labels can still
    reverse, of |weight in A - weight in B| times the gain of the best grade, divided by what the measure divides by; of
    several measures the sum of their shares. Measures are sums of gain times weight: P, RBP, DCG, nDCG.

    Tables: ``next`` {topic, doc, influence, runs}, and ``open`` {measure, pairs, open}: how many pairs can be reversed.

    >>> import rankscope as rs
    >>> runs = {"a": {"q": {"d1": 2.0, "x": 1.0}}, "b": {"q": {"y": 2.0, "x": 1.0}}}
    >>> found = next_judgments(rs.evaluate({"q": {"d1": 1}}, runs, "P@2"))
    >>> found["next"].rows, found["open"].rows
    ([], [('P@2', 1, 0)])
    """
    if budget < 1:
        raise SettingsError(f"a budget of {budget} judgments", hint="give at least 1")
    _refuse_one(scores.runs)
    judged = knowing_documents(scores)
    plain = in_order_of_ids(scores, judged)
    total = np.zeros(len(judged.qrels))
    counts: list[tuple[Cell, ...]] = []
    for measure in scores.measures:
        influence, pairs, open_ = _influence(judged, measure, plain.matrix(measure).values)
        total += influence / max(fsum(influence), SLACK)
        counts.append((str(measure), pairs, open_))
    order = _most_first(total)
    chosen = order[: int(min(budget, (total > 0).sum()))]
    rows = _rows(judged, chosen, total)
    settings = {**plain.settings, "budget": budget}
    return TableResult.of(
        Table("next", ("topic", "doc", "influence", "runs"), rows, caption="What to judge next"),
        Table("open", ("measure", "pairs", "open"), counts, caption="Pairs that labels may still reverse"),
        settings=settings,
    )


def _refuse_one(runs: tuple[str, ...]) -> None:
    if len(runs) < 2:
        raise InputError("one run has no order that a judgment could change", hint="name at least two")


def _most_first(influence: Floats) -> Ints:
    """Documents of most influence first, equal ones in their order: what differs by rounding only is equal.

    >>> _most_first(np.array([0.1, 0.1 + 0.2, 0.3, 0.3])).tolist()
    [1, 2, 3, 0]
    """
    return np.argsort(-rounded(influence), kind="stable")


def _rows(judged: Judged, chosen: Ints, influence: Floats) -> list[tuple[Cell, ...]]:
    topic = np.searchsorted(judged.qrels.topic_offsets, chosen, side="right") - 1
    number = judged.arrays.owner // len(judged.topics)
    wanted = np.flatnonzero(np.isin(judged.judgment, chosen))
    holders: dict[int, list[str]] = {}
    for document, run in zip(judged.judgment[wanted].tolist(), number[wanted].tolist(), strict=True):
        holders.setdefault(document, []).append(judged.runs[run])
    return [
        (
            judged.topics[t],
            to_text(judged.qrels.documents[d]),
            float(influence[d]),
            " ".join(holders.get(d, [])),
        )
        for t, d in zip(topic.tolist(), chosen.tolist(), strict=True)
    ]


def _influence(judged: Judged, measure: Measure, values: Floats) -> tuple[Floats, int, int]:
    """What each document can move, and how many pairs there are, and how many of them labels can reverse."""
    if measure.better != "higher":
        raise MeasureError(f"{measure} does not say that more is better", hint="use nDCG@10, P@10 or RBP")
    form = pair_form(measure)
    if not isinstance(form, Weighted):
        raise MeasureError(
            f"{measure} is no sum of gains with fixed weights, so that influence is not known",
            hint="use nDCG@10, P@10, DCG@10 or RBP",
        )
    values = np.nan_to_num(values)
    hits = hits_by_topic(judged)
    first, second = all_pairs(len(values))
    limits = [
        lowest_differences(judged, measure, hits, (values, values), *pair, ties=False).lowest < -SLACK
        for pair in ((first, second), (second, first))
    ]
    difference = values.mean(axis=1)[first] - values.mean(axis=1)[second]
    # A pair with equal means is open if either run can win.
    open_ = (limits[0] & (difference >= -SLACK)) | (limits[1] & (difference <= SLACK))
    return _moved(judged, measure, form, hits, first[open_], second[open_]), len(first), int(open_.sum())


def _moved(
    judged: Judged, measure: Measure, form: Weighted, hits: Sequence[TopicHits], first: Ints, second: Ints
) -> Floats:
    """What each document can move, over pairs of runs."""
    total = np.zeros(len(judged.qrels))
    gain = form.gains(best_label(judged))[-1]
    grade = judged.qrels.grade
    for one in hits:
        names = one.union
        if not len(names):
            continue
        start, stop = judged.qrels.topic_offsets[one.topic : one.topic + 2]
        weight = np.zeros((len(judged.runs), len(names)))
        place = np.searchsorted(names, one.document[one.is_open])
        weight[one.run[one.is_open], place] = form.weights(measure, one.rank[one.is_open])
        here = np.zeros(len(names))
        step = max(1, _CELLS // len(names))
        for begin in range(0, len(first), step):
            part = slice(begin, begin + step)
            here += np.abs(weight[first[part]] - weight[second[part]]).sum(axis=0)
        known = grade[start:stop][grade[start:stop] >= 0]
        ideal = form.ideal(measure, np.bincount(known, minlength=best_label(judged) + 1), 1)
        total[start + names] = gain * here / (ideal[0] or ideal[1] or 1.0)
    return total


def template(result: TableResult) -> str:
    """Judgments to be filled in: a line ``topic 0 doc ?`` with the influence and the runs; ``?`` becomes the grade."""
    lines = [
        f"{topic} 0 {doc} {_OPEN} {influence:.6g} {str(runs).replace(' ', ',')}\n"
        for topic, doc, influence, runs in result["next"].rows
    ]
    return "".join(lines)


def read_template(path: str | Path) -> dict[tuple[str, str], int]:
    """The labels of a filled template by topic and document; lines that still have ``?`` are left out."""
    found: dict[tuple[str, str], int] = {}
    try:
        text = Path(path).read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise InputError(str(error.strerror or error), path=path, hint="name a filled template") from None
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if not words:
            continue
        if len(words) < 4:
            raise InputError(
                "a line has fewer than 4 fields", path=path, line=number, hint="topic 0 doc grade"
            )
        if words[3] == _OPEN:
            continue
        try:
            grade = int(words[3])
        except ValueError:
            raise InputError(
                f"{words[3]!r} is no grade", path=path, line=number, hint="write a whole number, or leave ?"
            ) from None
        if found.setdefault((words[0], words[2]), grade) != grade:
            raise InputError(f"{words[2]!r} has two grades", path=path, line=number, hint="keep one")
    return found


def with_labels(qrels: Qrels, labels: dict[tuple[str, str], int]) -> Qrels:
    """The judgments and those of a filled template."""
    if qrels.aspects is not None:
        raise SettingsError("judgments per aspect take no template", hint="add the lines to the judgments")
    every = {topic: qrels.judgments(topic) for topic in qrels.topics}
    for (topic, document), grade in labels.items():
        mine = every.setdefault(topic, {})
        if mine.setdefault(document, grade) != grade:
            raise InputError(
                f"document {document!r} of topic {topic!r} is judged {grade} here and {mine[document]} before",
                hint="keep one of the two judgments",
            )
    return Qrels.from_dict(every)


# which order of judging needs fewest judgments? ------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Simulated:
    """A collection of which all judgments are known and some are shown."""

    judged: Judged
    measure: Measure
    full: Floats
    """The sign of the difference of every pair of runs under all judgments."""

    def shown(self, known: NDArray[np.bool_]) -> tuple[Judged, Floats]:
        grade = np.where(known, self.judged.qrels.grade, np.int32(UNJUDGED)).astype(np.int32)
        less = self.judged.rejudged(grade)
        return less, np.nan_to_num(score(less, [self.measure]).values[0])

    def share(self, values: Floats) -> float:
        """The share of pairs that stand as under all judgments."""
        return float((_signs(values.mean(axis=1)) == self.full).mean())


def _signs(means: Floats) -> Floats:
    a, b = all_pairs(len(means))
    difference = means[a] - means[b]
    return np.where(np.abs(difference) <= SLACK, 0.0, np.sign(difference))


def judging_orders(
    qrels: Any,
    runs: Any,
    measure: str | Measure = "nDCG@10",
    *,
    batch: int = 100,
    target: float = 0.95,
    seed: int = 1,
    order: str | None = None,
    jobs: int | None = None,
) -> TableResult:
    """How many judgments until the order of the runs is that of the full pool, by the order in which they are made?

    The judgments that there are count as the truth. Nothing is judged at first; then ``batch`` documents at a time are
    shown: those of most influence (:func:`next_judgments`), by the depth at which some run has them (pooling to depth
    k), or in random order. ``curve`` {order, judged, share}: the share of pairs of runs that stand as under all
    judgments; ``needed`` {order, judged, share_of_pool}: from how many on at least ``target`` of the pairs always do.

    >>> import rankscope as rs
    >>> made = rs.simulate(systems=4, topics=4, depth=20, pool_depth=10, seed=1)
    >>> judging_orders(made.qrels, made.runs, "P@5", batch=20)["needed"].column("order")
    ['influence', 'depth', 'random']
    """
    if batch < 1:
        raise SettingsError(f"a batch of {batch} judgments", hint="give at least 1")
    if not 0 <= target <= 1:
        raise SettingsError(f"the target is {target}", hint="give a share of the pairs such as 0.95")
    collection = open_collection(qrels, runs, order=order)
    _refuse_one(tuple(collection.runs))
    judged = judge(*collection, jobs=jobs)
    chosen = parse_many([measure])[0]
    values = np.nan_to_num(score(judged, [chosen]).values[0])
    world = _Simulated(judged, chosen, _signs(values.mean(axis=1)))
    pool = np.flatnonzero(judged.qrels.grade != UNJUDGED)
    curve: list[tuple[Cell, ...]] = []
    needed: list[tuple[Cell, ...]] = []
    for name in ("influence", "depth", "random"):
        points = _revealed(world, name, pool, batch, seed)
        curve += [(name, many, share) for many, share in points]
        low = [many for many, share in points if share < target]
        later = [many for many, _ in points if not low or many > low[-1]]
        needed.append((name, later[0], later[0] / len(pool)))
    settings = {
        **collection.settings,
        "measures": [str(chosen)],
        "batch": batch,
        "target": target,
        "seed": seed,
    }
    return TableResult.of(
        Table(
            "needed",
            ("order", "judged", "share_of_pool"),
            needed,
            caption=f"Judgments until {target:.0%} of the pairs stand",
        ),
        Table("curve", ("order", "judged", "share"), curve),
        settings=settings,
    )


def _revealed(world: _Simulated, name: str, pool: Ints, batch: int, seed: int) -> list[tuple[int, float]]:
    known = np.zeros(len(world.judged.qrels), np.bool_)
    fixed = {"depth": _by_depth, "random": _at_random}.get(name)
    queue = None if fixed is None else fixed(world.judged, pool, seed)
    points = []
    while True:
        less, values = world.shown(known)
        points.append((int(known.sum()), world.share(values)))
        if known[pool].all():
            return points
        if queue is None:
            influence, *_ = _influence(less, world.measure, values)
            influence[known] = -1.0
            # what no open pair needs comes last, in the order of the pool
            chosen = pool[_most_first(influence[pool])][:batch]
        else:
            chosen, queue = queue[:batch], queue[batch:]
        known[chosen] = True


def _by_depth(judged: Judged, pool: Ints, seed: int) -> Ints:
    """The documents by the first rank that some run has them at; those that no run has last."""
    depth = np.full(len(judged.qrels), np.iinfo(np.int32).max)
    np.minimum.at(depth, judged.judgment, judged.rank)
    return pool[np.argsort(depth[pool], kind="stable")]


def _at_random(judged: Judged, pool: Ints, seed: int) -> Ints:
    return generator(seed).permutation(pool)
