"""trec_eval's measures: what each is called, which parameters it takes, which measure of Rankscope it is.

The order of :data:`ENTRIES` is the order of trec_eval's output, whatever the order on its command line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rankscope.errors import MeasureError, nearest

if TYPE_CHECKING:
    from rankscope.measures import Measure

__all__ = ["ENTRIES", "NICKNAMES", "Column", "Entry", "Wanted", "chosen", "parsed"]

Parameters = Literal["none", "cutoffs", "levels", "numbers", "pairs"]
Summary = Literal["mean", "sum", "geometric", "topics"]

_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_RECALLS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)


@dataclass(frozen=True)
class Wanted:
    """What the command line says about relevance: the lowest relevant grade, the size of the collection.

    ``rounding`` of a share of the relevant documents is ``nearest`` in trec_eval 10 and ``up`` before.
    """

    rel: int = 1
    documents: int = 0
    rounding: str = "nearest"


@dataclass(frozen=True)
class Column:
    """One line of output per topic: its name, what it measures, how topics are summarised.

    ``measure`` is None for what is no number of a list (``runid``, ``num_q``, ``relstring``) or is counted from
    preferences; ``entry`` is the name without parameters, ``length`` that of a relstring.
    """

    label: str
    entry: str
    measure: Measure | None
    summary: Summary = "mean"
    whole: bool = False
    in_topics: bool = True
    length: int = 0


@dataclass(frozen=True)
class Entry:
    """A measure of trec_eval. ``make`` gives Rankscope's for one value of the parameters."""

    name: str
    make: Callable[..., Measure] | None = None
    parameters: Parameters = "none"
    default: Sequence[float] = ()
    summary: Summary = "mean"
    whole: bool = False
    in_topics: bool = True
    formats: tuple[str, ...] = ("qrels",)

    def columns(self, text: str | None, wanted: Wanted) -> list[Column]:
        """What this measure prints, with the parameters after its dot if there are any."""
        if text is not None and self.parameters == "none":
            raise MeasureError(f"{self.name} has no parameters", hint=f"write -m {self.name}")
        if self.parameters in ("cutoffs", "levels"):
            return self._at_cutoffs(text, wanted)
        label = self.name if text is None else f"{self.name}_{text}"
        return [self._column(label, self._measure(text, wanted), self._length(text))]

    def _column(self, label: str, measure: Measure | None, length: int = 0) -> Column:
        return Column(label, self.name, measure, self.summary, self.whole, self.in_topics, length)

    def _at_cutoffs(self, text: str | None, wanted: Wanted) -> list[Column]:
        values = list(self.default) if text is None else _cutoffs(self, text)
        shown = "{}_{:d}" if self.parameters == "cutoffs" else "{}_{:3.2f}"
        assert self.make is not None
        return [self._column(shown.format(self.name, value), self.make(value, wanted)) for value in values]

    def _measure(self, text: str | None, wanted: Wanted) -> Measure | None:
        if self.make is None:
            return None
        if self.parameters == "numbers":
            return self.make(list(self.default) if text is None else _numbers(self, text), wanted)
        if self.parameters == "pairs":
            return self.make({} if text is None else _pairs(self, text), wanted)
        return self.make(wanted)

    def _length(self, text: str | None) -> int:
        if self.name != "relstring":
            return 0
        return max(0, int(self.default[0] if text is None else _numbers(self, text)[0]))


