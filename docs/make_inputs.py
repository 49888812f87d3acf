"""Generate docs/inputs.md: all file formats, tested on one small collection.

python docs/make_inputs.py            write the page
python docs/make_inputs.py --check    only check whether it is up to date

For each case the script writes a file, recognises its format, compares its scores with those of the TREC file of the
same data, and tests a damaged copy.
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
from rankscope.read.formats import detect_format
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
    """A file format: how to write a file, and how to damage it."""

    name: str
    kind: str
    format: str
    write: Callable[[Path], Path]
    damage: Callable[[bytes], bytes]
    example: str
    several: bool = False


def text_file(name: str, text: str) -> Callable[[Path], Path]:
    """Return a function that writes a file with this text."""

    def write(folder: Path) -> Path:
        path = folder / name
        path.write_text(text)
        return path

    return write


def packed_file(name: str, pack: Callable[[bytes], bytes], text: str) -> Callable[[Path], Path]:
    """Return a function that writes a compressed file."""

    def write(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(pack(text.encode()))
        return path

    return write


def zstd(data: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor().compress(data)


def lines(rows: list[tuple[object, ...]], separator: str = "\t", header: str = "") -> str:
    """Format rows as text."""
    first = f"{header}\n" if header else ""
    return first + "".join(separator.join(map(str, row)) + "\n" for row in rows)


def replaced(old: str, new: str) -> Callable[[bytes], bytes]:
    """Return a damage that replaces one text by another."""

    def damage(data: bytes) -> bytes:
        assert old.encode() in data
        return data.replace(old.encode(), new.encode(), 1)

    return damage


def cut(data: bytes) -> bytes:
    """Truncate a file."""
    return data[: len(data) * 2 // 3]


def nested(rows: list[tuple[object, ...]], value: int) -> dict[str, dict[str, object]]:
    """Convert rows to ``{topic: {document: value}}``."""
    mapping: dict[str, dict[str, object]] = {}
    for row in rows:
        mapping.setdefault(str(row[0]), {})[str(row[1])] = row[value]
    return mapping


TREC_QRELS = lines([(t, 0, d, g) for t, d, g in JUDGED], " ")
TREC_RUN = lines([(t, "Q0", d, r, s, "bm25") for t, d, r, s in RUN], " ")
TREC_OTHER = lines([(t, "Q0", d, r, s, "dense") for t, d, r, s in OTHER], " ")
_QRELS_JSON = nested(JUDGED, 2)
_RUN_JSON, _OTHER_JSON = nested(RUN, 3), nested(OTHER, 3)
_LONG = [("bm25", t, d, s) for t, d, _, s in RUN] + [("dense", t, d, s) for t, d, _, s in OTHER]


def json_lines(names: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    """Format rows as one JSON object per line."""
    return "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)


def arrow_table(names: tuple[str, ...], rows: list[tuple[object, ...]]) -> Any:
    """Convert rows to an Arrow table with numeric topics."""
    import pyarrow

    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    columns[names[0]] = [int(topic) if str(topic).isdigit() else topic for topic in columns[names[0]]]
    return pyarrow.table(columns)


def arrow_file(
    name: str, kind: str, names: tuple[str, ...], rows: list[tuple[object, ...]]
) -> Callable[[Path], Path]:
    """Return a function that writes Parquet, Feather, an Arrow stream, or Parquet in parts with a folder per run."""

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
        replaced("d7,2", "d7,-1.5"), "header `qid,docno,label`",
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
    """Format scores as the output of trec_eval -q."""
    output = [("runid", "all", run), ("num_q", "all", 2)]
    output += [(_THEIRS[measure], topic, value) for topic, measure, value in rows]
    return "".join(f"{a:<22}\t{b}\t{c}\n" for a, b, c in [*output, ("map", "all", 0.75)])


class ScoreCase(NamedTuple):
    """A format of scores; ``other`` is the file of the second run if a file holds one run."""

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
    """Write the files of a case, read their scores, and damage one."""
    paths = [text_file("bm25.txt", case.text)(folder)]
    if case.other:
        paths.append(text_file("dense.txt", case.other)(folder))
    scores = rs.read_scores(*paths)
    expected = {
        run: {topic: {m: v for t, m, v in rows if t == topic} for topic in ("1", "2")}
        for run, rows in (("bm25", SCORED), ("dense", SCORED_OTHER))
    }
    values = {
        run: {
            topic: {m.canonical_name: values[m] for m in scores.measures} for topic, values in topics.items()
        }
        for run, topics in scores.per_topic().items()
    }
    bad = text_file("bad.txt", case.bad)(folder)
    try:
        rs.read_scores(bad)
        refused = False
    except InputError as error:
        refused = str(error).startswith(str(bad))
    return Outcome(
        [m.canonical_name for m in scores.measures] == ["AP", "nDCG@10"], values == expected, refused
    )


class Outcome(NamedTuple):
    """Outcome of a case."""

    recognised: bool
    same: bool
    refused: bool


def tried(case: Case, folder: Path) -> Outcome:
    """Write the file of a case, recognise it, compare its scores with those of the TREC file, and damage it."""
    qrels, run = text_file("official.txt", TREC_QRELS)(folder), text_file("bm25.run", TREC_RUN)(folder)
    other = text_file("dense.run", TREC_OTHER)(folder)
    path = case.write(folder)
    recognised = detect_format(Source.open(path), case.kind)
    if case.kind == "qrels":
        expected = rs.evaluate(qrels, run, MEASURES).values
        read = rs.evaluate(path, run, MEASURES).values
    else:
        expected = rs.evaluate(qrels, [run, other] if case.several else run, MEASURES).values
        read = rs.evaluate(qrels, path, MEASURES).values
    return Outcome(
        recognised == case.format, expected.tolist() == read.tolist(), refusal(case, folder) is not None
    )


def refusal(case: Case, folder: Path) -> str | None:
    """Return the error about the damaged file of a case, or None if the error does not name the file."""
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
    """Return the page with the outcomes of all cases."""
    text = _PAGE
    for kind in ("qrels", "run"):
        rows = [
            "| | looks like | `--input-format` | recognised | same scores as TREC | bad file refused by name |",
            "|---|---|---|---|---|---|",
        ]
        with TemporaryDirectory() as folder:
            for case in CASES:
                if case.kind == kind:
                    outcome = " | ".join("yes" if case else "**no**" for case in tried(case, Path(folder)))
                    rows.append(f"| {case.name} | {case.example} | `{case.format}` | {outcome} |")
        text = text.replace(f"({kind})", "\n".join(rows))
    rows = ["| | looks like | recognised | same scores | bad file refused by name |", "|---|---|---|---|---|"]
    with TemporaryDirectory() as folder:
        for score_case in SCORE_CASES:
            outcome = " | ".join("yes" if is_met else "**no**" for is_met in scored(score_case, Path(folder)))
            rows.append(f"| {score_case.name} | {score_case.example} | {outcome} |")
    return text.replace("(scores)", "\n".join(rows))


_PAGE = """# Input formats

