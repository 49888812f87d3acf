"""Ferrante, Ferro and Pontarollo: an interval-like scale property."""

from __future__ import annotations

from typing import Any

from papers.reading import lines, means, percent, pick, vector
from papers.row import Detail, Row

TITLE = "Interval-like scales (Ferrante, Ferro and Pontarollo 2017)"
ABOUT = """Explained, with proofs, in [Scales](scales.md). No data is needed; `$SCALES` holds the rankings of the examples as files. In
Python `cumsum`, `steps` and `delta` are those of `rankscope.lab.measurement.intervals`, `positions` is that of `rankscope.lab.measurement.distances`, and
`rbp_threshold` that of `rankscope.lab.measurement.convexity`."""

EQUAL, ALL = "interval-like (equal-relevant)", "interval-like (all)"
STRONG, WEAK = "interval (strong top-heaviness)", "interval (weak top-heaviness)"
USUAL = "AP ERR RBP(p=0.5) RBP(p=0.8) DCG"


def _holds(scale: str) -> Any:
    def cell(tables: Any) -> str:
        return (
            ", ".join(row["measure"] for row in tables["scales"] if row["scale"] == scale and row["holds"])
            or "none"
        )

    return cell


def _share(measure: str, scale: str) -> Any:
    return lambda tables: percent(pick(tables["scales"], measure=measure, scale=scale)["share"])


def _shares(tables: Any) -> Detail:
    measures = list(dict.fromkeys(row["measure"] for row in tables["scales"]))
    by_key = {(row["measure"], row["scale"]): row for row in tables["scales"]}
    rows = [
        [
            m,
            *(
                cell
                for s in (ALL, EQUAL)
                for cell in (
                    f"{by_key[m, s]['violations']:,} of {by_key[m, s]['comparable']:,}",
                    percent(by_key[m, s]["share"]),
                    percent(by_key[m, s]["share_nonempty"]),
                )
            ),
        ]
        for m in measures
    ]
    heads = [
        f"{s}{more}" for s in ("all", "equally many relevant") for more in ("", ", share", ", without empty")
    ]
    return Detail(
        ("measure", *heads),
        rows,
        "Violated pairs of intervals at length 6: of all comparable pairs, and of those without an empty interval.",
    )


def _eval(runs: str, measures: str) -> str:
    files = " ".join(f"$SCALES/{run}.run" for run in runs.split())
    return f'rankscope eval $SCALES/qrels.txt {files} -m "{measures}"'


def _rise(tables: Any, *pairs: tuple[str, str]) -> dict[str, tuple[float, float]]:
    """Return the increase of each measure over the first interval and over the second, larger one."""
    mean = means(tables)
    measures = dict.fromkeys(row["measure"] for row in tables["means"])
    return {
        measure: tuple(mean[high, measure] - mean[low, measure] for low, high in pairs)  # type: ignore[misc]
        for measure in measures
    }


def _subtraction(tables: Any, measure: str, pair: tuple[str, str]) -> str:
    low, high = (means(tables)[run, measure] for run in pair)
    return f"{high:.4f} - {low:.4f}"


def _larger(rises: tuple[float, float]) -> bool:
    return rises[0] > rises[1] + 1e-12


def _example(
    item: str, what: str, files: str, measures: str, claim: str, violating: set[str], *pairs: tuple[str, str]
) -> Row:
    """A row for an example against interval-like scales: the measures that rise more over the smaller interval."""

    def cell(tables: Any) -> str:
        return lines(
            *(
                f"{m} {_subtraction(tables, m, pairs[0])} {'>' if _larger(r) else '<='} {_subtraction(tables, m, pairs[1])}"
                for m, r in _rise(tables, *pairs).items()
            )
        )

    return Row(
        item,
        what,
        command=_eval(files, measures),
        paper=claim,
        ours=cell,
        holds=lambda t: (
            {measure for measure, rises in _rise(t, *pairs).items() if _larger(rises)} == violating
        ),
    )


AXIOMS = f'rankscope scales --length 4 --axioms -m "{USUAL}"'