def _number(entry: Entry, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not abs(number) < 2**31:
        raise MeasureError(
            f"{entry.name} has the parameter {text!r}", hint="parameters are numbers, separated by commas"
        )
    return number


def _numbers(entry: Entry, text: str) -> list[float]:
    return [_number(entry, part) for part in text.split(",")]


def _cutoffs(entry: Entry, text: str) -> list[float]:
    """Cutoffs in ascending order; ranks lose what stands after their point, as in trec_eval."""
    values = sorted(_numbers(entry, text))
    if entry.parameters == "cutoffs":
        values = [int(value) for value in values]
        if values[0] < 1:
            raise MeasureError(
                f"{entry.name} has a cutoff below 1", hint=f"write -m {entry.name}.5,10, for example"
            )
    if len(set(values)) < len(values):
        raise MeasureError(f"{entry.name} has a cutoff twice", hint="name each cutoff once")
    return values


_PAIR = re.compile(r"(?P<key>p|[+-]?[0-9]+)=(?P<value>[^=]+)")


def _pairs(entry: Entry, text: str) -> dict[str, float]:
    found = {}
    for part in text.split(","):
        match = _PAIR.fullmatch(part)
        if match is None or (match["key"] == "p" and not entry.name.startswith("rbp")):
            raise MeasureError(
                f"{entry.name} has the parameter {part!r}",
                hint=f"write grade=gain, as in -m {entry.name}.1=3,2=9",
            )
        found[match["key"]] = _number(entry, match["value"])
    return found


def _measure(name: str, *cutoff: float, **settings: Any) -> Measure:
    """A measure of Rankscope's; they are loaded when the first one is made, and the list of names needs none."""
    from rankscope.measures import REGISTRY

    return type(REGISTRY[name])(*cutoff, **settings)


def _gains(pairs: dict[str, float]) -> dict[str, Any]:
    """The gains as settings of a measure; what is not judged gains 0, also where non-relevant documents do not."""
    gains = {int(key): value for key, value in pairs.items() if key != "p"}
    if any(grade < 0 for grade in gains):
        raise MeasureError("a grade below 0 cannot have a gain", hint="give gains to grades from 0 on")
    written = {"gains": ",".join(f"{grade}={value!r}" for grade, value in gains.items()) or "linear"}
    return written | {"unjudged": "zero"} if gains.get(0) else written


def _utility(prices: list[float], wanted: Wanted) -> Measure:
    if len(prices) != 4:
        raise MeasureError(
            f"utility has {len(prices)} parameters", hint="it takes four, as in -m utility.1,-1,0,0"
        )
    a, b, c, d = prices
    return _measure("Utility", rel=wanted.rel, a=a, b=b, c=c, d=d, documents=wanted.documents)


def _levels(levels: list[float], wanted: Wanted) -> Measure:
    # written short where that says the same, so that the default is the default of AvgIPrec
    written = [short if float(short := f"{level:g}") == level else repr(level) for level in levels]
    return _measure("AvgIPrec", rel=wanted.rel, levels=",".join(written), rounding=wanted.rounding)


def _one(name: str, kind: str) -> Entry:
    return Entry(name, lambda w: _measure(kind, rel=w.rel))


def _count(name: str, make: Callable[[Wanted], Measure]) -> Entry:
    return Entry(name, make, summary="sum", whole=True)


def _ranks(name: str, kind: str, default: Sequence[int] = _CUTOFFS, *, graded: bool = False) -> Entry:
    make = (lambda k, w: _measure(kind, k)) if graded else (lambda k, w: _measure(kind, k, rel=w.rel))
    return Entry(name, make, "cutoffs", default)


def _graded(name: str, make: Callable[..., Measure]) -> Entry:
    return Entry(name, make, "pairs")


def _preference(name: str, *, whole: bool = False) -> Entry:
    return Entry(
        name, None, summary="sum" if whole else "mean", whole=whole, formats=("prefs", "qrels_prefs")
    )


def _grouped(entry: Entry) -> Entry:
    return Entry(f"{entry.name}_avgjg", entry.make, entry.parameters, entry.default, formats=("qrels_jg",))


_EVERY = ("qrels", "qrels_jg", "prefs", "qrels_prefs")
_MAP = _one("map", "AP")
_P = _ranks("P", "P")
_RPREC_MULT = Entry("Rprec_mult", lambda m, w: _measure("RprecMult", m, rel=w.rel), "levels", _MULTIPLES)

ENTRIES: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry("runid", summary="topics", in_topics=False, formats=_EVERY),
        Entry("num_q", summary="sum", whole=True, in_topics=False, formats=_EVERY),
        _count("num_ret", lambda w: _measure("NumRet")),
        _count("num_rel", lambda w: _measure("NumRel", rel=w.rel)),
        _count("num_rel_ret", lambda w: _measure("NumRelRet", rel=w.rel)),
        _MAP,
        Entry("gm_map", lambda w: _measure("GMAP", rel=w.rel), summary="geometric", in_topics=False),
        _one("Rprec", "Rprec"),
        _one("bpref", "Bpref"),
        _one("recip_rank", "RR"),
        Entry(
            "iprec_at_recall",
            lambda r, w: _measure("IPrec", r, rel=w.rel, rounding=w.rounding),
            "levels",
            _RECALLS,
        ),
        _P,
        Entry("relstring", parameters="numbers", default=(10,), summary="topics"),
        _ranks("recall", "R"),
        _one("infAP", "infAP"),
        Entry("gm_bpref", lambda w: _measure("GMBpref", rel=w.rel), summary="geometric", in_topics=False),
        _RPREC_MULT,
        Entry("utility", _utility, "numbers", (1, -1, 0, 0)),
        Entry("11pt_avg", _levels, "numbers", _RECALLS),
        _one("binG", "BinG"),
        _graded("G", lambda pairs, w: _measure("G", **_gains(pairs))),
        _graded("dcg", lambda pairs, w: _measure("DCG", **_gains(pairs))),
        _graded("ideal_dcg", lambda pairs, w: _measure("IdealDCG", **_gains(pairs))),
        _graded("ndcg", lambda pairs, w: _measure("nDCG", **_gains(pairs))),
        _graded("ndcg_rel", lambda pairs, w: _measure("nDCG_rel", **_gains(pairs))),
        _graded("Rndcg", lambda pairs, w: _measure("RnDCG", **_gains(pairs), rel=w.rel)),
        _ranks("ndcg_cut", "nDCG", graded=True),
        _ranks("map_cut", "AP"),
        _ranks("relative_P", "RelP"),
        _ranks("success", "Success", (1, 5, 10)),
        _one("set_P", "SetP"),
        _one("set_relative_P", "SetRelP"),
        _one("set_recall", "SetR"),
        _one("set_map", "SetAP"),
        Entry("set_F", lambda x, w: _measure("SetF", rel=w.rel, beta=x[0]), "numbers", (1,)),
        _count("num_nonrel_judged_ret", lambda w: _measure("NumNonrelRet", rel=w.rel)),
        _preference("prefs_num_prefs_poss", whole=True),
        _preference("prefs_num_prefs_ful", whole=True),
        _preference("prefs_num_prefs_ful_ret", whole=True),
        _preference("prefs_simp"),
        _preference("prefs_pair"),
        _preference("prefs_avgjg"),
        _preference("prefs_avgjg_Rnonrel"),
        _preference("prefs_simp_ret"),
        _preference("prefs_pair_ret"),
        _preference("prefs_avgjg_ret"),
        _preference("prefs_avgjg_Rnonrel_ret"),
        _preference("prefs_simp_imp"),
        _preference("prefs_pair_imp"),
        _preference("prefs_avgjg_imp"),
        _grouped(_MAP),
        _grouped(_P),
        _grouped(_RPREC_MULT),
        _one("yaap", "YAAP"),
        _graded(
            "rbp", lambda pairs, w: _measure("TopicRBP", p=pairs.get("p", 0.9), gains=_gains(pairs)["gains"])
        ),
        _graded("rbp_resid", lambda pairs, w: _measure("RBPResidual", p=pairs.get("p", 0.9))),
        _ranks("unj", "Unjudged", (5, 10, 20), graded=True),
    )
}

