"""Measure the coverage of corrected scores on real collections, and write the tables of docs/correct.md.

    RANKSCOPE_DATA=FOLDER python docs/make_correct.py                      write the tables (25 minutes)
    RANKSCOPE_DATA=FOLDER python docs/make_correct.py --only coverage      write one of them
    RANKSCOPE_DATA=FOLDER python docs/make_correct.py --samples 20         with as many samples for every table

The judgments of TREC-COVID round 1 and of Cranfield are the human labels. A machine is simulated: *good* keeps 85 % of
the grades and guesses the others, *mediocre* errs as UMBRELA did on the documents of TREC 2025 RAG that people judged
too (data/rag25_judges), *useless* guesses all grades. A share of the human labels is revealed at random, each with
the same probability; the value under all human labels is the truth. Every sample has a new machine.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from page_tables import put

import rankscope as rs
from rankscope.analysis.corrected_values import Corrector
from rankscope.analysis.judge_bias import find_bias
from rankscope.analysis.label_allocation import inclusion_probabilities
from rankscope.analysis.label_sample import Labels, LabelSample
from rankscope.measures.grammar import parse
from rankscope.read.ids import to_text
from rankscope.scores import score

PAGE = Path(__file__).parent / "correct.md"
DATA = Path(os.environ.get("RANKSCOPE_DATA") or Path(__file__).parents[2] / "shared" / "data")
MACHINES = ("good", "mediocre", "useless")
SHARES = (0.05, 0.1, 0.2)
MEASURES = ("P@10", "nDCG@10", "AP")
SLOW = {"nDCG@10": 2}
"""Divisors of the number of samples: these measures take several times as long as the others."""
LABELS = (100, 300, 1000)
SAMPLES = {"coverage": 1000, "alarm": 100, "labels": 30, "allocation": 40}
"""Samples of each table; those of coverage make the standard error of every share less than 1 percentage point."""
SEED = 2_000_000
"""First seed of the samples; the estimator was developed with seeds below 100,000."""
WIDTHS = 20
"""Samples whose intervals are compared with those of human labels alone."""

Grades = NDArray[np.int32]


class Truth(NamedTuple):
    """A collection whose judgments are the human labels."""

    judged: Any
    grade: Grades
    means: dict[str, Any]


@cache
def collection(name: str, step: int | None = None) -> Truth:
    """Return TREC-COVID (every 24th run by default) or Cranfield (every 7th)."""
    folder, default = {"TREC-COVID": ("trec_covid_r1_depth100", 24), "Cranfield": ("cranfield", 7)}[name]
    step = step or default
    runs = sorted((DATA / folder / "runs").iterdir())[::step]
    scores = rs.evaluate(DATA / folder / "qrels.txt", runs, MEASURES)
    judged = scores.require_judged("make_correct")
    grade = np.maximum(judged.qrels.grade, 0).astype(np.int32)
    return Truth(judged, grade, {measure: scores.mean(measure) for measure in MEASURES})


@cache
def confusion(best: int) -> Any:
    """Return the chance of each machine grade by human grade, on grades 0 to ``best``."""
    human, machine = (
        rs.read_qrels(DATA / "rag25_judges" / f"qrels.{name}.txt") for name in ("human", "umbrela")
    )
    counts = np.zeros((best + 1, best + 1))
    for topic in (topic for topic in human.topics if topic in machine.topic_index):
        other = machine.judgments(topic)
        for document, grade in human.judgments(topic).items():
            if document in other:
                row, column = (round(max(g, 0) * best / 4) for g in (grade, other[document]))
                counts[row, column] += 1
    return counts / counts.sum(axis=1, keepdims=True)


def label(machine: str, human: Grades, rng: np.random.Generator) -> Grades:
    """Return the grades of a simulated machine."""
    best = int(human.max())
    if machine == "good":
        grade = np.where(rng.random(len(human)) < 0.85, human, rng.integers(0, best + 1, len(human)))
    elif machine == "useless":
        grade = rng.integers(0, best + 1, len(human))
    else:
        grade = (rng.random(len(human))[:, np.newaxis] > confusion(best).cumsum(axis=1)[human]).sum(axis=1)
    return grade.clip(0, best).astype(np.int32)


def samples(truth: Truth, machine: str, share: float, count: int) -> Iterator[LabelSample]:
    """Yield samples of the human labels, each with a new machine."""
    for seed in range(count):
        rng = np.random.default_rng([SEED + seed, int(1000 * share)])
        grade = label(machine, truth.grade, rng)
        drawn = rng.random(len(grade)) < share
        yield LabelSample(
            grade, np.where(drawn, truth.grade, 0).astype(np.int32), drawn, np.full(len(grade), share)
        )


def cover(
    truth: Truth, measure: str, drawn: LabelSample, *, is_compared: bool = True
) -> tuple[Any, Any, Any]:
    """Return whether the intervals of the runs contain the truth, and their widths, tuned and human only."""
    n_topics = len(truth.judged.topics)
    estimates = [
        Corrector(truth.judged, drawn._replace(is_human_only=human_only), parse(measure)).correct()
        for human_only in (False, True)[: 1 + is_compared]
    ]
    half, *other = (e.quantile(0.05) * np.sqrt(np.diag(e.covariance)) / n_topics for e in estimates)
    inside = np.abs(estimates[0].values.mean(axis=1) - truth.means[measure]) <= half
    return inside, half, other[0] if other else np.full(len(half), np.nan)


def coverage_row(name: str, machine: str, share: float, count: int) -> str:
    """Return a row of the table of coverage; print the standard errors of its shares over samples."""
    truth, cells, errors = collection(name), [], []
    for measure in MEASURES:
        drawn = enumerate(samples(truth, machine, share, count // SLOW.get(measure, 1)))
        results = [cover(truth, measure, sample, is_compared=i < WIDTHS) for i, sample in drawn]
        covered, half, other = (np.array(part) for part in zip(*results, strict=True))
        shares = 100 * covered.mean(axis=1)  # The runs of a sample share its labels.
        errors.append(f"{measure} ± {shares.std(ddof=1) / np.sqrt(len(shares)):.1f}")
        cells += [f"{shares.mean():.1f} %", f"{np.nanmean(half / other):.2f}"]
    row = f"| {name} | {machine} | {100 * share:g} % | {' | '.join(cells)} |"
    print(row, "standard errors:", ", ".join(errors), file=sys.stderr, flush=True)
    return row


def coverage(count: int) -> str:
    """Return the table of coverage and of widths relative to human labels alone."""
    names = [f"{m}: {what}" for m in MEASURES for what in ("coverage", "width")]
    lines = [
        f"| collection | machine | labels | {' | '.join(names)} |",
        "|---|---|---" + "|---" * len(names) + "|",
    ]
    collections = ("TREC-COVID", "Cranfield")
    lines += [coverage_row(*row, count) for row in product(collections, MACHINES, SHARES)]
    runs = " and ".join(str(len(collection(name).judged.runs)) for name in collections)
    fewer = "".join(f"{count // divisor} for {measure}; " for measure, divisor in SLOW.items())
    return "\n".join(
        [*lines, "", f"{count} samples of {runs} runs for each row; {fewer}widths of the first {WIDTHS}.", ""]
    )


def alarm(count: int) -> str:
    """Return how often the alarm flags a run, with and without a planted bias."""
    truth = collection("TREC-COVID")
    weight = Corrector(truth.judged, next(samples(truth, "good", 0.1, 1)), parse("P@10")).hit_weight
    favoured = np.zeros(len(truth.grade), np.bool_)
    run = truth.judged.arrays.owner // len(truth.judged.topics)
    favoured[truth.judged.judgment[(run == 0) & (truth.judged.rank <= 10)]] = True
    lines = [
        "| errors of the machine | planted bias | labels | favoured run flagged | some other run flagged |",
        "|---|---|---|---|---|",
    ]
    for errors in ("independent of the grade", "mediocre machine"):
        for share in (0.1, 0.2):
            for raised in (0.0, 0.5, 1.0):
                own, others = [], []
                for seed in range(count):
                    rng = np.random.default_rng([seed, 3])
                    human = truth.grade + 1
                    if errors == "mediocre machine":
                        grade = label("mediocre", truth.grade, rng) + 1
                    else:
                        grade = human + rng.integers(-1, 2, len(human))
                    grade = grade + (favoured & (rng.random(len(grade)) < raised))
                    drawn = rng.random(len(grade)) < share
                    rows = find_bias(truth.judged, weight, grade, human * drawn, drawn / share, 0.05)
                    flagged = {row.run for row in rows if row.flagged}
                    own.append(truth.judged.runs[0] in flagged)
                    others.append(bool(flagged - {truth.judged.runs[0]}))
                what = f"{raised:.0%} of its top 10 one grade higher" if raised else "none"
                lines.append(
                    f"| {errors} | {what} | {share:.0%} | {np.mean(own):.0%} | {np.mean(others):.1%} |"
                )
                print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(
        [*lines, "", f"{count} samples for each row; level 5 % for all runs together (Holm).", ""]
    )


def labels(count: int) -> str:
    """Return the half-widths of intervals with 100, 300 and 1,000 labels of documents in some top 10."""
    truth = collection("TREC-COVID", 12)
    lines = [
        "| human labels | human only | good machine | mediocre machine | useless machine |",
        "|---|---|---|---|---|",
    ]
    measure = parse("P@10")
    for number in LABELS:
        cells: list[float] = []
        for machine in MACHINES:
            tuned, only = [], []
            for seed in range(count):
                rng = np.random.default_rng([seed, number])
                grade = label(machine, truth.grade, rng)
                none = np.zeros(len(grade), np.bool_)
                empty = LabelSample(grade, truth.grade, none, np.ones(len(grade)))
                counts = Corrector(truth.judged, empty, measure).importance > 0
                pi = number / counts.sum()
                drawn = counts & (rng.random(len(grade)) < pi)
                human = np.where(drawn, truth.grade, 0).astype(np.int32)
                sample = LabelSample(grade, human, drawn, np.full(len(grade), pi))
                _, half, other = cover(truth, "P@10", sample)
                tuned.append(half.mean())
                only.append(other.mean())
            cells += [float(np.mean(only))] * (machine == "good") + [float(np.mean(tuned))]
        lines.append(f"| {number:,} | {' | '.join(f'± {cell:.3f}' for cell in cells)} |")
    return "\n".join([*lines, "", f"P@10 of TREC-COVID, means of {count} samples and all runs.", ""])


def select_labels(truth: Truth, drawn: Any, pi: Any) -> Labels:
    """Return the human labels of documents as a filled template has them."""
    qrels, labels = truth.judged.qrels, cast(Labels, {})
    for d in np.flatnonzero(drawn).tolist():
        topic = qrels.topics[int(np.searchsorted(qrels.topic_offsets, d, side="right")) - 1]
        labels.setdefault(topic, {})[to_text(qrels.documents[d])] = int(truth.grade[d]), float(pi[d])
    return labels


def allocation(count: int) -> str:
    """Return the error of differences of runs if documents are drawn by weight, uniformly, or pooled to a depth."""
    lines = [
        "| collection | machine | human labels | machine only | `next` | `next` twice | uniform | depth-k | coverage |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in product(("TREC-COVID", "Cranfield"), MACHINES, LABELS):
        errors, covered = _allocate(*row, count)
        cells = [f"{np.sqrt(np.mean(np.square(each))):.4f}" for each in errors.values()]
        name, machine, number = row
        lines.append(f"| {name} | {machine} | {number:,} | {' | '.join(cells)} | {100 * covered:.1f} % |")
        print(lines[-1], file=sys.stderr, flush=True)
    note = f"Root mean squared error of the differences of all runs by P@10, {count} samples; coverage of the intervals"
    note += " of means with `next` twice: a third of the labels first, the others with `--human`."
    return "\n".join([*lines, "", note, ""])


def _allocate(name: str, machine: str, number: int, count: int) -> tuple[dict[str, list[Any]], float]:
    """Return the errors of all differences by design, and the coverage of two steps of ``next``."""
    truth, measure = collection(name), parse("P@10")
    first, second = np.triu_indices(len(truth.judged.runs), 1)
    ranks, covered = truth.judged.best_ranks, []
    errors: dict[str, list[Any]] = {}
    for seed in range(count):
        rng = np.random.default_rng([SEED + seed, number, 5])
        grade = label(machine, truth.grade, rng)
        scores = score(truth.judged.with_grades(grade), [measure])
        chance = rng.random(len(grade))
        start, once = (inclusion_probabilities(scores, n) for n in (number // 3, number))
        twice = inclusion_probabilities(scores, number, select_labels(truth, chance < start, start))
        shallow = np.zeros(len(grade), np.bool_)
        shallow[np.argsort(ranks + rng.random(len(grade)), kind="stable")[:number]] = True
        uniform = np.full(len(grade), number / len(grade))
        designs = {
            "machine": (np.zeros(len(grade), np.bool_), np.ones(len(grade))),
            **{
                key: (chance < pi, pi) for key, pi in (("once", once), ("twice", twice), ("uniform", uniform))
            },
            "depth": (shallow, np.ones(len(grade))),  # Other documents keep the machine's label.
        }
        for key, (drawn, pi) in designs.items():
            human = np.where(drawn, truth.grade, 0).astype(np.int32)
            if key == "twice":  # Templates have the probabilities of drawn documents only.
                covered.append(
                    cover(truth, "P@10", LabelSample(grade, human, drawn, np.where(drawn, pi, np.nan)))[0]
                )
            corrector = Corrector(truth.judged, LabelSample(grade, human, drawn, pi), measure)
            tuning = 1.0 if key in ("machine", "depth") else None
            error = corrector.correct_values(tuning).mean(axis=1) - truth.means["P@10"]
            errors.setdefault(key, []).append(error[first] - error[second])
    return errors, float(np.mean(covered))


TABLES = {"coverage": coverage, "alarm": alarm, "labels": labels, "allocation": allocation}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=tuple(TABLES), action="append")
    parser.add_argument("--samples", type=int, help="number of samples for every table")
    parser.add_argument("--check", action="store_true", help="only check whether the page would change")
    args = parser.parse_args()
    tables = {name: TABLES[name](args.samples or SAMPLES[name]) for name in args.only or TABLES}
    return put(PAGE, tables, check=args.check)


if __name__ == "__main__":
    sys.exit(main())
