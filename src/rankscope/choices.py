"""Choices and defaults of options.

This module imports nothing heavy, so that ``rankscope COMMAND --help`` and shell completion start fast.
"""

from typing import Literal, get_args, get_origin

COLLECTION_OPTIONS = {
    "order": None,
    "missing": "zero",
    "ties": "break",
    "unjudged": "nonrelevant",
    "weights": None,
}
"""Options of a collection that an analysis honours (``uses``) or rejects, with their defaults.

``unjudged="bounds"`` gives every value a range; analyses that honour it use ``bounds`` as well.

``weights`` changes every mean, so that an analysis honours it only if it declares this.

The others (topics, topic_data, grades, input_format, engine, jobs) act while the collection is read, and hold
everywhere.
"""

VALUE_OPTIONS = ("order", "missing", "ties", "unjudged")
"""Options that an analysis of values honours by default."""

UNJUDGED = -(2**31)
"""Grade of a document whose judgment was removed: it counts as unjudged."""

TIES = ("break", "expected", "best", "worst")
"""Values of rankings with tied documents.

``break``: the value in the order by document id;  ``expected``: the mean over all orders;  ``best``, ``worst``: the
best and the worst value of all orders (the highest and the lowest if the measure has no direction).
"""

UNJUDGED_AS = ("nonrelevant", "condense", "bounds")
"""Treatments of a retrieved document without a judgment.

``nonrelevant``: count it as non-relevant;  ``condense``: remove it from the ranking;  ``bounds``: allow every grade
from 0 to the highest, and return bounds of the value
"""

ORDERS = ("trec_eval", "trec_eval9", "ascending_id", "rank", "file")
"""Orders of a ranking."""

INPUT_FORMATS = {
    "trec": "TREC",
    "beir": "judgments of BEIR",
    "columns": "columns without a header",
    "csv": "CSV",
    "tsv": "TSV",
    "json": "JSON",
    "jsonl": "JSON lines",
    "parquet": "Parquet",
    "arrow": "Arrow",
}
"""Formats of input files and their display names."""

DEFAULT_MEASURES = ("AP", "Bpref", "RBP", "nDCG", "Twist")
"""Default measures of studies of measures."""

FINDINGS_MEASURES = ("AP", "nDCG@10", "P@10", "RBP", "Twist")
"""Default measures of findings, on a terminal and in the report."""

DEFAULT_GAINS = ("AP", "Bpref", "RBP", "nDCG(discount='jk',base=10)")
"""The gain measures of the paper on Twist; for nDCG gains 0, 5, 10, ... are the same as 0, 1, 2, ..."""

Crossing = Literal["sign-change", "definition", "matters"]
CROSSINGS = get_args(Crossing)
"""Definitions of a crossing of the axis by CRP."""

EFFORTS = ("huge", "high", "medium", "low")
"""Columns of the effort/gain plane, by increasing Twist."""

GAINS = ("low", "medium", "high", "huge")
"""Rows of the effort/gain plane, by increasing gain."""

AXES = ("auto", "linear", "log")
"""Scales of rank axes and of the bars of a curve."""

CLASSES = ("archetype", "topic", "recall base", "group")
"""Attributes by which rankings in an effort/gain plane can be coloured."""

Test = Literal["t", "wilcoxon", "randomisation", "bootstrap", "tukey"]
TESTS = get_args(Test)
Correction = Literal["max-t", "holm", "bonferroni", "bh", "none"]
CORRECTIONS = get_args(Correction)
Distance = Literal["grade", "position"]
DISTANCES = get_args(Distance)
"""Distances between grades in weighted kappa: of their numbers, or of their positions among the occurring grades."""

