"""The data of the report: values of all measures for all lists, and the lists themselves for curves and what-if.

Values, means, intervals and archetypes are computed here. The report has its own formulas only for rankings and
settings that the reader changes. :mod:`rankscope.reporting.schema` describes the fields. Arrays are written as base64
text (:func:`as_json`, inside a report) or as binary data (:func:`as_stream`, from the server of the explorer).
"""

import base64
import hashlib
import json
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rankscope import __version__
from rankscope.analysis.stats.interaction import REPLICATES, permutations
from rankscope.analysis.stats.intervals import drawn_topics, t_intervals
from rankscope.arrays import AnyArray, Bools, Int32s, Ints
from rankscope.certainty.documents import with_documents
from rankscope.choices import FINDINGS_MEASURES
from rankscope.declaration import list_names
from rankscope.judging import UNJUDGED, Judged, judge
from rankscope.judging.coverage import first_ranks
from rankscope.judging.shares import has_nonrelevant
from rankscope.measures import Measure
from rankscope.measures.effort_curves import ARCHETYPES, find_archetypes
from rankscope.measures.grammar import parse
from rankscope.read import Qrels, Runs
from rankscope.read.groups import run_groups
from rankscope.read.ids import key_text, to_bytes, to_text
from rankscope.reporting import schema
from rankscope.reporting.findings import find, plain_table
from rankscope.reporting.notes import notes
from rankscope.reporting.schema import VERSION, Document
from rankscope.reporting.standings import open_ranges, other_orders, tied_first
from rankscope.reporting.study import for_report
from rankscope.scores import Scores, score
from rankscope.tables import Table

_GAIN = ("AP", "nDCG", "nDCG@10", "RBP", "RBP(p=0.5)", "P@10", "RR", "Rprec", "R@100", "Bpref", "Judged@10")
_EFFORT = ("Twist", "Rho", "Sigma", "SigmaPlus", "SigmaMinus", "Rho2012", "b_ratio", "CRP_min", "CRP_N")
_FOLLOWED = ("AP", "nDCG", "nDCG@10", "RBP", "P@10", "Bpref")
FORMULAS = frozenset((*_GAIN, *_EFFORT))
"""Measures that the page has formulas for; effort measures at any N."""

MAGIC = b"RSPAGE01"
SAMPLES = 1000
"""Number of bootstrap samples of topics in the data, so that the page computes the ranks of ``leaderboard``."""
NAMED_DEPTH = 20
"""Ranks down to which a report names every document."""
MAX_NAMED_LISTS = 25_000
"""Maximum number of rankings with such names: 500,000 entries, which take about 0.1 s to scan per 1,000 lists."""
_ENTRY_BYTES = 4
"""Size of the rank and the name of a document in a ranking, in bytes at most."""
ONLY_SCORES = (
    "This report was written from scores without rankings: it has no curves, effort, orders, what-if or lists of "
    "documents, and no findings about documents."
)
"""Note on a report of scores."""
SMALL = 2_000_000
"""Maximum size in bytes of an optional part (document names, non-relevant documents) that is included by default."""

_SETTINGS = {"length": 1000, "crossing": "sign-change", "dcg": "trec_eval"}
"""Default settings of the measures of the page."""
Array = AnyArray


