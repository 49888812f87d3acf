"""Every measure of Rankscope inside ir_measures (and so inside PyTerrier).

``import rankscope.ir_measures`` registers what ir_measures does not have; ``from rankscope.ir_measures import Twist``
gives a measure for ``pt.Experiment(eval_metrics=[Twist])``. Measures that ir_measures knows already keep its own
implementations there; ``rankscope.ir_measures.provider`` computes those with Rankscope when asked directly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import ir_measures
from ir_measures import providers
from ir_measures.measures import ParamInfo, registry

from rankscope.measures import REGISTRY, Measure, needs_aspects
from rankscope.read import Qrels, Run, open_qrels
from rankscope.scores import evaluate

__all__ = ["provider"]


class _Evaluator(providers.Evaluator):  # type: ignore[misc]
    def __init__(self, measures: Iterable[Any], qrels: Any) -> None:
        rows = ir_measures.util.QrelsConverter(qrels).as_namedtuple_iter()
        columns: dict[str, list[Any]] = {"query_id": [], "doc_id": [], "relevance": [], "iteration": []}
        for row in rows:
            for name, values in columns.items():
                values.append(getattr(row, name, "0"))
        self.translated = {_translate(measure): measure for measure in measures}
        self.judgments = open_qrels(Qrels.from_frame(columns), needs_aspects=needs_aspects(self.translated))
        super().__init__(list(self.translated.values()), set(self.judgments.topics))

    def _iter_calc(self, run: Any) -> Iterator[Any]:
        lists = ir_measures.util.RunConverter(run).as_dict_of_dict()
        scores = evaluate(self.judgments, Run.from_dict(lists), list(self.translated))
        for mine, theirs in self.translated.items():
            for topic, value in zip(scores.topics, scores.matrix(mine).values[0].tolist(), strict=True):
                yield ir_measures.Metric(query_id=topic, measure=theirs, value=value)


class RankscopeProvider(providers.Provider):  # type: ignore[misc]
    """Computes with Rankscope whatever ir_measures asks for and Rankscope has."""

    NAME = "rankscope"

    def supports(self, measure: Any) -> bool:
        """Whether there is a measure of that name which takes these parameters."""
        try:
            _translate(measure).complete()
        except Exception:
            return False
        return True

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> _Evaluator:
        return _Evaluator(measures, qrels)

    def qrel_inputs(self, measures: Iterable[Any]) -> list[str]:
        """The columns that the judgments need: with aspects for the diversity measures."""
        needed = ["query_id", "doc_id", "relevance"]
        return [*needed, "iteration"] if needs_aspects(map(_translate, measures)) else needed


def _translate(measure: Any) -> Measure:
    settings = dict(measure.params)
    cutoff = settings.pop(measure.AT_PARAM, None)
    name = (
        "SetRelP" if settings.pop("relative", False) else measure.__name__
    )  # what ir_measures calls SetP(relative)
    mine = REGISTRY[name](**settings)
    return mine if cutoff is None else mine @ cutoff


def _register(mine: Measure) -> None:
    settings = {
        name: ParamInfo(dtype=type(p.default), default=p.default, desc=p.meaning)
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
    registry[mine.name] = type(f"_{mine.name}", (ir_measures.Measure,), body)()


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


def __getattr__(name: str) -> Any:
    if name in REGISTRY and REGISTRY[name].name in registry:
        return registry[REGISTRY[name].name]
    raise AttributeError(f"module 'rankscope.ir_measures' has no attribute {name!r}")
