"""The experiments of a paper about a measure in one go: tables, data of the figures, and a manifest to repeat them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

from rankscope.analysis.study import manifest as manifests
from rankscope.analysis.study.parts import Parts
from rankscope.analysis.study.sections import EXPERIMENTS, Experiments
from rankscope.analysis.study.several import joined, part_of
from rankscope.certainty.values import judged_as, validate_options
from rankscope.choices import DEFAULT_MEASURES as MEASURES
from rankscope.choices import RATIOS
from rankscope.engines import on_engine
from rankscope.errors import InputError, SettingsError, suggest_names
from rankscope.judging import EvaluationOptions, Judged
from rankscope.measures import REGISTRY, Measure, needs_aspects, parse_many
from rankscope.measures.function import FunctionMeasure
from rankscope.read import Inputs, Qrels, open_collection
from rankscope.result import Result
from rankscope.scores import score
from rankscope.tables import Cell, Table, json_text

__all__ = ["LIKE", "MEASURES", "Repetition", "Study", "repeat_study", "study"]

LIKE: dict[str, dict[str, Any]] = {
    "twist": {
        "measures": ("AP", "Bpref", "RBP(p=0.8)", "nDCG(discount='jk',base=10)", "Twist"),
        "focus": "Twist",
        "top": 0.75,
        "top_of": ("pools", "power"),
        "ratios": RATIOS,
        "sampling": "grade",
        "alpha": 0.05,
        "replicates": 1000,
    }
}
"""Settings of published studies. ``twist``: Ferro and others (2016), with the best three quarters of the runs in the
experiments and all of them in archetypes and effort/gain planes, and nDCG of Jarvelin and Kekalainen with base 10; its
gains 0, 5, 10, ... give the same values as 0, 1, 2, ..."""

_PAPER = (
    "collection", "gain_correlations", "focus_correlations", "correlation_matrix", "archetype_shares", "archetypes",
    "agreement",
    "robustness_curve", "depth_pools", "power", "significant_pairs", "scale_effect", "bounds",
)  # fmt: skip
"""The tables a paper prints, which are also written as LaTeX; the others are data."""

_SHOWN = (
    "collection", "correlation_matrix", "archetypes", "robustness_curve", "power", "significant_pairs", "left_out",
)  # fmt: skip
"""The tables that say most; the others are in the files."""

_FIGURES = {
    "correlation": ("correlations",),
    "effort_gain": ("quadrants", "effort_points"),
    "means": ("means",),
    "robustness": ("robustness",),
    "discriminative_power": ("power", "asl"),
    "bounds": ("bounds",),
    "bounds_of_smaller_pools": ("bounds_pools",),
}


@dataclass(frozen=True, eq=False, repr=False)
class Study(Result):
    """All tables of a study, its settings, and the files they are written to."""

    figures: ClassVar[Mapping[str, str]] = {"matrix": "correlation.plot_correlation"}
    tables: Mapping[str, Table]
    settings: Mapping[str, Any]
    inputs: Mapping[str, Any] = field(default_factory=dict)
    parts: Parts = field(default_factory=Parts, repr=False)
    """What was kept while it was made, until it is written."""

    @property
    def main(self) -> Sequence[str]:
        """The names of the tables that say most."""
        asked = ["scale_effect"] if "intervals" in self.settings else []
        shown = [name for name in (*_SHOWN, *asked) if name in self.tables]
        several = len(self.collections) > 1
        return ["archetype_shares" if several and name == "archetypes" else name for name in shown]

    def _about(self) -> str:
        names = self.collections
        return f"{names[0] if len(names) == 1 else f'{len(names)} collections'}, {len(self.tables)} tables"

    @property
    def collections(self) -> Sequence[str]:
        """The names of the collections."""
        several: Sequence[Mapping[str, Any]] | None = self.settings.get("collections")
        return [self.settings["name"]] if several is None else [str(one["name"]) for one in several]

    def of(self, name: str) -> Study:
        """The part of a study of several collections that is about one of them."""
        if name not in self.collections:
            hint = suggest_names(name, self.collections) or f"there are {', '.join(self.collections)}"
            raise SettingsError(f"there is no collection {name!r} in this study", hint=hint)
        if self.settings.get("collections") is None:
            return self
        return Study(part_of(self.tables, name), {**self.settings, "name": name, "collections": None})

    def files(self) -> dict[str, bytes]:
        """Every file of the study but the manifest, by its path in the directory of the study."""
        return {name: text().encode("utf-8", "surrogateescape") for name, text in self._texts().items()}

    def file_names(self) -> list[str]:
        """The paths of :meth:`files`."""
        return list(self._texts())

    def _texts(self) -> dict[str, Callable[[], str]]:
        """What writes the text of every file."""
        rounded = cache(lambda name: _rounded(self.tables[name]))
        paper = [name for name in _PAPER if name in self.tables]
        figures = {figure: [one for one in names if one in self.tables] for figure, names in _FIGURES.items()}
        return {
            **{f"tables/{name}.csv": partial(lambda one: rounded(one).csv(), name) for name in self.tables},
            **{f"tables/{name}.tex": partial(lambda one: rounded(one).latex(), name) for name in paper},
            **{
                f"figures/{figure}.json": partial(lambda some: _json([*map(rounded, some)]), names)
                for figure, names in figures.items()
                if names
            },
        }

    def with_plugins(self, plugins: Sequence[Mapping[str, str | None]]) -> Study:
        """The same study, with the names and digests of the plugins that define its measures."""
        return replace(self, inputs={**self.inputs, "plugins": [dict(plugin) for plugin in plugins]})

    def write(self, directory: str | Path, pictures: Mapping[str, bytes] | None = None) -> int:
        """Write tables, data of the figures, pictures of them and the manifest: all, or none.

        An earlier study in the directory is replaced. Files that no study wrote stay, and if one of them has the
        name of a file of the study, or a file of the earlier one was changed, nothing is written. Returned is the
        number of files without the pictures.
        """
        files, pictures = self.files(), pictures or {}
        text = manifests.described(self.settings, self.inputs, files, pictures)
        with self.parts.unless_refused():
            manifests.write_directory(directory, {**files, **pictures, manifests.MANIFEST: text})
        self.parts.remove()
        return len(files) + 1


@on_engine
def study(
    qrels: Any,
    runs: Any = None,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    output: str | Path | None = None,
    resume: str | Path | None = None,
    plugins: Sequence[Mapping[str, str | None]] = (),
    name: str | None = None,
    like: str | None = None,
    focus: str | Measure | None = None,
    top: float | None = None,
    top_of: str | Sequence[str] | None = None,
    ratios: Sequence[float] | None = None,
    repeats: int = 10,
    sampling: str | None = None,
    depth: int = 10,
    alpha: float | None = None,
    replicates: int | None = None,
    p: Sequence[float] = (0.5, 0.8, 0.95),
    intervals: int | None = None,
    seed: int = 1,
    order: str | None = None,
    missing: str = "zero",
    ties: str = "break",
    unjudged: str = "nonrelevant",
    jobs: int | None = None,
    engine: Any = None,
) -> Study:
    """What a paper that proposes a measure must show, on one collection or several (Ferro et al.; the study of RBP).

    Features of the collection; correlation of the measures (all runs, and the best ``top`` by AP, 0.75 unless set), of
    ``focus`` (Twist, or the last measure) with each of the others; archetypes and effort/gain planes; robustness to
    sampled pools and to the pool of ``depth``; discriminative power with the bootstrap, and pairs significant by
    Wilcoxon and t test at 95 and 99 %; what averaging on no interval scale does to conclusions; bounds of RBP.
    ``top_of`` names further experiments that look at the best runs only, among effort, pools, power, scales and bounds,
    or ``all``. ``like="twist"`` does as Ferro et al. did, where nothing else is said (:data:`LIKE`). ``output`` is a
    directory for CSV, LaTeX, data of the figures and the manifest. Every experiment that is finished is kept beside it
    (or beside the directory ``resume``, if the study is written later) until the study is written: after an
    interruption it is not computed again. ``plugins`` are the names and digests of the files that define measures.

    ``intervals`` is the length to which lists are cut for the measures on an interval scale (10 unless set); if it is
    given, their table ``scale_effect`` is among those that are shown.

    ``ties`` and ``unjudged`` as for :func:`rankscope.evaluate`: they hold wherever measures are evaluated, and with
    ``unjudged="bounds"`` the table ``means`` has ranges. Archetypes, planes and curves look at the lists as they are.

    **Several collections**: instead of judgments and runs give a mapping of names to (judgments, runs). Every table
    then has a column ``collection``, and an experiment that is not possible on a collection of one run is listed in
    ``left_out``. ``Study.of(name)`` is the study of one of them.

    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 2}}
    >>> runs = {r: {q: {"a": i, "b": 2 - i, "c": 1.5} for q in qrels} for i, r in enumerate(["r1", "r2", "r3"])}
    >>> sorted(study(qrels, runs, ["AP", "nDCG"], repeats=1).tables)[:3]
    ['agreement', 'archetype_shares', 'archetypes']
    >>> study({"one": (qrels, runs), "two": (qrels, runs)}, measures="AP nDCG", repeats=1)
    <Study: 2 collections, 22 tables>
    """
    resume = output if resume is None else resume
    given = {
        "measures": measures, "focus": focus, "top": top, "top_of": top_of, "ratios": ratios, "sampling": sampling,
        "alpha": alpha, "replicates": replicates,
    }  # fmt: skip
    chosen = _chosen(like, given)
    wanted = parse_many(chosen["measures"])
    collections = _opened(qrels, runs, name, order, wanted)
    settings: dict[str, Any] = {
        "measures": [str(m) for m in wanted], "focus": str(_focus(wanted, chosen["focus"])), "top": chosen["top"],
        "top_of": _top_of(chosen["top_of"]), "ratios": list(chosen["ratios"]), "repeats": repeats,
        "sampling": chosen["sampling"], "depth": depth, "alpha": chosen["alpha"],
        "replicates": chosen["replicates"], "p": list(p), "seed": seed, "missing": missing,
        **manifests.settings_of(collections, runs is None),
    }  # fmt: skip
    if intervals is not None:
        settings["intervals"] = intervals
    if validate_options(ties, unjudged).settings:
        settings |= {"ties": ties, "unjudged": unjudged}
    inputs = manifests.inputs_of(collections, runs is None)
    inputs["plugins"] = [dict(plugin) for plugin in plugins]
    kept = Parts()
    if resume is not None and (plugins or not _functions(wanted)):
        versions = manifests.versions()
        kept = Parts.beside(resume, {"versions": versions, "settings": settings, "inputs": inputs})
    with kept.unless_refused():
        tables = _tables(collections, wanted, settings, jobs, kept)
    result = Study(tables, settings, inputs, kept)
    if output is not None:
        result.write(output)
    return result


def _functions(measures: Sequence[Measure]) -> bool:
    """Whether some measure is a function of the user's, which may be another one the next time."""
    own = [name for name, known in REGISTRY.items() if isinstance(known, FunctionMeasure)]
    return any(isinstance(one, FunctionMeasure) or any(name in str(one) for name in own) for one in measures)