Rankscope recognises a file by its first few thousand bytes, never by its name. A file that is not clearly in another
format is read as a TREC file. A note on standard error names any format other than TREC (`--quiet` silences it), and
`--input-format F` (or `qrels=F`, `runs=F`) overrides it. All interfaces read the same files: Python (`rs.evaluate`,
`rs.read_qrels`, `rs.read_runs`), every command, studies and their manifests, the report and the explorer.

`docs/make_inputs.py` generates the tables: it writes a file in each format, reads it, compares the scores of five
measures with those of a TREC file of the same data, and checks that a damaged copy is rejected with an error that names
the file.

## Judgments

(qrels)

Instead of a file, name the judgments of a dataset of ir_datasets by `irds:ID`, or by the ID if no such file exists
(`pip install 'rankscope[datasets]'`): `rankscope eval irds:beir/scifact/test bm25.run`.

## Runs

(run)

A header of ir_metadata (`# ir_metadata.start` ... `# ir_metadata.end`) names its run; in Python it is `run.metadata`.
A file that names its runs (a column `run`, `system` or `name`; `{run: {topic: {document: score}}}`) can hold several;
otherwise the run has the name of its file. A run without scores is ordered by its ranks. `~`, patterns
(`"runs/*.json"`), directories and `-` for standard input work for every format. A directory is one partitioned table if
it has folders named `column=value`, a marker such as `_SUCCESS`, or only files named `part-...` or
`...-00000-of-00002...`; any other directory holds one run per file. Parquet and Arrow need
`pip install 'rankscope[frames]'`, zstd needs `rankscope[zstd]`.

