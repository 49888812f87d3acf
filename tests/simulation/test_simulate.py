"""Synthetic collections: deterministic, written whole, and like the real ones."""

from __future__ import annotations

import argparse
import gzip
import hashlib
import shutil
from pathlib import Path

import numpy as np
import pytest

import rankscope as rs
from rankscope.cli import simulate as command
from rankscope.errors import InputError, SettingsError
from rankscope.progress import silence
from rankscope.simulation import SimulatedCollection, simulate
from rankscope.simulation.collection import format_run_lines
from rankscope.simulation.model import RandomStream


def average_precision(collection: SimulatedCollection) -> np.ndarray:
    """Systems x topics, from the definition: mean over relevant documents of the precision at their ranks."""
    values = np.zeros((len(collection.systems), len(collection.topics)))
    for row, name in enumerate(collection.systems):
        for column, topic in enumerate(collection.topics):
            relevant = {document for document, grade in collection.qrels[topic].items() if grade > 0}
            n_relevant = 0
            for rank, document in enumerate(collection.runs[name].get(topic, {}), start=1):
                if document in relevant:
                    n_relevant += 1
                    values[row, column] += n_relevant / rank
            values[row, column] /= len(relevant)
    return values


def unjudged_share(collection: SimulatedCollection, depth: int) -> float:
    counts = [
        [document in collection.qrels[topic] for document in list(documents)[:depth]]
        for run in collection.runs.values()
        for topic, documents in run.items()
    ]
    return 1 - sum(map(sum, counts)) / sum(map(len, counts))


def recall(collection: SimulatedCollection, depth: int) -> float:
    shares = []
    for run in collection.runs.values():
        for topic, documents in run.items():
            relevant = {document for document, grade in collection.qrels[topic].items() if grade > 0}
            shares.append(len(relevant.intersection(list(documents)[:depth])) / len(relevant))
    return float(np.mean(shares))


@pytest.fixture(scope="module")
def ordinary() -> SimulatedCollection:
    return simulate(systems=30, topics=50, depth=500, seed=1)


@pytest.fixture(scope="module")
def ap(ordinary: SimulatedCollection) -> np.ndarray:
    return average_precision(ordinary)


def test_mean_ap_spreads_like_trec(ap: np.ndarray) -> None:
    means = ap.mean(axis=1)
    assert 0.01 < means.min() < 0.1
    assert 0.22 < means.max() < 0.4
    assert 0.13 < np.median(means) < 0.25


def test_systems_and_topics_agree_but_not_fully(ap: np.ndarray) -> None:
    of_systems = np.corrcoef(ap)[np.triu_indices(len(ap), 1)]
    of_topics = np.corrcoef(ap.T)[np.triu_indices(ap.shape[1], 1)]
    assert 0.4 < np.median(of_systems) < 0.8
    assert 0.2 < np.median(of_topics) < 0.6


def test_relatives_err_together(ordinary: SimulatedCollection, ap: np.ndarray) -> None:
    # the residuals of system and topic effects are more similar within a family
    residual = ap - ap.mean(axis=1, keepdims=True) - ap.mean(axis=0) + ap.mean()
    family = np.array([name.rsplit("-", 1)[0] for name in ordinary.systems])
    upper = np.triu_indices(len(ap), 1)
    alike = (family[:, None] == family)[upper]
    agreement = np.corrcoef(residual)[upper]
    assert agreement[alike].mean() > agreement[~alike].mean() + 0.05


def test_recall_bases_have_a_heavy_tail(ordinary: SimulatedCollection) -> None:
    bases = sorted(sum(grade > 0 for grade in judged.values()) for judged in ordinary.qrels.values())
    assert bases[0] >= 1
    assert 1.05 * np.median(bases) < np.mean(bases) < 1.3 * np.median(bases)
    assert bases[-1] > 2 * np.median(bases)


def test_judged_shares_and_recall_are_those_of_real_runs() -> None:
    # 24 runs of the first round of TREC-COVID: .86, .39, .12 (median) judged; recall .08, .29, .54
    collection = simulate(topics=25)
    judged = [1 - unjudged_share(collection, depth) for depth in (10, 100, 1000)]
    values = [recall(collection, depth) for depth in (10, 100, 1000)]
    assert judged == pytest.approx([0.90, 0.42, 0.125], abs=0.04)
    assert values == pytest.approx([0.08, 0.29, 0.54], abs=0.04)


def test_lists_differ_in_length_and_have_ties_and_gaps(ordinary: SimulatedCollection) -> None:
    lengths = [len(documents) for run in ordinary.runs.values() for documents in run.values()]
    assert max(lengths) == 500
    assert 0.02 < np.mean(np.array(lengths) < 500) < 0.3
    assert any(len(run) < 50 for run in ordinary.runs.values())
    assert all(len(run) > 40 for run in ordinary.runs.values())
    tied = sum(
        len(documents) - len(set(documents.values()))
        for run in ordinary.runs.values()
        for documents in run.values()
    )
    assert 0.02 < tied / sum(lengths) < 0.2


