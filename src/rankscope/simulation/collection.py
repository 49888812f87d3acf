"""A synthetic collection, in memory or written as TREC files."""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np

from rankscope.arrays import Indices, Ints
from rankscope.errors import InputError
from rankscope.progress import progress
from rankscope.simulation.model import FAMILIES, RankedList, Settings, System, Topic


def format_document_names(numbers: Ints, width: int) -> list[str]:
    """Return the names of documents with these numbers.

    >>> format_document_names(np.array([7, 12345678]), 8)
    ['doc-00000007', 'doc-12345678']
    """
    return [f"doc-{number:0{width}d}" for number in numbers.tolist()]


def format_run_lines(topic: str, numbers: Ints, width: int, ticks: Ints, decimals: int, run: str) -> bytes:
    """Return the lines of one ranking; ``ticks`` are scores in units of their last decimal.

    >>> format_run_lines("301", np.array([7, 5]), 8, np.array([1250, 75]), 2, "bm25").decode().splitlines()
    ['301 Q0 doc-00000007 1 12.50 bm25', '301 Q0 doc-00000005 2 0.75 bm25']
    """
    line = f"{topic} Q0 doc-%0{width}d %d %d.%0{decimals}d {run}\n"
    columns = (numbers, np.arange(1, len(numbers) + 1), *np.divmod(ticks, 10**decimals))
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return "".join([line % row for row in rows]).encode()


_FACTOR = 61803399  # Coprime to powers of ten, so that multiplication permutes document numbers.


