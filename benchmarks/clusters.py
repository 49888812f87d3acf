"""Runs in a Parquet dataset through one process, Dask and Spark: seconds, peaks of memory, growth, and the same values.

python -m benchmarks.clusters --rows 1e6 1e7 --write     these sizes, and rewrite the section of BENCHMARKS.md
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Event, Thread
from typing import Any

from benchmarks.report import table as markdown
from benchmarks.timing import ROOT, execute, python

__all__ = ["table"]

TITLE = "Clusters"
MEASURES = "AP nDCG@10 RBP"
ENGINES = {"process": "one process", "dask": "Dask, 2 workers", "spark": "Spark, local[2]"}
SIZES = [10**6, 10**7, 10**8]
DEPTH = 1000
_PRIME = 1_000_003


def table(quick: bool = False) -> str:
    """Return the section: three sizes on all engines, or with ``quick`` one small size in one process."""
    return section([20_000], ["process"]) if quick else section(SIZES, list(ENGINES))


def section(sizes: Sequence[int], engines: Sequence[str], directory: Path | None = None) -> str:
    """Create the datasets, evaluate them on each engine in a separate process, and write the table."""
    results: dict[tuple[str, int], dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(dir=directory) as scratch:
        for rows in sizes:
            folder = Path(scratch) / f"{rows}"
            execute(python("-m", "benchmarks.clusters", "make", rows, folder), limit=3600)
            for engine in engines:
                output = Path(scratch) / f"{engine}-{rows}.json"
                usage = execute(
                    python("-m", "benchmarks.clusters", "run", engine, folder, output), limit=7200
                )
                results[engine, rows] = {**json.loads(output.read_text()), "cpu": usage.cpu}
                print(engine, rows, results[engine, rows], file=sys.stderr, flush=True)
    lines = [
        [ENGINES[engine], f"{rows:,}", f"{result['start']:.1f}", f"{result['seconds']:.1f}", f"{result['cpu']:.1f}",
         f"{rows / result['seconds'] / 1e6:.2f}", f"{result['driver']:.0f}", f"{result['workers']:.0f}"]
        for (engine, rows), result in results.items()
    ]  # fmt: skip
    same = all(len({results[e, rows]["digest"] for e in engines}) == 1 for rows in sizes)
    if not same:
        raise SystemExit("the engines gave different values")
    text = [
        f"A generated Parquet dataset, lists of {DEPTH:,} documents; {MEASURES}; every value written to Parquet."
        " Workers are all descendants of the driver, including Java; CPU time covers all processes from start"
        " to end, including the check of the values."
        f" `python -m benchmarks.clusters --rows {' '.join(f'{rows:.0e}'.replace('e+0', 'e') for rows in sizes)}`",
        markdown(
            ["engine", "rows", "start s", "work s", "CPU s", "million rows/s", "driver MB", "workers MB"],
            lines,
        ),
        f"All values have the same digest on every engine, at every size ({len(engines)} engines, {len(sizes)} sizes).",
    ]
    if len(sizes) > 1:
        slopes = [
            f"{ENGINES[e]} {_slope([(rows, results[e, rows]['seconds']) for rows in sizes]):.2f}"
            for e in engines
        ]
        text.append(f"Growth of the work with the rows, as a slope of logarithms: {'; '.join(slopes)}.")
    return "\n\n".join(text) + "\n"


def _slope(points: Sequence[tuple[int, float]]) -> float:
    x = [math.log(rows) for rows, _ in points]
    y = [math.log(seconds) for _, seconds in points]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    rise = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return rise / sum((a - mean_x) ** 2 for a in x)


def make(rows: int, folder: Path) -> None:
    """Write a reproducible dataset of about this many rows, a file per run, and its judgments."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    lists = max(1, rows // DEPTH)
    topics = min(1000, max(10, lists // 20))
    (folder / "runs").mkdir(parents=True)
    rank = np.arange(DEPTH)
    judged = [(t, (t * 7919 + k * 31) % _PRIME, k % 3) for t in range(topics) for k in range(300)]
    columns = list(zip(*judged, strict=True))
    kinds = {"query_id": columns[0], "doc_id": columns[1], "relevance": columns[2]}
    text = {name: pa.array(values) for name, values in kinds.items()}
    ids = {name: text[name].cast(pa.string()) for name in ("query_id", "doc_id")}
    pq.write_table(pa.table({**text, **ids}), folder / "qrels.parquet")
    for run in range(lists // topics):
        start = np.arange(topics)[:, np.newaxis] * 7919
        documents = (start + (rank * (2 * run + 1)) % 4099 * 31) % _PRIME
        table = {
            "run": pa.array(np.full(topics * DEPTH, f"run{run:04}")),
            "query_id": pa.array(np.repeat(np.arange(topics), DEPTH)).cast(pa.string()),
            "doc_id": pa.array(documents.ravel()).cast(pa.string()),
            "score": pa.array(np.tile(1.0 / (rank + 1.0), topics)),
        }
        pq.write_table(pa.table(table), folder / "runs" / f"{run:04}.parquet", row_group_size=1 << 18)


class Memory:
    """Peak memory of this process, and of all its descendants together, in MB."""

    def __enter__(self) -> Memory:
        self.workers = 0.0
        self._end = Event()
        self._thread = Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()
        status = Path("/proc/self/status").read_text()
        self.driver = int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1e3

    def _watch(self) -> None:
        while not self._end.wait(0.2):
            self.workers = max(self.workers, _below(os.getpid()))


def _below(process: int) -> float:
    parents: dict[int, list[int]] = {}
    used: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
            used[int(entry.name)] = int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
    todo, total = list(parents.get(process, ())), 0
    while todo:
        child = todo.pop()
        total += used.get(child, 0)
        todo += parents.get(child, ())
    return total / 1e6


def run(engine: str, folder: Path) -> dict[str, Any]:
    """Evaluate a dataset on an engine: seconds to start it and to do the work, memory, and a digest of the values."""
    import rankscope as rs
    from rankscope.engines import current_engine, using
    from rankscope.engines.spark import session

    output = folder / f"values-{engine}"
    with Memory() as memory:
        begun = time.perf_counter()
        if engine == "spark":
            import rankscope.spark

            with session("local[2]") as spark:
                started = time.perf_counter()
                runs, qrels = (spark.read.parquet(str(folder / name)) for name in ("runs", "qrels.parquet"))
                values = rankscope.spark.evaluate(runs, qrels, MEASURES)
                values.withColumnRenamed("query_id", "topic").write.parquet(str(output))
                ended = time.perf_counter()
        else:
            with using("dask" if engine == "dask" else "local"):
                assert (current_engine() is None) == (engine == "process")
                started = time.perf_counter()
                import pyarrow.parquet as pq

                qrels = pq.read_table(folder / "qrels.parquet")
                rs.evaluate_into(output, qrels, folder / "runs", MEASURES, jobs=1)
                ended = time.perf_counter()
    return {
        "start": started - begun,
        "seconds": ended - started,
        "driver": memory.driver,
        "workers": memory.workers,
        "digest": digest(output),
    }


def digest(values: Path) -> str:
    """Return the digest of all values in the order of runs, topics and measures."""
    import pyarrow.parquet as pq

    table = pq.read_table(values, columns=["run", "topic", "measure", "value"])
    table = table.sort_by([("run", "ascending"), ("topic", "ascending"), ("measure", "ascending")])
    sha = hashlib.sha256(table["value"].to_numpy().tobytes())
    sha.update("\n".join(table["run"].to_pylist()).encode())
    return sha.hexdigest()


def write(text: str) -> None:
    """Replace the section in BENCHMARKS.md."""
    page = ROOT / "BENCHMARKS.md"
    parts = re.split(r"(?m)^(?=## )", page.read_text("utf-8"))
    kept = [part for part in parts if not part.startswith(f"## {TITLE}\n")]
    page.write_text("".join(kept).rstrip() + f"\n\n## {TITLE}\n\n{text}", encoding="utf-8")


def main() -> None:
    """Run the command line, which starts ``make`` and ``run`` in separate processes."""
    if sys.argv[1:2] == ["make"]:
        make(int(sys.argv[2]), Path(sys.argv[3]))
        return
    if sys.argv[1:2] == ["run"]:
        Path(sys.argv[4]).write_text(json.dumps(run(sys.argv[2], Path(sys.argv[3]))))
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks.clusters", description=__doc__)
    parser.add_argument("--rows", nargs="+", type=lambda text: int(float(text)), default=SIZES)
    parser.add_argument("--engines", nargs="+", choices=tuple(ENGINES), default=list(ENGINES))
    parser.add_argument("--directory", type=Path, help="directory of the temporary datasets")
    parser.add_argument("--write", action="store_true", help="rewrite the section of BENCHMARKS.md")
    args = parser.parse_args()
    text = section(args.rows, args.engines, args.directory)
    if args.write:
        write(text)
    print(text, end="")


if __name__ == "__main__":
    main()