def test_scores_never_rise_along_a_list(ordinary: SimulatedCollection) -> None:
    for run in ordinary.runs.values():
        for documents in run.values():
            scores = list(documents.values())
            assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("grades", [2, 3, 4, 5])
def test_grades(grades: int) -> None:
    collection = simulate(systems=7, topics=20, depth=100, grades=grades)
    counts = np.bincount([grade for judged in collection.qrels.values() for grade in judged.values()])
    assert len(counts) == grades
    # as in TREC-COVID (6,339 of grade 0, 1,115 of 1, 1,237 of 2): the pool finds the best of the relevant sooner
    assert counts[0] > counts[1:].sum()
    assert counts[1:].max() < 1.2 * counts[1]
    assert (np.diff(counts[2:]) < 0).all()


def test_every_topic_has_a_relevant_document_even_with_a_tiny_pool() -> None:
    collection = simulate(systems=1, topics=60, depth=3, pool_depth=1)
    assert all(max(judged.values()) > 0 for judged in collection.qrels.values())


def test_more_systems_or_topics_leave_the_lists_as_they_were() -> None:
    small = simulate(systems=3, topics=4, depth=50, seed=5)
    large = simulate(systems=8, topics=9, depth=50, seed=5)
    for name in small.systems:
        assert {topic: large.runs[name][topic] for topic in small.runs[name]} == small.runs[name]
    for topic in small.topics:
        assert small.qrels[topic].items() <= large.qrels[topic].items()


def test_deep_lists_and_aspects_do_not_repeat_documents() -> None:
    collection = simulate(systems=2, topics=2, depth=4000, aspects=2)
    assert [len(documents) for documents in collection.runs["dense-1"].values()] == [4000, 4000]
    names = {name for run in collection.runs.values() for name in run["301"]}
    assert not names & {name for run in collection.runs.values() for name in run["302"]}


def test_aspects_agree_with_the_grades() -> None:
    collection = simulate(systems=6, topics=10, depth=200, aspects=4, grades=4)
    for topic, judged in collection.diversity.items():
        assert all(list(grades) == ["1", "2", "3", "4"] for grades in judged.values())
        assert {doc: max(grades.values()) for doc, grades in judged.items()} == collection.qrels[topic]
    several = sum(
        sum(grade > 0 for grade in grades.values()) > 1
        for judged in collection.diversity.values()
        for grades in judged.values()
    )
    assert several > 0
    assert simulate(systems=1, topics=1, depth=5).diversity == {}


def test_aspects_in_memory_are_read_like_the_file(tmp_path: Path) -> None:
    collection = simulate(systems=6, topics=4, depth=50, aspects=3)
    folder = collection.write(tmp_path / "new")
    from_file = rs.evaluate(folder / "qrels.diversity.txt", folder / "runs", "StRec@10 alpha_nDCG@20")
    in_memory = rs.evaluate(collection.diversity, collection.runs, "StRec@10 alpha_nDCG@20")
    assert in_memory.means() == from_file.means()
    assert in_memory.mean("StRec@10").max() > 0


def test_sparse_judgments() -> None:
    collection = simulate(systems=2, topics=200, depth=100, sparse=True)
    sizes = [len(judged) for judged in collection.qrels.values()]
    assert set(sizes) == {1, 2}
    assert all(grade > 0 for judged in collection.qrels.values() for grade in judged.values())
    # one relevant document: AP is the reciprocal rank
    assert 0.1 < average_precision(collection)[1].mean() < 0.5


def digest(directory: Path) -> str:
    parts = hashlib.sha256()
    for path in sorted(directory.rglob("*.txt")):
        parts.update(path.relative_to(directory).as_posix().encode() + b"\0" + path.read_bytes())
    return parts.hexdigest()


def test_the_same_bytes_everywhere(tmp_path: Path) -> None:
    folder = simulate(systems=9, topics=4, depth=60, seed=3, aspects=2).write(tmp_path / "made")
    # a constant: it must hold on every machine and version of numpy
    assert digest(folder) == "51c59e5a51a3e040d969558fdc5c037c592697a62987864801c9a0ca9fee1bc3"


