"""The schema of a manifest: every field is validated, so that no study is repeated from an incomplete manifest."""

from typing import Any

from rankscope.choices import EXPERIMENTS, INPUT_FORMATS, SAMPLINGS, TIES, UNJUDGED_AS
from rankscope.json_documents import (
    Mismatch,
    Shape,
    boolean,
    integer,
    list_shape,
    number,
    object_shape,
    one_of,
    optional,
    record,
    text,
)
from rankscope.read import ORDERS

KIND = "rankscope study"
FORMAT = 2
"""Version of the schema; increases when older manifests can no longer be read."""

_DIGEST = text("[0-9a-f]{64}", "a SHA-256 digest")
_NAME = text("(?s).+", "a name")
_FILE = {"path": optional(_NAME), "sha256": optional(_DIGEST)}
_PLACE = text(r"(?s)(?!/)(?!(?:.*/)?\.\.(?:/|$))[^\\:]+", "the path of a file in the directory")
_MAX_SAMPLES = 10**7
"""Limit of random samples: more would take longer than a day, so an untrusted manifest may not ask for them."""


def _order(value: Any, location: str) -> None:
    """Check an order, or a mapping of runs to orders."""
    (object_shape(_NAME, one_of(ORDERS)) if isinstance(value, dict) else one_of(ORDERS))(value, location)


_MERGES = text(r"-?\d+(,-?\d+)*=-?\d+(;-?\d+(,-?\d+)*=-?\d+)*", "how grades are merged")
_OPENED: dict[str, Shape] = {"order": _order, "aspects": boolean}
_CHOSEN: dict[str, Shape] = {"grades": _MERGES, "chosen_topics": list_shape(_NAME, min_length=1)}
_SETTINGS: dict[str, Shape] = {
    "measures": list_shape(_NAME, min_length=2),
    "focus": _NAME,
    "top": number(0, 1),
    "top_of": list_shape(one_of(EXPERIMENTS)),
    "ratios": list_shape(number(0, 100)),
    "repeats": integer(1, _MAX_SAMPLES),
    "sampling": one_of(SAMPLINGS),
    "pool_depth": integer(1, 2**31 - 1),
    "alpha": number(0, 1),
    "replicates": integer(1, _MAX_SAMPLES),
    "p": list_shape(number(0, 1)),
    "seed": integer(0, 2**128 - 1),
    "missing": one_of(("zero", "skip")),
}
_OPTIONAL: dict[str, Shape] = {
    "ties": one_of(TIES),
    "unjudged": one_of(UNJUDGED_AS),
    "intervals": integer(1, 2**31 - 1),
}
_PLUGINS = list_shape(record({"name": _NAME, "sha256": optional(_DIGEST)}, {"source": text()}))
_FORMAT = {"format": one_of((*INPUT_FORMATS, "irds"))}
_RUN = record({"name": _NAME, **_FILE}, _FORMAT)


def _manifest(settings: Shape, inputs: Shape) -> Shape:
    return record(
        {
            "kind": one_of((KIND,)),
            "format": integer(FORMAT, FORMAT),
            "versions": object_shape(_NAME, text()),
            "settings": settings,
            "inputs": inputs,
            "outputs": object_shape(_PLACE, _DIGEST),
        },
        {"pictures": list_shape(_PLACE)},
    )


_ONE = _manifest(
    record({**_SETTINGS, "name": text(), **_OPENED}, {**_CHOSEN, **_OPTIONAL}),
    record({"qrels": record(_FILE, _FORMAT), "runs": list_shape(_RUN, min_length=2), "plugins": _PLUGINS}),
)
_MEMBER = record({"name": _NAME, **_OPENED}, _CHOSEN)
_MEMBER_FILES = record(
    {"name": _NAME, "qrels": record(_FILE, _FORMAT), "runs": list_shape(_RUN, min_length=1)}
)
_SEVERAL = _manifest(
    record({**_SETTINGS, "collections": list_shape(_MEMBER, min_length=1)}, _OPTIONAL),
    record({"collections": list_shape(_MEMBER_FILES, min_length=1), "plugins": _PLUGINS}),
)


def check_manifest(content: Any, location: str) -> None:
    """Check a whole manifest."""
    check_kind(content, location)
    if content.get("format") != FORMAT:
        versions = content.get("versions")
        version = versions.get("rankscope") if isinstance(versions, dict) else None
        by = f" by rankscope {version}" if isinstance(version, str) else ""
        message = f"the manifest was written{by} in another format than {FORMAT}, which is read here"
        raise Mismatch("format", message)
    settings = content.get("settings")
    if not isinstance(settings, dict) or "collections" not in settings:
        _ONE(content, location)
        _check_orders(content["settings"], content["inputs"], "settings")
        return
    _SEVERAL(content, location)
    listed, files = settings["collections"], content["inputs"]["collections"]
    names = [entry["name"] for entry in listed]
    if names != [entry["name"] for entry in files] or len(set(names)) < len(names):
        raise Mismatch("inputs.collections", "the collections of the settings are expected, each once")
    for index, (entry, inputs) in enumerate(zip(listed, files, strict=True)):
        _check_orders(entry, inputs, f"settings.collections[{index}]")


def _check_orders(settings: dict[str, Any], files: dict[str, Any], location: str) -> None:
    order = settings["order"]
    if isinstance(order, dict) and set(order) != {run["name"] for run in files["runs"]}:
        raise Mismatch(f"{location}.order", "one ordering for each run is expected")


def check_kind(content: Any, location: str) -> None:
    """Check that a value is the manifest of a study, perhaps of another version, and the files that it lists."""
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise Mismatch.from_value(location, "the manifest of a study", content)
    object_shape(_PLACE, _DIGEST)(content.get("outputs"), "outputs")
    list_shape(_PLACE)(content.get("pictures", []), "pictures")
