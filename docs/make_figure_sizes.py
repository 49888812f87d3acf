"""Draw every declared figure in the width of a column, for collections of 10, 40 and 126 runs.

    python docs/make_figure_sizes.py OUTDIR
    python docs/make_figure_sizes.py OUTDIR --qrels qrels.txt --runs runs/

The command writes a PNG per figure and size, and index.html with all of them. The collections are simulated; with
--qrels and --runs, the sizes are the first 10, 40 and all runs of a collection of yours.
"""

from __future__ import annotations

import argparse
import pkgutil
import sys
from collections.abc import Callable, Iterator
from functools import cache
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import rankscope as rs
from rankscope.plots.figure import Figure
from rankscope.plots.style import SINGLE
from rankscope.result import Result
from rankscope.simulation import simulate

SIZES = {10: 225, 40: 50, 126: 30}
"""Topics by runs: the smallest collection has as many topics as Cranfield, the largest as TREC-COVID round 1."""
MEASURES = ["AP", "nDCG@10", "P@10", "Twist"]
GROUPS = r"^([^-_]+)"

Sources = dict[str, Callable[[], Result]]


def declared_figures() -> set[str]:
    """Return the functions of all figures that results declare, as ``module.function``."""
    for module in pkgutil.walk_packages(rs.__path__, "rankscope."):
        if not module.name.endswith("__main__"):
            import_module(module.name)

    def below(kind: type[Result]) -> Iterator[type[Result]]:
        for subclass in kind.__subclasses__():
            yield subclass
            yield from below(subclass)

    return {function for kind in below(Result) for function in kind.figures.values()}


def make_sources(qrels: Any, runs: dict[str, Any], aspects: tuple[Any, dict[str, Any]]) -> Sources:
    """Return the analyses of a collection that have figures, by name; each is computed once, when it is needed."""
    collection = rs.Collection(qrels, runs)
    names, topics = list(runs), list(qrels)
    lenient = {
        t: {d: g + (k % 3 == 0) for k, (d, g) in enumerate(sorted(own.items()))} for t, own in qrels.items()
    }
    few = {t: dict(list(own.items())[::4]) for t, own in qrels.items()}

    @cache
    def scores() -> rs.Scores:
        return rs.evaluate(qrels, runs, MEASURES)

    def best() -> str:
        return names[int(np.argmax(scores().mean("AP")))]

    def bench() -> Result:
        values = scores().matrix("nDCG@10").values[:, :12]
        tasks = {f"Task{t}Retrieval": column.tolist() for t, column in enumerate(values.T + 0.1)}
        return rs.bench({"model": names, **tasks}, aggregate="mean")

    sources: Sources = {
        "scores": scores,
        "bounds": lambda: rs.bounds(collection),
        "bounds-few": lambda: rs.bounds(rs.Collection(qrels, {name: runs[name] for name in names[:4]})),
        "certain": lambda: rs.certain(rs.evaluate(qrels, runs, "P@10")),
        "bump": lambda: rs.certain(scores(), across="measures"),
        "compare": lambda: rs.compare(scores(), replicates=50, per_topic=True),
        "baseline": lambda: rs.compare(scores(), best(), replicates=50, per_topic=True, by="recall_base:6"),
        "correct": lambda: rs.correct(rs.evaluate(qrels, runs, "P@10"), few, pi=0.25),
        "correlate": lambda: rs.correlate(scores()),
        "curve": lambda: rs.curve(collection, best(), topics[1]),
        "effort": lambda: rs.effort(collection, ["AP", "nDCG"], groups=GROUPS),
        "findings": lambda: rs.findings(scores(), replicates=50),
        "judges": lambda: rs.judges({"editors": qrels, "crowd": lenient}, collection, "AP", replicates=20),
        "leaderboard": lambda: rs.leaderboard(scores(), replicates=50),
        "orderings": lambda: rs.orderings(scores()),
        "overlap": lambda: rs.overlap(collection, baseline=best()),
        "pools": lambda: rs.pools(scores(), repeats=2),
        "power": lambda: rs.power(scores(), "t"),
        "verdict": lambda: rs.verdict(scores(), depth=20),
        "verdict-pair": lambda: rs.verdict(scores(), (names[0], names[1]), depth=20),
        "bench": bench,
        "coverage": lambda: rs.Collection(*aspects).coverage(),
        "properties": lambda: rs.lab.properties("AP ACT", aspects=2, depth=3),
        "related": lambda: rs.lab.related_rankings("AP", depth=3),
        "archetype-ranges": lambda: rs.lab.archetype_ranges(3, 6),
        "weights": lambda: rs.lab.rank_weights("P@5 RBP nDCG@10"),
        "scales": lambda: rs.lab.scales(["DCG(discount='jk')"], length=3, equal_relevant=True),
        "intervals": lambda: rs.lab.scales("RBP(p=0.8)", length=4).example(),
        "study": lambda: rs.study({"all": collection}, rs.StudySettings(measures="AP P@10 Twist", repeats=1)),
    }
    for name, function in _analyses_with_figures().items():
        if name not in sources:
            needs_scores = function.declaration.input_name == "scores"
            sources[name] = lambda f=function, n=needs_scores: f(scores() if n else collection)  # type: ignore[misc]
    return {name: cache(make) for name, make in sources.items()}