def payload(
    judged: Judged,
    *,
    title: str,
    measures: Iterable[Measure] = (),
    settings: Mapping[str, Any] | None = None,
    study: Mapping[str, Table] | None = None,
    documents: bool | None = None,
    bounds: bool = False,
    groups: Mapping[str, str] | str | Path | None = None,
    attach: Callable[[Scores], Scores] = lambda scores: scores,
    by: str | Sequence[str] = (),
) -> Document:
    """Return the data of the report.

    ``measures`` are those of the findings; the report adds them to its standard measures. ``documents`` includes
    (True) or omits (False) document names and the ranks of judged non-relevant documents; None includes each if it is
    small. With ``bounds`` every mean has bounds over orders of tied documents and over labels of unjudged ones,
    which needs lists judged with ``ties=True``. ``groups`` are groups of runs
    (:func:`rankscope.read.groups.run_groups`). ``attach`` adds attributes and weights of topics to the scores, and
    ``by`` are attributes whose slices the report compares.

    >>> from rankscope.judging import judge
    >>> from rankscope.read import Qrels, Run
    >>> qrels = Qrels.from_dict({"q1": {"d1": 2, "d2": 1, "d3": 0}})
    >>> data = payload(judge(qrels, Run.from_dict({"q1": {"d3": 9, "d1": 8, "d4": 7}}, name="bm25")), title="Example")
    >>> data["runs"], data["topics"], data["grades"], data["list"]["rank"].tolist(), data["list"]["grade"].tolist()
    (['bm25'], ['q1'], [2, 1], [2], [0])
    """
    options = {**_SETTINGS, **(settings or {})}
    requested = list(measures)
    selected = requested or [
        m @ options["length"] if m.family == "effort" else m for m in map(parse, FINDINGS_MEASURES)
    ]
    teams = _find_groups(judged.runs, groups)  # Fails early if groups are invalid.
    scores = attach(_evaluate(judged, selected, options))
    document = _describe_scores(scores, selected, title, options, by, teams, study)
    grades = _grades(judged)
    document["grades"] = grades.tolist()
    document["topic"] = {
        "counts": _counts(judged, grades),
        "nonrelevant": judged.pool.nonrelevant(1).astype(np.int32),
        "negative": judged.pool.nonrelevant(0).astype(np.int32),
    }
    document["list"] = _lists(judged, grades)
    document["archetypes"] = [{"name": name, "meaning": meaning} for name, meaning in ARCHETYPES.items()]
    document["archetype"] = _archetypes(judged, options)
    document["warnings"] = notes(judged)
    if scores.weights is None:  # Means at other cutoffs and from smaller pools have no weights.
        missing = str(options.get("missing", "zero"))
        document["orders"] = other_orders(judged, _select_followed(scores, requested), missing)
    if (aspects := first_ranks(judged)) is not None:
        document["coverage"] = {"names": aspects.names, "first": aspects.first}
    _add_optional(document, judged, documents)
    if bounds:
        ranked = [m for m in scores.measures if m.family != "effort" and m.better != "neither"]
        document["ranges"] = open_ranges(judged, ranked, str(options.get("missing", "zero")))
    return document


def payload_from_scores(
    scores: Scores,
    *,
    title: str,
    study: Mapping[str, Table] | None = None,
    groups: Mapping[str, str] | str | Path | None = None,
    by: str | Sequence[str] = (),
) -> Document:
    """Return the data of a report of scores without rankings, whose views need none; parameters as :func:`payload`.

    >>> from rankscope.scores import read_scores
    >>> table = {"run": ["a", "b"], "topic": ["1", "1"], "AP": [0.5, 0.25]}
    >>> data = payload_from_scores(read_scores(table), title="Example")
    >>> data["only_scores"], data["runs"], [m["name"] for m in data["measures"]], data["warnings"][0]["level"]
    (True, ['a', 'b'], ['AP'], 'note')
    """
    selected = [m for m in scores.measures if m.better != "neither"] or list(scores.measures)
    recorded = {name: value for name, value in scores.settings.items() if name in ("scores", "weights")}
    options = {**_SETTINGS, "missing": "skip", **recorded}
    teams = _find_groups(scores.runs, groups)
    document = _describe_scores(scores, selected, title, options, by, teams, study)
    document["only_scores"] = True
    document["warnings"] = [{"kind": "scores", "level": "note", "text": ONLY_SCORES}]
    return document


def _describe_scores(
    scores: Scores,
    selected: Sequence[Measure],
    title: str,
    options: dict[str, Any],
    by: str | Sequence[str],
    groups: schema.RunGroups | None,
    study: Mapping[str, Table] | None,
) -> Document:
    """Return the data of scores, with empty rankings."""
    options["findings"] = [str(m) for m in selected]
    n_topics, n_lists = len(scores.topics), len(scores.runs) * len(scores.topics)
    none, of_lists = np.zeros(0, np.uint8), np.zeros(n_lists, np.uint8)
    document: Document = {
        "format": "rankscope.page",
        "version": VERSION,
        "rankscope": __version__,
        "title": title,
        "settings": options,
        "fingerprint": _fingerprints(scores, options),
        "runs": list(scores.runs),
        "topics": [key_text(topic, "topic") for topic in scores.topics],
        "grades": [],
        "topic": {
            "counts": np.zeros(0, np.int32),
            "nonrelevant": np.zeros(n_topics, np.int32),
            "negative": np.zeros(n_topics, np.int32),
        },
        "list": {"retrieved": of_lists, "judged10": of_lists, "hits": of_lists, "rank": none, "grade": none},
        "measures": [_measure_data(scores, m, options["length"]) for m in scores.measures],
        "lead": str(_lead(scores, selected)),
        "archetypes": [],
        "archetype": np.full(n_lists, 255, np.uint8),
        "tied_first": tied_first(scores),
        "findings": find(scores, selected, by),
        "warnings": [],
        "orders": [],
    }
    if 0 < n_topics * SAMPLES * 2 <= SMALL:
        document["samples"] = _narrow(np.concatenate(list(drawn_topics(n_topics, SAMPLES))).ravel())
    if by:
        sliced = scores.with_measures(list(selected))
        document["slices"] = [_slices(sliced, name) for name in list_names(by)]
        if 0 < n_topics * REPLICATES * 2 <= SMALL:
            document["permutations"] = _narrow(permutations(n_topics).ravel())
    if scores.weights is not None:
        document["weights"] = scores.weights
    if groups is not None:
        document["groups"] = groups
    if study:
        document["study"] = {name: plain_table(table) for name, table in for_report(study).items()}
    return document


