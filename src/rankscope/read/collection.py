"""The one door for collections: judgments and runs, in whatever form they come, opened for everybody alike.

Python, commands, studies and their manifests, the page and the bridge into ir_measures all come through here, so that
the same files mean the same lists and the same aspects to each of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from rankscope.errors import SettingsError
from rankscope.read.formats import described
from rankscope.read.frames import is_table
from rankscope.read.qrels import Qrels, read_qrels
from rankscope.read.runs import Run, Runs, as_runs
from rankscope.read.topics import chosen_topics

__all__ = ["Inputs", "open_collection", "open_qrels", "recognised"]


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
        """What was decided when it was opened: part of the settings of every result.

        ``order`` is that of the runs (run by run where they differ); ``aspects`` says whether the judgments have any;
        ``grades``, if they were merged, how; ``chosen_topics``, if some were left out, which were not.
        """
        merged = {"grades": self.qrels.merges} if self.qrels.merges else {}
        chosen = {"chosen_topics": list(self.qrels.topics)} if self.qrels.unchosen else {}
        return {"order": self.runs.order, "aspects": self.qrels.aspects is not None, **merged, **chosen}


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
) -> Inputs:
    """Open judgments and runs: paths, dicts, frames, or what :func:`read_qrels` and :func:`read_runs` returned.

    ``order`` None keeps runs as they were read, and reads the others as trec_eval does. ``needs_aspects``, ``aspects``
    and ``grades`` are those of :func:`open_qrels`. ``topics`` names some of the judged topics, as ``351,401-410``, a
    file or a list, and the others are left out. Files are what they look like, unless ``input_format`` says what the
    ``qrels`` and the ``runs`` are: see :mod:`rankscope.read.formats`.
    """
    named = runs if isinstance(runs, list | tuple) else [runs]
    if _is_standard_input(qrels) and any(map(_is_standard_input, named)):
        raise SettingsError(
            "both the judgments and a run are standard input", hint="name a file for one of them"
        )
    said = input_format or {}
    judgments = open_qrels(
        qrels, needs_aspects=needs_aspects, aspects=aspects, grades=grades, input_format=said.get("qrels")
    )
    if topics:
        judgments = judgments.of_topics(chosen_topics(topics, judgments.topics))
    return Inputs(judgments, as_runs(runs, order, said.get("runs")))


def open_qrels(
    qrels: Any,
    *,
    needs_aspects: bool = False,
    aspects: bool | None = None,
    grades: str | None = None,
    input_format: str | None = None,
) -> Qrels:
    """Open judgments: a path, a dict, a frame, or Qrels.

    The second column names aspects (subtopics) if some document was judged under several of them, or if a measure
    ``needs_aspects``: whoever asks for a diversity measure means that. ``aspects`` True or False decides it otherwise,
    as does :func:`read_qrels` with ``aspects``. ``grades`` merges grades into fewer, such as ``0,1=0;2=1;3,4=2``;
    ``input_format`` overrules what a file looks like.

    >>> frame = {"query_id": ["q", "q"], "iteration": ["1", "2"], "doc_id": ["a", "b"], "relevance": [1, 1]}
    >>> judgments = Qrels.from_frame(frame)
    >>> open_qrels(judgments).aspects, open_qrels(judgments, needs_aspects=True).aspects.names
    (None, ('1', '2'))
    """
    if isinstance(qrels, str | Path):
        opened = read_qrels(qrels, aspects=aspects, input_format=input_format)
    elif isinstance(qrels, Qrels):
        opened = qrels
    elif isinstance(qrels, Mapping) and not is_table(qrels):
        opened = Qrels.from_dict(qrels)
    else:
        opened = Qrels.from_frame(qrels, aspects=aspects)
    if grades:
        opened = opened.merged(grades)
    if aspects is False:
        return replace(opened, aspects=None, subtopics=None)
    return opened.with_aspects() if needs_aspects or aspects else opened


def recognised(opened: Iterable[Qrels | Run]) -> list[str]:
    """What files were recognised as, a sentence for each kind and format, where it is not the usual one.

    >>> recognised([Qrels.from_dict({"q1": {"d1": 1}}), Run.from_dict({"q1": {"d1": 1.0}})])
    []
    """
    found: dict[tuple[str, str], list[str]] = {}
    for one in opened:
        path = one.path if isinstance(one, Qrels) else one.path or one.label
        if one.format != "trec" and path is not None:
            found.setdefault(("judgments" if isinstance(one, Qrels) else "run", one.format), []).append(path)
    sentences = []
    for (kind, form), paths in found.items():
        others = len(set(paths)) - 1
        named = paths[0] + (f" and {others} other file{'s' * (others > 1)}" if others else "")
        what = kind if kind == "judgments" or len(paths) == 1 else f"{len(paths)} runs"
        sentences.append(f"{named}: read as {described(form)} ({what}; --input-format overrules)")
    return sentences


def _is_standard_input(source: Any) -> bool:
    return isinstance(source, str | Path) and str(source) == "-"
