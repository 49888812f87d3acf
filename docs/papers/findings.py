"""Errors and contradictions in papers and programs, each with the command that shows it."""

from __future__ import annotations

from typing import Any

from papers.reading import column, means, percent, pick, values
from papers.row import Row
from papers.scales import ALL, EQUAL, WEAK

INTRODUCTION = """We implemented five papers and three official programs to the last digit, and found where they contradict each other or
themselves. The command or example in a line gives its numbers: `python docs/make_papers.py` runs them all and writes this page,
and a test runs them again. The variables are those of [Papers](papers.md), which has a row for every item of the papers."""

PROPERTIES = 'rankscope properties --aspects 2 --depth 10 --relevant 10 -m "ACT AP_IA"'
SCALES = 'rankscope scales --length 6 -m "AP ERR RBP(p=0.5) RBP(p=0.8) DCG"'


def _violations(tables: Any, measure: str, name: str) -> str:
    row = pick(tables["properties"], measure=measure, property=name)
    return f"{row['violations']:,} of {row['cases']:,}"


def _crossings(tables: Any) -> str:
    mean = means(tables)
    names = dict.fromkeys(row["measure"] for row in tables["means"])
    return "Twist of the paper's lists a, b: " + "; ".join(
        f"{mean['a', name]:.4f}, {mean['b', name]:.4f} ({reading})"
        for name, reading in zip(
            names, ("as printed", "change of sign, our default", "the authors' toolkit"), strict=True
        )
    )


def _archetypes(tables: Any) -> str:
    total = pick(tables["summary"], figure="all figures")
    example = pick(tables["entries"], figure="Figure 5", archetype="ups-and-downs", quantity="Sigma")
    return f"{total['refuted']} of {total['entries']} fail; for example {example['counterexample']}"


def _needed(numbers: dict[int, list[float]]) -> str:
    return "; ".join(
        f"with {runs} runs the printed values need {', '.join(f'{pairs:.2f}' for pairs in needed[:3])} pairs in Table 3 and"
        f" {', '.join(f'{pairs:.2f}' for pairs in needed[3:])} in Table 4"
        for runs, needed in numbers.items()
    )


def _as_printed(values: tuple[float, float]) -> str:
    return f"alpha-DCG at 4 of aaaa is {values[0]:.4f}, with the printed exponent it would be {values[1]:.4f}"


def _presets(tables: Any) -> str:
    mean = means(tables)
    official, iterations, documents = dict.fromkeys(row["measure"] for row in tables["means"])
    return "; ".join(
        f"{name}: ACT(ab) {mean['ab', measure]:.4f}, ACT(abx) {mean['abx', measure]:.4f}"
        for name, measure in (
            ("`trec-dd-2017`, which reproduces the paper's numbers", official),
            ("`equation7` with iterations as time, which its text names", iterations),
            ("with documents as time", documents),
        )
    )


def _jk(tables: Any) -> str:
    rows = {row["measure"]: row for row in tables["scales"] if row["scale"] == EQUAL}
    base_2, base_10 = "DCG(discount=jk,base=2)", "DCG(discount=jk,base=10)"
    example = pick(tables["counterexamples"], measure=base_2, scale=EQUAL)
    return (
        f"log2(1+i): {rows['DCG']['violations']} violations; base 2: from length {rows[base_2]['fails_from']},"
        f" {example['r']}→{example['s']} against {example['u']}→{example['v']}, {example['rise_sr']:.3f} > {example['rise_vu']:.0f};"
        f" base 10: from length {rows[base_10]['fails_from']}"
    )


def _rbp(tables: Any) -> str:
    return "; ".join(
        f"p = {row['measure'].partition('=')[2].strip(')') or '0.8'} {'holds' if row['holds'] else 'fails'}"
        for row in tables["scales"]
        if row["scale"] == ALL
    )


def _weak(tables: Any) -> str:
    holds = [row["measure"] for row in tables["scales"] if row["scale"] == WEAK and row["holds"]]
    return f"at length {tables['scales'][0]['length']}: {', '.join(holds)}"