def _fingerprints(scores: Scores, options: Mapping[str, Any]) -> dict[str, str]:
    """Return a short hash of each part of the data, so that links show whether two reports have the same data."""
    parts: dict[str, list[bytes]] = {
        "runs": [to_bytes(name) for name in scores.runs],
        "topics": [to_bytes(key_text(topic, "topic")) for topic in scores.topics],
        "settings": [json.dumps([options.get(name) for name in ("order", "missing", "aspects")]).encode()],
    }
    if (judged := scores.judged) is None:
        parts["scores"] = [scores.matrix(m).values.tobytes() for m in scores.measures]
    else:
        qrels, lists = judged.qrels, judged.arrays
        parts["judgments"] = [*qrels.documents, _as_bytes(qrels.topic_offsets), _as_bytes(qrels.grade)]
        parts["rankings"] = [
            _as_bytes(array) for array in (lists.offsets, lists.rank, lists.judgment, lists.length)
        ]
    return {
        name: hashlib.blake2b(b"\0".join(data), digest_size=4).hexdigest() for name, data in parts.items()
    }


def _as_bytes(array: Array) -> bytes:
    return np.ascontiguousarray(array, "<i8").tobytes()


def standard_measures(length: int = 1000) -> tuple[Measure, ...]:
    """Return the measures of every report, with effort measures at its N.

    >>> standard_measures(20)[-1]
    CRP_N@20
    """
    return (*map(parse, _GAIN), *(parse(name) @ length for name in _EFFORT))


def _evaluate(judged: Judged, requested: Iterable[Measure], settings: Mapping[str, Any]) -> Scores:
    usable = has_nonrelevant(judged)
    always = [m for m in standard_measures(settings["length"]) if usable or not m.needs_nonrelevant]
    requested = list(requested)
    measures = (*(requested[requested.index(m)] if m in requested else m for m in always), *requested)
    return score(judged, tuple(dict.fromkeys(measures)), missing=str(settings.get("missing", "zero")))


def _lead(scores: Scores, selected: Sequence[Measure]) -> Measure:
    """Return the first measure of the report: a gain with a direction, because effort is compared with it."""
    gains = [m for m in (*selected, *scores.measures) if m.family != "effort" and m.better != "neither"]
    usable = scores.judged is None or has_nonrelevant(scores.judged)
    usable_gains = (m for m in gains if usable or not m.needs_nonrelevant)
    return next(usable_gains, gains[0] if gains else scores.measures[0])


def _select_followed(scores: Scores, requested: Sequence[Measure]) -> list[Measure]:
    """Return the measures whose orders are followed across cutoffs and pools: usual and requested ones."""
    return [
        m
        for m in scores.measures
        if m.better != "neither" and (m in requested or m.canonical_name in _FOLLOWED)
    ]


def _find_groups(
    runs: Sequence[str], groups: Mapping[str, str] | str | Path | None
) -> schema.RunGroups | None:
    if groups is None:
        return None
    teams = run_groups(runs, groups)
    names = list(dict.fromkeys(teams.values()))
    index = {name: k for k, name in enumerate(names)}
    return {"names": names, "of": [index[teams[run]] if run in teams else None for run in runs]}


def _slices(scores: Scores, attribute: str) -> schema.TopicSlices:
    """Return the slices of an attribute, and the slice of each topic."""
    slices = scores.by(attribute)
    index = {topic: k for k, part in enumerate(slices.values()) for topic in part.topics}
    of_topic = np.array([index.get(topic, 65535) for topic in scores.topics], np.uint16)
    return {"attribute": attribute, "names": list(slices), "of": of_topic}


