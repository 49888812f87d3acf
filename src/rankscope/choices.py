"""Words that people choose from, and defaults that help shows.

They are here, and not beside the code that gives them a meaning, so that ``rankscope COMMAND --help`` and completion
need nothing of it: this module loads nothing.
"""

from __future__ import annotations

from typing import Literal, get_args

__all__ = [
    "ACROSS",
    "AXES",
    "CALLS",
    "CLASSES",
    "COEFFICIENTS",
    "CORRECTIONS",
    "COUNTS",
    "CROSSINGS",
    "DEFAULT_GAINS",
    "DEFAULT_MEASURES",
    "DISTANCES",
    "EFFORTS",
    "EXPERIMENTS",
    "FINDINGS_MEASURES",
    "FOLLOWED_CUTOFFS",
    "FOLLOWED_DEPTHS",
    "FOLLOWED_MEASURES",
    "FOLLOWED_RATIOS",
    "GAINS",
    "INPUT_FORMATS",
    "INTERVAL_LENGTH",
    "MOST_RANKS",
    "ORDERS",
    "PERSISTENCE",
    "PROPERTIES",
    "RATIOS",
    "RBO_TIES",
    "SAMPLINGS",
    "STUDIES",
    "TESTS",
    "VERDICT_DEPTH",
    "VERDICT_MEASURES",
    "Coefficient",
    "Crossing",
    "RboTies",
    "Sampling",
    "Test",
]

ORDERS = ("trec_eval", "trec_eval9", "ascending_id", "rank", "file")
"""What orders a list."""

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
"""What a file can be, and what that is called."""

DEFAULT_MEASURES = ("AP", "Bpref", "RBP(p=0.8)", "nDCG", "Twist")
"""What is compared with each other in studies of measures, unless others are named."""

FINDINGS_MEASURES = ("AP", "nDCG@10", "P@10", "RBP(p=0.8)", "Twist")
"""What findings are about, on a terminal and on the page, unless others are named."""

DEFAULT_GAINS = ("AP", "Bpref", "RBP(p=0.8)", "nDCG(discount='jk',base=10)")
"""The gain measures of the paper on Twist; for nDCG gains 0, 5, 10, ... are the same as 0, 1, 2, ..."""

Crossing = Literal["sign-change", "definition", "matters"]
CROSSINGS = get_args(Crossing)
"""What counts as a crossing of the axis by CRP."""

EFFORTS = ("huge", "high", "medium", "low")
"""The columns of the effort/gain plane, by rising Twist."""

GAINS = ("low", "medium", "high", "huge")
"""The rows of the effort/gain plane, by rising gain."""

AXES = ("auto", "linear", "log")
"""What an axis of ranks, and the bars of a curve, can be."""

CLASSES = ("archetype", "topic", "recall base", "group")
"""What the lists of an effort/gain plane can be told apart by."""

Test = Literal["t", "wilcoxon", "randomisation", "bootstrap", "tukey"]
TESTS = get_args(Test)
CORRECTIONS = ("max-t", "holm", "bonferroni", "bh", "none")
DISTANCES = ("grade", "position")
"""How far apart grades are for weighted kappa: by their numbers, or by their positions among those that occur."""

Coefficient = Literal["kendall", "ap", "spearman", "pearson", "rbo"]
COEFFICIENTS = get_args(Coefficient)

RboTies = Literal["a", "b", "w"]
RBO_TIES = get_args(RboTies)
"""What a tie means: an order that is not known (a), the same corrected for what is lost by it (b), equality (w)."""

PERSISTENCE = (0.5, 0.8, 0.95)
"""The p of RBP that bounds are shown for, unless others are given."""

RATIOS = (90, 70, 50, 30, 10)
"""Percent of the judgments that are kept."""

ACROSS = ("measures", "cutoffs", "pools", "samples")
"""What the ranks of runs can be followed across."""

FOLLOWED_MEASURES = ("AP", "nDCG@10", "RBP", "P@10", "RR", "Bpref", "Twist")
FOLLOWED_CUTOFFS = (5, 10, 20, 50, 100, 1000)
FOLLOWED_DEPTHS = (20, 10, 5)
FOLLOWED_RATIOS = (50, 20, 10)
"""What ranks are followed across unless others are named; ratios are percents of the judgments."""

Sampling = Literal["grade", "binary", "uniform"]
SAMPLINGS = get_args(Sampling)
"""The strata that judgments are sampled from."""

INTERVAL_LENGTH = 10
"""Ranks to which lists are cut for an interval scale."""

EXPERIMENTS = ("effort", "pools", "power", "scales", "bounds")
"""Of a study, those that may look at the best runs only; correlations are given for all and for the best."""

STUDIES = ("twist",)
"""Published studies whose settings are known."""

VERDICT_MEASURES = ("AP", "nDCG@10", "P@10", "RR", "RBP(p=0.8)", "Twist")
VERDICT_DEPTH = 1000
"""Ranks that a verdict compares, unless all lists are shorter."""

MOST_RANKS = 5000
"""Ranks whose overlap can be compared: Kendall's tau looks at every pair of common documents."""

COUNTS = ("auto", "exact", "sample")
"""How pairs of intervals are counted."""

PROPERTIES = (
    "relevance monotonicity", "irrelevance monotonicity", "redundancy", "induced", "swap", "replacement", "priority",
    "deepness", "deepness threshold", "closeness threshold", "confidence", "monotonicity", "convergence",
    "top-weightedness", "boundedness",
)  # fmt: skip
"""What a measure may guarantee."""

CALLS = ("grades", "counts", "pool", "dicts", "arrays")
"""The ways to call a function that computes a measure."""
