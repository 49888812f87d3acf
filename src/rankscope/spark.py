"""Evaluation where the data is: DataFrames of runs and judgments in, a DataFrame of values out.

    values = rankscope.spark.evaluate(runs, qrels, "AP nDCG@10")
    values.write.parquet("values")
    rankscope.spark.means(values, "AP nDCG@10").show()

Lists are handed to the measures whole, many at a time: rows go into buckets by the hash of run and topic (of topic
alone, where judgments come along), and a bucket is what one call sees. With the rows goes one more for every run and
judged topic. Each list must find exactly one of these in its bucket, so a list that was split is noticed, no list is
evaluated twice, and lists that a run lacks are there to be counted as empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.engines.spark import unpacked_once
from rankscope.errors import InputError, RankscopeError, SettingsError
from rankscope.judging.rows import ListRows, PooledQrels, check_rows_order, checked_numbers
from rankscope.measures import Measure, needs_aspects, parse_many
from rankscope.read import Qrels, open_qrels
from rankscope.read.frames import COLUMNS, NUMBERS, found_column
from rankscope.read.ids import arrow_ids, id_text, in_natural_order, to_bytes, to_texts
from rankscope.scores import MISSING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["evaluate", "means"]

BROADCAST = 2_000_000
"""Judgments up to this many are sent to every worker; more are brought together with the lists of their topics."""

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
    """The value of every measure for every run and topic, as a DataFrame (run, query_id, measure, value), lazily.

    ``runs`` has columns for run (without one there is a single run, called ``run``), topic, document and score (or
    rank, for ``order="rank"``); ``qrels`` for topic, document, grade and, for aspects, iteration; under any of the
    names in :data:`rankscope.read.frames.COLUMNS`, with ids and numbers of any type that files and frames may have.
    ``missing`` says what a judged topic counts that a run does not have: ``zero`` evaluates an empty list, ``skip``
    leaves it out. Values are, bit for bit, those of :func:`rankscope.evaluate`. So are errors, except that the lists of
    unjudged topics are not searched for repeated documents.

    Judgments are looked at when this is called (they are counted, and collected if they are few); runs are read when
    somebody asks for the values. ``broadcast`` True sends the judgments to every worker, False brings them together
    with the lists of their topics; by default True up to :data:`BROADCAST` of them. ``buckets`` is the number of calls
    (default: ``spark.sql.shuffle.partitions``); more of them need less memory each.

    >>> runs = spark.read.parquet("runs")  # doctest: +SKIP
    >>> evaluate(runs, spark.read.parquet("qrels"), "AP nDCG@10").show()  # doctest: +SKIP
    """
    from pyspark.sql import functions as f

    wanted = tuple(parse_many(measures))
    if not wanted:
        raise SettingsError("there is no measure to evaluate", hint="name at least one, such as AP")
    if missing not in MISSING:
        raise SettingsError(f"missing={missing!r}", hint=f"choose one of {', '.join(MISSING)}")
    column = "rank" if check_rows_order(order) == "rank" else "score"
    rows = _checked(runs, _columns(runs, ("query_id", "doc_id", column), ("run",)))
    if "run" not in rows.columns:
        rows = rows.withColumn("run", f.lit(bytearray(b"run")))
    judged = _columns(qrels, ("query_id", "doc_id", "relevance"), ("iteration",))
    spark = runs.sparkSession
    number = int(buckets or spark.conf.get("spark.sql.shuffle.partitions"))
    if broadcast is None:
        broadcast = qrels.limit(BROADCAST + 1).count() <= BROADCAST
    if broadcast:
        collected = qrels.select(*("`" + name.replace("`", "``") + "`" for name in judged.values()))
        return _broadcast(spark, rows, collected, wanted, order, missing, number)
    return _together(rows, _checked(qrels, judged), wanted, order, missing, number)


def means(values: DataFrame, measures: str | Measure | Iterable[str | Measure]) -> DataFrame:
    """The mean of every run and measure (or sum, or geometric mean, as the measure says) over topics, lazily.

    A DataFrame (run, measure, value, topics); ``topics`` is the number of those where the measure is defined. The
    values of a run are added up in the order of its topics, so that the means are those of
    :meth:`rankscope.Scores.means` bit for bit, however Spark arranged the rows.

    >>> means(evaluate(runs, qrels, "AP"), "AP").show()  # doctest: +SKIP
    """
    from pyspark.sql import functions as f

    known = {str(measure): measure for measure in parse_many(measures)}
    number = int(values.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    bucketed = values.withColumn("bucket", f.pmod(f.xxhash64("run"), f.lit(number)))

    def kernel(table: Any) -> Any:
        import pyarrow as pa

        rows: dict[tuple[str, str], dict[str, float]] = {}
        names = (
            to_texts(arrow_ids(table[name], name).to_pylist()) for name in ("run", "measure", "query_id")
        )
        for run, measure, topic, value in zip(*names, table["value"].to_pylist(), strict=True):
            rows.setdefault((run, measure), {})[topic] = value
        found = []
        for (run, name), mine in rows.items():
            if name in known:
                ordered = np.array([mine[topic] for topic in in_natural_order(mine)])
                found.append((run, name, known[name].mean(ordered), int((~np.isnan(ordered)).sum())))
        return pa.table(
            {
                name: _strings([row[0] for row in found])
                if not i
                else pa.array([row[i] for row in found], kind)
                for i, (name, kind) in enumerate(
                    (
                        ("run", pa.string()),
                        ("measure", pa.string()),
                        ("value", pa.float64()),
                        ("topics", pa.int64()),
                    )
                )
            }
        )

    return bucketed.groupBy("bucket").applyInArrow(kernel, _MEANS)


def _columns(frame: DataFrame, required: Sequence[str], optional: Sequence[str]) -> dict[str, str]:
    """Return the names of the columns with these meanings; ids must have a type of ids."""
    found = {}
    for wanted in (*required, *optional):
        name = found_column(wanted, frame.columns)
        if name is not None:
            found[wanted] = name
        elif wanted in required:
            raise InputError(
                f"the DataFrame has no column for {wanted} ({', '.join(COLUMNS[wanted])})",
                hint=f"rename one of: {', '.join(frame.columns)}",
            )
    types = _selected(frame, found).limit(0).toArrow()
    for wanted in found.keys() - set(NUMBERS):
        arrow_ids(types[wanted], f"column {found[wanted]!r}")
    return found


def _selected(frame: DataFrame, names: Mapping[str, str]) -> DataFrame:
    """Return the columns under their meanings."""
    from pyspark.sql import functions as f

    quoted = {meaning: "`" + name.replace("`", "``") + "`" for meaning, name in names.items()}
    return frame.select(*(f.col(name).alias(meaning) for meaning, name in quoted.items()))


def _checked(frame: DataFrame, names: Mapping[str, str]) -> DataFrame:
    """Return the columns under their meanings by the rules for files and frames: ids as bytes, numbers as double.

    The rules are those of Python and not of casts in Spark, which know other texts of numbers and drop what is missing.
    """
    names = dict(names)

    def kernel(batches: Iterable[Any]) -> Iterator[Any]:
        return (_by_rules(batch, names) for batch in batches)

    kinds = (f"{meaning} {'double' if meaning in NUMBERS else 'binary'}" for meaning in names)
    return _selected(frame, names).mapInArrow(kernel, ", ".join(kinds))


def _by_rules(batch: Any, names: Mapping[str, str]) -> Any:
    """Return a batch with ids as bytes and numbers as double; ``names`` are those of the columns, by meaning."""
    import pyarrow as pa

    columns = {
        meaning: pa.array(checked_numbers(batch[meaning], meaning), pa.float64())
        if meaning in NUMBERS
        else arrow_ids(batch[meaning], f"column {name!r}").cast(pa.binary())
        for meaning, name in names.items()
    }
    return pa.record_batch(columns)


def _marked(rows: DataFrame, topics: DataFrame) -> DataFrame:
    """Return the rows, and a mark for every run and judged topic: a row without a document.

    The mark of a row is 0, of a list 1, and 2 if its run has no judged topic at all.
    """
    from pyspark.sql import functions as f

    value = rows.columns[2]
    judged = rows.join(topics.withColumn("judged", f.lit(1)), "query_id", "left")
    mark = (f.lit(2) - f.coalesce(f.max("judged"), f.lit(0))).alias("mark")
    marks = judged.groupBy("run").agg(mark).crossJoin(topics)
    nothing = f.lit(None).cast("binary").alias("doc_id")
    return rows.select("run", "query_id", "doc_id", value, f.lit(0).alias("mark")).unionByName(
        marks.select("run", "query_id", nothing, f.lit(0.0).alias(value), "mark")
    )


def _broadcast(
    spark: Any, rows: DataFrame, judged: DataFrame, measures: Any, order: str, missing: str, buckets: int
) -> DataFrame:
    from pyspark import cloudpickle
    from pyspark.sql import functions as f

    qrels = open_qrels(judged.toArrow(), needs_aspects=needs_aspects(measures))
    packed = cloudpickle.dumps((PooledQrels(qrels), measures))
    shared = _sent(spark, packed)
    ids = [(bytearray(to_bytes(topic)),) for topic in qrels.topics]
    topics = f.broadcast(spark.createDataFrame(ids, "query_id binary"))
    marked = _marked(rows, topics).join(topics, "query_id", "left_semi")
    bucketed = marked.withColumn("bucket", f.pmod(f.xxhash64("run", "query_id"), f.lit(buckets)))

    def kernel(table: Any) -> Any:
        judgments, mine = unpacked_once(shared())
        return _values(table, judgments, mine, order, missing)

    return bucketed.groupBy("bucket").applyInArrow(kernel, _VALUES)


def _sent(spark: Any, packed: bytes) -> Callable[[], bytes]:
    """What every worker gets once; where there is no context to broadcast with (Spark Connect), in the function."""
    try:
        shared = spark.sparkContext.broadcast(packed)
    except Exception:
        return lambda: packed
    return lambda: shared.value


def _together(
    rows: DataFrame, judged: DataFrame, measures: Any, order: str, missing: str, buckets: int
) -> DataFrame:
    """Judgments and lists of the same topics in one call; nobody holds all judgments."""
    from pyspark.sql import functions as f

    aspects = "iteration" in judged.columns and (needs_aspects(measures) or _overlap(judged))
    best = judged.agg(f.max("relevance")).first()[0]
    if best is None:
        raise InputError("no judgments", hint="give rows of topic, document and grade")
    bucket = f.pmod(f.xxhash64("query_id"), f.lit(buckets)).alias("bucket")
    marked = _marked(rows, judged.select("query_id").distinct()).select("*", bucket)

    def kernel(table: Any, judgments: Any) -> Any:
        import pyarrow as pa

        if not len(judgments):  # runs of topics without judgments
            return _values(table.slice(0, 0), None, measures, order, missing)
        # a topic that nobody has, so that every bucket knows the best grade of all judgments
        given = {"query_id": _SENTINEL, "doc_id": _SENTINEL, "relevance": best, "iteration": b"0"}
        columns = judgments.select([name for name in judgments.column_names if name in given])
        more = pa.table({name: pa.array([given[name]], columns[name].type) for name in columns.column_names})
        qrels = Qrels.from_frame(pa.concat_tables([columns, more]), aspects=aspects)
        return _values(table, PooledQrels(qrels), measures, order, missing)

    left = marked.groupBy("bucket")
    return left.cogroup(judged.select("*", bucket).groupBy("bucket")).applyInArrow(kernel, _VALUES)


def _overlap(judged: DataFrame) -> bool:
    """Whether some document of a topic was judged under several subtopics: then the column names aspects."""
    from pyspark.sql import functions as f

    several = judged.groupBy("query_id", "doc_id").agg(f.countDistinct("iteration").alias("subtopics"))
    return bool(several.where("subtopics > 1").limit(1).count())


def _values(table: Any, judgments: PooledQrels | None, measures: Any, order: str, missing: str) -> Any:
    """The values of the lists in a bucket, a row for each list and measure."""
    if judgments is None:
        return _rows([], [], measures, np.empty((0, len(measures))))
    lists = ListRows.of(table, judgments, order)
    _check_whole(table, lists)
    values = np.empty((len(lists), len(measures)))
    for part, some in lists.blocks():
        for index, measure in enumerate(measures):
            values[part, index] = measure.evaluate(some)
    if missing == "zero":
        return _rows(lists.runs, lists.topics, measures, values)
    keep = np.flatnonzero(lists.length > 0)
    runs, topics = lists.runs, lists.topics
    return _rows([runs[i] for i in keep], [topics[i] for i in keep], measures, values[keep])


def _check_whole(table: Any, lists: ListRows) -> None:
    """Every list has its mark in its own bucket, and no list has two: none was split, and none is missing."""
    import pyarrow.compute as pc

    marks = table["mark"].to_numpy()
    if (marks == 2).any():
        run = id_text(table["run"][int(np.argmax(marks == 2))].as_py(), "run")
        raise InputError(
            f"run {run!r} has no topic in common with the judgments",
            hint="check that the run and the judgments belong to the same collection",
        )
    marked = table.filter(pc.field("mark") > 0).select(["run", "query_id"])
    different = len(marked.group_by(["run", "query_id"]).aggregate([]))
    if not len(marked) == different == len(lists):
        raise RankscopeError(
            f"a bucket has {len(lists)} lists and {len(marked)} marks of {different} lists: lists were split"
        )


def _rows(runs: list[str], topics: list[str], measures: Any, values: Any) -> Any:
    import pyarrow as pa

    count = len(measures)
    names = pa.array([str(measure) for measure in measures], pa.string())
    each: Any = pa.array(np.repeat(np.arange(len(runs)), count))
    which: Any = pa.array(np.tile(np.arange(count), len(runs)))
    return pa.table(
        {
            "run": _strings(runs).take(each),
            "query_id": _strings(topics).take(each),
            "measure": names.take(which),
            "value": pa.array(values.ravel(), pa.float64()),
        }
    )


def _strings(texts: Sequence[str]) -> Any:
    """Return texts as an Arrow array of strings; bytes that are not UTF-8 stay as they are."""
    import pyarrow as pa

    return pa.array([to_bytes(text) for text in texts], pa.binary()).cast(pa.string(), safe=False)
