"""Grammar of measures, as in ir_measures: ``NAME[(key=value, ...)][@cutoff]``.

External measures are those without a formula here: columns of a score matrix that another program computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rankscope.errors import MeasureError, suggest_names
from rankscope.measures.base import REGISTRY, Measure
from rankscope.measures.function import installed, load_installed
from rankscope.measures.spellings import respelled

if TYPE_CHECKING:
    from rankscope.judging.lists import Floats, Lists

_MEASURE = re.compile(
    r"\s*(?P<name>[^\W\d]\w*)\s*(?:\((?P<settings>.*)\))?\s*(?:@\s*(?P<cutoff>\S+))?\s*", re.DOTALL
)
_SETTING = re.compile(
    r"""\s*(?P<key>[^\W\d]\w*)\s*=\s*(?P<value>"[^"]*"|'[^']*'|\{[^{}]*\}|[^,'"{}]+?)\s*(?:,|$)"""
)


def parse(text: str) -> Measure:
    """Parse the text of a measure.

    >>> parse("nDCG @10"), parse("RBP( p = 0.80 )"), parse("AP(rel=2)@100"), parse("P@5")
    (nDCG@10, RBP, AP(rel=2)@100, P@5)

    The names of trec_eval, pytrec_eval, BEIR, MTEB and ranx work too, in upper or lower case.

    >>> parse("map"), parse("ndcg_cut_10"), parse("P_5"), parse("mrr_at_10"), parse("hit_rate@5")
    (AP, nDCG@10, P@5, RR@10, Success@5)

    The parameters of ir_measures are translated.

    >>> parse("nDCG(dcg='exp-log2')@20"), parse("nDCG(gains={0: 0, 1: 3, 2: 9})"), parse("AP(judged_only=True)")
    (nDCG(gains='exp2')@20, nDCG(gains='0=0,1=3,2=9'), AP(judged_only=True))
    """
    measure = _parse(text)
    if type(REGISTRY.get(measure.name)) is not type(measure):  # a notebook has defined its class again
        _parse.cache_clear()
        measure = _parse(text)
    return measure


@lru_cache
def _parse(text: str) -> Measure:
    return parse_open(text).complete()


def parse_open(text: str) -> Measure:
    """Parse the text of a measure that may still lack a required cutoff.

    >>> parse_open("P")
    P
    """
    match = _MEASURE.fullmatch(text)
    if match is None or match["name"] not in REGISTRY:
        translated = respelled(text, REGISTRY)
        if translated is not None and translated != text:
            return parse_open(translated)
    if match is None:
        raise MeasureError(f"{text!r} is not a measure", hint="write NAME, NAME@10 or NAME(key=value)@10")
    template = installed(match["name"])
    if template is None:
        hint = suggest_names(match["name"], [*REGISTRY, *load_installed()])  # other spellings have been tried
        raise MeasureError(f"there is no measure {match['name']!r}", hint=hint or "see: rankscope measures")
    measure = template(**_settings(match["settings"] or "", text))
    if match["cutoff"] is not None:
        number = _value(match["cutoff"])
        if isinstance(number, str | bool):
            hint = f"write {match['name']}@10, for example"
            raise MeasureError(f"{text!r} has no number after @", hint=hint)
        measure = measure @ number
    return measure


def parse_many(measures: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    """Parse measures separated by spaces or commas; return each once, under the first requested name.

    >>> parse_many("AP nDCG @10, MRR@10 RR@10"), [measure.canonical_name for measure in parse_many("MRR@10")]
    ([AP, nDCG@10, MRR@10], ['RR@10'])
    """
    return list(dict.fromkeys(_parse_each(measures)))


def _parse_each(measures: Any) -> list[Measure]:
    if isinstance(measures, Measure):
        return [measures.complete()]
    if isinstance(measures, str):
        return [parse(name).with_name(name) for name in _split(measures)]
    if hasattr(measures, "AT_PARAM"):
        measure = from_ir_measures(measures)
        name = str(measures)  # Results show it if it denotes the same measure here.
        is_same = installed(measures.NAME) and parse(name) == measure
        return [measure.with_name(name) if is_same else measure]
    if isinstance(measures, Iterable):
        return [measure for item in measures for measure in _parse_each(item)]
    raise MeasureError(f"{measures!r} is not a measure", hint="write its name, such as 'nDCG@10'")


def from_ir_measures(measure: Any) -> Measure:
    """Return the measure of Rankscope for a measure of ir_measures."""
    settings = dict(measure.params)
    cutoff = settings.pop(measure.AT_PARAM, None)
    name = measure.NAME
    if settings.pop("relative", False) and name == "SetP":
        name = "SetRelP"
    if name not in REGISTRY:
        hint = suggest_names(str(name), REGISTRY) or "see: rankscope measures"
        raise MeasureError(f"Rankscope has no measure {name!r}", hint=hint)
    if not hasattr(measure, "is_rankscope"):
        if name == "RBP" and "rel" not in settings:
            settings["graded"] = True
        if "gains" in settings:  # In ir_measures, only judged documents have gains.
            settings["unjudged"] = "zero"
    translated = REGISTRY[name](**settings)
    return (translated if cutoff is None else translated @ cutoff).complete()


@lru_cache
def _split(text: str) -> tuple[str, ...]:
    """Split at spaces and commas outside parentheses; drop spaces around ``@``, ``=`` and commas."""
    text = re.sub(r"\s*([@=,])\s*", r"\1", text)
    parts, depth = [""], 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if (character.isspace() or character == ",") and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return tuple(part for part in parts if part)


def _settings(text: str, whole: str) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    position = 0
    while text[position:].strip():
        match = _SETTING.match(text, position)
        if match is None:
            raise MeasureError(f"{whole!r} has malformed parameters", hint="write NAME(key=value, key=value)")
        settings[match["key"]] = _value(match["value"])
        position = match.end()
    return settings


def _value(text: str) -> Any:
    if text[:1] in "'\"":
        return text[1:-1]
    if text[:1] == "{":
        entries = (part.partition(":") for part in text[1:-1].split(",") if part.strip())
        return {_value(grade.strip()): _value(gain.strip()) for grade, _, gain in entries}
    if text in ("True", "False", "true", "false"):
        return text.lower() == "true"
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() else number


_AMBIGUOUS = ("f1", "hit", "hits", "gm_map", "gm_bpref")
"""Names that other programs use for different values; for geometric means trec_eval prints logarithms."""


class ExternalMeasure(Measure, abstract=True):
    """A measure without a formula, whose values were read from a file."""

    family = "given"
    range = (-float("inf"), float("inf"))

    def __reduce__(self) -> tuple[Any, ...]:
        return (external_measure, (self.name,))

    def evaluate(self, lists: Lists) -> Floats:
        raise self._error("has no formula, only values read from a file", "see: rankscope measures")


def external_measure(name: str, others: bool = False) -> Measure:
    """Return the registered measure with this name, otherwise an external measure.

    With ``others``, unambiguous names of trec_eval and other programs are accepted.

    >>> external_measure("nDCG@10"), external_measure("official score")
    (nDCG@10, official score)
    >>> external_measure("ndcg_cut_10", others=True), external_measure("f1", others=True)
    (ndcg_cut_10, f1)
    """
    if installed(name.partition("@")[0].partition("(")[0].strip()):
        return parse(name).with_name(name)
    if others and name.lower() not in _AMBIGUOUS and respelled(name, REGISTRY) is not None:
        with suppress(MeasureError):
            return parse(name).with_name(name)
    readable = name.encode("utf-8", "replace").decode()  # a docstring cannot contain lone surrogates
    about = {"name": name, "__doc__": f"{readable}: values read from a file."}
    kind = type("Given", (ExternalMeasure,), about, abstract=True)
    measure: Measure = kind()
    return measure
