"""Memory is bounded: pipes are spooled, blank text takes none, and one ranking does not need the others."""

from __future__ import annotations

import gzip
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from peaks import measure_peak

import rankscope as rs
from rankscope.read import source as sources
from rankscope.read.source import Source

STATUS = Path("/proc/self/status")
pytestmark = pytest.mark.skipif(not STATUS.exists(), reason="memory is measured as Linux tells it")


@pytest.fixture(scope="module")
def bomb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("packed") / "bomb.gz"
    path.write_bytes(gzip.compress(b"\n" * 150_000_000))
    return path


@pytest.mark.parametrize("which", ["judgments", "run"])
def test_a_gzip_of_newlines_takes_no_memory(which: str, bomb: Path, tmp_path: Path) -> None:
    """1.5 MB of them took 20 GB; these are 150 MB of text, which must not be held in memory."""
    (tmp_path / "qrels").write_text("1 0 d 1\n")
    (tmp_path / "run").write_text("1 Q0 d 1 1 t\n")
    files = (str(bomb), "run") if which == "judgments" else ("qrels", str(bomb))
    code, error, peak = measure_peak("eval", *files, "-m", "AP", cwd=tmp_path)
    assert code == 2
    assert "there is no line with data" in error
    assert peak < 150_000


@pytest.mark.parametrize("scanner", ["native", "python"])
@pytest.mark.parametrize(("begun", "said"), [(b"x" * 9000, ":1: the line"), (b"", ": this is a binary file")])
@pytest.mark.parametrize("words", ["eval q r -m AP", "eval r q -m AP", "eval q r -m AP --stream -o out.csv"])
def test_a_run_without_newlines_takes_no_memory(
    words: str, begun: bytes, said: str, scanner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sparse file of 3 GB took 6.4 GB and no end of time: where to cut it was looked for in one line."""
    monkeypatch.setenv("RANKSCOPE_SCANNER", scanner)
    (tmp_path / "q").write_text("1 0 d 1\n")
    (tmp_path / "r").write_bytes(begun)
    os.truncate(tmp_path / "r", 3 << 30)
    code, error, peak = measure_peak(*words.split(), cwd=tmp_path)
    assert code == 2
    assert f"r{said}" in error
    assert peak < 100_000


def test_a_long_pipe_goes_into_a_file_that_does_not_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "qrels").write_text("1 0 d5 1\n")
    lines = "".join(f"1 Q0 d{i} 1 {-i} {'t' * 100}\n" for i in range(400_000)).encode()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "spool"))
    (tmp_path / "spool").mkdir()
    code, error, peak = measure_peak("eval", "qrels", "-", "-m", "AP", stdin=lines, cwd=tmp_path)
    notes = [line for line in error.splitlines() if line.startswith("rankscope: ")]
    assert code == 0 and all("unjudged" in note for note in notes), error
    assert peak < 150_000  # there are 48 MB of text
    assert list((tmp_path / "spool").iterdir()) == []


def test_a_spooled_stream_can_be_read_again_and_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_MAX_BUFFER", 10)
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    writer = subprocess.Popen(["sh", "-c", f"printf '1 Q0 d 1 1 t\\n1 Q0 e 2 x t\\n' > {fifo}"])
    spooled = Source.open(fifo).path
    writer.wait()
    assert isinstance(spooled, Path)
    assert [b"".join(Source.open(spooled).blocks()) for _ in range(2)] == [
        b"1 Q0 d 1 1 t\n1 Q0 e 2 x t\n"
    ] * 2
    run = rs.Run("r", source=spooled, label=str(fifo))
    assert run.path is None
    with pytest.raises(rs.errors.InputError, match=rf"^{fifo}:2: score"):
        rs.evaluate({"1": {"d": 1}}, run, "AP")


def test_one_list_needs_no_other(tmp_path: Path) -> None:
    """A curve of one topic held every list of the run: 2.6 GB for 10^7 lines."""
    (tmp_path / "qrels").write_text("3 0 d5 1\n")
    with (tmp_path / "run").open("w") as file:
        for topic in range(3000):
            file.writelines(f"{topic} Q0 d{i} {i} {-i} t\n" for i in range(300))
    code, error, peak = measure_peak("curve", "qrels", "run", "--topic", "3", cwd=tmp_path)
    assert code == 0, error
    assert peak < 150_000  # 900,000 lines are over 100 MB as lists
    run = rs.read_run(tmp_path / "run")
    assert (
        run.ranking("3") == [f"d{i}" for i in range(300)] == [d.decode() for d in run.lists()["3"].documents]
    )
    assert run.ranking("absent") == []


def test_pairs_of_many_runs_are_not_all_in_memory(tmp_path: Path) -> None:
    """Pairs were tuples of thirteen values, joined to one text: 200 MB here, 6.5 GB for 5,000 runs."""
    numbers = np.random.default_rng(1).random((12, 700)).round(3)
    lines = [f"{topic}," + ",".join(map(str, row)) for topic, row in enumerate(numbers.tolist())]
    (tmp_path / "ap.csv").write_text("\n".join(["topic," + ",".join(f"r{i}" for i in range(700)), *lines]))
    words = ("compare", "--scores", "AP=ap.csv", "-f", "csv", "-o", "out.csv")
    code, _, small = measure_peak(*words, "--baseline", "r0", cwd=tmp_path)
    assert code == 0
    code, _, large = measure_peak(*words, cwd=tmp_path)
    assert code == 0
    assert (tmp_path / "out.csv").read_bytes().count(b"\n") == 1 + 700 * 699 // 2
    assert large - small < 80_000


@pytest.mark.needs("native")
@pytest.mark.slow
def test_a_topic_takes_few_bytes(tmp_path: Path) -> None:
    """Neither its name nor its judgments become objects, and no array of all topics is copied without need."""
    peaks = []
    for n_topics in (100_000, 400_000):
        lines = [
            (b"%d 1 a 1\n%d 2 b 0\n" % (t, t), b"%d Q0 b 1 2 r\n%d Q0 a 2 1 r\n" % (t, t))
            for t in range(n_topics)
        ]
        for name, part in (("qrels", 0), ("run", 1)):
            (tmp_path / name).write_bytes(b"".join(line[part] for line in lines))
        code, _, peak = measure_peak("eval", "qrels", "run", "-m", "AP", "--quiet", cwd=tmp_path)
        assert code == 0
        peaks.append(peak)
    assert (peaks[1] - peaks[0]) * 1024 < 300 * 300_000  # 1,000 bytes as objects
