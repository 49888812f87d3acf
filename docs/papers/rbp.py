"""The reproducibility study of Moffat and Zobel's rank-biased precision."""

from __future__ import annotations

from typing import Any

from papers.reading import lines, percent, pick
from papers.row import Detail, Row
from papers.twist import NAMES, reason_with_figure

TITLE = "Rank-biased precision reloaded (Ferro and Silvello 2015)"
ABOUT = """Explained in [Meta-evaluation](meta-evaluation.md). The runs of TREC 5 are not public; `$SCORES` has the AP and P@10 of its 61
runs for each topic, without names, so that a part of the tables can be compared number by number."""

EIGHT = "RR P@10 Rprec AP RBP(p=0.5) RBP(p=0.8) RBP(p=0.95) nDCG(discount=jk,base=2)"
THREE = "RBP(p=0.5) RBP(p=0.8) RBP(p=0.95)"


def _orderings(tables: Any) -> str:
    total = tables["total"][0]
    return lines(
        f"swapped {percent(total['share'], 2)}",
        *(f"{name} {percent(total[key], 2)}" for name, key in KINDS),
    )


KINDS = (
    ("both non-relevant", "nonrelevant"),
    ("equally relevant", "equal"),
    ("differently relevant", "different"),
)
PRINTED_SWAPS = (89.21, 6.56, 4.23)


def _at_ten_percent(tables: Any) -> str:
    rows = [row for row in tables["curve"] if row["pool"] == 10]
    return lines(*(f"{row['measure']} {row['tau']:.3f}" for row in rows))


def _bounds(tables: Any) -> str:
    last: dict[tuple[str, str], Any] = {}
    for row in tables["means"]:
        last[row["measure"], row["pool"]] = row
    return lines(*(f"{m}, {pool} {row['lower']:.4f}–{row['upper']:.4f}" for (m, pool), row in last.items()))


def _significant(measure: str) -> Any:
    def cell(tables: Any) -> str:
        counts = {
            (row["test"], row["alpha"]): row["significant"]
            for row in tables["power"]
            if row["measure"] == measure
        }
        return lines(*(f"{name} {counts[test, 0.05]}, {counts[test, 0.01]}" for test, name in TESTS.items()))

    return cell


TESTS = {"wilcoxon": "Wilcoxon", "t": "t"}
PRINTED_PAIRS = {
    "RR": (1030, 763, 1000, 752),
    "P@10": (1153, 904, 1150, 915),
    "Rprec": (1211, 994, 1142, 931),
    "AP": (1260, 1077, 1164, 969),
    "RBP(p=0.5)": (1077, 845, 1052, 812),
    "RBP(p=0.8)": (1163, 921, 1167, 918),
    "RBP(p=0.95)": (1232, 1009, 1209, 987),
    "nDCG(discount=jk,base=2)": (1289, 1104, 1267, 1089),
}


def _significant_table(tables: Any) -> Detail:
    by_key = {(row["measure"], row["test"], row["alpha"]): row for row in tables["power"]}
    rows = []
    for measure, printed in PRINTED_PAIRS.items():
        selected = [by_key[measure, test, level] for test in TESTS for level in (0.05, 0.01)]
        cells = (
            f"{count / 1830:.3f}, {row['power']:.3f}" for count, row in zip(printed, selected, strict=True)
        )
        rows.append([measure, *cells])
    columns = ("measure", "Wilcoxon 95 %", "Wilcoxon 99 %", "t 95 %", "t 99 %")
    return Detail(columns, rows, "Share of significant pairs: TREC 5 as printed, then TREC-COVID.")


EXAMPLES = {"P@10, AP": ("P@10", "depth 10", "AP"), "RBP.95, P@R": ("RBP(p=0.95)", "depth 10", "Rprec")}
PRINTED_TAU = {
    ("RR", "depth 10"): (0.997, 0.842, 0.748, 0.732, 0.997, 0.841, 0.747, 0.730),
    ("P@10", "depth 10"): (0.840, 1.000, 0.861, 0.845, 0.840, 1.000, 0.860, 0.844),
    ("Rprec", "full"): (0.746, 0.861, 1.000, 0.908, 0.769, 0.861, 1.000, 0.907),
    ("RBP(p=0.5)", "depth 10"): (0.926, 0.858, 0.764, 0.755, 0.924, 0.858, 0.776, 0.755),
    ("RBP(p=0.8)", "depth 10"): (0.888, 0.930, 0.819, 0.809, 0.889, 0.929, 0.828, 0.809),
    ("RBP(p=0.95)", "depth 10"): (0.778, 0.882, 0.877, 0.896, 0.779, 0.880, 0.905, 0.894),
    ("RBP(p=0.95)", "full"): (0.793, 0.916, 0.895, 0.859, 0.792, 0.913, 0.850, 0.859),
    ("nDCG(discount=jk,base=2)", "full"): (0.765, 0.831, 0.877, 0.915, 0.763, 0.829, 0.886, 0.913),
}


