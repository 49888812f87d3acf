"""Every measure of Rankscope inside ir_measures (and so inside PyTerrier).

``import rankscope.ir_measures`` registers what ir_measures does not have; ``from rankscope.ir_measures import Twist``
gives a measure for ``pt.Experiment(eval_metrics=[Twist])``. Measures that ir_measures knows already keep its own
implementations there; ``rankscope.ir_measures.provider`` computes those with Rankscope when asked directly.
``RBP(p=0.8)`` without ``rel`` is graded there, and so here: a document gains its grade divided by the best one.
Five have other parameters in ir_measures than here, where ``evaluate`` can give them: ``ERR(max_grade=4)``,
``IPrec(rounding='up')``, and ``preset='ndeval'`` for ``ERR_IA``, ``nERR_IA`` and ``alpha_DCG``.

PyTerrier finds this module by itself (entry point ``pyterrier.modules``): measures may then be given by name, as in
``pt.Experiment(..., eval_metrics=["Twist", "nDCG@10"])``, and are in ``pt.rankscope``.

On Python 3.14 the function ``parse_measure`` of ir_measures 0.4.3 reads no name with a number in it (it asks for
``ast.Num``, which Python has no longer); the one of this module does, and so does everything else here.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from functools import wraps
from math import isnan
from typing import Any

import ir_measures
from ir_measures import providers
from ir_measures.measures import ParamInfo, registry

from rankscope.errors import MeasureError, suggest_names
from rankscope.measures import REGISTRY, Measure, needs_aspects
from rankscope.measures.spellings import respelled
from rankscope.read import Qrels, Run, open_qrels
from rankscope.scores import evaluate

__all__ = ["in_pyterrier", "parse_measure", "provider"]


class _Evaluator(providers.Evaluator):  # type: ignore[misc]
    def __init__(self, measures: Iterable[Any], qrels: Any) -> None:
        # several of theirs may be the same one of ours: Twist and Twist@1000
        self.translated = [(theirs, _translate(theirs)) for theirs in dict.fromkeys(measures)]
        rows = ir_measures.util.QrelsConverter(qrels).as_namedtuple_iter()
        columns: dict[str, list[Any]] = {"query_id": [], "doc_id": [], "relevance": [], "iteration": []}
        for row in rows:
            for name, values in columns.items():
                values.append(getattr(row, name, "0"))
        mine = [one for _, one in self.translated]
        self.judgments = open_qrels(Qrels.from_frame(columns), needs_aspects=needs_aspects(mine))
        super().__init__([theirs for theirs, _ in self.translated], set(self.judgments.topics))

    def iter_calc(self, run: Any) -> Iterator[Any]:
        """The value of every measure for every judged topic; one that is undefined is left out of a plain mean."""
        lists = ir_measures.util.RunConverter(run).as_dict_of_dict()
        lists = {topic: scored for topic, scored in lists.items() if scored} or {self.judgments.topics[0]: {}}
        scores = evaluate(self.judgments, Run.from_dict(lists), [mine for _, mine in self.translated])
        for theirs, mine in self.translated:
            plain = isinstance(theirs.aggregator(), ir_measures.MeanAgg)
            for topic, value in zip(scores.topics, scores.matrix(mine).values[0].tolist(), strict=True):
                if not (plain and isnan(value)):
                    yield ir_measures.Metric(query_id=topic, measure=theirs, value=value)


class RankscopeProvider(providers.Provider):  # type: ignore[misc]
    """Computes with Rankscope whatever ir_measures asks for and Rankscope has."""

    NAME = "rankscope"

    def supports(self, measure: Any) -> bool:
        """Whether there is a measure of that name which takes these parameters."""
        try:
            _translate(measure)
        except MeasureError:
            return False
        return True

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> _Evaluator:
        return _Evaluator(measures, qrels)

    def qrel_inputs(self, measures: Iterable[Any]) -> list[str]:
        """The columns that the judgments need: with aspects for the diversity measures."""
        needed = ["query_id", "doc_id", "relevance"]
        return [*needed, "iteration"] if needs_aspects(map(_translate, measures)) else needed


def _translate(measure: Any) -> Measure:
    """Our measure for one of ir_measures'."""
    settings = dict(measure.params)
    cutoff = settings.pop(measure.AT_PARAM, None)
    name = measure.NAME
    if settings.pop("relative", False) and name == "SetP":
        name = "SetRelP"
    if name not in REGISTRY:
        hint = suggest_names(str(name), REGISTRY) or "see: rankscope measures"
        raise MeasureError(f"Rankscope has no measure {name!r}", hint=hint)
    if not _ours(name):
        if name == "RBP" and "rel" not in settings:
            settings["graded"] = True
        if "gains" in settings:  # of judged documents
            settings["unjudged"] = "zero"
    mine = REGISTRY[name](**settings)
    return (mine if cutoff is None else mine @ cutoff).complete()


