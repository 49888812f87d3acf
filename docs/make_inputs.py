"""Writes docs/inputs.md: every format of files, tried on one small collection.

python docs/make_inputs.py            write the page
python docs/make_inputs.py --check    only say whether it is up to date

Each row is a case: the file is written, recognised, evaluated beside the TREC file of the same data, and damaged.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import rankscope as rs
from rankscope.errors import InputError
from rankscope.read.formats import format_of
from rankscope.read.source import Source

PAGE = Path(__file__).parent / "inputs.md"
MEASURES = "AP nDCG@10 P@2 RBP Twist"

JUDGED = [("1", "d1", 1), ("1", "d2", 0), ("1", "d7", 2), ("2", "d3", 2), ("2", "d1", 0), ("10", "d4", 1)]
RUN = [
    ("1", "d2", 1, 7.5),
    ("1", "d1", 2, 3.25),
    ("1", "d9", 3, -1.0),
    ("2", "d8", 1, 2.0),
    ("2", "d3", 2, 1.5),
    ("10", "d4", 1, 0.5),
]
OTHER = [("1", "d7", 1, 2.0), ("2", "d3", 1, 1.0), ("10", "d5", 1, 9.0), ("10", "d4", 2, 8.0)]


class Case(NamedTuple):
    """One kind of file: how it is written, and what is wrong with a damaged one."""

    name: str
    kind: str
    format: str
    write: Callable[[Path], Path]
    damage: Callable[[bytes], bytes]
    example: str
    several: bool = False


def text_file(name: str, text: str) -> Callable[[Path], Path]:
    """Writes a file with this text."""

    def write(folder: Path) -> Path:
        path = folder / name
        path.write_text(text)
        return path

    return write


def packed_file(name: str, pack: Callable[[bytes], bytes], text: str) -> Callable[[Path], Path]:
    """Writes a packed file."""

    def write(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(pack(text.encode()))
        return path

    return write


def zstd(data: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor().compress(data)


def lines(rows: list[tuple[object, ...]], separator: str = "\t", header: str = "") -> str:
    """Rows as text."""
    first = f"{header}\n" if header else ""
    return first + "".join(separator.join(map(str, row)) + "\n" for row in rows)


def replaced(old: str, new: str) -> Callable[[bytes], bytes]:
    """Damage: one text in the place of another."""

    def damage(data: bytes) -> bytes:
        assert old.encode() in data
        return data.replace(old.encode(), new.encode(), 1)

    return damage


def cut(data: bytes) -> bytes:
    """Damage: the end is missing."""
    return data[: len(data) * 2 // 3]


def nested(rows: list[tuple[object, ...]], value: int) -> dict[str, dict[str, object]]:
    """Rows as ``{topic: {document: value}}``."""
    found: dict[str, dict[str, object]] = {}
    for row in rows:
        found.setdefault(str(row[0]), {})[str(row[1])] = row[value]
    return found


TREC_QRELS = lines([(t, 0, d, g) for t, d, g in JUDGED], " ")
TREC_RUN = lines([(t, "Q0", d, r, s, "bm25") for t, d, r, s in RUN], " ")
TREC_OTHER = lines([(t, "Q0", d, r, s, "dense") for t, d, r, s in OTHER], " ")
_QRELS_JSON = nested(JUDGED, 2)
_RUN_JSON, _OTHER_JSON = nested(RUN, 3), nested(OTHER, 3)
_LONG = [("bm25", t, d, s) for t, d, _, s in RUN] + [("dense", t, d, s) for t, d, _, s in OTHER]


def json_lines(names: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    """One object a line."""
    return "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)


def arrow_table(names: tuple[str, ...], rows: list[tuple[object, ...]]) -> Any:
    """Rows as an Arrow table; topics are numbers."""
    import pyarrow

    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    columns[names[0]] = [int(topic) if str(topic).isdigit() else topic for topic in columns[names[0]]]
    return pyarrow.table(columns)


def arrow_file(
    name: str, kind: str, names: tuple[str, ...], rows: list[tuple[object, ...]]
) -> Callable[[Path], Path]:
    """Writes a table as Parquet, as an Arrow file (Feather), as a stream, or as Parquet in parts, a folder per run."""

    def write(folder: Path) -> Path:
        import pyarrow
        import pyarrow.dataset
        import pyarrow.feather
        import pyarrow.parquet

        path, table = folder / name, arrow_table(names, rows)
        if kind == "parquet":
            pyarrow.parquet.write_table(table, path)
        elif kind == "feather":
            pyarrow.feather.write_feather(table, path)
        elif kind == "stream":
            with pyarrow.ipc.new_stream(path, table.schema) as sink:
                sink.write_table(table)
        else:
            by = pyarrow.dataset.partitioning(pyarrow.schema([(names[0], pyarrow.string())]), flavor="hive")
            pyarrow.dataset.write_dataset(
                table, path, format=kind.removesuffix(" parts").replace("arrow", "ipc"), partitioning=by,
                existing_data_behavior="delete_matching",
            )  # fmt: skip
        return path

    return write


_QRELS_NAMES, _RUN_NAMES = ("query_id", "doc_id", "relevance"), ("qid", "docno", "rank", "score")
CASES = [
    Case("TREC", "qrels", "trec", text_file("q.txt", TREC_QRELS), replaced("d7 2", "d7 high"), "`1 0 d1 1`"),
    Case(
        "BEIR", "qrels", "beir", text_file("test.tsv", lines(JUDGED, header="query-id\tcorpus-id\tscore")),
        replaced("d7\t2", "d7"), "header `query-id corpus-id score`",
    ),
    Case(
        "three columns", "qrels", "columns", text_file("q3.tsv", lines(JUDGED)), replaced("d7\t2", "d7\tx"),
        "`1 d1 1`",
    ),
    Case(
        "CSV", "qrels", "csv", text_file("q.csv", lines(JUDGED, ",", "qid,docno,label")),
        replaced("d7,2", "d7,1.5"), "header `qid,docno,label`",
    ),
    Case(
        "TSV", "qrels", "tsv", text_file("q.tsv", lines(JUDGED, header="query_id\tdoc_id\trelevance")),
        replaced("d7\t2", "d7\t2\t3"), "header `query_id doc_id relevance`",
    ),
    Case(
        "JSON", "qrels", "json", text_file("q.json", json.dumps(_QRELS_JSON)), replaced('"d7": 2', '"d1": 2'),
        '`{"1": {"d1": 1}}`',
    ),
    Case(
        "JSON lines", "qrels", "jsonl", text_file("q.jsonl", json_lines(("query-id", "corpus-id", "score"), JUDGED)),
        replaced('"d7"', "d7"), '`{"query-id": "1", "corpus-id": "d1", "score": 1}`',
    ),
    Case(
        "Parquet", "qrels", "parquet", arrow_file("q.parquet", "parquet", _QRELS_NAMES, JUDGED), cut,
        "columns as in CSV",
    ),
    Case("Arrow, Feather", "qrels", "arrow", arrow_file("q.feather", "feather", _QRELS_NAMES, JUDGED), cut, "the same"),
    Case(
        "Parquet in parts", "qrels", "parquet", arrow_file("q", "parquet parts", _QRELS_NAMES, JUDGED), cut,
        "`q/query_id=1/part-0.parquet`",
    ),
    Case("TREC", "run", "trec", text_file("r.run", TREC_RUN), replaced("3.25", "nan"), "`1 Q0 d2 1 7.5 bm25`"),
    Case(
        "MS MARCO", "run", "columns", text_file("r.tsv", lines([row[:3] for row in RUN])), replaced("d9\t3", "d9"),
        "`1 d2 1` (topic document rank)",
    ),
    Case(
        "with scores", "run", "columns", text_file("r4.tsv", lines(RUN)), replaced("3.25", "3,25"),
        "`1 d2 1 7.5` (topic document rank score)",
    ),
    Case(
        "CSV", "run", "csv", text_file("r.csv", lines([(t, d, s) for t, d, _, s in RUN], ",", "qid,docno,score")),
        replaced("d9", "d1"), "header `qid,docno,score`",
    ),
    Case(
        "TSV", "run", "tsv", text_file("r.tab", lines(RUN, header="query_id\tdoc_id\trank\tscore")),
        replaced("3.25", ""), "header `query_id doc_id rank score`",
    ),
    Case(
        "CSV of several runs", "run", "csv", text_file("long.csv", lines(_LONG, ",", "run,qid,docno,score")),
        replaced("3.25", "high"), "a column `run`, `system` or `name`", True,
    ),
    Case(
        "JSON", "run", "json", text_file("r.json", json.dumps(_RUN_JSON, indent=1)), replaced("3.25", "null"),
        '`{"1": {"d2": 7.5}}`',
    ),
    Case(
        "MTEB", "run", "json", text_file("mteb.json", json.dumps({"default": {"test": _RUN_JSON}})), cut,
        '`{"test": {"1": {"d2": 7.5}}}`',
    ),
    Case(
        "JSON of several runs", "run", "json",
        text_file("two.json", json.dumps({"bm25": _RUN_JSON, "dense": _OTHER_JSON})), cut,
        '`{"bm25": {"1": {"d2": 7.5}}}`', True,
    ),
    Case(
        "JSON lines", "run", "jsonl",
        text_file("r.jsonl", json_lines(("qid", "docno", "rank", "score"), RUN)), replaced("3.25", '"high"'),
        '`{"qid": "1", "docno": "d2", "score": 7.5}`',
    ),
    Case("Parquet", "run", "parquet", arrow_file("r.parquet", "parquet", _RUN_NAMES, RUN), cut, "columns as in CSV"),
    Case("Arrow, Feather", "run", "arrow", arrow_file("r.feather", "feather", _RUN_NAMES, RUN), cut, "the same"),
    Case("Arrow stream", "run", "arrow", arrow_file("r.arrows", "stream", _RUN_NAMES, RUN), cut, "the same"),
    Case(
        "Parquet in parts", "run", "parquet",
        arrow_file("parts", "parquet parts", ("run", "qid", "docno", "score"), _LONG), cut,
        "`parts/run=bm25/part-0.parquet`", True,
    ),
    Case(
        "Arrow in parts", "run", "arrow",
        arrow_file("arrows", "arrow parts", ("system", "qid", "docno", "score"), _LONG), cut,
        "`arrows/system=bm25/part-0.arrow`", True,
    ),
    Case("gzip", "run", "trec", packed_file("r.gz", gzip.compress, TREC_RUN), cut, ""),
    Case("bzip2", "run", "trec", packed_file("r.bz2", bz2.compress, TREC_RUN), cut, ""),
    Case("xz", "run", "trec", packed_file("r.xz", lzma.compress, TREC_RUN), cut, ""),
    Case("zstd", "run", "trec", packed_file("r.zst", zstd, TREC_RUN), cut, "with `zstandard`"),
]  # fmt: skip


SCORED = [("1", "AP", 0.5), ("1", "nDCG@10", 0.25), ("2", "AP", 1.0), ("2", "nDCG@10", 0.75)]
SCORED_OTHER = [("1", "AP", 0.125), ("1", "nDCG@10", 0.0), ("2", "AP", 0.0), ("2", "nDCG@10", 0.5)]
_THEIRS = {"AP": "map", "nDCG@10": "ndcg_cut_10"}
_BOTH = [(run, *row) for run, rows in (("bm25", SCORED), ("dense", SCORED_OTHER)) for row in rows]
_VALUES = ("run", "topic", "measure", "value")


def trec_eval_output(run: str, rows: list[tuple[str, str, float]]) -> str:
    """What trec_eval -q prints."""
    found = [("runid", "all", run), ("num_q", "all", 2)]
    found += [(_THEIRS[measure], topic, value) for topic, measure, value in rows]
    return "".join(f"{a:<22}\t{b}\t{c}\n" for a, b, c in [*found, ("map", "all", 0.75)])


class ScoreCase(NamedTuple):
    """One kind of file of scores; ``other`` has the second run where a file holds one."""

    name: str
    example: str
    text: str
    bad: str
    other: str = ""


SCORE_CASES = [
    ScoreCase(
        "`trec_eval -q`", "`map 301 0.5`", trec_eval_output("bm25", SCORED),
        trec_eval_output("bm25", SCORED).replace("0.25", "x"), trec_eval_output("dense", SCORED_OTHER),
    ),
    ScoreCase(
        "`ir_measures -q`", "`301 AP 0.5`", lines([*SCORED, ("all", "AP", 0.75)]), lines([("all", "AP", 0.75)]),
        lines(SCORED_OTHER),
    ),
    ScoreCase(
        "four columns", "`bm25 map 301 0.5`", lines([(r, _THEIRS[m], t, v) for r, t, m, v in _BOTH]),
        lines([(r, _THEIRS[m], t, v) for r, t, m, v in _BOTH]).replace("1.0", "1.0\t2"),
    ),
    ScoreCase(
        "four columns, topic first", "`bm25 301 AP 0.5`", lines(_BOTH), lines([*_BOTH, _BOTH[0]]),
    ),
    ScoreCase(
        "`rankscope eval -q -f csv`, `tsv`", "header `run,topic,measure,value`", lines(_BOTH, ",", ",".join(_VALUES)),
        lines([*_BOTH, _BOTH[0]], ",", ",".join(_VALUES)),
    ),
    ScoreCase(
        "`rankscope eval -q -f json`", '`{"tables": {"topics": [...]}}`',
        json.dumps({"rankscope": "1", "tables": {"topics": [dict(zip(_VALUES, row, strict=True)) for row in _BOTH]}}),
        json.dumps({"rankscope": "1", "tables": {"means": []}}),
    ),
    ScoreCase(
        "PyTerrier's perquery", "header `name,qid,measure,value`",
        lines([(i, r, t, _THEIRS[m], v) for i, (r, t, m, v) in enumerate(_BOTH)], ",", ",name,qid,measure,value"),
        lines([(0, "bm25", "1", "map", "high")], ",", ",name,qid,measure,value"),
    ),
    ScoreCase(
        "JSON lines", '`{"query_id": "301", "measure": "AP", "value": 0.5}`',
        json_lines(("run", "query_id", "measure", "value"), _BOTH),
        json_lines(("run", "query_id", "measure", "value"), [("bm25", "1", "AP", "x")]),
    ),
]  # fmt: skip


def scored(case: ScoreCase, folder: Path) -> Outcome:
    """Write the files of a case, read their scores, damage one."""
    paths = [text_file("bm25.txt", case.text)(folder)]
    if case.other:
        paths.append(text_file("dense.txt", case.other)(folder))
    found = rs.read_scores(*paths)
    expected = {
        run: {topic: {m: v for t, m, v in rows if t == topic} for topic in ("1", "2")}
        for run, rows in (("bm25", SCORED), ("dense", SCORED_OTHER))
    }
    values = {
        run: {topic: {str(m): v for m, v in each.items()} for topic, each in topics.items()}
        for run, topics in found.per_topic().items()
    }
    bad = text_file("bad.txt", case.bad)(folder)
    try:
        rs.read_scores(bad)
        refused = False
    except InputError as error:
        refused = str(error).startswith(str(bad))
    return Outcome([str(m) for m in found.measures] == ["AP", "nDCG@10"], values == expected, refused)


class Outcome(NamedTuple):
    """What a case showed."""

    recognised: bool
    same: bool
    refused: bool


def tried(case: Case, folder: Path) -> Outcome:
    """Write the file of a case, recognise it, evaluate it beside the TREC file, damage it."""
    qrels, run = text_file("official.txt", TREC_QRELS)(folder), text_file("bm25.run", TREC_RUN)(folder)
    other = text_file("dense.run", TREC_OTHER)(folder)
    path = case.write(folder)
    found = format_of(Source.of(path), case.kind)
    if case.kind == "qrels":
        expected = rs.evaluate(qrels, run, MEASURES).values
        read = rs.evaluate(path, run, MEASURES).values
    else:
        expected = rs.evaluate(qrels, [run, other] if case.several else run, MEASURES).values
        read = rs.evaluate(qrels, path, MEASURES).values
    return Outcome(
        found == case.format, expected.tolist() == read.tolist(), refusal(case, folder) is not None
    )


def refusal(case: Case, folder: Path) -> str | None:
    """What is said about the damaged file of a case, if it is refused by its name."""
    qrels, run = text_file("official.txt", TREC_QRELS)(folder), text_file("bm25.run", TREC_RUN)(folder)
    path = case.write(folder)
    part = path if path.is_file() else next(part for part in sorted(path.rglob("*")) if part.is_file())
    part.write_bytes(case.damage(part.read_bytes()))
    try:
        rs.evaluate(path if case.kind == "qrels" else qrels, run if case.kind == "qrels" else path, "AP")
    except InputError as error:
        return str(error) if str(error).startswith(str(path)) else None
    return None


def page() -> str:
    """The page, with what every case showed."""
    text = _PAGE
    for kind in ("qrels", "run"):
        rows = [
            "| | looks like | `--input-format` | recognised | same scores as TREC | bad file refused by name |",
            "|---|---|---|---|---|---|",
        ]
        with TemporaryDirectory() as folder:
            for case in CASES:
                if case.kind == kind:
                    outcome = " | ".join("yes" if one else "**no**" for one in tried(case, Path(folder)))
                    rows.append(f"| {case.name} | {case.example} | `{case.format}` | {outcome} |")
        text = text.replace(f"({kind})", "\n".join(rows))
    rows = ["| | looks like | recognised | same scores | bad file refused by name |", "|---|---|---|---|---|"]
    with TemporaryDirectory() as folder:
        for one in SCORE_CASES:
            outcome = " | ".join("yes" if each else "**no**" for each in scored(one, Path(folder)))
            rows.append(f"| {one.name} | {one.example} | {outcome} |")
    return text.replace("(scores)", "\n".join(rows))


_PAGE = """# What goes in

