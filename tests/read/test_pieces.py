"""Parsing depends neither on the boundaries of the blocks of a text nor on its compression."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope.read import Run, compression, qrels_text, run_text, source
from rankscope.read.metadata import read_metadata
from rankscope.read.qrels import read_qrels
from rankscope.read.run_files import read_run, read_runs
from rankscope.read.scores import read_score_tables
from rankscope.read.source import Source
from rankscope.read.texts import read_texts

ROWS = [(topic, f"d{n}", n) for topic in ("7", "7b", "10", "7") for n in range(4 + 4 * (topic == "7b"))]
ROWS = [(topic, f"{document}-{k}", n) for k, (topic, document, n) in enumerate(ROWS)]
RUN = "# a run\r\n\n#7 Q0 d 1 1 t\n" + "".join(f" {t}\tQ0 {d} {n} {n % 3} tag\r\n" for t, d, n in ROWS)
QRELS = "# judged\n\n#7 0 d 1\n" + "".join(f"{t} 0 {d} {n % 3}\n" for t, d, n in ROWS)
SUBTOPICS = "".join(f"{t} {a} {d} {(n + a) % 3}\n" for a in (1, 2) for t, d, n in ROWS)
SCORES = "".join(f"{m}\t{t}\t0.{n}{k}\n" for k, m in enumerate(("map", "P_10")) for n, t in enumerate("abc"))


def lists(path: Path) -> Any:
    return {topic: result.documents for topic, result in read_run(path).lists().items()}


def ranks_and_scores(path: Path) -> Any:
    result = read_run(path, order="rank").lists()
    return {t: (item.documents, item.scores.tolist(), item.ranks.tolist()) for t, item in result.items()}  # type: ignore[union-attr]


def judgments(path: Path) -> Any:
    qrels = read_qrels(path)
    return {topic: qrels.judgments(topic) for topic in qrels.topics}


def aspects(path: Path) -> Any:
    return dict(read_qrels(path, aspects=True).frame_columns())


def evaluated(path: Path) -> Any:
    qrels = {topic: {d: n % 3 for t, d, n in ROWS if t == topic} for topic in ("7", "10", "7b")}
    return rs.evaluate(qrels, path, "AP nDCG").values.tolist()


def scores(path: Path) -> Any:
    return {
        name: (item.runs, item.topics, item.values.tolist()) for name, item in read_score_tables(path).items()
    }


FORMS: dict[str, tuple[str, Any]] = {
    "lists": (RUN, lists),
    "ranks and scores": (RUN, ranks_and_scores),
    "one by one": (RUN, lambda path: {t: item.documents for t, item in read_run(path).iterate_lists()}),
    "one list": (RUN, lambda path: [read_run(path).ranking(topic) for topic in ("7", "10", "7b", "8", "7.")]),
    "evaluated": (RUN, evaluated),
    "judgments": (QRELS, judgments),
    "aspects": (SUBTOPICS, aspects),
    "csv run": ("# x\nqid,docno,score\n" + "".join(f'{t},"{d}",{n}\n' for t, d, n in ROWS), lists),
    "columns": ("".join(f"{t} {d} {n}.5\n" for t, d, n in ROWS), lists),
    "json lines": (
        "".join(f'{{"qid": "{t}", "docno": "{d}", "score": {n}}}\n' for t, d, n in ROWS),
        lists,
    ),
    "printed scores": (SCORES, scores),
    "score lines": (
        "".join(f'{{"topic": "{t}", "measure": "AP", "value": {n}}}\n' for n, t in enumerate("abc")),
        scores,
    ),
    "score matrix": ("topic,a,b\n" + "".join(f"q{n},0.{n},1\n" for n in range(9)), scores),
    "texts": ("".join(f"{d}\ttext of {d}\n" for _, d, _ in ROWS), lambda p: read_texts([p], {"d1-1"}, ())),
    "metadata": (
        "# ir_metadata.start\n# tag: bm25\n# method:\n#   name: x\n# ir_metadata.end\n" + RUN,
        lambda path: read_metadata(Source.open(path)),
    ),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_pieces_of_any_size(form: str, packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, read = FORMS[form]
    path = tmp_path / "text"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    whole = read(path)
    assert whole
    monkeypatch.setenv("RANKSCOPE_SCANNER", "python")
    monkeypatch.setattr(qrels_text, "parse_natively", lambda source: None)
    path.write_bytes(
        gzip.compress(text[:-1].encode()) if packed else text[:-1].encode()
    )  # no newline at the end
    for size in (1, 2, 37, len(text) - 1, len(text), len(text) + 1):
        for module in (source, compression):
            monkeypatch.setattr(module, "BLOCK", size)
        monkeypatch.setattr(run_text, "_PORTION", size)
        assert read(path) == whole, size


@pytest.mark.parametrize("rows", [600, 601, 602])
def test_files_longer_than_the_head_are_read_completely(rows: int, tmp_path: Path) -> None:
    """A file is recognised from its first bytes, and read to its end."""
    path = tmp_path / "text"
    names = [f"d{n}" for n in range(rows)]
    for text in (
        "".join(f"1 Q0 {d} 1 {-n} t\n" for n, d in enumerate(names)),
        "".join(f"1 {d} -{n}.5\n" for n, d in enumerate(names)),
        "qid,docno,score\n" + "".join(f"1,{d},-{n}\n" for n, d in enumerate(names)),
        "".join(f'{{"qid": "1", "docno": "{d}", "score": -{n}}}\n' for n, d in enumerate(names)),
    ):
        path.write_text(text)
        assert read_run(path).ranking("1") == names
    for text in (
        "".join(f"map\t{d}\t0.{n}\n" for n, d in enumerate(names)),
        "topic,AP\n" + "".join(f"{d},0.{n}00000000\n" for n, d in enumerate(names)),
        "".join(f'{{"topic": "{d}", "measure": "AP", "value": 0.{n}}}\n' for n, d in enumerate(names)),
    ):
        path.write_text(text)
        assert len(text) > source.HEAD
        [result] = read_score_tables(path).values()
        assert result.topics == tuple(names)
        assert result.values[0].tolist() == [float(f"0.{n}") for n in range(rows)]


@pytest.mark.parametrize("size", [0, 1, 9, 10, 11, 30])
def test_a_stream_is_spooled_to_memory_or_to_a_file(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "BLOCK", 3)
    monkeypatch.setattr(source, "_MAX_BUFFER", 10)
    (tmp_path / "text").write_bytes(b"x" * size)
    with (tmp_path / "text").open("rb") as file:
        spooled = source._spool(file, str(tmp_path / "text"))
    assert isinstance(spooled, bytes) == (size < 10)
    assert spooled == b"x" * size if isinstance(spooled, bytes) else spooled.read_bytes() == b"x" * size
    if not isinstance(spooled, bytes):
        assert source.is_spooled(spooled)
        assert Source.open(spooled).label == str(tmp_path / "text")
        assert Run("r", source=spooled).path is None


def test_a_directory_of_runs_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    for name in ("b.run", "a.run.gz", "c.txt"):
        text = RUN.encode()
        (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    result = read_runs(tmp_path)
    assert list(result) == ["a", "b", "c"]
    assert result["a"].ranking("7") == result["b"].ranking("7") == result["c"].ranking("7")


@pytest.mark.parametrize("members", [1, 2, 9])
def test_a_file_of_small_packed_members_is_what_they_are_together(members: int, tmp_path: Path) -> None:
    """As ``cat *.gz`` makes it: the first member alone may not tell."""
    rows = [f"{n} d{n} 1 2.5\n" for n in (1, 1)] + [f"1 e{n} {n} 1.5\n" for n in range(2, 2000)]
    del rows[1]
    parts = [*rows[: members - 1], "".join(rows[members - 1 :])]
    path = tmp_path / "run.gz"
    path.write_bytes(b"".join(gzip.compress(part.encode()) for part in parts))
    assert len(Source.open(path).head()) == source.HEAD
    assert read_run(path).format == "columns"
    assert len(read_run(path).ranking("1")) == len(rows)
