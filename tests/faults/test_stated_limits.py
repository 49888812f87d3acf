"""Every limit that SECURITY.md states is measured: at the limit input is accepted, beyond it rejected."""

from __future__ import annotations

import contextlib
import ctypes
import gzip
import io
import json
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from peaks import measure_peak

import rankscope as rs
from rankscope.certainty import unjudged
from rankscope.cli.main import main
from rankscope.errors import InputError, SettingsError
from rankscope.explorer import server
from rankscope.judging import judge
from rankscope.read import limits
from rankscope.read.arrow_files import read_arrow
from rankscope.read.groups import run_groups
from rankscope.read.lines import LineProblem
from rankscope.read.source import Source
from rankscope.reporting.page_data import payload
from rankscope.scan import native

ROOT = Path(__file__).parents[2]
GB = 1 << 30
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")

MEASURED_BY = {
    "bytes of a line": "test_lines",
    "content of a packed file": "test_packed_text",
    "columns of a Parquet or Arrow file beyond the first 256 MB": "test_columns",
    "content of packed JSON, JSON lines, CSV and TSV, and of packed Parquet and Arrow, beyond the first 16 MB": (
        "test_packed_objects"
    ),
    "memory of a command that rejects such a file": "test_memory_of_a_rejection",
    "bytes of a manifest, or of another JSON document that Rankscope wrote": "test_manifests",
    "documents of a list, judgments, topics": "test_documents_judgments_and_topics",
    "memory to reject a run without newlines, of any size": "test_memory_of_a_run_without_newlines",
    "labellings times orders of a list that are enumerated; beyond, a range is marked as not tight": "test_labellings",
    "seconds of a regular expression": "test_regular_expressions",
    "connections of the explorer, and idle ones among them": "test_connections",
    "seconds that a connection of the explorer may be idle": "test_idle_connections_are_closed",
}


def stated_limits() -> dict[str, str]:
    """Return the values of the table in SECURITY.md by their names, without remarks in parentheses."""
    page = (ROOT / "SECURITY.md").read_text("utf-8")
    rows = [line.split("|")[1:3] for line in page.splitlines() if line.startswith("| ")][1:]
    return {name.strip().partition(" (")[0]: value.strip() for name, value in rows}


def limit(name: str) -> list[int]:
    """Return the numbers of a row; the function that calls this must be the one that measures the row."""
    values = re.findall(r"[\d,]+", stated_limits()[name])
    return [int(value.replace(",", "")) for value in values]


