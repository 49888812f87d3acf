"""Files that are read while the program loads: the same bytes, the same messages, and no time after Ctrl-C."""

from __future__ import annotations

import gzip
import io
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rankscope.cli.main import main
from rankscope.native import readahead

pytestmark = pytest.mark.needs("native")

TOPICS = range(301, 309)
Run = Callable[..., tuple[int, str, str]]


def run_text(seed: int, lines: int = 60, scores: int = 25) -> str:
    """A run with ties, and topics and documents that have no judgments."""
    chance = random.Random(seed)
    rows = []
    for topic in (*TOPICS, 999):
        documents = chance.sample(range(200), lines)
        rows += [
            f"{topic} Q0 d{document} {rank} {chance.randrange(scores) / 8} run{seed}\n"
            for rank, document in enumerate(documents)
        ]
    return "".join(rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Judgments and five runs: one whose topics return, one that is packed."""
    return write_collection(tmp_path)


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the same collection, shared by tests that do not modify it."""
    return write_collection(tmp_path_factory.mktemp("still"))


def write_collection(tmp_path: Path) -> Path:
    chance = random.Random(7)
    judged = [
        f"{t} 0 d{d} {chance.randrange(-1, 3)}\n" for t in TOPICS for d in chance.sample(range(200), 40)
    ]
    (tmp_path / "qrels.txt").write_text("".join(judged))
    (tmp_path / "runs").mkdir()
    for seed in range(3):
        (tmp_path / "runs" / f"r{seed}.run").write_text(run_text(seed))
    (tmp_path / "runs" / "returning.run").write_text(run_text(8) + "301 Q0 another 1 0.5 run8\n")
    (tmp_path / "runs" / "packed.gz").write_bytes(gzip.compress(run_text(9).encode()))
    return tmp_path


@pytest.fixture(params=["everything", "one", "nothing"])
def read_before(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Control how much is read ahead; return the numbers of requested and of finished files."""
    begin, scan_of = readahead.ReadAhead.start, readahead.ReadAhead.find_scan
    counts = [0, 0]

    def all_at_once(self: Any) -> None:
        begin(self)
        self._threads.wait()

    def nothing(self: Any) -> None:
        pass

    def all_but_one(self: Any) -> None:
        for number in range(1, len(self._stamps)):
            self._library.rs_ahead_claim(self._handle, number)
        all_at_once(self)

    def counted(self: Any, number: int) -> int | None:
        scan = scan_of(self, number)
        counts[0] += 1
        counts[1] += scan is not None
        return scan

    monkeypatch.setattr(readahead, "count_workers", lambda: 4)
    start = {"everything": all_at_once, "one": all_but_one, "nothing": nothing}[request.param]
    monkeypatch.setattr(readahead.ReadAhead, "start", start)
    monkeypatch.setattr(readahead.ReadAhead, "find_scan", counted)
    return counts


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command and returns its exit code and output."""

    def call(*words: str) -> tuple[int, str, str]:
        code = main(["eval", *words])
        return (code, *capsys.readouterr())

    return call


@pytest.fixture
def without(run: Run) -> Run:
    """Return the same function with reading ahead disabled."""

    def call(*words: str) -> tuple[int, str, str]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(readahead, "_prepare", lambda *_: None)
            return run(*words)

    return call


OPTIONS = [
    "-q -f csv",
    "-q -f tsv -j 1",
    "-q -f json -j 2",
    "-m AP,Bpref,nDCG@10 -f latex",
    *(
        f"-q -f csv --order {order} -j {jobs}"
        for order in ("trec_eval9", "ascending_id", "rank", "file")
        for jobs in (1, 2)
    ),
    "-q -f csv --ties expected",
    pytest.param("-q -f csv --ties worst --unjudged bounds", marks=pytest.mark.slow),
    "-q -f csv --unjudged condense",
    "-q -f csv --unjudged bounds",
    "-q -f csv -l 2 --missing skip --sort RR",
    "-q -f csv --grades -1,0=0;1,2=1",
    "-q -f csv --topics 301-304",
    "-q -f csv -m alpha_nDCG@10,AP",
]


@pytest.fixture(scope="module")
def outputs() -> dict[str, tuple[int, str, str]]:
    """Outputs of commands without reading ahead, by their options."""
    return {}


@pytest.mark.parametrize("options", OPTIONS)
def test_the_same_bytes_with_reading_ahead_and_without(
    options: str, still: Path, read_before: list[int], run: Run, without: Run, outputs: dict[str, Any]
) -> None:
    words = [str(still / "qrels.txt"), str(still / "runs"), *options.split()]
    if options not in outputs:
        outputs[options] = without(*words)
        assert outputs[options][0] == 0
    assert run(*words) == outputs[options]


@pytest.mark.parametrize("several", [False, True])
def test_files_read_ahead_are_used(
    several: bool, folder: Path, read_before: list[int], run: Run, request: pytest.FixtureRequest
) -> None:
    if several:  # a second column that may matter is left to Python, and the runs are scanned all the same
        judged = (folder / "qrels.txt").read_text().replace(" 0 d1", " 1 d1")
        (folder / "qrels.txt").write_text(judged)
    assert run(str(folder / "qrels.txt"), str(folder / "runs"))[0] == 0
    way = request.node.callspec.params["read_before"]
    assert read_before[1] == {"everything": 3, "one": 0, "nothing": 0}[way]  # the packed one comes first
    assert read_before[0] >= 5


def test_a_large_file_is_read_in_pieces(
    folder: Path, read_before: list[int], run: Run, without: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readahead, "_PIECE", 2000)
    words = [str(folder / "qrels.txt"), str(folder / "runs" / "r0.run"), "-q", "-f", "csv"]
    for jobs in ("1", "2"):
        assert run(*words, "-j", jobs) == without(*words, "-j", jobs)
    assert read_before[0] > 8


@pytest.mark.parametrize("pieces", [1 << 20, 1000])
@pytest.mark.parametrize(
    "wrong",
    [
        "301 Q0 d1 1\n",
        "301 Q0 d7 1 x t\n",
        "301 Q0 d7 1 nan t\n",
        "301 Q0 d\0 1 1 t\n",
        "# a\r301 Q0 d7 1 1 t\n",
    ],
)
def test_a_wrong_line_is_named_as_ever(
    wrong: str,
    pieces: int,
    folder: Path,
    read_before: list[int],
    run: Run,
    without: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(readahead, "_PIECE", pieces)
    path = folder / "runs" / "r1.run"
    path.write_text(path.read_text() + wrong + path.read_text().replace("Q0 d", "Q0 e"))
    words = [str(folder / "qrels.txt"), str(path)]
    outcome = run(*words)
    assert outcome == without(*words)
    assert outcome[0] == 2 and "r1.run:541:" in outcome[2]


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "\ufeff301 Q0 d1 1 2 t\n", "999 Q0 d1 1 1 t\n", "{}\n", "a b c d e f\n"]
)
def test_unusual_files_give_the_same_result_with_reading_ahead(
    text: str, folder: Path, read_before: list[int], run: Run, without: Run
) -> None:
    path = folder / "odd.run"
    path.write_text(text)
    words = [str(folder / "qrels.txt"), str(path), "-q"]
    assert run(*words) == without(*words)
    (folder / "odd.txt").write_text(text)
    words = [str(folder / "odd.txt"), str(folder / "runs" / "r0.run"), "-q"]
    assert run(*words) == without(*words)


def test_a_file_that_is_not_there_is_missed_as_ever(folder: Path, run: Run, without: Run) -> None:
    for words in (
        [str(folder / "qrels.txt"), str(folder / "none.run")],
        [str(folder / "none"), str(folder / "runs")],
    ):
        assert run(*words) == without(*words)
        assert run(*words)[0] == 2


def test_standard_input_is_read_once(
    folder: Path, read_before: list[int], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, path = folder / "qrels.txt", folder / "runs" / "r0.run"
    expected = run(str(qrels), str(path), "-q", "-f", "csv")[1].replace("r0,", "stdin,")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert run(str(qrels), "-", "-q", "-f", "csv")[1] == expected


def changing(path: Path, patch: pytest.MonkeyPatch, change: Callable[[], Any]) -> None:
    """Let a file change after it was read ahead, and before anybody asks for it."""
    wait = readahead.ReadAhead.start

    def then(self: Any) -> None:
        wait(self)
        change()

    patch.setattr(readahead.ReadAhead, "start", then)


@pytest.mark.parametrize("same_size", [True, False])
def test_a_run_that_changes_after_it_was_read_ahead_is_read_again(
    same_size: bool,
    folder: Path,
    read_before: list[int],
    run: Run,
    without: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = folder / "runs" / "r0.run"
    text = path.read_text()
    other = text.replace("Q0 d1", "Q0 d9") if same_size else run_text(5)
    changing(path, monkeypatch, lambda: (path.write_text(other), os.utime(path, ns=(1, 1))))
    words = [str(folder / "qrels.txt"), str(path), "-q", "-f", "csv"]
    outcome = run(*words)
    assert path.read_text() == other
    assert outcome == without(*words)


def test_judgments_that_change_after_they_were_read_ahead_are_read_again(
    folder: Path, read_before: list[int], run: Run, without: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "qrels.txt"
    other = path.read_text().replace(" 1\n", " 0\n")
    changing(path, monkeypatch, lambda: (path.write_text(other), os.utime(path, ns=(1, 1))))
    words = [str(path), str(folder / "runs"), "-q", "-f", "csv"]
    assert run(*words) == without(*words)


@pytest.mark.parametrize("options", ["--engine local", "--topics 301", "--stream -o {folder}/x.csv"])
def test_options_that_change_reading_disable_reading_ahead(
    options: str, folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Any] = []
    monkeypatch.setattr(readahead, "_prepare", lambda *given: begun.append(given))
    assert (
        run(str(folder / "qrels.txt"), str(folder / "runs"), *options.format(folder=folder).split())[0] == 0
    )
    assert not begun


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record the number of threads of each reader."""
    begin = readahead.ReadAhead.start
    counts: list[int] = []

    def counted(self: Any) -> None:
        counts.append(len(self._threads.threads))
        begin(self)

    monkeypatch.setattr(readahead, "count_workers", lambda: 4)
    monkeypatch.setattr(readahead, "_BYTES_PER_THREAD", 100)
    monkeypatch.setattr(readahead.ReadAhead, "start", counted)
    return counts


def test_jobs_bound_the_threads(folder: Path, threads: list[int], run: Run) -> None:
    words = [str(folder / "qrels.txt"), str(folder / "runs")]
    results = [run(*words, "-j", jobs) for jobs in ("1", "2", "9")]
    assert threads == [1, 2, 3]
    assert results[0] == results[1] == results[2]


def test_the_scanner_in_python_reads_nothing_ahead(
    folder: Path, threads: list[int], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKSCOPE_SCANNER", "python")
    assert run(str(folder / "qrels.txt"), str(folder / "runs"), "-j", "1")[0] == 0
    assert threads == []


def test_scans_that_were_begun_end_with_the_command(folder: Path) -> None:
    with readahead.read_ahead(
        str(folder / "qrels.txt"), [str(folder / "runs")], order=0, ties=False, jobs=1
    ) as ahead:
        pass
    assert ahead is None or (ahead._handle is None and not any(t.is_alive() for t in ahead._threads.threads))


@pytest.fixture
def huge(tmp_path: Path) -> Iterator[Path]:
    """A run of half a gigabyte."""
    path = tmp_path / "huge.run"
    block = "".join(f"301 Q0 d{number} 1 {number} t\n" for number in range(20_000))
    with path.open("w") as file:
        for topic in range(1000, 2000):
            file.write(block.replace("301 Q0", f"{topic} Q0"))
    yield path
    path.unlink()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupt_ends_reading_ahead_soon(folder: Path, huge: Path) -> None:
    """CPU seconds after the interrupt: 0.03, and 0.32 if the threads read on, on any load of the machine."""
    import resource

    waiting = (
        "import sys, time\n"
        "from rankscope.native import readahead\n"
        "begin = readahead.ReadAhead.start\n"
        "def then(self):\n"
        "    begin(self)\n"
        "    print('begun', flush=True)\n"
        "    time.sleep(600)\n"
        "readahead.ReadAhead.start, readahead.count_workers = then, lambda: 2\n"
        "from rankscope.cli.main import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    words = ["eval", str(folder / "qrels.txt"), str(huge), "-j", "1"]
    process = subprocess.Popen(
        [sys.executable, "-c", waiting, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process.send_signal(signal.SIGINT)
    used = cpu_seconds(process.pid)
    _, errors = process.communicate(timeout=300)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert process.returncode == 130 and errors == "\nrankscope: interrupted\n"
    if used is not None:
        assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime - used < 0.15


def cpu_seconds(process: int) -> float | None:
    """Return the CPU seconds of a running process, or None on systems without /proc."""
    status = Path(f"/proc/{process}/stat")
    if not status.exists():
        return None
    fields = status.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_reading_begins_before_numpy_is_loaded(folder: Path) -> None:
    """Reading starts early even if the output file exists and is checked first."""
    words = ["eval", str(folder / "qrels.txt"), str(folder / "runs"), "-q", "-o", str(folder / "values.csv")]
    (folder / "values.csv").write_text("of yesterday\n")
    probe = f"""
import sys
from rankscope.cli.main import main
from rankscope.native import readahead
from rankscope.native import readahead
begin = readahead.ReadAhead.start
def watched(self):
    print("numpy" in sys.modules, len(self._stamps))
    begin(self)
readahead.ReadAhead.start = watched
sys.exit(main({words!r}))"""
    process = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True)
    assert (process.returncode, process.stdout.strip()) == (0, "False 5"), process.stderr


def test_a_byte_order_mark_in_judgments_is_no_part_of_a_topic(
    folder: Path, read_before: list[int], run: Run, without: Run
) -> None:
    """With two cores, the mark was once parsed as part of the first topic, which had no documents."""
    plain = [
        run(str(folder / "qrels.txt"), str(folder / "runs" / "r0.run"), "-q", "-f", form)
        for form in ("csv", "latex")
    ]
    (folder / "qrels.txt").write_bytes(b"\xef\xbb\xbf" + (folder / "qrels.txt").read_bytes())
    for form, expected in zip(("csv", "latex"), plain, strict=True):
        words = (str(folder / "qrels.txt"), str(folder / "runs" / "r0.run"), "-q", "-f", form)
        assert run(*words) == without(*words) == expected
