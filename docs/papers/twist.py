"""Ferro, Silvello, Keskustalo, Pirkola and Järvelin: the Twist measure."""

from __future__ import annotations

import math
import re
from typing import Any

from papers.reading import column, lines, means, percent, pick, points, values, vector
from papers.row import Detail, Row

TITLE = "The Twist measure (Ferro, Silvello, Keskustalo, Pirkola and Järvelin 2016)"
ABOUT = """Explained with its own example in [Effort](effort.md). `$TWIST` holds that example as files: the lists i (`ideal.run`), w
(`worst.run`), fs (`full-scale.run`), a and b of the paper, and lists of ours for the other archetypes. TREC 10 and TREC 14 are
not public, of TREC 20 and TREC 21 (Web 2011 and 2012) the judgments are but not the participants' runs."""

CURVE_A = "rankscope curve $TWIST/qrels.txt $TWIST/a.run --topic t"
CURVE_B = "rankscope curve $TWIST/qrels.txt $TWIST/b.run --topic t"
FULL_SCALE = "rankscope curve $TWIST/qrels.txt $TWIST/full-scale.run --topic t"
ALL = "rankscope effort $TWIST/qrels.txt $TWIST/*.run --cutoff 15 -q"
JK = "nDCG(discount='jk',base=10)"
STUDY = "rankscope study $FOUR --like twist --plots -o study"
GAINS = "AP Bpref RBP(p=0.8) nDCG(discount=jk,base=10)"
MEASURES = f"{GAINS} Twist"


def _intervals(tables: Any) -> str:
    names = {3: "hr", 2: "fr", 1: "pr", 0: "nr"}
    return ", ".join(f"{names[row['grade']]} {row['first']}–{row['last']}" for row in tables["intervals"])


def _rp(tables: Any) -> str:
    return vector(column(tables["curve"], "rp"))


def _crp(tables: Any) -> str:
    return vector(column(tables["curve"], "crp"))


def _three_crossings(name: str) -> Any:
    def cell(tables: Any) -> str:
        value = values(tables)
        return lines(
            *(f"{mode} {value[f'{name} ({mode})']:.4f}" for mode in ("definition", "sign-change", "matters"))
        )

    return cell


def _archetype_shares(tables: Any) -> dict[str, float]:
    shares = {row["archetype"]: row["share"] for row in tables["summary"]}
    excellent = shares["excellent A"] + shares["excellent B"] + shares["ups-and-downs"]
    names = ("ideal", "worst", "typical A", "typical B")
    return {
        **{name: shares[name] for name in names},
        "excellent": excellent,
        "full scale": shares["full scale"],
    }


NAMES = ("TREC-COVID", "Cranfield", "Web-2011", "Web-2012")
PRINTED_FEATURES = {
    "TREC 10": (50, 95, "1,000", 3, "100"),
    "TREC 14": (50, 74, "1,000", 3, "55"),
    "TREC 20": (50, 37, "10,000", 4, "25"),
    "TREC 21": (50, 27, "10,000", 4, "30 and 25"),
}


def _feature(tables: Any, feature: str, collection: str) -> str:
    return str(pick(tables["features"], feature=feature)[collection])


def _feature_table(tables: Any) -> Detail:
    features = ("Topics", "Runs", "Longest list", "Relevance grades", "Pool depth (half of the runs)")
    rows = [
        [
            feature,
            *(str(row[k]) for row in PRINTED_FEATURES.values()),
            *(_feature(tables, feature, name) for name in NAMES),
        ]
        for k, feature in enumerate(features)
    ]
    more = [row for row in tables["features"] if row["feature"] not in features]
    rows += [[row["feature"], *[""] * 4, *(str(row[name]) for name in NAMES)] for row in more]
    return Detail(("feature", *(f"{name} (paper)" for name in PRINTED_FEATURES), *NAMES), rows)