def _strongest(tables: Any) -> str:
    share = {
        (row["measure"], row["scale"]): f"{percent(row['share'])} ({percent(row['share_nonempty'])})"
        for row in tables["scales"]
        if row["scale"] in (ALL, EQUAL)
    }
    return (
        f"length 6, all intervals: AP {share['AP', ALL]}, ERR {share['ERR', ALL]}; with equally many relevant documents: AP"
        f" {share['AP', EQUAL]}, ERR {share['ERR', EQUAL]}"
    )


def _triangle(values: tuple[float, float, float]) -> str:
    return (
        f"the distance of RR at depth 10 from P@R is {values[0]:.4f}, by way of RR at depth 100 it is {values[1]:.4f}; ties would have to"
        f" explain {values[2]:.1f} pairs"
    )


def _leaderboard(order: str) -> str:
    """Return an expression: number of runs with the official nDCG@10 (four digits), and number of runs."""
    return (
        "(lambda official, found: (sum(abs(official[run] - value) <= 5.1e-5 for run, value in found.items()), len(found)))"
        "({row['run']: float(row['ndcg@10']) for row in DictReader(Path('$LEADERBOARD').read_text().splitlines())},"
        f" {{row['run']: row['value'] for row in rs.evaluate(*'$COVID'.split(), 'nDCG@10', order='{order}').tables['means'].records()}})"
    )


def _same(counts: tuple[int, int]) -> str:
    return f"{counts[0]} of {counts[1]} runs have the official nDCG@10"


def _orders(tables: Any) -> str:
    return ", ".join(
        f"{d:.5f}" for d in sorted((row["difference"] for row in tables["effect"]), key=abs, reverse=True)
    )


