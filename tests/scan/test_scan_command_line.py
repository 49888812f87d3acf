"""For any files and arguments, the command line prints a table or a one-line error, never a traceback."""

from __future__ import annotations

import contextlib
import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankscope.cli.main import main
from rankscope.read.orders import ORDERS

QRELS_WORDS = [b"1", b"2", b"0", b"d1", b"d2", b"-1", b"3", b"1.5", b"\xff", b"#", b"99999999999", b"\x00"]
RUN_WORDS = [
    b"1",
    b"2",
    b"Q0",
    b"d1",
    b"d2",
    b"0.5",
    b"-0.0",
    b"inf",
    b"nan",
    b"1e400",
    b"t",
    b"\xe9",
    b"#",
    b"x",
]
BREAKS = [b" ", b" ", b" ", b"\t", b"\n", b"\r\n", b"  "]
GOOD_QRELS = b"1 0 d1 2\n1 0 d2 0\n2 0 d1 1\n"
GOOD_RUN = b"1 Q0 d1 1 2 t\n1 Q0 d2 2 1 t\n2 Q0 d3 1 1 t\n"
MEASURES = [
    "AP",
    "nDCG@10",
    "P@5",
    "RBP(p=0.8)",
    "Twist",
    "Bpref",
    "P",
    "nDGC@10",
    "RBP(p=2)",
    "AP(rel=",
    "@",
    "AP@-1",
]


def garbled(good: bytes, words: list[bytes], size: int) -> st.SearchStrategy[bytes]:
    """A good file, one with a few bytes changed, lines of random words, or any bytes; sometimes gzipped or cut."""
    row = st.lists(st.sampled_from(words), min_size=size, max_size=size).map(b" ".join)
    mess = st.lists(
        st.tuples(st.sampled_from(words), st.sampled_from(BREAKS)).map(b"".join), max_size=30
    ).map(b"".join)
    changed = st.tuples(st.integers(0, len(good)), st.binary(max_size=3)).map(
        lambda change: good[: change[0]] + change[1] + good[change[0] + 1 :]
    )
    plain = st.one_of(
        st.just(good), changed, st.lists(row, max_size=6).map(b"\n".join), mess, st.binary(max_size=80)
    )
    packed = st.tuples(plain, st.integers(0, 12)).map(lambda pair: gzip.compress(pair[0])[: -pair[1] or None])
    return st.one_of(plain, plain, plain, packed)


def answer(arguments: list[str]) -> tuple[int, str, str]:
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", "surrogateescape") for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(arguments)
        except SystemExit as end:
            code = int(end.code or 0)
    for stream in (out, err):
        stream.seek(0)
    return code, out.read(), err.read()


def check(arguments: list[str]) -> None:
    code, out, err = answer(arguments)
    assert code in (0, 2), (arguments, err)
    assert "Traceback" not in err
    if code == 2:
        assert err.count("\n") >= 1
        assert err.splitlines()[-1].startswith("rankscope")
        assert out == ""


@pytest.mark.filterwarnings("ignore")
@given(
    garbled(GOOD_QRELS, QRELS_WORDS, 4),
    garbled(GOOD_RUN, RUN_WORDS, 6),
    st.sampled_from(["native", "python"]),
    st.sampled_from(ORDERS),
    st.sampled_from(["tsv", "json", "latex"]),
)
def test_eval_of_any_files(
    tmp_path_factory: pytest.TempPathFactory, qrels: bytes, run: bytes, scanner: str, order: str, layout: str
) -> None:
    from rankscope.scan import native

    folder: Path = tmp_path_factory.mktemp("any")
    (folder / "qrels").write_bytes(qrels)
    (folder / "run").write_bytes(run)
    with pytest.MonkeyPatch.context() as patch:
        if native.available():
            patch.setenv("RANKSCOPE_SCANNER", scanner)
        check(["eval", str(folder / "qrels"), str(folder / "run"), "--order", order, "-q", "-f", layout])


@pytest.mark.filterwarnings("ignore")
@given(st.lists(st.one_of(st.sampled_from(MEASURES), st.text(max_size=12)), min_size=1, max_size=3))
def test_eval_of_any_measures(tmp_path_factory: pytest.TempPathFactory, measures: list[str]) -> None:
    folder: Path = tmp_path_factory.mktemp("any")
    (folder / "qrels").write_bytes(GOOD_QRELS)
    (folder / "run").write_bytes(GOOD_RUN)
    check(
        [
            "eval",
            str(folder / "qrels"),
            str(folder / "run"),
            *(f"--measure={measure}" for measure in measures),
        ]
    )


@pytest.mark.filterwarnings("ignore")
@given(
    st.lists(
        st.one_of(st.text(max_size=8), st.sampled_from(["eval", "-m", "-f", "--order", "--jobs", "-q"])),
        max_size=5,
    )
)
def test_any_arguments(arguments: list[str]) -> None:
    if not arguments or arguments[0] not in ("demo", "simulate", "explore", "study"):  # these write or serve
        check([*arguments[:1], *arguments[1:]])


COMMANDS = [
    ["trec_eval", "-q", "-m", "all_trec"], ["ndeval"], ["effort"], ["bounds"], ["orderings"], ["correlate"],
    ["compare"], ["curve", "--topic", "1"], ["pools", "--repeats", "2"],
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@given(garbled(GOOD_QRELS, QRELS_WORDS, 4), garbled(GOOD_RUN, RUN_WORDS, 6))
@settings(max_examples=settings().max_examples // 2)
def test_commands_on_any_files(
    tmp_path_factory: pytest.TempPathFactory, command: list[str], qrels: bytes, run: bytes
) -> None:
    folder: Path = tmp_path_factory.mktemp("any")
    names = [str(folder / name) for name in ("qrels", "run", "other")]
    for name, content in zip(names, (qrels, run, GOOD_RUN), strict=True):
        Path(name).write_bytes(content)
    files = names if command[0] in ("compare", "correlate", "pools") else names[:2]
    check([command[0], *command[1:], *files])
