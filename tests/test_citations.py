"""Citations: every measure and method has BibTeX entries."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import rankscope as rs
from rankscope.citations import METHODS, cite, find_keys, load_entries
from rankscope.cli.commands import COMMANDS
from rankscope.cli.main import main
from rankscope.measures import REGISTRY, FunctionMeasure

NEEDED = {
    "article": {"author", "title", "journal", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
    "incollection": {"author", "title", "booktitle", "publisher", "year"},
    "book": {"author", "title", "publisher", "year"},
    "techreport": {"author", "title", "institution", "year"},
    "phdthesis": {"author", "title", "school", "year"},
    "misc": {"author", "title"},
}


@pytest.mark.parametrize("key", load_entries())
def test_an_entry_is_bibtex(key: str) -> None:
    """With what its kind needs; its key is that of its first author and year; nothing runs over into the next."""
    kind, rest = re.fullmatch(r"@(\w+)\{\w+, (.*)\}", load_entries()[key]).groups()  # type: ignore[union-attr]
    assert rest.count("{") == rest.count("}") and rest.isascii()
    fields = dict(field.split(" = ", 1) for field in re.split(r", (?=\w+ = \{)", rest))
    assert NEEDED[kind] <= fields.keys()
    if "year" in fields:
        first = re.sub(
            r"\{\\.\{?(\w)\}?\}|[^A-Za-z]", r"\1", re.split(r",| and ", fields["author"])[0]
        ).lower()
        assert key == f"{first}{fields['year'][1:-1]}"


def test_every_measure_has_its_paper() -> None:
    built_in = {one.name: one.reference for one in REGISTRY.values() if not isinstance(one, FunctionMeasure)}
    assert len(built_in) > 80
    lost = {
        name: reference
        for name, reference in built_in.items()
        if len(find_keys(reference)) != max(1, len(re.findall(r"\d{4}", reference)))
    }
    assert lost == {}


def test_every_bibliography_entry_is_used() -> None:
    measures = {key for one in REGISTRY.values() for key in find_keys(one.reference)}
    methods = {key for keys in METHODS.values() for key in keys.split()}
    assert load_entries().keys() == measures | methods
    assert METHODS.keys() - {"leaderboard", "ties"} <= COMMANDS.keys()


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cite", "-m", "Twist RBP"]) == 0
    printed = capsys.readouterr().out
    assert re.findall(r"^@\w+\{(\w+),", printed, re.MULTILINE) == ["rankscope", "ferro2016", "moffat2008"]
    assert "MIT licence" in printed and f"version = {{{rs.__version__}}}" in printed
    assert printed == cite(["Twist", rs.RBP])
    target = tmp_path / "used.bib"
    assert main(["cite", "--method", "power", "-o", str(target)]) == 0
    assert "@inproceedings{sakai2006," in target.read_text()


def test_mistakes_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cite", "-m", "Twits"]) == 2
    with pytest.raises(SystemExit) as end:
        main(["cite", "--method", "compair"])
    assert end.value.code == 2
    with pytest.raises(rs.errors.SettingsError, match="did you mean compare"):
        cite("AP", "compair")


def test_a_measure_of_ones_own_is_named() -> None:
    measure = rs.measure("CitedHere", lambda grades: 0.0, reference="Doe 2026")
    assert "% CitedHere: Doe 2026\n" in cite([measure])
    assert "@software{rankscope," in cite()
