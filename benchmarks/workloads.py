"""The workloads: collections of known shape, made by the simulator, the same bytes everywhere."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

__all__ = ["WORKLOADS", "Workload", "make"]

SEED = 2024


@dataclass(frozen=True)
class Workload:
    """Size of a collection: numbers of runs, topics and documents per ranking."""

    name: str
    meaning: str
    runs: int
    topics: int
    depth: int
    sparse: bool = False

    @property
    def shape(self) -> str:
        """Size in words."""
        what = "run" if self.runs == 1 else "runs"
        return f"{self.runs} {what} x {self.topics:,} topics x {self.depth:,} documents"


WORKLOADS = {
    "full": {
        "W1": Workload("W1", "one run of an ad hoc track", 1, 50, 1000),
        "W2": Workload("W2", "all runs of an ad hoc track", 74, 50, 1000),
        "W3": Workload("W3", "one run for many queries with one or two judgments each", 1, 7000, 1000, True),
        "W4": Workload("W4", "deep runs", 27, 50, 10000),
    },
    # the same kinds, small enough for every change of the code
    "quick": {
        "W1": Workload("W1", "one run of an ad hoc track", 1, 20, 200),
        "W2": Workload("W2", "all runs of an ad hoc track", 9, 20, 200),
        "W3": Workload("W3", "one run for many queries with one or two judgments each", 1, 300, 100, True),
        "W4": Workload("W4", "deep runs", 3, 5, 2000),
    },
}


def make(workload: Workload, directory: Path) -> None:
    """Write the collection; existing files are kept."""
    from rankscope.simulation import simulate

    if (directory / "qrels.txt").exists():
        return
    collection = simulate(
        systems=workload.runs,
        topics=workload.topics,
        depth=workload.depth,
        sparse=workload.sparse,
        seed=SEED,
    )
    collection.write(directory)


def main() -> None:
    """Create one workload in a separate process, so that the measuring process stays small."""
    parser = argparse.ArgumentParser(description=make.__doc__)
    parser.add_argument("size", choices=sorted(WORKLOADS))
    parser.add_argument("workload")
    parser.add_argument("directory", type=Path)
    args = parser.parse_args()
    make(WORKLOADS[args.size][args.workload], args.directory)


if __name__ == "__main__":
    main()
