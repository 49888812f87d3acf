"""Where work runs makes no difference: this process, threads, processes, a cluster."""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from threading import Event, Timer, active_count
from types import ModuleType
from typing import Any

import pytest

import rankscope as rs
from rankscope.engines import count_workers, current_engine, run_pieces, stream_pieces, using
from rankscope.scores import Scores
from rankscope.tables import render

MEASURES = "AP nDCG@10 Twist RBP alpha_nDCG@10"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("engines") / "made"
    rs.simulate(systems=5, topics=4, grades=3, depth=40, seed=2, pool_depth=20).write(root)
    return root


@pytest.fixture(scope="module")
def serial(folder: Path) -> Scores:
    return rs.evaluate(folder / "qrels.txt", folder / "runs", MEASURES, jobs=1)


def same(first: Scores, second: Scores) -> bool:
    return (first.runs, first.topics, first.values.tobytes()) == (
        second.runs,
        second.topics,
        second.values.tobytes(),
    )


@pytest.mark.parametrize("jobs", [0, 2, 3, 16])
def test_threads(jobs: int, folder: Path, serial: Scores) -> None:
    assert same(serial, rs.evaluate(folder / "qrels.txt", folder / "runs", MEASURES, jobs=jobs))


def test_any_executor(folder: Path, serial: Scores) -> None:
    with ThreadPoolExecutor(2) as threads, ProcessPoolExecutor(2, get_context("spawn")) as processes:
        for executor in (threads, processes):
            assert same(serial, rs.evaluate(folder / "qrels.txt", folder / "runs", MEASURES, engine=executor))


def test_runs_in_memory_travel_too(folder: Path) -> None:
    qrels, run = {"q1": {"d1": 1, "d2": 0}}, {"q1": {"d2": 2.0, "d1": 1.0}}
    with ProcessPoolExecutor(1, get_context("spawn")) as processes:
        assert rs.evaluate(qrels, {"a": run, "b": run}, "AP", engine=processes).mean("AP").tolist() == [
            0.5,
            0.5,
        ]


