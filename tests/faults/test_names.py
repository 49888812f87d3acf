"""Names are untrusted: escape sequences are not printed to a terminal, and runs are neither lost nor confused."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest

from rankscope.cli.main import main
from rankscope.errors import InputError
from rankscope.read import read_runs
from rankscope.read.run_names import run_files

EVIL = "evil\x1b[31m\x9b2J\x07\u202e\x7f"
QRELS = f"q1 0 d1 1\nq1 0 d{EVIL} 2\nq{EVIL} 0 d1 1\n"
RUN = f"q1 Q0 d{EVIL} 1 2 t{EVIL}\nq1 Q0 d1 2 1 t\nq{EVIL} Q0 d1 1 1 t\n"


@pytest.fixture
def evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory where every name is hostile."""
    folder = tmp_path / f"in{EVIL}"
    folder.mkdir()
    (folder / "qrels.txt").write_text(QRELS)
    for r in range(3):
        (folder / f"r{r}{EVIL}.run").write_text(RUN)
    monkeypatch.chdir(tmp_path)
    return folder


COMMANDS = [
    *[f"eval {{q}} {{r}} -q -f {format}" for format in ("table", "tsv", "csv", "json", "markdown", "latex")],
    "eval {q} {r}",
    "compare {q} {r} -m AP",
    "gate {q} {r} --baseline {r0} -m AP --margin 9",
    "curve {q} {r0} --topic q1",
    "curve {q} {r0} --topic q1 -f csv",
    "curve {q} {r0} --topic absent",
    "effort {q} {r} -q",
    "correlate {q} {r} -m AP -m RR",
    "orderings {q} {r}",
    "bounds {q} {r}",
    "trec_eval -q {q} {r0}",
    "ndeval {q} {r0}",
    "study {q} {r} -m AP -m RR --repeats 1 --replicates 10 -o {r}/study",
    "report {q} {r} -o {r}/page.html",
    "report {q} {r} -o -",
    "simulate {r}/made --systems 2 --topics 2 --depth 5",
    "demo {r}/demo",
    "eval {q} {r}/absent.run",
    "eval {q} {r} -m nope\x1b[31m",
    "measures nope\x1b[31m",
    "nope\x1b[31m",
]


def on_a_terminal(words: list[str]) -> tuple[object, bytes]:
    """Run a command on a terminal; return its exit code and what the terminal shows."""
    import pty

    master, slave = pty.openpty()
    shown: list[bytes] = []

    def read() -> None:
        with contextlib.suppress(OSError):  # how Linux says that the other side is closed
            while block := os.read(master, 1 << 16):
                shown.append(block)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        with (
            os.fdopen(slave, "w", encoding="utf-8") as terminal,
            contextlib.redirect_stdout(terminal),
            contextlib.redirect_stderr(terminal),
        ):
            code: object = main(words)
    except SystemExit as ended:
        code = ended.code
    finally:
        reader.join()
        os.close(master)
    return code, b"".join(shown)


@pytest.mark.skipif(os.name != "posix", reason="there are no terminals of POSIX here")
@pytest.mark.parametrize("words", COMMANDS)
def test_no_escape_sequence_reaches_a_terminal(evil: Path, words: str) -> None:
    names = {"q": str(evil / "qrels.txt"), "r": str(evil), "r0": str(evil / f"r0{EVIL}.run")}
    arguments = [word.format(**names) for word in words.split(" ")]
    if (
        "{r}" in words and "simulate" not in words and "demo" not in words
    ):  # only the runs, without the judgments in the same folder
        arguments = [f"{evil}/r*.run" if word == str(evil) else word for word in arguments]
    if not words.startswith(("trec", "simulate")):
        arguments.append("--quiet")
    code, shown = on_a_terminal(arguments)
    assert code in (0, 2), shown
    assert shown
    text = shown.decode()
    for sequence in (
        "\x1b[0m",
        "\x1b[1m",
        "\x1b[2m",
        "\x1b[32m",
    ):  # weight and colour of tables; red is also in EVIL
        text = text.replace(sequence, "")
    assert not set(text) & {"\x1b", "\x9b", "\x07", "\u202e", "\x7f"}, repr(text[:300])
    assert b"Traceback" not in shown


def test_files_and_pipes_get_the_bytes_as_they_are(evil: Path, capfdbinary) -> None:
    assert main(["eval", str(evil / "qrels.txt"), f"{evil}/r0*", "-q", "-f", "tsv"]) == 0
    assert f"q{EVIL}\t".encode() in capfdbinary.readouterr().out


def write_files(folder: Path, *names: str) -> list[Path]:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("q1 Q0 d1 1 1 t\n")
    return [folder / name for name in names]


