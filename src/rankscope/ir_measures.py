"""Measures of Rankscope for ir_measures and PyTerrier.

``import rankscope.ir_measures`` registers the measures that ir_measures lacks; ``from rankscope.ir_measures import
Twist`` imports a measure for ``pt.Experiment(eval_metrics=[Twist])``. Measures that ir_measures already has keep their
implementations; ``rankscope.ir_measures.provider`` computes them with Rankscope if it is called directly.
``RBP(p=0.8)`` without ``rel`` is graded in ir_measures and therefore here: a document gains its grade divided by the
best grade. Five measures lack parameters in ir_measures that ``rankscope.evaluate`` has: ``ERR(max_grade=4)``,
``IPrec(rounding='up')``, and ``preset='ndeval'`` for ``ERR_IA``, ``nERR_IA`` and ``alpha_DCG``.

PyTerrier discovers this module (entry point ``pyterrier.modules``) and then accepts measures by name, as in
``pt.Experiment(..., eval_metrics=["Twist", "nDCG@10"])``, and as attributes of ``pt.rankscope``.

On Python 3.14, ``parse_measure`` of ir_measures 0.4.3 fails for names with a number, because it uses ``ast.Num``, which
Python 3.14 removed; ``parse_measure`` of this module works.
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
from rankscope.measures.grammar import from_ir_measures
from rankscope.measures.spellings import respelled
from rankscope.read import Qrels, Run, open_qrels
from rankscope.scores import evaluate

__all__ = ["in_pyterrier", "parse_measure", "provider"]


class _Evaluator(providers.Evaluator):  # type: ignore[misc]
    def __init__(self, measures: Iterable[Any], qrels: Any) -> None:
        # Several measures of ir_measures may be the same measure here, such as Twist and Twist@1000.
        self.translated = [
            (ir_measure, from_ir_measures(ir_measure)) for ir_measure in dict.fromkeys(measures)
        ]
        rows = ir_measures.util.QrelsConverter(qrels).as_namedtuple_iter()
        columns: dict[str, list[Any]] = {"query_id": [], "doc_id": [], "relevance": [], "iteration": []}
        for row in rows:
            for name, values in columns.items():
                values.append(getattr(row, name, "0"))
        own_measures = [measure for _, measure in self.translated]
        aspects = needs_aspects(own_measures)
        self.judgments = open_qrels(Qrels.from_frame(columns), needs_aspects=aspects, gains=True)
        super().__init__([ir_measure for ir_measure, _ in self.translated], set(self.judgments.topics))

    def iter_calc(self, run: Any) -> Iterator[Any]:
        """Yield the value of every measure and judged topic; omits undefined values if ir_measures averages them."""
        lists = ir_measures.util.RunConverter(run).as_dict_of_dict()
        lists = {topic: scored for topic, scored in lists.items() if scored} or {self.judgments.topics[0]: {}}
        scores = evaluate(self.judgments, Run.from_dict(lists), [measure for _, measure in self.translated])
        for ir_measure, measure in self.translated:
            plain = isinstance(ir_measure.aggregator(), ir_measures.MeanAgg)
            for topic, value in zip(scores.topics, scores.matrix(measure).values[0].tolist(), strict=True):
                if not (plain and isnan(value)):
                    yield ir_measures.Metric(query_id=topic, measure=ir_measure, value=value)


class RankscopeProvider(providers.Provider):  # type: ignore[misc]
    """A provider that computes the measures of ir_measures with Rankscope."""

    NAME = "rankscope"

    def supports(self, measure: Any) -> bool:
        """Return whether Rankscope has a measure with this name and these parameters."""
        try:
            from_ir_measures(measure)
        except MeasureError:
            return False
        return True

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> _Evaluator:
        return _Evaluator(measures, qrels)

    def qrel_inputs(self, measures: Iterable[Any]) -> list[str]:
        """Return the required columns of the judgments, with aspects for diversity measures."""
        needed = ["query_id", "doc_id", "relevance"]
        return [*needed, "iteration"] if needs_aspects(map(from_ir_measures, measures)) else needed


class _RankscopeMeasure(ir_measures.Measure):  # type: ignore[misc]
    """A measure that this module registers in ir_measures."""

    is_rankscope = True


def _register(measure: Measure) -> None:
    settings = {}
    for name, p in measure.parameters.items():
        dtype = (int, float) if isinstance(p.default, float) else type(p.default)
        choices = {"choices": list(p.choices)} if p.choices else {}
        settings[name] = ParamInfo(dtype=dtype, default=p.default, desc=p.meaning, **choices)
    if measure.cutoff_rule != "none":
        settings["cutoff"] = ParamInfo(
            required=measure.cutoff_rule == "required", desc=measure.cutoff_meaning
        )
    body = {
        "__doc__": type(measure).__doc__,
        "__name__": measure.name,
        "NAME": measure.name,
        "SUPPORTED_PARAMS": settings,
        "aggregator": lambda self: _Aggregate(measure),
    }
    registry[measure.name] = type(f"_{measure.name}", (_RankscopeMeasure,), body)()


class _Aggregate(ir_measures.measures.base.Agg):  # type: ignore[misc]
    """Mean over topics as the measure defines it, without undefined topics."""

    def __init__(self, measure: Measure) -> None:
        self.measure = measure
        self.values: list[float] = []

    def add(self, value: float) -> None:
        self.values.append(value)

    def result(self) -> float:
        import numpy as np

        return self.measure.mean(np.array(self.values))


for _measure in dict.fromkeys(REGISTRY.values()):
    if _measure.name not in registry:
        _register(_measure)

provider = RankscopeProvider()
if provider.NAME not in providers.registry:
    providers.register(provider)
    ir_measures.DefaultPipeline.providers.append(provider)


def parse_measure(text: str) -> Any:
    """Return the measure of ir_measures, built-in or registered by this module, that a text names.

    Parameters
    ----------
    text
        Name of the measure with parameters and cutoff, such as ``nDCG@10``.

    Examples
    --------
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
            settings = {keyword.arg: ast.literal_eval(keyword.value) for keyword in node.keywords}
            node = node.func
        measure = registry[node.id if isinstance(node, ast.Name) else ""](**settings)
        return measure if cutoff is None else measure @ cutoff
    except (SyntaxError, ValueError, KeyError, TypeError, AssertionError):
        raise ValueError(f"ir_measures has no measure {text!r}; write Measure(name=value)@cutoff") from None