def _lists(judged: Judged, grades: Array) -> schema.RankingArrays:
    relevant = judged.lists.relevant(1)
    return {
        "retrieved": _narrow(judged.length),
        "judged10": judged.lists.hits(10).count.astype(np.uint8),
        "hits": _narrow(relevant.count),
        "rank": _narrow(relevant.rank),
        "grade": _grade_index(relevant.grade, grades),
    }


def _add_optional(document: Document, judged: Judged, documents: bool | None) -> None:
    """Add parts that are omitted if they are large."""
    hits, relevant = judged.lists.hits(), judged.lists.relevant(1)
    below = hits.where(hits.grade < 1)
    if _is_included(documents, 2 * len(below)):
        document["nonrelevant"] = {"hits": _narrow(below.count), "rank": _narrow(below.rank)}
        if (below.grade < 0).any():
            document["nonrelevant"]["negative"] = (below.grade < 0).astype(np.uint8)
    size = sum(map(len, judged.qrels.documents)) + 2 * len(relevant)
    if _is_included(documents, size):
        grade = judged.qrels.grade
        names, index = _index_names(judged.qrels, (grade > 0) & (grade != UNJUDGED), relevant.judgment)
        document["documents"] = {"names": names, "hit": index}


def _is_included(documents: bool | None, size: int) -> bool:
    return size <= SMALL if documents is None else documents


def _grades(judged: Judged) -> Ints:
    grade = judged.qrels.grade
    return np.unique(grade[grade > 0])[::-1].astype(np.int64)


def _grade_index(values: Array, grades: Array) -> Array:
    index = len(grades) - 1 - np.searchsorted(grades[::-1], values)
    return index.astype(np.uint8 if len(grades) < 256 else np.uint16)


def _counts(judged: Judged, grades: Array) -> Int32s:
    columns = [judged.pool.count(judged.pool.grade == grade) for grade in grades.tolist()]
    return np.stack(columns, axis=1).astype(np.int32).ravel() if columns else np.zeros(0, np.int32)


def _narrow(values: Array) -> Array:
    """Return the values in the smallest type of unsigned integers that holds them."""
    top = int(values.max(initial=0))
    return values.astype(np.uint8 if top < 1 << 8 else np.uint16 if top < 1 << 16 else np.uint32)


def _index_names(qrels: Qrels, keep: Bools, judgment: Int32s) -> tuple[list[list[str]], Array]:
    """Return the names of the documents to keep by topic, and the index of the name for each hit."""
    position = np.concatenate([[0], np.cumsum(keep)])
    kept = [to_text(qrels.documents[d]) for d in np.flatnonzero(keep).tolist()]
    first = position[qrels.topic_offsets]
    names = [kept[start:stop] for start, stop in pairwise(first.tolist())]
    topic = np.searchsorted(qrels.topic_offsets, judgment, side="right") - 1
    return names, _narrow(position[judgment] - first[topic])


def top_documents(qrels: Qrels, runs: Runs) -> schema.TopDocuments | None:
    """Return the documents in the first ranks of some run that are not judged relevant; None for many rankings.

    >>> from rankscope.read import Run
    >>> found = top_documents(Qrels.from_dict({"q": {"a": 1, "b": 0}}), Runs([Run.from_dict({"q": ["x", "a", "b"]})]))
    >>> found["names"], found["judged"].tolist(), found["rank"].tolist(), found["document"].tolist()
    ([['b', 'x']], [1, 0], [1, 3], [1, 0])
    """
    if not 0 < len(runs) * len(qrels.topics) <= MAX_NAMED_LISTS:
        return None
    found = judge(with_documents(qrels, runs, NAMED_DEPTH), runs, allow_disjoint=True)
    grade = found.qrels.grade[found.judgment]
    is_other, is_top = (grade < 1), found.rank <= NAMED_DEPTH
    named = np.zeros(len(found.qrels), np.bool_)
    named[found.judgment[is_other & is_top]] = True
    entries = is_other & (is_top | (named[found.judgment] & (grade == UNJUDGED)))
    complete = bool(_ENTRY_BYTES * entries.sum() <= SMALL)
    entries = np.flatnonzero(entries if complete else is_other & is_top)
    names, index = _index_names(found.qrels, named, found.judgment[entries])
    return {
        "depth": NAMED_DEPTH,
        "complete": complete,
        "names": names,
        "judged": (found.qrels.grade[named] != UNJUDGED).astype(np.uint8),
        "hits": _narrow(np.bincount(found.arrays.owner[entries], minlength=len(found.length))),
        "rank": _narrow(found.rank[entries]),
        "document": index,
    }