_COUNTS = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret")
_NOT_IN_ALL = ("dcg", "ideal_dcg", "yaap")

NICKNAMES: dict[str, tuple[str, ...]] = {
    "official": (*_COUNTS, "map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P"),
    "set": (*_COUNTS, "utility", "set_P", "set_recall", "set_relative_P", "set_map", "set_F"),
    "all_trec": tuple(
        name for name, entry in ENTRIES.items() if "qrels" in entry.formats and name not in _NOT_IN_ALL
    ),
    "all_prefs": tuple(name for name, entry in ENTRIES.items() if "prefs" in entry.formats),
    "prefs": (
        "runid",
        "num_q",
        "prefs_num_prefs_poss",
        "prefs_num_prefs_ful",
        "prefs_num_prefs_ful_ret",
        "prefs_simp",
        "prefs_pair",
        "prefs_avgjg",
    ),
    "qrels_jg": tuple(name for name, entry in ENTRIES.items() if "qrels_jg" in entry.formats),
}


def chosen(texts: Iterable[str]) -> dict[Entry, str | None]:
    """The entries that ``-m`` options name, in the order of output, with the text of their parameters.

    As in trec_eval, the first parameters given for a measure are the ones that count.

    >>> {entry.name: text for entry, text in chosen(["P.5,10", "map", "P.20"]).items()}
    {'map': None, 'P': '5,10'}
    """
    parameters: dict[str, str] = {}
    marked: set[str] = set()
    for text in texts:
        name, dot, rest = text.partition(".")
        if dot and not rest:
            raise MeasureError(f"{text!r} has no parameters after its dot", hint=f"write -m {name}")
        if name not in NICKNAMES and name not in ENTRIES:
            hint = nearest(name, [*NICKNAMES, *ENTRIES])
            raise MeasureError(
                f"trec_eval has no measure {name!r}", hint=hint or "try -m official or -m all_trec"
            )
        marked.update(NICKNAMES.get(name, (name,)))
        if dot:
            parameters.setdefault(name, rest)
    return {entry: parameters.get(name) for name, entry in ENTRIES.items() if name in marked}


def parsed(texts: Iterable[str], wanted: Wanted, kind: str) -> list[Column]:
    """The columns of the output for ``-m`` options, under a format of judgments."""
    columns = []
    for entry, text in chosen(texts).items():
        if kind not in entry.formats:
            raise MeasureError(
                f"{entry.name} cannot be computed from {kind}",
                hint=f"it needs -R {' or -R '.join(entry.formats)}",
            )
        columns += entry.columns(text, wanted)
    return columns
