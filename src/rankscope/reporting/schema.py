"""The data of the report: types and meanings of all fields.

:func:`json_schema` writes the description as a JSON Schema; ``web/make_types.py`` keeps that schema, the types of the
page's sources and the table in ``web/README.md`` in step with it. A *list* is one run on one topic, list number
``run * topics + topic``. Arrays are numpy arrays here and packed numbers in the page.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Required, TypeAlias, TypedDict, Union

import numpy as np

from rankscope.arrays import AnyArray

Array: TypeAlias = AnyArray
Cell: TypeAlias = str | int | float | bool | None

VERSION = 2
"""Version of the format; increases when a page could misread data of another version."""


class Judgments(TypedDict):
    """Judgments of the topics."""

    counts: Annotated[Array, "topics x grades: judged documents of each grade"]
    nonrelevant: Annotated[Array, "topics: judged documents of grade 0 or less"]
    negative: Annotated[Array, "topics: those of them below 0"]


class RankingArrays(TypedDict):
    """Rankings: lengths, and ranks of their relevant documents."""

    retrieved: Annotated[Array, "lists: documents in the list, 0 where the run lacks the topic"]
    judged10: Annotated[Array, "lists: judged documents in the first ten ranks"]
    hits: Annotated[Array, "lists: relevant documents in the list"]
    rank: Annotated[Array, "hits: ranks, ascending within a list, list after list"]
    grade: Annotated[Array, "hits: grades, as indices of grades"]


class Nonrelevant(TypedDict):
    """Ranks of judged documents that are not relevant."""

    hits: Annotated[Array, "lists: number in the list"]
    rank: Annotated[Array, "entries: ranks"]
    negative: NotRequired[Annotated[Array, "entries: 1 where the grade is below 0; absent if it never is"]]


class Documents(TypedDict):
    """Names of relevant documents."""

    names: Annotated[list[list[str]], "topics x names: the relevant documents of each topic"]
    hit: Annotated[Array, "hits: index of the name among those of its topic"]


class TopDocuments(TypedDict):
    """Documents in the first ranks of some run that are not judged relevant."""

    depth: Annotated[int, "ranks down to which every document has a name"]
    complete: Annotated[
        bool, "whether the entries include all ranks of unjudged documents, not only the first"
    ]
    names: Annotated[list[list[str]], "topics x names"]
    judged: Annotated[Array, "names of all topics: 1 if judged not relevant, 0 if unjudged"]
    hits: Annotated[Array, "lists: number of entries"]
    rank: Annotated[Array, "entries: ranks, ascending within a list"]
    document: Annotated[Array, "entries: index of the name among those of its topic"]


class Measured(TypedDict):
    """A measure and its values for all lists and runs."""

    name: Annotated[str, "canonical name"]
    meaning: Annotated[str, "one-line description"]
    kind: Annotated[
        Literal["gain", "effort", "data", "given"],
        "given: requested with -m, in addition to the standard measures",
    ]
    summary: Annotated[Literal["mean", "geometric mean", "sum"], "summary over topics"]
    better: Annotated[Literal["higher", "lower", "neither"], "direction of better values"]
    low: Annotated[float | None, "lowest possible value; null if unbounded"]
    high: Annotated[float | None, "highest possible value; null if unbounded"]
    formula: NotRequired[
        Annotated[str, "name of the formula that the report computes, for changed settings and rankings"]
    ]
    values: Annotated[Array, "lists: the values, NaN where undefined"]
    means: Annotated[Array, "runs: summary of the values over topics"]
    mean_low: Annotated[Array, "runs: lower end of the 95 % t interval of the summary"]
    mean_high: Annotated[Array, "runs: its upper end"]


class OpenRange(TypedDict):
    """Bounds of means over orders of tied documents and labels of unjudged documents."""

    worst: Annotated[Array, "runs: the mean in the worst order of tied documents"]
    best: Annotated[Array, "runs: the mean in the best order"]
    exact: Annotated[bool, "whether all orders were evaluated"]
    lowest: Annotated[Array, "runs: the lowest mean over all labels of unjudged documents"]
    highest: Annotated[Array, "runs: the highest mean over all labels"]
    tight: Annotated[list[bool], "runs: whether labels attain both bounds"]


class Archetype(TypedDict):
    """A shape of CRP curves."""

    name: Annotated[str, "the archetype"]
    meaning: Annotated[str, "condition for a list to belong to it"]


class Note(TypedDict):
    """A note about the data."""

    kind: Annotated[str, "subject"]
    level: Annotated[Literal["note", "warning"], "importance"]
    text: Annotated[str, "the sentence"]
    items: NotRequired[Annotated[list[str], "cases"]]


class StudyTable(TypedDict):
    """A table of a study; undefined numbers are null, infinite ones the texts "Infinity" and "-Infinity"."""

    columns: Annotated[list[str], "names of the columns"]
    rows: Annotated[list[list[Cell]], "cells of each row"]


class SourceFiles(TypedDict):
    """Command line arguments that open the same collection."""

    qrels: Annotated[str, "the judgments, as they were named"]
    runs: Annotated[list[str], "the runs, as they were named"]
    options: Annotated[list[str], "options with which they were read"]
    files: Annotated[list[str | None], "runs: the file of each, null if unknown"]
    study: NotRequired[Annotated[str, "the directory of the study, as it was named"]]
    groups: NotRequired[Annotated[str, "the groups of runs, as they were named"]]


class TextExcerpts(TypedDict):
    """First characters of texts of documents and topics."""

    documents: Annotated[dict[str, str], "by name, for documents that the report names"]
    queries: Annotated[dict[str, str], "by topic"]


class EvidenceChart(TypedDict):
    """A chart of the evidence of a finding, with a mark per row of the table."""

    form: Annotated[Literal["bars", "dots", "plane", "badges"], "kind of chart"]
    label: Annotated[list[str], "columns that name a row"]
    value: Annotated[str, "column of the bar, dot, cell or word"]
    low: Annotated[str, "column of the lower end of the interval; empty: no interval"]
    high: Annotated[str, "column of the upper end"]
    strong: Annotated[str, "column of the rows that stand out; empty: all"]
    percent: Annotated[bool, "whether values are shares"]
    says: Annotated[str, "explanation of the marks"]


class FindingData(TypedDict):
    """A finding of rs.findings: a sentence, its numbers, the table it is based on, and the view that shows it."""

    kind: Annotated[str, "rule that produced it"]
    title: Annotated[str, "heading"]
    sentence: Annotated[str, "the finding in words"]
    numbers: Annotated[dict[str, Cell], "every number and name in the sentence"]
    evidence: Annotated[StudyTable, "first rows of the table it is based on"]
    rows: Annotated[int, "number of rows of that table"]
    chart: Annotated[EvidenceChart, "chart of the table"]
    view: Annotated[str, "the view that shows it"]
    measure: NotRequired[Annotated[str, "measure to select there"]]
    runs: NotRequired[Annotated[list[str], "runs to select there"]]
    topic: NotRequired[Annotated[str, "topic to select there"]]


class RunGroups(TypedDict):
    """Groups of runs, such as teams."""

    names: Annotated[list[str], "in order of first occurrence"]
    of: Annotated[list[int | None], "runs: index of the name, null if the run has no group"]


class Coverage(TypedDict):
    """Aspects that the lists cover, and the rank from which on."""

    names: Annotated[list[list[str]], "topics x aspects: those to which some document is relevant"]
    first: Annotated[
        Array, "lists x aspects of their topic: rank of the first document relevant to the aspect, 0: none"
    ]


class Order(TypedDict):
    """Means of the runs at other cutoffs, or from smaller pools."""

    across: Annotated[Literal["cutoffs", "pools"], "difference between the columns"]
    measure: Annotated[str, "measure of the page"]
    columns: Annotated[list[str], "measure at a cutoff, or pool"]
    means: Annotated[Array, "columns x runs: the values of the topics as one number"]


class TopicSlices(TypedDict):
    """Slices of the topics by an attribute."""

    attribute: Annotated[str, "attribute that divides the topics, as named by --by"]
    names: Annotated[list[str], "names of the slices"]
    of: Annotated[Array, "topics: index of the name, 65535 if the topic is in no slice"]


class Document(TypedDict):
    """Data of the report."""

    format: Required[Annotated[Literal["rankscope.page"], "constant"]]
    version: Annotated[int, "of this description"]
    rankscope: Annotated[str, "the version that wrote it"]
    title: Annotated[str, "heading of the page"]
    settings: Annotated[
        dict[str, Any],
        "order; aspects (whether the judgments have any); missing (zero: an absent topic counts as an empty list, "
        "skip: left out of means); length (N of the effort measures); crossing; dcg",
    ]
    source: NotRequired[
        Annotated[SourceFiles, "for commands that make a figure again; absent for data in memory"]
    ]
    fingerprint: Annotated[
        dict[str, str], "hashes of runs, topics, judgments, rankings and settings, to compare two reports"
    ]
    runs: Annotated[list[str], "names"]
    topics: Annotated[list[str], "names"]
    only_scores: NotRequired[
        Annotated[
            bool, "whether there are no rankings: their arrays are empty, and views of them are left out"
        ]
    ]
    grades: Annotated[list[int], "positive grades that occur in the judgments, highest first"]
    topic: Annotated[Judgments, "the judgments"]
    list: Annotated[RankingArrays, "the lists"]
    nonrelevant: NotRequired[Annotated[Nonrelevant, "absent if it is large, or with --no-documents"]]
    documents: NotRequired[Annotated[Documents, "absent likewise"]]
    top: NotRequired[
        Annotated[TopDocuments, "absent with more than 25,000 lists, with --no-documents, and in notebooks"]
    ]
    measures: Annotated[list[Measured], "the measures of every page, then the requested ones"]
    lead: Annotated[str, "the measure to begin with"]
    archetypes: Annotated[list[Archetype], "from the best to the worst"]
    archetype: Annotated[Array, "lists: index of the archetype, 255 if effort is undefined"]
    samples: NotRequired[
        Annotated[Array, "1000 x topics: the bootstrap samples of rs.leaderboard; absent where large"]
    ]
    tied_first: Annotated[
        dict[str, list[bool]],
        "by measure: whether each run is tied for first by rs.leaderboard (multiple comparisons with the best, 5 %); "
        "without measures that have no direction",
    ]
    ranges: NotRequired[
        Annotated[dict[str, OpenRange], "by measure (--bounds): bounds of the means over ties and labels"]
    ]
    findings: Annotated[list[FindingData], "findings, the most important first (rs.findings)"]
    groups: NotRequired[Annotated[RunGroups, "groups of runs (--groups)"]]
    coverage: NotRequired[Annotated[Coverage, "where the judgments have aspects"]]
    orders: Annotated[
        list[Order],
        "means of the runs at other cutoffs and from smaller pools; none for a single run, or where large",
    ]
    permutations: NotRequired[
        Annotated[
            Array, "2000 x topics: random orders that test interactions with slices; absent where large"
        ]
    ]
    slices: NotRequired[Annotated[list[TopicSlices], "slices of the topics (--by)"]]
    weights: NotRequired[Annotated[Array, "topics: weights (--weights)"]]
    texts: NotRequired[Annotated[TextExcerpts, "texts of documents and topics (--texts)"]]
    warnings: Annotated[list[Note], "notes about the data"]
    study: NotRequired[Annotated[dict[str, StudyTable], "the tables of rankscope study, by name"]]
    server: NotRequired[
        Annotated[
            bool, "the explorer serves this page and answers list/RUN/TOPIC with [[document, grade], ...]"
        ]
    ]


def fields(kind: Any) -> dict[str, tuple[Any, str, bool]]:
    """Return type, meaning and presence (whether required) of every field of a part of the data.

    >>> fields(Archetype)["name"]
    (<class 'str'>, 'the archetype', True)
    """
    result = {}
    for name, hint in typing.get_type_hints(kind, include_extras=True).items():
        required = name in kind.__required_keys__
        if typing.get_origin(hint) in (Required, NotRequired):
            required = typing.get_origin(hint) is Required
            (hint,) = typing.get_args(hint)
        type_, meaning = typing.get_args(hint)
        result[name] = (type_, str(meaning), required)
    return result


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the data.

    >>> schema = json_schema()
    >>> schema["properties"]["lead"]
    {'type': 'string', 'description': 'the measure to begin with'}
    """
    parts: dict[str, Any] = {}
    root = _object(Document, parts)
    return {"$schema": "draft 2020-12", "title": "Document", **root, "$defs": {**parts, "Packed": _packed()}}


