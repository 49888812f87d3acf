"""The effort family: distances of documents from their ranks in the ideal ranking, and their cost to the user.

Grades of a topic g1 > g2 > ... with c_g documents each take the ranks min(g) .. max(g) of the ideal ranking;
non-relevant documents follow from RB + 1 on. A document elsewhere is misplaced:

    RP[j] = j - min(g) if it comes too early (negative), j - max(g) if too late (positive), else 0
    CRP[j] = RP[1] + ... + RP[j]

A ranking is cut at N and then filled up with non-relevant documents to N = max(N, 2 RB), so that the worst possible
ranking has room. Topics without relevant documents are undefined. :mod:`rankscope.measures.effort_curves` computes all
rankings at once from their relevant hits.
"""

from __future__ import annotations

import numpy as np

from rankscope.choices import CROSSINGS
from rankscope.judging.lists import AnyArray, Floats, Lists
from rankscope.measures.base import Binary, parameter, ratio
from rankscope.measures.effort_curves import Curves, get_curves
from rankscope.measures.effort_time import TimedCurves, get_timed_curves, parse_times
from rankscope.measures.effort_weights import WeightedCurves, grade_values

ORDER = 8
"""Position of these measures in listings."""

_FERRO = "Ferro, Silvello, Keskustalo, Pirkola and Jarvelin 2016"
_ANGELINI = "Angelini, Ferro, Jarvelin, Keskustalo, Pirkola, Santucci and Silvello 2012"


class _Effort(Binary, abstract=True):
    family = "effort"
    reference = _FERRO
    cutoff_meaning = "N, the length at which lists are evaluated"
    default_cutoff = 1000

    @property
    def sees_grades(self) -> bool:
        return True

    def evaluate(self, lists: Lists) -> Floats:
        curves = self.curves(lists)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(curves.base > 0, self.value(curves), np.nan)

    def curves(self, lists: Lists) -> Curves:
        """Return the CRP curves of the lists."""
        return get_curves(lists, self.rel, self.cutoff)

    def value(self, curves: Curves) -> AnyArray:
        """Return the value of every list; arbitrary for topics without relevant documents."""
        raise TypeError(f"{self.name} defines no formula")


class _Crossing(_Effort, abstract=True):
    crossing: str = parameter("sign-change", "definition of a crossing of the axis", choices=CROSSINGS)


class _Weighted(_Effort, abstract=True):
    patience: float = parameter(
        1.0, "experimental: a misplacement at rank j counts j^(patience-1)", low=0, high=1
    )
    grades: str = parameter(
        "equal",
        "experimental: distance between grades: equal, linear, or a list of values for grades 0, 1, 2, ...",
    )

    def validate(self) -> None:
        if self.grades not in ("equal", "linear"):
            grade_values(self.grades, self.name)

    def curves(self, lists: Lists) -> Curves:
        if self.patience == 1 and self.grades == "equal":
            return super().curves(lists)
        return WeightedCurves(lists, self.rel, self.cutoff, self.patience, self.grades)


class Rho(_Weighted, _Crossing):
    """Recovery ratio: how soon after the recall base the ranking has recovered its loss.

    Rho = RB / BalancePoint;  0 if CRP never crosses the axis

    User: Reads until the ranking has recovered its loss at the top; every document beyond the number of relevant ones
    is avoidable effort.
    """

    def value(self, curves: Curves) -> AnyArray:
        return curves.base / curves.balance(self.crossing)


class BalancePoint(_Weighted, _Crossing):
    """Balance point: the rank where CRP first crosses the axis, but not before the recall base.

    max(RB, m), where m is the first crossing (see Twist);  infinite without a crossing

    User: Keeps reading until documents that come too early and too late balance; the cost is the rank reached.
    """

    range = (1.0, float("inf"))
    better = "lower"

    def value(self, curves: Curves) -> AnyArray:
        return curves.balance(self.crossing)