Files are known by their content, never by their names: a few thousand bytes are looked at. What is not clearly
something else is a TREC file. What was recognised is said once on standard error where it is not TREC (`--quiet`
silences it), and `--input-format F` (or `qrels=F`, `runs=F`) overrules it. Every way in takes the same files:
Python (`rs.evaluate`, `rs.read_qrels`, `rs.read_runs`), every command, studies and their manifests, the report and the
explorer.

The tables are made by `docs/make_inputs.py`, which writes each file, opens it, compares the scores of five measures
with those of the TREC file of the same data, and damages it.

## Judgments

(qrels)

`irds:ID` in the place of a file, or the ID itself where there is no such file, are the judgments of a dataset of
ir_datasets (`pip install 'rankscope[datasets]'`): `rankscope eval irds:beir/scifact/test bm25.run`.

## Runs

(run)

A header of ir_metadata (`# ir_metadata.start` ... `# ir_metadata.end`) names its run, and is `run.metadata` in Python.
A file that names its runs (a column `run`, `system` or `name`; `{run: {topic: {document: score}}}`) holds several; else
a run is called after its file. A run without scores is in the order of its ranks. `~`, patterns (`"runs/*.json"`),
directories and `-` for standard input work for every format. A directory is one table in parts if it has folders called
`column=value`, a mark such as `_SUCCESS`, or nothing but files called `part-...` or `...-00000-of-00002...`; any other
directory holds a run in each file. Parquet and Arrow need `pip install 'rankscope[frames]'`, zstd `rankscope[zstd]`.

