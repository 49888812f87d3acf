"""Measures of other installed libraries as functions of one input."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from rankscope.errors import MissingDependencyError, SettingsError, suggest_names
from rankscope.lab.identification.calls import to_number
from rankscope.lab.identification.inputs import Input

Function = Callable[[Input], Any]


def _module(name: str, package: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingDependencyError.for_package(package, "peers", f"measures of {package}") from None


def _pytrec_eval(measure: str) -> Function:
    library = _module("pytrec_eval", "pytrec_eval-terrier")

    def evaluate(case: Input) -> Any:
        evaluator = library.RelevanceEvaluator({"q": case.qrels}, {measure})
        (values,) = evaluator.evaluate({"q": case.run}).values()
        return next(iter(values.values()))

    return evaluate


def _ir_measures(measure: str) -> Function:
    library = _module("ir_measures", "ir_measures")
    try:
        parsed = library.parse_measure(measure)
    except AttributeError as error:  # "module 'ast' has no attribute 'Num'", from Python 3.14 on
        problem = f"ir_measures cannot read {measure!r} on this version of Python: {error}"
        raise SettingsError(problem, hint="use Python 3.13, or a newer ir_measures") from None
    return lambda case: library.calc_aggregate([parsed], {"q": case.qrels}, {"q": case.run})[parsed]


def _ranx(measure: str) -> Function:
    library = _module("ranx", "ranx")

    def evaluate(case: Input) -> Any:
        qrels, run = library.Qrels({"q": case.qrels}), library.Run({"q": case.run})
        return library.evaluate(qrels, run, measure)

    return evaluate


def _sklearn(measure: str) -> Function:
    metrics = _module("sklearn.metrics", "scikit-learn")
    name, _, k = measure.partition("@")
    options = {"k": int(k)} if k else {}
    function = getattr(metrics, name)
    binary = name in ("average_precision_score", "label_ranking_average_precision_score")

    def evaluate(case: Input) -> Any:
        grades = [0 if g is None else g for g in case.grades]
        if name == "average_precision_score":
            return function([int(g > 0) for g in grades], case.scores)
        return function([[int(g > 0) for g in grades] if binary else grades], [case.scores], **options)

    return evaluate


def _trectools(measure: str) -> Function:
    library = _module("trectools", "trectools")
    pandas = import_module("pandas")
    name, _, k = measure.partition("@")

    def evaluate(case: Input) -> Any:
        run, qrels = library.TrecRun(), library.TrecQrel()
        ranked = sorted(case.run.items(), key=lambda item: -item[1])
        run.run_data = pandas.DataFrame(
            [("1", "Q0", d, i, s, "r") for i, (d, s) in enumerate(ranked, 1)],
            columns=["query", "q0", "docid", "rank", "score", "system"],
        )
        qrels.qrels_data = pandas.DataFrame(
            [("1", "0", d, g) for d, g in case.qrels.items()], columns=["query", "q0", "docid", "rel"]
        )
        compute = getattr(library.TrecEval(run, qrels), f"get_{name}")
        return compute(depth=int(k)) if k else compute()

    return evaluate


def _cwl_eval(measure: str) -> Function:
    """Return a CWL metric such as ``RBP(theta=0.8)``, ``AP``, ``RR`` or ``Precision(k=10)``, with binary gains."""
    library = _module("cwl.ruler.cwl_ruler", "cwl-eval")
    ranking = import_module("cwl.ruler.ranking").Ranking
    name, _, inside = measure.removesuffix(")").partition("(")
    pairs = [part.split("=") for part in inside.split(",") if part]
    metric = getattr(library, f"{name}CWLMetric")(**{key.strip(): float(value) for key, value in pairs})

    def evaluate(case: Input) -> Any:
        judged_list = ranking("q", [float((g or 0) > 0) for g in case.grades], [1.0] * len(case.grades))
        judged_list.total_qrel_rels = judged_list.total_qrel_gain = float(sum(g > 0 for g in case.pool))
        return metric.measure(judged_list)

    return evaluate


def _torchmetrics(measure: str) -> Function:
    library = _module("torchmetrics.functional.retrieval", "torchmetrics")
    torch = import_module("torch")
    name, _, k = measure.partition("@")
    function = getattr(library, name)

    def evaluate(case: Input) -> Any:
        target = torch.tensor([0 if g is None else g for g in case.grades])
        return function(torch.tensor(case.scores), target, **({"top_k": int(k)} if k else {}))

    return evaluate


LIBRARIES: dict[str, tuple[Callable[[str], Function], str]] = {
    "pytrec_eval": (_pytrec_eval, "ndcg_cut_10"),
    "ir_measures": (_ir_measures, "nDCG@10"),
    "ranx": (_ranx, "ndcg@10"),
    "sklearn": (_sklearn, "ndcg_score@10"),
    "trectools": (_trectools, "ndcg@10"),
    "cwl_eval": (_cwl_eval, "RBP(theta=0.8)"),
    "torchmetrics": (_torchmetrics, "retrieval_normalized_dcg@10"),
}
"""Libraries, each with its adapter and an example of a measure."""


def library_script(text: str, case: Input) -> str:
    """Return a script of three lines that prints the value of a library for an input.

    >>> print(library_script("ranx:map", Input((0, 1))))
    from ranx import Qrels, Run, evaluate
    qrels, run = Qrels({'q': {'d0001': 0, 'd0002': 1}}), Run({'q': {'d0001': 2.0, 'd0002': 1.0}})
    print(evaluate(qrels, run, 'map'))
    """
    library, _, measure = text.partition(":")
    qrels, run = {"q": case.qrels}, {"q": case.run}
    name, _, k = measure.partition("@")
    grades = [0 if g is None else int(g > 0) if "precision" in name else g for g in case.grades]
    arrays = "grades, scores" if name == "average_precision_score" else "[grades], [scores]"
    lines = {
        "pytrec_eval": (
            "import pytrec_eval",
            f"found = pytrec_eval.RelevanceEvaluator({qrels}, {{{measure!r}}}).evaluate({run})",
            f"print(found['q'][{measure!r}])",
        ),
        "ir_measures": (
            "import ir_measures",
            f"measure = ir_measures.parse_measure({measure!r})",
            f"print(ir_measures.calc_aggregate([measure], {qrels}, {run})[measure])",
        ),
        "ranx": (
            "from ranx import Qrels, Run, evaluate",
            f"qrels, run = Qrels({qrels}), Run({run})",
            f"print(evaluate(qrels, run, {measure!r}))",
        ),
        "sklearn": (
            f"from sklearn.metrics import {name}",
            f"grades, scores = {grades}, {case.scores}",
            f"print({name}({arrays}{f', k={k}' if k else ''}))",
        ),
    }
    through_us = (
        "from rankscope.lab.identification.libraries import Input, library_function",
        f"one = Input({', '.join(map(repr, case))})",
        f"print(library_function({text!r})(one))",
    )
    return "\n".join(lines.get(library, through_us))


def library_function(text: str) -> Callable[[Input], float]:
    """Return ``library:measure`` as a function of inputs."""
    library, colon, measure = text.partition(":")
    if not colon or library not in LIBRARIES or not measure:
        examples = ", ".join(f"{name}:{example}" for name, (_, example) in LIBRARIES.items())
        hint = suggest_names(library, LIBRARIES) or f"write {examples}"
        raise SettingsError(f"{text!r} names no measure of a library", hint=hint)
    try:
        evaluate = LIBRARIES[library][0](measure)
    except (AttributeError, ValueError, NameError, KeyError) as error:
        raise SettingsError(f"{library} has no {measure!r} ({error})", hint="see its documentation") from None
    return lambda case: to_number(lambda: evaluate(case))