Aggregate = Literal["mean", "mean-of-types", "borda", "win-rate", "bradley-terry", "mean-rank", "z-score"]
AGGREGATES = get_args(Aggregate)
"""Summaries of the scores of a system on several tasks."""
MissingCells = Literal["systems", "tasks", "bounds"]
MISSING_CELLS = get_args(MissingCells)
"""Treatments of systems without a score on some task."""
BenchSample = Literal["tasks", "nested", "topics"]
BENCH_SAMPLES = get_args(BenchSample)
"""Sampled units: tasks, tasks and their topics, or topics of fixed tasks."""
TaskTest = Literal["t", "wilcoxon", "randomisation"]
TASK_TESTS = get_args(TaskTest)
"""Tests of two systems, paired over tasks."""

Coefficient = Literal["kendall", "ap", "spearman", "pearson", "rbo"]
COEFFICIENTS = get_args(Coefficient)

RboTies = Literal["a", "b", "w"]
RBO_TIES = get_args(RboTies)
"""Treatments of ties: unknown order (a), unknown order with correction (b), equality (w); Corsi and Urbano 2024."""

PERSISTENCE = (0.5, 0.8, 0.95)
"""Default values of p of RBP in bounds."""

RATIOS = (90, 70, 50, 30, 10)
"""Default percentages of the judgments that are kept."""

Across = Literal["measures", "cutoffs", "pools", "samples"]
ACROSS = get_args(Across)
"""Conditions across which the ranks of runs can be followed."""

FOLLOWED_MEASURES = ("AP", "nDCG@10", "RBP", "P@10", "RR", "Bpref", "Twist")
FOLLOWED_CUTOFFS = (5, 10, 20, 50, 100, 1000)
FOLLOWED_DEPTHS = (20, 10, 5)
FOLLOWED_RATIOS = (50, 20, 10)
"""Default conditions across which ranks are followed; ratios are percentages of the judgments."""

Sampling = Literal["grade", "binary", "uniform"]
SAMPLINGS = get_args(Sampling)
"""Strata of sampled judgments."""

Purpose = Literal["order", "correct"]
PURPOSES = get_args(Purpose)
"""Purposes of documents to judge next: to settle the order of runs, or to correct the labels of a machine."""

Tuning = Literal["tuned", "plain"]
TUNINGS = get_args(Tuning)
"""Weights of the machine's labels in corrected values: the weight with minimum variance, or 1."""

STRATA = ("topic", "band", "grade")
"""Attributes of documents by which a sample of human labels can be stratified; band: of the best rank in any run."""

INTERVAL_LENGTH = 10
"""Rank at which rankings are cut for an interval scale."""

EXPERIMENTS = ("effort", "pools", "power", "scales", "bounds")
"""Experiments of a study that can be limited to the best runs; correlations always cover all runs and the best."""


VERDICT_MEASURES = ("AP", "nDCG@10", "P@10", "RR", "RBP", "Twist")
VERDICT_DEPTH = 1000
"""Number of ranks that a verdict compares, unless all rankings are shorter."""

MAX_RANKS = 5000
"""Maximum number of ranks of overlaps, because Kendall's tau compares every pair of common documents."""

SCORE_FIGURES = {
    "means": "scores.plot_means",
    "heat-map": "scores.plot_heat_map",
    "topics": "scores.plot_topics",
    "slices": "slices.plot_slices",
}
"""Figures of scores, as ``{name: "module.function"}`` below :mod:`rankscope.plots`."""

COUNTS = ("auto", "exact", "sample")
"""Methods of counting pairs of intervals."""

PROPERTIES = (
    "relevance monotonicity", "irrelevance monotonicity", "redundancy", "induced", "swap", "replacement", "priority",
    "deepness", "deepness threshold", "closeness threshold", "confidence", "monotonicity", "convergence",
    "top-weightedness", "boundedness",
)  # fmt: skip
"""Properties that a measure may satisfy."""

CALLS = ("grades", "counts", "pool", "dicts", "arrays")
"""Signatures of user functions that compute a measure."""

__all__ = [name for name, value in [*globals().items()] if name.isupper() or get_origin(value) is Literal]
