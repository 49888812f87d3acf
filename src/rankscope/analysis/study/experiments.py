"""The experiments of a paper about a measure in one go: tables, data of the figures, and a manifest to repeat them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rankscope.analysis.bounds import bounds_of
from rankscope.analysis.correlation import correlation, correlation_matrix
from rankscope.analysis.effort import effort_of
from rankscope.analysis.pools import RATIOS, robustness_of
from rankscope.analysis.power import discriminative_power, significant_pairs
from rankscope.analysis.scale_effect import scale_effect_of
from rankscope.analysis.study import manifest as manifests
from rankscope.errors import InputError
from rankscope.judging import UNJUDGED, Judged, judge
from rankscope.measures import REGISTRY, Measure, needs_aspects, parse_many
from rankscope.progress import progress
from rankscope.read import Collection, Qrels, open_collection
from rankscope.result import Result
from rankscope.scores import Scores, score
from rankscope.tables import Cell, Table, json_text

__all__ = ["MEASURES", "Repetition", "Study", "repeat_study", "study"]

MEASURES = ("AP", "Bpref", "RBP(p=0.8)", "nDCG", "Twist")

_PAPER = (
    "collection", "gain_correlations", "focus_correlations", "correlation_matrix", "archetypes", "agreement",
    "robustness_curve", "depth_pools", "power", "significant_pairs", "scale_effect", "bounds",
)  # fmt: skip
"""The tables a paper prints, which are also written as LaTeX; the others are data."""

_SHOWN = ("collection", "correlation_matrix", "archetypes", "robustness_curve", "power", "significant_pairs")
"""The tables that say most; the others are in the files."""

_FIGURES = {
    "correlation": ("correlations",),
    "effort_gain": ("quadrants",),
    "robustness": ("robustness",),
    "discriminative_power": ("power", "asl"),
    "bounds": ("bounds",),
    "bounds_of_smaller_pools": ("bounds_pools",),
}


@dataclass(frozen=True, eq=False, repr=False)
class Study(Result):
    """All tables of a study, its settings, and the files they are written to."""

    tables: Mapping[str, Table]
    settings: Mapping[str, Any]
    inputs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def main(self) -> Sequence[str]:
        """The names of the tables that say most."""
        return [name for name in _SHOWN if name in self.tables]

    def _about(self) -> str:
        return f"{self.settings['name']}, {len(self.tables)} tables"

    def files(self) -> dict[str, bytes]:
        """Every file of the study but the manifest, by its path in the directory of the study."""
        tables = {name: _rounded(table) for name, table in self.tables.items()}
        found = {f"tables/{name}.csv": table.csv() for name, table in tables.items()}
        found |= {f"tables/{name}.tex": tables[name].latex() for name in _PAPER if name in tables}
        for figure, names in _FIGURES.items():
            shown = [tables[name] for name in names if name in tables]
            if shown:
                found[f"figures/{figure}.json"] = _json(shown)
        return {name: text.encode("utf-8", "surrogateescape") for name, text in found.items()}

    def with_plugins(self, plugins: Sequence[Mapping[str, str | None]]) -> Study:
        """The same study, with the names and digests of the plugins that define its measures."""
        return replace(self, inputs={**self.inputs, "plugins": [dict(plugin) for plugin in plugins]})

    def write(self, directory: str | Path, pictures: Mapping[str, bytes] | None = None) -> None:
        """Write tables, data of the figures, pictures of them and the manifest: all, or none.

        An earlier study in the directory is replaced. Files that no study wrote stay, and if one of them has the
        name of a file of the study, or a file of the earlier one was changed, nothing is written.
        """
        files, pictures = self.files(), pictures or {}
        text = manifests.described(self.settings, self.inputs, files, pictures)
        manifests.write_directory(directory, {**files, **pictures, manifests.MANIFEST: text})


def study(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Iterable[str | Measure] = MEASURES,
    *,
    output: str | Path | None = None,
    name: str | None = None,
    focus: str | Measure | None = None,
    top: float = 0.75,
    ratios: Sequence[float] = RATIOS,
    repeats: int = 10,
    sampling: str = "grade",
    depth: int = 10,
    alpha: float = 0.05,
    replicates: int = 1000,
    p: Sequence[float] = (0.5, 0.8, 0.95),
    seed: int = 1,
    order: str | None = None,
    missing: str = "zero",
    jobs: int | None = None,
) -> Study:
    """What a paper that proposes a measure must show, on one collection (Ferro et al.; the study of RBP).

    Correlation of the measures (all runs, and the best ``top`` by AP), of ``focus`` (Twist, or the last measure) with
    each of the others; archetypes and effort/gain planes; robustness to sampled pools and to the pool of ``depth``;
    discriminative power with the bootstrap, and pairs significant by Wilcoxon and t test at 95 and 99 %;
    what averaging on no interval scale does to conclusions; bounds of RBP. ``output`` is a directory for CSV, LaTeX,
    data of the figures and the manifest.

    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 2}}
    >>> runs = {r: {q: {"a": i, "b": 2 - i, "c": 1.5} for q in qrels} for i, r in enumerate(["r1", "r2", "r3"])}
    >>> sorted(study(qrels, runs, ["AP", "nDCG"], repeats=1).tables)[:3]
    ['agreement', 'archetypes', 'asl']
    """
    wanted = parse_many(measures)
    collection = open_collection(qrels, runs, order=order, needs_aspects=needs_aspects(wanted))
    settings = {
        "measures": [str(m) for m in wanted], "name": _name(name, collection.qrels),
        "focus": str(_focus(wanted, focus)), "top": top,
        "ratios": list(ratios), "repeats": repeats, "sampling": sampling, "depth": depth, "alpha": alpha,
        "replicates": replicates, "p": list(p), "seed": seed, "missing": missing, **collection.settings,
    }  # fmt: skip
    tables = _tables(collection, wanted, settings, jobs)
    result = Study(tables, settings, manifests.inputs_of(collection))
    if output is not None:
        result.write(output)
    return result


@dataclass(frozen=True, eq=False, repr=False)
class Repetition(Result):
    """A study made again from its manifest: which files differ, and which versions did it then and now."""

    study: Study
    changed: tuple[str, ...]
    versions: Mapping[str, tuple[str, str]]

    @property
    def identical(self) -> bool:
        """Whether every output file has the same bytes."""
        return not self.changed

    @property
    def settings(self) -> Mapping[str, Any]:
        """Those of the study."""
        return self.study.settings

    @cached_property
    def tables(self) -> Mapping[str, Table]:
        """``files`` {file, identical} and ``versions`` {program, then, now}, those that differ."""
        names = sorted({*self.study.files(), *self.changed})
        files = [(name, name not in self.changed) for name in names]
        versions = [(program, *both) for program, both in self.versions.items()]
        return {
            "files": Table("files", ("file", "identical"), files),
            "versions": Table("versions", ("program", "then", "now"), versions),
        }

    def _about(self) -> str:
        files = self.tables["files"]
        return f"{len(files) - len(self.changed)} of {len(files)} files identical"


def repeat_study(path: str | Path, *, jobs: int | None = None) -> Repetition:
    """Make a study again from its manifest (or directory) and compare every file with what it was."""
    content = manifests.read_manifest(path)
    beside = Path(path) if Path(path).is_dir() else Path(path).parent
    collection = manifests.open_inputs(content, beside)
    wanted = parse_many(content["settings"]["measures"])
    settings = {**content["settings"], "focus": str(_focus(wanted, content["settings"]["focus"]))}
    tables = _tables(collection, wanted, settings, jobs)
    again = Study(tables, settings, content["inputs"])
    now, then = manifests.versions(), content["versions"]
    other = {name: (str(then.get(name)), now[name]) for name in now if then.get(name) != now[name]}
    return Repetition(again, tuple(manifests.changed_files(content, again.files())), other)


def _name(name: str | None, qrels: Qrels) -> str:
    if name is not None or qrels.path is None:
        return name or "collection"
    path = Path(qrels.path).absolute()
    return path.parent.name if path.stem.lower() == "qrels" else path.stem


def _focus(measures: Sequence[Measure], focus: str | Measure | None) -> Measure:
    if len(measures) < 2:
        raise InputError("a study compares measures", hint="name at least two, such as -m 'AP nDCG'")
    if focus is None:
        return next((m for m in measures if m.name == "Twist"), measures[-1])
    wanted = parse_many([focus])[0]
    if wanted not in measures:
        raise InputError(f"{wanted} is not among the measures of the study", hint=f"add -m {wanted}")
    return wanted


def _tables(
    collection: Collection, measures: Sequence[Measure], settings: Mapping[str, Any], jobs: int | None
) -> dict[str, Table]:
    judged = judge(*collection, jobs=jobs)
    if len(judged.runs) < 2 or len(judged.topics) < 2:
        raise InputError(
            f"a study needs at least two runs and two topics, here are {len(judged.runs)} and {len(judged.topics)}",
            hint="add run files",
        )
    scores = score(judged, measures, missing=settings["missing"])
    sections: tuple[Callable[[], dict[str, Table]], ...] = (
        lambda: {"collection": _collection(judged, settings["name"]), "means": scores.wide()},
        lambda: _correlations(judged, scores, settings),
        lambda: _effort(judged, measures, settings),
        lambda: _robustness(judged, measures, settings, jobs),
        lambda: _power(scores, settings, jobs),
        lambda: _scale_effect(judged, measures, settings, jobs),
        lambda: _bounds(judged, settings),
    )
    tables: dict[str, Table] = {}
    for section in progress(sections, len(sections), "study"):
        tables |= {name: replace(table, name=name) for name, table in section().items()}
    return tables


def _collection(judged: Judged, name: str) -> Table:
    grade = judged.qrels.grade
    known = grade[grade != UNJUDGED]
    grades = sorted({max(0, int(g)) for g in np.unique(known)})
    rows: list[tuple[Cell, ...]] = [
        ("Collection", name),
        ("Topics", len(judged.topics)),
        ("Runs", len(judged.runs)),
        ("Longest list", int(judged.length.max(initial=0))),
        ("Relevance grades", ", ".join(map(str, grades))),
        ("Judged documents", len(known)),
        ("Relevant documents", int((known > 0).sum())),
    ]
    return Table("collection", ("feature", "value"), rows)


def _correlations(judged: Judged, scores: Scores, settings: Mapping[str, Any]) -> dict[str, Table]:
    methods = ("kendall", "ap")
    everything = correlation(scores, methods)
    by = REGISTRY["AP"]
    filtered = scores
    if by not in scores.measures:
        filtered = score(judged, [*scores.measures, by], missing=settings["missing"])
    best = correlation(filtered, methods, top=settings["top"], by=by, measures=scores.measures)
    focus = settings["focus"]
    others = [str(m) for m in scores.measures if str(m) != focus]
    tau = {
        frozenset((str(r["a"]), str(r["b"]))): r["value"]
        for r in best["correlations"].records()
        if r["method"] == "kendall"
    }

    def against(measure: str, columns: Sequence[str], title: str) -> Table:
        row = (f"{measure} ({settings['name']})", *(tau[frozenset((measure, other))] for other in columns))
        return Table(title, ("measure", *columns), [row])

    return {
        "correlations": everything["correlations"],
        "correlations_top": best["correlations"],
        "correlation_matrix": correlation_matrix(best),
        "gain_correlations": against(others[0], others[1:], "gain_correlations"),
        "focus_correlations": against(focus, others, "focus_correlations"),
    }


def _effort(judged: Judged, measures: Sequence[Measure], settings: Mapping[str, Any]) -> dict[str, Table]:
    gains = [m for m in measures if m.family != "effort"]
    twist = next((m for m in measures if m.name == "Twist"), REGISTRY["Twist"])
    found = effort_of(
        judged, gains, crossing=twist.settings["crossing"], cutoff=twist.cutoff, missing=settings["missing"]
    )
    return {"archetypes": found.summary, "quadrants": found.quadrants, "agreement": found.agreement}


def _robustness(
    judged: Judged, measures: Sequence[Measure], settings: Mapping[str, Any], jobs: int | None
) -> dict[str, Table]:
    options = {"missing": settings["missing"], "jobs": jobs}
    sampled = robustness_of(
        judged, measures, ratios=settings["ratios"], sampling=settings["sampling"], repeats=settings["repeats"],
        seed=settings["seed"], **options,
    )  # fmt: skip
    shallow = robustness_of(judged, measures, ratios=(), depths=(settings["depth"],), **options)
    return {
        "robustness": sampled["robustness"],
        "robustness_curve": _by_ratio(sampled["curve"]),
        "depth_pools": shallow["robustness"],
        "depth_pool_means": shallow["means"],
    }


def _by_ratio(curve: Table) -> Table:
    """Measures down, ratios across, Kendall's tau inside: the numbers of the figure."""
    tau = {(r["measure"], r["pool"]): r["tau"] for r in curve.records()}
    measures, pools = (list(dict.fromkeys(curve.column(name))) for name in ("measure", "pool"))
    rows = [(measure, *(tau[measure, pool] for pool in pools)) for measure in measures]
    return Table("robustness_curve", ("measure", *(f"{pool}%" for pool in pools)), rows)


