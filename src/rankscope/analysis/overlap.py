"""Similarity of the rankings of two runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations
from typing import TYPE_CHECKING, Annotated, Any

from rankscope.choices import MAX_RANKS, RboTies
from rankscope.columns import CategoricalColumn, Columns, ConcatenatedRows, constant_column
from rankscope.declaration import Option, RunName, analysis, check_run
from rankscope.errors import InputError, SettingsError
from rankscope.progress import blocks
from rankscope.result import TypedResult, table
from rankscope.rows import PairRow, Row, RowTable, column

if TYPE_CHECKING:
    from rankscope.scores import Collection


DEPTHS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000, 2000)


class _Similarity(Row):
    rbo: float = column()
    rbo_low: float = column(spare=True)
    rbo_high: float = column(spare=True)
    kendall: float = column()
    common: float = column()
    jaccard: float = column()
    relevant_a: float | None = column(default=None)
    relevant_b: float | None = column(default=None)
    relevant_common: float | None = column(default=None)
    relevant_jaccard: float | None = column(default=None)


class _CommonTopics(PairRow):
    topics: int = column()
    only_a: int = column("number of topics that only the first run has", spare=True)
    only_b: int = column("number of topics that only the second run has", spare=True)


class PairOverlap(_Similarity, _CommonTopics):
    """Two runs, compared over all topics that both have; undefined values are left out of means."""


class _Topic(PairRow):
    topic: str = column()


class TopicOverlap(_Similarity, _Topic):
    """Two runs, compared on one topic."""


class DepthOverlap(PairRow):
    """Common documents of two runs down to a rank; means over topics."""

    depth: int = column()
    common: float = column()
    jaccard: float = column()


_PAIRS_IN_PIECE = 16  # A piece allocates working memory by the number of documents.
_RELEVANT = tuple(name for name in _Similarity.specs if name.startswith("relevant"))


class Overlap(TypedResult):
    """Similarity of the rankings of runs."""

    overlap: RowTable[PairOverlap] = table("pairs of runs, means over topics")
    topics: RowTable[TopicOverlap] = table("every topic", flag="-q --per-topic")
    depths: RowTable[DepthOverlap] = table("common documents by depth")


@analysis(figures={"curves": "overlap.plot_overlap"}, uses=("order",), needs_qrels=False)
def overlap(
    collection: Collection,
    *,
    baseline: RunName | None = None,
    depth: Annotated[int, Option("K")] = 100,
    depths: Annotated[Sequence[int] | None, Option("K,...")] = None,
    rbo_p: Annotated[float, Option("P")] = 0.9,
    rbo_ties: RboTies = "b",
) -> Overlap:
    """Compare the rankings of each pair of runs on their common topics.

    The result has rank-biased overlap with bounds, Kendall's tau-b between the ranks of the common documents, and the
    Jaccard coefficient (common documents divided by all). Documents with equal scores are tied; the orders rank and
    file have no ties. If the collection has judgments, only judged topics count, and the relevant documents of both
    rankings are compared as well.

    Parameters
    ----------
    collection
        Runs, and judgments if there are any.
    baseline
        Run to compare with every other run (default: all pairs).
    depth
        Number of ranks to compare, up to 5,000.
    depths
        Ranks at which common documents are counted (default: 1,2,3,5,10,20,... to the depth).
    rbo_p
        Persistence of rank-biased overlap: the closer to 1, the deeper it looks.
    rbo_ties
        Treatment of ties in rank-biased overlap: a: tied documents have an unknown order; b: as a, normalised so that
        a ranking agrees with itself; w: tied documents are equal.

    Returns
    -------
    Overlap
        Tables ``overlap``, ``topics`` and ``depths``.

    References
    ----------
    Webber, Moffat and Zobel 2010; Corsi and Urbano 2024.

    Commands
    --------
    rankscope overlap bm25.run dense.run
    rankscope overlap qrels.txt bm25.run dense.run --depth 1000 --rbo-p 0.95 -q
    rankscope overlap bm25.run dense.run --topics 301,310-320
    rankscope overlap runs/ --baseline bm25 --depths 1,5,10 --plot overlap.pdf

    Examples
    --------
    >>> import rankscope as rs
    >>> runs = {"one": {"q": ["a", "b", "c"]}, "other": {"q": ["b", "a", "d"]}}
    >>> result = rs.overlap(rs.Collection(None, runs), depths=[1, 2, 3])
    >>> [round(value, 3) for value in (result.overlap[0].rbo, result.overlap[0].jaccard)]
    [0.63, 0.5]
    >>> [row.jaccard for row in result.depths]
    [0.0, 1.0, 0.5]
    """
    import numpy as np

    from rankscope.analysis.ranking_similarity import Comparison, Documents, defined_means, get_rankings
    from rankscope.analysis.stats.rank_biased_overlap import check_settings
    from rankscope.engines import run_pieces

    if not 1 <= depth <= MAX_RANKS:
        raise SettingsError(f"a depth of {depth}", hint=f"compare 1 to {MAX_RANKS:,} ranks")
    at = _validate_depths(depths, depth)
    check_settings(rbo_p, rbo_ties)
    pairs = _pairs(list(collection.runs), baseline)
    documents = Documents()
    names, rankings = get_rankings(collection, depth, documents)
    relevant = documents.relevant(collection.qrels) if collection.has_qrels else None
    n_documents = sum(map(len, documents.by_topic.values()))
    compare = Comparison(rankings, at, rbo_p, rbo_ties, n_documents, relevant)
    pieces = [pairs[part] for part in blocks(len(pairs), _PAIRS_IN_PIECE)]
    compared = chain.from_iterable(run_pieces(compare, pieces, processes=len(pieces) > 8, label="pairs"))
    without = () if collection.has_qrels else _RELEVANT
    means, topics, by_depth = [], [], []
    for (a, b), (common, values, *counts) in zip(pairs, compared, strict=True):
        alone = [len(rankings[run].topic) - len(common) for run in (a, b)]
        means.append(PairOverlap(a, b, len(common), *alone, *defined_means(np.column_stack(values))))
        sides = (constant_column(run, len(common)) for run in (a, b))
        missing = [[None] * len(common)] * len(without)
        topics.append(Columns([*sides, CategoricalColumn(names, common), *values, *missing]))
        by_depth += [DepthOverlap(a, b, *row) for row in zip(at, *map(defined_means, counts), strict=True)]
    settings: dict[str, Any] = {
        "order": collection.runs.order, "depth": depth, "depths": list(at), "rbo_p": rbo_p, "rbo_ties": rbo_ties,
    }  # fmt: skip
    if collection.topics:
        ranked = np.unique(np.concatenate([run.topic for run in rankings.values()]))
        settings["chosen_topics"] = [names[number] for number in ranked.tolist()]
    caption = (
        "Similarity of the rankings of two runs: rank-biased overlap and common documents, means over topics"
    )
    return Overlap(
        overlap=PairOverlap.table("overlap", means, without=without, ranked_by=("rbo",), caption=caption),
        topics=TopicOverlap.table("topics", ConcatenatedRows(topics), without=without),
        depths=DepthOverlap.table("depths", by_depth, caption="Common documents of two runs by depth"),
        settings={**settings, "baseline": baseline},
    )


def _pairs(names: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    if len(names) < 2:
        raise InputError("overlap needs at least two runs", hint="name another run file")
    if baseline is None:
        return list(combinations(names, 2))
    check_run(baseline, names)
    return [(baseline, name) for name in names if name != baseline]


def _validate_depths(depths: Sequence[int] | None, depth: int) -> tuple[int, ...]:
    if depths is None:
        return (*(rank for rank in DEPTHS if rank < depth), depth)
    if not depths or not all(1 <= rank <= depth for rank in depths):
        raise SettingsError(f"depths {list(depths)}", hint=f"give ranks from 1 to {depth}, such as 1,5,10")
    return tuple(sorted(set(depths)))
