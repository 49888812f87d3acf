"""BEIR's and MTEB's evaluation code, from their packages, gives the same numbers on our pytrec_eval as on the original.

Their packages stand in a folder of their own. Importing the whole of MTEB would need torch; its module of retrieval
scores does not, so the ``__init__`` of the packages around it is not run.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import rankscope.pytrec_eval as ours
from rankscope.simulation import simulate

pytestmark = pytest.mark.needs("evaluators")

HOME = Path(__file__).parents[1] / ".venv" / "evaluators"
K = [1, 3, 5, 10, 20, 100, 1000]
Dict = dict[str, Any]


@contextmanager
def importing(library: Any, name: str) -> Iterator[Any]:
    """Return their module with a replacement for pytrec_eval."""
    package = name.partition(".")[0]
    before = dict(sys.modules)
    sys.path.insert(0, str(HOME))
    try:
        sys.modules["pytrec_eval"] = library
        if package == "mteb":
            for bare in ("mteb", "mteb._evaluators"):
                sys.modules[bare] = ModuleType(bare)
                sys.modules[bare].__path__ = [str(HOME / bare.replace(".", "/"))]
        yield importlib.import_module(name)
    finally:
        sys.path.remove(str(HOME))
        for loaded in set(sys.modules) - set(before):
            if loaded.partition(".")[0] in ("beir", "mteb"):
                del sys.modules[loaded]
        sys.modules["pytrec_eval"] = before.get("pytrec_eval", library)


@cache
def theirs(name: str) -> tuple[Any, Any]:
    """Their module with the original, and with ours."""
    with importing(importlib.import_module("pytrec_eval"), name) as module:
        original = module
    with importing(ours, name) as module:
        changed = module
    for module, library in ((original, "pytrec_eval"), (changed, "rankscope.pytrec_eval")):
        assert str(HOME) in str(module.__file__) and module.pytrec_eval.__name__ == library
    return original, changed


def with_both(name: str, work: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Return the results of their code with the original and with our replacement."""
    original, changed = theirs(name)
    return work(original), work(changed)


@pytest.fixture(scope="module")
def demo() -> tuple[Dict, dict[str, Dict]]:
    """Return the collection of ``rankscope demo``."""
    collection = simulate(systems=12, topics=25, grades=4, depth=200, seed=1, pool_depth=40)
    return collection.qrels, collection.runs


def test_beir_evaluates(demo: tuple[Dict, dict[str, Dict]]) -> None:
    qrels, runs = demo
    for run in runs.values():
        expected, actual = with_both(
            "beir.retrieval.evaluation",
            lambda module, run=run: module.EvaluateRetrieval.evaluate(qrels, deepcopy(run), K),
        )
        assert actual == expected and len(actual) == 4 and 0 < actual[0]["NDCG@10"] < 1


@pytest.mark.parametrize("metric", ["mrr", "recall_cap", "hole", "top_k_accuracy"])
def test_beir_evaluates_its_own_measures(demo: tuple[Dict, dict[str, Dict]], metric: str) -> None:
    qrels, runs = demo
    run = next(iter(runs.values()))
    expected, actual = with_both(
        "beir.retrieval.evaluation",
        lambda module: module.EvaluateRetrieval.evaluate_custom(qrels, run, K, metric),
    )
    assert actual == expected and actual


def test_mteb_scores_retrieval(demo: tuple[Dict, dict[str, Dict]]) -> None:
    qrels, runs = demo

    def scored(module: Any, run: Dict) -> Any:
        result = module.calculate_retrieval_scores(run, qrels, K)
        fields = result._asdict()
        shown = module.make_score_dict(
            _map=fields["map"],
            **{key: value for key, value in fields.items() if key not in ("all_scores", "map")},
            task_scores={},
        )
        return result, shown

    for run in runs.values():
        (expected, scores), (actual, mine) = with_both(
            "mteb._evaluators.retrieval_metrics", lambda module, run=run: scored(module, run)
        )
        rounded = {name for name in scores if not name.startswith("nauc")}
        assert {name: mine[name] for name in rounded} == {name: scores[name] for name in rounded}
        assert mine == pytest.approx(scores, abs=1e-9, nan_ok=True) and 0 < mine["ndcg_at_10"] < 1
        assert actual._asdict().keys() == expected._asdict().keys()
        for topic, values in expected.all_scores.items():
            assert actual.all_scores[topic] == pytest.approx(values, abs=1e-12)
