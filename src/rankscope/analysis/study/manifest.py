"""A directory of results with a manifest: what went in, what came out, and how to make it again.

The manifest holds no time and no host, so that the same inputs give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rankscope import __version__
from rankscope.directories import finish_replacement, replace_directory
from rankscope.errors import InputError
from rankscope.read import Qrels, Runs, read_qrels, read_run

__all__ = [
    "MANIFEST",
    "changed_files",
    "described",
    "inputs_of",
    "listed_files",
    "open_inputs",
    "read_manifest",
    "write_directory",
]

MANIFEST = "manifest.json"
_KIND = "rankscope study"


def digest(content: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


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


def inputs_of(qrels: Qrels, runs: Runs) -> dict[str, Any]:
    """The files of a collection with their digests; what was only in memory has no path."""
    listed = [{"name": name, **_file(run.path, run.source)} for name, run in runs.items()]
    return {"qrels": _file(qrels.path, None), "runs": listed}


def _file(path: str | None, source: Path | bytes | None) -> dict[str, str | None]:
    if isinstance(source, bytes):
        return {"path": None, "sha256": digest(source)}
    if path is None or not Path(path).is_file():
        return {"path": None, "sha256": None}
    return {"path": path, "sha256": digest(Path(path).read_bytes())}


def described(
    settings: Mapping[str, Any],
    inputs: Mapping[str, Any],
    files: Mapping[str, bytes],
    pictures: Iterable[str] = (),
) -> bytes:
    """The text of the manifest; ``pictures`` belong to the study without being compared when it is repeated."""
    content = {
        "kind": _KIND,
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
    """The manifest of a study, given as the file or its directory."""
    file = Path(path) / MANIFEST if Path(path).is_dir() else Path(path)
    hint = f"name the {MANIFEST} that rankscope study wrote"
    try:
        finish_replacement(file.parent, MANIFEST, listed_files)
        return _parsed(file)
    except OSError as error:
        raise InputError(f"cannot read ({error.strerror})", path=file, hint=hint) from None
    except (ValueError, KeyError):
        raise InputError("this is not the manifest of a study", path=file, hint=hint) from None


def _parsed(file: Path) -> dict[str, Any]:
    content = json.loads(file.read_bytes().decode("utf-8", "surrogateescape"))
    expected = {"settings", "inputs", "outputs", "versions"}
    if not isinstance(content, dict) or content.get("kind") != _KIND or not expected <= set(content):
        raise ValueError
    return content


def open_inputs(manifest: Mapping[str, Any], beside: Path) -> tuple[Qrels, Runs]:
    """The judgments and runs a study was made of, after checking that they are still the same.

    Relative paths are tried from the working directory and from the directory of the manifest.
    """
    order = manifest["settings"]["order"]
    qrels = read_qrels(_checked(manifest["inputs"]["qrels"], "the judgments", beside))
    runs = [
        read_run(_checked(entry, f"run {entry['name']}", beside), order=order, name=entry["name"])
        for entry in manifest["inputs"]["runs"]
    ]
    return qrels, Runs(runs)


def _checked(entry: Mapping[str, Any], what: str, beside: Path) -> Path:
    if entry["path"] is None:
        raise InputError(
            f"{what} came from memory or standard input", hint="make the study from files to repeat it"
        )
    found = [path for path in (Path(entry["path"]), beside / entry["path"]) if path.is_file()]
    if not found:
        raise InputError(
            f"{what}: no such file", path=entry["path"], hint="run in the directory the study was made in"
        )
    if digest(found[0].read_bytes()) != entry["sha256"]:
        raise InputError(
            f"{what} changed since the study was made", path=found[0], hint="make a new study instead"
        )
    return found[0]


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
        content = _parsed(directory / MANIFEST)
        outputs, pictures = content["outputs"], content.get("pictures", [])
        names = {**outputs, **dict.fromkeys(pictures), MANIFEST: None}
        if all(isinstance(name, str) for name in names) and isinstance(pictures, list):
            return names
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise InputError(
        "there is something here that is not a study", path=directory, hint="choose another directory"
    )
