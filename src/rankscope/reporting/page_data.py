"""The data of the page: ranks and grades of relevant documents, from which the browser computes every curve.

``web/README.md`` describes the fields. Arrays stay numpy arrays here and are written as base64 text
(:func:`as_json`, inside a page) or as they are (:func:`as_stream`, from the explorer's server).
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from rankscope import __version__
from rankscope.analysis.stats.intervals import drawn_topics
from rankscope.judging import UNJUDGED, Hits, Judged
from rankscope.measures import Measure
from rankscope.measures.grammar import parse
from rankscope.read.ids import to_text
from rankscope.reporting.notes import notes
from rankscope.reporting.standings import open_ranges, tied_first
from rankscope.reporting.study import for_page
from rankscope.tables import Table, json_number

__all__ = ["IN_PAGE", "MAGIC", "as_json", "as_stream", "payload"]

_GAIN = ("AP", "nDCG", "nDCG@10", "RBP", "RBP(p=0.5)", "P@10", "RR", "Rprec", "R@100", "Bpref", "Judged@10")
_EFFORT = ("Twist", "Rho", "Sigma", "SigmaPlus", "SigmaMinus", "Rho2012", "b_ratio", "CRP_min", "CRP_N")
IN_PAGE = frozenset((*_GAIN, *_EFFORT))
"""Measures that the page computes by itself, as ``str`` of a measure has them."""

MAGIC = b"RSPAGE01"
SAMPLES = 1000
"""Bootstrap samples of the topics that the page is given, so that its ranks are those of ``leaderboard``."""
SMALL = 2_000_000
"""Bytes that an optional part (document names, judged non-relevant documents) may take without being asked for."""

_DTYPES = {
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "int32": "i32",
    "float32": "f32",
    "float64": "f64",
}
Array = npt.NDArray[Any]


def payload(
    judged: Judged,
    *,
    title: str,
    measures: Iterable[Measure] = (),
    settings: Mapping[str, Any] | None = None,
    study: Mapping[str, Table] | None = None,
    everything: bool | None = None,
    knowing: Judged | None = None,
) -> dict[str, Any]:
    """The document the page is made from.

    ``measures`` are evaluated here and travel as numbers, unless the page can compute them. ``everything`` includes
    (True) or leaves out (False) document names and the ranks of judged non-relevant documents; None includes each
    if it is small. ``knowing`` are the same lists with the documents that nobody judged (``judged_as`` with
    ``unjudged="bounds"``): then every mean has its range.

    >>> from rankscope.judging import judge
    >>> from rankscope.read import Qrels, Run
    >>> qrels = Qrels.from_dict({"q1": {"d1": 2, "d2": 1, "d3": 0}})
    >>> data = payload(judge(qrels, Run.from_dict({"q1": {"d3": 9, "d1": 8, "d4": 7}}, name="bm25")), title="Example")
    >>> data["runs"], data["topics"], data["grades"], data["list"]["rank"].tolist(), data["list"]["grade"].tolist()
    (['bm25'], ['q1'], [2, 1], [2], [0])
    """
    lists = judged.lists
    relevant = lists.relevant(1)
    grades = _grades(judged)
    missing = str((settings or {}).get("missing", "zero"))
    document: dict[str, Any] = {
        "format": "rankscope.page",
        "version": 1,
        "rankscope": __version__,
        "title": title,
        "settings": {"length": 1000, "crossing": "sign-change", "dcg": "trec_eval", **(settings or {})},
        "runs": list(judged.runs),
        "topics": list(judged.topics),
        "grades": grades.tolist(),
        "topic": {
            "counts": _counts(judged, grades),
            "nonrelevant": judged.pool.nonrelevant(1).astype(np.int32),
        },
        "list": {
            "retrieved": _narrow(judged.length),
            "judged10": lists.hits(10).count.astype(np.uint8),
            "hits": _narrow(relevant.count),
            "rank": _narrow(relevant.rank),
            "grade": _grade_index(relevant.grade, grades),
        },
        "warnings": notes(judged),
    }
    nonrelevant = lists.hits().where(lists.hits().grade < 1)
    if _wanted(everything, 2 * len(nonrelevant)):
        document["nonrelevant"] = {"hits": _narrow(nonrelevant.count), "rank": _narrow(nonrelevant.rank)}
    size = sum(map(len, judged.qrels.documents)) + 2 * len(relevant)
    if _wanted(everything, size):
        document["documents"] = _documents(judged, relevant)
    if 0 < len(judged.topics) * SAMPLES * 2 <= SMALL:
        document["samples"] = _narrow(np.concatenate(list(drawn_topics(len(judged.topics), SAMPLES))).ravel())
    travelling = [m for m in measures if str(m) not in IN_PAGE]
    document["measures"] = [_measure(judged, m, missing) for m in travelling]
    known = _known(int(document["settings"]["length"]), travelling)
    document["better"] = {name: m.better for name, m in known.items() if m.better != "higher"}
    document["tied_first"] = tied_first(judged, known, missing)
    if knowing is not None:
        ranked = {name: m for name, m in known.items() if name not in _EFFORT and m.better != "neither"}
        document["ranges"] = open_ranges(knowing, ranked, missing)
    if study:
        document["study"] = {name: _table(table) for name, table in for_page(study).items()}
    return document


def _known(length: int, travelling: Iterable[Measure]) -> dict[str, Measure]:
    """Every measure of the page by its name there; those of effort look at so many ranks."""
    ours = {name: parse(name) @ length if name in _EFFORT else parse(name) for name in sorted(IN_PAGE)}
    return ours | {str(measure): measure for measure in travelling}


def _wanted(everything: bool | None, size: int) -> bool:
    return size <= SMALL if everything is None else everything


def _grades(judged: Judged) -> npt.NDArray[np.int64]:
    grade = judged.qrels.grade
    return np.unique(grade[grade > 0])[::-1].astype(np.int64)


def _grade_index(values: Array, grades: Array) -> Array:
    index = len(grades) - 1 - np.searchsorted(grades[::-1], values)
    return index.astype(np.uint8 if len(grades) < 256 else np.uint16)


def _counts(judged: Judged, grades: Array) -> npt.NDArray[np.int32]:
    columns = [judged.pool.count(judged.pool.grade == grade) for grade in grades.tolist()]
    return np.stack(columns, axis=1).astype(np.int32).ravel() if columns else np.zeros(0, np.int32)


def _narrow(values: Array) -> Array:
    """The smallest unsigned integers that hold the values."""
    top = int(values.max(initial=0))
    return values.astype(np.uint8 if top < 1 << 8 else np.uint16 if top < 1 << 16 else np.uint32)


def _documents(judged: Judged, relevant: Hits) -> dict[str, Any]:
    """Names of the relevant documents of each topic, and for each hit which of them it is."""
    grade, offsets = judged.qrels.grade, judged.qrels.topic_offsets
    keep = (grade > 0) & (grade != UNJUDGED)
    place = np.cumsum(keep) - keep
    first = np.concatenate([place, [int(keep.sum())]])[offsets[:-1]]
    names: list[list[str]] = []
    for start, stop in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        names.append([to_text(judged.qrels.documents[d]) for d in range(start, stop) if keep[d]])
    topic = judged.lists.topic[relevant.list]
    return {"names": names, "hit": _narrow(place[relevant.judgment] - first[topic])}


def _measure(judged: Judged, measure: Measure, missing: str) -> dict[str, Any]:
    values = np.asarray(measure.of(judged.lists), np.float64)
    if missing == "skip":
        values = np.where(judged.present, values, np.nan)
    return {"name": str(measure), "meaning": measure.meaning, "values": values}


def _table(table: Table) -> dict[str, Any]:
    return {"columns": list(table.columns), "rows": [[_cell(value) for value in row] for row in table.rows]}


def _cell(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    return json_number(value) if isinstance(value, float) else value


def as_json(document: Mapping[str, Any]) -> str:
    """The document as JSON that can stand inside an HTML script element whatever the names are.

    ``<``, ``>`` and ``&`` are written as escapes, and so is everything beyond ASCII (U+2028 and U+2029 among it).

    >>> as_json({"runs": ["</script>"], "x": np.array([1, 2], np.uint8)})
    '{"runs":["\\\\u003c/script\\\\u003e"],"x":{"dtype":"u8","base64":"AQI="}}'
    """

    def packed(array: Array) -> dict[str, str]:
        little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        return {
            "dtype": _DTYPES[array.dtype.name],
            "base64": base64.b64encode(little.tobytes()).decode("ascii"),
        }

    text = json.dumps(document, default=packed, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def as_stream(document: Mapping[str, Any], chunk: int = 1 << 18) -> Iterator[bytes]:
    """The document as binary chunks: magic, length of the header, header in JSON, arrays aligned to 8 bytes.

    >>> b"".join(as_stream({"x": np.array([1], np.uint8)}))[:8]
    b'RSPAGE01'
    """
    arrays: list[Array] = []
    end = 0

    def placed(array: Array) -> dict[str, Any]:
        nonlocal end
        arrays.append(array)
        at, end = end, end + -(-array.nbytes // 8) * 8
        return {"dtype": _DTYPES[array.dtype.name], "at": at, "length": array.size}

    header = json.dumps(document, default=placed, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    data = header.encode("ascii")
    yield MAGIC + struct.pack("<II", len(data), 0)
    yield data + b" " * (-len(data) % 8)
    for array in arrays:
        raw = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        for start in range(0, len(raw), chunk):
            yield raw[start : start + chunk]
        if len(raw) % 8:
            yield bytes(-len(raw) % 8)
