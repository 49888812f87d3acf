"""Documents to judge next: those whose labels can reverse the order of runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rankscope.choices import PURPOSES, Purpose
from rankscope.declaration import Judgments, Option, Seed, analysis
from rankscope.errors import InputError, SettingsError, check_name
from rankscope.lazy import numpy as np
from rankscope.result import TypedResult, table
from rankscope.rows import Row, RowTable, column

if TYPE_CHECKING:
    from rankscope.arrays import Floats, Ints
    from rankscope.judging import Judged
    from rankscope.read import Qrels
    from rankscope.scores import Scores


class Candidate(Row):
    """A document to judge."""

    topic: str = column()
    doc: str = column()
    influence: float = column("how far the label can move runs apart, as a share of all documents")
    runs: str = column("runs that have the document within the ranks that count")


class SampledDocument(Row):
    """A document that was drawn at random, for people to label."""

    topic: str = column()
    doc: str = column()
    pi: float = column("probability that the document was drawn")


class OpenPairs(Row):
    """Number of pairs that labels may still reverse."""

    measure: str = column()
    pairs: int = column()
    open: int = column("pairs whose order labels of unjudged documents may reverse")


class Needed(Row):
    """Number of judgments that an order of judging needs."""

    order: str = column("order of judging: influence, depth (pooling to a depth) or random")
    judged: int = column("number of judgments from which on enough pairs are in their final order")
    share_of_pool: float = column("these judgments as a share of all judgments")


class Revealed(Row):
    """Pairs in their final order after some judgments."""

    order: str = column("order of judging: influence, depth (pooling to a depth) or random")
    judged: int = column("number of judgments revealed")
    share: float = column("share of the pairs of runs that are in the same order as under all judgments")


class Next(TypedResult):
    """Documents to judge next, or the judgments that orders of judging need."""

    next: RowTable[Candidate] | None = table("documents, most influential first", default=None)
    sample: RowTable[SampledDocument] | None = table(
        "random sample of documents to label, in random order", default=None
    )
    open: RowTable[OpenPairs] | None = table("open pairs of each measure", main=False, default=None)
    needed: RowTable[Needed] | None = table("judgments needed by each order of judging", default=None)
    curve: RowTable[Revealed] | None = table("every batch of the simulation", main=False, default=None)

    def template(self, labels: Mapping[tuple[str, str], int] | None = None) -> str:
        """Return judgments to fill in: a line ``topic 0 doc ?`` with influence and runs for each document.

        A sample has its inclusion probabilities instead, and keeps the ``labels`` that are known.
        """
        from rankscope.analysis.label_sample import OPEN

        lines = []
        for row in self.sample or self.next or ():
            grade = (labels or {}).get((row.topic, row.doc), OPEN)
            if isinstance(row, SampledDocument):
                more = f"{row.pi:.17g}"
            else:
                more = f"{row.influence:.6g} {row.runs.replace(' ', ',')}"
            lines.append(f"{row.topic} 0 {row.doc} {grade} {more}\n")
        return "".join(lines)


@analysis(uses=("order", "missing"), covers=("ties", "bounds"), measures=("nDCG@10",), needs_rankings=True)
def next(
    scores: Scores,
    budget: Annotated[int, Option("N")] = 200,
    *,
    purpose: Annotated[Purpose, Option(flags=("--for",))] = "order",
    simulate: bool = False,
    batch: Annotated[int, Option("N")] = 100,
    target: Annotated[float, Option("S")] = 0.95,
    seed: Seed = 1,
    human: Judgments | None = None,
) -> Next:
    """List the documents to judge next: those whose labels can still reverse the order of runs.

    The influence of a document is the sum, over the pairs of runs whose order labels can reverse, of |weight in A -
    weight in B| times the gain of the best grade, divided by the normalisation of the measure, as a share of the total
    of all documents. With several measures, the shares are added. Measures are sums of gain times weight: P, RBP, DCG,
    nDCG. With missing=skip, only topics that all runs have count.

    With purpose ``correct``, the judgments are labels of a machine, and the result is a random sample of its documents
    for people to label (:func:`rankscope.correct`). The probability of a document is proportional to the standard
    deviation of its correction, but not below a minimum. This standard deviation is the weight of the document in the
    runs (most of all in differences that the machine's labels do not separate), times the error of the machine on such
    documents. The error is estimated from the labels of other topics in ``human``; without them, it is the same for
    all documents. The template contains the probabilities. A larger budget with the same seed keeps the documents of
    the earlier template, and their grades.

    Parameters
    ----------
    scores
        Measures and runs to examine; the scores need their rankings.
    budget
        Largest number of documents; the expected number of a random sample.
    purpose
        Settle the order of runs, or correct the labels of a machine.
    simulate
        Treat the judgments as the truth, reveal them in batches (by influence, by pooling to a depth, and in random
        order), and count how many each order needs.
    batch
        Judgments revealed at a time by simulate.
    target
        Share of the pairs of runs that must be in their final order, for simulate.
    seed
        Seed of the random order, and of the sample.
    human
        Template that people filled in so far, with inclusion probabilities; for purpose ``correct``.

    Returns
    -------
    Next
        Tables ``next`` and ``open``; ``needed`` and ``curve`` of a simulation; ``sample`` with purpose ``correct``.

    Commands
    --------
    rankscope next qrels.txt runs/ -m nDCG@10 --budget 200 --template todo.txt
    rankscope next qrels.txt runs/ -m nDCG@10 --judged todo.txt
    rankscope next qrels.txt runs/ -m P@10 --simulate
    rankscope next machine.qrels runs/ -m P@10 --for correct --budget 300 --template todo.txt

    Examples
    --------
    >>> import rankscope as rs
    >>> runs = {"a": {"q": {"d1": 2.0, "x": 1.0}}, "b": {"q": {"y": 2.0, "d1": 1.0}}}
    >>> result = rs.next(rs.evaluate({"q": {"d1": 1}}, runs, "P@2"))
    >>> [(row.doc, row.runs) for row in result.next], result.open[0].open
    ([('x', 'a'), ('y', 'b')], 1)
    """
    if budget < 1:
        raise SettingsError(f"a budget of {budget} judgments", hint="give at least 1")
    if batch < 1:
        raise SettingsError(f"a batch of {batch} judgments", hint="give at least 1")
    if not 0 <= target <= 1:
        raise SettingsError(f"the target is {target}", hint="give a share of the pairs such as 0.95")
    check_name(purpose, PURPOSES, f"no purpose is called {purpose!r}")
    if purpose == "correct":
        return _draw_sample(scores, budget, seed, human)
    if len(scores.runs) < 2:
        raise InputError("one run has no order that a judgment could change", hint="name at least two")
    if human is not None:
        raise SettingsError("human labels do not join the judgments", hint="use purpose correct")
    return _simulate(scores, batch, target, seed) if simulate else _rank_documents(scores, budget)


next_judgments = next
"""The former name, which scripts use."""


def _rank_documents(scores: Scores, budget: int) -> Next:
    from rankscope.analysis.certain_pairs import judge_with_unjudged, score_in_id_order
    from rankscope.analysis.influence import argsort_influence, counted_topics, measure_influence
    from rankscope.certainty.pairs import SLACK

    judged = judge_with_unjudged(scores, "next")
    plain = score_in_id_order(scores, judged)
    topics = counted_topics(judged, str(plain.settings["missing"]))
    total = np.zeros(len(judged.qrels))
    counts: list[OpenPairs] = []
    for measure in scores.measures:
        influence, n_pairs, n_open = measure_influence(judged, measure, plain.matrix(measure).values, topics)
        total += influence / max(fsum(influence), SLACK)
        counts.append(OpenPairs(str(measure), n_pairs, n_open))
    selected = argsort_influence(total)[: int(min(budget, (total > 0).sum()))]
    return Next(
        next=Candidate.table("next", _candidates(judged, selected, total), caption="Documents to judge next"),
        open=OpenPairs.table("open", counts, caption="Pairs that labels may still reverse"),
        settings={**plain.settings, "budget": budget},
    )


def _draw_sample(scores: Scores, budget: int, seed: int, human: Any) -> Next:
    from rankscope.analysis.certain_pairs import without_options
    from rankscope.analysis.label_allocation import draw, inclusion_probabilities
    from rankscope.analysis.label_sample import read_labels

    scores = without_options(scores, "next")
    judged = scores.require_judged("next")
    labels = {} if human is None else read_labels(human, keep_open=True)
    labels = {topic: of for topic, of in labels.items() if topic not in judged.qrels.unchosen}
    pi = inclusion_probabilities(scores, budget, labels)
    drawn = {_names(judged, d): float(pi[d]) for d in draw(judged, pi, seed).tolist()}
    lost = [(topic, doc) for topic, own in labels.items() for doc in own if (topic, doc) not in drawn]
    for topic, doc in lost[:1]:
        problem = f"document {doc!r} of topic {topic!r} is in the template, but not drawn with seed {seed}"
        raise InputError(problem, hint="give the seed, measures and machine judgments of the template")
    rows = [SampledDocument(*key, probability) for key, probability in drawn.items()]
    caption = "Random sample of documents to label"
    settings = {**scores.settings, "budget": budget, "purpose": "correct", "seed": seed}
    return Next(sample=SampledDocument.table("sample", rows, caption=caption), settings=settings)


def _names(judged: Judged, document: int) -> tuple[str, str]:
    """Return the topic and the id of a document."""
    from rankscope.read.ids import to_text

    return judged.topics[judged.pool.topic[document]], to_text(judged.qrels.documents[document])


def _candidates(judged: Judged, selected: Ints, influence: Floats) -> list[Candidate]:
    run = judged.arrays.owner // len(judged.topics)
    is_selected = np.isin(judged.judgment, selected)
    holders: dict[int, list[str]] = {document: [] for document in selected.tolist()}
    for document, r in zip(judged.judgment[is_selected].tolist(), run[is_selected].tolist(), strict=True):
        holders[document].append(judged.runs[r])
    return [
        Candidate(*_names(judged, document), float(influence[document]), " ".join(runs))
        for document, runs in holders.items()
    ]


def _simulate(scores: Scores, batch: int, target: float, seed: int) -> Next:
    from rankscope.analysis.certain_pairs import without_options
    from rankscope.analysis.influence import ORDERS, counted_topics, reveal

    if len(scores.measures) != 1:
        hint = "evaluate one, or name one with -m"
        raise SettingsError("a simulation needs exactly one measure", hint=hint)
    scores = without_options(scores, "next")
    judged = scores.require_judged("next")
    topics = counted_topics(judged, str(scores.settings["missing"]))
    needed: list[Needed] = []
    curve: list[Revealed] = []
    for order in ORDERS:
        points = reveal(judged, scores.measures[0], topics, order, batch=batch, seed=seed)
        curve += [Revealed(order, n_judged, share) for n_judged, share in points]
        below = [n_judged for n_judged, share in points if share < target]
        first = min(n_judged for n_judged, _ in points if not below or n_judged > below[-1])
        needed.append(Needed(order, first, first / points[-1][0]))
    inputs = {name: value for name, value in scores.settings.items() if name not in ("measures", "missing")}
    own_settings = {"measures": [str(scores.measures[0])], "batch": batch, "target": target, "seed": seed}
    missing = {} if scores.settings["missing"] == "zero" else {"missing": scores.settings["missing"]}
    caption = f"Judgments until {target:.0%} of the pairs are in their final order"
    return Next(
        needed=Needed.table("needed", needed, caption=caption),
        curve=Revealed.table("curve", curve),
        settings={**inputs, **own_settings, **missing},
    )


def read_template(path: str | Path) -> dict[tuple[str, str], int]:
    """Return the labels of a filled template by topic and document; lines that still have ``?`` are skipped."""
    from rankscope.analysis.label_sample import read_template_lines

    lines = read_template_lines(path)
    return {(topic, doc): grade for _, topic, doc, grade, _ in lines if grade is not None}


def with_labels(qrels: Qrels, labels: Mapping[tuple[str, str], int]) -> Qrels:
    """Return the judgments with the labels of a filled template."""
    from rankscope.read import Qrels

    if qrels.aspects is not None:
        raise SettingsError("judgments per aspect take no template", hint="add the lines to the judgments")
    judgments: dict[str, dict[str, Any]] = {topic: qrels.judgments(topic) for topic in qrels.topics}
    for (topic, document), grade in labels.items():
        if topic in qrels.unchosen:
            continue
        if topic not in judgments:
            problem = f"topic {topic!r} of the template has no judgments"
            raise InputError(problem, hint="give the judgments that the template was written for")
        earlier = judgments[topic].setdefault(document, grade)
        if earlier != grade:
            problem = f"document {document!r} of topic {topic!r} is judged {grade} here and {earlier} before"
            raise InputError(problem, hint="keep one of the two judgments")
    return replace(Qrels.from_dict(judgments), unchosen=qrels.unchosen)
