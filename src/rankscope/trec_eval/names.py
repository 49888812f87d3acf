"""trec_eval's measures: their names, parameters and equivalents in Rankscope.

:data:`ENTRIES` has the order of trec_eval's output, which does not depend on the order of ``-m`` options.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rankscope.errors import MeasureError, suggest_names

if TYPE_CHECKING:
    from rankscope.measures import Measure

Parameters = Literal["none", "cutoffs", "levels", "numbers", "pairs"]
Summary = Literal["mean", "sum", "geometric", "topics"]

_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_RECALLS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)


@dataclass(frozen=True)
class RelevanceSettings:
    """Lowest relevant grade and size of the collection, from the command line.

    ``rounding`` of a share of the relevant documents is ``nearest`` in trec_eval 10 and ``up`` in earlier versions.
    """

    rel: int = 1
    n_documents: int = 0
    rounding: str = "nearest"


@dataclass(frozen=True)
class Column:
    """One line of output per topic: its label, its measure, its summary over topics.

    ``measure`` is None for ``runid``, ``num_q``, ``relstring`` and measures of preferences; ``entry`` is the name
    without parameters, ``length`` the length of a relstring.
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
    """A measure of trec_eval. ``make`` returns Rankscope's equivalent for a value of the parameters, or None."""

    name: str
    make: Callable[..., Measure] | None = None
    parameters: Parameters = "none"
    default: Sequence[float] = ()
    summary: Summary = "mean"
    whole: bool = False
    in_topics: bool = True
    formats: tuple[str, ...] = ("qrels",)

    def columns(self, text: str | None, settings: RelevanceSettings) -> list[Column]:
        """Return the columns of this measure; ``text`` holds the parameters after the dot, if any."""
        label = self.name if text is None else f"{self.name}_{text}"
        match self.parameters:
            case "none":
                if text is not None:
                    raise MeasureError(f"{self.name} has no parameters", hint=f"write -m {self.name}")
                values: list[tuple[str, Any]] = [(label, None)]
            case "numbers":
                values = [(label, list(self.default) if text is None else _parse_numbers(self, text))]
            case "pairs":
                values = [(label, {} if text is None else _parse_pairs(self, text))]
            case _:
                template = "{}_{:d}" if self.parameters == "cutoffs" else "{}_{:3.2f}"
                cutoffs = self.default if text is None else _parse_cutoffs(self, text)
                values = [(template.format(self.name, cutoff), cutoff) for cutoff in cutoffs]
        return [
            Column(
                label=label,
                entry=self.name,
                measure=None if self.make is None else self.make(value, settings),
                summary=self.summary,
                whole=self.whole,
                in_topics=self.in_topics,
                length=max(0, int(value[0])) if self.name == "relstring" else 0,
            )
            for label, value in values
        ]


