"""Frames against files: a run of a million rows, from pandas, polars and Arrow, and as the same TREC file."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from rankscope.read import Qrels, Run, read_run
from rankscope.scan import RunHits, scan_run
from rankscope.tables import Table

__all__ = ["table"]

GOAL = 1.2
"""A frame may take this many times as long as the file."""


def table(quick: bool) -> str:
    """Return CPU milliseconds from a frame or file to its hits, and their ratio to the file."""
    topics, depth = (100, 1000) if quick else (1000, 1000)
    repeats = 5 if quick else 15
    columns, qrels = _columns(topics, depth)
    frames = _frames(columns)
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "bm25.run"
        _write(columns, path)
        ways: dict[str, Callable[[], RunHits]] = {"TREC file": lambda: scan_run(read_run(path), qrels)}
        for name, frame in frames.items():
            ways[name] = lambda frame=frame: scan_run(Run.from_frame(frame), qrels)  # type: ignore[misc]
        times = _times(ways, repeats)
        _same(ways)
    base = times["TREC file"]
    rows = [(name, seconds * 1e3, seconds / base) for name, seconds in times.items()]
    text = Table("frames", ("run", "CPU (ms)", "x file"), rows, digits=2).markdown()
    ratios = {name: seconds / base for name, seconds in times.items() if name != "TREC file"}
    verdicts: dict[str, list[str]] = {"met": [], "missed": []}
    for name, ratio in ratios.items():
        verdicts["met" if ratio <= GOAL else "missed"].append(f"{name} ({ratio:.2f})")
    listed = "; ".join(f"{verdict} by {', '.join(names)}" for verdict, names in verdicts.items() if names)
    return (
        f"{topics:,} topics x {depth:,} documents, from the frame or the name of the file to the ranks of the judged "
        f"documents; median CPU time of {repeats} times, taken in turns. *pandas, objects* has a Python object for "
        f"every id, as versions before 3 make them: each is read at its own place in memory."
        f"\n\n{text}\n"
        f"Goal: opening a frame in at most {GOAL:g} times the time of the file: {listed}.\n"
    )


def _columns(topics: int, depth: int) -> tuple[dict[str, list[Any]], Qrels]:
    rng = np.random.default_rng(2020)
    numbers = rng.permutation(topics * depth)
    documents = [f"FT{number // 1000:03d}-{number:07d}" for number in numbers.tolist()]
    names = [str(301 + t) for t in range(topics)]
    scores = np.round(np.sort(rng.random(depth))[::-1] * 30, 4).tolist()
    judged = {
        name: {documents[t * depth + int(d)]: 1 for d in rng.integers(0, depth, 60)}
        for t, name in enumerate(names)
    }
    columns: dict[str, list[Any]] = {
        "qid": [name for name in names for _ in range(depth)],
        "docno": documents,
        "score": scores * topics,
    }
    return columns, Qrels.from_dict(judged)


def _frames(columns: dict[str, list[Any]]) -> dict[str, Any]:
    """Return the columns in every installed kind of frame."""
    found: dict[str, Any] = {}
    try:
        import pandas

        found["pandas"] = pandas.DataFrame(columns)
        found["pandas, objects"] = pandas.DataFrame(
            {
                name: pandas.Series(column, dtype=object if name != "score" else None)
                for name, column in columns.items()
            }
        )
        found["pandas, topics as numbers"] = found["pandas"].assign(qid=found["pandas"]["qid"].astype(int))
    except ImportError:
        pass
    try:
        import polars

        found["polars"] = polars.DataFrame(columns)
    except ImportError:
        pass
    try:
        import pyarrow

        found["Arrow"] = pyarrow.table(columns)
    except ImportError:
        pass
    return found


def _write(columns: dict[str, list[Any]], path: Path) -> None:
    with path.open("w") as file:
        rows = zip(columns["qid"], columns["docno"], columns["score"], strict=True)
        file.writelines(f"{topic} Q0 {document} 1 {score} bm25\n" for topic, document, score in rows)


def _times(ways: dict[str, Callable[[], RunHits]], repeats: int) -> dict[str, float]:
    """Return the median CPU seconds of each way; the ways take turns."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, way in ways.items():
            start = time.process_time()
            way()
            times[name].append(time.process_time() - start)
    return {name: median(seconds) for name, seconds in times.items()}


def _same(ways: dict[str, Callable[[], RunHits]]) -> None:
    expected = ways["TREC file"]()
    for name, way in ways.items():
        found = way()
        if not (
            np.array_equal(found.rank, expected.rank) and np.array_equal(found.judgment, expected.judgment)
        ):
            raise AssertionError(f"{name} gives other hits than the file")
