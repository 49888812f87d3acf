"""What a manifest must look like: every field, so that a study is never repeated from half a manifest."""

from __future__ import annotations

from typing import Any

from rankscope.analysis.stats.sampling import SAMPLINGS
from rankscope.json_documents import (
    Mismatch,
    boolean,
    integer,
    list_of,
    mapping_of,
    number,
    one_of,
    optional,
    record,
    text,
)
from rankscope.read import ORDERS

__all__ = ["FORMAT", "KIND", "check_kind", "check_manifest"]

KIND = "rankscope study"
FORMAT = 1
"""Changes when a manifest of one version can no longer be read by another."""

_DIGEST = text("[0-9a-f]{64}", "a SHA-256 digest")
_NAME = text("(?s).+", "a name")
_FILE = {"path": optional(_NAME), "sha256": optional(_DIGEST)}
_PLACE = text(r"(?s)(?!/)(?!(?:.*/)?\.\.(?:/|$))[^\\:]+", "the path of a file in the directory")
_MOST_SAMPLES = 10**7
"""Of anything that is drawn at random: beyond it a manifest asks for more than a day of work."""


def _order(value: Any, place: str) -> None:
    """One ordering, or that of each run by its name."""
    (mapping_of(_NAME, one_of(ORDERS)) if isinstance(value, dict) else one_of(ORDERS))(value, place)


_SETTINGS = record(
    {
        "measures": list_of(_NAME, least=2),
        "name": text(),
        "focus": _NAME,
        "top": number(0, 1),
        "ratios": list_of(number(0, 100)),
        "repeats": integer(1, _MOST_SAMPLES),
        "sampling": one_of(SAMPLINGS),
        "depth": integer(1, 2**31 - 1),
        "alpha": number(0, 1),
        "replicates": integer(1, _MOST_SAMPLES),
        "p": list_of(number(0, 1)),
        "seed": integer(0, 2**128 - 1),
        "order": _order,
        "aspects": boolean,
        "missing": one_of(("zero", "skip")),
    },
    {"grades": text(r"-?\d+(,-?\d+)*=-?\d+(;-?\d+(,-?\d+)*=-?\d+)*", "how grades are merged")},
)
_INPUTS = record(
    {
        "qrels": record(_FILE),
        "runs": list_of(record({"name": _NAME, **_FILE}), least=2),
        "plugins": list_of(record({"name": _NAME, "sha256": optional(_DIGEST)})),
    }
)
_MANIFEST = record(
    {
        "kind": one_of((KIND,)),
        "format": integer(FORMAT, FORMAT),
        "versions": mapping_of(_NAME, text()),
        "settings": _SETTINGS,
        "inputs": _INPUTS,
        "outputs": mapping_of(_PLACE, _DIGEST),
    },
    {"pictures": list_of(_PLACE)},
)


def check_manifest(content: Any, place: str) -> None:
    """The whole manifest, as a shape."""
    check_kind(content, place)
    if content.get("format") != FORMAT:
        versions = content.get("versions")
        version = versions.get("rankscope") if isinstance(versions, dict) else None
        by = f" by rankscope {version}" if isinstance(version, str) else ""
        raise Mismatch(
            "format", f"the manifest was written{by} in another format than {FORMAT}, which is read here"
        )
    _MANIFEST(content, place)
    order = content["settings"]["order"]
    if isinstance(order, dict) and set(order) != {run["name"] for run in content["inputs"]["runs"]}:
        raise Mismatch("settings.order", "one ordering for each run is expected")


def check_kind(content: Any, place: str) -> None:
    """Only that it is the manifest of some study, perhaps of another version, and which files it lists."""
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise Mismatch.of(place, "the manifest of a study", content)
    mapping_of(_PLACE, _DIGEST)(content.get("outputs"), "outputs")
    list_of(_PLACE)(content.get("pictures", []), "pictures")