def test_files_hold_what_memory_holds(tmp_path: Path) -> None:
    collection = simulate(systems=9, topics=5, depth=80, seed=2, aspects=2)
    folder = collection.write(tmp_path / "new" / "made")
    assert sorted(path.name for path in folder.iterdir()) == ["qrels.diversity.txt", "qrels.txt", "runs"]
    judged: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.txt").read_text().splitlines():
        topic, _, document, grade = line.split(" ")
        judged.setdefault(topic, {})[document] = int(grade)
    assert judged == collection.qrels
    aspects: dict[str, dict[str, dict[str, int]]] = {}
    for line in (folder / "qrels.diversity.txt").read_text().splitlines():
        topic, aspect, document, grade = line.split(" ")
        aspects.setdefault(topic, {}).setdefault(document, {})[aspect] = int(grade)
    assert aspects == collection.diversity
    for name in collection.systems:
        values: dict[str, dict[str, float]] = {}
        for line in (folder / "runs" / f"{name}.txt").read_text().splitlines():
            topic, q0, document, rank, score, run = line.split(" ")
            values.setdefault(topic, {})[document] = float(score)
            assert (q0, run, int(rank)) == ("Q0", name, len(values[topic]))
        assert values == collection.run(name)


def test_compressed_files_hold_the_same(tmp_path: Path) -> None:
    collection = simulate(systems=2, topics=2, depth=20)
    plain = collection.write(tmp_path / "plain")
    packed = collection.write(tmp_path / "packed", compress=True)
    repeated = collection.write(tmp_path / "again", compress=True)
    for name in collection.systems:
        data = (packed / "runs" / f"{name}.txt.gz").read_bytes()
        assert gzip.decompress(data) == (plain / "runs" / f"{name}.txt").read_bytes()
        assert data == (repeated / "runs" / f"{name}.txt.gz").read_bytes()


def test_an_empty_directory_is_filled_and_a_full_one_refused(tmp_path: Path) -> None:
    collection = simulate(systems=1, topics=1, depth=5)
    collection.write(tmp_path / "made")
    with pytest.raises(InputError, match="made: exists and is not an empty directory; give a new directory"):
        collection.write(tmp_path / "made")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="not an empty directory"):
        collection.write(tmp_path / "file")
    with pytest.raises(InputError, match="cannot be written"):
        collection.write(tmp_path / "file" / "below")
    (tmp_path / "empty").mkdir()
    assert (collection.write(tmp_path / "empty") / "qrels.txt").stat().st_size > 0


def test_a_failure_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match="No space left on device"):
        simulate(systems=1, topics=1, depth=5).write(tmp_path / "made")
    assert list(tmp_path.iterdir()) == []


def test_wrong_settings_are_refused() -> None:
    for wrong in (
        {"systems": 0},
        {"topics": -1},
        {"grades": 1},
        {"depth": 0},
        {"seed": -1},
        {"pool_depth": 0},
    ):
        with pytest.raises(
            SettingsError, match=f"{next(iter(wrong))} is .*; give a whole number of at least"
        ):
            simulate(**wrong)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="grades is 11"):
        simulate(grades=11)
    with pytest.raises(SettingsError, match="depth is 1000001; give at most 1,000,000 documents"):
        simulate(depth=1_000_001)
    with pytest.raises(SettingsError, match=r"topics is 2\.5"):
        simulate(topics=2.5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no run 'bm26'"):
        simulate(systems=1, topics=1, depth=1).run("bm26")


def test_random_streams_are_nearly_normal_and_skewed() -> None:
    bell = RandomStream(1).normal(200_000)
    assert abs(bell.mean()) < 0.01
    assert abs(bell.std() - 1) < 0.01
    assert abs(np.mean(np.abs(bell) < 1) - 0.6827) < 0.02
    skewed = RandomStream(2).log_normal(100_000, 0.9)
    assert (skewed >= 0).all()
    assert abs(np.median(skewed) - 1) < 0.02
    uniform = RandomStream(3).uniform(100_000)
    assert 0 <= uniform.min() < 0.001
    assert 0.999 < uniform.max() < 1


def test_lines_equal_plain_formatting() -> None:
    numbers = np.array([0, 99999999, 10203040, 5] * 3000)
    ticks = np.arange(len(numbers)) ** 2
    lines = format_run_lines("301", numbers, 8, ticks, 3, "x").decode()
    expected = "".join(
        f"301 Q0 doc-{number:08d} {rank} {tick // 1000}.{tick % 1000:03d} x\n"
        for rank, (number, tick) in enumerate(zip(numbers.tolist(), ticks.tolist(), strict=True), start=1)
    )
    assert lines == expected


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    folder = tmp_path / "a place"
    sizes = ["--systems", "3", "--topics", "2", "--depth", "30", "--seed", "4", "--gzip"]
    command.run(parser.parse_args([str(folder), *sizes]))
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{folder}: 3 runs, 2 topics, ")
    assert f"'{folder / 'qrels.txt'}'" in second
    assert len(list((folder / "runs").glob("*.txt.gz"))) == 3
    shutil.rmtree(folder)
    command.run(parser.parse_args([str(folder), "--quiet", *sizes]))
    silence(False)
    assert capsys.readouterr().out == ""
