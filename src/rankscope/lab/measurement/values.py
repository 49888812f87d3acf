"""Settings of a scale analysis, and merits of measures on rankings of one length.

The formulas that evaluate runs compute the merits. There is one topic with a fixed number of relevant documents (by
default the length of the rankings) and as many judged non-relevant documents as a ranking can contain. All documents of
a ranking are judged.

Scales concern rises towards better rankings. The merit of a measure whose lower values are better is therefore its
negated value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankscope.arrays import Floats
from rankscope.errors import MeasureError, SettingsError
from rankscope.lab.measurement.intervals import rankings
from rankscope.lab.rankings.enumeration import values_on_words
from rankscope.lab.rankings.explicit import ExplicitRankings
from rankscope.lab.rankings.worlds import graded_world
from rankscope.measures import Measure


@dataclass(frozen=True)
class Setting:
    """Rankings of ``length`` documents over the grades 0 to ``grades``, at most ``relevant`` of each grade above 0.

    >>> Setting(5, 3), Setting(5, 3).is_limited, Setting(5, 5).is_limited
    (Setting(length=5, relevant=3, grades=1), True, False)
    """

    length: int
    relevant: int
    grades: int = 1

    @classmethod
    def from_arguments(cls, length: int, relevant: int | None, grades: int = 1) -> Setting:
        """Return the validated setting; by default the recall base is the length."""
        if not 1 <= length <= 1000:
            raise SettingsError(f"rankings of length {length}", hint="the length is from 1 to 1000")
        if not 1 <= grades <= 9:
            raise SettingsError(f"grades up to {grades}", hint="grades go up to a number from 1 to 9")
        if relevant is not None and relevant < 1:
            raise SettingsError(f"{relevant} relevant documents", hint="a topic has at least one")
        return cls(length, length if relevant is None else relevant, grades)

    @property
    def is_limited(self) -> bool:
        """Whether the recall base excludes some words of grades as rankings."""
        return self.relevant < self.length

    def with_length(self, length: int) -> Setting:
        """Return a copy with another length of rankings."""
        return replace(self, length=length)

    def __str__(self) -> str:
        """Return a phrase such as "at length 5 with 3 relevant documents"."""
        where = f"at length {self.length}"
        if self.grades > 1:
            return f"{where} over the grades 0 to {self.grades} with {self.relevant} documents of each"
        if self.relevant == self.length:
            return where
        return f"{where} with {self.relevant} relevant document{'s' if self.relevant > 1 else ''}"

    def digits(self, code: int) -> tuple[int, ...]:
        """Return the grades of the ranking with a code, whose digits in base ``grades + 1`` they are.

        >>> Setting(3, 3).digits(6), Setting(3, 3, grades=2).digits(7)
        ((1, 1, 0), (0, 2, 1))
        """
        result = []
        for _ in range(self.length):
            code, digit = divmod(int(code), self.grades + 1)
            result.append(digit)
        return tuple(reversed(result))

    def word(self, code: int) -> str:
        """Return the ranking with a code as text.

        >>> Setting(4, 4).word(6)
        '(0110)'
        """
        return f"({''.join(map(str, self.digits(code)))})"


def merits_on_words(measure: Measure, length: int, relevant: int | None = None, grades: int = 1) -> Floats:
    """Return the merits of a measure on all rankings of a length over the grades 0 to ``grades``, indexed by code.

    Rankings with more documents of a grade than the topic has are NaN.

    >>> from rankscope.measures import measure
    >>> merits_on_words(measure("AP"), 2).tolist()
    [0.0, 0.25, 0.5, 1.0]
    >>> merits_on_words(measure("AP"), 2, relevant=1).tolist()
    [0.0, 0.5, 1.0, nan]
    """
    setting = Setting(length, length if relevant is None else relevant, grades)
    world = graded_world(grades, relevant=setting.relevant, nonrelevant=length)
    values = measure.merit(values_on_words(measure, world, length))
    if setting.is_limited:
        words = rankings(length, grades)
        counts = np.stack([np.count_nonzero(words == grade, axis=1) for grade in range(1, grades + 1)])
        possible = np.flatnonzero((counts <= setting.relevant).all(axis=0))
    else:
        possible = np.arange(len(values))
    reject_undefined(measure, values[possible], lambda index: setting.word(possible[index]))
    result = np.full(len(values), np.nan)
    result[possible] = values[possible]
    return result


def merits_at(measure: Measure, codes: Sequence[int], length: int, relevant: int | None = None) -> Floats:
    """Return the merits of a measure on the rankings with the given codes.

    >>> from rankscope.measures import measure
    >>> merits_at(measure("RR"), [0, 1, 1 << 99], 100).tolist()
    [0.0, 0.01, 1.0]
    """
    setting = Setting(length, relevant or length)
    values = merits_on_grades(measure, [setting.digits(code) for code in codes], setting.relevant)
    reject_undefined(measure, values, lambda index: setting.word(codes[index]))
    return values


def merits_on_grades(
    measure: Measure, rankings: Sequence[Sequence[int]], relevant: int | None = None
) -> Floats:
    """Return the merits of a measure on rankings of one length; ``relevant`` is the number of documents per grade.

    By default there are as many as ranks.

    >>> from rankscope.measures import measure
    >>> merits_on_grades(measure("CG@2"), [(0, 2), (1, 1)]).tolist()
    [2.0, 2.0]
    """
    grades = np.array(rankings, dtype=np.int64)
    length, best = grades.shape[1], max(1, int(grades.max(initial=0)))
    world = graded_world(best, relevant=relevant or length, nonrelevant=length)
    return measure.merit(np.asarray(measure.evaluate(ExplicitRankings(world, grades)), np.float64))


def reject_undefined(measure: Measure, merits: Floats, word: Callable[[int], str]) -> None:
    """Raise an error if a merit is not finite; ``word(i)`` is ranking i as text."""
    undefined = np.flatnonzero(~np.isfinite(merits))
    if len(undefined):
        raise MeasureError(
            f"{measure} is {measure.merit(merits[undefined])[0]:g} on the ranking {word(int(undefined[0]))}",
            hint="only a measure that is a number on every ranking has a scale",
        )
