"""Several collections by name: from texts and from a TOML file."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankscope.errors import InputError, SettingsError
from rankscope.read.named_collections import named_collection, open_named, read_collections


def test_names_and_files(tmp_path: Path) -> None:
    assert named_collection("a=q:r").qrels == "q" and named_collection(" a b =q:r").name == "a b"
    assert named_collection("a=q=1:r").qrels == "q=1"
    odd = tmp_path / "q:rels"
    odd.write_text("1 0 a 1\n")
    collection = named_collection(f"x={odd}:runs/*.gz")
    assert collection.qrels == str(odd) and collection.runs == ("runs/*.gz",)


@pytest.mark.parametrize("text", ["", "a", "a=", "a=q", "=q:r", "a=:r", "a=q:", "a:b"])
def test_invalid_names_of_collections_raise(text: str) -> None:
    with pytest.raises(SettingsError, match="names no collection"):
        named_collection(text)


def collection(folder: Path) -> None:
    folder.mkdir()
    (folder / "qrels.txt").write_text("1 0 a 2\n1 0 b 1\n1 0 c 0\n")
    (folder / "run.txt").write_text("1 Q0 a 2 1 x\n1 Q0 b 1 0 x\n")


def test_a_file_of_collections(tmp_path: Path) -> None:
    for name in ("one", "two"):
        collection(tmp_path / name)
    file = tmp_path / "both.toml"
    file.write_text(
        '[collections."the first"]\nqrels = "one/qrels.txt"\nruns = "one/run.txt"\norder = "rank"\n'
        '[collections.two]\nqrels = "two/qrels.txt"\nruns = ["two/*.txt"]\ngrades = "0,1=0;2=1"\n'
    )
    listed = read_collections(file)
    assert [one.name for one in listed] == ["the first", "two"]
    (tmp_path / "two" / "qrels.txt").rename(tmp_path / "two" / "judgments")
    file.write_text(file.read_text().replace("two/qrels.txt", "two/judgments"))
    opened = open_named(read_collections(file))
    assert opened["the first"].settings == {"order": "rank", "aspects": False}
    assert opened["two"].settings == {"order": "trec_eval", "aspects": False, "grades": "0,1=0;2=1"}
    assert opened["two"].qrels.judgments("1") == {"a": 1, "b": 0, "c": 0}
    with pytest.raises(SettingsError, match="two collections are called"):
        open_named([listed[0], listed[0]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no collection"),
        ("collections = 3", "no collection"),
        ("x = 1\n[collections.a]\nqrels='q'\nruns='r'", "unknown key 'x'"),
        ("[collections.a]\nqrels='q'", "has no paths of judgments and runs"),
        ("[collections.a]\nqrels=''\nruns='r'", "has no paths of judgments and runs"),
        ("[collections.a]\nqrels='q'\nruns=[]", "has no paths of judgments and runs"),
        ("[collections.a]\nqrels='q'\nruns=[1]", "has no paths of judgments and runs"),
        ("[collections.a]\nqrels='q'\nruns='r'\norder='best'", "the unknown order 'best'"),
        ("[collections.a]\nqrels='q'\nruns='r'\ngrade='0=1'", "unknown key 'grade'"),
        ("[collections]\na = 1", "not a table"),
        ("[collections.a\n", "not TOML"),
    ],
)
def test_a_file_that_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=f"bad.toml.*{message}"):
        read_collections(file)
    with pytest.raises(InputError, match="cannot read"):
        read_collections(tmp_path / "missing.toml")
