"""Measures to identify as functions of one input: user-defined functions, and measures of other installed libraries."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from inspect import Parameter, signature
from typing import Any
from warnings import catch_warnings, simplefilter

from rankscope.errors import MissingDependencyError, SettingsError, suggest_names
from rankscope.lab.identification.inputs import Input

CALLS: dict[str, tuple[str, Callable[[Input], tuple[Any, ...]]]] = {
    "grades": ("f(grades): the grades of the ranked list", lambda case: (_grades(case),)),
    "counts": (
        "f(grades, counts): also the number of judged documents of each grade of the topic",
        lambda case: (_grades(case), {g: case.pool.count(g) for g in sorted(set(case.pool))}),
    ),
    "pool": (
        "f(grades, pool): also the grades of all judged documents of the topic",
        lambda case: (_grades(case), list(case.pool)),
    ),
    "dicts": (
        "f(qrels, run): {document: grade} and {document: score} of one topic",
        lambda case: (dict(case.qrels), dict(case.run)),
    ),
    "arrays": (
        "f(y_true, y_score): arrays of grades and scores of the documents of the list",
        lambda case: (_grades(case), list(case.scores)),
    ),
}
"""Kinds of calls: a description, and the conversion of an input to arguments."""


def _grades(case: Input) -> list[int]:
    return [0 if g is None else g for g in case.grades]


class RefusedError(Exception):
    """Raised if a function fails, or does not return a number."""


def has_scores(call: str) -> bool:
    """Return whether a call passes scores, which can be tied."""
    return call in ("dicts", "arrays", "library")


def make_caller(
    function: Callable[..., Any], call: str | None = None
) -> tuple[str, Callable[[Input], float]]:
    """Return the kind of call (by default guessed from the parameters), and a function of inputs.

    >>> def hit(qrels, run): return float(any(qrels.get(d, 0) > 0 for d in run))
    >>> call, evaluate = make_caller(hit)
    >>> call, evaluate(Input((0, 1)))
    ('dicts', 1.0)
    """
    kind = call or _guess_call(function)
    if kind not in CALLS:
        descriptions = "; ".join(f"{name}: {words}" for name, (words, _) in CALLS.items())
        raise SettingsError(f"no function is called by {kind!r}", hint=descriptions)
    arguments = CALLS[kind][1]
    return kind, lambda case: to_number(lambda: function(*arguments(case)))


def to_number(compute: Callable[[], Any]) -> float:
    """Return the result of a computation as a number; raise RefusedError on any exception, and ignore warnings."""
    try:
        with catch_warnings():
            simplefilter("ignore")
            return float(compute())
    except Exception as error:
        raise RefusedError(f"{type(error).__name__}: {error}".splitlines()[0][:120]) from None


def _guess_call(function: Callable[..., Any]) -> str:
    """Guess the kind of call from the names of the parameters."""
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):
        hint = f"name the kind of call: {', '.join(CALLS)}"
        raise SettingsError("the parameters of the function are unknown", hint=hint) from None
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    required = [p for p in parameters if p.default is Parameter.empty]
    names = [p.name.lower() for p in required if p.kind in positional]
    if len(names) == 1:
        return "grades"
    if len(names) != 2:
        hint = f"it is called with one or two: {', '.join(CALLS)}"
        raise SettingsError(f"the function takes {len(names)} arguments", hint=hint)
    first, second = names
    if any(word in second for word in ("score", "pred")) and "true" in first:
        return "arrays"
    if any(word in first for word in ("qrel", "gold", "judg", "truth")):
        return "dicts"
    return "counts" if "count" in second else "pool"


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
