"""The short way of eval: the same bytes as the usual one, without numpy; what is unusual takes the usual one."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.cli import eval as command
from rankscope.cli import short_way
from rankscope.cli.main import main

pytestmark = pytest.mark.needs("native")

MEASURES = "AP nDCG nDCG@10 P@10 RR Rprec Bpref R@5 Success@1 SetF Judged@10 NumRet DCG(discount='log2')@7"


class Ways:
    """Runs eval in this process, by either way, and says which was taken."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.patch = patch
        self.taken = False

    def output(self, words: list[str], *, short: bool) -> tuple[int, bytes, bool]:
        """The exit code, what was written, and whether the short way was taken."""
        place = Path(words[0]).parent / f"out-{short}.csv"
        place.unlink(missing_ok=True)
        with self.patch.context() as patch:
            taken = []

            def way(args: Any) -> Any:
                found = short_way.short_way(args) if short else None
                taken.append(found is not None)
                return found

            patch.setattr(command, "short_way", way)
            code = main(["eval", *words, "-o", str(place)])
        return code, place.read_bytes() if place.exists() else b"", any(taken)


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> Ways:
    return Ways(monkeypatch)


def run_text(seed: int, topics: range | list[int] = range(301, 309), lines: int = 60) -> str:
    chance = random.Random(seed)
    rows = []
    for topic in topics:
        scores = sorted((chance.random() for _ in range(lines)), reverse=True)
        documents = chance.sample(range(100), lines)
        rows += [
            f"{topic} Q0 d{d} {i} {score:.7f} run{seed}\n"
            for i, (d, score) in enumerate(zip(documents, scores, strict=True))
        ]
    return "".join(rows)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    chance = random.Random(5)
    rows = [
        f"{topic} 0 d{d} {chance.choice((0, 0, 0, 1, 2, 3))}\n"
        for topic in range(301, 309)
        for d in range(90)
    ]
    (tmp_path / "qrels.txt").write_text("".join(rows))
    (tmp_path / "runs").mkdir()
    for seed in range(3):
        (tmp_path / "runs" / f"r{seed}.run").write_text(run_text(seed))
    return tmp_path


def words(place: Path, *more: str, runs: str = "runs") -> list[str]:
    return [str(place / "qrels.txt"), str(place / runs), "-m", MEASURES, *more]


@pytest.mark.parametrize(
    "more",
    [
        ("-q",),
        (),
        ("-q", "-f", "tsv"),
        ("-f", "tsv"),
        ("-q", "-l", "2"),
        ("-q", "--order", "rank"),
        ("-q", "--order", "file", "-j", "1"),
        ("-q", "--missing", "skip"),
        ("-q", "--quiet", "--seed", "7"),
    ],
    ids=" ".join,
)
def test_the_bytes_are_the_same(place: Path, ways: Ways, more: tuple[str, ...]) -> None:
    usual = ways.output(words(place, *more), short=False)
    short = ways.output(words(place, *more), short=True)
    assert usual[:2] == short[:2] and short[0] == 0 and short[1]
    assert (usual[2], short[2]) == (False, True)


