"""Albahem, Spina, Scholer, Moffat and Cavedon: desirable properties for diversity and truncated rankings."""

from __future__ import annotations

from typing import Any

from papers.reading import lines, means, percent, pick
from papers.row import Detail, Row

TITLE = "Desirable properties (Albahem, Spina, Scholer, Moffat and Cavedon 2018)"
ABOUT = """Explained in [The laboratory](laboratory.md). No data is needed: every ranking up to a length is tested. `$ASPECTS` holds
the paper's small rankings as files, over two aspects a and b with five relevant documents each."""

FULL = "rankscope properties --aspects 2 --depth 10 --relevant 10"
RELEVANCE, IRRELEVANCE = "relevance monotonicity", "irrelevance monotonicity"
REDUNDANCY, INDUCED = "redundancy", "induced"


def _eval(runs: str, measures: str) -> str:
    files = " ".join(f"$ASPECTS/{run}.run" for run in runs.split())
    return f'rankscope eval $ASPECTS/qrels.txt {files} -m "{measures}"'


def _scores(tables: Any) -> str:
    return lines(*(f"{measure}({run}) {value:.4f}" for (run, measure), value in means(tables).items()))


def _numbers(digits: int) -> Any:
    return lambda tables: ", ".join(f"{row['value']:.{digits}f}" for row in tables["means"])


def _count(measure: str, name: str) -> Any:
    def cell(tables: Any) -> str:
        row = pick(tables["properties"], measure=measure, property=name)
        return f"{row['violations']:,} of {row['cases']:,}"

    return cell


def _cases(name: str) -> Any:
    return lambda tables: f"{pick(tables['properties'], property=name)['cases']:,}"


def _violated(tables: Any) -> str:
    broken: dict[str, list[str]] = {}
    for row in tables["properties"]:
        if row["violations"]:
            broken.setdefault(row["measure"], []).append(row["property"])
    return lines(*(f"{measure}: {', '.join(names)}" for measure, names in broken.items())) or "none"


def _verdicts(tables: Any) -> Detail:
    measures = list(dict.fromkeys(row["measure"] for row in tables["properties"]))
    names = (RELEVANCE, IRRELEVANCE, REDUNDANCY, INDUCED)
    cells = {(row["measure"], row["property"]): f"{row['violations']:,}" for row in tables["properties"]}
    rows = [[measure, *(cells[measure, name] for name in names)] for measure in measures]
    cases = [f"{pick(tables['properties'], measure='ACT', property=name)['cases']:,}" for name in names]
    return Detail(
        ("measure", *names),
        [*rows, ["pairs compared", *cases]],
        "Violations; the paper names ACT and AP-IA only.",
    )


def _relation(item: str, figure: str, name: str, what: str) -> list[Row]:
    command = f'rankscope properties --aspects 2 --depth 2 -m AP --property "{name}"'
    return [
        Row(
            item,
            what,
            command=command,
            ours=lambda t: f"{_cases(name)(t)} pairs",
            why="rankings of at most two documents",
        ),
        Row(
            figure,
            f"the relation drawn: {name}",
            command=f"{command} --plot relation.svg",
            ours=lambda t: f"{_cases(name)(t)} pairs",
            why="without the empty ranking, which Figure 5 has",
        ),
    ]


