"""Damaged and hostile Parquet, Arrow, Feather and JSON files: one line, bounded memory, no crash."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rankscope as rs
from rankscope.errors import InputError

FUZZ = Path(__file__).parents[2] / "fuzz"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="every case is in a forked process")
def test_mutated_files_are_refused_or_right() -> None:
    program = [sys.executable, str(FUZZ / "binary"), "--cases", "300", "--seed", "3"]
    ended = subprocess.run(program, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "300 files with seed 3" in ended.stdout


def test_feather_v1_cannot_be_validated_and_is_refused(tmp_path: Path) -> None:
    """A damaged one crashed the interpreter."""
    path = tmp_path / "run.feather"
    path.write_bytes(b"FEA1" + bytes(40) + b"FEA1")
    with pytest.raises(
        InputError, match=r"run\.feather: this is Feather V1, .*; write it again as Feather V2"
    ):
        rs.evaluate({"1": {"d": 1}}, path, "AP")


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
@pytest.mark.skipif(not hasattr(os, "fork"), reason="memory is measured as POSIX has it")
@pytest.mark.parametrize("kind", ["long id", "equal rows", "json", "json lines", "csv"])
@pytest.mark.parametrize("stream", [False, True])
def test_what_unpacks_to_too_much_is_refused_within_a_gigabyte(
    kind: str, stream: bool, tmp_path: Path
) -> None:
    """5 kB of Parquet took 4 GB, 58 kB of JSON 2.5 GB."""
    path = bomb(kind, tmp_path / "bomb")
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
    assert code == "2" and "it unpacks to more than 250 times its size" in ended.stderr
    assert int(peak) < 1 << 20, f"{int(peak) >> 10} MB"
