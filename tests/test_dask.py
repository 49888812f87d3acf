"""A real Dask cluster of two processes: the same bytes as here, also when one of them is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope.engines import current_engine, stream_pieces, using
from rankscope.errors import WorkerError
from rankscope.measures import Measure
from rankscope.scores import Scores
from rankscope.tables import render

pytestmark = [pytest.mark.slow, pytest.mark.needs("cluster")]
MEASURES = "AP nDCG@10 Twist RBP alpha_nDCG@10"


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("engines") / "made"
    rs.simulate(systems=5, topics=6, grades=3, depth=40, seed=2, pool_depth=20).write(root)
    return root


@pytest.fixture(scope="module")
def serial(folder: Path) -> Scores:
    return rs.evaluate(folder / "qrels.txt", folder / "runs", MEASURES, jobs=1)


def test_scores(client: Any, folder: Path, serial: Scores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)  # where the workers are not
    for engine in (client, client.get_executor()):
        parallel = rs.evaluate("qrels.txt", "runs", MEASURES, engine=engine)
        assert parallel.values.tobytes() == serial.values.tobytes()
        assert (parallel.runs, parallel.topics) == (serial.runs, serial.topics)
    assert current_engine() is None


def on(engine: object, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Call a function on an engine and return its result."""
    with using(engine):
        return function(*arguments, **named)


def test_analyses_and_laboratory(client: Any, folder: Path, serial: Scores) -> None:
    files = folder / "qrels.txt", folder / "runs"
    settings = rs.StudySettings(measures="AP nDCG", repeats=1, replicates=100)

    def all_of_it(engine: Any) -> list[str]:
        results = [
            rs.pools(rs.evaluate(*files, "AP RBP", engine=engine), ratios=[50], repeats=2),
            rs.leave_out(rs.evaluate(*files, "AP", engine=engine), pool_depth=5),
            on(engine, rs.power, serial, ["bootstrap", "tukey"], replicates=300),
            on(engine, rs.compare, serial, test="bootstrap", replicates=300),
            rs.study(rs.Collection(*files, engine=engine), settings),
            rs.lab.properties("AP ACT", depth=4, engine=engine),
            rs.lab.scales("AP", length=4, engine=engine),
        ]
        return [render(list(result.tables.values()), "csv") for result in results]

    assert all_of_it(client) == all_of_it(None)


def test_the_work_of_a_killed_worker_is_repeated(client: Any, tmp_path: Path) -> None:
    mark = tmp_path / "died"

    def dies_once(number: int) -> int:  # nested, so that it is pickled by value
        if number == 3 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number * number

    with using(client):
        assert list(stream_pieces(dies_once, range(40))) == [n * n for n in range(40)]
    assert mark.exists()


def test_every_measure_has_the_same_bits(client: Any, folder: Path, every_measure: list[Measure]) -> None:
    files = folder / "qrels.txt", folder / "runs"
    serial, parallel = (rs.evaluate(*files, every_measure, engine=engine) for engine in (None, client))
    assert parallel.values.tobytes() == serial.values.tobytes()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system kills otherwise")
def test_a_worker_killed_in_a_stream_of_values(client: Any, folder: Path, tmp_path: Path) -> None:
    mark = tmp_path / "died"
    mark.touch()

    def relevant(grades: Any) -> float:
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return float(sum(grade > 0 for grade in grades))

    measures = [rs.measure("RelevantOnes", relevant), rs.measure("AP")]
    files = folder / "qrels.txt", folder / "runs"
    rs.evaluate_into(tmp_path / "here.csv", *files, measures, piece_bytes=2000)
    mark.unlink()
    rs.evaluate_into(tmp_path / "there.csv", *files, measures, piece_bytes=2000, engine=client)
    assert mark.exists()
    assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()


def test_a_bad_line_is_named(client: Any, folder: Path, tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"run{number:02}.txt").write_bytes(min((folder / "runs").iterdir()).read_bytes())
    lines = (tmp_path / "run13.txt").read_text().splitlines()
    lines[4] = "301 Q0 d1 1 high tag"
    (tmp_path / "run13.txt").write_text("\n".join(lines))
    with pytest.raises(rs.errors.InputError) as here:
        rs.evaluate(folder / "qrels.txt", tmp_path, "AP")
    with pytest.raises(rs.errors.InputError, match=r"run13\.txt:5: ") as there:
        rs.evaluate(folder / "qrels.txt", tmp_path, "AP", engine=client)
    assert str(there.value) == str(here.value)


class _Slow:
    """A client whose workers do not answer for a while."""

    def __init__(self, failures: int) -> None:
        self.failures = failures

    def nthreads(self) -> dict[str, int]:
        return {"a": 1}

    def wait_for_workers(self, count: int, timeout: float) -> None:
        self.failures -= 1
        if self.failures >= 0:
            raise TimeoutError

    def scatter(self, data: list[Any], **_: Any) -> list[Any]:
        return data


def test_workers_that_do_not_answer_under_load_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three attempts at once were all that killed workers got to come back."""
    from rankscope.engines import dask

    monkeypatch.setattr(dask, "sleep", lambda _: None)
    assert dask.DaskEngine(_Slow(8))._scatter(abs).content is abs
    clock = iter(range(0, 10_000, 50))
    monkeypatch.setattr(dask, "monotonic", lambda: next(clock))
    with pytest.raises(
        WorkerError, match="did not answer for 120 seconds; workers may have run out of memory"
    ):
        dask.DaskEngine(_Slow(1000))._scatter(abs)
