"""What a collection is made of: topics, runs, lengths, grades, judgments, and how deep its pool is.

The depth of the pool is not written anywhere in a collection; it is found in the data. A run is judged to depth k if
every document in the first k ranks of each of its lists is judged; a list that is judged to its end sets no limit. Runs
that took no part in pooling may be judged to depth 0, so the depth that half of the runs reach says more about how the
collection was made than the one that all of them reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from rankscope.judging import UNJUDGED, Judged, judge
from rankscope.read import open_collection
from rankscope.result import TableResult
from rankscope.tables import Cell, Table

__all__ = ["features", "features_of", "features_of_several", "judged_depths", "side_by_side"]

Floats = npt.NDArray[np.float64]


def features(
    qrels: Any, runs: Any, *, name: str = "collection", order: str | None = None, jobs: int | None = None
) -> TableResult:
    """The features of a collection (Ferro and others 2016, Table 1, as far as judgments and runs tell them).

    Tables: ``features`` {feature, value}; ``runs`` {run, topics, longest, documents, depth, median_depth}, the depth to
    which every list of the run is judged, and the median over its lists (infinite: to their ends); ``topics`` {topic,
    judged, relevant, depth}.

    >>> found = features({"q": {"a": 1, "b": 0}}, {"r": {"q": ["a", "b", "x"]}})
    >>> dict(found["features"].rows)["Pool depth (half of the runs)"]
    2
    """
    collection = open_collection(qrels, runs, order=order)
    found = features_of(judge(*collection, jobs=jobs), name)
    return found.with_settings(**collection.settings)


def features_of_several(collections: Mapping[str, Judged]) -> TableResult:
    """The same for several collections side by side; ``runs`` and ``topics`` say of which collection a row is."""
    parts = {name: features_of(judged, name) for name, judged in collections.items()}
    tables = [side_by_side({name: part["features"] for name, part in parts.items()})]
    for kind in ("runs", "topics"):
        rows = [(name, *row) for name, part in parts.items() for row in part[kind].rows]
        first = next(iter(parts.values()))[kind]
        tables.append(Table(kind, ("collection", *first.columns), rows, caption=first.caption))
    return TableResult.of(*tables, settings={"collections": list(parts)})


def features_of(judged: Judged, name: str = "collection") -> TableResult:
    """The same for runs that are already judged."""
    depths = judged_depths(judged)
    by_run, by_topic = _least(depths, 1), _least(depths, 0)
    lengths = judged.length[judged.present]
    grade = judged.qrels.grade
    known = grade[grade != UNJUDGED]
    grades = sorted({max(0, int(g)) for g in np.unique(known)})
    base = judged.pool.recall_base(1)
    rows: list[tuple[Cell, ...]] = [
        ("Collection", name),
        ("Topics", len(judged.topics)),
        ("Runs", len(judged.runs)),
        ("Longest list", int(lengths.max(initial=0))),
        ("Median length of a list", _middle(lengths)),
        ("Relevance grades", ", ".join(map(str, grades))),
        ("Judged documents", len(known)),
        ("Relevant documents", int((known > 0).sum())),
        ("Median of relevant documents per topic", _middle(base)),
        ("Topics without relevant documents", int((base == 0).sum())),
        ("Pool depth (half of the runs)", _reached(by_run, 0.5)),
        ("Pool depth (all runs)", _reached(by_run, 1.0)),
    ]
    tables = (
        Table("features", ("feature", "value"), rows, caption="Features of the collection"),
        _run_table(judged, depths, by_run),
        _topic_table(judged, base, by_topic),
    )
    return TableResult.of(*tables, settings={"name": name})


def judged_depths(judged: Judged) -> Floats:
    """For each run and topic how many documents are judged before the first that is not; NaN where there is no list.

    Infinite if the whole list is judged.
    """
    hits = judged.lists.hits()
    # hits are in the order of ranks: as long as nothing is missing, the n-th hit is at rank n
    depth = hits.sum(hits.ordinal == hits.rank)
    depth[depth >= judged.length] = np.inf
    return judged.grid(np.where(judged.present, depth, np.nan))


def _least(depths: Floats, axis: int) -> Floats:
    """The smallest depth of each run or topic; infinite where nothing sets a limit."""
    return np.asarray(np.where(np.isnan(depths), np.inf, depths).min(axis=axis, initial=np.inf))


def _reached(by_run: Floats, share: float) -> Cell:
    """The depth to which at least this share of the runs is judged."""
    place = int(np.ceil(share * len(by_run))) - 1
    return _whole(float(np.sort(by_run)[::-1][place]))


def _whole(number: float) -> Cell:
    return int(number) if np.isfinite(number) and number == int(number) else number


def _middle(numbers: npt.NDArray[Any]) -> Cell:
    return _whole(float(np.median(numbers))) if len(numbers) else None


def _run_table(judged: Judged, depths: Floats, by_run: Floats) -> Table:
    length, present = judged.grid(judged.length), judged.grid(judged.present)
    rows: list[tuple[Cell, ...]] = []
    for r, run in enumerate(judged.runs):
        mine = depths[r][present[r]]
        middle = _whole(float(np.sort(mine)[(len(mine) - 1) // 2])) if len(mine) else None
        documents = int(length[r].sum())
        longest = int(length[r].max(initial=0))
        rows.append((run, int(present[r].sum()), longest, documents, _whole(float(by_run[r])), middle))
    columns = ("run", "topics", "longest", "documents", "depth", "median_depth")
    return Table("runs", columns, rows, caption="Runs, and how deep they are judged")


def _topic_table(judged: Judged, base: npt.NDArray[np.int64], by_topic: Floats) -> Table:
    judgments = judged.pool.count(judged.qrels.grade != UNJUDGED)
    rows: list[tuple[Cell, ...]] = [
        (topic, int(judgments[t]), int(base[t]), _whole(float(by_topic[t])))
        for t, topic in enumerate(judged.topics)
    ]
    return Table("topics", ("topic", "judged", "relevant", "depth"), rows, caption="Topics")


def side_by_side(found: Mapping[str, Table]) -> Table:
    """The features of several collections as papers print them: features down, collections across.

    >>> one = features({"q": {"a": 1}}, {"r": {"q": ["a"]}}, name="A")["features"]
    >>> side_by_side({"A": one, "B": one}).rows[0]
    ('Topics', 1, 1)
    """
    order = list(found)
    values = {name: {str(feature): value for feature, value in found[name].rows} for name in order}
    kinds = list(dict.fromkeys(kind for name in order for kind in values[name]))
    rows = [(kind, *(values[name].get(kind) for name in order)) for kind in kinds if kind != "Collection"]
    return Table("features", ("feature", *order), rows, caption="Features of the collections")