def _both(tables: Any, a: str, pool: str, b: str) -> str:
    row = pick(tables["differences"], a=a, pool_a=pool, b=b)
    return f"{row['first']:.3f} {row['second']:.3f}"


def _pool_table(tables: Any) -> Detail:
    columns = ("RR", "P@10", "Rprec", "AP")
    rows = []
    for (measure, pool), printed in PRINTED_TAU.items():
        values = [_both(tables, measure, pool, column).split() for column in columns]
        cells = [f"{value:.3f}, {values[k % 4][k // 4]}" for k, value in enumerate(printed)]
        rows.append([measure, pool, *cells])
    heads = [f"{column}, {order}" for order in ("trec_eval", "file") for column in columns]
    return Detail(
        ("measure", "pool", *heads), rows, "TREC 5 as printed (depth 100 is the full pool), then TREC-COVID."
    )


STUDY = f'rankscope study $FOUR -m "{THREE}" --focus "RBP(p=0.5)" --sampling binary --plots -o study'
ORDER = ("RBP(p=0.5)", "RBP(p=0.8)", "RBP(p=0.95)")
PRINTED_FEATURES = {
    "CLEF 2003": ("2003", "Ad-Hoc", "1M", "50", "52", "1,000", "2", "60", "EN, FR, DE, ES"),
    "TREC 13": ("2004", "Robust", "528K", "250", "110", "1,000", "3", "100 and 125", "EN"),
    "CLEF 2009": ("2009", "TEL", "2.1M", "50", "43", "1,000", "2", "60", "DE, EL, FR, IT, ZH"),
    "TREC 21": ("2012", "Web", "1B", "50", "27", "10,000", "4", "30 and 25", "EN"),
}
FEATURES = {
    "Year": "",
    "Track": "",
    "# Documents": "",
    "# Topics": "Topics",
    "# Runs": "Runs",
    "Run Length": "Longest list",
    "Relevance Degrees": "Relevance grades",
    "Pool Depth": "Pool depth (half of the runs)",
    "Languages": "",
}
"""The features of Table 3, and the one of `rankscope eval --describe` that stands for each, if judgments and runs tell it."""


def _feature_table(tables: Any) -> Detail:
    rows = [
        [
            feature,
            *(printed[k] for printed in PRINTED_FEATURES.values()),
            *(str(pick(tables["features"], feature=ours)[name]) if ours else "" for name in NAMES),
        ]
        for k, (feature, ours) in enumerate(FEATURES.items())
    ]
    heads = ("feature", *(f"{name} (paper)" for name in PRINTED_FEATURES), *NAMES)
    return Detail(
        heads,
        rows,
        "Year, track, corpus and languages are not in judgments or runs. The text of the paper says that 25 topics of TREC 21 were judged"
        " to depth 30 and 25 to depth 20: the table seems to print the number of topics for the second depth.",
    )


def _group_by_collection(rows: Any, column: str) -> dict[str, dict[str, float]]:
    values: dict[str, dict[str, float]] = {}
    for row in rows:
        values.setdefault(row["collection"], {})[row["measure"]] = float(row[column])
    return values


def _changes(tables: Any) -> str:
    changes = _group_by_collection(tables["depth_pools"], "change")
    return lines(
        *(f"{name} " + ", ".join(f"{values[m]:.3f}" for m in ORDER) for name, values in changes.items())
    )


def _depth_table(tables: Any) -> Detail:
    depth = _group_by_collection(tables["depth_pools"], "tau")
    sample = _group_by_collection(tables["robustness_curve"], "10%")
    rows = [[name, *(f"{taus[name][m]:.3f}" for taus in (depth, sample) for m in ORDER)] for name in depth]
    heads = [f"{short}, {pool}" for pool in ("depth 10", "10 %") for short in ("RBP.5", "RBP.8", "RBP.95")]
    return Detail(("collection", *heads), rows, "Kendall's tau between the full pool and the smaller one.")


