"""The experiments of a paper about a measure: tables, data of figures, and a manifest to repeat them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

from rankscope.analysis.study import manifest as manifests
from rankscope.analysis.study.checkpoints import Checkpoints
from rankscope.analysis.study.joint_tables import join_tables, select_tables
from rankscope.analysis.study.sections import Experiments
from rankscope.analysis.study.settings import StudySettings
from rankscope.columns import Columns, as_rows, to_values
from rankscope.engines import using
from rankscope.errors import InputError, SettingsError, check_name
from rankscope.measures import REGISTRY, Measure
from rankscope.measures.function import FunctionMeasure
from rankscope.read import Qrels
from rankscope.result import Result
from rankscope.scores import Collection
from rankscope.tables import Table, json_text

_PAPER = (
    "collection", "gain_correlations", "focus_correlations", "correlation_matrix", "archetype_shares", "archetypes",
    "agreement",
    "robustness_curve", "depth_pools", "power", "significant_pairs", "scale_effect", "bounds",
)  # fmt: skip
"""Tables that a paper prints, which are also written as LaTeX; the others are data."""

_SHOWN = (
    "collection", "correlation_matrix", "archetypes", "robustness_curve", "power", "significant_pairs", "left_out",
)  # fmt: skip
"""Main tables; the others are only in the files."""

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
    """Tables, settings and files of a study."""

    figures: ClassVar[Mapping[str, str]] = {"matrix": "correlation.plot_correlation"}
    tables: Mapping[str, Table]
    settings: Mapping[str, Any]
    inputs: Mapping[str, Any] = field(default_factory=dict)
    """Input files and their digests."""
    checkpoints: Checkpoints = field(default_factory=Checkpoints, repr=False)
    """Finished experiments, kept until the study is written."""

    @property
    def main(self) -> Sequence[str]:
        """Names of the main tables."""
        requested = ["scale_effect"] if "intervals" in self.settings else []
        shown = [name for name in (*_SHOWN, *requested) if name in self.tables]
        several = len(self.collections) > 1
        return ["archetype_shares" if several and name == "archetypes" else name for name in shown]

    def _about(self) -> str:
        names = self.collections
        return f"{names[0] if len(names) == 1 else f'{len(names)} collections'}, {len(self.tables)} tables"

    @property
    def collections(self) -> Sequence[str]:
        """Names of the collections."""
        listed: Sequence[Mapping[str, Any]] | None = self.settings.get("collections")
        return [self.settings["name"]] if listed is None else [str(entry["name"]) for entry in listed]

    def select(self, name: str) -> Study:
        """Return the study of one of several collections."""
        message = f"there is no collection {name!r} in this study"
        check_name(name, self.collections, message, listed="there are")
        if self.settings.get("collections") is None:
            return self
        return Study(select_tables(self.tables, name), {**self.settings, "name": name, "collections": None})

    def files(self) -> dict[str, bytes]:
        """Return the content of every file but the manifest, by path in the directory of the study."""
        return {name: text().encode("utf-8", "surrogateescape") for name, text in self._writers().items()}

    def file_names(self) -> list[str]:
        """Return the paths of :meth:`files`."""
        return list(self._writers())

    def _writers(self) -> dict[str, Callable[[], str]]:
        """Return functions that return the text of each file."""
        rounded = cache(lambda name: _rounded(self.tables[name]))
        writers: dict[str, Callable[[], str]] = {}
        for name in self.tables:
            writers[f"tables/{name}.csv"] = partial(lambda name: rounded(name).csv(), name)
        for name in filter(self.tables.__contains__, _PAPER):
            writers[f"tables/{name}.tex"] = partial(lambda name: rounded(name).latex(), name)
        for figure, names in _FIGURES.items():
            if drawn := [name for name in names if name in self.tables]:
                writers[f"figures/{figure}.json"] = partial(
                    lambda names: _json([*map(rounded, names)]), drawn
                )
        return writers

    def write(self, directory: str | Path, pictures: Mapping[str, bytes] | None = None) -> int:
        """Write tables, data of figures, pictures and the manifest atomically.

        An earlier study in the directory is replaced. Other files stay. If one of them has the name of a file of the
        study, or if a file of the earlier study was changed, nothing is written.

        Parameters
        ----------
        directory
            Directory of the study.
        pictures
            Further files, such as drawn figures; a repetition does not compare them.

        Returns
        -------
        int
            Number of files without the pictures.
        """
        files, pictures = self.files(), pictures or {}
        text = manifests.manifest_text(self.settings, self.inputs, files, pictures)
        with self.checkpoints.removed_on_error():
            manifests.write_directory(directory, {**files, **pictures, manifests.MANIFEST: text})
        self.checkpoints.remove()
        return len(files) + 1


def study(
    collection: Collection | Mapping[str, Collection],
    settings: StudySettings | None = None,
    *,
    output: str | Path | None = None,
    resume: str | Path | None = None,
    plugins: Sequence[Mapping[str, str | None]] = (),
) -> Study:
    """Run the experiments that a paper about a measure reports, on one collection or several.

    These are: features of the collection; correlation between the measures; archetypes and effort/gain planes;
    robustness to sampled and to shallow pools; discriminative power; the effect of averaging values that are not on
    an interval scale; bounds of RBP (Ferro et al. 2016; Moffat and Zobel 2008).

    Options of the collection apply wherever measures are evaluated. With ``unjudged="bounds"`` the table ``means`` has
    ranges. Archetypes, planes and curves ignore these options.

    Parameters
    ----------
    collection
        Collection to study, or a mapping of names to collections. The tables of several collections have a column
        ``collection``, and the table ``left_out`` lists experiments that a collection does not permit.
    settings
        Measures, experiments and sample sizes; the defaults of :class:`StudySettings` unless set.
    output
        Directory for CSV, LaTeX, data of figures and the manifest.
    resume
        Directory that the study will be written to later. Finished experiments are kept next to it, or next to
        ``output``, until the study is written, so that an interrupted study continues where it stopped.
    plugins
        Names and digests of the files that define measures.

    Returns
    -------
    Study
        Tables, settings and files; ``Study.select(name)`` returns the study of one of several collections.

    Examples
    --------
    >>> import rankscope as rs
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 2}}
    >>> runs = {r: {q: {"a": i, "b": 2 - i, "c": 1.5} for q in qrels} for i, r in enumerate(["r1", "r2", "r3"])}
    >>> collection = rs.Collection(qrels, runs)
    >>> settings = rs.StudySettings(measures="AP nDCG", repeats=1)
    >>> sorted(rs.study(collection, settings).tables)[:3]
    ['agreement', 'archetype_shares', 'archetypes']
    >>> rs.study({"one": collection, "two": collection}, settings)
    <Study: 2 collections, 22 tables>
    """
    settings = settings or StudySettings()
    several = isinstance(collection, Mapping)
    opened = _open(collection, settings)
    first = next(iter(opened.values()))
    recorded = {
        **settings.for_manifest(),
        "missing": first.missing,
        **manifests.collection_settings(opened, several),
        **{key: value for key, value in first.options.settings.items() if key != "ties_seed"},
    }
    inputs = {**manifests.input_files(opened, several), "plugins": [dict(plugin) for plugin in plugins]}
    checkpoints = Checkpoints()
    target = output if resume is None else resume
    if target is not None and (plugins or not _has_functions(settings.selected_measures)):
        identity = {"versions": manifests.versions(), "settings": recorded, "inputs": inputs}
        checkpoints = Checkpoints.next_to(target, identity)
    with using(first.engine, first.jobs), checkpoints.removed_on_error():
        tables = _tables(opened, settings, several, checkpoints)
    result = Study(tables, recorded, inputs, checkpoints)
    if output is not None:
        result.write(output)
    return result


def _open(
    collection: Collection | Mapping[str, Collection], settings: StudySettings
) -> dict[str, Collection]:
    """Return the collections by name, with the seed of the study and the aspects that its measures need."""
    if isinstance(collection, Mapping):
        if settings.name is not None:
            raise SettingsError("several collections have their own names", hint="leave name out")
        if not collection:
            raise InputError("there is no collection to study", hint="name at least one")
        named = {str(name): member for name, member in collection.items()}
    else:
        named = {settings.name or "": collection}
    for member in named.values():
        if not isinstance(member, Collection):
            raise SettingsError(
                "study takes a Collection, or a mapping of names to collections, not a value of type"
                f" {type(member).__name__}",
                hint="give it rs.Collection(qrels, runs)",
            )
    if len({(member.missing, member.ties, member.unjudged) for member in named.values()}) > 1:
        hint = "open all of them alike"
        raise SettingsError("the collections of a study differ in missing, ties or unjudged", hint=hint)
    measures = settings.selected_measures
    return {
        name or _default_name(member.qrels): member.with_options(seed=settings.seed).for_measures(measures)
        for name, member in named.items()
    }


def _has_functions(measures: Sequence[Measure]) -> bool:
    """Return whether a measure is a Python function of the user, which may have changed before the next call."""
    own = [name for name, registered in REGISTRY.items() if isinstance(registered, FunctionMeasure)]
    return any(isinstance(m, FunctionMeasure) or any(name in str(m) for name in own) for m in measures)


@dataclass(frozen=True, eq=False, repr=False)
class Repetition(Result):
    """A study repeated from its manifest: files that differ, and versions of programs that differ."""

    study: Study
    changed: tuple[str, ...]
    versions: Mapping[str, tuple[str, str]]

    @property
    def identical(self) -> bool:
        """Whether every output file has the same bytes."""
        return not self.changed

    @property
    def settings(self) -> Mapping[str, Any]:
        """Settings of the study."""
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


def repeat_study(path: str | Path, *, jobs: int | None = None, engine: Any = None) -> Repetition:
    """Repeat a study from its manifest, and compare every file with the recorded digest.

    Parameters
    ----------
    path
        Manifest of the study, or its directory.
    jobs, engine
        As for :class:`Collection`.

    Returns
    -------
    Repetition
        The new study, and the files and versions that differ.

    Examples
    --------
    >>> repeat_study("my-study/manifest.json").identical  # doctest: +SKIP
    True
    """
    content = manifests.read_manifest(path)
    recorded = content["settings"]
    directory = Path(path) if Path(path).is_dir() else Path(path).parent
    settings = StudySettings.from_manifest(recorded)
    with using(engine, jobs):
        opened = manifests.open_inputs(content, directory, settings.seed)
        tables = _tables(opened, settings, "collections" in recorded, Checkpoints())
    repeated = Study(tables, {**recorded, "focus": str(settings.focus_measure)}, content["inputs"])
    current, recorded_versions = manifests.versions(), content["versions"]
    other = {
        name: (str(recorded_versions.get(name)), version)
        for name, version in current.items()
        if recorded_versions.get(name) != version
    }
    return Repetition(repeated, tuple(manifests.changed_files(content, repeated.files())), other)


def _default_name(qrels: Qrels) -> str:
    if qrels.path is None:
        return "collection"
    path = Path(qrels.path).absolute()
    return path.parent.name if path.stem.lower() == "qrels" else path.stem


def _tables(
    collections: Mapping[str, Collection], settings: StudySettings, several: bool, checkpoints: Checkpoints
) -> dict[str, Table]:
    tables: dict[str, dict[str, Table]] = {}
    for name, collection in collections.items():
        tables[name] = Experiments(collection, settings, name, several).tables(checkpoints)
        if collection.unjudged == "bounds":
            tables[name]["means"] = collection.evaluate(settings.selected_measures).wide()
    return join_tables(tables) if several else next(iter(tables.values()))


def _json(tables: Sequence[Table]) -> str:
    """Return the tables as commands print them, but without the version, which does not change the numbers."""
    head, begin, tail = json_text("study", {}, tables).partition(' "tables": {')
    return head[:2] + begin + tail


def _rounded(table: Table) -> Table:
    """Round to ten significant digits; further digits may differ between processors."""
    columns = [
        [float(f"{value:.10g}") if isinstance(value, float) else value for value in to_values(column)]
        for column in as_rows(table.rows).columns()
    ]
    return replace(table, rows=Columns(columns))
