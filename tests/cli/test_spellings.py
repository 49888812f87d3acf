"""One word has one meaning in every command."""

from __future__ import annotations

import argparse

import pytest

from rankscope.cli.commands import COMMANDS, OWN_GRAMMAR
from rankscope.cli.main import command_module, main

GENERATOR = "simulate"  # Its options are sizes of the collection that it generates.


def list_options(command: str) -> dict[str, argparse.Action]:
    parser = argparse.ArgumentParser()
    command_module(command).add_arguments(parser)
    return {flag: action for action in parser._actions for flag in action.option_strings}


ALL = {name: list_options(name) for name in COMMANDS if name not in (*OWN_GRAMMAR, GENERATOR)}


def find_flag(flag: str) -> dict[str, argparse.Action]:
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
    actions = find_flag(flag)
    assert len(actions) > 1
    assert len({same(action) for action in actions.values()}) == 1  # type: ignore[operator]


def test_depths_and_lengths() -> None:
    """``--pool-depth`` limits pools, ``--cutoff`` evaluations, ``--length`` enumerations."""
    assert "study" not in find_flag("--depth")
    assert ALL["pools"]["--depth"] is ALL["pools"]["--pool-depth"]
    assert {"pools", "study", "bounds", "correlate"} <= set(find_flag("--pool-depth"))
    assert set(find_flag("--cutoff")) >= {"curve", "effort", "report", "explore"}
    assert set(find_flag("--length")) <= {"scales", "effort", "identify"}
    assert not find_flag("--ratio")


def test_every_command_that_opens_a_collection_takes_some_of_its_topics() -> None:
    assert set(find_flag("--topics")) >= {
        "bounds", "certain", "compare", "correlate", "effort", "eval", "explore", "next", "orderings",
        "overlap", "pools", "power", "report", "study", "verdict",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("pools", "--ratio"), ("pools", "-q"), ("power", "--pairs"), ("power", "-q"),
        ("bounds", "--ratio"), ("study", "--depth"), ("report", "--length"), ("explore", "--length"),
    ],
)  # fmt: skip
def test_former_names_of_options_are_unknown(
    command: str, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert word not in ALL[command]
    with pytest.raises(SystemExit) as end:
        main([command, "qrels", "run", word, "1"])
    assert end.value.code == 2
    assert word in capsys.readouterr().err
