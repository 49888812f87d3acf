"""Angelini, Ferro, Järvelin, Keskustalo, Pirkola, Santucci and Silvello: cumulated relative position."""

from __future__ import annotations

from typing import Any

from papers.reading import column, lines, means, points, values, vector
from papers.row import Detail, Row

TITLE = "Cumulated relative position (Angelini et al. 2012)"
ABOUT = """The older form of the curve, with four indicators of its own; see [Effort](effort.md). `$CRP` holds the paper's example:
the ideal and the worst-case list and the lists A and B, with a recall base of 10 and 20 ranks. Its figures are of a run of TREC 7
that is not public; `$COVID_RUN` is one of TREC-COVID. The introduction promises future developments, the conclusions name none."""

CURVE_A = "rankscope curve $CRP/qrels.txt $CRP/a.run --topic t"
CURVE_B = "rankscope curve $CRP/qrels.txt $CRP/b.run --topic t"


def _support(tables: Any) -> str:
    return "{" + ", ".join(str(row["rank"]) for row in tables["curve"] if row["grade"] == 3) + "}"


def _indicator(name: str) -> Any:
    def cell(tables: Any) -> str:
        return f"{values(tables)[name]:.4f}".replace("inf", "∞")

    return cell


def _indicator_rows(item: str, name: str, what: str, claimed: str, why: str) -> list[Row]:
    def holds(tables: Any) -> bool:
        value = values(tables)[name]
        low = value > 0 if "(0" in claimed else value >= 0
        return bool(low and (value < 1 if "1)" in claimed else value <= 1))

    return [
        Row(
            item,
            f"{what}; list A",
            command=CURVE_A,
            paper=claimed,
            ours=_indicator(name),
            holds=holds,
            why=why,
        ),
        Row(item, f"{what}; list B", command=CURVE_B, paper=claimed, ours=_indicator(name), holds=holds),
    ]


def _after_recall_base(tables: Any) -> list[int]:
    base = points(tables)["recall base"]
    return [row["rp"] for row in tables["curve"] if row["rank"] > base]


def _eval(measures: str) -> str:
    return f'rankscope eval $CRP/qrels.txt $CRP/a.run $CRP/b.run -m "{measures}"'


def _pair(tables: Any) -> str:
    return lines(
        *(
            f"{run.upper()}: "
            + ", ".join(f"{row['value']:.4f}" for row in tables["means"] if row["run"] == run)
            for run in "ab"
        )
    )


PROTOTYPE = {
    "the CRP curve of a topic, the ideal ranking being the axis": ("Curves", 'id="curves-title"'),
    "below it a bar: documents in place, too early, too late, in three colours": (
        "Curves",
        "ranked too early",
    ),
    "the points of the indicators marked on the curve": ("Curves", "turn-around point: the lowest CRP"),
    "DCG and CRP, with a bar for the gain of each document relative to the ideal one": (
        "Curves",
        "gain than the ideal ranking",
    ),
    "parallel coordinates of the indicators for all topics of a run": ("Indicators", 'id="indicators-title"'),
    "R and the recovery value of the worst case as further axes": ("Indicators", "rho_w"),
}
"""The parts of the prototype that Section 4 names; the view that has each, and what shows it in the page."""


def _on_the_page(tables: Any, part: str) -> bool:
    return PROTOTYPE[part][1] in tables["page"]


def _prototype_table(tables: Any) -> Detail:
    rows = [
        [part, view if _on_the_page(tables, part) else "missing"] for part, (view, _) in PROTOTYPE.items()
    ]
    return Detail(("prototype", "view of the page"), rows)