EFFORT = [
    Row(
        "crossing",
        "The printed definition of a crossing is not the one behind the paper's figures: under it every list that starts with a"
        " top-grade document has Rho = 1",
        command='rankscope eval $TWIST/qrels.txt $TWIST/a.run $TWIST/b.run -m "Twist(crossing=definition)@15 Twist@15'
        ' Twist(crossing=matters)@15"',
        ours=_crossings,
    ),
    Row(
        "Proposition 2",
        "Proposition 2 fails when a grade has more than N - 2 RB + 1 documents",
        command="rankscope curve $TWIST/qrels.txt $TWIST/above.run --topic t",
        ours=lambda t: (
            f"CRP reaches {t['curve'][-1]['crp']} on the paper's own topic, the stated bound is"
            f" {t['references'][-1]['full_scale']}"
        ),
    ),
    Row(
        "Proposition 3",
        'Proposition 3 is "at most 1/2"',
        python='rs.evaluate({"t": {"d": 1}}, {"t": ["x", "y", "d"]}, "Rho@3").values.item()',
        ours=lambda value: f"RB = 1, N = 3 gives exactly {value}",
    ),
    Row(
        "archetypes",
        "Not every entry of the tables of archetypes (Figures 4 to 6) holds for every list",
        command="rankscope effort --enumerate",
        ours=_archetypes,
    ),
    Row(
        "Figure 4",
        "Figure 4 bounds the first crossing of a full-scale ranking by N - RB + 1; by Definition 3 it may be N - RB, so that Rho reaches 1/2 with"
        " RB = 2 and N = 3 RB = 6 (balance point by Definition 3 and by our default, Rho)",
        python='rs.evaluate({"t": {"d": 1, "e": 1}}, {"t": ["u", "v", "x", "y", "d", "e"]}, "BalancePoint(crossing=definition)@6'
        ' BalancePoint@6 Rho@6").values.ravel().tolist()',
        ours=lambda found: ", ".join(f"{value:g}" for value in found),
    ),
    Row(
        "axioms",
        "Twist breaks the swap and the replacement axioms",
        command="rankscope properties --grades 1 --depth 10 --relevant 5 --fixed-length --property swap --property replacement"
        ' -m "Twist@10 AP"',
        ours=lambda t: (
            f"{_violations(t, 'Twist@10', 'swap')} swaps and {_violations(t, 'Twist@10', 'replacement')} replacements with RB = 5,"
            f" N = 10; AP {_violations(t, 'AP', 'swap')} and {_violations(t, 'AP', 'replacement')}"
        ),
    ),
    Row(
        "indicators",
        "The indicators of 2012 are not in [0, 1]; we report raw and clamped values",
        command="rankscope curve $CRP/qrels.txt $CRP/a.run --topic t",
        ours=lambda t: (
            f"the paper's own list A has CRP_N = {values(t)['CRP_N']:.4f}, clamped {values(t)['CRP_N (clamped)']:.0f}"
        ),
    ),
    Row(
        "Table 2",
        'Typical curves are not "about 95 %" of each collection: typical A and B together on TREC 20, by Table 2',
        python="60.70 + 30.16",
        ours=lambda value: f"{value:.1f} %",
    ),
    Row(
        "Tables 3 and 4",
        "Tables 3 and 4 rest on different sets of runs: a tau of n runs is a whole number of discordant pairs, and those of TREC 21 fit"
        " all 27 runs in Table 3 (but for 0.8388, see below) and the best 20 in Table 4",
        python="{n: [(1 - tau) * n * (n - 1) / 4 for tau in (0.8461, 0.5669, 0.8388, 0.9157, 0.8526, 0.3684, 0.82105)] for n in (27, 20)}",
        ours=_needed,
    ),
    Row(
        "0.8388",
        "The 0.8388 of AP and nDCG (TREC 21, Table 3) is no tau of 27 runs without ties, which would be one of the first two values for 28 or 29"
        " discordant pairs; with one pair of runs tied by one of the two measures and 28 discordant pairs, tau-b is the third",
        python="((351 - 2 * 28) / 351, (351 - 2 * 29) / 351, (350 - 2 * 28) / sqrt(351 * 350))",
        ours=lambda found: ", ".join(f"{tau:.4f}" for tau in found),
    ),
    Row(
        "Figure 9",
        "The share of runs in the diagonal cells is not always below that in the high-high cells, as the text says twice: its own numbers for"
        " RBP on TREC 14 (Figure 9) are 38 % on the diagonal and 37.4 % high-high; percentage points by which the diagonal is ahead",
        python="38 - 37.4",
        ours=lambda value: f"{value:.1f}",
    ),
    Row(
        "pool depth",
        'Table 1 prints the pool depth of TREC 21 as "30 and 25", and so does Table 3 of the RBP paper (2015), whose text says that 25 topics'
        " were judged to depth 30 and 25 to depth 20: the tables seem to give the number of topics instead of a depth",
        python='{"tables": (30, 25), "text": (30, 20)}',
        ours=lambda found: "; ".join(
            f"{where} {', '.join(map(str, depths))}" for where, depths in found.items()
        ),
    ),
    Row(
        "fs",
        "The full-scale ranking of the example is printed with 16 entries",
        command="rankscope eval $TWIST/qrels.txt $TWIST/full-scale.run -m NumRet",
        ours=lambda t: f"{t['means'][0]['value']:.0f}",
    ),
    Row(
        "RS",
        "Equation 2 of 2012 puts the highly relevant documents of B at ranks 1, 2, 3",
        command="rankscope curve $CRP/qrels.txt $CRP/b.run --topic t",
        ours=lambda t: ", ".join(str(row["rank"]) for row in t["curve"] if row["grade"] == 3),
    ),
    Row(
        "positive CRP",
        "CRP can be positive before the recall base, if there are several grades; ranks 1 to 3 with RB = 4",
        python='rs.curve(rs.Collection({"t": {"e": 2, "d1": 1, "d2": 1, "d3": 1}}, {"t": ["d1", "d2", "e"]}), None, "t").crp.tolist()[:3]',
        ours=lambda value: ", ".join(map(str, value)),
    ),
]

