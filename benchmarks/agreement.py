"""Compare the values of the programs: times are comparable only if the values agree."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from benchmarks.programs import PROGRAMS

__all__ = ["Agreement", "compare", "tied_lists"]

TOLERANCE = 1e-6

Values = Mapping[tuple[str, str, str], float]


class Agreement(NamedTuple):
    """Values of a program against those of the reference."""

    compared: int
    differing: int
    largest: float  # difference
    undefined: int = 0  # values that the program does not give (NaN)
    tied: int = 0  # values of lists with ties, for programs that order ties at will; these may differ
    largest_tied: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether values were compared and none differs unexpectedly."""
        return self.compared + self.tied > 0 and self.differing == 0


def compare(values: Values, reference: Values, ties: frozenset[tuple[str, str]] = frozenset()) -> Agreement:
    """Compare all values; a list that one program leaves out because the run lacks the topic counts as zero.

    >>> found = {("a", "1", "AP"): 0.5, ("a", "2", "AP"): 0.0, ("a", "2", "Bpref"): float("nan")}
    >>> compare(found, {("a", "1", "AP"): 0.5})
    Agreement(compared=2, differing=0, largest=0.0, undefined=1, tied=0, largest_tied=0.0)
    >>> compare(found, {("a", "1", "AP"): 0.25}).holds
    False
    """
    plain, tied, undefined = [], [], 0
    for key in values.keys() | reference.keys():
        difference = abs(values.get(key, 0.0) - reference.get(key, 0.0))
        if math.isnan(difference):
            undefined += 1
        elif key[:2] in ties:
            tied.append(difference)
        else:
            plain.append(difference)
    differing = sum(difference > TOLERANCE for difference in plain)
    return Agreement(
        len(plain), differing, max(plain, default=0.0), undefined, len(tied), max(tied, default=0.0)
    )


def tied_lists(runs: Path) -> frozenset[tuple[str, str]]:
    """Return the rankings with tied scores, as (run, topic); files are sorted by score."""
    rankings: set[tuple[str, str]] = set()
    for path in runs.iterdir():
        before = ("", "")
        with path.open() as file:
            for line in file:
                topic, _, _, _, score, _ = line.split()
                if before == (topic, score):
                    rankings.add((path.stem, topic))
                before = (topic, score)
    return frozenset(rankings)


def read_values(path: Path) -> dict[tuple[str, str, str], float]:
    """Return the values that a program wrote with ``--values``."""
    with path.open(encoding="utf-8") as file:
        rows = (line.rstrip("\n").split("\t") for line in file)
        return {(run, topic, measure): float(value) for run, topic, measure, value in rows}


def main() -> None:
    """Compare the value files NAME.tsv of a directory with the first of them; print JSON."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("runs", type=Path)
    parser.add_argument("values", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("programs", nargs="+", help="the first is the reference")
    args = parser.parse_args()
    reference = read_values(args.values / f"{args.programs[0]}.tsv")
    ties = tied_lists(args.runs) if any(not PROGRAMS[name].ties for name in args.programs) else frozenset()
    results = {}
    for name in args.programs:
        values = read_values(args.values / f"{name}.tsv")
        results[name] = compare(values, reference, frozenset() if PROGRAMS[name].ties else ties)
    args.output.write_text(json.dumps(results), encoding="utf-8")


if __name__ == "__main__":
    main()