PRINTED_ARCHETYPES = {
    "TREC 10": (4750, 0.17, 3.09, 83.87, 12.72, 0.15),
    "TREC 14": (3700, 0.00, 1.86, 80.24, 17.89, 0.00),
    "TREC 20": (1850, 0.11, 8.86, 60.70, 30.16, 0.16),
    "TREC 21": (1350, 0.00, 4.15, 64.59, 31.26, 0.00),
}


def _archetype_table(tables: Any) -> Detail:
    names = ("ideal", "worst", "typical A", "typical B", "excellent")
    rows = [
        [f"{name} (paper)", f"{printed[0]:,}", *(f"{share:.2f} %" for share in printed[1:])]
        for name, printed in PRINTED_ARCHETYPES.items()
    ]
    rows += [
        [row["collection"], f"{int(row['total']):,}", *(f"{float(row[name]):.2f} %" for name in names)]
        for row in tables["archetype_shares"]
    ]
    return Detail(("collection", "lists", *names), rows)


def _typical(tables: Any) -> str:
    shares = tables["archetype_shares"]
    return lines(
        *(f"{row['collection']} {float(row['typical A']) + float(row['typical B']):.1f} %" for row in shares)
    )


def _typical_printed() -> str:
    return lines(*(f"{name} {p[3] + p[4]:.1f} %" for name, p in PRINTED_ARCHETYPES.items()))


def _plane(measure: str) -> Any:
    def cell(tables: Any) -> str:
        rows = [row for row in tables["agreement"] if row["measure"] == measure]
        return lines(
            *(
                f"{row['collection']} {percent(row['diagonal_share'], 0)}, {percent(row['high_high_share'], 0)}"
                for row in rows
            )
        )

    return cell


def reason_with_figure(name: str, text: str) -> Any:
    """Return a function that gives the reason and names the figure, which must exist."""

    def why(tables: Any) -> str:
        [match] = [file for file in tables["files"] if file == name]
        return f"{text}; drawn as figures/{match}" if text else f"drawn as figures/{match}"

    return why


def _plane_row(number: int, measure: str, paper: str, why: str) -> Row:
    return Row(
        f"Figure {number}",
        f"effort/gain plane of {measure.split('(')[0]} against Twist: shares of lists in the diagonal cells and in the four"
        " high-gain, high-effort cells",
        command=STUDY,
        paper=paper,
        ours=_plane(measure),
        why=reason_with_figure(f"effort_gain-{re.sub('[^A-Za-z0-9]+', '_', measure).strip('_')}.pdf", why),
    )


def _high_high(tables: Any) -> str:
    shares = [float(row["high_high_share"]) for row in tables["agreement"]]
    return f"{percent(min(shares), 0)} to {percent(max(shares), 0)}"


def _tau(tables: Any, a: str, b: str) -> float:
    for row in tables["correlations"]:
        if row["method"] == "kendall" and {row["a"], row["b"]} == {a, b}:
            return float(row["value"])
    raise KeyError((a, b))


PRINTED_TABLE_3 = {
    "TREC 10": (0.8506, 0.6041, 0.8334),
    "TREC 14": (0.8390, 0.7229, 0.9070),
    "TREC 20": (0.8498, 0.5675, 0.8962),
    "TREC 21": (0.8461, 0.5669, 0.8388),
}
PRINTED_TABLE_4 = {
    "TREC 10": (0.8144, 0.8173, 0.6489, 0.8791),
    "TREC 14": (0.8477, 0.7547, 0.6051, 0.9012),
    "TREC 20": (0.8254, 0.8148, 0.3968, 0.9245),
    "TREC 21": (0.9157, 0.8526, 0.3684, 0.82105),
}


def _as_printed(value: float) -> str:
    """Four digits, or as many as the paper has."""
    return max(f"{value:.4f}", repr(value), key=len)