class SigmaPlus(_Weighted):
    """Forward space ratio: how little relevant documents come too late.

    1 - s+ / s+(full scale);  s+ = sum of the positive RP, full scale = the ideal ranking reversed
    s+(full scale) = RB (N - RB) + RB (RB + 1) / 2 - sum over grades of c_g max(g)

    User: Expects every relevant document at its rank in the ideal ranking; each rank of delay is avoidable effort.
    """

    def value(self, curves: Curves) -> AnyArray:
        return (curves.full_forward - curves.forward) / curves.full_forward


class SigmaMinus(_Weighted):
    """Backward space ratio: how little documents come too early.

    1 - s- / s-(full scale);  s- = sum of the absolute negative RP;  s-(full scale) = RB (RB + 1) / 2

    User: Expects every document at its rank in the ideal ranking; each rank by which a document comes too early is
    avoidable effort, because it displaces a better one.
    """

    def value(self, curves: Curves) -> AnyArray:
        return (curves.full_backward - curves.backward) / curves.full_backward


class Sigma(_Weighted):
    """Space ratio: how little documents are misplaced, too early and too late.

    the harmonic mean of SigmaPlus and SigmaMinus;  0 if both are 0

    User: Expects every document at its rank in the ideal ranking; ranks too early and too late are avoidable effort,
    and do not compensate each other.
    """

    def value(self, curves: Curves) -> AnyArray:
        return _sigma(curves)


class Twist(_Weighted, _Crossing):
    """Twist: how little avoidable effort a ranking costs; 1 for the ideal one, 0 for one without relevant documents.

    Twist = (Rho + Sigma) / 2,  Rho = RB / max(RB, m),  m = first rank where CRP crosses the axis
    crossing sign-change: CRP[m] < 0 <= CRP[m+1];  definition: CRP[m] <= 0 <= CRP[m+1] or CRP[m] >= 0 >= CRP[m+1],
    as Definition 3 has it;  matters: CRP[m] <= 0 < CRP[m+1], as the authors' toolkit;  m = 1 if CRP is 0 everywhere

    User: Expects the ideal ranking and reads until misplacements balance; the avoidable effort grows with the distance
    of documents from their ideal ranks, and the value is 1 minus this effort.
    """

    def value(self, curves: Curves) -> AnyArray:
        return (curves.base / curves.balance(self.crossing) + _sigma(curves)) / 2


class _Timed(_Crossing, abstract=True):
    times: str = parameter(
        "tbg", "seconds for documents of grades 0, 1, 2, ..., such as '8.5,11'; tbg: as in time-biased gain"
    )

    def validate(self) -> None:
        # Parsing the default would import the modules of time-biased gain at every start.
        if self.times != "tbg":
            parse_times(self.times, self.name)

    def curves(self, lists: Lists) -> TimedCurves:
        return get_timed_curves(lists, self.rel, self.cutoff, self.times, self.name)


class TwistTime(_Timed):
    """Twist in seconds (experimental): how little avoidable time the ranking costs, with seconds instead of ranks.

    TwistTime = (Rho + Sigma) / 2,  Rho = E / max(E, T),  E = time of all relevant documents, T = time above the rank
    after the first crossing;  Sigma as in Twist, from RP[j] = T(j) - T of the ideal ranking at the ranks of the grade,
    and against the longest spaces that rankings have. With the same time for every document it is Twist.
    times: seconds by grade that do not fall, the last for all better ones;  tbg: 8.495 s non-relevant, 11.12 s relevant

    User: The user of Twist with a clock: expects every document at its time in the ideal ranking, and loses the seconds
    by which documents come too early or too late.
    """

    def value(self, curves: Curves) -> AnyArray:
        assert isinstance(curves, TimedCurves)
        recovered = np.maximum(curves.ideal_time, curves.crossing_time(self.crossing))
        return (curves.ideal_time / recovered + _sigma(curves)) / 2