In Python the runs of `rs.evaluate(qrels, runs, ...)` are one or several paths, a dict `{topic: {document: score}}`, a
frame, or a dict of these by name: `{"bm25": "bm25.run", "dense": frame, "fused": {"q1": {"d1": 7.5}}}`.
Ids in dicts may be of any hashable type, such as integers: they are compared as text, and results return topics in
their original type. Judgments are `{topic: {document: grade}}`, or `{topic: [document, ...]}` if all listed documents
are relevant. A list of dicts is a list of runs, called run1, run2 and so on. If the columns of a table have unusual
names, name them with `--columns topic=search,doc=sku,grade=clicks`, or `columns=` in Python. Grades are integers, or
gains from 0 on, such as 0.37. Measures that use gains (DCG, nDCG, CG, ERR, `RBP(graded=True)` and their variants) use
them directly; the largest gain is the best grade. Measures of binary relevance need a threshold, such as
`AP(rel=0.5)`. Analyses of rankings (`effort`, `next`, `--unjudged bounds`) need grades:
`--grades '0-0.2=0;0.2-0.6=1;0.6-1=2'` bins numbers. A range includes its lower end; the last range also includes its
upper end.

A line may have up to 16,777,216 bytes, and a compressed file may decompress to 1 GB or to 250 times its size. Rankscope
rejects larger input, because it could exhaust memory. If you need more, environment variables raise these limits:
`RANKSCOPE_LONGEST_LINE` (bytes) and `RANKSCOPE_UNPACKED_RATIO` (times).

## Scores

`rs.read_scores(...)`, and `--scores FILE` instead of QRELS and RUN in `eval`, `compare`, `correlate`, `power`, `gate`,
`certain`, `findings` and `report`, read saved scores: those of Rankscope or other programs, and ratings by people or
language models. A report of scores has the views that need no rankings.

(scores)

A table with a row per run and topic may have a column per measure (`run,topic,AP,P@10`), and so may a table of one run
(`topic,AP,P@10`). A table with a row per topic and a column per system holds one measure; name it by
`--scores M=FILE` or `rs.read_scores({"M": "file.csv"})`. `read_scores` also reads pandas and polars frames, including
those that Rankscope returns, Parquet and Arrow files, and compressed files.
Rankscope combines several files with the same measures of different runs (`trec_eval -q` once per run); runs without
a name have the names of their files. Unknown measures are allowed; higher values then count as better.

Assignments of nuggets (facts that an answer should contain), as JSON lines of the TREC RAG track, are scored when they
are read: `rankscope eval --nuggets FILE`, `rs.read_scores(FILE)`. An object has `qid`, `run_id` and `nuggets`, each
with `importance` (vital, okay) and `assignment` (support, partial_support, not_support). The measures `strict_vital`
and `strict_all` are the shares of vital nuggets and of all nuggets with full support; `vital` and `all` count partial
support as one half. A topic without (vital) nuggets is 0, as in the script of the track; `--missing skip` leaves it
out. A topic that the file lacks for a run is left out of its mean in either case, as in all files of scores. Two files
with assignments of the same nuggets can be compared: `rankscope judges a.jsonl b.jsonl`.
"""


def main() -> int:
    text = page()
    if "--check" in sys.argv:
        if PAGE.exists() and PAGE.read_text() == text:
            return 0
        print(f"{PAGE} is not up to date; run python docs/make_inputs.py")
        return 1
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