def _correlations(name: str, others: tuple[str, ...], printed: dict[str, tuple[float, ...]]) -> Any:
    def detail(tables: Any) -> Detail:
        rows = [[f"{collection} (paper)", *map(_as_printed, row)] for collection, row in printed.items()]
        rows += [
            [row["measure"].partition("(")[2][:-1], *(f"{float(row[other]):.4f}" for other in others)]
            for row in tables[name]
        ]
        return Detail(("collection", *(other.replace(JK, "nDCG") for other in others)), rows)

    return detail


def _with_ndcg(name: str) -> Any:
    return lambda tables: lines(
        *(f"{row['measure'].partition('(')[2][:-1]} {float(row[JK]):.4f}" for row in tables[name])
    )


def _at_ten(tables: Any) -> Detail:
    """Tau at every share of the judgments, for each collection and measure."""
    shares = ("90%", "70%", "50%", "30%", "10%")
    rows = [
        [
            row["collection"],
            row["measure"].replace(JK, "nDCG"),
            *(f"{float(row[share]):.3f}" for share in shares),
        ]
        for row in tables["robustness_curve"]
    ]
    return Detail(
        ("collection", "measure", *shares), rows, "The mean of ten samples; the best 75 % of the runs."
    )


def _power_table(tables: Any) -> Detail:
    rows = [
        [
            row["collection"],
            row["measure"].replace(JK, "nDCG"),
            f"{row['significant']} of {row['pairs']}",
            percent(row["power"]),
            f"{float(row['delta']):.3f}",
        ]
        for row in tables["power"]
    ]
    return Detail(("collection", "measure", "significant pairs", "power", "Delta"), rows)


def _most(name: str, column: str) -> Any:
    """Return the measure with the highest value on each collection."""

    def cell(tables: Any) -> str:
        best: dict[str, Any] = {}
        for row in tables[name]:
            if float(row[column]) > float(best.get(row["collection"], {column: "-inf"})[column]):
                best[row["collection"]] = row
        return lines(
            *(
                f"{key} {row['measure'].replace(JK, 'nDCG')} {float(row[column]):.3f}"
                for key, row in best.items()
            )
        )

    return cell


def _robust(tables: Any) -> str:
    at_ten = [row for row in tables["curve"] if row["pool"] == 10]
    return lines(*(f"{row['measure'].replace(JK, 'nDCG')} {row['tau']:.3f}" for row in at_ten))


def _power(tables: Any) -> str:
    return lines(
        *(
            f"{row['measure'].replace(JK, 'nDCG')} {percent(row['power'])}, {row['delta']:.3f}"
            for row in tables["power"]
        )
    )


def _shapes(tables: Any) -> str:
    return lines(*(f"{row['run']}: {row['archetype']}" for row in tables["archetypes"]))


def _equal_gain(tables: Any) -> str:
    return lines(
        *(f"{row['effort']}: {row['value']:.3f}, {row['Twist']:.3f}" for row in tables["equal_gain"])
    )


def _tested(tables: Any) -> str:
    rows = [pick(tables["significance"], measure="AP", where=where) for where in ("all", "within", "across")]
    return lines(
        *(f"{r['where']}: {r['both']}, {r['gain_only']}, {r['effort_only']} of {r['pairs']}" for r in rows)
    )


def _weights(tables: Any) -> str:
    weights = [f"{row['weight']:.3f}" for row in tables.get("weights", [])]
    return ", ".join(weights[:4]) + ", ..." if weights else "no weights by rank"


def _user_row(name: str) -> Row:
    return Row(
        "Introduction",
        f"user model of {name}: browsing, utility or effort of a document, accumulation; what each rank counts",
        command=f"rankscope measures {name}",
        ours=_weights,
        why=lambda t: f"{t['measures'][0]['user']} [More](measures/{name}.md)",
    )


def _means_of_twist(tables: Any) -> str:
    by_collection: dict[str, list[float]] = {}
    for row in tables["means"]:
        by_collection.setdefault(row["collection"], []).append(float(row["Twist"]))
    return lines(*(f"{name} {min(means):.3f}–{max(means):.3f}" for name, means in by_collection.items()))