class BalanceTime(_Timed):
    """Balance time (experimental): the seconds until the ranking has recovered its loss, but not before the ideal one.

    max(E, T), with E and T as in TwistTime;  infinite if CRP never crosses the axis

    User: Reads until documents that come too early and too late balance; the cost is the time in seconds.
    """

    range = (0.0, float("inf"))
    better = "lower"

    def value(self, curves: Curves) -> AnyArray:
        assert isinstance(curves, TimedCurves)
        return np.maximum(curves.ideal_time, curves.crossing_time(self.crossing))


def _sigma(curves: Curves) -> Floats:
    """Return the harmonic mean of (F - f) / F and (B - b) / B, with a single division."""
    plus = curves.full_forward - curves.forward
    minus = curves.full_backward - curves.backward
    return ratio(2.0 * plus * minus, plus * curves.full_backward + minus * curves.full_forward)


class CRP(_Effort):
    """Cumulated relative position: the sum of the misplacements of the first k documents.

    CRP@k = RP[1] + ... + RP[k];  negative while documents have come too early, 0 all along for the ideal ranking

    User: Reads exactly k documents and adds up the distance of each from its rank in the ideal ranking, negative if it
    comes too early and positive if it comes too late.
    """

    range = (-float("inf"), float("inf"))
    cutoff_meaning = "the rank at which CRP is read"
    better = "neither"  # 0 is the ideal, and both signs are misplacements
    reference = _ANGELINI

    def value(self, curves: Curves) -> AnyArray:
        return curves.crp_at(self.cutoff)


class _Indicator(_Effort, abstract=True):
    reference = _ANGELINI
    range = (-float("inf"), float("inf"))
    clamped: bool = parameter(False, "whether the value is brought into [0, 1], as for parallel coordinates")

    def value(self, curves: Curves) -> AnyArray:
        raw = self.raw(curves)
        return np.clip(raw, 0.0, 1.0) if self.clamped else raw

    def raw(self, curves: Curves) -> AnyArray:
        """Return the indicator as defined, which may lie outside [0, 1]."""
        raise TypeError(f"{self.name} defines no formula")


class Rho2012(_Indicator):
    """Recovery value of 2012: the recall base over the rank where the curve is back at the axis.

    RB / b;  b = first rank after the turn-around (the first rank where CRP is smallest) with CRP >= 0;  0 without one
    More than 1 if the ranking recovers before RB; clamped: RB / max(RB, b)

    User: Reads on after the turn-around until late relevant documents have compensated for early non-relevant ones; the
    cost is the rank reached.
    """

    def raw(self, curves: Curves) -> AnyArray:
        return curves.base / curves.regained


class b_ratio(_Indicator):
    """Balance ratio of 2012: how much sooner than the full-scale ranking the ranking is back at the axis.

    1 - b / b(full scale);  b as in Rho2012;  minus infinity if it never returns to the axis; clamped: 0

    User: The user of Rho2012, whose cost is compared with that of the worst order of the same documents.
    """

    def raw(self, curves: Curves) -> AnyArray:
        return 1.0 - curves.regained / curves.full_regained


class CRP_min(_Indicator):
    """Minimum ratio of 2012: how little the ranking loses up to its turn-around.

    1 - CRP[t] / CRP[t] of the full-scale ranking;  t = turn-around, the first rank where CRP is least

    User: Reads down to the turn-around of the ranking; the loss so far is compared with that of the worst order of the
    same documents.
    """

    range = (0.0, 1.0)

    def raw(self, curves: Curves) -> AnyArray:
        worst = curves.full_crp_at(curves.turn_around)
        return (curves.minimum - worst) / -worst


class CRP_N(_Indicator):
    """Final ratio of 2012: how near to the axis the ranking ends, measured by the full-scale ranking.

    1 - CRP[N] / CRP[N] of the full-scale ranking;  undefined if the latter is 0;  more than 1 if CRP ends below 0

    User: Reads the whole ranking of N documents; the final sum of misplacements is compared with that of the worst
    order.
    """

    better = "neither"  # a list without relevant documents ends below 0, and has more than the ideal ranking

    def raw(self, curves: Curves) -> AnyArray:
        worst = curves.full_end
        return np.where(worst == 0, np.nan, (worst - curves.end) / worst)