In Python the runs of `rs.evaluate(qrels, runs, ...)` are a path or several, a dict `{topic: {document: score}}`, a
frame, or a dict of these by name: `{"bm25": "bm25.run", "dense": frame, "fused": {"q1": {"d1": 7.5}}}`.

A line may have 16,777,216 bytes, and a packed file unpack to 1 GB or 250 times its size; what has more is refused,
because it could take all memory. Where more is meant, environment variables raise these limits:
`RANKSCOPE_LONGEST_LINE` (bytes) and `RANKSCOPE_UNPACKED_RATIO` (times).

## Scores

`rs.read_scores(...)`, and `--scores FILE` of `compare`, `correlate` and `power` in the place of QRELS and RUN, take
what was computed before, here or elsewhere, also by people and by language models:

(scores)

A table with a row per topic and a column per system holds one measure, which `--scores M=FILE` or
`rs.read_scores({"M": "file.csv"})` names. Frames of both kinds work, as do Parquet and Arrow, and files may be packed.
Several files with the same measures of other runs (`trec_eval -q` once for each run) are put together; without a name
of their own, runs are called after their files. A measure that is not known here stands for its values; higher is
better.
"""


def main() -> int:
    made = page()
    if "--check" in sys.argv:
        if PAGE.exists() and PAGE.read_text() == made:
            return 0
        print(f"{PAGE} is not up to date; run python docs/make_inputs.py")
        return 1
    PAGE.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