ROWS = [
    Row(
        "Relevance weights",
        "grades are turned into weights by a monotone function, for the measures of gain",
        command=f"{CURVE_A} --gains 0,1,2,3",
        ours=lambda t: f"DCG {t['curve'][-1]['dcg']:.4f}",
        why="`--gains` takes any list, negative numbers included",
    ),
    Row(
        "Equation 1",
        "the grade of the document at a rank; list A, ranks 1 to 11",
        command=CURVE_A,
        paper="(3, 3, 2, 0, 1, 2, 0, 0, 0, 1, 3)",
        ours=lambda t: vector(grade or 0 for grade in column(t["curve"], "grade")[:11]),
        why="hr, fr, pr, nr written 3, 2, 1, 0",
    ),
    Row(
        "Example",
        "recall of A and B",
        command="rankscope eval $CRP/qrels.txt $CRP/a.run $CRP/b.run -m R@20",
        paper="0.7, 1.0",
        ours=lambda t: ", ".join(f"{means(t)[run, 'R@20']:.1f}" for run in "ab"),
    ),
    Row(
        "Equation 2",
        "the ranks at which a grade stands; hr in A",
        command=CURVE_A,
        paper="{1, 2, 11}",
        ours=_support,
    ),
    Row(
        "Equation 2",
        "the same in B",
        command=CURVE_B,
        paper="{1, 2, 3}",
        ours=_support,
        why="the paper's own list B has its third highly relevant document at rank 13",
    ),
    Row(
        "Equation 3",
        "first and last rank of each grade in the ideal ranking",
        command=CURVE_A,
        paper="hr 1–3, fr 4–6, pr 7–10, nr 11–20",
        ours=lambda t: ", ".join(
            f"{['nr', 'pr', 'fr', 'hr'][row['grade']]} {row['first']}–{row['last']}" for row in t["intervals"]
        ),
    ),
    Row(
        "Equation 4",
        "relative position; list A",
        command=CURVE_A,
        paper=vector([0, 0, -1, -7, -2, 0, -4, -3, -2, 0, 8, *[0] * 9]),
        ours=lambda t: vector(column(t["curve"], "rp")),
    ),
    Row(
        "Equation 4",
        "the same for list B",
        command=CURVE_B,
        paper=vector([0, 0, -4, -7, 0, -1, -4, -3, 3, 0, 5, 0, 10, 4, *[0] * 6]),
        ours=lambda t: vector(column(t["curve"], "rp")),
    ),
    Row(
        "Equation 5",
        "cumulated relative position at rank 20; list A",
        command=CURVE_A,
        paper="-11",
        ours=lambda t: str(t["curve"][-1]["crp"]),
    ),
    Row(
        "Equation 5",
        "the same for list B",
        command=CURVE_B,
        paper="3",
        ours=lambda t: str(t["curve"][-1]["crp"]),
    ),
    Row(
        "Figure 1",
        "the curve of a list and of the worst case with all marked points; list B",
        command=f"{CURVE_B} --plot curve.svg",
        ours=lambda t: lines(
            *(
                f"{name} {points(t)[name]}"
                for name in ("turn-around", "recall base", "balance 2012", "balance 2012 of full scale")
            )
        ),
    ),
    Row(
        "Property 1",
        "CRP is never positive before the recall base",
        python='rs.curve(rs.Collection({"t": {"e": 2, "d1": 1, "d2": 1, "d3": 1}}, {"t": ["d1", "d2", "e"]}), None, "t").crp.tolist()[:3]',
        paper="at most 0",
        ours=vector,
        why="true for binary grades only; here RB = 4 and CRP is positive at rank 3",
    ),
    Row(
        "Property 2",
        "the faster the curve falls before the recall base, the worse; the loss there of A and B",
        command="rankscope effort $CRP/qrels.txt $CRP/a.run $CRP/b.run --cutoff 20 -q",
        ours=lambda t: lines(*(f"{row['run']}: {row['loss_at_R']}" for row in t["indicators"])),
    ),
    Row(
        "Property 3",
        "the curve never falls after the recall base; the least step of B",
        command=CURVE_B,
        paper="not decreasing",
        ours=lambda t: str(min(_after_recall_base(t))),
        holds=lambda t: min(_after_recall_base(t)) >= 0,
        why="RP is not negative there; checked on every short list by the tests",
    ),
    Row(
        "Property 4",
        "the curve is constant after the last relevant document; steps of B from rank 15",
        command=CURVE_B,
        paper="constant",
        ours=lambda t: vector(column(t["curve"], "rp")[14:]),
        holds=lambda t: not any(column(t["curve"], "rp")[14:]),
    ),
    Row(
        "Property 5",
        "the sooner the curve is back at the axis, the better; the balance point of B",
        command=CURVE_B,
        ours=lambda t: f"rank {points(t)['balance 2012']}",
    ),
    *_indicator_rows(
        "Equation 6",
        "Rho2012",
        "recovery value R / b",
        "in (0, 1]",
        "A never comes back to the axis: b is infinite and Rho 0",
    ),
    *_indicator_rows(
        "Equation 7",
        "b_ratio",
        "balance ratio 1 - b / b of the worst case",
        "in [0, 1)",
        "minus infinity for A; the clamped value, which the parallel coordinates use, is 0",
    ),
    *_indicator_rows(
        "Equation 8",
        "CRP_min",
        "depth of the curve against the worst case at that rank",
        "in [0, 1]",
        "",
    ),
    *_indicator_rows(
        "Equation 9",
        "CRP_N",
        "end of the curve against that of the worst case",
        "in [0, 1]",
        "the curve of A ends below the axis, that of the worst case above it: more than 1",
    ),
    Row(
        "Equation 10",
        "mean recovery value over topics",
        command="rankscope eval $COVID_RUN -m Rho2012",
        ours=lambda t: f"{t['means'][0]['value']:.4f}",
        why="topics without relevant documents are left out",
    ),
    Row(
        "Section 3",
        "normalised recall (NR), which does not see grades; lists A and B",
        command=_eval("NR@20"),
        ours=_pair,
    ),
    Row(
        "Section 3",
        "sliding ratio (SR) at 10: divided by the best order of the retrieved documents themselves",
        command=_eval("SR@10"),
        ours=_pair,
        why="a longer list changes every value, as the paper says: `retrieved=` is that length",
    ),
    Row(
        "Section 3",
        "satisfaction, frustration and total (SFT)",
        command=_eval("SFT(part=satisfaction) SFT(part=frustration) SFT"),
        ours=_pair,
        why="published without its normalisation; [ours](measures/SFT.md) compares with all orders of the same list",
    ),
    Row(
        "Section 3",
        "cumulated gain and its normalised form at 10 (CG, nCG)",
        command=_eval("CG@10 nCG@10"),
        ours=_pair,
    ),
    Row(
        "Section 3",
        "discounted cumulated gain and its normalised form; lists A and B",
        command=_eval("DCG(discount=jk) nDCG(discount=jk)"),
        ours=_pair,
    ),
    Row(
        "Introduction",
        "grades merged for a coarser analysis; CRP of B at rank 20 with one relevant grade",
        command=f'{CURVE_B} --grades "1,2,3=1"',
        ours=lambda t: str(t["curve"][-1]["crp"]),
        why="with all grades it is 3, as in Equation 5",
    ),
    Row(
        "Figure 2",
        "CRP and DCG with a negative gain for non-relevant documents; the lowest point of each curve",
        command="rankscope curve $COVID_RUN --topic 1 --cutoff 1000 --gains 0=-1,1=1,2=2 --plot both.svg --figure dcg",
        ours=lambda t: f"CRP {min(column(t['curve'], 'crp'))}, DCG {min(column(t['curve'], 'dcg')):.2f}",
        why="another run and topic: TREC 7's are not public, nor are the judgments of Sormunen (2002) in four grades",
    ),
    Row(
        "Figure 3",
        "the four indicators, R and rho of the worst case as parallel coordinates, a line for each topic",
        command="rankscope effort $COVID_RUN -q --plot parallel.svg --figure indicators",
        ours=lambda t: f"{len(t['indicators'])} topics",
        why="another run",
    ),
    Row(
        "Section 4",
        "the interactive prototype: CRP graph, aggregate graph, CRP against DCG",
        command="rankscope report $COVID_RUN -o page.html",
        ours=lambda t: (
            ", ".join(part for part in PROTOTYPE if not _on_the_page(t, part)) or "no part is missing"
        ),
        why="see [the page](explorer.md)",
        detail=_prototype_table,
    ),
]
