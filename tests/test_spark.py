"""A real Spark with executors of its own: the same bytes as here, also when one of them is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings as examples

import rankscope as rs
from rankscope.cli.main import main
from rankscope.engines import stream_pieces, using
from rankscope.engines.spark import session
from rankscope.measures import Measure
from rankscope.scores import Scores

pytestmark = [pytest.mark.slow, pytest.mark.needs("spark")]

Values = dict[tuple[str, str, str], bytes]


DAEMON = """import pandas, pyarrow, pyspark.worker, rankscope.spark, rankscope.measures
from pyspark import daemon
if __name__ == "__main__":
    daemon.manager()
"""
"""Forks workers that have imported everything: an input that is rejected ends its worker, and many are."""


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    work = tmp_path_factory.mktemp("spark")
    (work / "warm_daemon.py").write_text(DAEMON)
    settings = {
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.warehouse.dir": str(work / "warehouse"),
        "spark.local.dir": str(work / "local"),
        "spark.driver.memory": "1g",
        # A killed worker needs one retry; an input that is rejected fails every attempt, and each starts a new worker.
        "spark.task.maxFailures": "2",
        "spark.python.daemon.module": "warm_daemon",
        # Compiling a query takes longer than interpreting it on so few rows.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SPARK_WORKER_DIR", str(work / "workers"))
        # Java that lives for a minute had better not spend it on making itself faster,
        # or on verifying the classes of Spark.
        trusting = (
            "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote -XX:-BytecodeVerificationLocal"
        )
        environment.setenv("JDK_JAVA_OPTIONS", f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC {trusting}")
        environment.setenv("PYTHONPATH", str(work), prepend=os.pathsep)
        # An executor is a Java process that compiles every query anew: the quick profile has one with two cores.
        n_executors = min(2, examples().max_examples // 15)
        with session(f"local-cluster[{n_executors},{2 // n_executors},1024]", **settings) as spark:
            yield spark


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("engines") / "made"
    rs.simulate(systems=4, topics=7, grades=3, depth=60, seed=3, pool_depth=20, aspects=3).write(root)
    # one run lacks topics, and one has ties
    runs = sorted((root / "runs").iterdir())
    lines = runs[0].read_text().splitlines()
    runs[0].write_text("\n".join(line for line in lines if line.split()[0] != lines[0].split()[0]) + "\n")
    fields = [line.split() for line in runs[1].read_text().splitlines()]
    rounded = [[*line[:4], f"{float(line[4]):.1f}", line[5]] for line in fields]
    runs[1].write_text("\n".join(map(" ".join, rounded)) + "\n")
    return root


@pytest.fixture(scope="module")
def frames(spark: Any, folder: Path) -> tuple[Any, Any]:
    """Return the shuffled runs and the judgments."""
    runs = rs.read_runs(folder / "runs").to_pandas().sample(frac=1, random_state=1)
    rows = [line.split() for line in (folder / "qrels.txt").read_text().splitlines()]
    qrels = spark.createDataFrame(
        [(t, i, d, int(g)) for t, i, d, g in rows], "qid string, iteration string, docno string, label int"
    )
    return spark.createDataFrame(runs).repartition(3), qrels


def bits(rows: list[Any]) -> Values:
    values = {(r["run"], r["query_id"], r["measure"]): np.float64(r["value"]).tobytes() for r in rows}
    assert len(values) == len(rows)
    return values


def expected(scores: Scores, skip: bool = False) -> Values:
    lacking = ~scores.judged.grid(scores.judged.present) if skip else np.zeros(scores.values.shape[1:], bool)
    return {
        (run, topic, str(measure)): scores.values[m, r, t].tobytes()
        for m, measure in enumerate(scores.measures)
        for r, run in enumerate(scores.runs)
        for t, topic in enumerate(scores.topics)
        if not lacking[r, t]
    }


@pytest.mark.parametrize("broadcast", [True, False], ids=["broadcast", "together"])
def test_every_measure_has_the_same_bits(
    frames: Any, folder: Path, every_measure: list[Measure], broadcast: bool
) -> None:
    import rankscope.spark

    scores = rs.evaluate(folder / "qrels.txt", folder / "runs", every_measure)
    values = rankscope.spark.evaluate(*frames, every_measure, broadcast=broadcast).cache()
    assert values.columns == ["run", "query_id", "measure", "value"]
    rows = values.collect()
    assert len(rows) == len(every_measure) * len(scores.runs) * len(scores.topics)
    assert bits(rows) == expected(scores)
    if broadcast:
        distributed = rankscope.spark.means(values, every_measure).collect()
        rows = [(r["run"], r["measure"], np.float64(r["value"]).tobytes(), r["topics"]) for r in distributed]
        local = [(run, name, np.float64(mean).tobytes(), n) for run, name, mean, n in scores["means"].rows]
        assert sorted(rows) == sorted(local)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found as Linux has them")
def test_the_work_of_a_killed_executor_is_repeated(spark: Any, tmp_path: Path) -> None:
    mark = tmp_path / "died"

    def dies_once(number: int) -> int:  # nested, so that it is pickled by value
        if number == 3 and not mark.exists():
            mark.touch()
            process = os.getpid()  # the Java process that it works for is above it
            while "CoarseGrainedExecutorBackend" not in Path(f"/proc/{process}/cmdline").read_text():
                process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
            os.kill(process, signal.SIGKILL)
        return number * number

    with using(spark):
        assert list(stream_pieces(dies_once, range(20))) == [n * n for n in range(20)]
    assert mark.exists()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system kills otherwise")
def test_the_work_of_a_killed_python_worker_is_repeated(frames: Any, folder: Path, tmp_path: Path) -> None:
    import rankscope.spark

    mark = tmp_path / "died"
    mark.touch()

    def relevant(grades: Any) -> float:
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return float(sum(grade > 0 for grade in grades))

    measures = [rs.measure("Relevant", relevant), rs.measure("AP")]
    scores = rs.evaluate(folder / "qrels.txt", folder / "runs", measures, missing="skip")
    mark.unlink()
    rows = rankscope.spark.evaluate(*frames, measures, missing="skip").collect()
    assert mark.exists()
    assert bits(rows) == expected(scores, skip=True)


def test_pieces_and_a_bad_line(spark: Any, folder: Path, tmp_path: Path, capsys: Any) -> None:
    local = rs.evaluate(folder / "qrels.txt", folder / "runs", "AP RBP")
    distributed = rs.evaluate(folder / "qrels.txt", folder / "runs", "AP RBP", engine=spark)
    assert distributed.values.tobytes() == local.values.tobytes()
    lines = min((folder / "runs").iterdir()).read_text().splitlines()
    (tmp_path / "good.txt").write_text("\n".join(lines))
    (tmp_path / "wrong.txt").write_text("\n".join([*lines[:6], "301 Q0 d1 1 high tag"]))
    assert main(["eval", str(folder / "qrels.txt"), str(tmp_path), "--engine", "spark"]) == 2
    error = capsys.readouterr().err
    assert "wrong.txt:7: " in error and error.count("\n") == 1


def test_a_list_that_was_split_is_noticed() -> None:
    import pyarrow as pa

    from rankscope.spark import _evaluate_bucket

    judgments = rs.Qrels.from_dict({"q": {"a": 1}})
    whole = pa.table(
        {"run": ["r", "r", "r"], "query_id": ["q", "q", "q"], "doc_id": ["a", "b", None], "score": [2.0, 1.0, 0.0],
         "mark": [0, 0, 1]}
    )  # fmt: skip
    assert _evaluate_bucket(whole, judgments, [rs.measure("AP")], "trec_eval", "zero")[
        "value"
    ].to_pylist() == [1.0]
    for part in (whole.slice(0, 2), pa.concat_tables([whole, whole.slice(2)])):
        with pytest.raises(rs.errors.RankscopeError, match="lists were split"):
            _evaluate_bucket(part, judgments, [rs.measure("AP")], "trec_eval", "zero")
    foreign = whole.set_column(4, "mark", pa.array([0, 0, 2]))
    with pytest.raises(rs.errors.InputError, match="run 'r' has no topic in common with the judgments"):
        _evaluate_bucket(foreign, judgments, [rs.measure("AP")], "trec_eval", "zero")


KINDS = {
    "string": str, "binary": lambda value: str(value).encode(), "int": int, "bigint": int, "smallint": int,
    "float": float, "double": float,
}  # fmt: skip


@pytest.mark.parametrize("broadcast", [True, False], ids=["broadcast", "together"])
def test_ids_of_all_types_match_as_in_local_evaluation(spark: Any, broadcast: bool, sampled: Any) -> None:
    """A double on one side and an integer on the other were different ids: no rows, or values of 0."""
    import rankscope.spark

    judged = [(t, d, (t + d) % 3) for t in (1, 2, 3) for d in range(10, 20)]
    ranked = [("a", t, d, float(d * t % 7)) for t in (1, 2, 9) for d in range(12, 22)]
    local = rs.evaluate(
        {"qid": [r[0] for r in judged], "docno": [r[1] for r in judged], "rel": [r[2] for r in judged]},
        {"run": ["a"] * 30, **{name: [r[i] for r in ranked] for i, name in ((1, "qid"), (2, "docno"), (3, "score"))}},
        "AP nDCG@5",
    )  # fmt: skip
    pairs = [("double", "int"), ("bigint", "double"), ("binary", "string"), ("float", "binary"), ("string", "double"),
             ("smallint", "string"), ("int", "int")]  # fmt: skip
    for number, (one, other) in sampled([*enumerate(pairs)], 3):
        rows = [(r, KINDS[one](t), KINDS[other](d), s) for r, t, d, s in ranked]
        runs = spark.createDataFrame(rows, f"run string, qid {one}, docno {other}, score double")
        grades = [(KINDS[other](t), KINDS[one](d), g) for t, d, g in judged]
        qrels = spark.createDataFrame(grades, f"qid {other}, docno {one}, rel int")
        parts = 1 + 3 * (number % 2)
        values = rankscope.spark.evaluate(
            runs.repartition(parts),
            qrels.repartition(5 - parts),
            "AP nDCG@5",
            broadcast=broadcast,
            buckets=parts,
        )
        assert bits(values.collect()) == expected(local), (one, other)


@pytest.mark.parametrize("broadcast", [True, False], ids=["broadcast", "together"])
def test_spark_rejects_the_inputs_that_evaluate_rejects(spark: Any, broadcast: bool) -> None:
    """A run without a judged topic was dropped or counted 0, and null topics depended on the partitions."""
    import rankscope.spark

    good = [("a", "1", "d", 1.0), ("a", "2", "d", 1.0)]
    judged = spark.createDataFrame(
        [("1", "d", 1), ("2", "d", 1), ("3", "d", 1)], "qid string, docno string, rel int"
    )
    cases = {
        "run 'b' has no topic in common": ("qid string", [*good, ("b", "9", "d", 1.0)]),
        "column 'qid': an id is missing": ("qid string", [*good, ("a", None, "d", 1.0)]),
        "column 'qid': values of type bool are not ids": ("qid boolean", [("a", True, "d", 1.0)]),
    }
    for parts, (what, (kind, rows)) in zip((3, 1 + 2 * broadcast, 1), cases.items(), strict=True):
        runs = spark.createDataFrame(rows, f"run string, {kind}, docno string, score double").repartition(
            parts
        )
        columns = {name: [row[i] for row in rows] for i, name in enumerate(("run", "qid", "docno", "score"))}
        with pytest.raises(rs.errors.InputError):
            rs.evaluate({"1": {"d": 1}, "2": {"d": 1}}, columns, "AP")
        with pytest.raises(Exception) as caught:
            rankscope.spark.evaluate(runs, judged, "AP", broadcast=broadcast, buckets=parts).collect()
        assert what in str(caught.value), (parts, str(caught.value)[-500:])


def test_batches_of_spark_follow_the_rules_for_frames() -> None:
    import pyarrow as pa

    from rankscope.spark import _convert_batch

    names = {"query_id": "qid", "doc_id": "docno", "score": "score"}
    good: dict[str, Any] = {"query_id": [1.0], "doc_id": [b"d"], "score": [1]}
    assert _convert_batch(pa.record_batch(good), names).to_pylist() == [
        {"query_id": b"1", "doc_id": b"d", "score": 1.0}
    ]
    wrong: dict[str, dict[str, Any]] = {
        "column 'qid': an id is missing": {"query_id": pa.nulls(1, pa.string())},
        r"column 'docno': 1.5 \(float\) is not an id": {"doc_id": [1.5]},
        "column 'docno': values of type bool are not ids": {"doc_id": [True]},
        "a score is missing": {"score": pa.nulls(1, pa.float64())},
        "the column score has no numbers": {"score": ["high"]},
    }
    for what, columns in wrong.items():
        with pytest.raises(rs.errors.InputError, match=what):
            _convert_batch(pa.record_batch(good | columns), names)