ROWS = [
    Row(
        "Equation 1",
        "intent-aware measures: the weighted sum over aspects of an ordinary measure, for any measure",
        command=_eval("axxa", "AP_IA IA(measure='RR') IA(measure='nDCG@4')"),
        ours=_scores,
    ),
    Row(
        "Equation 2",
        "the common form of cascade measures: discount, gain and novelty",
        command=_eval("ab", "alpha_DCG@2 NRBP ERR_IA@2"),
        ours=_scores,
        why="the next three equations are its cases",
    ),
    Row(
        "Equation 3",
        "alpha-nDCG",
        command=_eval("ab aaaa", "alpha_nDCG@4"),
        ours=_scores,
        why="prints rel for nrel, the number of documents of the aspect above; we take nrel",
    ),
    Row("Equation 4", "NRBP", command=_eval("ab aaaa", "NRBP"), ours=_scores, why="prints rel for nrel"),
    Row("Equation 5", "ERR over aspects (ERR-IA)", command=_eval("ab aaaa", "ERR_IA"), ours=_scores),
    Row(
        "Equation 6",
        "D#-measures: subtopic recall and a measure on gains summed over aspects",
        command=_eval("ab aaaa", "DS_nDCG@4"),
        ours=_scores,
    ),
    Row(
        "Equation 7",
        "cube test; as printed and as the official program of 2017 has it",
        command=_eval("ab", "CT(preset=equation7) CT(preset=equation7,time=iterations) CT"),
        ours=_scores,
        why="prints rel for nrel; Time is left open, documents or iterations; the official program also divides by the cube's height and discounts once more",
    ),
    Row(
        "Equation 8",
        "average cube test of ab; as the official program",
        command=_eval("ab", "ACT"),
        paper="0.0750",
        ours=_numbers(4),
    ),
    Row(
        "Equation 8",
        "the same of abx",
        command=_eval("abx", "ACT"),
        paper="0.08330",
        ours=_numbers(5),
        why="1/12: the paper rounds to four digits and appends a zero",
    ),
    Row(
        "Equation 8",
        "both with Equation 7 as printed, one iteration",
        command=_eval("ab abx", "ACT(preset=equation7,time=iterations)"),
        paper="0.0750, 0.0833",
        ours=_numbers(4),
        why="ten times the paper's: the official program divides by the height of 5 and discounts once more by 1/2",
    ),
    Row(
        "Equation 8",
        "the same with time measured in documents",
        command=_eval("ab abx", "ACT(preset=equation7,time=documents)"),
        ours=_numbers(4),
        why="then ACT falls from ab to abx",
    ),
    Row(
        "Section 2",
        "time-biased gain: gain halves with every 224 seconds; ab and axxb",
        command=_eval("ab axxb", "TBG"),
        ours=_scores,
    ),
    Row(
        "Section 2",
        "a terminal document that ends a truncated ranking; ab and abx, with it and without",
        command=_eval("ab abx", "Terminal(measure='RBP') RBP"),
        ours=_scores,
        why="[how it gains](measures/Terminal.md)",
    ),
    Row(
        "Figure 1",
        "all rankings of at most two documents over two aspects",
        command="rankscope properties --aspects 2 --depth 2 -m AP",
        ours=lambda t: str(t["settings"]["rankings"]),
        why="the figure lists them; the paper does not print how many there are",
    ),
    *_relation(
        "Equation 9", "Figure 2", RELEVANCE, "a relevant document at the end does not lower the score"
    ),
    *_relation(
        "Equation 10", "Figure 3", IRRELEVANCE, "a non-relevant document at the end does not raise the score"
    ),
    *_relation(
        "Equation 11",
        "Figure 4",
        REDUNDANCY,
        "a document of a covered aspect gains no more than one of a new aspect",
    ),
    Row(
        "Section 3.1",
        "subtopic recall at 3 of aaaa and aaab is equal",
        command=_eval("aaaa aaab", "StRec@3"),
        paper="0.5, 0.5",
        ours=_numbers(1),
    ),
    Row(
        "Figure 5",
        "everything that follows from the three relations",
        command="rankscope properties --aspects 2 --depth 2 -m AP --property induced --plot relations.svg",
        ours=lambda t: f"{_cases(INDUCED)(t)} pairs",
    ),
    Row(
        "Section 3.3",
        "number of rankings over two aspects up to length 10, ((m+1)^(h+1) - 1) / m",
        command=FULL,
        ours=lambda t: f"{t['settings']['rankings']:,}",
        why="the value of the formula, which the paper does not print",
    ),
    Row(
        "Table 1",
        "violations by the measures of the Web and Dynamic Domain tracks",
        command=FULL,
        paper=lines("ACT: irrelevance monotonicity, induced", "AP_IA: redundancy, induced"),
        ours=_violated,
        detail=_verdicts,
    ),
    Row(
        "Section 4.1",
        "the normalised cube test, also analysed there",
        command="rankscope properties --aspects 2 --depth 10 --relevant 10 -m nCT",
        paper="none violated",
        ours=_violated,
        holds=lambda t: not any(row["violations"] for row in t["properties"]),
        why="divided by the greedy ideal; the official bound can be exceeded",
    ),
    Row(
        "Section 4.2",
        "cases of irrelevance monotonicity that ACT violates",
        command=FULL,
        paper="29,496 of 29,523",
        ours=_count("ACT", IRRELEVANCE),
        why=lambda t: (
            "the text says almost 99 %; it is "
            + percent(pick(t["properties"], measure="ACT", property=IRRELEVANCE)["violations"] / 29523)
            + ", and the other 27 are ties"
        ),
    ),
    Row(
        "Section 4.2",
        "cases of redundancy that AP-IA violates, with ten relevant documents an aspect",
        command=FULL,
        paper="2,026 of 2,026",
        ours=_count("AP_IA", REDUNDANCY),
    ),
    Row(
        "Section 4.2",
        "the same with five relevant documents an aspect, as in the paper's example",
        command="rankscope properties --aspects 2 --depth 10 --relevant 5 -m AP_IA",
        paper="2,026 of 2,026",
        ours=_count("AP_IA", REDUNDANCY),
        why="every case that is possible: a ranking cannot hold more documents of an aspect than there are",
    ),
    Row(
        "Section 4.3",
        "ACT rises from ab to abx: the shortest violation",
        command="rankscope properties --aspects 2 --depth 3 -m ACT",
        paper="abx over ab",
        ours=lambda t: "{low} over {high}".format(**pick(t["counterexamples"], property=IRRELEVANCE)),
        holds=lambda t: pick(t["counterexamples"], property=IRRELEVANCE)["low"] == "abx",
        why=lambda t: f"the verdict says: {pick(t['verdicts'], property=IRRELEVANCE)['sentence']}",
    ),
    Row(
        "Section 4.3",
        "AP-IA of axxa and axxb with five relevant documents an aspect",
        command=_eval("axxa axxb", "AP_IA"),
        paper="0.150, 0.125",
        ours=_numbers(3),
    ),
    Row(
        "Section 5",
        "measures at a cutoff fill short rankings up with non-relevant documents, as trec_eval and ndeval do; ab at 10, and"
        " precision over the ranking's own length",
        command=_eval("ab", "P@10 P_IA@10 SetP"),
        ours=_scores,
    ),
    Row(
        "Section 5",
        "the ideal ranking is taken at the cutoff, not at the length of the ranking; ab at 10",
        command=_eval("ab", "nDCG@10 alpha_nDCG@10"),
        ours=_scores,
    ),
    Row(
        "Section 5",
        "with one aspect ACT still violates irrelevance monotonicity",
        command='rankscope properties --aspects 1 --depth 10 -m "ACT AP_IA"',
        ours=_count("ACT", IRRELEVANCE),
        why="and redundancy has no case, as the paper says",
    ),
    Row(
        "Future work 1",
        "aspects of unequal weight",
        command='rankscope properties --aspects 2 --depth 8 --weights 0.9,0.1 -m "ERR_IA AP_IA P_IA@8 StRec@8 alpha_nDCG@8 NRBP CT"',
        ours=_violated,
        why="with weights, a second document of the weighty aspect may be worth more than the first of the other: the property itself"
        " presumes equal weights",
    ),
    Row(
        "Future work 1",
        "documents relevant to several aspects",
        command='rankscope properties --aspects 2 --multi-aspect --depth 5 -m "ACT AP_IA P_IA@5 StRec@5 ERR_IA alpha_nDCG@5 NRBP CT RBU"',
        ours=_violated,
        why="the first relaxed assumption: single-aspect documents",
    ),
    Row(
        "Future work 1",
        "grades for aspects",
        command='rankscope properties --aspects 2 --grades 2 --depth 5 -m "ACT AP_IA P_IA@5 StRec@5 ERR_IA alpha_nDCG@5 NRBP CT RBU"',
        ours=_violated,
        why="the second: binary judgments",
    ),
    Row(
        "Future work 2",
        "rank-biased utility (RBU) in the analysis",
        command="rankscope properties --aspects 2 --depth 10 --relevant 10 -m RBU",
        ours=lambda t: lines(
            *(f"{row['property']} {row['violations']:,} of {row['cases']:,}" for row in t["properties"])
        ),
        why="a second document of an aspect gains nothing and costs the effort e, so that a relevant document can lower the score",
    ),
    Row(
        "Future work 3",
        "D#-measures in the analysis",
        command="rankscope properties --aspects 2 --depth 8 --relevant 8 -m \"DS_nDCG@8 DS(measure='ERR')@8 DS(measure='RBP')@8 DS(measure='AP')@8\"",
        ours=_violated,
        why="with nDCG, ERR, RBP or AP on the global gains",
    ),
]
