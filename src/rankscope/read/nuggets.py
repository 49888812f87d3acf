"""Read nuggets: facts that an answer should contain, and whether the answer of a run supports them.

A file has an object per line, as the tools of the TREC RAG track write them:

    {"qid": "q1", "run_id": "rag", "nuggets": [{"importance": "vital", "assignment": "partial_support"}]}

``strict_vital`` and ``strict_all`` are the shares of vital nuggets, and of all nuggets, that have full support;
``vital`` and ``all`` count partial support as one half (Pradeep et al. 2024).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rankscope.errors import InputError, error_path
from rankscope.read.frames import find_column
from rankscope.read.ids import id_text

GRADES = {"support": 2, "partial_support": 1, "not_support": 0, "failed": 0}
"""Grades of assignments; ``failed`` is an assignment that a program did not obtain."""
_ALLOWED = {"importance": ["vital", "okay"], "assignment": list(GRADES)}
_HINT = 'give lines such as {"qid": "1", "run_id": "a", "nuggets": [{"importance": "okay", "assignment": "support"}]}'


class NuggetList(NamedTuple):
    """Nuggets of a topic, assigned for the answer of a run."""

    line: int
    topic: str
    run: str
    grades: list[int]
    is_vital: list[bool]

    def scores(self, skip: bool) -> Iterator[tuple[str, float | None]]:
        """Yield measures and values; without nuggets the value is 0 or, with ``skip``, None."""
        for name, counted in (("vital", self.is_vital), ("all", [True] * len(self.grades))):
            grades = [grade for grade, is_counted in zip(self.grades, counted, strict=True) if is_counted]
            none = None if skip else 0.0
            yield f"strict_{name}", grades.count(2) / len(grades) if grades else none
            yield name, sum(grades) / 2 / len(grades) if grades else none


def iterate_nuggets(objects: Iterable[tuple[int, Any]], path: str) -> Iterator[NuggetList]:
    """Yield the nuggets of every object; reject objects of another shape.

    >>> row = {"qid": 7, "nuggets": [{"importance": "vital", "assignment": "support"}]}
    >>> nuggets = next(iterate_nuggets([(1, row)], "rag.jsonl"))
    >>> nuggets.topic, nuggets.run, dict(nuggets.scores(skip=False))
    ('7', 'rag', {'strict_vital': 1.0, 'vital': 1.0, 'strict_all': 1.0, 'all': 1.0})
    """
    seen: set[tuple[str, str]] = set()
    for line, row in objects:
        with error_path(path):
            names = (find_column(meaning, [*row]) for meaning in ("query_id", "run"))
            topic, run = (None if row.get(name) is None else id_text(row[name], name) for name in names)
        run = run or Path(path).name.split(".")[0]
        nuggets = row.get("nuggets")
        problem = None
        if topic is None:
            problem = "there is no topic (qid)"
        elif not isinstance(nuggets, list) or not all(isinstance(nugget, dict) for nugget in nuggets):
            problem = "'nuggets' is not a list of objects"
        elif (run, topic) in seen:
            problem = f"run {run!r} has topic {topic!r} twice"
        else:
            values = ((name, nugget.get(name)) for nugget in nuggets for name in _ALLOWED)
            invalid = next(((name, value) for name, value in values if value not in _ALLOWED[name]), None)
            if invalid:
                name, value = invalid
                problem = f"{name} {value!r} of a nugget is not one of {', '.join(_ALLOWED[name])}"
        if topic is None or problem:
            raise InputError(str(problem), path=path, line=line, hint=_HINT)
        seen.add((run, topic))
        grades = [GRADES[nugget["assignment"]] for nugget in nuggets]
        yield NuggetList(line, topic, run, grades, [nugget["importance"] == "vital" for nugget in nuggets])