def _power(scores: Scores, settings: Mapping[str, Any], jobs: int | None) -> dict[str, Table]:
    bootstrap = discriminative_power(
        scores, alpha=settings["alpha"], replicates=settings["replicates"], seed=settings["seed"], jobs=jobs
    )
    classic = discriminative_power(scores, ("wilcoxon", "t"), alpha=(0.05, 0.01))
    return {
        "power": bootstrap["power"],
        "asl": bootstrap["asl"],
        "significant_pairs": significant_pairs(classic),
    }


def _scale_effect(
    judged: Judged, measures: Sequence[Measure], settings: Mapping[str, Any], jobs: int | None
) -> dict[str, Table]:
    options = {"alpha": settings["alpha"], "missing": settings["missing"], "jobs": jobs}
    return {"scale_effect": scale_effect_of(judged, measures, **options)["scale_effect"]}


def _bounds(judged: Judged, settings: Mapping[str, Any]) -> dict[str, Table]:
    rbp = [REGISTRY["RBP"](p=p) for p in settings["p"]]
    means = bounds_of(
        judged,
        rbp,
        pool_depth=settings["depth"],
        ratio=min(settings["ratios"], default=10),
        seed=settings["seed"],
    )["means"]
    pool = means.columns.index("pool")
    return {
        "bounds": replace(means, rows=[row for row in means.rows if row[pool] == "full"]),
        "bounds_pools": replace(means, rows=[row for row in means.rows if row[pool] != "full"]),
    }


def _json(tables: Sequence[Table]) -> str:
    """The tables as commands print them, without the version: a new version may give the same numbers."""
    content = json.loads(json_text("study", {}, tables))
    return json.dumps({"tables": content["tables"]}, ensure_ascii=False, indent=1) + "\n"


def _rounded(table: Table) -> Table:
    """Ten significant digits: what lies beyond may differ from one processor to another."""

    def cell(value: Cell) -> Cell:
        return float(f"{value:.10g}") if isinstance(value, float) and math.isfinite(value) else value

    return replace(table, rows=[tuple(cell(value) for value in row) for row in table.rows])
