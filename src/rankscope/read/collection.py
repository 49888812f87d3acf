"""Open collections of judgments and runs: the single entry point of Python, commands, studies, reports and bridges.

Every interface thus reads the same rankings and aspects from the same files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from rankscope.choices import INPUT_FORMATS
from rankscope.errors import SettingsError
from rankscope.read.frames import is_table, using_columns
from rankscope.read.qrels import Qrels, read_merged, read_qrels
from rankscope.read.runs import Run, Runs, as_runs


class Inputs(NamedTuple):
    """Judgments and runs that belong together.

    >>> collection = open_collection({"q1": {"d1": 1}}, {"bm25": {"q1": {"d1": 0.5}}})
    >>> collection.qrels, list(collection.runs), collection.settings
    (<Qrels: 1 topics, 1 judged documents>, ['bm25'], {'order': 'trec_eval', 'aspects': False})
    """

    qrels: Qrels
    runs: Runs

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of reading, which every result records.

        ``order`` of the runs (by run if they differ); whether the judgments have ``aspects``; merges of ``grades``, if
        any; ``chosen_topics``, if some were left out.
        """
        grades = {"grades": self.qrels.merges} if self.qrels.merges else {}
        topics = {"chosen_topics": list(self.qrels.topics)} if self.qrels.unchosen else {}
        return {"order": self.runs.order, "aspects": self.qrels.aspects is not None, **grades, **topics}


def open_collection(
    qrels: Any,
    runs: Any,
    *,
    order: str | None = None,
    needs_aspects: bool = False,
    aspects: bool | None = None,
    grades: str | None = None,
    topics: str | Sequence[str] | None = None,
    input_format: Mapping[str, str] | None = None,
    columns: str | Mapping[str, str] | None = None,
    gains: bool = False,
) -> Inputs:
    """Open judgments and runs: paths, dicts, frames, ``Qrels`` and ``Runs``.

    ``order`` None keeps the order of ``Runs``, and reads others as trec_eval does. ``needs_aspects``, ``aspects``,
    ``grades`` and ``gains`` as in :func:`open_qrels`. ``topics`` selects judged topics: ``351,401-410``, a file or a
    list.
    ``input_format`` overrides the detected formats of ``qrels`` and ``runs``: see :mod:`rankscope.read.formats`.
    ``columns`` names columns of tables: see :func:`~.frames.using_columns`.
    """
    sources = runs if isinstance(runs, list | tuple) else [runs]
    if _is_standard_input(qrels) and any(map(_is_standard_input, sources)):
        hint = "name a file for one of them"
        raise SettingsError("both the judgments and a run are standard input", hint=hint)
    formats = input_format or {}
    with using_columns(columns):
        judgments = open_qrels(
            qrels, needs_aspects=needs_aspects, aspects=aspects, grades=grades, input_format=formats.get("qrels"),
            gains=gains,
        )  # fmt: skip
        if topics:
            from rankscope.read.topics import select_topics

            judgments = judgments.with_topics(select_topics(topics, judgments.topics))
        opened = as_runs(runs, order, formats.get("runs"))
        if columns:
            opened = Runs(run.load() for run in opened.values())
    return Inputs(judgments, opened)


def open_qrels(
    qrels: Any,
    *,
    needs_aspects: bool = False,
    aspects: bool | None = None,
    grades: str | None = None,
    input_format: str | None = None,
    gains: bool = False,
) -> Qrels:
    """Open judgments: a path, a dict, a frame, or Qrels.

    The second column names aspects (subtopics) if a document was judged under several of them, or if a measure
    ``needs_aspects``; ``aspects`` True or False overrides that. ``grades`` merges grades, such as
    ``0,1=0;2=1;3,4=2``, or bins numbers, such as ``0-0.2=0;0.2-1=1``; ``input_format`` overrides the detected format of
    a file. Judgments that are not whole numbers are an error unless the caller can use ``gains``.

    >>> frame = {"query_id": ["q", "q"], "iteration": ["1", "2"], "doc_id": ["a", "b"], "relevance": [1, 1]}
    >>> judgments = Qrels.from_frame(frame)
    >>> open_qrels(judgments).aspects, open_qrels(judgments, needs_aspects=True).aspects.names
    (None, ('1', '2'))
    """

    def read() -> Qrels:
        if isinstance(qrels, str | Path):
            return read_qrels(qrels, aspects=aspects, input_format=input_format)
        if isinstance(qrels, Mapping) and not is_table(qrels):
            return Qrels.from_dict(qrels)
        return Qrels.from_frame(qrels, aspects=aspects)

    if isinstance(qrels, Qrels):
        opened = qrels.with_merged_grades(grades) if grades else qrels
    else:
        opened = read_merged(read, grades)
    if not gains:
        opened.require_grades()
    if aspects is False:
        return replace(opened, aspects=None, subtopics=None)
    return opened.with_aspects() if needs_aspects or aspects else opened


def describe_formats(opened: Iterable[Qrels | Run]) -> list[str]:
    """Return a sentence for each kind and format of files, except TREC.

    >>> describe_formats([Qrels.from_dict({"q1": {"d1": 1}}), Run.from_dict({"q1": {"d1": 1.0}})])
    []
    """
    paths_by_format: dict[tuple[str, str], list[str]] = {}
    for item in opened:
        is_qrels = isinstance(item, Qrels)
        path = item.path if isinstance(item, Qrels) else item.path or item.label
        if item.format != "trec" and path is not None:
            paths_by_format.setdefault(("judgments" if is_qrels else "run", item.format), []).append(path)
    sentences = []
    for (kind, file_format), paths in paths_by_format.items():
        others = len(set(paths)) - 1
        files = paths[0] + (f" and {others} other file{'s' * (others > 1)}" if others else "")
        content = kind if kind == "judgments" or len(paths) == 1 else f"{len(paths)} runs"
        description = "judgments of ir_datasets" if file_format == "irds" else INPUT_FORMATS[file_format]
        sentences.append(f"{files}: read as {description} ({content}; --input-format overrides)")
    return sentences


def _is_standard_input(source: Any) -> bool:
    return isinstance(source, str | Path) and str(source) == "-"