def _entries(figure: str) -> Any:
    def cell(tables: Any) -> str:
        row = pick(tables["summary"], figure=figure)
        return f"{row['confirmed']} of {row['entries']} entries hold"

    return cell


def _attained(tables: Any, archetype: str, quantity: str) -> str:
    extremes = [
        row
        for row in tables["ranges"]
        if row["archetype"].startswith(archetype) and row["quantity"] == quantity
    ]
    ends = [math.inf if row[end] is None else row[end] for row in extremes for end in ("lowest", "highest")]
    low, high = (f"{value:.4g}".replace("inf", "∞") for value in (min(ends), max(ends)))
    return low if low == high else f"{low} to {high}"


def _entry_table(figure: str) -> Any:
    def detail(tables: Any) -> Detail:
        rows = [
            [
                row["archetype"],
                row["quantity"],
                row["published"] + (f" ({row['reading']})" if row["reading"] else ""),
                _attained(tables, row["archetype"], row["quantity"]),
                f"{row['violations']:,} of {row['lists']:,}",
                row["counterexample"] or "",
            ]
            for row in tables["entries"]
            if row["figure"] == figure
        ]
        columns = ("archetype", "quantity", "paper", "attained", "lists against it", "the shortest")
        return Detail(
            columns, rows, "Every list with RB <= 6, N <= 14 and two grades, written as its grades."
        )

    return detail


def _archetype_row(figure: str, what: str) -> Row:
    return Row(
        figure,
        f"range of {what} for each archetype; on every list of small topics",
        command="rankscope effort --enumerate --plot archetypes.svg",
        paper="21 entries" if figure != "Figure 6" else "7 entries",
        ours=_entries(figure),
        holds=lambda t: all(row["verdict"] == "confirmed" for row in t["entries"] if row["figure"] == figure),
        why="the entries that fail, with the shortest list against each, are below",
        detail=_entry_table(figure),
    )


