"""Distributed evaluation in Spark: from DataFrames of runs and judgments to a DataFrame of values.

    values = rankscope.spark.evaluate(runs, qrels, "AP nDCG@10")
    values.write.parquet("values")
    rankscope.spark.means(values, "AP nDCG@10").show()

Measures evaluate many complete rankings per call: rows are assigned to buckets by the hash of run and topic (of topic
alone if judgments are distributed too), and each call evaluates one bucket. An additional marker row for every run and
judged topic guards the distribution: each ranking must have exactly one marker in its bucket. So a split ranking is
detected, no ranking is evaluated twice, and missing rankings are evaluated as empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.engines.spark import unpickle_once
from rankscope.errors import InputError, RankscopeError
from rankscope.judging.rows import ListRows, check_numbers, check_rows_order
from rankscope.lazy import LazyModule
from rankscope.measures import Measure, needs_aspects, parse_many
from rankscope.read import Qrels, open_qrels
from rankscope.read.frames import NUMBERS, find_columns
from rankscope.read.ids import arrow_ids, id_text, sort_naturally, to_bytes, to_texts
from rankscope.scores import check_missing, require_measures

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["evaluate", "means"]

f, cloudpickle = LazyModule("pyspark.sql.functions"), LazyModule("pyspark.cloudpickle")
pa, pc = LazyModule("pyarrow"), LazyModule("pyarrow.compute")

BROADCAST = 2_000_000
"""Maximum number of judgments to broadcast to every worker; more are grouped with the rankings of their topics."""

_VALUES = "run string, query_id string, measure string, value double"
_MEANS = "run string, measure string, value double, topics long"
_SENTINEL = b"\0 the best grade of all judgments"


def evaluate(
    runs: DataFrame,
    qrels: DataFrame,
    measures: str | Measure | Iterable[str | Measure],
    *,
    order: str = "trec_eval",
    missing: str = "zero",
    broadcast: bool | None = None,
    buckets: int | None = None,
) -> DataFrame:
    """Evaluate runs lazily; values are bit for bit equal to those of :func:`rankscope.evaluate`.

    Errors are the same too, except that repeated documents in rankings of unjudged topics are not detected. The call
    counts the judgments, and collects them if they are broadcast; Spark reads the runs when the values are used.
    Columns may have any of the names in :data:`rankscope.read.frames.COLUMNS`, and ids and numbers any type that files
    and frames may have.

    Parameters
    ----------
    runs
        Columns for run (without it, there is a single run called ``run``), topic, document and score (or rank, for
        ``order="rank"``).
    qrels
        Columns for topic, document, grade and, for aspects, iteration.
    measures
        Measures, or their names.
    order
        Order of the documents of a ranking.
    missing
        Whether a judged topic that a run lacks is evaluated as an empty ranking (``zero``) or left out (``skip``).
    broadcast
        Whether to broadcast the judgments to every worker instead of grouping them with the rankings of their topics;
        by default, up to :data:`BROADCAST` judgments are broadcast.
    buckets
        Number of buckets (default: ``spark.sql.shuffle.partitions``); more buckets need less memory each.

    Returns
    -------
    DataFrame
        Columns run, query_id, measure and value.

    Examples
    --------
    >>> runs = spark.read.parquet("runs")  # doctest: +SKIP
    >>> evaluate(runs, spark.read.parquet("qrels"), "AP nDCG@10").show()  # doctest: +SKIP
    """
    parsed = require_measures(measures)
    check_missing(missing)
    column = "rank" if check_rows_order(order) == "rank" else "score"
    rows = _validate_rows(runs, _find_columns(runs, ("query_id", "doc_id", column), ("run",)))
    if "run" not in rows.columns:
        rows = rows.withColumn("run", f.lit(bytearray(b"run")))
    judged = _find_columns(qrels, ("query_id", "doc_id", "relevance"), ("iteration",))
    spark = runs.sparkSession
    number = int(buckets or spark.conf.get("spark.sql.shuffle.partitions"))
    if broadcast is None:
        broadcast = qrels.limit(BROADCAST + 1).count() <= BROADCAST
    if broadcast:
        collected = qrels.select(*("`" + name.replace("`", "``") + "`" for name in judged.values()))
        return _evaluate_broadcast(spark, rows, collected, parsed, order, missing, number)
    return _evaluate_grouped(rows, _validate_rows(qrels, judged), parsed, order, missing, number)


def means(values: DataFrame, measures: str | Measure | Iterable[str | Measure]) -> DataFrame:
    """Summarise values over topics lazily: the mean, sum or geometric mean that each measure defines.

    The values of a run are summed in the order of its topics, so that the result is bit for bit equal to
    :meth:`rankscope.Scores.means`, regardless of the order of rows in Spark.

    Parameters
    ----------
    values
        Result of :func:`evaluate`.
    measures
        Measures to summarise, or their names.

    Returns
    -------
    DataFrame
        Columns run, measure, value and topics, the number of topics with a defined value.

    Examples
    --------
    >>> means(evaluate(runs, qrels, "AP"), "AP").show()  # doctest: +SKIP
    """
    by_name = {str(measure): measure for measure in parse_many(measures)}
    number = int(values.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    bucketed = values.withColumn("bucket", f.pmod(f.xxhash64("run"), f.lit(number)))

    def kernel(table: Any) -> Any:
        rows: dict[tuple[str, str], dict[str, float]] = {}
        ids = (arrow_ids(table[name], name).to_pylist() for name in ("run", "measure", "query_id"))
        for run, measure, topic, value in zip(*map(to_texts, ids), table["value"].to_pylist(), strict=True):
            rows.setdefault((run, measure), {})[topic] = value
        runs, measured, means, counts = [], [], [], []
        for (run, name), values_by_topic in rows.items():
            if name in by_name:
                ordered = np.array([values_by_topic[topic] for topic in sort_naturally(values_by_topic)])
                runs.append(run)
                measured.append(name)
                means.append(by_name[name].mean(ordered))
                counts.append(int((~np.isnan(ordered)).sum()))
        columns = [_strings(runs), pa.array(measured, pa.string()), pa.array(means, pa.float64())]
        return pa.table([*columns, pa.array(counts, pa.int64())], ["run", "measure", "value", "topics"])

    return bucketed.groupBy("bucket").applyInArrow(kernel, _MEANS)


def _find_columns(frame: DataFrame, required: Sequence[str], optional: Sequence[str]) -> dict[str, str]:
    """Return the names of the columns with these meanings; ids must have a type of ids."""
    names = find_columns(frame.columns, required, optional)
    types = _select_columns(frame, names).limit(0).toArrow()
    for meaning in names.keys() - set(NUMBERS):
        arrow_ids(types[meaning], f"column {names[meaning]!r}")
    return names


def _select_columns(frame: DataFrame, names: Mapping[str, str]) -> DataFrame:
    """Return the columns under their meanings."""
    quoted = {meaning: "`" + name.replace("`", "``") + "`" for meaning, name in names.items()}
    return frame.select(*(f.col(name).alias(meaning) for meaning, name in quoted.items()))


def _validate_rows(frame: DataFrame, names: Mapping[str, str]) -> DataFrame:
    """Return the columns under their meanings by the rules for files and frames: ids as bytes, numbers as double.

    The rules are those of Python; casts in Spark would accept other texts as numbers, and drop missing values.
    """
    names = dict(names)

    def kernel(batches: Iterable[Any]) -> Iterator[Any]:
        return (_convert_batch(batch, names) for batch in batches)

    kinds = (f"{meaning} {'double' if meaning in NUMBERS else 'binary'}" for meaning in names)
    return _select_columns(frame, names).mapInArrow(kernel, ", ".join(kinds))


def _convert_batch(batch: Any, names: Mapping[str, str]) -> Any:
    """Return a batch with ids as bytes and numbers as double; ``names`` are those of the columns, by meaning."""
    columns = {
        meaning: pa.array(check_numbers(batch[meaning], meaning), pa.float64())
        if meaning in NUMBERS
        else arrow_ids(batch[meaning], f"column {name!r}").cast(pa.binary())
        for meaning, name in names.items()
    }
    return pa.record_batch(columns)


def _add_markers(rows: DataFrame, topics: DataFrame) -> DataFrame:
    """Return the rows, and a mark for every run and judged topic: a row without a document.

    The mark of a row is 0, of a list 1, and 2 if its run has no judged topic at all.
    """
    value = rows.columns[2]
    judged = rows.join(topics.withColumn("judged", f.lit(1)), "query_id", "left")
    mark = (f.lit(2) - f.coalesce(f.max("judged"), f.lit(0))).alias("mark")
    marks = judged.groupBy("run").agg(mark).crossJoin(topics)
    nothing = f.lit(None).cast("binary").alias("doc_id")
    unmarked = rows.select("run", "query_id", "doc_id", value, f.lit(0).alias("mark"))
    return unmarked.unionByName(marks.select("run", "query_id", nothing, f.lit(0.0).alias(value), "mark"))


def _evaluate_broadcast(
    spark: Any, rows: DataFrame, judged: DataFrame, measures: Any, order: str, missing: str, buckets: int
) -> DataFrame:
    qrels = open_qrels(judged.toArrow(), needs_aspects=needs_aspects(measures))
    packed = cloudpickle.dumps((qrels, measures))
    shared = _share(spark, packed)
    ids = [(bytearray(to_bytes(topic)),) for topic in qrels.topics]
    topics = f.broadcast(spark.createDataFrame(ids, "query_id binary"))
    marked = _add_markers(rows, topics).join(topics, "query_id", "left_semi")
    bucketed = marked.withColumn("bucket", f.pmod(f.xxhash64("run", "query_id"), f.lit(buckets)))

    def kernel(table: Any) -> Any:
        shared_qrels, shared_measures = unpickle_once(shared())
        return _evaluate_bucket(table, shared_qrels, shared_measures, order, missing)

    return bucketed.groupBy("bucket").applyInArrow(kernel, _VALUES)


def _share(spark: Any, packed: bytes) -> Callable[[], bytes]:
    """Return a function that returns the data in a worker: broadcast, or a closure if Spark Connect has no context."""
    try:
        shared = spark.sparkContext.broadcast(packed)
    except Exception:
        return lambda: packed
    return lambda: shared.value


def _evaluate_grouped(
    rows: DataFrame, judged: DataFrame, measures: Any, order: str, missing: str, buckets: int
) -> DataFrame:
    """Evaluate judgments and rankings grouped by topic, so that no worker needs all judgments."""
    aspects = "iteration" in judged.columns and (needs_aspects(measures) or _has_aspects(judged))
    best = judged.agg(f.max("relevance")).first()[0]
    if best is None:
        raise InputError("no judgments", hint="give rows of topic, document and grade")
    bucket = f.pmod(f.xxhash64("query_id"), f.lit(buckets)).alias("bucket")
    marked = _add_markers(rows, judged.select("query_id").distinct()).select("*", bucket)

    def kernel(table: Any, judgments: Any) -> Any:
        if not len(judgments):  # All topics of the bucket are unjudged.
            return _make_table([], [], measures, np.empty((0, len(measures))))
        # A sentinel topic tells every bucket the best grade of all judgments.
        sentinel = {"query_id": _SENTINEL, "doc_id": _SENTINEL, "relevance": best, "iteration": b"0"}
        columns = judgments.select([name for name in judgments.column_names if name in sentinel])
        row = {name: pa.array([sentinel[name]], columns[name].type) for name in columns.column_names}
        qrels = Qrels.from_frame(pa.concat_tables([columns, pa.table(row)]), aspects=aspects)
        return _evaluate_bucket(table, qrels, measures, order, missing)

    left = marked.groupBy("bucket")
    return left.cogroup(judged.select("*", bucket).groupBy("bucket")).applyInArrow(kernel, _VALUES)


def _has_aspects(judged: DataFrame) -> bool:
    """Return whether a document of a topic has judgments for several iterations, which are then aspects."""
    several = judged.groupBy("query_id", "doc_id").agg(f.countDistinct("iteration").alias("subtopics"))
    return bool(several.where("subtopics > 1").limit(1).count())


def _evaluate_bucket(table: Any, qrels: Qrels, measures: Any, order: str, missing: str) -> Any:
    """Return the values of the rankings in a bucket, a row per ranking and measure."""
    lists = ListRows.from_table(table, qrels, order)
    _check_markers(table, lists)
    values = np.empty((len(lists), len(measures)))
    for part, lists_of_block in lists.blocks():
        for index, measure in enumerate(measures):
            values[part, index] = measure.evaluate(lists_of_block)
    if missing == "zero":
        return _make_table(lists.runs, lists.topics, measures, values)
    keep = np.flatnonzero(lists.length > 0)
    runs, topics = lists.runs, lists.topics
    return _make_table([runs[i] for i in keep], [topics[i] for i in keep], measures, values[keep])


def _check_markers(table: Any, lists: ListRows) -> None:
    """Raise an error unless each ranking of a bucket has exactly one marker, so that none is split or missing."""
    marks = table["mark"].to_numpy()
    if (marks == 2).any():
        run = id_text(table["run"][int(np.argmax(marks == 2))].as_py(), "run")
        hint = "check that the run and the judgments belong to the same collection"
        raise InputError(f"run {run!r} has no topic in common with the judgments", hint=hint)
    marked = table.filter(pc.field("mark") > 0).select(["run", "query_id"])
    different = len(marked.group_by(["run", "query_id"]).aggregate([]))
    if not len(marked) == different == len(lists):
        marks_of_lists = f"{len(marked)} marks of {different} lists"
        raise RankscopeError(f"a bucket has {len(lists)} lists and {marks_of_lists}: lists were split")


def _make_table(runs: list[str], topics: list[str], measures: Any, values: Any) -> Any:
    count = len(measures)
    names = pa.array([str(measure) for measure in measures], pa.string())
    ranking_index = pa.array(np.repeat(np.arange(len(runs)), count))
    measure_index = pa.array(np.tile(np.arange(count), len(runs)))
    columns = [_strings(ids).take(ranking_index) for ids in (runs, topics)]
    columns += [names.take(measure_index), pa.array(values.ravel(), pa.float64())]
    return pa.table(columns, ["run", "query_id", "measure", "value"])


def _strings(texts: Sequence[str]) -> Any:
    """Return texts as an Arrow array of strings; bytes that are not UTF-8 are kept."""
    return pa.array([to_bytes(text) for text in texts], pa.binary()).cast(pa.string(), safe=False)