def _object(kind: Any, parts: dict[str, Any]) -> dict[str, Any]:
    described = fields(kind)
    return {
        "description": (kind.__doc__ or "").strip(),
        "type": "object",
        "properties": {
            name: {**_type(type_, parts), "description": meaning}
            for name, (type_, meaning, _) in described.items()
        },
        "required": [name for name, (_, _, required) in described.items() if required],
        "additionalProperties": False,
    }


_PLAIN: Mapping[Any, str] = {
    str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"
}  # fmt: skip


def _type(kind: Any, parts: dict[str, Any]) -> dict[str, Any]:
    if kind is Any:
        return {}
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if typing.is_typeddict(kind):
        if kind.__name__ not in parts:
            parts[kind.__name__] = _object(kind, parts)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is np.ndarray:
        return {"$ref": "#/$defs/Packed"}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, UnionType):
        return {"anyOf": [_type(member, parts) for member in inner]}
    if origin is dict:
        return {"type": "object", "additionalProperties": _type(inner[1], parts)}
    return {"type": "array", "items": _type(inner[0], parts)}


def _packed() -> dict[str, Any]:
    """Numbers: base64 text in a report, an offset in the stream of the explorer, or indices of a table of values."""
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
            {"type": "object", "properties": kind, "required": list(kind), "additionalProperties": False}
            for kind in kinds
        ],
    }
