"""The command of the case analysis."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankscope.cli.main import main
from rankscope.lab.axioms import cases


def test_a_table_for_people_ends_with_sentences(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["properties", "--depth", "3", "-m", "ACT RR", "-f", "table"]) == 0
    text = " ".join(capsysbinary.readouterr().out.decode().split())  # however wide the terminal is
    assert "40 rankings" in text
    assert "ACT(abx) = 0.0833 > ACT(ab) = 0.0750: appending a non-relevant document raised the score" in text


def test_settings_are_enough_to_repeat(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    arguments = [
        "--aspects",
        "2",
        "--depth",
        "4",
        "--relevant",
        "3",
        "--nonrelevant",
        "2",
        "--weights",
        "0.9,0.1",
    ]
    assert main(["properties", *arguments, "--include-impossible", "-m", "AP_IA", "-f", "json"]) == 0
    settings = json.loads(capsysbinary.readouterr().out)["settings"]
    assert settings == {
        "measures": ["AP_IA"],
        "aspects": 2,
        "multi_aspect": False,
        "letters": ["a", "b", "x"],
        "depth": 4,
        "relevant": 3,
        "nonrelevant": 2,
        "weights": [0.9, 0.1],
        "properties": ["relevance monotonicity", "irrelevance monotonicity", "redundancy", "induced"],
        "fixed_length": False,
        "include_impossible": True,
        "tolerance": "a larger score exceeds the other by 1e-09 of it + 1e-13 of the largest score",
        "rankings": 121,
        "complete": True,
    }


def test_a_property_and_a_measure_from_a_plugin(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    plugin = tmp_path / "plugin_of_the_properties_test.py"
    plugin.write_text(
        "import rankscope as rs\n"
        "rs.measure('LastOnly', lambda grades: grades[-1] if grades else 0)\n"
        "def doubled(ranking):\n"
        "    'a list twice over does not score less'\n"
        "    yield ranking, ranking * 2\n"
        "rs.lab.RELATIONS['doubled'] = rs.lab.relation(doubled)\n"
    )
    arguments = ["--grades", "1", "--depth", "4", "--property", "doubled", "--property", "swap"]
    try:
        assert main(["properties", *arguments, "--plugin", str(plugin), "-m", "LastOnly", "-f", "json"]) == 0
    finally:
        cases.RELATIONS.pop("doubled", None)
    rows = json.loads(capsysbinary.readouterr().out)["tables"]["properties"]
    assert [(row["property"], row["cases"], row["violations"] > 0) for row in rows] == [
        ("doubled", 7, False),
        ("swap", rows[1]["cases"], True),
    ]


def test_weights_are_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["properties", "--property", "redundancy", "--weights", "a,b"])
    assert "--weights: 'a,b' is not a list of numbers such as" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--property", "swop"], "there is no property 'swop'; did you mean swap?"),
        (["--depth", "50"], "choose a depth from 1 to"),
        (["-m", "nDGC"], "there is no measure 'nDGC'; did you mean nDCG"),
    ],
)
def test_one_line_says_what_is_wrong(
    arguments: list[str], message: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["properties", "--property", "redundancy", *arguments]) == 2
    captured = capsysbinary.readouterr()
    assert captured.out == b""
    assert message in captured.err.decode() and captured.err.count(b"\n") == 1


def test_an_interruption_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    def stopped(*_: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(cases, "progress", stopped)
    assert main(["properties", "--depth", "3", "-m", "RR", "-f", "json"]) == 130
    captured = capsysbinary.readouterr()
    assert captured.out == b""  # a program would take a half for the whole
    assert b"interrupted" in captured.err