LABORATORY = [
    Row(
        "99 %",
        '"Almost 99 %" of irrelevance cases violated by ACT are 99.9 %; the others are ties',
        command=PROPERTIES,
        ours=lambda t: _violations(t, "ACT", "irrelevance monotonicity"),
    ),
    Row(
        "AP-IA, ten",
        "AP-IA violates redundancy in every possible case",
        command=PROPERTIES,
        ours=lambda t: f"{_violations(t, 'AP_IA', 'redundancy')} with ten relevant documents an aspect",
    ),
    Row(
        "AP-IA, five",
        "also with five, where fewer rankings are possible",
        command="rankscope properties --aspects 2 --depth 10 --relevant 5 -m AP_IA",
        ours=lambda t: f"{_violations(t, 'AP_IA', 'redundancy')} with five",
    ),
    Row(
        "nrel",
        "Equations 3, 4 and 7 print rel, the grade of the document above, for nrel, the number of documents of the aspect above",
        python='(rs.evaluate("$ASPECTS/qrels.txt", "$ASPECTS/aaaa.run", "alpha_DCG@4").values.item(), 1 + sum(0.5 / log2(1 + rank) for'
        " rank in (2, 3, 4)))",
        ours=_as_printed,
    ),
    Row(
        "cube test",
        "The printed equation of the cube test is not what the official program computes",
        command="rankscope eval $ASPECTS/qrels.txt $ASPECTS/ab.run $ASPECTS/abx.run -m"
        ' "ACT ACT(preset=equation7,time=iterations) ACT(preset=equation7)"',
        ours=_presets,
    ),
]

SCALE = [
    Row(
        "DCG",
        '"DCG is interval-like for equally many relevant documents" holds for the discount log2(1+i) and is false for max(1, log_b i)',
        command="rankscope scales --length 11 --equal-relevant --count sample --samples 1000"
        ' -m "DCG DCG(discount=jk,base=2) DCG(discount=jk,base=10)"',
        ours=_jk,
    ),
    Row(
        "convexity",
        "For additive measures the question is one of convexity of the weights, so it is answered for every length at once: RBP is"
        " interval-like over all intervals if and only if p <= 1/2",
        command='rankscope scales --length 1000 --all-intervals -m "RBP(p=0.49) RBP(p=0.5) RBP(p=0.51) RBP(p=0.8)"',
        ours=_rbp,
    ),
    Row(
        "threshold",
        'The example\'s threshold "p > 0.85"',
        python="rbp_threshold([0,0,1,0,1,1,0,0,1,0], [0,1,0,1,0,1,1,1,1,0], [0,1,0,1,0,1,1,1,1,0], [1,1,0,1,1,1,0,1,0,0])",
        ours=lambda p: f"p* = {p:.5f}",
    ),
    Row(
        "weak top-heaviness",
        "No classic measure is on the interval scale of weak top-heaviness, but CRP and SigmaMinus are when RB = N",
        command='rankscope scales --length 4 -m "AP ERR RBP(p=0.5) DCG RR P@4 nDCG CRP SigmaMinus"',
        ours=_weak,
    ),
    Row(
        "strongest",
        '"ERR shows the strongest discordance" fails on all intervals; in brackets without pairs that contain an empty interval [r, r], which'
        " these measures cannot violate",
        command=SCALES,
        ours=_strongest,
    ),
    Row(
        "swap",
        "A swap at depth i is one from rank i + 1 to i, not from i - 1: steps of the swap from rank 3 to rank 2, by depth",
        python="steps([0, 0, 1, 0], [0, 1, 0, 0]).tolist()",
        ours=lambda v: "(" + ", ".join(map(str, v)) + ")",
    ),
]

