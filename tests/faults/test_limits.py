"""Limits are generous, stated, and can be raised: one clear line when a file exceeds them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from rankscope.cli.main import main
from rankscope.read import limits
from rankscope.read.source import Source, whole_lines

LINE = b"1 Q0 d%d %d %d t\n"


def fails(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 2
    out, error = capsys.readouterr()
    assert out == "" and error.count("\n") == 1
    return error


@pytest.fixture
def collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "qrels").write_text("1 0 d1 1\n")
    (tmp_path / "run").write_text("1 Q0 d1 1 1 t\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("scanner", ["native", "python"])
def test_a_line_without_end(collection, scanner, packed, monkeypatch, capsys) -> None:
    """A megabyte of gzip took gigabytes of memory, because the line might have had an end."""
    monkeypatch.setenv("RANKSCOPE_SCANNER", scanner)
    text = b"".join(LINE % (i, i, -i) for i in range(3)) + b"1 Q0 " + b"d" * (limits.LONGEST_LINE + 9)
    Path("long").write_bytes(gzip.compress(text, 1) if packed else text)
    message = fails(capsys, "eval", "qrels", "long", "-m", "AP")
    assert message.startswith("rankscope: long:4: the line, or its ranking, is too long;")
    assert "RANKSCOPE_LONGEST_LINE" in message
    monkeypatch.setenv("RANKSCOPE_LONGEST_LINE", str(2 * limits.LONGEST_LINE))
    assert "long:4: 3 fields" in fails(capsys, "eval", "qrels", "long", "-m", "AP")
    monkeypatch.setenv("RANKSCOPE_LONGEST_LINE", "much")
    assert "RANKSCOPE_LONGEST_LINE is 'much'" in fails(capsys, "eval", "qrels", "long", "-m", "AP")


def test_judgments_have_lines_of_the_same_length(collection, capsys) -> None:
    Path("long").write_bytes(b"1 0 d1 1\n1 0 " + b"d" * (limits.LONGEST_LINE + 9))
    assert "long:2: the line" in fails(capsys, "eval", "long", "run", "-m", "AP")


@pytest.mark.parametrize("extra", [0, 1])
@pytest.mark.parametrize("scanner", ["native", "python"])
def test_the_longest_line_is_the_same_for_both_scanners(
    collection, scanner, extra, monkeypatch, capsys
) -> None:
    """Wherever it lies in the pieces that are read of a file."""
    monkeypatch.setenv("RANKSCOPE_SCANNER", scanner)
    for before in (0, 5000, 700_000):
        fill = b"#" + b"x" * (before - 2) + b"\n" if before else b""
        rest = b" 1 1 t"
        line = b"1 Q0 " + b"d" * (limits.LONGEST_LINE + extra - 5 - len(rest)) + rest
        Path("long").write_bytes(fill + line + b"\n" + LINE % (1, 2, -2))
        if extra:
            assert f"long:{2 if fill else 1}: the line" in fails(capsys, "eval", "qrels", "long", "-m", "AP")
        else:
            assert main(["eval", "qrels", "long", "-m", "AP", "-f", "tsv", "--quiet"]) == 0
            assert "AP\t0.5\t1" in capsys.readouterr().out


@pytest.mark.parametrize(
    "content",
    [
        *(b"ab", b"ab\n", b"\nab", b"a\nb\n\ncd", b"x" * 40, b"x" * 20 + b"\n" + b"y" * 20),
        *(b"\n\n" + b"x" * 21, b"a\n\nb\n" + b"x" * 21 + b"\n", b"x" * 21 + b"\n"),
    ],
)
@pytest.mark.parametrize("at_once", [1, 3, 100])
def test_lines_are_measured_wherever_they_are_cut(content, at_once, tmp_path, monkeypatch) -> None:
    """Against a plain definition, in blocks of every size."""
    monkeypatch.setattr(limits, "LONGEST_LINE", 20)
    monkeypatch.setattr("rankscope.read.source.BLOCK", at_once)
    (tmp_path / "text").write_bytes(content)
    lengths = [len(line) for line in content.split(b"\n")]
    checked = Source.open(tmp_path / "text").line_blocks()
    if max(lengths) <= 20:
        assert b"".join(whole_lines(checked)).rstrip(b"\n") == content.rstrip(b"\n")
    elif at_once <= 20:
        number = next(n for n, length in enumerate(lengths, 1) if length > 20)
        with pytest.raises(limits.InputError, match=f"text:{number}: the line"):
            list(checked)


def test_a_decompression_bomb_is_rejected(collection, monkeypatch, capsys) -> None:
    monkeypatch.setattr(limits, "FREE", 1 << 20)
    Path("bomb.gz").write_bytes(gzip.compress(b"\n" * 30_000_000))
    message = fails(capsys, "eval", "qrels", "bomb.gz", "-m", "AP")
    assert message == (
        "rankscope: bomb.gz: the file decompresses to more than 250 times its size;"
        " if the file is yours, set RANKSCOPE_UNPACKED_RATIO to a larger number\n"
    )
    assert "250 times" in fails(capsys, "eval", "bomb.gz", "run", "-m", "AP")
    monkeypatch.setenv("RANKSCOPE_UNPACKED_RATIO", "2000")
    assert "there is no line with data" in fails(capsys, "eval", "qrels", "bomb.gz", "-m", "AP")


def test_ordinary_files_unpack_as_far_as_they_go(monkeypatch) -> None:
    monkeypatch.setattr(limits, "FREE", 1 << 16)
    text = b"".join(b"1 Q0 d%d %d %d t\n" % (i * 7919 % 100_003, i, -i) for i in range(50_000))
    assert b"".join(Source.open(gzip.compress(text)).blocks()) == text
