"""Diversity measures against the output of TREC's own programs: ndeval, gdeval, the cube test."""

from __future__ import annotations

import csv
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from rankscope.cli.main import main
from rankscope.judging import Lists, judge
from rankscope.measures import measure
from rankscope.read import Qrels, Run, read_qrels, read_runs


@pytest.mark.slow
@pytest.mark.parametrize("year", [2011, 2012])
@pytest.mark.parametrize("suffix, flags", [("", []), (".traditional", ["-traditional"])])
def test_ndeval_prints_the_official_bytes(
    data_dir: Path, year: int, suffix: str, flags: list[str], capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    folder = data_dir / f"web{year}_diversity"
    runs = sorted((folder / "runs").iterdir())
    assert runs
    for run in runs:
        official = folder / "ndeval_output" / (run.name.removesuffix(".gz") + suffix + ".csv")
        assert main(["ndeval", "-c", *flags, str(folder / "qrels.for_ndeval.txt"), str(run)]) == 0
        assert capsysbinary.readouterr().out == official.read_bytes(), run.name


@pytest.mark.parametrize("year", [2011, 2012])
def test_ndeval_takes_the_judgments_as_nist_gives_them(
    data_dir: Path, year: int, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Negative grades and subtopics without relevant documents need no preparation."""
    folder = data_dir / f"web{year}_diversity"
    run = min((folder / "runs").iterdir())
    official = folder / "ndeval_output" / (run.name.removesuffix(".gz") + ".csv")
    assert main(["ndeval", "-c", str(folder / "qrels.diversity.txt"), str(run)]) == 0
    assert capsysbinary.readouterr().out == official.read_bytes()


@pytest.mark.parametrize("year", [2011, 2012])
def test_gdeval(data_dir: Path, year: int) -> None:
    folder = data_dir / f"web{year}_diversity"
    outputs = sorted((folder / "gdeval_output").glob("*.csv"))
    assert outputs
    qrels = read_qrels(folder / "qrels.adhoc.txt")
    judged = judge(qrels, read_runs(folder / "runs"))
    actual = {
        "ndcg@20": judged.grid(measure("nDCG(gains='exp2')@20").evaluate(judged.lists)),
        "err@20": judged.grid(measure("ERR(max_grade=4)@20").evaluate(judged.lists)),
    }
    for output in outputs:
        r = judged.runs.index(output.stem)
        with output.open() as file:
            rows = list(csv.DictReader(file))
        assert len(rows) > 10
        for row in rows:
            for name, values in actual.items():
                value = (
                    np.mean(values[r])
                    if row["topic"] == "amean"
                    else values[r, qrels.topic_index[row["topic"]]]
                )
                assert f"{value:.5f}" == row[name], (output.stem, row["topic"], name)


def dynamic_domain(folder: Path) -> Qrels:
    """Return the judgments of TREC Dynamic Domain 2017: a document's grade for a subtopic adds up its passages."""
    grades: dict[tuple[bytes, bytes, bytes], int] = defaultdict(int)
    for line in (folder / "qrels_passages.txt").read_bytes().splitlines():
        if not line.startswith(b"#"):
            topic, subtopic, document, _, rating, *_ = line.split()
            grades[topic, subtopic, document] += max(1, int(rating))
    topics, subtopics, documents = zip(*grades, strict=True)
    return Qrels.from_columns(
        topics, subtopics, documents, np.array(list(grades.values()), np.int32), aspects=True
    )


@pytest.mark.parametrize("pages", [1, 5, 10])
def test_the_cube_test_of_dynamic_domain_2017(data_dir: Path, pages: int) -> None:
    """Preset trec-dd-2017 with five documents per iteration; nCT with the bound of that program."""
    folder = data_dir / "trec_dd" / "dd2017"
    qrels = dynamic_domain(folder)
    settings = {"iteration": 5}
    measures = [
        measure("CT")(**settings) @ (5 * pages),
        measure("ACT")(**settings) @ (5 * pages),
        measure("nCT")(**settings, bound="trec-dd-2017") @ (5 * pages),
    ]
    files = sorted((folder / "constructed_runs").iterdir())
    assert len(files) == 4
    for file in files:
        lists: dict[str, list[str]] = defaultdict(list)
        for line in file.read_text().splitlines():
            topic, _, document, *_ = line.split()
            lists[topic].append(document)
        judged = judge(qrels, Run.from_dict(lists, name=file.stem))
        values = np.stack([one.evaluate(judged.lists) for one in measures], axis=1)
        official = folder / "official_output" / f"{file.stem}.cubetest.cutoff{pages}.txt"
        rows = [line.split() for line in official.read_text().splitlines()[2:]]
        assert len(rows) > 50
        for topic, *expected in rows:
            actual = values.mean(axis=0) if topic == "all" else values[qrels.topic_index[topic]]
            np.testing.assert_allclose(
                actual, [float(e) for e in expected], atol=6e-8, err_msg=f"{file.stem} {topic}"
            )


def test_the_cube_test_of_2014(data_dir: Path) -> None:
    """Preset trec-dd-2014 reproduces the toy runs of the first program (documents of 150 words, file order)."""
    folder = data_dir / "trec_dd" / "cubetest2014_toy"
    rows = [line.split() for line in (folder / "gt.txt").read_bytes().splitlines()]
    topics, subtopics, documents, grades, _ = zip(*rows, strict=True)
    qrels = Qrels.from_columns(topics, subtopics, documents, np.array(grades, np.int32), aspects=True)
    checked = 0
    for output in sorted((folder / "official_output").iterdir()):
        lines = (folder / "runs" / f"{output.stem}.txt").read_text().splitlines()
        run = Run.from_dict({"1": [line.split()[2] for line in lines]})
        lists: Lists = judge(qrels, run).lists
        with output.open() as file:
            printed = list(csv.reader(file))
        for header, values in pairwise(printed):
            if header[0] == "runid":
                k = int(header[2].partition("@")[2])
                for name, expected in zip(("CT", "ACT"), values[2:], strict=True):
                    actual = (measure(name)(preset="trec-dd-2014") @ k).evaluate(lists)[0]
                    assert f"{actual:.10f}" == expected, (output.stem, name, k)
                    checked += 1
    assert checked == 3 * 6 * 2