_DEFAULTS = {
    "measures": MEASURES, "focus": None, "top": 0.75, "top_of": (), "ratios": RATIOS, "sampling": "grade",
    "alpha": 0.05, "replicates": 1000,
}  # fmt: skip


def _chosen(like: str | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked for, else what a published study has, else the usual."""
    if like is not None and like not in LIKE:
        hint = suggest_names(like, LIKE) or f"there are {', '.join(LIKE)}"
        raise SettingsError(f"there is no study to be like {like!r}", hint=hint)
    published = LIKE[like] if like is not None else {}
    if given["measures"] is not None:  # the one under study is then perhaps another
        published = {key: value for key, value in published.items() if key != "focus"}
    said = {key: value for key, value in given.items() if value is not None}
    return {**_DEFAULTS, **published, **said}


def _top_of(names: str | Sequence[str]) -> list[str]:
    asked = names.split(",") if isinstance(names, str) else list(names)
    asked = list(EXPERIMENTS) if asked == ["all"] else [name.strip() for name in asked if name.strip()]
    for name in asked:
        if name not in EXPERIMENTS:
            hint = suggest_names(name, EXPERIMENTS) or f"there are {', '.join(EXPERIMENTS)}, and all"
            raise SettingsError(f"there is no experiment {name!r}", hint=hint)
    return [name for name in EXPERIMENTS if name in asked]


def _opened(
    qrels: Any, runs: Any, name: str | None, order: str | None, measures: Sequence[Measure]
) -> dict[str, Inputs]:
    """The collections by their names."""
    diverse = needs_aspects(measures)
    if runs is not None:
        collection = open_collection(qrels, runs, order=order, needs_aspects=diverse)
        return {_name(name, collection.qrels): collection}
    if not isinstance(qrels, Mapping) or not all(
        isinstance(one, tuple) and len(one) == 2 for one in qrels.values()
    ):
        raise SettingsError(
            "there are no runs", hint="give judgments and runs, or a mapping of names to (judgments, runs)"
        )
    if name is not None:
        raise SettingsError("several collections have names of their own", hint="leave name out")
    return {str(key): open_collection(*one, order=order, needs_aspects=diverse) for key, one in qrels.items()}


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
        names = sorted({*self.study.file_names(), *self.changed})
        files = [(name, name not in self.changed) for name in names]
        versions = [(program, *both) for program, both in self.versions.items()]
        return {
            "files": Table("files", ("file", "identical"), files),
            "versions": Table("versions", ("program", "then", "now"), versions),
        }

    def _about(self) -> str:
        files = self.tables["files"]
        return f"{len(files) - len(self.changed)} of {len(files)} files identical"


@on_engine
def repeat_study(path: str | Path, *, jobs: int | None = None, engine: Any = None) -> Repetition:
    """Make a study again from its manifest (or directory) and compare every file with what it was.

    >>> repeat_study("my-study/manifest.json").identical  # doctest: +SKIP
    True
    """
    content = manifests.read_manifest(path)
    beside = Path(path) if Path(path).is_dir() else Path(path).parent
    collections = manifests.open_inputs(content, beside)
    wanted = parse_many(content["settings"]["measures"])
    settings = {**content["settings"], "focus": str(_focus(wanted, content["settings"]["focus"]))}
    tables = _tables(collections, wanted, settings, jobs, Parts())
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
    collections: Mapping[str, Inputs],
    measures: Sequence[Measure],
    settings: Mapping[str, Any],
    jobs: int | None,
    kept: Parts,
) -> dict[str, Table]:
    several = settings.get("collections") is not None
    if not collections:
        raise InputError("there is no collection to study", hint="name at least one")
    parts: dict[str, dict[str, Table]] = {}
    for name, collection in collections.items():
        how = validate_options(
            settings.get("ties", "break"), settings.get("unjudged", "nonrelevant"), settings["seed"]
        )
        ranged = how.unjudged == "bounds"
        looked_at = replace(how, unjudged="nonrelevant") if ranged else how
        judged = partial(_judged, collection, looked_at, several, jobs)
        parts[name] = Experiments(judged, measures, settings, name, jobs).tables(kept)
        if ranged:
            scores = score(judged_as(*collection, how, jobs=jobs), measures, missing=settings["missing"])
            parts[name]["means"] = scores.wide()
    return joined(parts) if several else next(iter(parts.values()))


def _judged(collection: Inputs, how: EvaluationOptions, several: bool, jobs: int | None) -> Judged:
    judged = judged_as(*collection, how, jobs=jobs)
    runs, topics = len(judged.runs), len(judged.topics)
    if not several and (runs < 2 or topics < 2):
        raise InputError(
            f"a study needs at least two runs and two topics, here are {runs} and {topics}",
            hint="add run files",
        )
    return judged


def _json(tables: Sequence[Table]) -> str:
    """The tables as commands print them, without the version: a new version may give the same numbers."""
    head, begin, tail = json_text("study", {}, tables).partition(' "tables": {')
    return head[:2] + begin + tail


def _rounded(table: Table) -> Table:
    """Ten significant digits: what lies beyond may differ from one processor to another."""

    def cell(value: Cell) -> Cell:
        return float(f"{value:.10g}") if isinstance(value, float) else value

    return replace(table, rows=[tuple(map(cell, row)) for row in table.rows])
