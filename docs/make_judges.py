"""What `judges` says where the answer is known, on real judgments, written into docs/certainty.md.

    RANKSCOPE_DATA=FOLDER python docs/make_judges.py             writes the tables
    RANKSCOPE_DATA=FOLDER python docs/make_judges.py --check     only says whether they would change

The judgments and runs of TREC-COVID round 1 (docs/data.md) against stratified halves of them, against their binary
form, and against judges who guess: a judge who draws a share s of the grades anew from all grades there are agrees with
the first one by kappa = 1 - s. Kappa and alpha of random tables are held against scikit-learn and krippendorff.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from page_tables import put

import rankscope as rs
from rankscope.analysis.stats.agreement import coincidences, kappa, krippendorff_alpha
from rankscope.analysis.stats.sampling import Sampler
from rankscope.judging import Pool

PAGE = Path(__file__).parent / "certainty.md"
DATA = Path(os.environ.get("RANKSCOPE_DATA") or Path(__file__).parents[2] / "shared" / "data")
COVID = DATA / "trec_covid_r1_depth100"
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)


def half(qrels: rs.Qrels, seed: int) -> rs.Qrels:
    """Half of the judgments of every topic and grade, at least one of a grade and ten that are not relevant."""
    pool = Pool(qrels.topic_offsets, qrels.grade)
    return qrels.regraded(Sampler(pool, "grade", np.random.SeedSequence(seed)).sample(50))


def guessing(qrels: rs.Qrels, share: float, seed: int) -> rs.Qrels:
    """A judge who draws a share of the grades anew from all grades there are."""
    rng = np.random.default_rng([seed, int(100 * share)])
    guessed = rng.permutation(qrels.grade)
    grades = np.where(rng.random(len(qrels)) < share, guessed, qrels.grade)
    return qrels.regraded(grades.astype(np.int32))


def against(first: rs.Qrels, second: rs.Qrels, runs: Any, measures: str) -> list[str]:
    """What the two make of the runs: a row of Markdown for each measure."""
    result = rs.judges({"a": first, "b": second}, runs, measures, most=0)
    agreed = {row["measure"]: row for row in result["agreement"].records()}
    rows = []
    for measure in measures.split():
        found = {r["statistic"]: r for r in result["leaderboards"].records() if r["measure"] == measure}
        both = [_interval(found[name]) for name in ("tau", "tau_ap")]
        pairs = [f"{found[name]['value']:,}" for name in ("agree", "reverse", "only first", "only second")]
        cells = [
            f"{agreed['documents']['value']:,}",
            f"{agreed['kappa']['value']:.3f}",
            measure,
            *both,
            *pairs,
        ]
        rows.append(" | ".join([*cells, str(found["largest rank change"]["value"])]))
    return rows


def _interval(row: Any) -> str:
    return f"{row['value']:.3f} ({row['low']:.3f}–{row['high']:.3f})"


def real_sets(halves: int = 3) -> str:
    """TREC-COVID round 1 against halves of itself, and graded against binary."""
    qrels = rs.read_qrels(COVID / "qrels.txt")
    runs = rs.read_runs(COVID / "runs")
    head = "both judged | kappa | measure | tau | tau_ap | agree | reverse | only first | only second | largest change"
    lines = [f"| second set | {head} |", "|---|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|"]
    for seed in range(1, halves + 1):
        found = against(qrels, half(qrels, seed), runs, "AP nDCG@10")
        lines += [f"| half {seed} | {row} |" for row in found]
    binary = against(qrels, qrels.merged("0=0;1,2=1"), runs, "AP nDCG@10")
    return "\n".join([*lines, *(f"| binary | {row} |" for row in binary)]) + "\n"


def known_kappa(judges: int = 40) -> str:
    """How often the intervals of judges who guess hold the kappa that they have by construction."""
    qrels = rs.read_qrels(COVID / "qrels.txt")
    names = ("kappa", "kappa linear", "kappa quadratic")
    lines = [f"| kappa | {' | '.join(names)} | mean kappa | mean width |", "|---:|---:|---:|---:|---:|---:|"]
    total = 0
    for share in SHARES:
        held = np.zeros(len(names), np.int64)
        seen = []
        for seed in range(judges):
            result = rs.judges({"nist": qrels, "guesses": guessing(qrels, share, seed)}, seed=seed)
            rows = {row["measure"]: row for row in result["agreement"].records()}
            held += [rows[name]["low"] <= 1 - share <= rows[name]["high"] for name in names]
            seen.append((rows["kappa"]["value"], rows["kappa"]["high"] - rows["kappa"]["low"]))
        total += held
        value, width = np.mean(seen, axis=0)
        cells = " | ".join(f"{number} of {judges}" for number in held)
        lines.append(f"| {1 - share:.1f} | {cells} | {value:.3f} | {width:.3f} |")
    every = judges * len(SHARES)
    cells = " | ".join(f"{100 * number / every:.1f} %" for number in total)
    return "\n".join([*lines, f"| all | {cells} | | |"]) + "\n"


def random_tables(tables: int = 1000) -> str:
    """The largest difference from scikit-learn and krippendorff on random tables."""
    import krippendorff
    from sklearn.metrics import cohen_kappa_score

    rng = np.random.default_rng(1)
    worst: dict[str, float] = {}
    warnings.simplefilter("ignore")  # tables with one grade only
    for _ in range(tables):
        levels, units = int(rng.integers(2, 6)), int(rng.integers(2, 200))
        grades = rng.integers(0, levels, (units, 2))
        grades[:, 1] = np.where(rng.random(units) < rng.random(), grades[:, 0], grades[:, 1])
        counts = np.zeros((levels, levels))
        np.add.at(counts, tuple(grades.T), 1)
        pairs = {
            f"kappa ({name})": (
                float(kappa(counts, name)),
                cohen_kappa_score(*grades.T, labels=range(levels), weights=None if name == "none" else name),
            )
            for name in ("none", "linear", "quadratic")
        }
        if len(np.unique(grades)) > 1:
            wanted = krippendorff.alpha(grades.T, level_of_measurement="ordinal")
            pairs["alpha (ordinal)"] = (float(krippendorff_alpha(coincidences(grades, levels))), wanted)
        for name, (mine, theirs) in pairs.items():
            assert np.isnan(mine) == np.isnan(theirs), name
            worst[name] = max(worst.get(name, 0.0), 0.0 if np.isnan(mine) else abs(mine - theirs))
    lines = ["| statistic | largest difference |", "|---|---:|"]
    return "\n".join([*lines, *(f"| {name} | {value:.0e} |" for name, value in worst.items())]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing")
    args = parser.parse_args()
    if not COVID.is_dir():
        print(f"{COVID} is absent: set RANKSCOPE_DATA to the folder of official files")
        return 2
    made = {"two sets": real_sets(), "known kappa": known_kappa(), "random tables": random_tables()}
    return put(PAGE, made, check=args.check)


if __name__ == "__main__":
    sys.exit(main())
