"""Does the order in which run files are read matter? Two orderings of the same files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from rankscope.analysis import stats
from rankscope.declaration import Option, analysis
from rankscope.errors import SettingsError
from rankscope.lazy import numpy as np
from rankscope.result import TypedResult, table
from rankscope.rows import Row, RowTable, column

if TYPE_CHECKING:
    from rankscope.measures import Measure
    from rankscope.read import Qrels, Run
    from rankscope.scores import Scores


_MEASURES = ("RR", "P@10", "Rprec", "AP", "RBP(p=0.5)", "RBP", "RBP(p=0.95)", "nDCG")


class TotalSwaps(Row):
    """Documents with another rank, over all runs."""

    share: float | None = column("share of the documents whose rank another document takes")
    documents: int = column("number of documents")
    swapped: int = column("number of documents whose rank another document takes")
    nonrelevant: float | None = column(
        "share of the swaps between two documents that are not relevant or not judged"
    )
    equal: float | None = column("share of the swaps between equally relevant documents")
    different: float | None = column("share of the swaps between documents of different relevance")


class _Run(Row):
    run: str = column()


class RunSwaps(TotalSwaps, _Run):
    """Documents with another rank in a run; only swaps of different relevance can change a measure."""


class Effect(_Run):
    """Mean of a run under both orderings."""

    measure: str = column()
    first: float = column("mean under the first ordering")
    second: float = column("mean under the second ordering")
    difference: float = column("second minus first")


class RankingChange(Row):
    """Correlation of the rankings of the runs under both orderings."""

    measure: str = column()
    tau: float = column()
    p: float = column("p-value of tau", p_value=True)
    tau_ap: float = column()
    discordant: int = column()
    mean_change: float | None = column("mean absolute change of the runs' means")
    max_change: float | None = column("largest absolute change of a run's mean")


class Orderings(TypedResult):
    """Differences of two orderings of run files."""

    swaps: RowTable[RunSwaps] = table("documents that change rank, by run")
    total: RowTable[TotalSwaps] = table("the same over all runs")
    effect: RowTable[Effect] = table("the mean of every run under both orderings")
    ranking: RowTable[RankingChange] = table("rankings of the runs under both orderings")

    shown = ("swaps", "total", "ranking")


@analysis(
    figures={"orderings": "orderings.plot_orderings"},
    uses=("missing", "ties", "unjudged"),
    measures=_MEASURES,
    needs_rankings=True,
)
def orderings(
    scores: Scores, *, orders: Annotated[str | Sequence[str], Option("A,B")] = ("file", "trec_eval")
) -> Orderings:
    """Compare two orderings of the same run files: documents that change rank, and the effect on measures.

    trec_eval sorts by score and breaks ties by document id; a program that keeps the order of lines evaluates another
    ranking. The analysis counts the ranks of judged topics at which the two orderings have different documents: two
    non-relevant (or unjudged) ones, two equally relevant ones, or two of different relevance. Only the last can change
    a measure. It also correlates the rankings of the runs under both orderings.

    Parameters
    ----------
    scores
        Measures and runs to compare; the scores need their rankings.
    orders
        Two of trec_eval, trec_eval9, ascending_id, rank and file.

    Returns
    -------
    Orderings
        Tables ``swaps``, ``total``, ``effect`` and ``ranking``.

    Commands
    --------
    rankscope orderings qrels.txt runs/
    rankscope orderings qrels.txt runs/ --orders trec_eval9,trec_eval -m "AP P@10 RBP(p=0.95)"

    Examples
    --------
    >>> import rankscope as rs
    >>> scores = rs.evaluate({"q": {"a": 1}}, {"q": {"x": 1.0, "a": 2.0, "y": 0.5}}, ["RR"])
    >>> result = rs.orderings(scores)
    >>> result.swaps[0].swapped, result.effect[0].difference
    (2, 0.5)
    """
    from rankscope.engines import run_pieces
    from rankscope.read.orders import check_order

    texts = [orders] if isinstance(orders, str) else orders
    named = [name for text in texts for name in text.split(",")]
    if len(named) != 2:
        raise SettingsError(f"{len(named)} orderings", hint="give two, such as file,trec_eval")
    first, second = map(check_order, named)
    collection, measures = scores.require_collection("orderings"), scores.measures
    values = []
    for order in (first, second):
        matrices = collection.reordered(order).evaluate(measures).values
        pairs = zip(measures, matrices, strict=True)
        values.append([stats.rounded(stats.row_means(measure, matrix)) for measure, matrix in pairs])
    runs = collection.runs
    work = partial(count_swaps, collection.qrels, first=first, second=second)
    counted = run_pieces(work, list(runs.values()), processes=len(runs) > 8, label="orderings")
    swaps = list(map(_row, runs, counted))
    total = _row("", Swaps(*map(sum, zip(*counted, strict=True))))[1:]
    effect = [
        Effect(run, str(measure), a, b, b - a)
        for measure, before, after in zip(measures, *values, strict=True)
        for run, a, b in zip(runs, before.tolist(), after.tolist(), strict=True)
    ]
    ranking = [_change(*item) for item in zip(measures, *values, strict=True)]
    elsewhere = f"Documents whose rank differs between the orders {first} and {second}"
    changes = (
        "Rankings of the runs by both orders (Kendall's tau-b, AP correlation), and changes of their means"
    )
    return Orderings(
        swaps=RunSwaps.table("swaps", swaps, caption=elsewhere),
        total=TotalSwaps.table("total", [total], caption="The same over all runs"),
        effect=Effect.table("effect", effect), ranking=RankingChange.table("ranking", ranking, caption=changes),
        settings={
            "orders": [first, second], "aspects": collection.settings["aspects"],
            "measures": [str(m) for m in measures], "missing": collection.missing, **collection.options.settings,
        },
    )  # fmt: skip


class Swaps(NamedTuple):
    """Ranks at which two orderings of a run have different documents, by the grades of the two."""

    documents: int
    swapped: int
    nonrelevant: int
    equal: int
    different: int


def count_swaps(qrels: Qrels, run: Run, first: str, second: str) -> Swaps:
    """Compare two orderings of one run rank by rank, over its judged topics."""
    from rankscope.read.ids import to_bytes
    from rankscope.read.orders import permutation

    total = np.zeros(len(Swaps._fields), np.int64)
    for topic, ranking in run.with_order("file").iterate_lists():
        if topic not in qrels.topic_index:
            continue
        before, after = (
            permutation(ranking.documents, ranking.scores, ranking.ranks, order) for order in (first, second)
        )
        moved = np.flatnonzero(before != after)
        total[0] += len(before)
        if len(moved):
            relevant = {to_bytes(d): g for d, g in qrels.judgments(topic).items() if g > 0}
            grade = np.fromiter(map(relevant.get, ranking.documents, repeat(0)), np.int64)
            old, new = grade[before[moved]], grade[after[moved]]
            kinds = (old == 0) & (new == 0), (old == new) & (old > 0), old != new
            total[1:] += np.array([len(moved), *map(np.count_nonzero, kinds)])
    return Swaps(*total.tolist())


def _row(run: str, swaps: Swaps) -> RunSwaps:
    shares = (part / swaps.swapped if swaps.swapped else None for part in swaps[2:])
    share = swaps.swapped / swaps.documents if swaps.documents else None
    return RunSwaps(run, share, swaps.documents, swaps.swapped, *shares)


def _change(measure: Measure, before: Any, after: Any) -> RankingChange:

    is_defined = ~(np.isnan(before) | np.isnan(after))
    before, after = before[is_defined], after[is_defined]
    merits = measure.merit(before), measure.merit(after)
    tau = stats.kendall(*merits)
    with np.errstate(invalid="ignore"):  # Infinite minus infinite is undefined.
        moved = np.abs(after - before)
    mean, largest = (float(moved.mean()), float(moved.max())) if len(moved) else (None, None)
    return RankingChange(
        str(measure), tau.tau_b, tau.p, stats.ap_correlation(*merits), tau.discordant, mean, largest
    )