ROWS = [
    Row(
        "Example",
        "the lists i, w, fs, a and b of one topic with seven relevant documents, as files",
        command="rankscope eval $TWIST/qrels.txt $TWIST/full-scale.run -m NumRet",
        paper="fs: 16 entries",
        ours=lambda t: f"fs: {t['means'][0]['value']:.0f} entries",
        why="lists have N = 15 ranks; one nr too many is printed",
    ),
    Row(
        "Figure 1",
        "how relative position arises, for any list: where each document comes from; list b",
        command=f"{CURVE_B} --plot rp.svg --figure rp",
        paper="-6 at rank 2, +5 at rank 9",
        ours=lambda t: ", ".join(f"{t['curve'][rank - 1]['rp']:+d} at rank {rank}" for rank in (2, 9)),
    ),
    Row(
        "Definition 1",
        "relative position (RP): how far a document is from the ranks of its grade in the ideal ranking; list b",
        command=CURVE_B,
        paper="(0, -6, -2, -4, 1, -2, -1, 0, 5, 3, 0, 0, 11, 7, 0)",
        ours=_rp,
    ),
    Row(
        "Definition 1",
        "the same for list a",
        command=CURVE_A,
        paper="(0, 0, 0, -4, 0, 2, -1, 0, 0, 3, 0, 0, 0, 0, 0)",
        ours=_rp,
    ),
    Row(
        "Proposition 1",
        "RP lies between that of the full-scale ranking's first and last rank",
        command=FULL_SCALE,
        paper="-7, 13",
        ours=lambda t: f"{min(column(t['curve'], 'rp'))}, {max(column(t['curve'], 'rp'))}",
    ),
    Row(
        "Definition 2",
        "cumulated relative position (CRP), the running sum; list b",
        command=CURVE_B,
        paper="(0, -6, -8, -12, -11, -13, -14, -14, -9, -6, -6, -6, 5, 12, 12)",
        ours=_crp,
    ),
    Row(
        "Definition 2",
        "the same for list a",
        command=CURVE_A,
        paper="(0, 0, 0, -4, -4, -2, -3, -3, -3, 0, 0, 0, 0, 0, 0)",
        ours=_crp,
    ),
    Row(
        "Proposition 2 (1)",
        "CRP never falls below that of the full-scale ranking at the recall base",
        command=FULL_SCALE,
        paper="-28",
        ours=lambda t: str(min(column(t["curve"], "crp"))),
    ),
    Row(
        "Proposition 2 (2)",
        "CRP never rises above that of the full-scale ranking at the end; a list of ours against it",
        command="rankscope curve $TWIST/qrels.txt $TWIST/above.run --topic t",
        paper="at most 23",
        ours=lambda t: str(max(column(t["curve"], "crp"))),
        why="the bound holds only if no grade has more than N - 2 RB + 1 documents; here that is 2, and three are partially relevant",
    ),
    Row(
        "Definition 3",
        "crossings, balance point and recovery ratio; Rho of list a",
        command=CURVE_A,
        ours=_three_crossings("Rho"),
        why="read literally, 0 followed by a negative value is a crossing, so that every list that starts with a top-grade document"
        " has Rho = 1, against Figure 4 and Table 2; `crossing=` chooses the reading, `sign-change` is the default, `matters` is the"
        " authors' toolkit",
    ),
    Row(
        "Definition 4",
        "forward and backward space: the sums of positive and of negative RP; list b",
        command=CURVE_B,
        ours=lambda t: ", ".join(
            str(sum(abs(v) for v in column(t["curve"], "rp") if sign * v > 0)) for sign in (1, -1)
        ),
    ),
    Row(
        "Definition 5",
        "space ratios: one minus the share of the full-scale ranking's space, and their harmonic mean; list b",
        command=CURVE_B,
        ours=lambda t: lines(
            *(f"{name} {values(t)[name]:.4f}" for name in ("SigmaPlus", "SigmaMinus", "Sigma"))
        ),
    ),
    Row(
        "Figure 2",
        "recovery and space ratio on the curves of a ranking and of the full-scale ranking",
        command=f"{CURVE_B} --plot curve.svg",
        ours=lambda t: f"balance at rank {points(t)['balance (sign-change)']}, RB {points(t)['recall base']}",
        why="drawn in [Effort](effort.md#the-curve-crp)",
    ),
    Row(
        "Definition 6",
        "Twist: the mean of recovery and space ratio; list a",
        command=CURVE_A,
        ours=_three_crossings("Twist"),
        why="the paper prints no value for its own lists; the three readings of Definition 3",
    ),
    Row("Definition 6", "the same for list b", command=CURVE_B, ours=_three_crossings("Twist")),
    Row(
        "Figure 3",
        "one curve of each archetype, here by lists of the same topic",
        command=f"{ALL} --plot archetypes.svg --figure archetypes",
        ours=_shapes,
        why="a list is classified by its curve; excellent lists are also possible with binary grades, which the text excludes:"
        " (1,0,1,0,0,0) with RB = 2",
    ),
    _archetype_row("Figure 4", "first crossing, balance point and Rho"),
    Row(
        "Proposition 3",
        "Rho of a full-scale ranking with N >= 3 RB; RB = 1, N = 3",
        python='rs.evaluate({"t": {"d": 1}}, {"t": ["x", "y", "d"]}, "Rho@3").values.item()',
        paper="below 0.5",
        ours=lambda value: f"{value}",
        why="the crossing may be one rank earlier than the proof allows: at most 1/2",
    ),
    _archetype_row("Figure 5", "the space ratios"),
    _archetype_row("Figure 6", "Twist"),
    Row(
        "Table 1",
        "features of the collections; topics and runs",
        command="rankscope eval --describe $FOUR",
        paper=lines(*(f"{name} {row[0]}, {row[1]}" for name, row in PRINTED_FEATURES.items())),
        ours=lambda t: lines(
            *(f"{name} {_feature(t, 'Topics', name)}, {_feature(t, 'Runs', name)}" for name in NAMES)
        ),
        why="the judgments of Web-2011 and Web-2012 are those of TREC 20 and 21; the depth of a pool is seen only with the runs that made it; the printed 30 and 25 of TREC 21 is 30 and 20 in the text of the RBP paper",
        detail=_feature_table,
    ),
    Row(
        "Table 2",
        "archetypes of all lists of a collection; share of typical A and B together",
        command=STUDY,
        paper=_typical_printed(),
        ours=_typical,
        why="about 95 % for each collection, says the text: it is 90.9 % on TREC 20. The runs here are other ones",
        detail=_archetype_table,
    ),
    Row(
        "Table 2, TREC 21",
        "the same on Web 2012 with the grades of the paper: spam is not relevant, highly relevant and key are one grade",
        command='rankscope effort $WEB2012 --grades "-2,0=0;1=1;2,3=2;4=3"',
        paper=lines("typical A 64.59 %", "typical B 31.26 %"),
        ours=lambda t: lines(
            *(f"{name} {percent(_archetype_shares(t)[name], 2)}" for name in ("typical A", "typical B"))
        ),
        why="the judgments are those of the paper, the nine runs are the organisers' baselines",
    ),
    _plane_row(
        7,
        "AP",
        lines("TREC 10 28 %, 44 %", "TREC 14 –, 37 %", "TREC 20 26 %, half", "TREC 21 quarter, half"),
        "first the diagonal, then high-high; the rule for ties at a quartile is ours",
    ),
    _plane_row(
        8,
        "Bpref",
        lines("as AP", "TREC 20 1.24 %"),
        "Cranfield has no judged non-relevant documents, on which Bpref rests",
    ),
    _plane_row(
        9,
        "RBP",
        lines("TREC 10 31 %, 44 %", "TREC 14 38 %, 37.4 %", "TREC 20 third, half", "TREC 21 third, half"),
        "",
    ),
    _plane_row(
        10,
        JK,
        "as AP",
        "gains 0, 1, 2, ...: their ratio is that of the paper's 0, 5, 10, ...",
    ),
    Row(
        "Figure 11",
        "four lists of equal gain with effort from huge to low, found in a collection, each with CRP and DCG; nDCG and Twist of each",
        command='rankscope effort $CRANFIELD -m "nDCG(discount=jk,base=10)" --plot equal.svg --figure equal-gain',
        paper="nDCG in the top quarter",
        ours=_equal_gain,
        why="TREC 10 there; lists are also chosen by `--highlight RUN:TOPIC`",
    ),
    Row(
        "Effort/gain plots",
        "lists that a gain measure alone does not discriminate: the high-high share over all four measures, from and to",
        command=STUDY,
        paper="37 % to 48 %",
        ours=_high_high,
        why="over the four collections",
    ),
    Row(
        "Figure 11, one list",
        "CRP and DCG of one ranking",
        command=f"{CURVE_B} --gains 0,5,10,15 --discount jk --base 10 --plot both.svg --figure dcg",
        ours=lambda t: (
            f"CRP {t['curve'][-1]['crp']}, DCG {t['curve'][-1]['dcg']:.2f} of {t['curve'][-1]['ideal_dcg']:.2f}"
        ),
    ),
    Row(
        "Experiments",
        "the best 75 % of the 25 runs by MAP; runs kept",
        command=f'rankscope correlate $COVID -m "{MEASURES}" --top 0.75',
        ours=lambda t: f"TREC-COVID {t['correlations'][0]['runs']}",
        why="Table 4 fits the best 28 of 37 (TREC 20) and 20 of 27 runs (TREC 21), Table 3 all of them: see [Findings](findings.md)",
    ),
    *(_user_row(name) for name in ("Twist", "DCG", "RBP", "AP")),
    Row(
        "Figure 12",
        "distribution of the runs' means for each measure and collection; from and to for Twist",
        command=STUDY,
        ours=_means_of_twist,
        why=reason_with_figure("means.pdf", ""),
    ),
    Row(
        "Table 3",
        "Kendall's tau between AP and the other gain measures, over the best 75 % of the runs by MAP; AP and nDCG",
        command=STUDY,
        paper=lines(*(f"{name} {row[2]:.4f}" for name, row in PRINTED_TABLE_3.items())),
        ours=_with_ndcg("gain_correlations"),
        why="other runs: nine organisers' baselines on Web-2012, one run on Web-2011",
        detail=_correlations("gain_correlations", ("Bpref", "RBP", JK), PRINTED_TABLE_3),
    ),
    Row(
        "Table 4",
        "Kendall's tau between Twist and the gain measures; Twist and nDCG",
        command=STUDY,
        paper=lines(*(f"{name} {_as_printed(row[3])}" for name, row in PRINTED_TABLE_4.items())),
        ours=_with_ndcg("focus_correlations"),
        why="other runs: nine organisers' baselines on Web-2012, one run on Web-2011",
        detail=_correlations("focus_correlations", ("AP", "Bpref", "RBP", JK), PRINTED_TABLE_4),
    ),
    Row(
        "Figure 13",
        "Kendall's tau between the full pool and samples of 90 to 10 % of it; the most robust measure at 10 %",
        command=STUDY,
        paper="bpref and nDCG",
        ours=_most("robustness_curve", "10%"),
        why=reason_with_figure("robustness.pdf", ""),
        detail=_at_ten,
    ),
    Row(
        "Figure 14",
        "ASL curves of the paired bootstrap; the measure with the highest discriminative power at .05",
        command=STUDY,
        paper=lines("TREC 14: nDCG and AP", "TREC 20, 21: nDCG"),
        ours=_most("power", "power"),
        why=reason_with_figure("discriminative_power.pdf", ""),
        detail=_power_table,
    ),
    Row(
        "Discussion",
        "RBP with p = .95 is less stable under sampled pools than Twist; tau at 10 %",
        command='rankscope pools $COVID -m "RBP(p=0.95) Twist" --ratios 10 --repeats 10 --seed 1 --top 0.75',
        paper="Twist more",
        ours=_robust,
        why="not so on TREC-COVID",
    ),
    Row(
        "Discussion",
        "RBP with p = .95 has more discriminative power than with p = .8",
        command='rankscope power $COVID -m "RBP(p=0.8) RBP(p=0.95) Twist" --seed 1 --top 0.75',
        ours=_power,
    ),
    Row(
        "Discussion",
        "announced: users of different patience, by weights on misplacements",
        command='rankscope eval $TWIST/qrels.txt $TWIST/a.run $TWIST/b.run -m "Twist@15 Twist(patience=0.5)@15"',
        ours=lambda t: lines(
            *(
                f"{run}: {means(t)[run, 'Twist@15']:.4f}, {means(t)[run, 'Twist(patience=0.5)@15']:.4f}"
                for run in "ab"
            )
        ),
        why="experimental, ours: a misplacement at rank j counts j^(patience-1)",
    ),
    Row(
        "Future work 1",
        "weights of grades instead of their order alone, so that misplacements of distant grades count more",
        command='rankscope eval $TWIST/qrels.txt $TWIST/a.run $TWIST/b.run -m "Twist@15 Twist(grades=linear)@15"',
        ours=lambda t: lines(
            *(f"{run}: {means(t)[run, 'Twist@15']:.4f}, {_only(t, run, 'linear'):.4f}" for run in "ab")
        ),
        why="experimental, ours",
    ),
    Row(
        "Future work 2",
        "do runs that differ significantly by gain differ by Twist? Within and across the cells of the plane of AP: pairs of runs that differ by"
        " both, by gain alone, by effort alone",
        command="rankscope effort $COVID --significance",
        ours=_tested,
        why="paired t tests over the topics for which both runs' lists are in the cell (or in different ones)",
    ),
    Row(
        "Future work 3",
        "Twist against the time that users spend, in a study with people",
        people="users and their times",
    ),
    Row(
        "Future work 4",
        "does Twist predict how people use the list?",
        people="users and their clicks",
    ),
    Row(
        "Future work 5",
        "Twist with time instead of rank: with one second for every document, and with the times of time-biased gain",
        command="rankscope eval $TWIST/qrels.txt $TWIST/a.run $TWIST/b.run"
        " -m \"Twist@15 TwistTime(times='1')@15 TwistTime@15\"",
        ours=lambda t: lines(*(f"{run}: {', '.join(f'{v:.4f}' for v in _values(t, run))}" for run in "ab")),
        why="experimental, ours: time instead of ranks; with one second per document it is Twist itself",
    ),
    Row(
        "Definition 7",
        "ordered relevance degrees; the least is non-relevant",
        command="rankscope eval $TWIST/qrels.txt $TWIST/worst.run -m Twist",
        ours=lambda t: f"Twist {t['means'][0]['value']:.4f} without relevant documents",
        why="grades are whole numbers; 0 and negative ones are non-relevant",
    ),
    Row(
        "Definition 8",
        "the judgment of a document for a topic",
        python='rs.read_qrels("$TWIST/qrels.txt").judgments("t")["hr1"]',
        ours=lambda value: f"hr1: {value}",
        why="a document without judgment counts as non-relevant, but the difference is kept",
    ),
    Row(
        "Definition 9",
        "recall base: the relevant documents of a topic",
        command="rankscope eval $TWIST/qrels.txt $TWIST/a.run -m NumRel",
        paper="7",
        ours=lambda t: f"{t['means'][0]['value']:.0f}",
    ),
    Row(
        "Definition 10",
        "a run: for each topic a list of N documents without repetition",
        command="rankscope eval $TWIST/qrels.txt $TWIST/a.run -m NumRet",
        paper="15",
        ours=lambda t: f"{t['means'][0]['value']:.0f}",
        why="a document that comes twice is refused with its line",
    ),
    Row(
        "Definition 11",
        "the grades of a list; list b",
        command=CURVE_B,
        paper="(3, 0, 1, 0, 2, 0, 0, 0, 2, 1, 0, 0, 3, 1, 0)",
        ours=lambda t: vector(grade or 0 for grade in column(t["curve"], "grade")),
        why="hr, fr, pr, nr written 3, 2, 1, 0",
    ),
    Row(
        "Definition 12",
        "the ideal ranking; its CRP at every rank",
        command="rankscope curve $TWIST/qrels.txt $TWIST/ideal.run --topic t",
        paper=vector([0] * 15),
        ours=_crp,
    ),
    Row(
        "Definition 13",
        "the worst list, without relevant documents; its CRP",
        command="rankscope curve $TWIST/qrels.txt $TWIST/worst.run --topic t",
        paper="(-7, -13, -18, -22, -25, -27, -28, -28, -28, -28, -28, -28, -28, -28, -28)",
        ours=_crp,
    ),
    Row(
        "Definition 14",
        "the full-scale ranking, the ideal one reversed; its CRP",
        command=FULL_SCALE,
        paper="(-7, -13, -18, -22, -25, -27, -28, -28, -26, -23, -19, -11, -2, 10, 23)",
        ours=_crp,
        why="N >= 2 RB is needed; shorter lists are filled up with non-relevant documents",
    ),
    Row(
        "Definition 15",
        "first and last rank of a grade in the ideal ranking",
        command=CURVE_A,
        paper="hr 1–2, fr 3–4, pr 5–7, nr 8–15",
        ours=_intervals,
    ),
]


def _values(tables: Any, run: str) -> list[float]:
    """Return the means of a run in the order of the measures."""
    return [row["value"] for row in tables["means"] if row["run"] == run]


def _only(tables: Any, run: str, part: str) -> float:
    [mean] = [value for (name, measure), value in means(tables).items() if name == run and part in measure]
    return mean