def _axioms(tables: Any) -> Detail:
    names = list(dict.fromkeys(row["axiom"] for row in tables["axioms"]))
    rows = {(row["structure"], row["axiom"]): row for row in tables["axioms"]}
    structures = dict.fromkeys(row["structure"] for row in tables["axioms"])
    return Detail(
        ("structure", *names, "against solvability"),
        [
            [
                structure,
                *(f"{rows[structure, n]['violations']:,} of {rows[structure, n]['cases']:,}" for n in names),
                rows[structure, names[-1]]["counterexample"] or "",
            ]
            for structure in structures
        ],
        "Violations of the axioms on all rankings of length 4; D(a,b) is the difference of a and b.",
    )


def _represented(tables: Any) -> str:
    structures: dict[str, list[str]] = {}
    for row in tables["representations"]:
        if row["holds"]:
            structures.setdefault(row["structure"], []).append(row["measure"])
    return lines(*(f"{structure}: {', '.join(measures)}" for structure, measures in structures.items()))


STUDY = 'rankscope study $COVID -m "AP ERR RBP DCG" --focus ERR -o study'


def _tau_of_means(tables: Any) -> str:
    return lines(*(f"{row['measure']} {float(row['tau']):.3f}" for row in tables["scale_effect"]))


def _tau_of_variances(tables: Any) -> str:
    return lines(*(f"{row['measure']} {float(row['tau_variance']):.3f}" for row in tables["scale_effect"]))


def _lost(tables: Any) -> str:
    return lines(
        *(
            f"{row['measure']} -{row['lost']} +{row['gained']} of {row['pairs']}"
            for row in tables["scale_effect"]
        )
    )


def _effect(tables: Any) -> Detail:
    columns = (
        "measure",
        "topics",
        "tau",
        "discordant",
        "variance",
        "variance_interval",
        "tau_variance",
        "discordant_variance",
        "pairs",
        "significant",
        "significant_interval",
        "lost",
        "gained",
    )
    rows = [
        [f"{float(row[c]):.3f}" if c.startswith(("tau", "variance")) else row[c] for c in columns]
        for row in tables["scale_effect"]
    ]
    return Detail(
        [c.replace("_", ", ") for c in columns],
        rows,
        "TREC-COVID; lists cut where all rankings can be counted.",
    )