def _ours(name: str) -> bool:
    return isinstance(registry.get(name), _Registered)


class _Registered(ir_measures.Measure):  # type: ignore[misc]
    """A measure that ir_measures has from here."""


def _register(mine: Measure) -> None:
    settings = {
        name: ParamInfo(
            dtype=(int, float) if isinstance(p.default, float) else type(p.default),
            default=p.default,
            desc=p.meaning,
            **({"choices": list(p.choices)} if p.choices else {}),
        )
        for name, p in mine.parameters.items()
    }
    if mine.cutoff_rule != "none":
        settings["cutoff"] = ParamInfo(required=mine.cutoff_rule == "required", desc=mine.cutoff_meaning)
    body = {
        "__doc__": type(mine).__doc__,
        "__name__": mine.name,
        "NAME": mine.name,
        "SUPPORTED_PARAMS": settings,
        "aggregator": lambda self: _Aggregate(mine),
    }
    registry[mine.name] = type(f"_{mine.name}", (_Registered,), body)()


class _Aggregate(ir_measures.measures.base.Agg):  # type: ignore[misc]
    """The mean over topics as the measure itself defines it (undefined topics left out)."""

    def __init__(self, measure: Measure) -> None:
        self.measure = measure
        self.values: list[float] = []

    def add(self, value: float) -> None:
        self.values.append(value)

    def result(self) -> float:
        import numpy as np

        return self.measure.mean(np.array(self.values))


for _mine in dict.fromkeys(REGISTRY.values()):
    if _mine.name not in registry:
        _register(_mine)

provider = RankscopeProvider()
if provider.NAME not in providers.registry:
    providers.register(provider)
    ir_measures.DefaultPipeline.providers.append(provider)


def parse_measure(text: str) -> Any:
    """The measure that a text names in ir_measures: its own, or one that is registered from here.

    >>> parse_measure("AP(rel=2)@10")
    AP(rel=2)@10
    >>> parse_measure("Twist@5")
    Twist@5
    """
    try:
        node = ast.parse(text, mode="eval").body
        cutoff = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            cutoff = ast.literal_eval(node.right)
            node = node.left
        settings: dict[Any, Any] = {}
        if isinstance(node, ast.Call) and not node.args:
            settings = {one.arg: ast.literal_eval(one.value) for one in node.keywords}
            node = node.func
        measure = registry[node.id if isinstance(node, ast.Name) else ""](**settings)
        return measure if cutoff is None else measure @ cutoff
    except (SyntaxError, ValueError, KeyError, TypeError, AssertionError):
        raise ValueError(f"ir_measures has no measure {text!r}; write Measure(name=value)@cutoff") from None


def in_pyterrier() -> Any:
    """This module, for PyTerrier, whose experiments then know measures by their names, however they are written.

    >>> import pyterrier as pt  # doctest: +SKIP
    >>> pt.Experiment(systems, topics, qrels, eval_metrics=["Twist", "nDCG@10"])  # doctest: +SKIP
    """
    known = ir_measures.parse_trec_measure
    if not hasattr(known, "__wrapped__"):
        ir_measures.parse_trec_measure = _by_any_name(known)
    return sys.modules[__name__]


def _by_any_name(known: Any) -> Any:
    @wraps(known)
    def parse(measure: str) -> list[Any]:
        try:
            found: list[Any] = known(measure)
        except ValueError:
            try:
                return [parse_measure(respelled(measure, registry) or measure)]
            except ValueError:
                hint = suggest_names(measure.partition("@")[0].partition("(")[0], registry)
                raise ValueError(f"unknown measure {measure!r}" + (f"; {hint}" if hint else "")) from None
        return found

    return parse


def __getattr__(name: str) -> Any:
    if name in REGISTRY:
        mine = REGISTRY[name]
        if mine.name not in registry:
            _register(mine)  # a function of the user's
        return registry[mine.name]
    raise AttributeError(f"module 'rankscope.ir_measures' has no attribute {name!r}")