RBP = [
    Row(
        "sum",
        "The sum of RBP starts at i = 1, not at 0",
        command='rankscope eval $TWIST/qrels.txt $TWIST/ideal.run -m "RBP(p=0.5)@1"',
        ours=lambda t: f"one relevant document at rank 1, p = 0.5: {t['means'][0]['value']:.1f}",
    ),
    Row(
        "triangle",
        "The half of the correlation table for the original ordering cannot be right for P@R, unless runs tie: it breaks the triangle"
        " inequality of Kendall distances, which holds for rankings without ties (tau-b with ties is no distance). RR at depth 10 and 100,"
        " P@R; 61 runs have 1830 pairs",
        python="((1 - 0.747) / 2, (1 - 0.769) / 2 + (1 - 0.997) / 2, 1830 * ((1 - 0.747) - (1 - 0.769) - (1 - 0.997)) / 2)",
        ours=_triangle,
    ),
    Row(
        "rounding",
        "Rounding errors of 64-bit arithmetic break exact ties: 0.3 - 0.2 is not 0.2 - 0.1. A Wilcoxon test on raw differences of"
        " P@10 does not find the published pairs of TREC 5, 1,153 at 95 % and 904 at 99 % (the headers of that table are exchanged)",
        python="[sum(wilcoxon(x - y).pvalue < level for x, y in combinations(loadtxt('$SCORES/adhoc5_p10.csv', delimiter=',',"
        " skiprows=1).T, 2) if (x != y).any()) for level in (0.05, 0.01)]",
        ours=lambda found: f"{found[0]:,} and {found[1]:,}",
    ),
    Row(
        "orderings",
        "Orderings matter in practice",
        command="rankscope orderings $COVID --orders file,trec_eval",
        ours=lambda t: (
            f"{percent(t['total'][0]['share'])} of the documents of TREC-COVID's runs have a rank other than in the file"
        ),
    ),
]

PROGRAMS = [
    Row(
        "32 bits",
        "trec_eval 9 reads scores as 32-bit numbers, 10 as 64-bit: runs whose scores differ only beyond the seventh digit are ordered"
        " differently, and the official TREC-COVID leaderboard is that of version 9",
        python=_leaderboard("trec_eval9"),
        ours=_same,
    ),
    Row(
        "64 bits",
        "the same with the ordering of version 10",
        python=_leaderboard("trec_eval"),
        ours=_same,
    ),
    Row(
        "cube test programs",
        "The official cube-test programs disagree by design: their users take time by words (2014) or by pages (2017)",
        command='rankscope eval $ASPECTS/qrels.txt $ASPECTS/ab.run -m "CT(preset=trec-dd-2014) CT"',
        ours=lambda t: "CT of ab: " + ", ".join(f"{v:.4f}" for v in column(t["means"], "value")),
    ),
    Row(
        "nCT",
        "The normalised cube test of 2017 exceeds 1 when a list ends before the cutoff, as its time ends there and that of the bound does"
        " not; so does the greedy ideal in the bound's place",
        command="rankscope eval $ASPECTS/qrels.txt $ASPECTS/ab.run"
        " -m \"nCT(iteration=1,bound='trec-dd-2017')@10 nCT(iteration=1)@10\"",
        ours=lambda t: (
            "nCT at 10 of ab, a document an iteration: "
            + ", ".join(f"{v:.4f}" for v in column(t["means"], "value"))
        ),
    ),
    Row(
        "ndeval",
        "ndeval's orderings (rank column, or score with `-traditional`) give different numbers on the same files wherever scores tie;"
        " differences of alpha-nDCG@20 by run, the largest first",
        command="rankscope orderings $WEB2012_ASPECTS --orders rank,trec_eval -m alpha_nDCG@20",
        ours=_orders,
    ),
]

SECTIONS = [
    (
        "Effort (Ferro et al. 2016; Angelini et al. 2012)",
        "Shown step by step in [Effort](effort.md#what-we-found).",
        EFFORT,
    ),
    ("Properties (Albahem et al. 2018)", "Explained in [The laboratory](laboratory.md).", LABORATORY),
    ("Scales (Ferrante, Ferro and Pontarollo 2017)", "Proofs and counts in [Scales](scales.md).", SCALE),
    (
        "Rank-biased precision, reproduced (Ferro and Silvello 2015)",
        "We can check 8 of the 32 published counts of significant pairs, those of AP and P@10, and obtain the same counts"
        " ([details](meta-evaluation.md#what-we-found)).",
        RBP,
    ),
    (
        "Official programs",
        "The versions of trec_eval also round the recall levels of `iprec_at_recall` differently (`IPrec(rounding='up')` is that of 9).",
        PROGRAMS,
    ),
]