def test_errors_of_workers_keep_file_and_line(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("301 Q0 d1 1 high tag\n")
    with (
        ProcessPoolExecutor(1, get_context("spawn")) as processes,
        pytest.raises(rs.errors.InputError, match=r"bad\.txt:1: "),
    ):
        rs.evaluate(folder / "qrels.txt", tmp_path / "bad.txt", "AP", engine=processes)


def test_python_scanner_in_processes(folder: Path, serial: Scores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKSCOPE_SCANNER", "python")
    assert same(serial, rs.evaluate(folder / "qrels.txt", folder / "runs", MEASURES, jobs=2))


def test_an_engine_by_name_or_as_it_is(folder: Path, serial: Scores) -> None:
    with ThreadPoolExecutor(2) as threads:
        for engine in (None, "local", threads):
            assert same(serial, rs.evaluate(folder / "qrels.txt", folder / "runs", MEASURES, engine=engine))
        with using(threads):
            assert same(serial, rs.evaluate(folder / "qrels.txt", folder / "runs", MEASURES))
            with using("local"):
                assert current_engine() is None
            assert current_engine() is not None
    assert current_engine() is None


@pytest.mark.parametrize("engine", ["dusk", "Spark", "", 7])
def test_an_invalid_engine_raises(engine: object) -> None:
    with pytest.raises(rs.errors.SettingsError, match="engine"):
        rs.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, "AP", engine=engine)


def test_everything_heavy_takes_an_engine() -> None:
    heavy = [
        rs.evaluate, rs.Collection, rs.repeat_study,
        rs.lab.scales, rs.lab.properties, rs.lab.archetype_ranges,
    ]  # fmt: skip
    assert [one.__name__ for one in heavy if "engine" not in inspect.signature(one).parameters] == []


def on(engine: object, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Call a function on an engine and return its result."""
    with using(engine):
        return function(*arguments, **named)


def test_analyses_and_laboratory_in_processes(folder: Path, serial: Scores) -> None:
    files = folder / "qrels.txt", folder / "runs"

    def all_of_it(engine: object) -> list[str]:
        results = [
            rs.pools(rs.evaluate(*files, "AP RBP", engine=engine), ratios=[50], repeats=2),
            rs.leave_out(rs.evaluate(*files, "AP", engine=engine), pool_depth=5),
            on(engine, rs.power, serial, ["bootstrap", "tukey"], replicates=300),
            rs.orderings(rs.evaluate(*files, "AP", engine=engine)),
            rs.lab.properties("AP ACT", depth=4, engine=engine),
            rs.lab.scales("AP", length=4, engine=engine),
        ]
        return [render(list(result.tables.values()), "csv") for result in results]

    with ProcessPoolExecutor(1, get_context("spawn")) as processes:
        assert all_of_it(processes) == all_of_it(None)


def test_numbers_of_jobs() -> None:
    assert count_workers(3) == 3
    assert count_workers(0) == count_workers(None) >= 1
    with pytest.raises(rs.errors.SettingsError):
        count_workers(-1)


def test_the_first_piece_in_order_gives_the_error() -> None:
    """A message must not depend on which thread fails first."""
    second_failed = Event()

    def work(piece: int) -> int:
        if piece == 1:
            second_failed.set()
            raise KeyError(piece)
        if piece == 0:
            second_failed.wait(10)
            raise ValueError(piece)
        return piece

    for _ in range(20):
        second_failed.clear()
        with pytest.raises(ValueError, match="0"):
            run_pieces(work, range(50), jobs=3)


def test_no_piece_is_begun_after_an_error() -> None:
    begun = []

    def work(piece: int) -> None:
        begun.append(piece)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        run_pieces(work, range(10_000), jobs=2)
    assert len(begun) < 10_000


def test_an_interrupt_ends_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        def put(self, *_: object) -> None:
            pass

        def get(self) -> None:
            raise KeyboardInterrupt

    before = active_count()
    monkeypatch.setattr("rankscope.engines.threads.SimpleQueue", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_pieces(abs, range(10_000), jobs=4)
    assert active_count() == before


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_a_stream_keeps_the_order(jobs: int) -> None:
    assert list(stream_pieces(lambda number: number * number, range(50), jobs=jobs)) == [
        n * n for n in range(50)
    ]
    assert list(stream_pieces(abs, [], jobs=jobs)) == []


def test_a_stream_works_only_a_few_pieces_ahead_and_stops_with_its_listener() -> None:
    before = active_count()
    begun: list[int] = []
    stream = stream_pieces(begun.append, range(1000), jobs=2)
    next(stream)
    stream.close()
    assert len(begun) <= 2 * 2 + 1
    assert active_count() == before


def test_a_stream_hands_on_the_error_of_its_piece() -> None:
    stream = stream_pieces(lambda piece: 1 / (piece - 3), range(100), jobs=2)
    assert [next(stream) for _ in range(3)] == [-1 / 3, -1 / 2, -1]
    with pytest.raises(ZeroDivisionError):
        next(stream)


def test_only_the_engines_start_workers() -> None:
    """Allow one more thread, which serves the explorer and computes nothing."""
    root = Path(rs.__file__).parent
    words = (
        "Thread(",
        "ThreadPool",
        "ProcessPool",
        "import multiprocessing",
        "from multiprocessing",
        "Process(",
    )
    modules = [
        str(path.relative_to(root))
        for path in sorted(root.rglob("*.py"))
        if any(word in path.read_text("utf-8") for word in words)
    ]
    assert [name for name in modules if not name.startswith("engines")] == ["explorer/server.py"]


def dies_once(piece: tuple[int, str]) -> int:
    """Kills its own process the first time it sees the piece 3."""
    number, mark = piece
    if number == 3 and not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def always_dies(piece: int) -> int:
    if piece == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return piece


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system kills otherwise")
def test_a_killed_process_is_replaced(tmp_path: Path) -> None:
    pieces = [(number, str(tmp_path / "died")) for number in range(8)]
    assert run_pieces(dies_once, pieces, jobs=2, processes=True) == [n * n for n in range(8)]
    assert (tmp_path / "died").exists()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system kills otherwise")
def test_repeatedly_killed_workers_raise_in_one_line() -> None:
    with pytest.raises(
        rs.errors.WorkerError, match="a worker process was killed, 3 times; there may be too little"
    ):
        run_pieces(always_dies, list(range(8)), jobs=2, processes=True)


UNGUARDED = """
import multiprocessing, os
multiprocessing.set_start_method({method!r})
os.environ["RANKSCOPE_SCANNER"] = "python"
import rankscope as rs
print("once")
scores = rs.evaluate({qrels!r}, {runs!r}, "AP", jobs=2)
print(scores.mean("AP").tolist())
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
@pytest.mark.parametrize("guarded", [True, False], ids=["guarded", "unguarded"])
def test_scripts_without_a_main_guard_work(
    method: str, guarded: bool, folder: Path, serial: Scores, tmp_path: Path
) -> None:
    text = UNGUARDED.format(method=method, qrels=str(folder / "qrels.txt"), runs=str(folder / "runs"))
    if guarded:
        text = "if __name__ == '__main__':" + text.replace("\n", "\n    ")
    (tmp_path / "script.py").write_text(text)
    ran = subprocess.run(
        [sys.executable, tmp_path / "script.py"], capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == f"once\n{serial.mean('AP').tolist()}\n"
    assert ("threads are used instead" in ran.stderr) == (not guarded)


@pytest.mark.parametrize(
    ("script", "may"),
    [
        (None, True),  # a prompt, or a notebook
        ("print(1)\n", False),
        ("if __name__ == '__main__':\n    print(1)\n", True),
        ("if 1:\n    print(__name__)\n", False),
        ("no Python at all", True),  # whatever it is, it is not run again as a script
    ],
)
def test_when_processes_may_be_started(
    script: str | None, may: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rankscope.engines import processes

    main = ModuleType("__main__")
    if script is not None:
        (tmp_path / "script.py").write_text(script)
        main.__file__ = str(tmp_path / "script.py")
    monkeypatch.setitem(sys.modules, "__main__", main)
    monkeypatch.setattr(processes.multiprocessing, "get_start_method", lambda: "spawn")
    assert processes.can_start() is may
    if not may:
        with pytest.warns(UserWarning, match="threads are used instead"):
            assert run_pieces(abs, [-1, 2], jobs=2, processes=True) == [1, 2]
    monkeypatch.setattr(processes.multiprocessing, "get_start_method", lambda: "fork")
    assert processes.can_start()


def sleeps(_: int) -> None:
    time.sleep(600)


def test_an_interrupt_kills_the_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    from rankscope.engines import processes

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(processes, "_wait", interrupt)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_pieces(sleeps, [1, 2], jobs=2, processes=True)
    assert time.monotonic() - start < 300


def sends_much(piece: int) -> bytes:
    """Return a result that takes a while to send, so that its process is killed in the middle of it."""
    print("sending", flush=True)
    return bytes(10**8)


SENDING = """
import sys
sys.path.insert(0, {folder!r})
from test_engines import sends_much
from rankscope.engines import run_pieces
run_pieces(sends_much, list(range(1000)), jobs=2, processes=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are sent here as POSIX has them")
def test_an_interrupt_ends_processes_that_send_results() -> None:
    code = SENDING.format(folder=str(Path(__file__).parent))
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        try:
            for _ in range(5):
                assert program.stdout.readline() == b"sending\n"
            program.send_signal(signal.SIGINT)
            assert program.wait(timeout=300) != 0
            assert b"KeyboardInterrupt" in program.stderr.read()
        finally:
            program.kill()


def dies_while_sending(mark: str) -> bytes:
    """Kill its own process while it sends a result, the first time."""
    if not Path(mark).exists():
        Path(mark).touch()
        Timer(0.1, os.kill, (os.getpid(), signal.SIGKILL)).start()
        return bytes(10**9)
    return b"complete"


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system kills otherwise")
def test_a_process_that_is_killed_while_it_sends_a_result_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rankscope.engines import processes

    monkeypatch.setattr(processes, "_SECONDS_BETWEEN_CHECKS", 0.5)
    marks = [str(tmp_path / "a"), str(tmp_path / "b")]
    (tmp_path / "b").touch()
    assert run_pieces(dies_while_sending, marks, jobs=2, processes=True) == [b"complete"] * 2


def test_pending_pieces_are_cancelled_after_an_error() -> None:
    begun = Event()

    def work(piece: int) -> None:
        begun.wait(10)
        raise ValueError(piece)

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(begun.wait, 10)
        with pytest.raises(ValueError, match="0"):
            begun.set()
            with using(pool):
                run_pieces(work, range(100))
        assert first.result()
