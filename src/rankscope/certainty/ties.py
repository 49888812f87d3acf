"""Values of lists with tied documents: in the order by document id, expected over all orders, best, or worst.

The properties that a measure declares select the method: its closed form gives the exact mean, and if it respects
swaps, sorting every group gives the extremes. Other measures are evaluated order by order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankscope.arrays import Bools, Floats, Ints
from rankscope.certainty.orders import MAX_ORDERS, SAMPLES, OrderValues, by_orders
from rankscope.errors import check_name
from rankscope.judging.tied import TiedLists
from rankscope.measures.base import Measure, declared_form, respects_swaps

TIES = ("break", "expected", "best", "worst")
"""Values of rankings with tied documents.

``break``: the value in the order by document id;  ``expected``: the mean over all orders;  ``best``, ``worst``: the
best and the worst value of all orders (the highest and the lowest if the measure has no direction).
"""


def check_ties(ties: str) -> str:
    """Return ``ties`` if it is one of :data:`TIES`; raise an error otherwise."""
    check_name(ties, TIES, f"ties={ties!r}")
    return ties


@dataclass(frozen=True)
class TiedValues:
    """Values of one measure, one per list."""

    value: Floats
    error: Floats
    """Standard error of sampled orders; 0 otherwise."""
    exact: Bools
    """Whether the value covers all orders; otherwise it is the mean, or the extreme, of a sample."""


def tied_values(
    measures: Sequence[Measure],
    lists: TiedLists,
    ties: str,
    *,
    numbers: Ints | None = None,
    seed: int = 1,
    max_orders: int = MAX_ORDERS,
    samples: int = SAMPLES,
) -> list[TiedValues]:
    """Evaluate measures for lists with ties; ``numbers`` identify the lists for the random generator.

    Up to ``max_orders`` permutations of a list are enumerated; otherwise ``samples`` random orders are drawn.
    """
    names = np.arange(len(lists)) if numbers is None else numbers
    results: dict[int, TiedValues] = {}
    for index, measure in enumerate(measures):
        value = _without_orders(measure, lists, ties)
        if value is not None:
            results[index] = TiedValues(value, np.zeros(len(lists)), np.ones(len(lists), np.bool_))
    rest = [index for index in range(len(measures)) if index not in results]
    if rest:
        remaining = [measures[index] for index in rest]
        order_values = by_orders(remaining, lists, names, seed=seed, max_orders=max_orders, samples=samples)
        for index, measure, summary in zip(rest, remaining, order_values, strict=True):
            results[index] = _summarise_orders(measure, lists, summary, ties)
    return [results[index] for index in range(len(measures))]


def needs_orders(measure: Measure, ties: str) -> bool:
    """Return whether a value under ties takes the orders of tied documents one by one."""
    if ties == "expected":
        return declared_form(measure) is None
    return ties != "break" and not respects_swaps(measure)


def _without_orders(measure: Measure, lists: TiedLists, ties: str) -> Floats | None:
    """Return values by the declared properties of the measure, or None if they do not suffice."""
    if needs_orders(measure, ties):
        return None
    if ties == "break":
        return measure.evaluate(lists)
    form = declared_form(measure)
    if ties == "expected" and form is not None:
        return form.expected(measure, lists, measure.evaluate(lists))
    return measure.evaluate(lists.sorted_groups(_wants_highest(measure, ties)))


def _wants_highest(measure: Measure, ties: str) -> bool:
    return (ties == "best") == (measure.better != "lower")


def _summarise_orders(measure: Measure, lists: TiedLists, order_values: OrderValues, ties: str) -> TiedValues:
    if ties == "expected":
        return TiedValues(order_values.mean, order_values.error, order_values.every)
    highest = _wants_highest(measure, ties)
    value = order_values.highest if highest else order_values.lowest
    if not order_values.every.all():  # A sample rarely contains the extremes, but sorted orders often do.
        for best_first in (True, False):
            other = measure.evaluate(lists.sorted_groups(best_first))
            value = np.fmax(value, other) if highest else np.fmin(value, other)
    return TiedValues(value, np.zeros(len(value)), order_values.every)