def fails(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main([*words, "--quiet"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    return error


@pytest.fixture
def collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with judgments and a run, which is the working directory."""
    (tmp_path / "qrels").write_text("1 0 d1 1\n")
    (tmp_path / "run").write_text("1 Q0 d1 1 1 t\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_limit_is_measured() -> None:
    assert stated_limits().keys() == MEASURED_BY.keys()
    assert all(callable(globals()[name]) for name in MEASURED_BY.values())
    page = (ROOT / "SECURITY.md").read_text("utf-8")
    assert limits.LINE_VARIABLE in page  # test_limits.py raises these limits
    assert limits.RATIO_VARIABLE in page


@pytest.mark.parametrize("role", ["run", "qrels", "csv"])
def test_lines(role: str, collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (most,) = limit("bytes of a line")
    before, head, tail = {
        "run": (b"", b"1 Q0 ", b" 1 1 t"),
        "qrels": (b"1 0 d1 1\n", b"1 0 ", b" 1"),
        "csv": (b"qid,docno,score\n", b"1,", b",1"),
    }[role]
    for extra in (0, 1):
        line = head + b"d" * (most + extra - len(head) - len(tail)) + tail
        Path("long").write_bytes(before + line + b"\n")
        files = ("long", "run") if role == "qrels" else ("qrels", "long")
        if extra:
            assert f"{most:,} bytes" in fails(capsys, "eval", *files, "-m", "AP")
        else:
            assert main(["eval", *files, "-m", "AP", "--quiet"]) == 0
            capsys.readouterr()


@pytest.mark.slow
@pytest.mark.parametrize(
    "compress", [lambda data: gzip.compress(data, 9), zstandard.compress], ids=["gzip", "zstd"]
)
def test_packed_text(compress: Callable[[bytes], bytes]) -> None:
    """Members of 16 MB that are repeated: a gigabyte is read in seconds, and never held."""
    (ratio,) = limit("content of a packed file")
    assert "beyond its first gigabyte" in (ROOT / "SECURITY.md").read_text("utf-8")
    member = compress((b"#" + b" " * 4094 + b"\n") * 4096)
    packed = member * (GB // (1 << 24) + 1)
    assert len(packed) * ratio < GB
    content = 0
    with pytest.raises(InputError, match=f"more than {ratio} times its size"):
        for block in Source.open(packed).blocks():
            content += len(block)
    assert GB - (1 << 20) <= content <= GB


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_columns(form: str, tmp_path: Path) -> None:
    """A dictionary with an id of 1 MB that is repeated: the expanded size is counted without expanding it."""
    (ratio,) = limit("columns of a Parquet or Arrow file beyond the first 256 MB")
    for rows, is_rejected in ((255, False), (257, True)):
        index = pa.array(np.zeros(rows, np.int32))
        table = pa.table(
            {
                "qid": pa.DictionaryArray.from_arrays(index, pa.array(["1"])),
                "docno": pa.DictionaryArray.from_arrays(index, pa.array(["x" * (1 << 20)])),
                "score": np.zeros(rows),
            }
        )
        path = tmp_path / f"{rows}.{form}"
        if form == "parquet":
            pq.write_table(table, path, compression="zstd", store_schema=False)
        else:
            options = pa.ipc.IpcWriteOptions(compression="zstd")
            with (
                pa.OSFile(str(path), "wb") as file,
                pa.ipc.new_file(file, table.schema, options=options) as sink,
            ):
                sink.write_table(table)
        assert path.stat().st_size * ratio < 1 << 28
        if is_rejected:
            with pytest.raises(InputError, match=f"more than {ratio} times its size"):
                read_arrow(Source.open(path), form, "run")
        else:
            assert len(read_arrow(Source.open(path), form, "run")) == rows


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "parquet"])
def test_packed_objects(form: str, collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (ratio,) = limit(
        "content of packed JSON, JSON lines, CSV and TSV, and of packed Parquet and Arrow, beyond the first 16 MB"
    )
    for size, is_rejected in ((1 << 24, False), ((1 << 24) + 1, True)):
        content = _padded_run(form, size)
        assert len(content) == size
        Path("packed").write_bytes(gzip.compress(content))
        assert Path("packed").stat().st_size * ratio < 1 << 24
        if is_rejected:
            assert f"more than {ratio} times its size" in fails(capsys, "eval", "qrels", "packed", "-m", "AP")
        else:
            assert main(["eval", "qrels", "packed", "-m", "AP", "--quiet"]) == 0
            capsys.readouterr()


def _padded_run(form: str, size: int) -> bytes:
    """Return a small run that padding extends to a number of bytes."""
    row = {"qid": "1", "docno": "d1", "score": 1.0}
    if form == "parquet":
        shorter = _parquet(row | {"note": "x" * (size - 4096)})
        return _parquet(row | {"note": "x" * (2 * size - 4096 - len(shorter))})
    if form == "csv":  # in lines of 4 MB
        note = "x" * (1 << 22)
        text = f"qid,docno,score,note\n1,d1,1,{note}\n1,d2,1,{note}\n1,d3,1,{note}\n1,d4,1,"
        return (text + "x" * (size - len(text) - 1) + "\n").encode()
    text = json.dumps([row]) if form == "json" else json.dumps(row) + "\n"
    return (text + " " * (size - len(text))).encode()


def _parquet(row: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    table = pa.table({name: [value] for name, value in row.items()})
    pq.write_table(table, out, compression="none", write_statistics=False, use_dictionary=False)
    return out.getvalue()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is measured as Linux tells it")
def test_memory_of_a_rejection(collection: Path) -> None:
    """Measure the largest content counted before a rejection; test_binary.py covers other files and streams."""
    (gigabytes,) = limit("memory of a command that rejects such a file")
    index = pa.array(np.zeros(20_000_000, np.int32))
    same = pa.DictionaryArray.from_arrays(index, pa.array(["1"]))
    table = pa.table({"qid": same, "docno": same, "score": np.zeros(20_000_000)})
    pq.write_table(table, "bomb", compression="zstd", store_schema=False)
    code, error, peak = measure_peak("eval", "qrels", "bomb", "-m", "AP", cwd=collection)
    assert code == 2
    assert "times its size" in error
    assert peak << 10 < gigabytes * GB


@pytest.mark.slow
def test_manifests(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (most,) = limit("bytes of a manifest, or of another JSON document that Rankscope wrote")
    Path("study").mkdir()
    for extra in (0, 1):
        with Path("study/manifest.json").open("wb") as file:
            file.write(b"{}")
            for _ in range((most + extra) >> 20):
                file.write(b" " * (1 << 20))
            file.truncate(most + extra)
        error = fails(capsys, "study", "--from", "study")
        assert (f"longer than {most >> 20} MB" in error) == bool(extra), error


@pytest.mark.slow
@pytest.mark.skipif(COMPILER is None or not native.available(), reason="there is no C compiler")
def test_documents_judgments_and_topics(tmp_path: Path) -> None:
    """Compile the library with a limit of 10,000 instead of 2^31."""
    assert stated_limits()["documents of a list, judgments, topics"] == "2^31"
    folder = ROOT / "src/rankscope/native/c"
    assert re.search(r"#ifndef LONGEST\n#define LONGEST INT32_MAX\n", (folder / "table.h").read_text())
    assert ctypes.sizeof(ctypes.c_int32) * 8 - 1 == 31
    build_limit = 10_000
    sources = [str(folder / f"{name}.c") for name in ("scanner", "table", "qrels", "ahead")]
    flags = ["-std=c11", "-O1", "-fPIC", "-shared", f"-DLONGEST={build_limit}"]
    subprocess.run([str(COMPILER), *flags, *sources, "-lm", "-o", str(tmp_path / "scanner.so")], check=True)
    library = native.load(tmp_path / "scanner.so")

    def scan(n_documents: int = 1, n_judgments: int = 1, n_topics: int = 1) -> None:
        run = b"".join(b"1 Q0 d%d 1 %d t\n" % (d, -d) for d in range(n_documents))
        run += b"".join(b"x%d Q0 d 1 1 t\n" % topic for topic in range(n_topics))
        qrels = rs.Qrels.from_dict({"1": {f"d{d}": 1 for d in range(n_judgments)}})
        native.scan_source(Source.open(run), qrels, "trec_eval", library=library)

    for name in ("n_documents", "n_judgments", "n_topics"):
        scan(**{name: build_limit - 2})
        with pytest.raises((LineProblem, MemoryError)):
            scan(**{name: build_limit + 2})


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is measured as Linux tells it")
def test_memory_of_a_run_without_newlines(collection: Path) -> None:
    """A sparse file; test_memory.py measures both scanners, judgments and streams."""
    (megabytes,) = limit("memory to reject a run without newlines, of any size")
    Path("sparse").write_bytes(b"x" * 9000)
    os.truncate("sparse", 8 * GB)
    code, error, peak = measure_peak("eval", "qrels", "sparse", "-m", "AP", cwd=collection)
    assert code == 2
    assert "sparse:1: the line" in error
    assert peak << 10 < megabytes * 1_000_000


@pytest.mark.slow
def test_labellings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list with four tied documents (24 orders) and 2 to the power of u labellings of its unjudged documents."""
    (most,) = limit(
        "labellings times orders of a list that are enumerated; beyond, a range is marked as not tight"
    )
    evaluate = unjudged.tied_values
    n_labellings = 0

    def count(measures: Any, lists: Any, *rest: Any, **options: Any) -> Any:
        nonlocal n_labellings
        n_labellings += len(lists)
        return evaluate(measures, lists, *rest, **options)

    monkeypatch.setattr(unjudged, "tied_values", count)
    assert 24 * 2**13 <= most < 24 * 2**14
    for n_unjudged, is_tight in ((13, True), (14, False)):
        n_labellings = 0
        run = {f"j{d}": 50.0 for d in range(4)} | {f"u{d}": float(-d) for d in range(n_unjudged)}
        qrels = {"1": {f"j{d}": d % 2 for d in range(4)}}
        scores = rs.evaluate(qrels, {"r": {"1": run}}, "Twist", ties="expected", unjudged="bounds")
        assert scores.uncertainty is not None
        assert scores.uncertainty.tight.all() == is_tight
        assert n_labellings == (2**n_unjudged if is_tight else 0)


def test_regular_expressions() -> None:
    (seconds,) = limit("seconds of a regular expression")
    start = time.monotonic()
    with pytest.raises(SettingsError, match="takes more than a second"):
        run_groups(["a" * 60 + "!"], "^(a+)+$")
    # The process that searches needs time to start, on a busy machine many seconds; the search would take years.
    assert seconds <= time.monotonic() - start < seconds + 120


def serve_explorer() -> int:
    """Return the port of an explorer whose path is /token/."""
    pytest.importorskip("starlette", reason="the extra explore is not installed")
    qrels = rs.Qrels.from_dict({"q1": {"d1": 1}})
    runs = rs.Runs([rs.Run.from_dict({"q1": {"d1": 1.0}}, name="r")])
    app = server.application("T", lambda: payload(judge(qrels, runs), title="T"), qrels, runs, "token")
    listener = server.listen("127.0.0.1", 0)
    Thread(target=server.serve, args=(app, listener), daemon=True).start()
    port: int = listener.getsockname()[1]
    return port


def request_status(port: int) -> int:
    """Return the status of a complete request."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(b"GET /token/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return int(connection.recv(100).split()[1])


def open_connections(port: int, count: int, stack: contextlib.ExitStack) -> list[socket.socket]:
    """Open connections that send half a request."""
    connections = []
    for _ in range(count):
        connections.append(stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60)))
        connections[-1].sendall(b"GET / HTTP/1.1\r\nHost: ")
    return connections


def n_open(connections: list[socket.socket]) -> int:
    """Count the connections that the server has not closed."""
    count = 0
    for connection in connections:
        connection.setblocking(False)
        try:
            count += connection.recv(1000) != b""
        except BlockingIOError:
            count += 1
        except ConnectionResetError:
            pass
    return count


def test_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    max_connections, max_idle = limit("connections of the explorer, and idle ones among them")
    monkeypatch.setattr(server, "_MAX_IDLE_SECONDS", 60.0)
    port = serve_explorer()
    with contextlib.ExitStack() as stack:
        connections = open_connections(port, max_idle + 20, stack)
        end = time.monotonic() + 60
        while n_open(connections) > max_idle and time.monotonic() < end:
            time.sleep(0.05)
        assert n_open(connections) == max_idle
        assert request_status(port) == 200
    # The limit of idle connections hides the limit of all: without it, all but one may be idle.
    monkeypatch.setattr(server, "_MAX_IDLE", 1000)
    port = serve_explorer()
    with contextlib.ExitStack() as stack:
        open_connections(port, max_connections - 2, stack)
        assert request_status(port) == 200
        open_connections(port, 4, stack)
        assert request_status(port) == 503


@pytest.mark.slow
def test_idle_connections_are_closed() -> None:
    (seconds,) = limit("seconds that a connection of the explorer may be idle")
    port = serve_explorer()
    with contextlib.ExitStack() as stack:
        start, waits = time.monotonic(), 0
        (connection,) = open_connections(port, 1, stack)
        connection.settimeout(0.1)
        while True:
            with contextlib.suppress(TimeoutError):
                assert connection.recv(100) == b""
                break
            waits += 1  # If the machine stops for a while, it delays one of them only.
        assert time.monotonic() - start >= seconds - 0.5 and waits * 0.1 < seconds + 8
