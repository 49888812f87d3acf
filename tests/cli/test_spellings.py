"""One word has one meaning in every command, and old words work with a note."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

import rankscope as rs
from rankscope.cli.commands import COMMANDS, OWN_GRAMMAR
from rankscope.cli.main import command_module, main
from rankscope.cli.spellings import FORMER

MADE = "simulate"  # makes a collection: its words are numbers of what is made


def options_of(command: str) -> dict[str, argparse.Action]:
    parser = argparse.ArgumentParser()
    command_module(command).add_arguments(parser)
    return {flag: action for action in parser._actions for flag in action.option_strings}


ALL = {name: options_of(name) for name in COMMANDS if name not in (*OWN_GRAMMAR, MADE)}


def having(flag: str) -> dict[str, argparse.Action]:
    return {name: flags[flag] for name, flags in ALL.items() if flag in flags}


@pytest.mark.parametrize(
    ("flag", "same"),
    [
        ("-q", lambda action: (tuple(action.option_strings), action.nargs)),
        ("--topics", lambda action: (action.metavar, action.nargs, action.help.partition(";")[0])),
        ("--plot", lambda action: (action.metavar, action.help)),
        ("--missing", lambda action: (tuple(action.choices), action.default)),
        ("--order", lambda action: tuple(action.choices)),
        ("--ratios", lambda action: (action.metavar, action.type)),
        ("--quiet", lambda action: action.nargs),
        ("--seed", lambda action: (action.type, action.metavar)),
    ],
)
def test_an_option_is_the_same_everywhere(flag: str, same: object) -> None:
    found = having(flag)
    assert len(found) > 1
    assert len({same(action) for action in found.values()}) == 1  # type: ignore[operator]


def test_depths_and_lengths() -> None:
    """``--depth`` looks into lists, ``--pool-depth`` into pools, ``--cutoff`` evaluates, ``--length`` enumerates."""
    assert {"pools", "study"}.isdisjoint(having("--depth"))
    assert {"pools", "study", "bounds", "correlate"} <= set(having("--pool-depth"))
    assert set(having("--cutoff")) >= {"curve", "effort", "report", "explore"}
    assert set(having("--length")) <= {"scales", "archetypes", "identify"}
    assert not having("--ratio")


def test_every_command_that_opens_a_collection_takes_some_of_its_topics() -> None:
    assert set(having("--topics")) >= {
        "bounds", "certain", "compare", "correlate", "effort", "eval", "explore", "features", "next", "orderings",
        "overlap", "pools", "power", "report", "study", "verdict",
    }  # fmt: skip


def test_old_words_are_gone_and_new_ones_there() -> None:
    for command, former in FORMER.items():
        for old, new in former.items():
            assert old not in ALL[command]
            assert new in ALL[command]


OLD = [
    ["pools", "--depth", "3", "-m", "AP P@5"],
    ["pools", "--ratios", "50", "-q"],
    ["pools", "--ratio=50", "--runs"],
    ["power", "--test", "t", "-q"],
    ["power", "--test", "t", "--pairs"],
    ["bounds", "--ratio", "50", "--depths", "1,5"],
    ["report", "--length", "100"],
]


@pytest.mark.parametrize("words", OLD, ids=lambda words: " ".join(words[:3]))
def test_old_words_mean_the_new_ones(
    words: list[str], tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    rs.simulate(systems=3, topics=4, grades=3, depth=12, seed=3, pool_depth=8).write(tmp_path / "made")
    files = [str(tmp_path / "made" / "qrels.txt"), str(tmp_path / "made" / "runs")]
    command, *more = words
    former = FORMER[command]
    today = [
        former.get(w.partition("=")[0], w.partition("=")[0]) + w[len(w.partition("=")[0]) :] for w in more
    ]
    assert today != more
    sink = ["-o", "-"] if command == "report" else []
    assert main([command, *files, *more, *sink]) == 0
    old = capsysbinary.readouterr()
    assert main([command, *files, *today, *sink]) == 0
    new = capsysbinary.readouterr()
    assert old.out == new.out
    notes = set(old.err.decode().splitlines()) - set(new.err.decode().splitlines())
    assert notes
    assert all("is now called" in text for text in notes)
    assert main([command, *files, *more, *sink, "--quiet"]) == 0
    assert b"is now called" not in capsysbinary.readouterr().err
