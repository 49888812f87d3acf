"""Damaged and hostile Parquet, Arrow, Feather and JSON files: one line, bounded memory, no crash."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import settings

import rankscope as rs
from rankscope.errors import InputError
from rankscope.read.qrels import RepeatedJudgments

FUZZ = Path(__file__).parents[2] / "fuzz"


def fuzz_binary(*options: str) -> str:
    """Run the program, and return what it printed; fail if it found a defect."""
    program = [sys.executable, str(FUZZ / "binary"), *options]
    ended = subprocess.run(program, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="every case is in a forked process")
def test_damaged_files_are_rejected_or_right() -> None:
    cases = str(5 * settings().max_examples)
    assert f"{cases} damaged files" in fuzz_binary("--cases", cases, "--seed", "3")


@pytest.fixture(scope="module")
def binary() -> Iterator[Any]:
    """Import the fuzzer as a module."""
    path = list(sys.path)
    loader = SourceFileLoader("binary", str(FUZZ / "binary"))
    module = module_from_spec(spec_from_loader("binary", loader))  # type: ignore[arg-type]
    sys.modules["binary"] = module
    try:
        loader.exec_module(module)
        yield module
    finally:
        sys.path[:] = path
        del sys.modules["binary"]


@pytest.mark.parametrize("form", ["parquet zstd", "arrow", "stream", "json", "json zstd", "jsonl gzip"])
@pytest.mark.parametrize("role", ["run", "qrels"])
def test_the_naive_reader_finds_a_wrong_value(
    binary: Any, role: str, form: str, tmp_path: Path, monkeypatch
) -> None:
    """Check that the oracle of the fuzzer reads every format and detects an error of a millionth."""
    file = binary.DamagedFile(role, form, "int", binary.original(role, form, "int"), False)
    assert binary.outcome(file, tmp_path / "file.bin") == binary.RIGHT
    right = binary.our_values(file, tmp_path / "file.bin")
    monkeypatch.setattr(binary, "our_values", lambda *_: right | {"2": right["2"] + 1e-6})
    assert binary.outcome(file, tmp_path / "file.bin").startswith("wrong: ")


def test_the_sweep_knows_every_command(binary: Any) -> None:
    assert binary.sweep.forgotten_commands() == set()


def test_commands_agree_with_plain_text_on_every_format_and_id_type(
    binary: Any, tmp_path: Path, sampled: Any
) -> None:
    """`eval` with all of them (in CI), every other command with a few; `fuzz/binary --sweep` runs all of all."""
    pairs = [*binary.sweep.all_pairs()]
    commands = binary.sweep.Sweep(tmp_path)
    n_pairs = min(4, settings().max_examples // 15)
    for command in binary.sweep.COMMAND_LINES:
        candidates = [pair for pair in pairs if pair.command == command]
        sample = (
            sampled(candidates, 60)
            if command == "eval"
            else random.Random(command).sample(candidates, n_pairs)
        )
        for pair in sample:
            assert commands.problem(pair) is None, pair


def test_the_sweep_finds_a_wrong_value(binary: Any, tmp_path: Path, monkeypatch) -> None:
    commands = binary.sweep.Sweep(tmp_path)
    pair = binary.sweep.Pair("eval", "parquet", "int", "double")
    assert commands.problem(pair) is None
    encode = binary.formats.encode
    changed = lambda columns, *rest: encode({**columns, "qid": [1] * len(columns["qid"])}, *rest)  # noqa: E731
    monkeypatch.setattr(binary.formats, "encode", changed)
    assert commands.problem(binary.sweep.Pair("eval", "arrow", "int", "double")) is not None


def test_feather_v1_cannot_be_validated_and_is_refused(tmp_path: Path) -> None:
    """A damaged one crashed the interpreter."""
    path = tmp_path / "run.feather"
    path.write_bytes(b"FEA1" + bytes(40) + b"FEA1")
    with pytest.raises(
        InputError, match=r"run\.feather: this is Feather V1, .*; write it again as Feather V2"
    ):
        rs.evaluate({"1": {"d": 1}}, path, "AP")


@pytest.mark.parametrize("form", ["parquet", "json"])
def test_the_warning_about_repeated_judgments_names_the_file(form: str, tmp_path: Path) -> None:
    """It said "qrels" for Parquet."""
    rows = [{"qid": "1", "docno": "d", "label": 1}] * 2
    if form == "json":
        (tmp_path / "judged").write_text(json.dumps(rows))
    else:
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / "judged")
    with pytest.warns(RepeatedJudgments, match=r"judged: 1 judgment is repeated with the same grade"):
        rs.read_qrels(tmp_path / "judged")


@pytest.mark.parametrize("options", [[], ["--stream", "-o", "values.csv"]])
@pytest.mark.parametrize("column", ["docno", "score"])
def test_a_damaged_column_of_parquet_does_not_abort_the_process(
    column: str, options: list[str], tmp_path: Path
) -> None:
    """pyarrow called std::terminate for a required column with the statistics of an optional one."""
    out = io.BytesIO()
    pq.write_table(pa.table({"qid": ["1"], "docno": ["d"], "score": [1.0]}), out)
    content = bytearray(out.getvalue())
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    optional = content.rindex(b"\x25\x02", footer, content.index(column.encode(), footer))
    content[optional + 1] = 0
    (tmp_path / "run").write_bytes(content)
    (tmp_path / "qrels").write_text("1 0 d 1\n")
    command = [sys.executable, "-m", "rankscope", "eval", "qrels", "run", "-m", "AP", "--quiet", *options]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 2, ended.stderr
    assert "run: this is not Parquet, or it is damaged (" in ended.stderr


def bomb(kind: str, path: Path) -> Path:
    """A small file with much content."""
    if kind == "long id":
        rows = pa.array(np.zeros(2000, np.int32))
        columns: dict[str, Any] = {
            "qid": pa.DictionaryArray.from_arrays(rows, pa.array(["1"])),
            "docno": pa.DictionaryArray.from_arrays(rows, pa.array(["x" * (1 << 20)])),
            "score": np.zeros(2000),
        }
    elif kind == "equal rows":
        same = pa.DictionaryArray.from_arrays(pa.array(np.zeros(20_000_000, np.int32)), pa.array(["1"]))
        columns = {"qid": same, "docno": same, "score": np.zeros(20_000_000)}
    else:
        text = {
            "json": b"[" + b"[]," * 19_000_000 + b"[]]",
            "json lines": b'{"qid":"1","docno":"1","score":1}\n' * 2_000_000,
            "csv": b"qid,docno,score\n" + b"1,1,1\n" * 9_000_000,
        }[kind]
        path.write_bytes(gzip.compress(text))
        return path
    pq.write_table(pa.table(columns), path, compression="zstd", store_schema=False)
    return path


@pytest.mark.slow
@pytest.mark.product(5)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="memory is measured as POSIX has it")
@pytest.mark.parametrize("kind", ["long id", "equal rows", "json", "json lines", "csv"])
@pytest.mark.parametrize("stream", [False, True])
def test_decompression_bombs_are_rejected_within_a_gigabyte(
    kind: str, stream: bool, tmp_path: Path, shared: Callable[[str, Callable[[], bytes]], bytes]
) -> None:
    """5 kB of Parquet took 4 GB, 58 kB of JSON 2.5 GB."""
    path = tmp_path / "bomb"
    path.write_bytes(shared(f"bomb of {kind}", lambda: bomb(kind, tmp_path / "made").read_bytes()))
    assert path.stat().st_size < 1 << 18
    (tmp_path / "q.txt").write_text("1 0 1 1\n")
    words = ["eval", str(tmp_path / "q.txt"), str(path), "-m", "AP"]
    words += ["--stream", "-o", str(tmp_path / "o.csv")] if stream else []
    program = (
        "import re, sys; from rankscope.cli.main import main; code = main(sys.argv[1:]);"
        # ru_maxrss would include the peak of the parent before exec
        "print(code, re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=False
    )
    code, peak = ended.stdout.split()[-2:]
    assert code == "2" and "the file decompresses to more than 250 times its size" in ended.stderr
    assert int(peak) < 1 << 20, f"{int(peak) >> 10} MB"


@pytest.mark.parametrize("form", ["csv", "gz"])
def test_human_labels_are_read_from_any_format(form: str, tmp_path: Path) -> None:
    from rankscope.analysis.label_sample import read_labels

    if form == "gz":
        file = tmp_path / "sample.txt.gz"
        file.write_bytes(gzip.compress(b"\xef\xbb\xbfq 0 a 1 0.5\nq 0 b ? 0.5\n"))
        assert read_labels(file) == {"q": {"a": (1, 0.25)}}
    else:
        file = tmp_path / "sample.csv"
        file.write_text("query_id,doc_id,relevance\nq,a,1\n")
        assert read_labels(file) == {"q": {"a": (1, None)}}
