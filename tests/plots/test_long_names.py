"""Figures shorten long names to the recorded lengths: of runs, topics, measures, systems, tasks, judges and slices.

Every letter of a name shows where it was cut. The figures themselves gave the values in recorded_long_names.json. After
an intended change, run

    python -m tests.plots.test_long_names

and review the difference before you commit it.
"""

from __future__ import annotations

import string
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.plots.conftest import _collection
from tests.recorded import assert_recorded, write_recorded

import rankscope as rs
from rankscope import plots

RECORDED = Path(__file__).with_name("recorded_long_names.json")
LETTERS = string.ascii_letters + string.digits
RUNS, TOPICS = ([f"{kind}{LETTERS}{LETTERS}" for kind in kinds] for kinds in ("xyz", "123"))
GAIN = "nDCG(gains='0=0,1=1.125,2=2.375,3=3.625,4=4.875,5=6.125',discount='jk')"


@cache
def _world() -> rs.Collection:
    return rs.Collection(*_collection(RUNS, TOPICS, 4))


@cache
def _evaluated() -> rs.Scores:
    return _world().evaluate([GAIN, "P@5"])


@cache
def _scores() -> rs.Scores:
    """Return values of measures with long names, of which no direction is known."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"run": np.repeat(RUNS, 3), "topic": TOPICS * 3})
    frame = frame.assign(**{f"M{kind}_{LETTERS}": rng.random(9).round(3) for kind in "abc"})
    data = {topic: {f"by_{LETTERS}": f"{k % 2}{LETTERS}"} for k, topic in enumerate(TOPICS)}
    return rs.read_scores(frame).with_topic_data(data)


@cache
def _effort() -> rs.Effort:
    return rs.effort(_world(), GAIN, groups="^(.*)$")


@cache
def _judges() -> Any:
    qrels, runs = _collection(RUNS, TOPICS, 4)
    sets = {f"{n}{LETTERS}": {t: {d: max(0, g - n) for d, g in each.items()} for t, each in qrels.items()}
            for n in (0, 1)}  # fmt: skip
    return rs.judges(sets, rs.Collection(None, runs), "P@5", replicates=5)


@cache
def _bench() -> Any:
    table: dict[str, Any] = {"system": [f"{k}{LETTERS}" for k in range(4)]}
    rng = np.random.default_rng(1)
    return rs.bench(table | {f"{t}{LETTERS}": rng.random(4).tolist() for t in range(3)}, replicates=5)


@cache
def _compared(**options: Any) -> Any:
    return rs.compare(_scores(), replicates=5, **options)


@cache
def _covered() -> Any:
    qrels = {t: {"a": {LETTERS: 1}, "b": {f"2{LETTERS}": 1}} for t in TOPICS}
    return rs.Collection(qrels, {run: {t: ["a", "b"][k:] for t in TOPICS} for k, run in enumerate(RUNS[:2])})


@cache
def _study() -> Any:
    settings = rs.StudySettings(measures=["P@5", "AP"], repeats=1, replicates=5)
    return plots.study_figures(rs.study({LETTERS: _world(), f"2{LETTERS}": _world()}, settings))


FIGURES: dict[str, Callable[..., Any]] = {
    "study": lambda **_: _study()["means"],
    "study effort": lambda **_: _study()["effort_gain-AP"],
    "means": lambda **more: _scores().plot(**more),
    "heat map": lambda **more: _scores().plot("heat-map", **more),
    "topics": lambda **more: _scores().plot("topics", highlight=RUNS[:1], **more),
    "slices of means": lambda **more: _scores().plot("slices", by=f"by_{LETTERS}", **more),
    "forest": lambda **more: _compared().plot("forest", **more),
    "differences": lambda **more: _compared(per_topic=True).plot("differences", **more),
    "slices": lambda **more: _compared(baseline=RUNS[0], by=f"by_{LETTERS}").plot("slices", **more),
    "leaderboard": lambda **more: rs.leaderboard(_scores(), replicates=5).plot(**more),
    "correlation": lambda **more: rs.correlate(_scores()).plot(**more),
    "power": lambda **more: rs.power(_scores(), "t").plot(**more),
    "certain": lambda **more: rs.certain(_scores()).plot(**more),
    "bump": lambda **more: rs.certain(_scores(), across="measures").plot(**more),
    "findings": lambda **more: rs.findings(_evaluated()).plot(**more),
    "pools": lambda **more: rs.pools(_evaluated(), repeats=1, ratios=[50]).plot(**more),
    "pool means": lambda **more: rs.pools(_evaluated(), repeats=1, ratios=[50]).plot("means", **more),
    "bounds": lambda **more: rs.bounds(_world(), 0.8, depths=[1, 2]).plot(**more),
    "overlap": lambda **more: rs.overlap(_world(), depths=[1, 5]).plot(**more),
    "orderings": lambda **more: rs.orderings(_evaluated()).plot(**more),
    "verdict": lambda **more: rs.verdict(_evaluated(), depth=5).plot(**more),
    "verdict of two runs": lambda **more: rs.verdict(_evaluated(), RUNS[:2], depth=5).plot(**more),
    "effort": lambda **more: _effort().plot(highlight=[RUNS[0], (RUNS[1], TOPICS[0])], **more),
    "effort by topic": lambda **more: _effort().plot(facet="topic", **more),
    "effort coloured": lambda **more: _effort().plot(colour="topic", **more),
    "equal gain": lambda **more: _effort().plot("equal-gain", **more),
    "indicators": lambda **more: _effort().plot("indicators", **more),
    "archetypes": lambda **more: _effort().plot("archetypes", **more),
    "coverage": lambda **more: _covered().coverage().plot(**more),
    "aspects": lambda **more: _covered().coverage(TOPICS[0]).plot("aspects", **more),
    "confusion": lambda **more: _judges().plot("confusion", **more),
    "slopes": lambda **more: _judges().plot("slopes", **more),
    "tiers": lambda **more: _bench().plot(**more),
    "critical distance": lambda **more: _bench().plot("critical-distance", **more),
    "influence": lambda **more: _bench().plot("task-influence", **more),
    "curve": lambda **more: rs.curve(_world(), RUNS[0], TOPICS[0], discount="jk").plot(**more),
    "DCG": lambda **more: rs.curve(_world(), RUNS[0], TOPICS[0], discount="jk").plot("dcg", **more),
    "weights": lambda **more: rs.lab.rank_weights(["RBP(p=0.81234567890123456789)@1000000", GAIN]).plot(**more),
    "relations": lambda **more: plots.plot_relations(GAIN, depth=2, **more),
    "intervals": lambda **more: plots.plot_intervals("0" * 29 + "1", "1" * 30, "0" * 30, "0" * 28 + "11", GAIN, **more),
}  # fmt: skip


def describe(drawn: Any) -> list[str]:
    """Return the texts of a figure that contain shortened names, in the order of drawing."""
    from matplotlib.text import Text

    texts = [text.get_text() for text in drawn.figure.findobj(Text) if text.get_visible()]
    return list(dict.fromkeys(text for text in texts if "…" in text))


def describe_widths(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        narrow, wide = (describe(FIGURES[name](width=width)) for width in (3.3, 7.0))
    return [narrow] if narrow == wide else [narrow, wide]


@pytest.mark.parametrize("name", FIGURES)
def test_names_are_shortened_to_the_recorded_lengths(name: str) -> None:
    assert_recorded(describe_widths(name), RECORDED, name)


if __name__ == "__main__":
    write_recorded(RECORDED, {name: describe_widths(name) for name in FIGURES})