ROWS = [
    Row(
        "Section 1",
        "strong top-heaviness: only RBP with p = 1/2 is on an interval scale",
        command=f'rankscope scales --length 4 -m "{USUAL}"',
        paper="RBP with p = 1/2",
        ours=_holds(STRONG),
        holds=lambda t: _holds(STRONG)(t) == "RBP(p=0.5)",
    ),
    Row(
        "Section 1",
        "weak top-heaviness: none of the usual measures is on an interval scale",
        command=f'rankscope scales --length 4 -m "{USUAL}"',
        paper="none",
        ours=_holds(WEAK),
        holds=lambda t: _holds(WEAK)(t) == "none",
        why="CRP and SigmaMinus are when RB = N; see [Scales](scales.md)",
    ),
    Row(
        "Section 1",
        "strong top-heaviness puts (1,0,0,0) above (0,1,1,1); their places",
        python='positions(4, "strong")[[0b1000, 0b0111]].tolist()',
        ours=lambda v: f"{v[0]} > {v[1]}",
    ),
    Row(
        "Definition 1",
        "difference structure: an order of differences that satisfies four axioms; violations of the last one, solvability",
        command=AXIOMS,
        ours=lambda t: lines(
            *(
                f"{row['structure']} {row['violations']:,} of {row['cases']:,}"
                for row in t["axioms"]
                if row["axiom"].startswith("iv")
            )
        ),
        why="all axioms are enumerated. Difference vectors are not complete either; everything else holds: axioms i to iii are satisfied by"
        " the differences of any measure, and solvability by those on an interval scale of their own order",
        detail=_axioms,
    ),
    Row(
        "Theorem 1",
        "a difference structure has an interval scale: score differences are ordered as the differences; scales that represent each",
        command=AXIOMS,
        paper="exists",
        ours=_represented,
        holds=lambda t: (
            {row["structure"] for row in t["axioms"]}
            - {row["structure"] for row in t["axioms"] if not row["holds"]}
            <= {
                row["structure"]
                for row in t["representations"]
                if row["measure"] == "counted steps" and row["holds"]
            }
        ),
        why="the scale of the proof, which counts steps, represents every structure that satisfies all axioms",
    ),
    Row(
        "Section 2.3",
        "poset, chains and natural distance, as a Hasse diagram",
        command="rankscope scales --length 4 -m AP --plot intervals.svg",
        ours=lambda t: ", ".join(name for name in t["files"] if name.endswith(".svg")),
    ),
    Row(
        "Replacement",
        "a more relevant document at the same rank does not lower the score",
        command=f'rankscope properties --grades 1 --depth 10 --relevant 5 --fixed-length --property replacement -m "{USUAL} Twist@10"',
        ours=lambda t: lines(
            *(f"{row['measure']} {row['violations']:,} of {row['cases']:,}" for row in t["properties"])
        ),
        why="Twist alone violates it; the command counts lists with five relevant documents",
    ),
    Row(
        "Swap",
        "a more relevant document moved up does not lower the score",
        command=f'rankscope properties --grades 1 --depth 10 --relevant 5 --fixed-length --property swap -m "{USUAL} Twist@10"',
        ours=lambda t: lines(
            *(f"{row['measure']} {row['violations']:,} of {row['cases']:,}" for row in t["properties"])
        ),
        why="Twist alone violates it; the command counts lists with five relevant documents",
    ),
    Row(
        "Equation 1",
        "the partial order of rankings: every prefix holds at most as many relevant documents",
        command="rankscope scales --length 4 -m AP",
        ours=lambda t: f"{pick(t['scales'], scale=ALL)['comparable']:,} comparable pairs of intervals",
    ),
    Row(
        "Example 1",
        "steps from nothing to (0,1,1,0), by rank",
        python="cumsum([0, 1, 1, 0]).tolist()",
        paper="(0, 1, 2, 2)",
        ours=vector,
        why="two replacements, one swap at depth 2 and two at depth 3; a swap at depth i is from i + 1 to i, where the text has i - 1",
    ),
    Row(
        "Equation 2",
        "steps from (0,1,0,0) to (1,0,1,0)",
        python="steps([0, 1, 0, 0], [1, 0, 1, 0]).tolist()",
        paper="(1, 0, 1, 1)",
        ours=vector,
    ),
    Row(
        "Example 3",
        "steps between two rankings of ten documents",
        python="steps([1,0,0,0,0,1,1,0,1,0], [1,1,0,0,1,0,1,0,0,1]).tolist()",
        paper="(0, 1, 1, 1, 2, 1, 1, 1, 0, 1)",
        ours=vector,
    ),
    Row(
        "Definition 2",
        "the difference vector: the steps added up from the top; the same two rankings",
        python="delta([1,0,0,0,0,1,1,0,1,0], [1,1,0,0,1,0,1,0,0,1]).tolist()",
        paper="(0, 1, 2, 3, 5, 6, 7, 8, 8, 9)",
        ours=vector,
    ),
    Row(
        "Definition 3",
        "an interval is no larger if its vector is nowhere larger; a smaller one than the last",
        python="delta([1,0,0,1,0,1,1,1,0,0], [1,0,1,1,1,0,1,0,0,0]).tolist()",
        paper="(0, 0, 1, 2, 4, 5, 6, 6, 6, 6)",
        ours=vector,
    ),
    Row(
        "Example 5",
        "a swap at the top is larger than one at the end, though the natural distance of both is 1",
        python="(delta([0,1,0,0,0,0,0,0,0,0], [1,0,0,0,0,0,0,0,0,0]).tolist(), delta([0,0,0,0,0,0,0,0,0,1], [0,0,0,0,0,0,0,0,1,0]).tolist())",
        paper=lines("(1, 1, 1, 1, 1, 1, 1, 1, 1)", "(0, 0, 0, 0, 0, 0, 0, 0, 1, 1)"),
        ours=lambda v: lines(*map(vector, v)),
        why="the first vector is printed with nine entries; rankings of ten documents have ten",
    ),
    Row(
        "Recall base",
        "topics with fewer relevant documents than ranks: length 5, three relevant; violated pairs of intervals with equally many relevant",
        command='rankscope scales --length 5 --relevant 3 --equal-relevant -m "RBP DCG Rprec Bpref Rho SigmaPlus"',
        ours=lambda t: lines(
            *(
                f"{row['measure']} {row['violations']:,} of {row['comparable']:,}"
                for row in t["scales"]
                if row["scale"] == EQUAL
            )
        ),
        why="the paper considers all rankings, so that RB >= N; with RB = N the last four violate nothing",
    ),
    Row(
        "Interval-like",
        "the definition, checked on all pairs of intervals of length 6",
        command=f'rankscope scales --length 6 -m "{USUAL}"',
        ours=_holds(EQUAL),
        why="over intervals whose ends have equally many relevant documents",
        detail=_shares,
    ),
    _example(
        "ERR example",
        "a smaller interval over which ERR rises more; the others do not",
        "err-r err-s err-u err-v",
        "ERR AP RBP DCG",
        "ERR alone",
        {"ERR"},
        ("err-r", "err-s"),
        ("err-u", "err-v"),
    ),
    _example(
        "AP example",
        "a smaller interval over which AP rises more; the others do not",
        "ap-r ap-s ap-u",
        "AP ERR RBP DCG",
        "AP alone",
        {"AP"},
        ("ap-s", "ap-u"),
        ("ap-r", "ap-s"),
    ),
    _example(
        "DCG example",
        "a smaller interval, with unequally many relevant documents, over which DCG rises more",
        "dcg-r dcg-s dcg-u",
        "DCG RBP(p=0.86) RBP(p=0.84)",
        "DCG, and RBP for p > 0.85",
        {"DCG", "RBP(p=0.86)"},
        ("dcg-r", "dcg-s"),
        ("dcg-s", "dcg-u"),
    ),
    Row(
        "DCG example",
        "the p from which RBP violates it",
        python="rbp_threshold([0,0,1,0,1,1,0,0,1,0], [0,1,0,1,0,1,1,1,1,0], [0,1,0,1,0,1,1,1,1,0], [1,1,0,1,1,1,0,1,0,0])",
        paper="0.85",
        ours=lambda p: f"{p:.5f}",
        why="the exact threshold, the root of a polynomial",
    ),
    Row(
        "Section 3.3",
        "ERR shows the strongest discordance; over all intervals of length 6, AP and ERR",
        command=f'rankscope scales --length 6 -m "{USUAL}"',
        paper="ERR most",
        ours=lambda t: f"AP {_share('AP', ALL)(t)}, ERR {_share('ERR', ALL)(t)}",
        why=lambda t: (
            "it is AP, also without empty intervals; over intervals with equally many relevant documents the claim holds: AP "
            + f"{_share('AP', EQUAL)(t)}, ERR {_share('ERR', EQUAL)(t)}"
        ),
    ),
    Row(
        "Section 3.3",
        "RBP and DCG are interval-like over intervals with equally many relevant documents, AP and ERR are not",
        command='rankscope scales --length 11 --equal-relevant --count sample --samples 1000 -m "AP ERR RBP(p=0.5) RBP(p=0.8)'
        ' DCG DCG(discount=jk,base=2) DCG(discount=jk,base=10)"',
        paper="RBP, DCG",
        ours=_holds(EQUAL),
        why="DCG is with the discount 1/log2(1+i); with that of Järvelin and Kekäläinen it is not, from length 3 (base 2) and 11"
        " (base 10) on",
    ),
    Row(
        "Future work 1",
        "what it does to means on real runs: tau between the means of a measure and of the same on an interval scale",
        command=STUDY,
        ours=_tau_of_means,
        why="[how a measure is put on an interval scale](scales.md#interval-scaled-measures)",
        detail=_effect,
    ),
    Row(
        "Future work 1",
        "what it does to variances: tau between the variances of the runs over topics, by the measure and by the same on an interval scale",
        command=STUDY,
        ours=_tau_of_variances,
        why="announced as descriptive statistics like mean and variance",
    ),
    Row(
        "Future work 2",
        "effect on significance tests: significant pairs lost and gained by the step",
        command=STUDY,
        ours=_lost,
    ),
]
