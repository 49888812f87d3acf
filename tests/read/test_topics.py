"""Some of the topics: named, in ranges, in a file; the same values as when all are evaluated."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.judging import judge
from rankscope.read import open_collection
from rankscope.read.topics import select_topics
from rankscope.scores import score


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("topics") / "made"
    rs.simulate(systems=3, topics=12, grades=3, depth=40, seed=5, pool_depth=20, aspects=3).write(root)
    return root


def test_names_ranges_and_files(tmp_path: Path) -> None:
    topics = ["1", "2", "3", "10", "wt-1"]
    assert select_topics("2-10", topics) == ("2", "3", "10")
    assert select_topics(" wt-1 , 1 ", topics) == ("1", "wt-1")
    (tmp_path / "some").write_text("# hard ones\n10 word\n\n1-2\n")
    assert select_topics(str(tmp_path / "some"), topics) == ("1", "2", "10")
    for text, message in (("7", "topic '7' has no judgments"), ("4-9", "'4-9'"), (",", "no topic is named")):
        with pytest.raises(InputError, match=message):
            select_topics(text, topics)
    (tmp_path / "bad").write_text("1\nwt-2\n")
    with pytest.raises(InputError, match=r"bad: topic 'wt-2' has no judgments; did you mean wt-1\?"):
        select_topics(str(tmp_path / "bad"), topics)


@pytest.mark.parametrize("name", ["qrels.txt", "qrels.diversity.txt"])
def test_values_are_those_of_all_topics(folder: Path, name: str) -> None:
    measures = [rs.measure(m) for m in ("AP", "Twist", "alpha_nDCG@10", "ERR_IA", "infAP")]
    diverse = name != "qrels.txt"
    measures = measures if diverse else [m for m in measures if not m.needs_aspects]
    paths = folder / name, folder / "runs"
    complete = rs.evaluate(*paths, measures)
    collection = open_collection(*paths, needs_aspects=diverse, topics="303,305-308,312")
    assert collection.settings["chosen_topics"] == ["303", "305", "306", "307", "308", "312"]
    judged = judge(*collection)
    assert judged.ignored_topics == {}
    scores = score(judged, measures)
    kept = [complete.topics.index(topic) for topic in scores.topics]
    assert np.array_equal(scores.values, complete.values[:, :, kept], equal_nan=True)
    assert np.array_equal(complete.with_topics(scores.topics).values, scores.values, equal_nan=True)


def test_a_run_that_lacks_the_chosen_topics_is_of_the_same_collection(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("301 Q0 d1 1 1.0 t\n")
    judged = judge(*open_collection(folder / "qrels.txt", tmp_path / "one.txt", topics="302"))
    assert not judged.present.any()
    (tmp_path / "other.txt").write_text("999 Q0 d1 1 1.0 t\n")
    with pytest.raises(InputError, match="no topic in common"):
        judge(*open_collection(folder / "qrels.txt", tmp_path / "other.txt", topics="302"))


def test_a_file_of_many_overlapping_ranges_takes_time_in_proportion_to_its_lines(tmp_path: Path) -> None:
    """Comparing every range with every topic once took minutes for 30,000 ranges."""
    topics = [str(number) for number in range(30_000)]
    (tmp_path / "topics.txt").write_text("".join(f"{first}-29998\n" for first in range(1, 29_999)))
    start = time.process_time()
    assert select_topics(str(tmp_path / "topics.txt"), topics) == tuple(topics[1:-1])
    assert time.process_time() - start < 5
