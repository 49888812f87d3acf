"""Certainty of a leaderboard: which orders of runs ties, unjudged documents, topics and other choices can reverse."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rankscope.analysis import stats
from rankscope.analysis.rank_changes import FollowedRank, OrderChange, RunCertainty, follow_ranks
from rankscope.choices import FOLLOWED_CUTOFFS, FOLLOWED_DEPTHS, FOLLOWED_RATIOS, Across, Correction, Test
from rankscope.declaration import Judgments, Level, Option, RunName, Seed, analysis
from rankscope.errors import InputError, SettingsError
from rankscope.result import TypedResult, table
from rankscope.rows import MeasuredPairRow, Row, RowTable, column
from rankscope.tables import Cell, Table

if TYPE_CHECKING:
    from rankscope.scores import Scores

_MAX_LABELLED = 1000
"""Maximum number of pairs for which reversing labels are listed by default: the search takes long."""
_RANGE = "whether both ends are attained; otherwise they are proved bounds"


class PairCertainty(MeasuredPairRow):
    """Certainty of the order of two runs; the first is the better one."""

    order: str = column("the order of the two by the mean: > or =")
    ties: bool | None = column("whether no order of documents with equal scores reverses it")
    unjudged: bool | None = column("whether no labels of unjudged documents reverse it")
    topics: bool = column("whether the test over topics separates them")
    together: bool | None = column("whether all hold, with labels and orders combined")
    difference: float = column()
    lowest: float | None = column("lowest difference over labels, or a bound of it")
    exact: bool = column("whether labels attain the lowest difference; otherwise it is a proved bound")
    p: float = column()
    labels: int | None = column("smallest known number of labels that reverse the order")
    judges: bool | None = column("whether no further judge reverses the order", default=None)


class Certainty(Row):
    """Number of certain pairs."""

    measure: str = column()
    pairs: int = column()
    ties: int = column("pairs whose order no order of documents with equal scores reverses")
    unjudged: int = column("pairs whose order no labels of unjudged documents reverse")
    significant: int = column("pairs that differ significantly over topics")
    together: int = column("pairs for which all hold, with labels and orders combined")
    not_proved: int = column("pairs for which the certainty was neither proved nor refuted")
    exact: int = column("pairs with exact bounds of the difference over all labels")
    topics: int = column("the same as significant")
    judges: int | None = column("pairs whose order no further judge reverses", default=None)


class ReversingLabel(MeasuredPairRow):
    """A label that helps to reverse the order of two runs."""

    topic: str = column()
    doc: str = column()
    grade: int = column("the grade that helps to reverse the order")


class DifferenceRange(MeasuredPairRow):
    """Range of the difference of two runs."""

    source: str = column(
        "what varies: orders of tied documents (ties), labels of unjudged documents (unjudged), or both"
    )
    lowest: float | None = column("lowest difference over the source")
    highest: float | None = column("highest difference over the source")
    exact: bool = column(_RANGE)


class Certain(TypedResult):
    """Certainty of the order of the runs, or with ``across`` their ranks by several orders."""

    pairs: RowTable[PairCertainty] | None = table("every pair of runs", default=None)
    ranks: RowTable[FollowedRank] | None = table("every run by every order", default=None)
    runs: RowTable[RunCertainty] = table("every run", main=False)
    certainty: RowTable[Certainty] | None = table("number of certain pairs", main=False, default=None)
    changes: RowTable[OrderChange] | None = table("changes of the order", main=False, default=None)
    labels: RowTable[ReversingLabel] | None = table("labels that reverse pairs", main=False, default=None)
    ranges: RowTable[DifferenceRange] | None = table("bounds of differences", main=False, default=None)

    @property
    def display(self) -> Sequence[Table]:
        """Number of certain pairs and the runs, or the changes and the ranks side by side."""
        if self.certainty is not None:
            return (self.certainty.without(["topics"]), self.runs)
        return (self["changes"], self._wide_ranks())

    def _wide_ranks(self) -> Table:
        """Return the ranks with runs down and orders across."""
        ranks: dict[str, dict[str, Cell]] = {}
        for row in self.ranks or ():
            ranks.setdefault(row.run, {})[row.by] = int(row.rank) if row.rank == int(row.rank) else row.rank
        rows: list[tuple[Cell, ...]] = []
        for run in self.runs:
            first, last = run.first_rank, run.last_rank
            interval = str(first) if first == last else f"{first}–{last}"
            rows.append((run.run, interval, *ranks[run.run].values()))
        return Table(
            "ranks",
            ("run", "interval", *next(iter(ranks.values()))),
            rows,
            caption=f"Ranks of {len(rows)} runs; interval: {1 - self.settings['alpha']:.0%} confidence interval of the"
            f" rank by {self.runs[0].measure} over topics",
        )


@analysis(
    figures={"ranks": "certain.plot_certain"},
    uses=("order", "missing"),
    covers=("ties", "bounds"),
    measures=("nDCG@10", "P@10"),
)
def certain(
    scores: Scores,
    baseline: RunName | None = None,
    *,
    alpha: Level = 0.05,
    test: Test = "t",
    correction: Correction | None = None,
    labels: bool | None = None,
    judges: Sequence[Judgments] = (),
    across: Across | None = None,
    cutoffs: Annotated[Sequence[int], Option("K,...")] = FOLLOWED_CUTOFFS,
    pool_depth: Annotated[int | Sequence[int], Option("K,...")] = FOLLOWED_DEPTHS,
    ratios: Annotated[Sequence[float], Option("P,...")] = FOLLOWED_RATIOS,
    samples: Annotated[int, Option("N")] = 8,
    seed: Seed = 1,
) -> Certain:
    """Test which pairs of runs keep their order under all orders of ties and all labels of unjudged documents.

    The order of two runs by the mean of a measure is certain under ties if it is the same for all orders of documents
    with equal scores, and certain under unjudged if it is the same for all labels of the unjudged documents; a document
    has one label, which counts for all runs. ``significant`` is a test over the sample of topics, not a proof.
    ``together`` means that no combination of labels and orders reverses the order, and that the difference is
    significant. An empty cell means neither proved nor refuted.

    With further ``judges``, such as language models, ``judges`` tells whether the means under the judgments of none of
    them have the opposite order, and ``together`` requires it.

    The labels cover all unjudged documents that any run has, because a relevant document changes the recall base and
    the ideal ranking for every run. ``exact`` states whether some labels attain the bounds, as for sums of gain times
    weight (P, RBP, DCG), nDCG, R, Rprec, RR and Success, and for every measure on topics with few unjudged documents;
    other bounds are proved, but may be loose. Geometric means are compared by their logarithms.

    With ``across``, the runs are ranked by other measures, cutoffs, smaller pools or samples of topics instead, and
    the result counts the pairs of runs that each order swaps, compared with the first order.

    Scores without rankings support only the test over topics, ranks, and ``across`` measures or samples.

    Parameters
    ----------
    scores
        Measures and runs to examine.
    baseline
        Run to compare with all others (default: all pairs).
    alpha
        Significance level of the test, and 1 minus the level of the intervals of ranks.
    test
        Significance test over topics.
    correction
        Correction for multiple comparisons (default: the correction of the test).
    labels
        List labels that reverse each pair, and bounds of all differences (default: for up to 1,000 pairs).
    judges
        Judgments of the same topics by another judge, to rank the runs under; once for each judge. Merging of grades
        (``grades``) does not apply to them.
    across
        Rank the runs by all measures, or by the first measure with other cutoffs, with smaller pools, or on samples of
        the topics; without -m, by AP and other usual measures.
    cutoffs
        Cutoffs to rank by (across cutoffs).
    pool_depth
        Depths of the smaller pools (across pools).
    ratios
        Percent of the judgments kept (across pools).
    samples
        Number of samples of the topics (across samples).
    seed
        Seed of the random samples.

    Returns
    -------
    Certain
        Tables ``pairs``, ``runs``, ``certainty``, ``labels`` and ``ranges``; with ``across`` ``ranks``, ``runs`` and
        ``changes``.

    Commands
    --------
    rankscope certain qrels.txt runs/ -m nDCG@10
    rankscope certain qrels.txt runs/ -m "P@10 RBP" --baseline bm25 -f json
    rankscope certain qrels.txt runs/ -m nDCG@10 --plot order.pdf
    rankscope certain people.qrels runs/ -m nDCG@10 --judges gpt.qrels --judges llama.qrels
    rankscope certain qrels.txt runs/ --across measures              ranks by the usual measures
    rankscope certain qrels.txt runs/ -m AP --across pools --plot pools.pdf
    rankscope certain qrels.txt runs/ -m nDCG@10 --across cutoffs --cutoffs 5,20,100
    rankscope certain qrels.txt runs/ -m AP --across samples --highlight bm25 --highlight dense --plot samples.pdf

    Examples
    --------
    >>> import rankscope as rs
    >>> runs = {"a": {"q": {"d1": 2.0, "x": 1.0}}, "b": {"q": {"d2": 2.0, "y": 1.0}}}
    >>> scores = rs.evaluate({"q": {"d1": 1, "d2": 0}}, runs, "P@2 RR")
    >>> [(row.a, row.order, row.b, row.unjudged, row.lowest) for row in rs.certain(scores).pairs][:1]
    [('a', '>', 'b', True, 0.0)]
    >>> [(row.run, row.by, row.rank) for row in rs.certain(scores, across="measures").ranks][:2]
    [('a', 'P@2', 1.0), ('b', 'P@2', 2.0)]
    """
    if across is not None:
        if judges:
            raise SettingsError("certain takes across or judges", hint="give one of them")
        depths = (pool_depth,) if isinstance(pool_depth, int) else tuple(pool_depth)
        followed = follow_ranks(
            scores, across, cutoffs=cutoffs, pool_depth=depths, ratios=ratios, samples=samples, alpha=alpha, seed=seed
        )  # fmt: skip
        return Certain(**followed)
    from rankscope.analysis.certain_pairs import (
        CertainPairs,
        judge_with_unjudged,
        score_by_judges,
        score_in_id_order,
    )
    from rankscope.certainty.pairs import hits_by_topic

    if len(scores.runs) < 2:
        raise InputError("one run has no order", hint="name at least two")
    adjustment = stats.correction_for(test, correction)
    by_judges = score_by_judges(scores, judges)
    judged = judge_with_unjudged(scores, "certain") if scores.judged is not None or labels else None
    if judged is not None:
        scores = score_in_id_order(scores, judged)
    matrices = [stats.complete(scores, measure) for measure in scores.measures]
    n_pairs = len(matrices) * (len(scores.runs) - 1 if baseline else comb(len(scores.runs), 2))
    is_listed = judged is not None and (labels if labels is not None else n_pairs <= _MAX_LABELLED)
    hits = [] if judged is None else hits_by_topic(judged)
    options: dict[str, Any] = {"alpha": alpha, "test": test, "correction": adjustment, "seed": seed}
    blocks = [
        CertainPairs(scores, judged, hits, matrix, baseline, by_judges, is_listed=is_listed, **options)
        for matrix in matrices
    ]
    unused = () if judges else ("judges",)
    names = [str(judge) if isinstance(judge, str | Path) else "judgments" for judge in judges]
    return Certain(
        pairs=PairCertainty.table("pairs", [row for block in blocks for row in block.rows()], without=unused),
        runs=RunCertainty.table(
            "runs",
            [row for block in blocks for row in block.run_rows()],
            caption="Bounds of the mean of each run, and intervals of its rank",
            legend=f"first_rank to last_rank: {1 - alpha:.0%} confidence interval of the rank over topics;"
            " first_possible to last_possible: ranks that the certain pairs (together) permit",
        ),
        certainty=Certainty.table(
            "certainty",
            [block.summary() for block in blocks],
            without=unused,
            caption="Pairs of runs whose order ties, or labels of unjudged documents, cannot reverse",
            legend=f"significant: {stats.procedure(test, adjustment, alpha)} over topics, a test and no proof;"
            f" together: all {'four' if judges else 'three'}; not_proved: neither proved nor refuted for labels"
            + ("" if judged else "; scores without rankings show nothing about ties and labels"),
        ),
        labels=ReversingLabel.table("labels", [row for block in blocks for row in block.label_rows()])
        if is_listed else None,
        ranges=DifferenceRange.table("ranges", [row for block in blocks for row in block.range_rows()])
        if is_listed else None,
        settings={
            **scores.settings, "baseline": baseline, **options,
            **({"judges": names} if judges else {}), **stats.left_out(matrices),
        },
    )  # fmt: skip
