"""Description of a collection: topics, runs, lengths, grades, judgments, and the depth of its pool.

No file of a collection states the depth of its pool; it is derived from the data. A run is judged to depth k if every
document in the first k ranks of each of its rankings is judged; a ranking that is judged to its end sets no limit. Runs
that were not pooled may be judged to depth 0, so the depth that half of the runs reach is more informative than the
depth that all runs reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rankscope.arrays import AnyArray, Floats, Ints
from rankscope.judging.judged import Judged
from rankscope.read import UNJUDGED
from rankscope.result import TableResult, TypedResult, table
from rankscope.rows import Row, RowTable, column
from rankscope.tables import Cell, Table


class Feature(Row):
    """A property of the collection, such as its number of topics."""

    feature: str = column("the feature")
    value: int | float | str | None = column("the count, or the text")


class RunDescription(Row):
    """Size of a run, and the depth to which it is judged."""

    run: str = column()
    topics: int = column()
    longest: int = column("length of the longest ranking")
    documents: int = column("documents in all rankings of the run")
    depth: int | float = column("depth to which every ranking of the run is judged; infinite: to their ends")
    median_depth: int | float | None = column("median of the depths of its rankings")


class TopicDescription(Row):
    """Judgments of a topic, and the depth to which its rankings are judged."""

    topic: str = column()
    judged: int = column("number of judged documents")
    relevant: int = column()
    depth: int | float = column("depth to which the rankings of the topic are judged")


class Description(TypedResult):
    """Features of a collection, of its runs and of its topics."""

    features: RowTable[Feature] = table("the collection")
    runs: RowTable[RunDescription] = table("every run", main=False)
    topics: RowTable[TopicDescription] = table("every topic", main=False)


def describe(
    judged: Judged, name: str = "collection", settings: Mapping[str, Any] | None = None
) -> Description:
    """Return the features of a collection (Ferro et al. 2016, Table 1, as far as judgments and runs have them)."""
    depths = judged_depths(judged)
    filled = np.where(np.isnan(depths), np.inf, depths)
    by_run, by_topic = (filled.min(axis=axis, initial=np.inf) for axis in (1, 0))
    lengths = judged.length[judged.present]
    grade = judged.qrels.grade
    judged_grades = grade[grade != UNJUDGED]
    grades = np.unique(np.maximum(judged_grades, 0)).tolist()
    base = judged.pool.recall_base(1)
    features: dict[str, Cell] = {
        "Collection": name,
        "Topics": len(judged.topics),
        "Runs": len(judged.runs),
        "Longest list": int(lengths.max(initial=0)),
        "Median length of a list": _compute_median(lengths),
        "Relevance grades": ", ".join(map(str, grades)),
        "Judged documents": len(judged_grades),
        "Relevant documents": int((judged_grades > 0).sum()),
        "Median of relevant documents per topic": _compute_median(base),
        "Topics without relevant documents": int((base == 0).sum()),
        "Pool depth (half of the runs)": _find_depth(by_run, 0.5),
        "Pool depth (all runs)": _find_depth(by_run, 1.0),
    }
    return Description(
        features=Feature.table("features", list(features.items()), caption="Features of the collection"),
        runs=_describe_runs(judged, depths, by_run),
        topics=_describe_topics(judged, base, by_topic),
        settings={**(settings or {}), "name": name},
    )


def describe_several(collections: Mapping[str, Judged]) -> TableResult:
    """Return the features of several collections side by side; rows of runs and topics name their collection."""
    parts = {name: describe(judged, name) for name, judged in collections.items()}
    tables = [join_features({name: part.features for name, part in parts.items()})]
    for kind in ("runs", "topics"):
        rows = [(name, *row) for name, part in parts.items() for row in part[kind].rows]
        first = next(iter(parts.values()))[kind]
        tables.append(Table(kind, ("collection", *first.columns), rows, caption=first.caption))
    return TableResult.from_tables(*tables, settings={"collections": list(parts)})


def judged_depths(judged: Judged) -> Floats:
    """Return the number of documents before the first unjudged one, runs x topics.

    Infinite if the whole ranking is judged; NaN where there is no ranking.
    """
    hits = judged.lists.hits()
    # Hits are sorted by rank: as long as no document is missing, the n-th hit has rank n.
    depth = hits.sum(hits.ordinal == hits.rank)
    depth[depth >= judged.length] = np.inf
    return judged.grid(np.where(judged.present, depth, np.nan))


def _find_depth(by_run: Floats, share: float) -> int | float:
    """Return the depth to which at least this share of the runs is judged."""
    index = int(np.ceil(share * len(by_run))) - 1
    return _as_int(float(np.sort(by_run)[::-1][index]))


def _as_int(number: float) -> int | float:
    """Return an integral number as an int."""
    return int(number) if number.is_integer() else number


def _compute_median(numbers: AnyArray) -> int | float | None:
    return _as_int(float(np.median(numbers))) if len(numbers) else None


def _describe_runs(judged: Judged, depths: Floats, by_run: Floats) -> RowTable[RunDescription]:
    length, present = judged.grid(judged.length), judged.grid(judged.present)
    rows = []
    for r, run in enumerate(judged.runs):
        own = np.sort(depths[r][present[r]])
        median = _as_int(float(own[(len(own) - 1) // 2])) if len(own) else None
        n_documents, longest = int(length[r].sum()), int(length[r].max(initial=0))
        rows.append(RunDescription(run, len(own), longest, n_documents, _as_int(float(by_run[r])), median))
    return RunDescription.table("runs", rows, caption="Runs, and how deep they are judged")


def _describe_topics(judged: Judged, base: Ints, by_topic: Floats) -> RowTable[TopicDescription]:
    judgments = judged.pool.count(judged.qrels.grade != UNJUDGED)
    columns = zip(judged.topics, judgments.tolist(), base.tolist(), by_topic.tolist(), strict=True)
    rows = [TopicDescription(topic, n, relevant, _as_int(depth)) for topic, n, relevant, depth in columns]
    return TopicDescription.table("topics", rows, caption="Topics")


def join_features(tables: Mapping[str, Table]) -> Table:
    """Return the features of several collections as papers print them: features down, collections across.

    >>> import rankscope as rs
    >>> features = rs.Collection({"q": {"a": 1}}, {"r": {"q": ["a"]}}).describe("A").features
    >>> join_features({"A": features, "B": features}).rows[0]
    ('Topics', 1, 1)
    """
    values = {name: {str(key): value for key, value in features.rows} for name, features in tables.items()}
    names = list(dict.fromkeys(feature for features in values.values() for feature in features))
    rows: list[tuple[Cell, ...]] = [
        (name, *(features.get(name) for features in values.values()))
        for name in names
        if name != "Collection"
    ]
    return Table("features", ("feature", *tables), rows, caption="Features of the collections")
