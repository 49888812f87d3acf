"""trec_eval's names and the measures behind them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankscope.measures import measure
from rankscope.trec_eval.names import ENTRIES, NICKNAMES, Entry, RelevanceSettings, parse_columns

PAGE = Path(__file__).parents[2] / "docs" / "trec_eval.md"


def row(entry: Entry) -> str:
    """A row of the table in the documentation."""
    measures = [column.measure for column in entry.columns(None, RelevanceSettings())]
    more = " ..." if len(measures) > 1 else ""
    text = "-" if measures[0] is None else f"`{measures[0]}`{more}"
    kind = "" if entry.parameters == "none" else entry.parameters
    default = ",".join(f"{value:g}" for value in entry.default)
    return f"| `{entry.name}` | {kind} | {default} | {text} |"


def test_the_page_lists_every_measure() -> None:
    lines = PAGE.read_text().splitlines()
    start = lines.index(row(ENTRIES["runid"]))
    assert lines[start : start + len(ENTRIES)] == [row(entry) for entry in ENTRIES.values()]


@pytest.mark.parametrize("nickname", NICKNAMES)
def test_nicknames_name_measures_in_the_order_of_output(nickname: str) -> None:
    names = NICKNAMES[nickname]
    assert set(names) <= set(ENTRIES)
    kind = {"all_prefs": "prefs", "prefs": "prefs", "qrels_jg": "qrels_jg"}.get(nickname, "qrels")
    entries = list(
        dict.fromkeys(column.entry for column in parse_columns([nickname], RelevanceSettings(), kind))
    )
    assert entries == [name for name in ENTRIES if name in names]


def test_every_measure_can_be_written_down() -> None:
    """So that what trec_eval prints can be had from ``rankscope eval`` as well."""
    for entry in ENTRIES.values():
        for column in entry.columns(None, RelevanceSettings(rel=2, n_documents=10)):
            if column.measure is not None:
                assert measure(str(column.measure)) == column.measure


def test_defaults_are_the_defaults_of_rankscope() -> None:
    assert str(ENTRIES["11pt_avg"].columns(None, RelevanceSettings())[0].measure) == "AvgIPrec"
    assert str(ENTRIES["set_F"].columns(None, RelevanceSettings())[0].measure) == "SetF"
    assert str(ENTRIES["utility"].columns(None, RelevanceSettings())[0].measure) == "Utility"


def test_relevance_reaches_every_measure_that_knows_it() -> None:
    for entry in ENTRIES.values():
        for column in entry.columns(None, RelevanceSettings(rel=3)):
            measure = column.measure
            if measure is not None and "rel" in measure.parameters and entry.name != "num_ret":
                assert measure.rel == 3, entry.name  # type: ignore[attr-defined]