def _parse_number(entry: Entry, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not abs(number) < 2**31:
        hint = "parameters are numbers, separated by commas"
        raise MeasureError(f"{entry.name} has the parameter {text!r}", hint=hint)
    return number


def _parse_numbers(entry: Entry, text: str) -> list[float]:
    return [_parse_number(entry, part) for part in text.split(",")]


def _parse_cutoffs(entry: Entry, text: str) -> list[float]:
    """Return cutoffs in ascending order; ranks are truncated to whole numbers, as in trec_eval."""
    values = sorted(_parse_numbers(entry, text))
    if entry.parameters == "cutoffs":
        values = [int(value) for value in values]
        if values[0] < 1:
            hint = f"write -m {entry.name}.5,10, for example"
            raise MeasureError(f"{entry.name} has a cutoff below 1", hint=hint)
    if len(set(values)) < len(values):
        raise MeasureError(f"{entry.name} has a cutoff twice", hint="name each cutoff once")
    return values


_PAIR = re.compile(r"(?P<key>p|[+-]?[0-9]+)=(?P<value>[^=]+)")


def _parse_pairs(entry: Entry, text: str) -> dict[str, float]:
    gains = {}
    for part in text.split(","):
        match = _PAIR.fullmatch(part)
        if match is None or (match["key"] == "p" and not entry.name.startswith("rbp")):
            hint = f"write grade=gain, as in -m {entry.name}.1=3,2=9"
            raise MeasureError(f"{entry.name} has the parameter {part!r}", hint=hint)
        gains[match["key"]] = _parse_number(entry, match["value"])
    return gains


def _measure(name: str, *cutoff: float, **settings: Any) -> Measure:
    """Return a measure of Rankscope; imports the measures lazily because a list of names does not need them."""
    from rankscope.measures import REGISTRY

    return type(REGISTRY[name])(*cutoff, **settings)


def _parse_gains(pairs: dict[str, float]) -> dict[str, Any]:
    """Return gains as settings of a measure; unjudged documents gain 0 even if grade 0 has another gain."""
    gains = {int(key): value for key, value in pairs.items() if key != "p"}
    if any(grade < 0 for grade in gains):
        raise MeasureError("a grade below 0 cannot have a gain", hint="give gains to grades from 0 on")
    settings = {"gains": ",".join(f"{grade}={value!r}" for grade, value in gains.items()) or "linear"}
    return settings | {"unjudged": "zero"} if gains.get(0) else settings


def _make_utility(prices: list[float], settings: RelevanceSettings) -> Measure:
    if len(prices) != 4:
        hint = "it takes four, as in -m utility.1,-1,0,0"
        raise MeasureError(f"utility has {len(prices)} parameters", hint=hint)
    a, b, c, d = prices
    return _measure("Utility", rel=settings.rel, a=a, b=b, c=c, d=d, documents=settings.n_documents)


def _make_avg_iprec(levels: list[float], settings: RelevanceSettings) -> Measure:
    # The short form makes trec_eval's default levels equal to the default of AvgIPrec.
    texts = [short if float(short := f"{level:g}") == level else repr(level) for level in levels]
    return _measure("AvgIPrec", rel=settings.rel, levels=",".join(texts), rounding=settings.rounding)


def _make_iprec(recall: float, settings: RelevanceSettings) -> Measure:
    return _measure("IPrec", recall, rel=settings.rel, rounding=settings.rounding)


def _make_rbp(pairs: dict[str, float], settings: RelevanceSettings) -> Measure:
    return _measure("TopicRBP", p=pairs.get("p", 0.9), gains=_parse_gains(pairs)["gains"])


def _binary_entry(name: str, kind: str) -> Entry:
    return Entry(name, lambda _, w: _measure(kind, rel=w.rel))


def _count_entry(name: str, make: Callable[..., Measure]) -> Entry:
    return Entry(name, make, summary="sum", whole=True)


def _cutoff_entry(name: str, kind: str, default: Sequence[int] = _CUTOFFS, *, graded: bool = False) -> Entry:
    make = (lambda k, w: _measure(kind, k)) if graded else (lambda k, w: _measure(kind, k, rel=w.rel))
    return Entry(name, make, "cutoffs", default)


def _preference_entry(name: str) -> Entry:
    is_count = name.startswith("prefs_num_")
    summary: Summary = "sum" if is_count else "mean"
    return Entry(name, summary=summary, whole=is_count, formats=("prefs", "qrels_prefs"))


def _group_entry(entry: Entry) -> Entry:
    return Entry(f"{entry.name}_avgjg", entry.make, entry.parameters, entry.default, formats=("qrels_jg",))


_PREFERENCES = (
    "prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret", "prefs_simp", "prefs_pair",
    "prefs_avgjg", "prefs_avgjg_Rnonrel", "prefs_simp_ret", "prefs_pair_ret", "prefs_avgjg_ret",
    "prefs_avgjg_Rnonrel_ret", "prefs_simp_imp", "prefs_pair_imp", "prefs_avgjg_imp",
)  # fmt: skip
_ALL_FORMATS = ("qrels", "qrels_jg", "prefs", "qrels_prefs")
_MAP = _binary_entry("map", "AP")
_P = _cutoff_entry("P", "P")
_RPREC_MULT = Entry("Rprec_mult", lambda m, w: _measure("RprecMult", m, rel=w.rel), "levels", _MULTIPLES)

ENTRIES: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry("runid", summary="topics", in_topics=False, formats=_ALL_FORMATS),
        Entry("num_q", summary="sum", whole=True, in_topics=False, formats=_ALL_FORMATS),
        _count_entry("num_ret", lambda _, w: _measure("NumRet")),
        _count_entry("num_rel", lambda _, w: _measure("NumRel", rel=w.rel)),
        _count_entry("num_rel_ret", lambda _, w: _measure("NumRelRet", rel=w.rel)),
        _MAP,
        Entry("gm_map", lambda _, w: _measure("GMAP", rel=w.rel), summary="geometric", in_topics=False),
        _binary_entry("Rprec", "Rprec"),
        _binary_entry("bpref", "Bpref"),
        _binary_entry("recip_rank", "RR"),
        Entry("iprec_at_recall", _make_iprec, "levels", _RECALLS),
        _P,
        Entry("relstring", parameters="numbers", default=(10,), summary="topics"),
        _cutoff_entry("recall", "R"),
        _binary_entry("infAP", "infAP"),
        Entry("gm_bpref", lambda _, w: _measure("GMBpref", rel=w.rel), summary="geometric", in_topics=False),
        _RPREC_MULT,
        Entry("utility", _make_utility, "numbers", (1, -1, 0, 0)),
        Entry("11pt_avg", _make_avg_iprec, "numbers", _RECALLS),
        _binary_entry("binG", "BinG"),
        Entry("G", lambda pairs, w: _measure("G", **_parse_gains(pairs)), "pairs"),
        Entry("dcg", lambda pairs, w: _measure("DCG", **_parse_gains(pairs)), "pairs"),
        Entry("ideal_dcg", lambda pairs, w: _measure("IdealDCG", **_parse_gains(pairs)), "pairs"),
        Entry("ndcg", lambda pairs, w: _measure("nDCG", **_parse_gains(pairs)), "pairs"),
        Entry("ndcg_rel", lambda pairs, w: _measure("nDCG_rel", **_parse_gains(pairs)), "pairs"),
        Entry("Rndcg", lambda pairs, w: _measure("RnDCG", **_parse_gains(pairs), rel=w.rel), "pairs"),
        _cutoff_entry("ndcg_cut", "nDCG", graded=True),
        _cutoff_entry("map_cut", "AP"),
        _cutoff_entry("relative_P", "RelP"),
        _cutoff_entry("success", "Success", (1, 5, 10)),
        _binary_entry("set_P", "SetP"),
        _binary_entry("set_relative_P", "SetRelP"),
        _binary_entry("set_recall", "SetR"),
        _binary_entry("set_map", "SetAP"),
        Entry("set_F", lambda x, w: _measure("SetF", rel=w.rel, beta=x[0]), "numbers", (1,)),
        _count_entry("num_nonrel_judged_ret", lambda _, w: _measure("NumNonrelRet", rel=w.rel)),
        *(_preference_entry(name) for name in _PREFERENCES),
        _group_entry(_MAP),
        _group_entry(_P),
        _group_entry(_RPREC_MULT),
        _binary_entry("yaap", "YAAP"),
        Entry("rbp", _make_rbp, "pairs"),
        Entry("rbp_resid", lambda pairs, w: _measure("RBPResidual", p=pairs.get("p", 0.9)), "pairs"),
        _cutoff_entry("unj", "Unjudged", (5, 10, 20), graded=True),
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
    "prefs": ("runid", "num_q", *_PREFERENCES[:6]),
    "qrels_jg": tuple(name for name, entry in ENTRIES.items() if "qrels_jg" in entry.formats),
}