def _analyses_with_figures() -> dict[str, Any]:
    """Return the declared analyses of scores or of a collection that have figures, by name."""
    functions = {name: getattr(rs, name) for name in rs.__all__}
    return {
        name: function
        for name, function in functions.items()
        if hasattr(function, "declaration")
        and function.declaration.input_name in ("scores", "collection")
        and function.declaration.figures
    }


VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    "effort": {
        "plane-colours": {"figure": "plane", "colour": "archetype"},
        "plane-facets": {"figure": "plane", "facet": "archetype"},
        "plane-groups": {"figure": "plane", "facet": "group"},
    },
}
"""Further figures of a result, as options of ``plot``."""


def figures(sources: Sources, width: float = SINGLE) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """Yield the name of every figure and a function that draws it."""
    for source, make in sources.items():
        result = make()
        names = [
            name for name in result.figures if name != "slices" or getattr(result, "slices", ()) is not None
        ]
        options = {name: {"figure": name} for name in names} | VARIANTS.get(source, {})
        for name, option in options.items():
            yield f"{source}-{name}", lambda result=result, option=option: result.plot(**option, width=width)  # type: ignore[misc]


def simulated(n_runs: int, n_topics: int) -> Sources:
    """Return the analyses of a simulated collection."""
    plain, diverse = simulate(n_runs, n_topics, depth=100), simulate(n_runs, 3, depth=50, aspects=6)
    return make_sources(plain.qrels, plain.runs, (diverse.diversity, diverse.runs))


def from_files(qrels: str, runs: str, n_runs: int) -> Sources:
    """Return the analyses of the first runs of a collection in files."""
    diverse = simulate(n_runs, 3, depth=50, aspects=6)
    read, judged = rs.read_runs(runs), rs.read_qrels(qrels)
    grades = {topic: dict(judged.judgments(topic)) for topic in judged.topics}
    return make_sources(grades, dict(list(read.items())[:n_runs]), (diverse.diversity, diverse.runs))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path, metavar="OUTDIR")
    parser.add_argument("--qrels", help="judgments (default: a simulated collection)")
    parser.add_argument("--runs", help="directory of runs")
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=list(SIZES), metavar="N", help="numbers of runs"
    )
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="results to draw, such as effort"
    )
    parser.add_argument("--width", type=float, default=SINGLE, help="width in inches (default: %(default)s)")
    args = parser.parse_args()
    parts = []
    for size in args.sizes:
        sources = (
            from_files(args.qrels, args.runs, size) if args.qrels else simulated(size, SIZES.get(size, 30))
        )
        selected = {name: make for name, make in sources.items() if not args.only or name in args.only}
        (args.directory / str(size)).mkdir(parents=True, exist_ok=True)
        for name, draw in figures(selected, args.width):
            draw().save(args.directory / str(size) / f"{name}.png")
            source = f"{size}/{name}.png"
            parts.append(
                f'<figure><img src="{source}" width="330"><figcaption>{escape(source)}</figcaption></figure>'
            )
    page = "<!doctype html><style>figure{display:inline-block;vertical-align:top}</style>\n" + "\n".join(
        parts
    )
    (args.directory / "index.html").write_text(page + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