def _both_pools(tables: Any) -> str:
    depth = _group_by_collection(tables["depth_pools"], "tau")
    sample = _group_by_collection(tables["robustness_curve"], "10%")
    first = [name for name, taus in depth.items() if taus["RBP(p=0.5)"] == max(taus.values())]
    last = [name for name, taus in sample.items() if taus["RBP(p=0.5)"] == min(taus.values())]
    return lines(
        f"depth 10: first on {len(first)} of {len(depth)}", f"10 %: last on {len(last)} of {len(sample)}"
    )


def _apart(tables: Any) -> str:
    cells = []
    for measure in dict.fromkeys(row["measure"] for row in tables["runs"]):
        by_depth: dict[int, list[Any]] = {}
        for row in tables["runs"]:
            if row["measure"] == measure:
                by_depth.setdefault(row["depth"], []).append(row)
        apart = [
            depth for depth, (a, b) in by_depth.items() if a["lower"] > b["upper"] or b["lower"] > a["upper"]
        ]
        cells.append(f"{measure} {min(apart) if apart else 'never'}")
    return lines(*cells)


ROWS = [
    Row(
        "RBP",
        "rank-biased precision; list b of the Twist paper, p = 0.8",
        command='rankscope eval $TWIST/qrels.txt $TWIST/b.run -m "RBP(p=0.8)"',
        ours=lambda t: f"{t['means'][0]['value']:.4f}",
        why="the sum is printed from i = 0; it starts at 1",
    ),
    Row(
        "Section 2",
        "documents that trec_eval's ordering swaps against the order of the file, and between which documents",
        command="rankscope orderings $COVID --orders file,trec_eval",
        paper=lines(
            "swapped 2.79 %",
            *(f"{name} {share:.2f} %" for (name, _), share in zip(KINDS, PRINTED_SWAPS, strict=True)),
        ),
        ours=_orderings,
        why="TREC 5 there, TREC-COVID here; `--order trec_eval9` has the 32-bit scores of the footnote",
    ),
    Row(
        "Table 1",
        "Kendall's tau of measures under a pool of depth 10 (or the full one) against RR, P@10, P@R and AP under the full pool, in both"
        " orderings of the run files",
        command=f'rankscope correlate $COVID --pool-depth 10 --orders trec_eval,file --against "RR P@10 Rprec AP" --method kendall'
        f' -m "{EIGHT}"',
        paper=lines("P@10, AP 0.845 0.844", "RBP.95, P@R 0.877 0.905"),
        ours=lambda t: lines(*(f"{name} {_both(t, *pair)}" for name, pair in EXAMPLES.items())),
        why=lambda t: (
            "trec_eval's ordering, then that of the files. On TREC-COVID"
            f" {sum(row['notable'] for row in t['differences'])} of {len(t['differences'])} values change by 1 % or more with the ordering."
            " The printed column P@R of the original ordering cannot be right: it breaks the triangle inequality of Kendall distances"
        ),
        detail=_pool_table,
    ),
    Row(
        "Table 1, one value",
        "tau between AP and P@10 on TREC 5; P@10 does not change with the pool",
        command="rankscope correlate --scores AP=$SCORES/adhoc5_ap.csv --scores P@10=$SCORES/adhoc5_p10.csv --method kendall",
        paper="0.845",
        ours=lambda t: f"{t['correlations'][0]['value']:.3f}",
    ),
    Row(
        "nDCG",
        "gains 0 and 1 and log base 2 reproduce the original's nDCG",
        command="rankscope eval $TWIST/qrels.txt $TWIST/b.run -m \"nDCG(gains='0,1,1,1',discount=jk,base=2)\"",
        ours=lambda t: f"{t['means'][0]['value']:.4f}",
    ),
    Row(
        "Figure 1",
        "runs' means of MAP and RBP with the full pool against the pool of depth 10; tau",
        command=f'rankscope pools $COVID --pool-depth 10 -m "AP {THREE}" --plot means.svg --figure means',
        ours=lambda t: lines(*(f"{row['measure']} {row['tau']:.3f}" for row in t["robustness"])),
        why="a figure without numbers",
    ),
    Row(
        "Residual",
        "what unjudged documents could add to RBP; one run",
        command='rankscope eval $COVID_RUN -m "RBP(p=0.8) RBPResidual(p=0.8)"',
        ours=lambda t: ", ".join(f"{row['value']:.4f}" for row in t["means"]),
    ),
    Row(
        "Figure 2",
        "lower and upper bound of RBP by depth for one run, full pool and depth 10; both bounds at the last depth",
        command="rankscope bounds $COVID --show sab20.1.meta.docs --depths 1,2,5,10,20,50,100 --pool-depth 10 --plot bounds.svg",
        paper=lines("by rank 100 the bounds", "of RBP.5 alone meet"),
        ours=_bounds,
        why="the paper's run is ETHme1 of TREC 5; all runs make the pool",
    ),
    Row(
        "Figure 2, two systems",
        "the bounds of two systems (Figure 6 of Moffat and Zobel): the least depth at which the lower bound of one is above the upper bound of"
        " the other",
        command="rankscope bounds $COVID --show sab20.1.meta.docs --show BITEM_df --plot bounds.svg",
        ours=_apart,
        why="the original does not name its systems",
    ),
    Row(
        "Table 2",
        "significant pairs among 1,830 by Wilcoxon and t test at 95 and 99 %; AP",
        command="rankscope power --scores AP=$SCORES/adhoc5_ap.csv --scores P@10=$SCORES/adhoc5_p10.csv --test wilcoxon --test t --alpha"
        " 0.05,0.01",
        paper=lines("Wilcoxon 1260, 1077", "t 1164, 969"),
        ours=_significant("AP"),
        why="the headers 99 % and 95 % are exchanged",
    ),
    Row(
        "Table 2",
        "the same for P@10",
        command="rankscope power --scores AP=$SCORES/adhoc5_ap.csv --scores P@10=$SCORES/adhoc5_p10.csv --test wilcoxon --test t --alpha"
        " 0.05,0.01",
        paper=lines("Wilcoxon 1153, 904", "t 1150, 915"),
        ours=_significant("P@10"),
    ),
    Row(
        "Table 2",
        "the same for all eight measures, on TREC-COVID",
        command=f'rankscope power $COVID --test wilcoxon --test t --alpha 0.05,0.01 -m "{EIGHT}"',
        paper="24 counts of TREC 5",
        ours=lambda t: f"{len(t['power'])} counts of {t['power'][0]['pairs']} pairs",
        why="the other six measures need the runs of TREC 5",
        detail=_significant_table,
    ),
    Row(
        "Table 3",
        "features of the collections; topics and runs",
        command="rankscope eval --describe $FOUR",
        paper=lines(*(f"{name} {row[3]}, {row[4]}" for name, row in PRINTED_FEATURES.items())),
        ours=lambda t: lines(
            *(
                f"{name} {pick(t['features'], feature='Topics')[name]}, {pick(t['features'], feature='Runs')[name]}"
                for name in NAMES
            )
        ),
        why="all features are below; the judgments of Web-2012 are those of TREC 21",
        detail=_feature_table,
    ),
    Row(
        "Figure 3",
        "RBP with the full pool against the pool of depth 10 on four collections; mean change of a run's value by RBP.5, RBP.8, RBP.95",
        command=STUDY,
        paper=lines("RBP.5 and RBP.8 robust,", "RBP.95 underestimates"),
        ours=_changes,
        why=reason_with_figure(
            "depth_pool_means.pdf", "the same order everywhere; Web-2011 has a single run"
        ),
        detail=_depth_table,
    ),
    Row(
        "Figure 4, left",
        "runs' means with the full pool against a sample of 10 %",
        command=f'rankscope pools $COVID --ratios 10 --sampling binary --seed 1 -m "{THREE}" --plot means.svg --figure means',
        ours=lambda t: lines(*(f"{row['measure']} {row['change']:.3f}" for row in t["robustness"])),
        why="mean change of a run's value",
    ),
    Row(
        "Figure 4, right",
        "tau between the full pool and samples of 90 to 10 %; at 10 %",
        command=f'rankscope pools $COVID --sampling binary --repeats 10 --seed 1 -m "{THREE}" --plot pools.svg',
        paper=lines("RBP.95 the most robust,", "between 0.8 and 0.9"),
        ours=_at_ten_percent,
        why="the same order; fewer relevant documents are left on TREC-COVID",
    ),
    Row(
        "Figure 5",
        "bounds averaged over runs with confidence bands, full pool, depth 10 and sample of 10 %; both bounds at the last depth",
        command="rankscope bounds $COVID --p 0.5,0.8,0.95 --pool-depth 10 --ratios 10 --seed 1 --plot bounds.svg",
        ours=_bounds,
    ),
    Row(
        "Conclusions",
        "RBP.5 is the most robust under the pool of depth 10 and the least under random samples of 10 %",
        command=STUDY,
        paper=lines("depth 10: RBP.5 first", "10 %: RBP.5 last"),
        ours=_both_pools,
        why="collections with several runs",
    ),
]