def select_entries(texts: Iterable[str]) -> dict[Entry, str | None]:
    """Return the entries that ``-m`` options name, in output order, with the text of their parameters.

    As in trec_eval, only the first parameters of a measure count.

    >>> {entry.name: text for entry, text in select_entries(["P.5,10", "map", "P.20"]).items()}
    {'map': None, 'P': '5,10'}
    """
    parameters: dict[str, str] = {}
    names: set[str] = set()
    for text in texts:
        name, dot, rest = text.partition(".")
        if dot and not rest:
            raise MeasureError(f"{text!r} has no parameters after its dot", hint=f"write -m {name}")
        if name not in NICKNAMES and name not in ENTRIES:
            hint = suggest_names(name, [*NICKNAMES, *ENTRIES])
            hint = hint or "try -m official or -m all_trec"
            raise MeasureError(f"trec_eval has no measure {name!r}", hint=hint)
        names.update(NICKNAMES.get(name, (name,)))
        if dot:
            parameters.setdefault(name, rest)
    return {entry: parameters.get(name) for name, entry in ENTRIES.items() if name in names}


def parse_columns(texts: Iterable[str], settings: RelevanceSettings, kind: str) -> list[Column]:
    """Return the output columns of ``-m`` options for a format of judgments."""
    columns = []
    for entry, text in select_entries(texts).items():
        if kind not in entry.formats:
            hint = f"it needs -R {' or -R '.join(entry.formats)}"
            raise MeasureError(f"{entry.name} cannot be computed from {kind}", hint=hint)
        columns += entry.columns(text, settings)
    return columns