@pytest.mark.parametrize(
    "more",
    [
        ("--ties", "expected"),
        ("--unjudged", "condense"),
        ("-q", "-f", "json"),
        ("-f", "table"),
        ("-f", "latex"),
        ("--ci",),
        ("--sort", "AP"),
        ("--topics", "301,302"),
        ("-q", "-m", "RBP Twist"),
        ("-m", "GMAP"),
        ("-m", "alpha_nDCG@10"),
        ("-m", "nDCG(gains='exp2')@5"),
        ("-m", "AP(judged_only=True)"),
        ("--grades", "0=0;1,2,3=1"),
        ("--input-format", "runs=trec"),
        ("--engine", "local"),
        ("-m", "no-such-measure"),
    ],
    ids=" ".join,
)
def test_the_rest_takes_the_usual_way(
    place: Path, ways: Ways, more: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    asked = words(place, *more)
    usual = ways.output(asked, short=False), capsys.readouterr().err
    short = ways.output(asked, short=True), capsys.readouterr().err
    assert short == usual and not short[0][2]


def change(name: str) -> Callable[[Path], None]:
    """Something unusual about the files of a collection."""

    def missing_topic(place: Path) -> None:
        (place / "runs" / "r1.run").write_text(run_text(1, range(301, 306)))

    def unknown_topic(place: Path) -> None:
        (place / "runs" / "r1.run").write_text(run_text(1, range(301, 312)))

    def disjoint(place: Path) -> None:
        (place / "runs" / "r1.run").write_text(run_text(1, range(1, 4)))

    def returning(place: Path) -> None:
        lines = run_text(1).splitlines(keepends=True)
        (place / "runs" / "r1.run").write_text("".join([*lines[30:], *lines[:30]]))

    def wrong_line(place: Path) -> None:
        with (place / "runs" / "r2.run").open("a") as file:
            file.write("301 Q0 d1\n")

    def twice(place: Path) -> None:
        with (place / "runs" / "r2.run").open("a") as file:
            file.write("309 Q0 d1 1 2.0 x\n309 Q0 d1 2 1.0 x\n")

    def tied(place: Path) -> None:
        text = "".join(f"{t} Q0 d{d} 1 0.5 x\n" for t in range(301, 309) for d in range(20))
        (place / "runs" / "r1.run").write_text(text)

    def unjudged(place: Path) -> None:
        text = "".join(f"{t} Q0 x{d} 1 {20 - d} x\n" for t in range(301, 309) for d in range(20))
        (place / "runs" / "r1.run").write_text(text)

    def header(place: Path) -> None:
        text = "# ir_metadata.start\n# tag: better\n# ir_metadata.end\n" + run_text(1)
        (place / "runs" / "r1.run").write_text(text)

    def packed(place: Path) -> None:
        (place / "runs" / "r3.run.gz").write_bytes(gzip.compress(run_text(3).encode()))

    def another_format(place: Path) -> None:
        (place / "runs" / "r3.csv").write_text("qid,docno,score\n301,d1,2\n")

    def empty(place: Path) -> None:
        (place / "runs" / "r3.run").write_text("")

    def folder(place: Path) -> None:
        (place / "runs" / "r4").mkdir()

    def link(place: Path) -> None:
        os.link(place / "runs" / "r0.run", place / "runs" / "again.run")

    def aspects(place: Path) -> None:
        rows = (place / "qrels.txt").read_text().splitlines()
        text = "".join(f"{row.replace(' 0 ', f' {i % 2} ', 1)}\n" for i, row in enumerate(rows))
        (place / "qrels.txt").write_text(text)

    def judged_twice(place: Path) -> None:
        with (place / "qrels.txt").open("a") as file:
            file.write("301 0 d1 0\n301 0 d1 1\n")

    def negative(place: Path) -> None:
        with (place / "qrels.txt").open("a") as file:
            file.write("301 0 d95 -1\n302 0 d96 -2\n")

    def formulas(place: Path) -> None:
        (place / "runs" / "r1.run").rename(place / "runs" / '=1+"2",3.run')

    def no_relevant_document(place: Path) -> None:
        with (place / "qrels.txt").open("a") as file:
            file.write("400 0 d1 0\n401 0 d1 -1\n")

    def byte_order_mark(place: Path) -> None:
        (place / "runs" / "r1.run").write_bytes(b"\xef\xbb\xbf" + run_text(1).encode())

    def other_bytes(place: Path) -> None:
        text = (place / "qrels.txt").read_bytes() + b"q\xe9 0 d1 1\n"
        (place / "qrels.txt").write_bytes(text)

    def windows(place: Path) -> None:
        (place / "runs" / "r1.run").write_bytes(run_text(1).replace("\n", "\r\n").encode())

    found = locals()[name]
    return lambda place: found(place)


CHANGES = {
    "missing_topic": True,
    "unknown_topic": True,
    "returning": False,
    "wrong_line": False,
    "twice": False,
    "disjoint": False,
    "tied": True,
    "unjudged": True,
    "header": False,
    "packed": False,
    "another_format": False,
    "empty": False,
    "folder": False,
    "link": False,
    "aspects": False,
    "judged_twice": False,
    "negative": True,
    "formulas": True,
    "no_relevant_document": True,
    "byte_order_mark": False,
    "other_bytes": True,
    "windows": None,
}
"""What is unusual, and whether the short way can do it when nobody wants notes (None: never mind)."""


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("quiet", [True, False])
def test_unusual_files(
    place: Path, ways: Ways, name: str, quiet: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    change(name)(place)
    asked = words(place, "-q", *(["--quiet"] if quiet else []))
    usual = ways.output(asked, short=False), capsys.readouterr().err
    short = ways.output(asked, short=True), capsys.readouterr().err
    assert short[0][:2] == usual[0][:2] and short[1] == usual[1]
    if quiet and CHANGES[name] is not None:
        assert short[0][2] == CHANGES[name]
    if short[0][2]:
        assert short[1] == ""  # what somebody should know is said by the usual way


@pytest.mark.parametrize("unjudged", range(8, 25))
@pytest.mark.parametrize("tied", [0, 7, 8, 9])
def test_both_ways_agree_on_what_is_worth_a_note(
    tmp_path: Path, ways: Ways, unjudged: int, tied: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Around the limits of :mod:`rankscope.judging.shares`: 80 documents, of which so many are unjudged, or tied."""
    (tmp_path / "qrels.txt").write_text("".join(f"{t} 0 d{d} {d % 2}\n" for t in range(8) for d in range(10)))
    rows = []
    for place in range(80):
        topic, rank = divmod(place, 10)
        document = f"x{rank}" if place < unjudged else f"d{rank}"
        score = 5 if place < tied and topic == 0 else 100 - rank
        rows.append(f"{topic} Q0 {document} {rank} {score} t\n")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a.run").write_text("".join(rows))
    asked = words(tmp_path, "-q")
    usual = ways.output(asked, short=False)[:2], capsys.readouterr().err
    found = ways.output(asked, short=True)
    assert (found[:2], capsys.readouterr().err) == usual
    assert found[2] == (usual[1] == "")


def test_missing_topics_are_skipped_by_the_usual_way(place: Path, ways: Ways) -> None:
    change("missing_topic")(place)
    asked = words(place, "-q", "--missing", "skip", "--quiet")
    assert ways.output(asked, short=True)[:2] == ways.output(asked, short=False)[:2]
    assert not ways.output(asked, short=True)[2]


@given(st.data())
def test_random_collections(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    place = tmp_path_factory.mktemp("random")
    topics = data.draw(
        st.lists(st.sampled_from(["1", "2", "10", "q7", "a"]), min_size=1, max_size=4, unique=True)
    )
    documents = st.sampled_from([f"d{i}" for i in range(12)])
    graded = st.dictionaries(documents, st.integers(-2, 4), min_size=1, max_size=12)
    scored = st.dictionaries(documents, st.integers(0, 9).map(lambda n: n / 4), max_size=12)
    text = [
        f"{topic} 0 {document} {grade}\n" for topic in topics for document, grade in data.draw(graded).items()
    ]
    (place / "qrels.txt").write_text("".join(text))
    (place / "runs").mkdir()
    for number in range(data.draw(st.integers(1, 3))):
        rows = [
            f"{topic} Q0 {document} {rank} {score} t\n"
            for topic in [*topics, "extra"]
            for rank, (document, score) in enumerate(data.draw(scored).items())
        ]
        (place / "runs" / f"{number}.run").write_text("".join(rows))
    with pytest.MonkeyPatch.context() as patch:
        ways = Ways(patch)
        asked = words(place, "-q", "--quiet")
        usual, short = ways.output(asked, short=False), ways.output(asked, short=True)
    assert usual[:2] == short[:2]


def started(place: Path, *more: str, code: str = "") -> subprocess.CompletedProcess[str]:
    """The program in a process of its own, which says at its end whether numpy was loaded."""
    program = (
        "import sys, atexit\natexit.register(lambda: sys.stderr.write(f'numpy {\"numpy._core\" in sys.modules}\\n'))\n"
        f"{code}\nfrom rankscope.__main__ import program\nsys.exit(program())"
    )
    return subprocess.run(
        [sys.executable, "-c", program, "eval", *words(place, *more)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_numpy_is_not_loaded(place: Path) -> None:
    done = started(place, "-q")
    assert (done.returncode, done.stderr) == (0, "numpy False\n")
    assert done.stdout.count("\n") == 3 * 9 * 13 + 1


def test_numpy_is_loaded_where_it_is_needed(place: Path) -> None:
    done = started(place, "-q", "-m", "Twist")
    assert (done.returncode, done.stderr) == (0, "numpy True\n")
    assert "Twist" in done.stdout


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize("name", ["qrels.txt", "runs/r1.run"])
def test_pipes_are_read_once(place: Path, name: str) -> None:
    files = [place / "qrels.txt", *sorted((place / "runs").iterdir())]
    asked = [sys.executable, "-m", "rankscope", "eval", *map(str, files), "-q", "--quiet", "-m", MEASURES]
    expected = subprocess.run(asked, capture_output=True, check=True).stdout
    text = (place / name).read_bytes()
    (place / name).unlink()
    os.mkfifo(place / name)
    writer = threading.Thread(target=(place / name).write_bytes, args=(text,))
    writer.start()
    assert subprocess.run(asked, capture_output=True, check=True).stdout == expected
    writer.join()


def test_a_file_that_changes_is_read_by_the_usual_way(
    place: Path, ways: Ways, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rankscope.scan import ahead

    wait_for = ahead._Ahead.wait_for

    def late(self: ahead._Ahead, number: int) -> None:
        wait_for(self, number)
        (place / "runs" / "r1.run").write_text(run_text(9))

    before = ways.output(words(place, "-q", "--quiet"), short=False)
    monkeypatch.setattr(ahead._Ahead, "wait_for", late)
    after = ways.output(words(place, "-q", "--quiet"), short=True)
    assert not after[2] and after[1] != before[1]
    assert after[1] == ways.output(words(place, "-q", "--quiet"), short=False)[1]