@pytest.mark.parametrize(
    "names, expected",
    [
        (["a/x/r.run", "b/x/r.run"], ["a/x/r", "b/x/r"]),
        (["a/x/r.run", "b/x/r.run", "b/y/r.run"], ["a/x/r", "b/x/r", "b/y/r"]),
        (["r.run", "x/r.run", "s.run"], None),
        (["r.run", "r.txt"], ["r.run", "r.txt"]),
        (["x/r.run", "x/r.gz", "y/r.run"], ["x/r.run", "x/r.gz", "y/r.run"]),
        (["x/r.run", "y/s.run"], ["r", "s"]),
    ],
)
def test_runs_have_distinct_names(tmp_path: Path, names: list[str], expected: list[str] | None) -> None:
    run_names = list(read_runs(*write_files(tmp_path, *names)))
    assert len(set(run_names)) == len(names)
    assert expected is None or run_names == expected


def test_names_do_not_depend_on_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, "a/x/r.run", "b/x/r.run")
    monkeypatch.chdir(tmp_path / "a/x")
    assert list(read_runs("r.run", "../../b/x/r.run")) == ["a/x/r", "b/x/r"]


def test_a_file_that_is_named_twice_is_called_by_its_name(tmp_path: Path, monkeypatch, capsys) -> None:
    write_files(tmp_path, "x/r.run")
    (tmp_path / "q").write_text("q1 0 d1 1\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"^x/r.run: the run is named twice; name it once$"):
        read_runs("x/r.run", "x/r.run")
    with pytest.raises(InputError, match=r"r.run: the run is named twice"):
        read_runs("x", "x/../x/r.run")
    assert main(["eval", "q", "x/r.run", "x/r.run"]) == 2
    assert capsys.readouterr().err == "rankscope: x/r.run: the run is named twice; name it once\n"


def test_many_names_take_no_time() -> None:
    import time

    from rankscope.read.run_names import unique_run_names

    def seconds(count: int) -> float:
        paths = [Path(f"d{i % 7}/x{i}/r{i // 2}.run") for i in range(count)]
        start = time.process_time()
        assert len(set(unique_run_names(paths))) == count
        return time.process_time() - start

    assert seconds(20_000) < 40 * max(0.01, seconds(1000))  # if every name were compared with all, 400 times


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_skipped_entries_of_a_directory_are_named(tmp_path: Path, capsys) -> None:
    write_files(tmp_path, "runs/r.run", "runs/.hidden", "runs/sub/s.run")
    (tmp_path / "runs" / "dangling").symlink_to("nowhere")
    os.mkfifo(tmp_path / "runs" / "pipe")
    (tmp_path / "q").write_text("q1 0 d1 1\n")
    message = r"skipped entries that are not files: dangling \(a broken link\), pipe \(a pipe\), sub \(a directory\)"
    with pytest.warns(UserWarning, match=message):
        assert list(read_runs(tmp_path / "runs")) == ["r"]
    with pytest.warns(UserWarning, match=message):
        assert list(read_runs(f"{tmp_path}/runs/*")) == ["r"]
    assert len(run_files(tmp_path / "runs")[1]) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert main(["eval", str(tmp_path / "q"), str(tmp_path / "runs"), "-f", "json"]) == 0
    error = capsys.readouterr().err
    assert error.count("skipped entries that are not files: dangling (a broken link), pipe (a pipe)") == 1
    (tmp_path / "runs" / "r.run").unlink()
    with pytest.raises(InputError, match="there is no file in this directory"):
        read_runs(tmp_path / "runs")


def test_a_run_without_the_topic_is_an_error(tmp_path: Path, capsys) -> None:
    (tmp_path / "q").write_text("q1 0 d1 1\nq2 0 d1 1\n")
    (run,) = write_files(tmp_path, "r.run")
    assert (
        main(["curve", str(tmp_path / "q"), str(run), "--topic", "q2", "-o", str(tmp_path / "o.json")]) == 2
    )
    assert "r.run: the run has no documents for topic 'q2'" in capsys.readouterr().err
    assert not (tmp_path / "o.json").exists()


@pytest.mark.parametrize("module", ["rankscope", "rankscope.cli.main", "rankscope.lab", "rankscope.plots"])
def test_importing_causes_no_warning(module: str) -> None:
    program = [sys.executable, "-W", "error", "-X", "dev", "-c", f"import {module}"]
    assert subprocess.run(program, capture_output=True, check=False).stderr == b""


def test_warnings_are_lines_even_where_they_would_be_errors(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("q1 0 d1 1\nq1 0 d1 1\nq1 0 d2 0\n")
    (run,) = write_files(tmp_path, "r.run")
    ended = subprocess.run(
        [
            sys.executable,
            "-W",
            "error",
            "-X",
            "dev",
            "-m",
            "rankscope",
            "eval",
            str(tmp_path / "q"),
            str(run),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0
    assert ended.stderr == f"rankscope: warning: {tmp_path}/q: 1 judgment is repeated with the same grade\n"