def _measure_data(scores: Scores, measure: Measure, length: int) -> schema.Measured:
    """Return a measure with its values, and its means and intervals as in ``leaderboard``."""
    values = scores.matrix(measure).values
    terms, back = measure.split_mean(values)
    low, high = (back(end) for end in t_intervals(terms, weights=scores.weights))
    always, is_effort = measure in standard_measures(length), measure.family == "effort"
    plain = measure.name if is_effort else measure.canonical_name
    kind: Literal["gain", "effort", "data"]
    kind = "effort" if is_effort else "data" if measure.better == "neither" else "gain"
    data: schema.Measured = {
        "name": str(measure),
        "meaning": measure.meaning,
        "kind": kind if always else "given",
        "summary": measure.summary,
        "better": measure.better,
        "low": _finite(measure.range[0]),
        "high": _finite(measure.range[1]),
        "values": values.ravel(),
        "means": scores.mean(measure),
        "mean_low": low,
        "mean_high": high,
    }
    if always and plain in FORMULAS and scores.judged is not None:
        data["formula"] = plain
    return data


def _finite(limit: float) -> float | None:
    return limit if np.isfinite(limit) else None


def _archetypes(judged: Judged, settings: Mapping[str, Any]) -> Array:
    """Return the index of the archetype of each list, 255 if it is undefined."""
    names = find_archetypes(judged.lists, crossing=settings["crossing"], cutoff=settings["length"])
    if settings.get("missing") == "skip":
        names = np.where(judged.present, names, "")
    indices = np.full(len(names), 255, np.uint8)
    for index, name in enumerate(ARCHETYPES):
        indices[names == name] = index
    return indices


_MIN_CODED = 4096
"""Smallest array that is coded; the table and its key would outweigh the gain of smaller ones."""


def _type_name(array: Array) -> str:
    """Return the name of the type of the numbers, such as ``u8`` or ``f64``."""
    return f"{array.dtype.kind}{8 * array.itemsize}"


def _encode(array: Array) -> dict[str, Any] | None:
    """Return many numbers with few distinct values as indices of a table; None if that is not shorter.

    >>> found = _encode(np.resize([0.25, 0.5], 5000))
    >>> found["table"].tolist(), found["codes"].dtype
    ([0.25, 0.5], dtype('uint8'))
    """
    if array.dtype != np.float64 or array.size < _MIN_CODED:
        return None
    table, codes = np.unique(array, return_inverse=True)
    narrow = _narrow(codes)
    return {"codes": narrow, "table": table} if narrow.nbytes + table.nbytes < array.nbytes / 2 else None


def as_json(document: Mapping[str, Any]) -> str:
    """Return the data as JSON that is safe inside an HTML script element, because names are untrusted.

    ``<``, ``>``, ``&`` and everything beyond ASCII (such as U+2028 and U+2029) are escaped.

    >>> as_json({"runs": ["</script>"], "x": np.array([1, 2], np.uint8)})
    '{"runs":["\\\\u003c/script\\\\u003e"],"x":{"dtype":"u8","base64":"AQI="}}'
    """

    def packed(array: Array) -> dict[str, Any]:
        if (few := _encode(array)) is not None:
            return few
        little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        text = base64.b64encode(little.tobytes()).decode("ascii")
        return {"dtype": _type_name(array), "base64": text}

    text = json.dumps(document, default=packed, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def as_stream(document: Mapping[str, Any], chunk: int = 1 << 18) -> Iterator[bytes]:
    """Yield the data as binary chunks: magic, length of the header, header in JSON, arrays aligned to 8 bytes.

    >>> b"".join(as_stream({"x": np.array([1], np.uint8)}))[:8]
    b'RSPAGE01'
    """
    arrays: list[Array] = []
    end = 0

    def placed(array: Array) -> dict[str, Any]:
        nonlocal end
        if (few := _encode(array)) is not None:
            return few
        arrays.append(array)
        at, end = end, end + -(-array.nbytes // 8) * 8
        return {"dtype": _type_name(array), "at": at, "length": array.size}

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
