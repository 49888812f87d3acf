"""The directory of a study, and its manifest: settings, inputs and outputs, with which the study can be repeated.

The manifest contains neither time nor host, so that the same inputs give the same bytes.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rankscope import __version__
from rankscope.analysis.study.manifest_schema import FORMAT, KIND, check_kind, check_manifest
from rankscope.directories import finish_replacement, replace_directory
from rankscope.errors import InputError
from rankscope.files import digest
from rankscope.json_documents import read_json
from rankscope.read import Runs, open_qrels, read_run
from rankscope.read.datasets import dataset_digest, dataset_id
from rankscope.read.source import expand_path, match_single_file
from rankscope.scores import Collection

MANIFEST = "manifest.json"


def versions() -> dict[str, str]:
    """Return the versions of Rankscope, Python and the numerical libraries."""
    import numpy
    import scipy

    python = ".".join(map(str, sys.version_info[:3]))
    libraries = {module.__name__: module.__version__ for module in (numpy, scipy)}
    return {"rankscope": __version__, "python": python, **libraries}


def collection_settings(collections: Mapping[str, Collection], several: bool) -> dict[str, Any]:
    """Return the options with which one collection, or each of several, was opened."""
    listed = [{"name": name, **collection.settings} for name, collection in collections.items()]
    return {"collections": listed} if several else listed[0]


def input_files(collections: Mapping[str, Collection], several: bool) -> dict[str, Any]:
    """Return the files of one collection, or of each of several, with digests; inputs in memory have no path."""
    listed = [{"name": name, **_files(collection)} for name, collection in collections.items()]
    if several:
        return {"collections": listed}
    return {key: value for key, value in listed[0].items() if key != "name"}


def _files(collection: Collection) -> dict[str, Any]:
    runs = [
        {"name": name, **_file(run.path, run.source, run.format)} for name, run in collection.runs.items()
    ]
    return {"qrels": _file(collection.qrels.path, None, collection.qrels.format), "runs": runs}


def _file(path: str | None, source: Path | bytes | None, file_format: str) -> dict[str, str | None]:
    stated = {} if file_format == "trec" else {"format": file_format}
    if path is not None and file_format == "irds":
        return {"path": path, "sha256": input_digest(path), **stated}
    if isinstance(source, bytes):
        return {"path": None, "sha256": digest(source), **stated}
    if path is None or not Path(path).exists():
        return {"path": None, "sha256": None}
    return {"path": path, "sha256": digest(Path(path)), **stated}


def manifest_text(
    settings: Mapping[str, Any],
    inputs: Mapping[str, Any],
    files: Mapping[str, bytes],
    pictures: Iterable[str] = (),
) -> bytes:
    """Return the text of the manifest; ``pictures`` are files of the study that a repetition does not compare."""
    content = {
        "kind": KIND,
        "format": FORMAT,
        "versions": versions(),
        "settings": dict(settings),
        "inputs": dict(inputs),
        "outputs": {name: digest(data) for name, data in sorted(files.items())},
    }
    if pictures:
        content["pictures"] = sorted(pictures)
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "surrogateescape") + b"\n"


def read_manifest(path: str | Path) -> dict[str, Any]:
    """Return the validated manifest of a study; ``path`` is the file or its directory."""
    file = Path(path) / MANIFEST if Path(path).is_dir() else Path(path)
    hint = f"name a {MANIFEST} that rankscope {__version__} wrote"
    if file.name == MANIFEST:
        finish_replacement(file.parent, MANIFEST, listed_files)
    content: dict[str, Any] = read_json(file, check_manifest, hint)
    return content


def open_inputs(manifest: Mapping[str, Any], directory: Path, seed: int) -> dict[str, Collection]:
    """Return the collections of a study, opened as then, or raise an error if a file has changed.

    Relative paths are resolved against the working directory and against the directory of the manifest.
    """
    settings, inputs = manifest["settings"], manifest["inputs"]
    options = {key: settings[key] for key in ("missing", "ties", "unjudged") if key in settings}
    options["seed"] = seed
    if "collections" not in settings:
        return {settings["name"]: _open(settings, inputs, directory, options)}
    return {
        opened["name"]: _open(opened, files, directory, options, f" of {opened['name']}")
        for opened, files in zip(settings["collections"], inputs["collections"], strict=True)
    }


def _open(
    settings: Mapping[str, Any],
    files: Mapping[str, Any],
    directory: Path,
    options: Mapping[str, Any],
    suffix: str = "",
) -> Collection:
    order = settings["order"]
    runs = [
        read_run(
            checked_input(entry, f"run {entry['name']}{suffix}", directory),
            order=order if isinstance(order, str) else order[entry["name"]],
            name=entry["name"],
            input_format=entry.get("format", "trec"),
        )
        for entry in files["runs"]
    ]
    path = checked_input(files["qrels"], f"the judgments{suffix}", directory)
    qrels = open_qrels(
        path,
        aspects=settings["aspects"],
        grades=settings.get("grades"),
        input_format=files["qrels"].get("format", "trec"),
    )
    return Collection(qrels, Runs(runs), topics=settings.get("chosen_topics"), **options)


def checked_input(entry: Mapping[str, Any], label: str, directory: Path, *, here: bool = True) -> Path:
    """Return the path of a recorded file, or raise an error if its digest has changed.

    A relative path is resolved against the working directory, if ``here``, and against ``directory``.
    """
    if entry["path"] is None:
        raise InputError(f"{label} came from memory or standard input", hint="study files to repeat it")
    if entry.get("format") == "irds":
        if input_digest(entry["path"]) != entry["sha256"]:
            raise _changed(label, entry["path"])
        return Path(entry["path"])
    paths = [Path(entry["path"]), directory / entry["path"]] if here else [directory / entry["path"]]
    file: Path | None = next((path for path in paths if path.exists()), None)
    if file is None:
        hint = "run in the directory in which the study was written"
        raise InputError(f"{label}: no such file", path=entry["path"], hint=hint)
    if digest(file) != entry["sha256"]:
        raise _changed(label, file)
    return file


def _changed(label: str, path: str | Path) -> InputError:
    return InputError(f"{label} changed since the study", path=path, hint="run a new study instead")


def input_digest(name: str) -> str:
    """Return the digest of an input: a file, a directory of parts, or the judgments of a dataset."""
    dataset = dataset_id(name)
    return dataset_digest(dataset) if dataset else digest(expand_path(match_single_file(name)))


def changed_files(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> list[str]:
    """Return the names of output files that differ from those of the manifest, or are missing on either side."""
    before = manifest["outputs"]
    current = {name: digest(data) for name, data in files.items()}
    return sorted(name for name in before.keys() | current.keys() if before.get(name) != current.get(name))


def write_directory(directory: str | Path, files: Mapping[str, bytes]) -> None:
    """Write the files of a study atomically; an earlier study in the directory is replaced."""
    replace_directory(directory, files, MANIFEST, listed_files)


def listed_files(directory: Path) -> dict[str, str | None]:
    """Return the files of the study in a directory with their digests; None for pictures and the manifest."""
    try:
        content = read_json(directory / MANIFEST, check_kind, "")
    except InputError:
        hint = "choose another directory"
        raise InputError("the directory exists and is not a study", path=directory, hint=hint) from None
    return {**content["outputs"], **dict.fromkeys(content.get("pictures", [])), MANIFEST: None}