class SimulatedCollection:
    """Runs and judgments of :func:`rankscope.simulation.simulate`.

    >>> from rankscope.simulation import simulate
    >>> collection = simulate(systems=2, topics=3, depth=5, seed=1)
    >>> collection.systems, collection.topics
    (('lexical-1', 'dense-1'), ('301', '302', '303'))
    >>> len(collection.runs["dense-1"]["302"])
    5
    """

    def __init__(self, settings: Settings, systems: list[System], topics: list[Topic]) -> None:
        self._systems = systems
        self._topics = topics
        self._candidates = settings.candidates
        self._width = 8 if settings.topics * settings.candidates < 10**8 else 12
        self.settings: dict[str, int | bool] = dict(vars(settings))

    def __repr__(self) -> str:
        return f"SimulatedCollection({', '.join(f'{name}={value}' for name, value in self.settings.items())})"

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the runs."""
        return tuple(system.name for system in self._systems)

    @property
    def topics(self) -> tuple[str, ...]:
        """Names of the topics."""
        return tuple(_topic_name(topic) for topic in self._topics)

    @property
    def judgments(self) -> int:
        """Number of judged documents over all topics."""
        return sum(len(topic.judged) for topic in self._topics)

    @cached_property
    def qrels(self) -> dict[str, dict[str, int]]:
        """Judgments, topic -> document -> grade; with aspects, the best grade over aspects."""
        return {
            _topic_name(topic): dict(
                zip(self._document_names(topic, topic.judged), topic.grades.tolist(), strict=True)
            )
            for topic in self._topics
        }

    @cached_property
    def diversity(self) -> dict[str, dict[str, dict[str, int]]]:
        """Judgments per aspect, topic -> document -> aspect -> grade (empty without aspects)."""
        if not self.settings["aspects"]:
            return {}
        return {
            _topic_name(topic): {
                name: {str(aspect): grade for aspect, grade in enumerate(grades, 1)}
                for name, grades in zip(
                    self._document_names(topic, topic.judged), topic.aspects.tolist(), strict=True
                )
            }
            for topic in self._topics
        }

    @cached_property
    def runs(self) -> dict[str, dict[str, dict[str, float]]]:
        """Runs, name -> topic -> document -> score; documents in the order of the system."""
        return {name: self.run(name) for name in self.systems}

    def run(self, name: str) -> dict[str, dict[str, float]]:
        """Return one run, topic -> document -> score."""
        if name not in self.systems:
            hint = f"there are {', '.join(self.systems)}"
            raise InputError(f"no run {name!r} in the collection", hint=hint)
        index = self.systems.index(name)
        unit = 10.0 ** FAMILIES[self._systems[index].family].decimals
        return {
            _topic_name(topic): dict(
                zip(
                    self._document_names(topic, ranking.candidates),
                    (ranking.ticks / unit).tolist(),
                    strict=True,
                )
            )
            for topic, ranking in self._lists(index)
        }

    def write(self, directory: str | os.PathLike[str], *, compress: bool = False) -> Path:
        """Write ``qrels.txt``, ``runs/NAME.txt`` (or ``.txt.gz``) and, with aspects, ``qrels.diversity.txt``.

        The directory must be new or empty; it is created atomically. Returns its path.
        """
        target = Path(directory)
        try:
            if target.exists() and (not target.is_dir() or any(target.iterdir())):
                hint = "give a new directory"
                raise InputError("exists and is not an empty directory", path=target, hint=hint)
            target.parent.mkdir(parents=True, exist_ok=True)
            draft = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
            try:
                self._write_files(draft, compress)
                draft.chmod(0o755)  # mkdtemp creates a directory that other users cannot read.
                if target.exists():
                    target.rmdir()
                draft.rename(target)
            finally:
                shutil.rmtree(draft, ignore_errors=True)
        except OSError as error:
            reason = error.strerror or str(error)
            hint = "choose another directory"
            raise InputError(f"cannot be written: {reason}", path=target, hint=hint) from error
        return target

    def _write_files(self, directory: Path, compress: bool) -> None:
        (directory / "qrels.txt").write_bytes(self._qrels_text().encode())
        if self.settings["aspects"]:
            (directory / "qrels.diversity.txt").write_bytes(self._diversity_text().encode())
        (directory / "runs").mkdir()
        for index, system in enumerate(progress(self._systems, label="writing runs")):
            path = directory / "runs" / f"{system.name}.txt{'.gz' if compress else ''}"
            with path.open("wb") as file:
                if compress:
                    # A header without name and time makes the bytes of a collection reproducible.
                    with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
                        packed.writelines(self._run_text(index))
                else:
                    file.writelines(self._run_text(index))

    def _qrels_text(self) -> str:
        return "".join(
            f"{topic} 0 {document} {grade}\n"
            for topic, judged in self.qrels.items()
            for document, grade in sorted(judged.items())
        )

    def _diversity_text(self) -> str:
        return "".join(
            f"{topic} {aspect} {document} {grades[str(aspect)]}\n"
            for topic, judged in self.diversity.items()
            for aspect in range(1, self.settings["aspects"] + 1)
            for document, grades in sorted(judged.items())
        )

    def _run_text(self, index: int) -> Iterator[bytes]:
        system = self._systems[index]
        decimals = FAMILIES[system.family].decimals
        for topic, ranking in self._lists(index):
            numbers = self._document_numbers(topic, ranking.candidates)
            yield format_run_lines(
                _topic_name(topic), numbers, self._width, ranking.ticks, decimals, system.name
            )

    def _lists(self, index: int) -> Iterator[tuple[Topic, RankedList]]:
        for topic in self._topics:
            ranking = topic.lists[index]
            if ranking is not None:
                yield topic, ranking

    def _document_numbers(self, topic: Topic, candidates: Indices) -> Ints:
        """Return document numbers, permuted so that they are independent of scores."""
        first = topic.number * self._candidates
        numbers: Ints = (first + candidates.astype(np.int64)) * _FACTOR % 10**self._width
        return numbers

    def _document_names(self, topic: Topic, candidates: Indices) -> list[str]:
        return format_document_names(self._document_numbers(topic, candidates), self._width)


def _topic_name(topic: Topic) -> str:
    return str(301 + topic.number)
