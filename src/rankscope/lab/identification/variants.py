"""Variants of measures: definitions and mistakes that occur in practice, each a formula with options.

A formula is plain, readable Python over a short ranking; with its usual options it is the measure of the same name (a
test compares them). Each unusual option has a description.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import product
from math import log, nan
from typing import Any

from rankscope.lab.identification.inputs import CUTOFFS, TopicLists
from rankscope.measures import REGISTRY, Measure

Function = Callable[..., float]

DISCOUNTS: dict[str, tuple[str, Callable[[int], float]]] = {
    "log2": ("", lambda i: log(1 + i, 2)),
    "jk": ("", lambda i: max(1.0, log(i, 2))),
    "jk10": ("", lambda i: max(1.0, log(i, 10))),
    "ln": ("natural logarithm", lambda i: log(1 + i)),
    "log10": ("logarithm of base 10", lambda i: log(1 + i, 10)),
    "late": ("discount one rank too far, log2(2 + i)", lambda i: log(2 + i, 2)),
    "rank": ("discounted by the rank itself", float),
    "none": ("no discount", lambda i: 1.0),
}
GAINS: dict[str, tuple[str, Callable[[int], float]]] = {
    "linear": ("", lambda g: float(max(g, 0))),
    "exp2": ("", lambda g: 2.0 ** max(g, 0) - 1),
    "binary": ("every relevant document gains 1", lambda g: float(g > 0)),
    "power": ("gain 2^grade, also of documents that are not relevant", lambda g: 2.0 ** max(g, 0)),
}


_Grades = tuple[int, ...]

_cached = lru_cache(1 << 16)
"""Cache for sums over short rankings, which many variants share."""


@_cached
def _with_zeros(lists: TopicLists) -> _Grades:
    return tuple(0 if g is None else g for g in lists.grades)


def _cut(grades: _Grades, cutoff: int | None) -> _Grades:
    return grades if cutoff is None else grades[:cutoff]


def dcg(lists: TopicLists, cutoff: int | None, gains: str, discount: str) -> float:
    return _dcg_sum(_cut(_with_zeros(lists), cutoff), gains, discount)


@_cached
def _dcg_sum(grades: _Grades, gains: str, discount: str) -> float:
    gain, divisors = GAINS[gains][1], _divisors(discount, len(grades))
    gained = {g: gain(g) for g in set(grades)}
    return sum(gained[g] / divisor for g, divisor in zip(grades, divisors, strict=True))


@cache
def _divisors(discount: str, length: int) -> tuple[float, ...]:
    return tuple(map(DISCOUNTS[discount][1], range(1, length + 1)))


def ndcg(lists: TopicLists, cutoff: int | None, gains: str, discount: str, ideal: str) -> float:
    grades = _with_zeros(lists)
    best = _best_first(grades if ideal.startswith("retrieved") else lists.pool)
    if ideal == "short":  # no longer than the ranking
        best = best[: len(grades)]
    if ideal == "first":  # of the documents above the cutoff only
        best = _best_first(_cut(grades, cutoff))
    best = best if ideal.endswith("uncut") else _cut(best, cutoff)
    ideal_sum = _dcg_sum(best, gains, discount)
    return _dcg_sum(_cut(grades, cutoff), gains, discount) / ideal_sum if ideal_sum else nan


@_cached
def _best_first(grades: _Grades) -> _Grades:
    return tuple(sorted(grades, reverse=True))


def average_precision(lists: TopicLists, cutoff: int | None, rel: int, base: str, precision: str) -> float:
    grades = _cut(_with_zeros(lists), cutoff)
    hits, total = 0, 0.0
    for i, g in enumerate(grades, 1):
        before, hits = hits, hits + (g >= rel)
        if g >= rel or precision == "every rank":
            total += (before if precision == "before" else hits) / i
    relevant = sum(g >= rel for g in lists.pool)
    bases = {"all": relevant, "cut": min(relevant, cutoff or relevant), "found": hits}
    bases |= {"length": len(grades), "cutoff": cutoff or len(grades)}
    return total / bases[base] if relevant and bases[base] else nan if not relevant else 0.0


def reciprocal_rank(lists: TopicLists, cutoff: int | None, rel: int, start: str, which: str) -> float:
    if not any(g >= rel for g in lists.pool):
        return nan
    ranks = [i for i, g in enumerate(_cut(_with_zeros(lists), cutoff), 1) if g >= rel]
    if not ranks:
        return 0.0
    rank = ranks[0] if which == "first" else ranks[-1]
    return 1.0 / (rank + (start == "zero"))


def rbp(lists: TopicLists, cutoff: int | None, p: float, gain: str, factor: str, exponent: str) -> float:
    grades = _cut(_with_zeros(lists), cutoff)
    if gain in ("pool", "list"):
        top: int | None = max(lists.pool if gain == "pool" else grades, default=0) or 1
    else:
        top = {"binary": None, "four": 4, "three": 3, "two": 2, "grade": 1}[gain]
    total, whole = _rbp_sums(grades, p, top, shift=1 if exponent == "rank" else 0)
    return {"usual": (1 - p) * total, "none": total, "normalised": total / whole if whole else 0.0}[factor]


@_cached
def _rbp_sums(grades: _Grades, p: float, top: int | None, shift: int) -> tuple[float, float]:
    """Return the discounted sum of gains, and its value if every gain were 1."""
    worth = [float(g > 0) if top is None else max(g, 0) / top for g in grades]
    total = sum(w * p ** (i + shift) for i, w in enumerate(worth))
    return total, sum(p ** (i + shift) for i in range(len(worth)))


def err(lists: TopicLists, cutoff: int | None, best: str, chance: str, cost: str) -> float:
    grades = _cut(_with_zeros(lists), cutoff)
    sources = {"pool": lists.pool, "list": grades}
    top = max(sources[best], default=0) if best in sources else int(best)
    return _err_sum(grades, top, chance, cost)


@_cached
def _err_sum(grades: _Grades, top: int, chance: str, cost: str) -> float:
    continuing, total = 1.0, 0.0
    for i, g in enumerate(grades, 1):
        g = max(g, 0)
        stop = (
            (2**g - 1) / 2**top if chance == "exp2" else g / ((top or 1) if chance == "linear" else top + 1)
        )
        total += continuing * stop / {"rank": i, "none": 1, "log2": log(1 + i, 2)}[cost]
        continuing *= 1 - stop
    return total


def bpref(lists: TopicLists, rel: int, divisor: str, counted: str) -> float:
    relevant = sum(g >= rel for g in lists.pool)
    judged_not = sum(0 <= g < rel for g in lists.pool)
    bound = {"trec_eval": min(relevant, judged_not), "original": relevant, "plus10": relevant + 10}[divisor]
    max_above = relevant + 10 if divisor == "plus10" else relevant
    above, total = 0, 0.0
    for g in lists.grades:
        if g is not None and g >= rel:
            total += 1 - (min(above, max_above) / bound if bound else 0.0)
        elif g is not None or counted == "unjudged":
            above += 1
    return total / relevant if relevant else nan


def precision(lists: TopicLists, cutoff: int | None, rel: int, divisor: str) -> float:
    grades = _cut(_with_zeros(lists), cutoff)
    size = (cutoff or len(grades)) if divisor == "cutoff" else len(grades)
    return sum(g >= rel for g in grades) / size if size else 0.0


def recall(lists: TopicLists, cutoff: int | None, rel: int, divisor: str) -> float:
    relevant = sum(g >= rel for g in lists.pool)
    base = min(relevant, cutoff or relevant) if divisor == "cut" else relevant
    return sum(g >= rel for g in _cut(_with_zeros(lists), cutoff)) / base if base else nan


def success(lists: TopicLists, cutoff: int | None, rel: int) -> float:
    return float(any(g >= rel for g in _cut(_with_zeros(lists), cutoff)))


@dataclass(frozen=True)
class Formula:
    """Formula with options; its name is that of a measure of the registry, followed by descriptions of unusual options.

    The value is NaN for a topic without relevant documents if the formula divides by their number; the value of a
    function there is a separate convention.
    """

    name: str
    function: Function
    options: tuple[tuple[str, Any], ...]
    oddities: int
    """Number of unusual options; a described one counts more."""

    def __call__(self, lists: TopicLists) -> float:
        return self.function(lists, **self._options)

    @cached_property
    def _options(self) -> dict[str, Any]:
        return dict(self.options)


Options = Mapping[str, Mapping[Any, str]]

_CUTS: Mapping[Any, str] = {None: "", **dict.fromkeys(CUTOFFS, "")}
_REL: Mapping[Any, str] = {1: "", 2: ""}
_GAINS: Mapping[Any, str] = {key: words for key, (words, _) in GAINS.items()}
_DISCOUNTS: Mapping[Any, str] = {key: words for key, (words, _) in DISCOUNTS.items()}

FAMILIES: Mapping[str, tuple[Function, Options]] = {
    "nDCG": (ndcg, {
        "cutoff": _CUTS, "gains": _GAINS, "discount": {k: w for k, w in _DISCOUNTS.items() if k not in ("ln", "log10")},
        "ideal": {
            "pool": "", "retrieved": "ideal ranking from the retrieved documents alone",
            "retrieved uncut": "ideal ranking from the retrieved documents alone, not cut",
            "pool uncut": "ideal ranking not cut", "short": "ideal ranking no longer than the evaluated one",
            "first": "ideal ranking from the documents above the cutoff",
        },
    }),
    "DCG": (dcg, {"cutoff": _CUTS, "gains": _GAINS, "discount": _DISCOUNTS}),
    "AP": (average_precision, {
        "cutoff": _CUTS, "rel": _REL,
        "base": {
            "all": "", "cut": "divided by at most the cutoff", "found": "divided by the relevant documents found",
            "length": "divided by the length of the list", "cutoff": "divided by the cutoff",
        },
        "precision": {
            "usual": "", "before": "precision without the document itself",
            "every rank": "precision added up at every rank",
        },
    }),
    "RR": (reciprocal_rank, {
        "cutoff": _CUTS, "rel": _REL, "start": {"one": "", "zero": "ranks counted one too far"},
        "which": {"first": "", "last": "of the last relevant document"},
    }),
    "RBP": (rbp, {
        "cutoff": _CUTS, "p": dict.fromkeys((0.5, 0.8, 0.85, 0.9, 0.95), ""),
        "gain": {
            "binary": "", "pool": "", "list": "grades divided by the best of the list",
            "two": "", "three": "", "four": "", "grade": "grades not divided by the best one",
        },
        "factor": {"usual": "", "none": "without the factor 1 - p", "normalised": "divided by the most it could be"},
        "exponent": {"usual": "", "rank": "p to the power of the rank"},
    }),
    "ERR": (err, {
        "cutoff": _CUTS, "best": {"pool": "", "list": "best grade from the list", **{str(g): "" for g in range(2, 5)}},
        "chance": {
            "exp2": "", "linear": "stops with grade / best grade", "more": "stops with grade / (best grade + 1)",
        },
        "cost": {"rank": "", "none": "not divided by the rank", "log2": "divided by the logarithm of the rank"},
    }),
    "Bpref": (bpref, {
        "rel": _REL, "divisor": {"trec_eval": "", "original": "", "plus10": ""},
        "counted": {"judged": "", "unjudged": "unjudged documents counted as judged non-relevant"},
    }),
    "P": (precision, {
        "cutoff": _CUTS, "rel": _REL, "divisor": {"cutoff": "", "length": "divided by the documents there are"},
    }),
    "R": (recall, {
        "cutoff": _CUTS, "rel": _REL, "divisor": {"all": "", "cut": "divided by at most the cutoff"},
    }),
    "Success": (success, {"cutoff": _CUTS, "rel": _REL}),
}  # fmt: skip
"""Formula and options of each measure, with descriptions of unusual values; the first value is the usual one."""


@cache
def formulas() -> tuple[Formula, ...]:
    """Return all variants, the usual ones first."""
    variants = (formula for family in FAMILIES for formula in _variants(family, {}))
    return tuple(sorted(variants, key=lambda formula: formula.oddities))


@lru_cache(8)
def rbp_formulas(p: float) -> tuple[Formula, ...]:
    """Return the variants of RBP with another p, the usual ones first."""
    existing = frozenset(formulas())
    variants = (formula for formula in _variants("RBP", {"p": {p: ""}}) if formula not in existing)
    return tuple(sorted(variants, key=lambda formula: formula.oddities))


def _variants(family: str, replaced: Options) -> Iterator[Formula]:
    function, options = FAMILIES[family]
    options = {**options, **replaced}
    usual = {key: next(iter(values)) for key, values in options.items()}
    for values in product(*options.values()):
        choice = dict(zip(options, values, strict=True))
        if _is_sensible(family, choice):
            words = [options[key][value] for key, value in choice.items() if options[key][value]]
            odd = sum(value != usual[key] and key != "cutoff" for key, value in choice.items())
            name = ", ".join([str(_measure(family, choice)), *words])
            yield Formula(name, function, tuple(choice.items()), odd + 2 * len(words))


def _is_sensible(family: str, choice: Mapping[str, Any]) -> bool:
    """Return whether options are not equivalent to other options."""
    cutoff = choice.get("cutoff")
    needs_cutoff = {"nDCG": ("pool uncut", "retrieved uncut", "first"), "AP": ("cut", "cutoff")}
    kind = choice.get("ideal", choice.get("base"))
    if cutoff is None and (kind in needs_cutoff.get(family, ()) or family in ("P", "R", "Success")):
        return False
    return not (family == "nDCG" and choice["gains"] == "power" and choice["discount"] != "log2")


def _measure(family: str, choice: Mapping[str, Any]) -> Measure:
    """Return the nearest measure of the registry."""
    settings: dict[str, Any] = {}
    if "gains" in choice and choice["gains"] == "exp2":
        settings["gains"] = "exp2"
    if str(choice.get("discount", "")).startswith("jk"):
        settings |= {"discount": "jk"} | ({"base": 10.0} if choice["discount"] == "jk10" else {})
    if "rel" in choice:
        settings["rel"] = choice["rel"]
    if family == "RBP":
        settings["p"] = choice["p"]
        settings["graded"] = choice["gain"] != "binary"
        settings["max_grade"] = {"two": 2, "three": 3, "four": 4}.get(choice["gain"], 0)
    if family == "ERR" and str(choice["best"]).isdigit():
        settings["max_grade"] = int(choice["best"])
    if family == "Bpref":
        settings["variant"] = choice["divisor"]
    measure = REGISTRY[family](**settings)
    return measure if choice.get("cutoff") is None else measure @ choice["cutoff"]
