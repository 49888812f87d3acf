"""What the page is given: every field of its data, described once.

:func:`json_schema` writes the description as a JSON Schema; ``web/make_types.py`` keeps that schema, the types of the
page's sources and the table in ``web/README.md`` in step with it. A *list* is one run on one topic, list number
``run * topics + topic``. Arrays are numpy arrays here and packed numbers in the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    TypeAlias,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import numpy as np
import numpy.typing as npt

__all__ = ["Archetype", "Document", "Measured", "fields", "json_schema"]

Array: TypeAlias = npt.NDArray[Any]
Cell: TypeAlias = str | int | float | bool | None

VERSION = 2
"""Raised when a page could misread the data of another version."""


class Judgments(TypedDict):
    """The judgments of the topics."""

    counts: Annotated[Array, "topics x grades: judged documents of each grade"]
    nonrelevant: Annotated[Array, "topics: judged documents of grade 0 or less"]
    negative: Annotated[Array, "topics: those of them below 0"]


class Lists(TypedDict):
    """The lists: how long they are, and where their relevant documents stand."""

    retrieved: Annotated[Array, "lists: documents in the list, 0 where the run lacks the topic"]
    judged10: Annotated[Array, "lists: judged documents in the first ten ranks"]
    hits: Annotated[Array, "lists: relevant documents in the list"]
    rank: Annotated[Array, "hits: their ranks, ascending inside a list, list after list"]
    grade: Annotated[Array, "hits: their grades, as places in grades"]


class Nonrelevant(TypedDict):
    """Where judged documents stand that are not relevant."""

    hits: Annotated[Array, "lists: how many there are in the list"]
    rank: Annotated[Array, "entries: their ranks"]
    negative: NotRequired[Annotated[Array, "entries: 1 where the grade is below 0; absent if it never is"]]


class Documents(TypedDict):
    """The names of relevant documents."""

    names: Annotated[list[list[str]], "topics x names: the relevant documents of each topic"]
    hit: Annotated[Array, "hits: which of the names of its topic"]


class Measured(TypedDict):
    """A measure as the registry knows it, and what it says of every list and run."""

    name: Annotated[str, "as the grammar writes it"]
    meaning: Annotated[str, "what it measures, in a line"]
    kind: Annotated[Literal["gain", "effort", "data", "given"], "given: asked for, and not on every page"]
    summary: Annotated[Literal["mean", "geometric mean", "sum"], "how the values of topics become one number"]
    better: Annotated[Literal["higher", "lower", "neither"], "which values speak for the better list"]
    low: Annotated[float | None, "the lowest value it can have; null: none"]
    high: Annotated[float | None, "the highest value it can have; null: none"]
    formula: NotRequired[
        Annotated[str, "the page's own formula for it, used where settings or lists are changed"]
    ]
    values: Annotated[Array, "lists: the values, NaN where undefined"]
    means: Annotated[Array, "runs: the values of the topics as one number"]
    mean_low: Annotated[Array, "runs: lower end of the 95% interval of that number, Student's"]
    mean_high: Annotated[Array, "runs: its upper end"]


class OpenRange(TypedDict):
    """What ties and unjudged documents leave open of the means of a measure."""

    worst: Annotated[Array, "runs: the mean in the worst order of tied documents"]
    best: Annotated[Array, "runs: in the best order"]
    exact: Annotated[bool, "whether all orders were looked at"]
    lowest: Annotated[Array, "runs: the lowest mean over all labels of unjudged documents"]
    highest: Annotated[Array, "runs: the highest one"]
    tight: Annotated[list[bool], "runs: whether both are reached"]


class Archetype(TypedDict):
    """A shape of CRP curves."""

    name: Annotated[str, "the archetype"]
    meaning: Annotated[str, "what makes a list one of it"]


class Note(TypedDict):
    """What to know about the data."""

    kind: Annotated[str, "what it is about"]
    level: Annotated[Literal["note", "warning"], "how much it matters"]
    text: Annotated[str, "the sentence"]
    items: NotRequired[Annotated[list[str], "the cases"]]


class StudyTable(TypedDict):
    """A table of a study; undefined numbers are null, infinite ones the texts "Infinity" and "-Infinity"."""

    columns: Annotated[list[str], "their names"]
    rows: Annotated[list[list[Cell]], "their cells"]


class Source(TypedDict):
    """Where the collection came from, in the words of a command line."""

    qrels: Annotated[str, "the judgments, as they were named"]
    runs: Annotated[list[str], "the runs, as they were named"]
    options: Annotated[list[str], "how they were read"]
    files: Annotated[list[str | None], "runs: the file of each, null where it is not known"]
    study: NotRequired[Annotated[str, "the directory of the study, as it was named"]]
    groups: NotRequired[Annotated[str, "the groups of runs, as they were named"]]


class Texts(TypedDict):
    """What documents and topics say, cut."""

    documents: Annotated[dict[str, str], "by name, for documents that the page names"]
    queries: Annotated[dict[str, str], "by topic"]


class EvidenceChart(TypedDict):
    """How the evidence of a finding is drawn, a row of the chart per row of the table."""

    form: Annotated[Literal["bars", "dots", "plane", "badges"], "what kind of chart"]
    label: Annotated[list[str], "the columns that name a row"]
    value: Annotated[str, "the column of the bar, dot, cell or word"]
    low: Annotated[str, "the column where its interval begins; empty: none"]
    high: Annotated[str, "and where it ends"]
    strong: Annotated[str, "the column that says which rows stand out; empty: all"]
    percent: Annotated[bool, "whether values are shares"]
    says: Annotated[str, "what its marks are"]


class Found(TypedDict):
    """A finding of rs.findings: a sentence, its numbers, the table it rests on, and the view that shows it."""

    kind: Annotated[str, "the rule that found it"]
    title: Annotated[str, "the question it answers"]
    sentence: Annotated[str, "the answer"]
    numbers: Annotated[dict[str, Cell], "every number and name in the sentence"]
    evidence: Annotated[StudyTable, "the first rows of the table it rests on"]
    rows: Annotated[int, "how many rows that table has"]
    chart: Annotated[EvidenceChart, "how it is drawn"]
    view: Annotated[str, "the view that shows it"]
    measure: NotRequired[Annotated[str, "the measure to choose there"]]
    runs: NotRequired[Annotated[list[str], "the runs to choose there"]]
    topic: NotRequired[Annotated[str, "the topic to choose there"]]


class Groups(TypedDict):
    """Groups of runs, such as teams."""

    names: Annotated[list[str], "as they first occur"]
    of: Annotated[list[int | None], "runs: place among the names, null where the run has no group"]


class Coverage(TypedDict):
    """Which aspects of their topics the lists cover, from which rank on."""

    names: Annotated[list[list[str]], "topics x aspects: those to which some document is relevant"]
    first: Annotated[
        Array, "lists x aspects of their topic: rank of the first document relevant to the aspect, 0: none"
    ]


class Order(TypedDict):
    """The means of the runs where something else is asked."""

    across: Annotated[Literal["cutoffs", "pools"], "what differs between the columns"]
    measure: Annotated[str, "the measure of the page that they are columns for"]
    columns: Annotated[list[str], "what is asked: the measure at a cutoff, or the pool it is computed from"]
    means: Annotated[Array, "columns x runs: the values of the topics as one number"]


class Document(TypedDict):
    """The data of the page."""

    format: Required[Annotated[Literal["rankscope.page"], "anything else is refused"]]
    version: Annotated[int, "of this description"]
    rankscope: Annotated[str, "the version that wrote it"]
    title: Annotated[str, "heading of the page"]
    settings: Annotated[
        dict[str, Any],
        "order; aspects (whether the judgments have any); missing (zero: an absent topic counts as an empty list, "
        "skip: left out of means); length (N of the effort measures); crossing; dcg",
    ]
    source: NotRequired[Annotated[Source, "for commands that make a figure again; absent for data in memory"]]
    runs: Annotated[list[str], "names"]
    topics: Annotated[list[str], "names"]
    grades: Annotated[list[int], "positive grades that occur in the judgments, highest first"]
    topic: Annotated[Judgments, "the judgments"]
    list: Annotated[Lists, "the lists"]
    nonrelevant: NotRequired[Annotated[Nonrelevant, "absent where it is large, or a lean page was asked for"]]
    documents: NotRequired[Annotated[Documents, "absent likewise"]]
    measures: Annotated[list[Measured], "those of every page, then those that were asked for"]
    lead: Annotated[str, "the measure to begin with"]
    archetypes: Annotated[list[Archetype], "from the best to the worst"]
    archetype: Annotated[Array, "lists: place among the archetypes, 255 where effort is undefined"]
    samples: NotRequired[
        Annotated[Array, "1000 x topics: the bootstrap samples of rs.leaderboard; absent where large"]
    ]
    tied_first: Annotated[
        dict[str, list[bool]],
        "by measure, of every run whether it is tied for first, as rs.leaderboard says (multiple comparisons with "
        "the best, 5 %); without measures of which no value is better",
    ]
    ranges: NotRequired[
        Annotated[dict[str, OpenRange], "by measure (--ranges): what ties and labels leave open of the means"]
    ]
    findings: Annotated[list[Found], "what matters, the most important first (rs.findings)"]
    groups: NotRequired[Annotated[Groups, "groups of runs (--groups)"]]
    coverage: NotRequired[Annotated[Coverage, "where the judgments have aspects"]]
    orders: Annotated[
        list[Order],
        "means of the runs at other cutoffs and from smaller pools; none for a single run, or where large",
    ]
    texts: NotRequired[Annotated[Texts, "texts of documents and topics (--texts)"]]
    warnings: Annotated[list[Note], "what to know about the data"]
    study: NotRequired[Annotated[dict[str, StudyTable], "the tables of rankscope study, by name"]]
    server: NotRequired[
        Annotated[
            bool, "the explorer serves this page and answers list/RUN/TOPIC with [[document, grade], ...]"
        ]
    ]


def fields(kind: Any) -> dict[str, tuple[Any, str, bool]]:
    """Of every field of a part of the data its type, its meaning, and whether it is always there.

    >>> fields(Archetype)["name"]
    (<class 'str'>, 'the archetype', True)
    """
    found = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        required = name in kind.__required_keys__
        if get_origin(hint) in (Required, NotRequired):
            required = get_origin(hint) is Required
            (hint,) = get_args(hint)
        of, meaning = get_args(hint)
        found[name] = (of, str(meaning), required)
    return found


def json_schema() -> dict[str, Any]:
    """The description as a JSON Schema.

    >>> schema = json_schema()
    >>> schema["properties"]["lead"]
    {'type': 'string', 'description': 'the measure to begin with'}
    """
    parts: dict[str, Any] = {}
    root = _object(Document, parts)
    return {"$schema": "draft 2020-12", "title": "Document", **root, "$defs": {**parts, "Packed": _packed()}}


def _object(kind: Any, parts: dict[str, Any]) -> dict[str, Any]:
    known = fields(kind)
    return {
        "description": (kind.__doc__ or "").strip(),
        "type": "object",
        "properties": {
            name: {**_type(of, parts), "description": meaning} for name, (of, meaning, _) in known.items()
        },
        "required": [name for name, (_, _, required) in known.items() if required],
        "additionalProperties": False,
    }


_PLAIN: Mapping[Any, str] = {
    str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"
}  # fmt: skip


def _type(of: Any, parts: dict[str, Any]) -> dict[str, Any]:
    if of is Any:
        return {}
    if of in _PLAIN:
        return {"type": _PLAIN[of]}
    if is_typeddict(of):
        if of.__name__ not in parts:
            parts[of.__name__] = _object(of, parts)
        return {"$ref": f"#/$defs/{of.__name__}"}
    origin, inner = get_origin(of), get_args(of)
    if origin is np.ndarray:
        return {"$ref": "#/$defs/Packed"}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, UnionType):
        return {"anyOf": [_type(one, parts) for one in inner]}
    if origin is dict:
        return {"type": "object", "additionalProperties": _type(inner[1], parts)}
    return {"type": "array", "items": _type(inner[0], parts)}


def _packed() -> dict[str, Any]:
    """Numbers: in a page base64 text, in the explorer's stream a place in it, or places in a table of few values."""
    dtype = {"enum": ["u8", "u16", "u32", "i32", "f32", "f64"]}
    whole, packed = {"type": "integer"}, {"$ref": "#/$defs/Packed"}
    kinds = (
        {"dtype": dtype, "base64": {"type": "string"}},
        {"dtype": dtype, "at": whole, "length": whole},
        {"codes": packed, "table": packed},
    )
    return {
        "description": (_packed.__doc__ or "").strip(),
        "anyOf": [
            {"type": "object", "properties": one, "required": list(one), "additionalProperties": False}
            for one in kinds
        ],
    }
