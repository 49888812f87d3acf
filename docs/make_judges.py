"""Validate `judges` on real judgments with known agreement, and write the tables of docs/certainty.md.

    RANKSCOPE_DATA=FOLDER python docs/make_judges.py             write the tables
    RANKSCOPE_DATA=FOLDER python docs/make_judges.py --check     only check whether they would change

The script compares the judgments of TREC-COVID round 1 (docs/data.md) with stratified halves of them, with their binary
form, and with simulated judges: a judge who redraws a share s of the grades from their distribution agrees with the
first one by kappa = 1 - s. It compares kappa and alpha of random tables with scikit-learn and krippendorff.
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
    """Sample half of the judgments of every topic and grade: at least one per grade, and ten non-relevant ones."""
    pool = Pool(qrels.topic_offsets, qrels.grade)
    return qrels.with_grades(Sampler(pool, "grade", np.random.SeedSequence(seed)).sample(50))


def guessing(qrels: rs.Qrels, share: float, seed: int) -> rs.Qrels:
    """Simulate a judge who redraws a share of the grades from their distribution."""
    rng = np.random.default_rng([seed, int(100 * share)])
    guessed = rng.permutation(qrels.grade)
    grades = np.where(rng.random(len(qrels)) < share, guessed, qrels.grade)
    return qrels.with_grades(grades.astype(np.int32))


def against(first: rs.Qrels, second: rs.Qrels, runs: Any, measures: str) -> list[str]:
    """Compare the runs under both judges: a row of Markdown for each measure."""
    result = rs.judges({"a": first, "b": second}, rs.Collection(None, runs), measures, max_disputed=0)
    agreed = {row["measure"]: row for row in result["agreement"].records()}
    rows = []
    for measure in measures.split():
        statistics = {r["statistic"]: r for r in result["leaderboards"].records() if r["measure"] == measure}
        taus = [_interval(statistics[name]) for name in ("tau", "tau_ap")]
        pairs = [
            f"{statistics[name]['value']:,}" for name in ("agree", "reverse", "only first", "only second")
        ]
        cells = [
            f"{agreed['documents']['value']:,}",
            f"{agreed['kappa']['value']:.3f}",
            measure,
            *taus,
            *pairs,
        ]
        rows.append(" | ".join([*cells, str(statistics["largest rank change"]["value"])]))
    return rows


def _interval(row: Any) -> str:
    return f"{row['value']:.3f} ({row['low']:.3f}–{row['high']:.3f})"


def real_sets(halves: int = 3) -> str:
    """Compare TREC-COVID round 1 with halves of itself, and graded with binary judgments."""
    qrels = rs.read_qrels(COVID / "qrels.txt")
    runs = rs.read_runs(COVID / "runs")
    head = "both judged | kappa | measure | tau | tau_ap | agree | reverse | only first | only second | largest change"
    lines = [f"| second set | {head} |", "|---|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|"]
    for seed in range(1, halves + 1):
        rows = against(qrels, half(qrels, seed), runs, "AP nDCG@10")
        lines += [f"| half {seed} | {row} |" for row in rows]
    binary = against(qrels, qrels.with_merged_grades("0=0;1,2=1"), runs, "AP nDCG@10")
    return "\n".join([*lines, *(f"| binary | {row} |" for row in binary)]) + "\n"


def known_kappa(judges: int = 40) -> str:
    """Return the coverage of the intervals of kappa for simulated judges, whose kappa is known."""
    qrels = rs.read_qrels(COVID / "qrels.txt")
    names = ("kappa", "kappa linear", "kappa quadratic")
    lines = [f"| kappa | {' | '.join(names)} | mean kappa | mean width |", "|---:|---:|---:|---:|---:|---:|"]
    total = 0
    for share in SHARES:
        n_covered = np.zeros(len(names), np.int64)
        estimates = []
        for seed in range(judges):
            result = rs.judges({"nist": qrels, "guesses": guessing(qrels, share, seed)}, seed=seed)
            rows = {row["measure"]: row for row in result["agreement"].records()}
            n_covered += [rows[name]["low"] <= 1 - share <= rows[name]["high"] for name in names]
            estimates.append((rows["kappa"]["value"], rows["kappa"]["high"] - rows["kappa"]["low"]))
        total += n_covered
        value, width = np.mean(estimates, axis=0)
        cells = " | ".join(f"{number} of {judges}" for number in n_covered)
        lines.append(f"| {1 - share:.1f} | {cells} | {value:.3f} | {width:.3f} |")
    n_judges = judges * len(SHARES)
    cells = " | ".join(f"{100 * number / n_judges:.1f} %" for number in total)
    return "\n".join([*lines, f"| all | {cells} | | |"]) + "\n"


def random_tables(tables: int = 1000) -> str:
    """Return the largest differences from scikit-learn and krippendorff on random tables."""
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
            alpha = krippendorff.alpha(grades.T, level_of_measurement="ordinal")
            pairs["alpha (ordinal)"] = (float(krippendorff_alpha(coincidences(grades, levels))), alpha)
        for name, (value, reference) in pairs.items():
            assert np.isnan(value) == np.isnan(reference), name
            worst[name] = max(worst.get(name, 0.0), 0.0 if np.isnan(value) else abs(value - reference))
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
    tables = {"two sets": real_sets(), "known kappa": known_kappa(), "random tables": random_tables()}
    return put(PAGE, tables, check=args.check)


if __name__ == "__main__":
    sys.exit(main())
