"""Measures of our own, for Rankscope."""

import rankscope as rs


def _early(grades, counts, *, depth=10):
    """Early: the share of the relevant documents that stand in the first ranks, as far as they fit.

    Early = relevant documents in the first depth / min(depth, relevant documents of the topic)
    """
    relevant = sum(number for grade, number in counts.items() if grade > 0)
    if relevant == 0:
        return 0.0
    return sum(grade > 0 for grade in grades[:depth]) / min(depth, relevant)


early = rs.measure(
    "Early",
    _early,
    range=(0, 1),
    better="higher",
    reference="our paper",
    parameters={"depth": "number of ranks that count"},
)
