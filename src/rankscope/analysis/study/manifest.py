"""A directory of results with a manifest: what went in, what came out, and how to make it again.

The manifest holds no time and no host, so that the same inputs give the same bytes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rankscope import __version__
from rankscope.analysis.study.shape import FORMAT, KIND, check_kind, check_manifest
from rankscope.directories import finish_replacement, replace_directory
from rankscope.errors import InputError
from rankscope.files import digest
from rankscope.json_documents import read_json
from rankscope.read import Inputs, Runs, open_collection, read_run
from rankscope.read.datasets import dataset_digest, dataset_id
from rankscope.read.source import named_path, only_file

__all__ = [
    "MANIFEST",
    "changed_files",
    "checked_input",
    "described",
    "input_digest",
    "inputs_of",
    "listed_files",
    "open_inputs",
    "read_manifest",
    "settings_of",
    "write_directory",
]

MANIFEST = "manifest.json"


def versions() -> dict[str, str]:
    """What computed the results: Rankscope, Python and the libraries whose arithmetic they rest on."""
    import numpy
    import scipy

    python = ".".join(map(str, sys.version_info[:3]))
    return {
        "rankscope": __version__,
        "python": python,
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
    }


def settings_of(collections: Mapping[str, Inputs], several: bool) -> dict[str, Any]:
    """What was decided when collections were opened: for one of them, or for each of several."""
    listed = [{"name": name, **collection.settings} for name, collection in collections.items()]
    return {"collections": listed} if several else listed[0]


def inputs_of(collections: Mapping[str, Inputs], several: bool) -> dict[str, Any]:
    """The files of one collection, or of each of several, with their digests; what was only in memory has no path.

    Plugins, which only commands load, are added by :func:`rankscope.analysis.study.Study.with_plugins`.
    """
    listed = [{"name": name, **_files(collection)} for name, collection in collections.items()]
    if several:
        return {"collections": listed, "plugins": []}
    return {**{key: value for key, value in listed[0].items() if key != "name"}, "plugins": []}


def _files(collection: Inputs) -> dict[str, Any]:
    runs = [
        {"name": name, **_file(run.path, run.source, run.format)} for name, run in collection.runs.items()
    ]
    return {"qrels": _file(collection.qrels.path, None, collection.qrels.format), "runs": runs}


def _file(path: str | None, source: Path | bytes | None, form: str) -> dict[str, str | None]:
    said = {} if form == "trec" else {"format": form}
    if path is not None and form == "irds":
        return {"path": path, "sha256": input_digest(path), **said}
    if isinstance(source, bytes):
        return {"path": None, "sha256": digest(source), **said}
    if path is None or not Path(path).exists():
        return {"path": None, "sha256": None}
    return {"path": path, "sha256": digest(Path(path)), **said}


def described(
    settings: Mapping[str, Any],
    inputs: Mapping[str, Any],
    files: Mapping[str, bytes],
    pictures: Iterable[str] = (),
) -> bytes:
    """The text of the manifest; ``pictures`` belong to the study without being compared when it is repeated."""
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
    """The manifest of a study, given as the file or its directory, with every field checked."""
    file = Path(path) / MANIFEST if Path(path).is_dir() else Path(path)
    hint = f"name a {MANIFEST} that rankscope {__version__} wrote"
    if file.name == MANIFEST:
        finish_replacement(file.parent, MANIFEST, listed_files)
    content: dict[str, Any] = read_json(file, check_manifest, hint)
    return content


def open_inputs(manifest: Mapping[str, Any], beside: Path) -> dict[str, Inputs]:
    """The judgments and runs a study was made of, by collection, after checking that they are still the same.

    They are opened as they were then. Relative paths are tried from the working directory and from the directory of
    the manifest.
    """
    settings, inputs = manifest["settings"], manifest["inputs"]
    if "collections" not in settings:
        return {settings["name"]: _opened(settings, inputs, beside)}
    pairs = zip(settings["collections"], inputs["collections"], strict=True)
    return {said["name"]: _opened(said, files, beside, f" of {said['name']}") for said, files in pairs}


def _opened(said: Mapping[str, Any], files: Mapping[str, Any], beside: Path, of: str = "") -> Inputs:
    order = said["order"]
    runs = [
        read_run(
            checked_input(entry, f"run {entry['name']}{of}", beside),
            order=order if isinstance(order, str) else order[entry["name"]],
            name=entry["name"],
            input_format=entry.get("format", "trec"),
        )
        for entry in files["runs"]
    ]
    judgments = checked_input(files["qrels"], f"the judgments{of}", beside)
    formats = {"qrels": files["qrels"].get("format", "trec")}
    return open_collection(
        judgments,
        Runs(runs),
        aspects=said["aspects"],
        grades=said.get("grades"),
        topics=said.get("chosen_topics"),
        input_format=formats,
    )


def checked_input(entry: Mapping[str, Any], what: str, beside: Path, *, here: bool = True) -> Path:
    """The file of an entry, which must be what it was; its path is tried from here and from beside the manifest."""
    if entry["path"] is None:
        raise InputError(
            f"{what} came from memory or standard input", hint="make the study from files to repeat it"
        )
    if entry.get("format") == "irds":
        if input_digest(entry["path"]) != entry["sha256"]:
            raise _changed(what, entry["path"])
        return Path(entry["path"])
    places = [Path(entry["path"]), beside / entry["path"]] if here else [beside / entry["path"]]
    found = [path for path in places if path.exists()]
    if not found:
        raise InputError(
            f"{what}: no such file", path=entry["path"], hint="run in the directory the study was made in"
        )
    file: Path = found[0]
    if digest(file) != entry["sha256"]:
        raise _changed(what, file)
    return file


def _changed(what: str, path: str | Path) -> InputError:
    return InputError(f"{what} changed since the study was made", path=path, hint="make a new study instead")


def input_digest(name: str) -> str:
    """What identifies the content of an input: a file, a directory of parts, or the judgments of a dataset."""
    dataset = dataset_id(name)
    return dataset_digest(dataset) if dataset else digest(named_path(only_file(name)))


def changed_files(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> list[str]:
    """The names of the output files that differ from those of the manifest, or are missing on either side."""
    before = manifest["outputs"]
    now = {name: digest(data) for name, data in files.items()}
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))


def write_directory(directory: str | Path, files: Mapping[str, bytes]) -> None:
    """Write all files of a study, or none, in place of an earlier study or where there is nothing."""
    replace_directory(directory, files, MANIFEST, listed_files)


def listed_files(directory: Path) -> dict[str, str | None]:
    """The files of the study in a directory with their digests; pictures and the manifest itself have none."""
    try:
        content = read_json(directory / MANIFEST, check_kind, "")
    except InputError:
        raise InputError(
            "there is something here that is not a study", path=directory, hint="choose another directory"
        ) from None
    return {**content["outputs"], **dict.fromkeys(content.get("pictures", [])), MANIFEST: None}
