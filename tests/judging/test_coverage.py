"""Coverage of aspects by rank is StRec at every cutoff, and begins where a document of the aspect stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.errors import InputError, SettingsError


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """Four topics of up to four aspects, one of them without a relevant document; a run lacks a topic."""
    rng = np.random.default_rng(4)
    lines = [
        f"{topic} {aspect} d{document} {int(topic != 4 and rng.random() < 0.15)}"
        for topic in (1, 2, 3, 4)
        for aspect in (1, 2, 3, 4)
        for document in range(30)
    ]
    path = tmp_path_factory.mktemp("aspects") / "qrels.txt"
    path.write_text("\n".join(lines))
    runs = {
        name: {str(t): [f"d{k}" for k in rng.permutation(40)] for t in (1, 2, 3, 4) if (name, t) != ("b", 2)}
        for name in "abc"
    }
    return path, runs


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_coverage_is_subtopic_recall_at_every_rank(files: tuple[Path, Any], missing: str) -> None:
    result = rs.Collection(*files, missing=missing).coverage()
    ranks = range(1, 41)
    scores = rs.evaluate(*files, [f"StRec@{k}" for k in ranks], missing=missing)
    steps: dict[str, dict[int, float]] = {}
    for run, rank, value in result["coverage"].rows:
        steps.setdefault(run, {})[rank] = value
    for r, run in enumerate(scores.runs):
        assert 1 in steps[run]
        value, before = 0.0, None
        for k in ranks:
            value = steps[run].get(k, value)
            assert value == pytest.approx(scores.mean(f"StRec@{k}")[r], abs=1e-12)
            if k > 1 and k in steps[run]:
                assert value > before, "a row where nothing rises"
            before = value


def test_aspects_begin_at_their_first_relevant_document(files: tuple[Path, Any]) -> None:
    path, runs = files
    relevant: dict[tuple[str, str], set[str]] = {}
    for line in path.read_text().splitlines():
        topic, aspect, document, grade = line.split()
        if grade == "1":
            relevant.setdefault((topic, aspect), set()).add(document)
    rows = rs.Collection(path, runs).coverage()["aspects"].rows
    assert {(topic, aspect) for topic, aspect, _, _ in rows} == relevant.keys()
    for topic, aspect, run, rank in rows:
        ranking = runs[run].get(topic, [])
        first = next((k for k, d in enumerate(ranking, 1) if d in relevant[topic, aspect]), None)
        assert rank == first
    assert {row[0] for row in rs.Collection(path, runs).coverage("3")["aspects"].rows} == {"3"}


def test_coverage_without_the_topic_or_aspects_raises(files: tuple[Path, Any]) -> None:
    with pytest.raises(SettingsError, match="no topic '9'"):
        rs.Collection(*files).coverage("9")
    with pytest.raises(InputError, match="no aspects"):
        rs.Collection({"q": {"a": 1}}, {"x": {"q": ["a"]}}).coverage()
    for options in ({"ties": "best"}, {"unjudged": "condense"}):
        collection = rs.Collection(*files, **options)  # type: ignore[arg-type]
        for method in (collection.coverage, collection.describe):
            with pytest.raises(SettingsError, match=f"does not honour {next(iter(options))}="):
                method()
