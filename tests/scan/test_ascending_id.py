"""The ordering ``ascending_id``: every way to read a run agrees with sorting by score and then by ascending id."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import rankscope as rs
from rankscope.judging.rows import ListRows
from rankscope.read import Qrels, Run, read_runs
from rankscope.scan import RunHits, scan_run, scan_text
from rankscope.scan.documents import top_lists

ORDER = "ascending_id"
Lists = dict[str, dict[str, float]]


def simulate(seed: int) -> tuple[Lists, Qrels]:
    """Lists with many ties, and ids whose first eight bytes agree, or of which one is the start of another."""
    rng = np.random.default_rng(seed)
    starts = ["", "d", "clueweb09-en0000-", "é", "\U0001f600", "x" * 40]
    lists: Lists = {}
    judged: dict[str, dict[str, int]] = {}
    for topic in ("1", "2", "3"):
        size = int(rng.choice([3, 20, 200]))
        numbers = rng.permutation(3 * size)[:size].tolist()
        names = [f"{starts[n % len(starts)]}{n}" for n in numbers]
        levels = rng.choice([0.0, -0.0, 1.0, 1.00000001, 2.5, np.inf], size)
        if seed % 2:  # a file in order of scores takes another path through the scanner
            levels = np.sort(levels)[::-1]
        lists[topic] = dict(zip(names, levels.tolist(), strict=True))
        judged[topic] = {name: int(rng.integers(3)) for name in names if rng.random() < 0.4}
        judged[topic]["never retrieved"] = 1
    return lists, Qrels.from_dict(judged)


def sorted_plainly(scores: dict[str, float]) -> list[str]:
    return sorted(scores, key=lambda name: (-scores[name], name.encode()))


def expected(lists: Lists, qrels: Qrels) -> list[tuple[str, int, str]]:
    judged = {t: {d.decode() for d in document_ids(qrels, t)} for t in qrels.topics}
    return [
        (topic, rank, name)
        for topic, scores in lists.items()
        for rank, name in enumerate(sorted_plainly(scores), 1)
        if name in judged[topic]
    ]


def document_ids(qrels: Qrels, topic: str) -> list[bytes]:
    t = qrels.topic_index[topic]
    return qrels.documents[int(qrels.topic_offsets[t]) : int(qrels.topic_offsets[t + 1])]


def found_by(hits: RunHits, qrels: Qrels) -> list[tuple[str, int, str]]:
    topic = np.repeat(hits.topic, np.diff(hits.offsets)).tolist()
    return [
        (qrels.topics[t], rank, qrels.documents[judgment].decode())
        for t, rank, judgment in zip(topic, hits.rank.tolist(), hits.judgment.tolist(), strict=True)
    ]


def to_text(lists: Lists) -> bytes:
    lines = [f"{t} Q0 {d} 1 {s!r} run\n" for t, one in lists.items() for d, s in one.items()]
    return "".join(lines).encode()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("backend", [pytest.param("native", marks=pytest.mark.needs("native")), "python"])
def test_both_scanners_agree_with_a_plain_sort(seed: int, backend: str) -> None:
    lists, qrels = simulate(seed)
    hits = scan_text(to_text(lists), qrels, ORDER, backend=backend, ties=True)
    assert found_by(hits, qrels) == expected(lists, qrels)
    descending = scan_text(to_text(lists), qrels, "trec_eval", backend=backend, ties=True)
    assert hits.tied.tolist() == descending.tied.tolist()
    assert found_by(hits, qrels) != found_by(descending, qrels)


@pytest.mark.parametrize("seed", range(4))
def test_lists_in_memory_frames_rows_of_a_cluster_and_rankings_agree_with_a_plain_sort(
    tmp_path: Path, seed: int
) -> None:
    lists, qrels = simulate(seed)
    run = Run.from_dict(lists, "run", ORDER)
    columns = {
        "run": ["run"] * sum(map(len, lists.values())),
        "query_id": [topic for topic, item in lists.items() for _ in item],
        "doc_id": [name for item in lists.values() for name in item],
        "score": [score for item in lists.values() for score in item.values()],
    }
    assert found_by(scan_run(run, qrels), qrels) == expected(lists, qrels)
    assert found_by(scan_run(Run.from_frame(columns, order=ORDER), qrels), qrels) == expected(lists, qrels)
    rows = ListRows.from_table(pa.table(columns), qrels, ORDER)
    names = [rows.topics[i] for i in np.repeat(np.arange(len(rows)), np.diff(rows.offsets)).tolist()]
    documents = [qrels.documents[j].decode() for j in rows.judgment.tolist()]
    assert list(zip(names, rows.rank.tolist(), documents, strict=True)) == expected(lists, qrels)
    path = tmp_path / "run.txt"
    path.write_bytes(to_text(lists))
    for item in (run, read_runs(path, order=ORDER)["run"]):
        assert all(item.ranking(topic) == sorted_plainly(lists[topic]) for topic in lists)
        tops = {qrels.topics[t]: [d.decode() for d in result] for t, result, _ in top_lists(item, qrels, 7)}
        assert tops == {topic: sorted_plainly(lists[topic])[:7] for topic in lists}


def test_evaluation_in_pieces_and_the_command_use_the_ordering(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n1 0 b 0\n2 0 b 1\n2 0 a 0\n")
    (tmp_path / "r.txt").write_text("".join(f"{t} Q0 {d} 1 1.0 r\n" for t in (1, 2) for d in "ba"))
    rs.evaluate_into(tmp_path / "o.csv", tmp_path / "q", tmp_path / "r.txt", "RR", order=ORDER)
    assert (tmp_path / "o.csv").read_text().split() == ["run,topic,measure,value", "r,1,RR,1.0", "r,2,RR,0.5"]
    from rankscope.cli.main import main

    command = ["eval", str(tmp_path / "q"), str(tmp_path / "r.txt"), "-m", "RR", "-q", "-f", "csv", "--quiet"]
    assert main([*command, "--order", ORDER]) == 0
    assert "r,1,RR,1" in capsys.readouterr().out


def test_compat_has_the_values_of_the_program_of_its_authors() -> None:
    """Clarke's program sorts by id, then by score with a stable sort: of equal scores the smaller id comes first.

    Depth 1000, p = .95; the expected value is the definition summed term by term.
    """
    lists = {"1": {"b": 1.0, "a": 1.0, "c": 1.0}}
    weight = [0.95**i for i in range(1000)]
    ideal = sum(w / (i + 1) for i, w in enumerate(weight))  # the one relevant document at rank 1
    for relevant, rank in (("a", 1), ("b", 2), ("c", 3)):
        overlap = sum(w / (i + 1) for i, w in enumerate(weight) if i + 1 >= rank)
        run = {"r": Run.from_dict(lists, "r", ORDER)}
        got = rs.evaluate({"1": {relevant: 1}}, run, "Compat(depth=1000)").values.item()
        assert got == pytest.approx(overlap / ideal, rel=1e-12)
