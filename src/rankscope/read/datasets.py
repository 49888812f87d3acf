"""Read judgments of ir_datasets: ``irds:ID``, or the ID itself if there is no such file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankscope.errors import InputError, require_package, suggest_names

if TYPE_CHECKING:
    from rankscope.read.qrels import Qrels


IRDS = "irds:"
_SUFFIXES = (
    *(".txt", ".gz", ".tsv", ".csv", ".json", ".jsonl"),
    *(".qrels", ".run", ".parquet", ".bz2", ".xz", ".zst"),
)
"""Suffixes of files, which no dataset has; they avoid importing ir_datasets."""


def dataset_id(name: str | Path) -> str | None:
    """Return the id of the dataset that a text names; None if it is a path.

    >>> dataset_id("irds:cranfield"), dataset_id("qrels.txt")
    ('cranfield', None)
    """
    text = str(name)
    if text.startswith(IRDS):
        return None if Path(text).exists() else text.removeprefix(IRDS)
    if text in ("", "-") or text.startswith((".", "/", "~")) or text.lower().endswith(_SUFFIXES):
        return None
    if Path(text).exists() or find_spec("ir_datasets") is None:
        return None
    return text if text in _registered() else None


def read_dataset(dataset: str, aspects: bool | None = None) -> Qrels:
    """Read the judgments of a dataset; ir_datasets may download them."""
    from rankscope.read.qrels import Qrels

    rows = list(_iterate_judgments(dataset))
    if not rows:
        raise InputError("the dataset has no judgment", path=f"{IRDS}{dataset}", hint="name another one")
    return replace(Qrels.from_frame(rows, aspects=aspects), path=f"{IRDS}{dataset}", format="irds")


def dataset_digest(dataset: str) -> str:
    """Return the SHA-256 of the judgments as lines of a TREC file."""
    import hashlib

    digest = hashlib.sha256()
    for row in _iterate_judgments(dataset):
        iteration = getattr(row, "subtopic_id", getattr(row, "iteration", 0))
        line = f"{row.query_id} {iteration} {row.doc_id} {row.relevance}\n"
        digest.update(line.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def load_dataset(dataset: str) -> Any:
    """Load a dataset of ir_datasets by its id."""
    path = f"{IRDS}{dataset}"
    with require_package("ir_datasets", "datasets", "datasets by name", path=path):
        import ir_datasets
    try:
        return ir_datasets.load(dataset)
    except KeyError:
        hint = suggest_names(dataset, _registered()) or "see the catalogue of ir_datasets"
        raise InputError("ir_datasets has no such dataset", path=path, hint=hint) from None


@contextmanager
def fetch_from_dataset(dataset: str, part: str) -> Iterator[None]:
    """Turn exceptions of ir_datasets into an error with the name of the dataset."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        reason = (str(error).splitlines() or ["no reason given"])[0][:200]
        problem = f"ir_datasets cannot provide the {part} ({reason})"
        raise InputError(problem, path=f"{IRDS}{dataset}", hint="check the network, and try again") from None


def _iterate_judgments(dataset: str) -> Iterator[Any]:
    loaded = load_dataset(dataset)
    if not loaded.has_qrels():
        hint = "name one that has, such as a split of it"
        raise InputError("the dataset has no judgments", path=f"{IRDS}{dataset}", hint=hint)
    with fetch_from_dataset(dataset, "judgments"):
        yield from loaded.qrels_iter()


def _registered() -> list[str]:
    import ir_datasets

    return list(ir_datasets.registry)