def in_pyterrier() -> Any:
    """Return this module, after enabling all spellings of measure names in experiments of PyTerrier.

    >>> import pyterrier as pt  # doctest: +SKIP
    >>> pt.Experiment(systems, topics, qrels, eval_metrics=["Twist", "nDCG@10"])  # doctest: +SKIP
    """
    parse_trec_measure = ir_measures.parse_trec_measure
    if not hasattr(parse_trec_measure, "__wrapped__"):
        ir_measures.parse_trec_measure = _accept_all_spellings(parse_trec_measure)
    return sys.modules[__name__]


def _accept_all_spellings(parse_trec_measure: Any) -> Any:
    @wraps(parse_trec_measure)
    def parse(measure: str) -> list[Any]:
        try:
            measures: list[Any] = parse_trec_measure(measure)
        except ValueError:
            try:
                return [parse_measure(respelled(measure, registry) or measure)]
            except ValueError:
                hint = suggest_names(measure.partition("@")[0].partition("(")[0], registry)
                raise ValueError(f"unknown measure {measure!r}" + (f"; {hint}" if hint else "")) from None
        return measures

    return parse


def __getattr__(name: str) -> Any:
    if name in REGISTRY:
        measure = REGISTRY[name]
        if measure.name not in registry:
            _register(measure)  # A user-defined measure.
        return registry[measure.name]
    raise AttributeError(f"module 'rankscope.ir_measures' has no attribute {name!r}")
