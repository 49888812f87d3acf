"""Every figure has its recorded size, axes, artists and errors on a small collection.

The figures themselves gave the values in recorded.json; other tests compare what figures show with their results. These
tests detect unintended changes. After an intended change, run

    python -m tests.plots.test_recorded

and review the difference before you commit it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.plots.conftest import LISTS, _collection, _curve
from tests.recorded import assert_recorded, shorten, sum_up, summarise, to_plain, write_recorded

import rankscope as rs
from rankscope import plots
from rankscope.errors import InputError, SettingsError
from rankscope.lab.measurement.interval_comparison import compare_intervals

RECORDED = Path(__file__).with_name("recorded.json")
MAX_ARTISTS = 10
"""Number of artists of one kind that are recorded."""
MAX_NUMBERS = 8
"""Number of coordinates of an artist that are recorded, besides their sum."""
TICK_LOOKS = (
    "gridOn",
    "length",
    "labelsize",
    "labelrotation",
    "pad",
    "left",
    "bottom",
    "labelleft",
    "labelbottom",
)

ASPECTS = {"t": {"a": {"1": 1, "2": 1}, "b": {"2": 1}, "c": {"3": 1}}, "u": {"a": {"1": 1}}}
COVERING = {
    "early": {"t": ["a", "c"], "u": ["a"]},
    "late": {"t": ["x", "y", "c", "a"], "u": ["x", "a"]},
    "never": {"t": ["x"], "u": ["x"]},
}


_FOUR = _collection(["tf", "bm25", "long name of a run", "best"], ["1", "2", "3", "4", "5"])


@cache
def _small() -> rs.Collection:
    return rs.Collection(*_FOUR)


@cache
def _scores() -> rs.Scores:
    return rs.evaluate(*_FOUR, ["AP", "nDCG@10", "P@5", "Twist"])


@cache
def _effort() -> rs.Effort:
    return rs.effort(_small(), ["AP", "nDCG"], groups=r"^(tf|bm)")


@cache
def _comparison() -> Any:
    return rs.compare(_scores(), replicates=50, per_topic=True)


@cache
def _many() -> rs.Scores:
    return rs.evaluate(*_collection([f"run{i}" for i in range(14)], ["1", "2", "3"], seed=3), ["AP", "P@5"])


@cache
def _judges() -> Any:
    qrels, runs = _collection(["a", "b", "c"], ["1", "2", "3"])
    higher = {f"d{number}" for number in range(0, 15, 3)}
    other = {t: {d: min(3, g + (d in higher)) for d, g in grades.items()} for t, grades in qrels.items()}
    return rs.judges({"first": qrels, "second": other}, rs.Collection(None, runs), "AP nDCG", replicates=20)


@cache
def _study() -> Any:
    qrels, runs = _collection(["a", "b", "c"], ["1", "2", "3", "4"])
    collections = {
        "half": rs.Collection(dict(list(qrels.items())[:2]), runs),
        "whole": rs.Collection(qrels, runs),
    }
    settings = rs.StudySettings(measures=["AP", "P@5", "Twist"], repeats=1, replicates=20)
    return plots.study_figures(rs.study(collections, settings))


@cache
def _sliced() -> rs.Scores:
    data = {topic: {"lang": "de" if topic in "13" else "en", "length": int(topic)} for topic in "12345"}
    return _scores().with_topic_data(data)


@cache
def _bench() -> Any:
    rng = np.random.default_rng(4)
    table = {"system": [f"model {s}" for s in range(6)]}
    return rs.bench(table | {f"task {t}": rng.random(6).tolist() for t in range(5)}, replicates=20)


@cache
def _corrected() -> Any:
    qrels, _ = _FOUR
    human = {t: {d: max(0, g - 1) for d, g in [*grades.items()][::2]} for t, grades in qrels.items()}
    with pytest.warns(UserWarning, match="intervals over labels are rough"):
        return rs.correct(rs.evaluate(*_FOUR, ["P@5", "AP"]), human, pi=0.5)


def _curves(name: str, **options: Any) -> Callable[[], Any]:
    return lambda: _curve(LISTS[name], name).plot(**options)


FIGURES: dict[str, Callable[[], Any]] = {
    "crp": _curves("a_t"),
    "crp of many ranks": lambda: _curve("010300" * 30, "long", ideal="3" * 40 + "1" * 40).plot(axis="log", bars="log"),
    "crp below zero": _curves("b_t", bars="linear", axis="linear", width=5.0),
    "dcg": _curves("b_t", figure="dcg"),
    "dcg of many ranks": lambda: _curve("010300" * 30, "long", ideal="3" * 40 + "1" * 40).plot("dcg"),
    "dcg without hits": lambda: _curve("0000", "none").plot("dcg"),
    "rp": _curves("b_t", figure="rp"),
    "rp of few ranks": _curves("a_t", figure="rp", ranks=6),
    "archetypes": lambda: _effort().plot("archetypes"),
    "archetypes alone": plots.plot_archetypes,
    "effort": lambda: _effort().plot(highlight=["best", ("tf", "2")]),
    "effort by group": lambda: _effort().plot(facet="group", measure="nDCG"),
    "effort coloured": lambda: _effort().plot(colour="group"),
    "planes": lambda: _effort().plot("planes", highlight=["tf"]),
    "equal gain": lambda: _effort().plot("equal-gain", measure="AP"),
    "equal gain of chosen rankings": lambda: _effort().plot("equal-gain", lists=[("tf", "1"), ("best", "3")]),
    "indicators": lambda: _effort().plot("indicators"),
    "indicators of a run": lambda: _effort().plot("indicators", run="bm25"),
    "means": lambda: _scores().plot(),
    "means of many runs": lambda: _many().plot(),
    "heat map": lambda: _scores().plot("heat-map"),
    "topics": lambda: _scores().plot("topics", measure="nDCG@10", highlight=["bm25"]),
    "bounds": lambda: rs.bounds(_small()).plot(),
    "correlation": lambda: rs.correlate(_scores()).plot(),
    "robustness": lambda: rs.pools(_scores(), repeats=2, ratios=[50, 10]).plot(),
    "pool means": lambda: rs.pools(_scores(), repeats=2, ratios=[50, 10]).plot("means"),
    "power": lambda: rs.power(_scores(), "t").plot(),
    "forest": lambda: _comparison().plot("forest"),
    "forest of P@5": lambda: _comparison().plot("forest", measure="P@5"),
    "differences": lambda: _comparison().plot("differences", pair=("tf", "best")),
    "leaderboard": lambda: rs.leaderboard(_scores(), replicates=50).plot(),
    "certain": lambda: rs.certain(_scores()).plot(),
    "bump": lambda: rs.certain(_scores(), across="measures").plot(),
    "bump of many runs": lambda: rs.certain(_many(), across="measures").plot(highlight=["run3"]),
    "orderings": lambda: rs.orderings(_scores()).plot(),
    "overlap": lambda: rs.overlap(_small()).plot(),
    "verdict": lambda: rs.verdict(_scores(), depth=10).plot(),
    "verdict of two runs": lambda: rs.verdict(_scores(), ("tf", "bm25"), depth=10).plot(),
    "findings": lambda: rs.findings(_scores()).plot(),
    "confusion": lambda: _judges().plot("confusion"),
    "slopes": lambda: _judges().plot("slopes"),
    "coverage": lambda: rs.Collection(ASPECTS, COVERING).coverage().plot(highlight=["late"]),
    "aspects": lambda: rs.Collection(ASPECTS, COVERING).coverage("t").plot("aspects"),
    "properties": lambda: rs.lab.properties("AP ACT", aspects=2, depth=3).plot(),
    "relations": lambda: plots.plot_relations("RR", depth=3),
    "relations of grades": lambda: plots.plot_relations("P@2", grades=2, depth=2),
    "related": lambda: rs.lab.related_rankings("AP", depth=2).plot(),
    "archetype ranges": lambda: rs.lab.archetype_ranges(3, 6).plot(),
    "weights": lambda: rs.lab.rank_weights("P@5 RBP nDCG@10").plot(),
    "scales": lambda: rs.lab.scales(["DCG(discount='jk')"], length=3, equal_relevant=True).plot(),
    "intervals": lambda: plots.plot_intervals("001", "010", "010", "100", "DCG"),
    "intervals without a measure": lambda: compare_intervals("01", "10", "00", "11").plot(),
    "bench": lambda: _bench().plot(),
    "bench, distances": lambda: _bench().plot("critical-distance"),
    "bench, influence": lambda: _bench().plot("task-influence"),
    "corrected": lambda: _corrected().plot(),
    "corrected, AP": lambda: _corrected().plot(measure="AP", width=7.0),
    "slices": lambda: rs.compare(_sliced(), "tf", by=["lang", "length:2"], replicates=50).plot("slices"),
    "slices of means": lambda: _sliced().plot("slices", by="lang"),
    "forest with a baseline": lambda: rs.compare(_scores(), "tf", replicates=50).plot("forest", width=7.0),
    "wide archetypes": lambda: _effort().plot("archetypes", width=7.0),
    "wide bump": lambda: rs.certain(_many(), across="measures").plot(width=7.0),
    "wide certain": lambda: rs.certain(_many()).plot(width=7.0),
    "wide correlation": lambda: rs.correlate(_scores()).plot(width=7.0),
    "wide coverage": lambda: rs.Collection(ASPECTS, COVERING).coverage().plot(width=7.0),
    "wide effort": lambda: _effort().plot(facet="topic", width=7.0),
    "wide findings": lambda: rs.findings(_many()).plot(width=7.0),
    "wide heat map": lambda: _many().plot("heat-map", width=7.0),
    "wide indicators": lambda: _effort().plot("indicators", width=7.0),
    "wide leaderboard": lambda: rs.leaderboard(_many(), replicates=50).plot(width=7.0),
    "wide means": lambda: _many().plot(width=7.0),
    "wide overlap": lambda: rs.overlap(_small()).plot(width=7.0),
    "wide pool means": lambda: rs.pools(_scores(), repeats=2, ratios=[50, 10]).plot("means", width=7.0),
    "wide power": lambda: rs.power(_scores(), "t").plot(width=7.0),
    "wide slopes": lambda: _judges().plot("slopes", width=7.0),
    "wide topics": lambda: _scores().plot("topics", measure="AP", width=7.0),
    "study means": lambda: _study()["means"],
    "study bounds": lambda: _study()["bounds"],
    "study effort": lambda: _study()["effort_gain-AP"],
    "study robustness": lambda: _study()["robustness"],
}  # fmt: skip


def _figures_of_scores(get: Callable[[], rs.Scores], measure: str) -> dict[str, Callable[..., Any]]:
    """Return functions that draw figures of scores and of analyses of them, computed when they are first needed."""
    compared = cache(lambda: rs.compare(get(), replicates=20, per_topic=True))
    ranked = cache(lambda: rs.certain(get(), across="measures"))
    return {
        "means": lambda **more: get().plot(**more),
        "heat map": lambda **more: get().plot("heat-map", **more),
        "heat map of a measure": lambda **more: get().plot("heat-map", measure=measure, **more),
        "topics": lambda **more: get().plot("topics", highlight=[get().runs[-1], get().runs[0]], **more),
        "topics of a measure": lambda **more: get().plot("topics", measure=measure, **more),
        "forest": lambda **more: compared().plot("forest", **more),
        "forest of a measure": lambda **more: compared().plot("forest", measure=measure, **more),
        "forest with a baseline": lambda **more: rs.compare(get(), get().runs[0], replicates=20).plot(
            "forest", **more
        ),
        "differences": lambda **more: compared().plot("differences", **more),
        "differences of a measure": lambda **more: compared().plot("differences", measure=measure, **more),
        "leaderboard": lambda **more: rs.leaderboard(get(), replicates=20).plot(**more),
        "correlation": lambda **more: rs.correlate(get()).plot(**more),
        "power": lambda **more: rs.power(get(), "t").plot(**more),
        "bump": lambda **more: ranked().plot(**more),
        "bump of one run": lambda **more: ranked().plot(highlight=[get().runs[-1]], **more),
        "findings": lambda **more: rs.findings(get()).plot(**more),
    }


def _figures_of_rankings(
    get: Callable[[], rs.Collection], scores: Callable[[], rs.Scores]
) -> dict[str, Callable[..., Any]]:
    """Return functions that draw figures of collections."""
    effort = cache(lambda: rs.effort(get(), "AP nDCG", groups="^(.)"))
    pools = cache(lambda: rs.pools(scores(), repeats=1, ratios=[50, 10]))
    ends = cache(lambda: (scores().runs[0], scores().runs[-1]))
    return {
        "bounds": lambda **more: rs.bounds(get()).plot(**more),
        "robustness": lambda **more: pools().plot(**more),
        "pool means": lambda **more: pools().plot("means", **more),
        "orderings": lambda **more: rs.orderings(scores()).plot(**more),
        "overlap": lambda **more: rs.overlap(get(), depth=5).plot(**more),
        "verdict": lambda **more: rs.verdict(scores(), depth=10).plot(**more),
        "verdict of two runs": lambda **more: rs.verdict(scores(), ends(), depth=10).plot(**more),
        "effort": lambda **more: effort().plot(highlight=[ends()[0]], **more),
        "effort by group": lambda **more: effort().plot(facet="group", **more),
        "effort by recall base": lambda **more: effort().plot(
            facet="recall base", colour="archetype", **more
        ),
        "effort by archetype": lambda **more: effort().plot(facet="archetype", measure="nDCG", **more),
        "effort by topic": lambda **more: effort().plot(colour="topic", **more),
        "planes": lambda **more: effort().plot("planes", colour="recall base", **more),
        "equal gain": lambda **more: effort().plot("equal-gain", **more),
        "indicators": lambda **more: effort().plot("indicators", **more),
        "indicators of a run": lambda **more: effort().plot("indicators", run=ends()[1], **more),
        "archetypes": lambda **more: effort().plot("archetypes", **more),
    }


def _figures_of_world(
    runs: list[str], n_topics: int, measures: str, seed: int
) -> dict[str, Callable[..., Any]]:
    collection = cache(
        lambda: rs.Collection(*_collection(runs, [str(t) for t in range(1, n_topics + 1)], seed))
    )
    scores = cache(lambda: collection().evaluate(measures))
    of_scores = _figures_of_scores(scores, measures.split()[-1])
    return of_scores | _figures_of_rankings(collection, scores)


@cache
def _many_topics() -> rs.Scores:
    """Return values of 130 topics, some undefined or tied, of measures with other directions and ranges."""
    rng = np.random.default_rng(8)
    precision, points = rng.random((3, 130)), rng.integers(0, 4000, (3, 130)).astype(float)
    precision[1, 3] = precision[:, 5] = np.nan
    precision[2, 10:60] = precision[0, 10:60]
    cells = [(run, f"topic {t}", k, t) for k, run in enumerate(("one", "two", "three")) for t in range(130)]
    frame = pd.DataFrame({
        "run": [run for run, *_ in cells],
        "topic": [topic for _, topic, *_ in cells],
        "AP": [precision[k, t] for *_, k, t in cells],
        "BalancePoint": [points[k, t] for *_, k, t in cells],
        "Clicks": [points[k, t] / 7 - 100 for *_, k, t in cells],
    })  # fmt: skip
    return rs.read_scores(frame)


WORLDS: dict[str, dict[str, Callable[..., Any]]] = {
    "two runs": _figures_of_world(["a", "b"], 3, "AP P@5", 5),
    "long names": _figures_of_world(
        [f"{'a very long name ' * (k % 3 + 1)}of the system {k} in words" for k in range(7)],
        9,
        "P@5 nDCG@10 AP Twist",
        6,
    ),
    "many runs": _figures_of_world([f"{'abc'[k % 3]}{k}" for k in range(45)], 3, "AP RR Twist", 7),
    "many topics": _figures_of_scores(_many_topics, "BalancePoint"),
}
for left_out in ("overlap", "effort by topic", "planes"):
    del WORLDS["many runs"][left_out]
CASES = [(world, figure) for world, figures in WORLDS.items() for figure in figures]

ERRORS: dict[str, Callable[[], Any]] = {
    "a figure": lambda: _scores().plot("tree"),
    "a pair": lambda: _comparison().plot("differences", pair=("tf", "worst")),
    "no topics": lambda: rs.compare(_scores(), replicates=20).plot("differences"),
    "no lines": lambda: rs.certain(_scores()).plot(highlight=["tf"]),
    "a measure": lambda: _comparison().plot(measure="RR"),
    "a run": lambda: _effort().plot(highlight=["none"]),
    "a highlighted run": lambda: rs.certain(_scores(), across="measures").plot(highlight=["bm26"]),
    "indicators of a run": lambda: _effort().plot("indicators", run="none"),
    "groups": lambda: rs.effort(_small(), "AP").plot(facet="group"),
    "too many rankings": lambda: _effort().plot("equal-gain", lists=[("tf", t) for t in "12345"]),
    "a pool": lambda: rs.pools(_scores(), repeats=1, ratios=[50]).plot("means", pool=40),
    "a file": lambda: plots.plot_archetypes().render("docx"),
    "a file without an ending": lambda: plots.plot_archetypes().render(""),
    "a style": lambda: plots.using("gothic").__enter__(),
    "an axis": lambda: _curves("a_t", axis="round")(),
    "a topic": lambda: rs.Collection(ASPECTS, COVERING).coverage().plot("aspects", topic="v"),
}


def _numbers(values: Any) -> list[Any]:
    flat = np.ravel(np.ma.filled(np.ma.asarray(values, np.float64), np.nan)).tolist()
    few = flat[:MAX_NUMBERS]
    return few if len(few) == len(flat) else [*few, f"{len(flat)} numbers", *sum_up(flat)]


def _colours(values: Any) -> list[str]:
    from matplotlib.colors import to_hex, to_rgba_array

    colours = [to_hex(colour, keep_alpha=True) for colour in to_rgba_array(values)]
    more = colours[MAX_NUMBERS:]
    return [*colours[:MAX_NUMBERS], *([shorten([f"{len(more)} more", *more])] if more else [])]


def _common(artist: Any) -> dict[str, Any]:
    label = str(artist.get_label())
    entries = {
        "label": None if label.startswith("_") else label,
        "gid": artist.get_gid(),
        "alpha": artist.get_alpha(),
        "order": artist.get_zorder(),
        "clipped": artist.get_clip_on(),
        "rasterized": artist.get_rasterized() or None,
    }
    return {name: value for name, value in entries.items() if value not in (None, "")}


def _describe(artist: Any) -> dict[str, Any]:
    """Return what a line, patch, collection, text or image looks like."""
    from matplotlib import collections, image, lines, patches, text

    result = _common(artist)
    if isinstance(artist, lines.Line2D):
        result |= {"x": _numbers(artist.get_xdata(orig=False)), "y": _numbers(artist.get_ydata(orig=False))}
        result |= {"colour": _colours(artist.get_color()), "width": artist.get_linewidth()}
        result |= {"style": artist.get_linestyle(), "marker": artist.get_marker()}
        result |= {"dashes": str(artist._unscaled_dash_pattern)}  # type: ignore[attr-defined]
        result |= {"cap": str(artist.get_solid_capstyle()), "steps": artist.get_drawstyle()}
        result |= {"marked": str(artist.get_markevery())}
        if artist.get_marker() not in ("None", "", None):
            result |= {"size": artist.get_markersize(), "edge": artist.get_markeredgewidth()}
            result |= {
                "fill": _colours(artist.get_markerfacecolor()),
                "rim": _colours(artist.get_markeredgecolor()),
            }
    elif isinstance(artist, patches.Patch):
        corners = artist.get_path().transformed(artist.get_patch_transform()).vertices
        result |= {"corners": _numbers(corners), "fill": _colours(artist.get_facecolor())}
        result |= {"rim": _colours(artist.get_edgecolor()), "width": artist.get_linewidth()}
        result |= {"hatch": artist.get_hatch(), "style": artist.get_linestyle()}
    elif isinstance(artist, collections.Collection):
        points = [path.vertices for path in artist.get_paths()]
        result |= {
            "points": _numbers(np.concatenate(points)) if points else [],
            "offsets": _numbers(artist.get_offsets()),
        }
        result |= {"fill": _colours(artist.get_facecolor()), "rim": _colours(artist.get_edgecolor())}
        result |= {"widths": _numbers(artist.get_linewidth()), "hatch": artist.get_hatch()}
        result |= {"styles": str(artist.get_linestyle()[:2])}
        if hasattr(artist, "get_sizes"):
            result |= {"sizes": _numbers(artist.get_sizes())}
        if artist.get_array() is not None:
            result |= {
                "values": _numbers(artist.get_array()),
                "limits": artist.get_clim(),
                "map": artist.get_cmap().name,
            }
    elif isinstance(artist, text.Text):
        result |= {
            "text": artist.get_text(),
            "position": artist.get_position(),
            "size": artist.get_fontsize(),
        }
        result |= {"colour": _colours(artist.get_color()), "rotation": artist.get_rotation()}
        result |= {"aligned": f"{artist.get_horizontalalignment()} {artist.get_verticalalignment()}"}
        result |= {"weight": str(artist.get_fontweight()), "slant": str(artist.get_fontstyle())}
        result |= {"family": str(artist.get_fontfamily()), "spacing": artist._linespacing}  # type: ignore[attr-defined]
        result |= {"box": None if (box := artist.get_bbox_patch()) is None else _describe(box)}
        if isinstance(artist, text.Annotation):
            result |= {
                "point": _numbers(artist.xy),
                "offset": _numbers(artist.xyann),
                "units": str(artist.anncoords),
                "arrow": str(artist.arrowprops),
                "clipped outside": artist.get_annotation_clip(),
            }
    elif isinstance(artist, image.AxesImage):
        result |= {"values": _numbers(artist.get_array()), "extent": _numbers(artist.get_extent())}
        result |= {"limits": artist.get_clim(), "map": artist.get_cmap().name}
    return result


def _describe_all(artists: Any, limit: int = MAX_ARTISTS) -> dict[str, Any]:
    """Return the artists by kind, the first ones in full, and a summary of the others."""
    kinds: dict[str, list[Any]] = {}
    for artist in artists:
        kinds.setdefault(type(artist).__name__, []).append(artist)
    result: dict[str, Any] = {}
    for kind, members in kinds.items():
        first, others = members[:limit], members[limit:]
        result[kind] = {"number": len(members)}
        if first:
            result[kind]["artists"] = [_describe(each) for each in first]
        if others:
            result[kind]["others"] = summarise([_describe(each) for each in others])
    return result


USUAL = {
    ("shown", True), ("slant", "normal"), ("family", "['DejaVu Sans']"), ("spacing", "normal"), ("spacing", 1.2),
    ("aspect", "auto"), ("scale", "linear"), ("clipped", True), ("minor ticks", 0), ("place", "bottom"),
    ("place", "left"), ("rotation", 0.0), ("weight", "normal"), ("cap", "projecting"), ("steps", "default"),
    ("colour", "#222222ff"), ("style", "-"), ("marker", "None"), ("dashes", "(0, None)"), ("pad", 3.5),
    ("label looks", "#222222 normal 4.0"), ("gridOn", True), ("left", True), ("bottom", True), ("labelleft", True),
    ("labelbottom", True), ("label", ""), ("background", "#ffffffff"), ("spines", "left bottom"),
    ("layout", "0.03 0.03 0.02 0.02 (0, 0, 1, 1)"),
    ("styles", "[(0.0, None)]"), ("aligned", "left baseline"), ("text", ""), ("ticks", "FixedLocator"), ("title", ""),
    ("marked", "None"), ("clipped outside", None), ("shared", "1 1"),
}  # fmt: skip
"""Values of properties that are not recorded."""


def _without_usual(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _without_usual(part)
            for name, part in value.items()
            if not isinstance(part, Hashable) or (name, part) not in USUAL
        }
    return [_without_usual(part) for part in value] if isinstance(value, list) else value


def _describe_axis(axis: Any) -> dict[str, Any]:
    from matplotlib.ticker import FixedLocator, MaxNLocator

    locator, looks = axis.get_major_locator(), axis.get_tick_params()
    result = {
        "label": axis.get_label().get_text(),
        "label size": axis.get_label().get_fontsize(),
        "label looks": f"{axis.get_label().get_color()} {axis.get_label().get_fontweight()} {axis.labelpad}",
        "limits": axis.get_view_interval(),
        "scale": axis.get_scale(),
        "shown": axis.get_visible(),
        "ticks": type(locator).__name__,
        "minor ticks": len(axis.get_minorticklocs()),
        "place": axis.get_ticks_position(),
        "looks": {name: looks[name] for name in TICK_LOOKS if name in looks},
    }
    if hasattr(scale := axis.get_transform(), "linthresh"):
        result["linear"] = [scale.linthresh, scale.linscale]
    if isinstance(locator, FixedLocator):
        result["positions"] = _numbers(locator.locs)
    elif isinstance(locator, MaxNLocator):
        result["intervals"] = str(locator._nbins)  # type: ignore[attr-defined]
    labels = axis.get_majorticklabels()
    result["names"] = shorten([each.get_text() for each in labels])
    if labels:
        result["name looks"] = shorten(
            list(
                dict.fromkeys(
                    f"{t.get_fontsize():g} {t.get_color()} {t.get_ha()} {t.get_rotation():g}" for t in labels
                )
            )
        )
    return result


def _describe_axes(axes: Any, limit: int) -> dict[str, Any]:
    artists = [*axes.lines, *axes.patches, *axes.collections, *axes.texts, *axes.images]
    titles = [title for title in (axes.title, axes._left_title, axes._right_title) if title.get_text()]
    result = {
        "title": [_describe(title) for title in titles],
        "shown": axes.axison,
        "spines": " ".join(name for name, spine in axes.spines.items() if spine.get_visible()),
        "aspect": str(axes.get_aspect()),
        "background": " ".join(_colours(axes.get_facecolor())),
        "shared": " ".join(
            str(len(shared.get_siblings(axes))) for shared in (axes._shared_axes["x"], axes._shared_axes["y"])
        ),
        "horizontal": _describe_axis(axes.xaxis),
        "vertical": _describe_axis(axes.yaxis),
        **_describe_all(artists, limit),
    }
    place = axes.get_subplotspec()
    if place is not None:
        grid = place.get_gridspec()
        result["grid"] = [*grid.get_geometry(), place.num1, place.num2]
        result["shares"] = {
            "widths": _numbers(grid.get_width_ratios()),
            "heights": _numbers(grid.get_height_ratios()),
        }
    else:
        result["bounds"] = list(axes.get_position(original=True).bounds)
    if axes.get_legend() is not None:
        result["legend"] = _describe_legend(axes.get_legend())
    return result


def _describe_legend(legend: Any) -> dict[str, Any]:
    names = ("borderpad", "labelspacing", "handlelength", "handletextpad", "borderaxespad", "columnspacing")
    box = (
        legend.get_bbox_to_anchor().transformed(legend.parent.transSubfigure.inverted()).bounds
        if legend._bbox_to_anchor is not None and not hasattr(legend.parent, "transAxes")
        else ()
    )
    return {
        "columns": legend._ncols,
        "place": str(legend._loc_real),
        "box": _numbers(box),
        "frame": legend.get_frame_on(),
        "title": _describe(legend.get_title()) if legend.get_title().get_text() else None,
        "spaces": [getattr(legend, name) for name in names],
        "texts": [_describe(each) for each in legend.get_texts()[: 2 * MAX_ARTISTS]],
        "handles": [_describe(each) for each in legend.legend_handles[: 2 * MAX_ARTISTS] if each is not None],
    }


def _layout(options: Any) -> str:
    names = ("w_pad", "h_pad", "wspace", "hspace", "rect")
    return " ".join(str(options.get(name)) for name in names)


def _describe_figure(figure: Any, limit: int) -> dict[str, Any]:
    engine = figure.get_layout_engine()
    return {
        "title": figure.get_suptitle(),
        **_describe_all(figure.texts, limit),
        "legends": [_describe_legend(legend) for legend in figure.legends],
        "layout": None if engine is None else _layout(engine.get()),
        "panels": [_describe_figure(panel, limit) for panel in figure.subfigs],
    }


def describe(drawn: Any, limit: int = MAX_ARTISTS) -> Any:
    """Return the size, axes and artists of a figure, and the caption, columns and values of its table."""
    table = drawn.table
    return _without_usual(to_plain({
        "size": drawn.figure.get_size_inches(),
        **_describe_figure(drawn.figure, limit),
        "axes": {f"axes {number}": _describe_axes(axes, limit) for number, axes in enumerate(drawn.axes, 1)},
        "table": {"caption": table.caption, "columns": " ".join(table.columns), "rows": len(table),
                  "values": summarise(table.records())},
    }))  # fmt: skip


def describe_in_brief(drawn: Any) -> Any:
    """Return a summary of each property of all axes and artists of a figure."""
    described = describe(drawn, limit=0)
    return to_plain(summarise(described | {"axes": list(described["axes"].values())}))


def describe_widths(world: str, name: str) -> Any:
    """Return summaries of a figure in a column of a paper and on a page, or its errors."""
    results: dict[str, Any] = {}
    draw = WORLDS[world][name]
    for width in {"many runs": (3.3,), "many topics": (7.0,)}.get(world, (3.3, 7.0)):
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "AP is undefined on 2 of 130 topics")
                results[f"{width} inches"] = describe_in_brief(draw(width=width))
        except InputError as error:
            results[f"{width} inches"] = str(error)
    return results


def describe_error(draw: Callable[[], Any]) -> str:
    with pytest.raises(SettingsError) as caught:
        draw()
    return str(caught.value)


@pytest.mark.parametrize("name", FIGURES)
def test_figures_change_only_on_purpose(name: str) -> None:
    assert_recorded(describe(FIGURES[name]()), RECORDED, name)


@pytest.mark.parametrize(("world", "name"), CASES)
def test_figures_of_other_collections_change_only_on_purpose(world: str, name: str) -> None:
    assert_recorded(describe_widths(world, name), RECORDED, f"{world}: {name}")


def test_errors_of_figures_change_only_on_purpose() -> None:
    errors = {name: describe_error(draw) for name, draw in ERRORS.items()}
    assert_recorded(errors, RECORDED, "errors")


def test_a_failure_names_the_value_that_changed() -> None:
    drawn = FIGURES["means"]()
    drawn.axes[0].set_xlabel("another label")
    with pytest.raises(
        AssertionError, match="means, axes, axes 1, horizontal, label: 'another label' instead of"
    ):
        assert_recorded(describe(drawn), RECORDED, "means")


if __name__ == "__main__":
    figures = {name: describe(draw()) for name, draw in FIGURES.items()}
    worlds = {f"{world}: {name}": describe_widths(world, name) for world, name in CASES}
    write_recorded(
        RECORDED, figures | worlds | {"errors": {name: describe_error(draw) for name, draw in ERRORS.items()}}
    )
