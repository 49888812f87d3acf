"""Judgments by name: those of ir_datasets, ``irds:ID`` or the ID itself where there is no such file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankscope.errors import InputError, MissingDependencyError, suggest_names

if TYPE_CHECKING:
    from rankscope.read.qrels import Qrels

__all__ = ["IRDS", "dataset_digest", "dataset_id", "load_dataset", "read_dataset"]

IRDS = "irds:"
_FILES = (
    ".txt",
    ".gz",
    ".tsv",
    ".csv",
    ".json",
    ".jsonl",
    ".qrels",
    ".run",
    ".parquet",
    ".bz2",
    ".xz",
    ".zst",
)


def dataset_id(name: str | Path) -> str | None:
    """The dataset that a text names; None if it names a file.

    >>> dataset_id("irds:cranfield"), dataset_id("qrels.txt")
    ('cranfield', None)
    """
    text = str(name)
    if text.startswith(IRDS):
        return None if Path(text).exists() else text.removeprefix(IRDS)
    if text in ("", "-") or text.startswith((".", "/", "~")) or text.lower().endswith(_FILES):
        return None
    if Path(text).exists() or find_spec("ir_datasets") is None:
        return None
    return text if text in _registered() else None


def read_dataset(dataset: str, aspects: bool | None = None) -> Qrels:
    """The judgments of a dataset; ir_datasets may have to download them."""
    from rankscope.read.qrels import Qrels

    rows = list(_judgments(dataset))
    if not rows:
        raise InputError("the dataset has no judgment", path=f"{IRDS}{dataset}", hint="name another one")
    return replace(Qrels.from_frame(rows, aspects=aspects), path=f"{IRDS}{dataset}", format="irds")


def dataset_digest(dataset: str) -> str:
    """SHA-256 of the judgments as lines of a TREC file."""
    import hashlib

    found = hashlib.sha256()
    for one in _judgments(dataset):
        name = getattr(one, "subtopic_id", getattr(one, "iteration", 0))
        line = f"{one.query_id} {name} {one.doc_id} {one.relevance}\n"
        found.update(line.encode("utf-8", "surrogateescape"))
    return found.hexdigest()


def load_dataset(dataset: str) -> Any:
    """A dataset of ir_datasets by its id."""
    path = f"{IRDS}{dataset}"
    try:
        import ir_datasets
    except ImportError:
        missing = MissingDependencyError.for_package("ir_datasets", "datasets", "datasets by name")
        raise MissingDependencyError(missing.message, path=path, hint=missing.hint) from None
    try:
        return ir_datasets.load(dataset)
    except KeyError:
        hint = suggest_names(dataset, _registered()) or "see the catalogue of ir_datasets"
        raise InputError("ir_datasets knows no such dataset", path=path, hint=hint) from None


def _judgments(dataset: str) -> Iterator[Any]:
    path = f"{IRDS}{dataset}"
    found = load_dataset(dataset)
    if not found.has_qrels():
        raise InputError(
            "the dataset has no judgments", path=path, hint="name one that has, such as a split of it"
        )
    try:
        yield from found.qrels_iter()
    except (OSError, RuntimeError, ValueError) as error:
        reason = (str(error).splitlines() or ["no reason given"])[0][:200]
        raise InputError(
            f"ir_datasets cannot give the judgments ({reason})",
            path=path,
            hint="check the network, and try again",
        ) from None


def _registered() -> list[str]:
    import ir_datasets

    return list(ir_datasets.registry)
