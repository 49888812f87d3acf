"""Regions of (0, 1) in which a polynomial with integer coefficients is positive or negative, computed exactly.

Descartes' rule in Bernstein form (Lane and Riesenfeld 1981): the number of roots inside an interval is at most the
number of sign changes of the Bernstein coefficients there, and both are even or both odd. Intervals with more than one
change are halved (de Casteljau). All arithmetic is with whole numbers, so no root is missed and none is invented,
however close to another or to 1 it is; roots closer than 2^-60 count as one.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import comb, gcd, lcm
from typing import Any, NamedTuple

import numpy as np

from rankscope.arrays import NDArray
from rankscope.progress import advance

Wholes = NDArray[np.object_]

FINEST = 60
"""Number of binary digits to which roots are located."""


class Region(NamedTuple):
    """An interval in which a polynomial has one sign; isolated zeros are ignored."""

    low: float
    high: float
    sign: int


def sign_regions(coefficients: Sequence[int]) -> list[Region]:
    """Return the regions of (0, 1) in which c_0 + c_1 x + c_2 x^2 + ... is positive, negative, or zero throughout.

    >>> sign_regions([-1, 4, -3])  # roots 1/3 and 1
    [Region(low=0.0, high=0.3333333333333333, sign=-1), Region(low=0.3333333333333333, high=1.0, sign=1)]
    >>> sign_regions([1, -4, 4])  # touches zero at 1/2
    [Region(low=0.0, high=1.0, sign=1)]
    >>> sign_regions([0, 0])
    [Region(low=0.0, high=1.0, sign=0)]
    """
    wholes: list[int] = list(np.trim_zeros(np.array([int(c) for c in coefficients], object)))
    if not wholes:  # A power of x changes no sign.
        return [Region(0.0, 1.0, 0)]
    brackets = _isolate_roots(_bernstein(wholes), Fraction(0), Fraction(1))
    borders = [Fraction(0), *(_refined(wholes, *bracket) for bracket in brackets), Fraction(1)]
    regions: list[Region] = []
    for low, high in pairwise(borders):
        sign = _sign_at(wholes, (low + high) / 2)
        if regions and regions[-1].sign == sign:
            regions[-1] = regions[-1]._replace(high=float(high))
        elif low < high:
            regions.append(Region(float(low), float(high), sign))
    return regions


def _bernstein(wholes: Sequence[int]) -> Wholes:
    """Return the Bernstein coefficients on [0, 1], multiplied so that they are integers."""
    degree = len(wholes) - 1
    scale = lcm(*range(1, degree + 2)) // (degree + 1)  # the least common multiple of the binomials
    coefficients = np.array([c * (scale // comb(degree, i)) for i, c in enumerate(wholes)], object)
    for start in range(degree - 1, -1, -1):  # from differences to values
        coefficients[start:] = np.add.accumulate(coefficients[start:])
    return coefficients


def _isolate_roots(
    coefficients: Wholes, low: Fraction, high: Fraction
) -> Iterator[tuple[Fraction, Fraction, int]]:
    """Return the intervals with one root (or inseparable ones), with the sign right after their lower ends."""
    advance()
    signs = [1 if c > 0 else -1 for c in coefficients if c != 0]
    changes = sum(a != b for a, b in pairwise(signs))
    if changes == 0:
        return
    if changes == 1 or (high - low) * 2**FINEST <= 1:
        yield low, high, signs[0]
        return
    middle = (low + high) / 2
    left, right = _halves(coefficients)
    yield from _isolate_roots(left, low, middle)
    if right[0] == 0:
        yield middle, middle, 0
    yield from _isolate_roots(right, middle, high)


def _halves(coefficients: Wholes) -> tuple[Wholes, Wholes]:
    """Return the coefficients on the two halves of the interval."""
    degree = len(coefficients) - 1
    left, right = [coefficients[0] << degree], [coefficients[-1] << degree]
    row: Any = coefficients
    for step in range(1, degree + 1):
        row = row[:-1] + row[1:]
        left.append(row[0] << (degree - step))
        right.append(row[-1] << (degree - step))
    return _reduced(left), _reduced(right[::-1])


def _reduced(numbers: list[int]) -> Wholes:
    """Divide the coefficients by their common factor, which keeps the integers short."""
    common = gcd(*numbers) or 1
    return np.array([n // common for n in numbers], object)


def _refined(wholes: Sequence[int], low: Fraction, high: Fraction, sign: int) -> Fraction:
    """Return the root in an interval, within the finest distance; an inseparable cluster is its middle."""
    while (high - low) * 2**FINEST > 1:
        middle = (low + high) / 2
        middle_sign = _sign_at(wholes, middle)
        if middle_sign == 0:
            return middle
        low, high = (middle, high) if middle_sign == sign else (low, middle)
    return (low + high) / 2


def _sign_at(wholes: Sequence[int], point: Fraction) -> int:
    """Return the sign of the polynomial at a fraction, by Horner's rule on whole numbers."""
    top, bottom = point.numerator, point.denominator
    value, power = 0, 1
    for c in reversed(wholes):
        value = value * top + c * power
        power *= bottom
    return (value > 0) - (value < 0)
