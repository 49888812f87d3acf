"""Findings: every number again from scratch, on official data where it is; and nothing said about noise."""

from __future__ import annotations

import re
import warnings
from fractions import Fraction
from itertools import permutations, product

import from_scratch as scratch
import numpy as np
import pytest
from scipy import stats

import rankscope as rs
from rankscope.analysis.findings.rules import RULES
from rankscope.analysis.stats.matrices import complete

MEASURES = "AP P@10 RBP Twist"
close = pytest.approx


def official(data_dir, name, small=None):
    """Return the scores of the package and an independent evaluation of the same collection."""
    if name == "small":
        qrels, runs = small
        return rs.findings(rs.evaluate(qrels, runs, MEASURES)), scratch.evaluated(qrels, runs)
    if name == "web2011":
        path = data_dir / "score_matrices"
        result = rs.findings(
            rs.read_scores({"ERR@20": path / "web2011_err20.csv"}, {"nDCG@20": path / "web2011_ndcg20.csv"})
        )
        rows = [
            np.loadtxt(path / f"web2011_{measure}.csv", delimiter=",", skiprows=1).T
            for measure in ("err20", "ndcg20")
        ]
        runs = (path / "web2011_err20.csv").read_text().split("\n")[0].split(",")
        topics = [str(t + 1) for t in range(rows[0].shape[1])]
        return result, scratch.Values(runs, topics, {"ERR@20": rows[0], "nDCG@20": rows[1]})
    folder = data_dir / {"covid": "trec_covid_r1_depth100", "cranfield": "cranfield"}[name]
    qrels = scratch.read_qrels(folder / "qrels.txt")
    runs = dict(sorted(scratch.read_run(path) for path in (folder / "runs").iterdir()))
    scores = rs.evaluate(folder / "qrels.txt", folder / "runs", MEASURES)
    repeated = scratch.evaluated(
        {topic: qrels[topic] for topic in scores.topics}, {run: runs[run] for run in scores.runs}
    )
    return rs.findings(scores), repeated


@pytest.fixture(scope="module", params=["small", "covid", "cranfield", "web2011"], ids=str)
def both(request):
    """Findings and the same from scratch; the official ones are left out where the files are not."""
    small = request.getfixturevalue("small")
    data_dir = None if request.param == "small" else request.getfixturevalue("data_dir")
    return (request.param, *official(data_dir, request.param, small))


def test_six_kinds_and_every_number(both):
    name, result, plain = both
    kinds = [finding.kind for finding in result]
    assert len(set(kinds)) == len(kinds) >= (6 if name == "web2011" else 9)
    checks = {
        "leader": leader, "separation": separation, "disagreement": disagreement, "decisive_topics": decisive_topics,
        "fragile_lead": fragile_lead, "hard_topics": hard_topics, "unjudged": unjudged, "ties": ties,
        "high_effort": high_effort,
        "no_return": no_return, "scale": scale,
    }  # fmt: skip
    for finding in result:
        expected = checks[finding.kind](finding, plain)
        left = {key: value for key, value in finding.numbers.items() if key not in expected}
        assert not left, f"{finding.kind}: not recomputed: {left}"
        for key, value in expected.items():
            assert finding.numbers[key] == (close(value, abs=1e-9) if isinstance(value, float) else value), (
                finding.kind,
                key,
            )


def words(names):
    if len(names) > 3:
        return ", ".join(names[:3]) + " and others"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def leader(finding, plain):
    measure = next(iter(plain.values))
    means = np.round(plain.mean(measure), 12)
    order = np.argsort(-means, kind="stable")
    tied = plain.tied(measure)
    x, rng = plain.values[measure], np.random.default_rng(7)
    ranges = []
    for _ in range(1000):
        shuffled = rng.permuted(x, axis=0).mean(axis=1)
        ranges.append(shuffled.max() - shuffled.min())
    chance = float(np.mean(np.array(ranges) >= (means.max() - means.min()) * (1 - 1e-9)))
    assert finding.numbers["chance"] == close(chance, abs=0.05)  # both are drawn
    if chance < 0.02:
        assert "No run leads" not in finding.sentence
        assert ("leads by" in finding.sentence) == (len(tied) == 1)
    assert {row["run"] for row in finding.evidence.records() if row["tied_for_first"]} == tied
    equal = [plain.runs[r] for r in order if means[r] == means[order[0]]]
    others = [plain.runs[r] for r in order if plain.runs[r] in tied and plain.runs[r] not in equal]
    if "share the lead" in finding.sentence:
        assert ("has the highest mean" in finding.sentence) == (len(equal) == 1)
        assert ("not differ significantly" in finding.sentence) == bool(others)
    return {
        "run": plain.runs[order[0]], "measure": measure, "value": float(means[order[0]]), "topics": len(plain.topics),
        "runs": len(plain.runs), "tied": len(tied), "second": plain.runs[order[1]],
        "second_value": float(means[order[1]]), "last_value": float(means[order[-1]]),
        "chance": finding.numbers["chance"],
        **({"others": words(others) if len(tied) > 1 else len(plain.runs) - 1} if "others" in finding.numbers else {}),
        **({"equal": words(equal)} if "equal" in finding.numbers else {}),
    }  # fmt: skip


def separation(finding, plain):
    count = {name: int(plain.significant(name).sum()) for name in plain.values}
    best, worst = max(count, key=count.__getitem__), min(count, key=count.__getitem__)
    pairs = len(plain.pairs)
    return {
        "measure": best, "pairs": pairs, "significant": count[best], "share": count[best] / pairs,
        "topics": len(plain.topics), "least": worst, "least_significant": count[worst],
        "least_share": count[worst] / pairs,
    }  # fmt: skip


def disagreement(finding, plain):
    names = list(plain.values)
    several = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    counts = {pair: int(plain.swapped(*pair).sum()) for pair in several}
    a, b = min(several, key=lambda pair: (-counts[pair], pair))
    swapped, x, y = plain.swapped(a, b), plain.significant(a), plain.significant(b)
    tau = stats.kendalltau(np.round(plain.mean(a), 12), np.round(plain.mean(b), 12)).statistic
    return {
        "a": a, "b": b, "tau": float(tau), "swapped": counts[a, b], "pairs": len(plain.pairs),
        "share": counts[a, b] / len(plain.pairs), "significant": int((swapped & (x | y)).sum()),
        "contradict": int((swapped & x & y).sum()), "by_one": int((swapped & (x != y)).sum()),
    }  # fmt: skip


def decisive_topics(finding, plain):
    measure = next(iter(plain.values))
    x = plain.values[measure]
    means = x.mean(axis=1)
    shares = np.array([np.cov(x[:, t], means)[0, 1] for t in range(x.shape[1])]) / (
        x.shape[1] * means.var(ddof=1)
    )
    assert shares.sum() == close(1)
    falling = np.sort(shares)[::-1]
    half = next(k for k in range(1, len(falling) + 1) if falling[:k].sum() >= 0.5 - 1e-12)
    return {
        "half": half, "topics": x.shape[1], "measure": measure, "topic": plain.topics[int(np.argmax(shares))],
        "share": float(shares.max()), "against": int((shares < -1e-12).sum()),
    }  # fmt: skip


def fragile_lead(finding, plain):
    measure = next(iter(plain.values))
    means = np.round(plain.mean(measure), 12)
    a, b = np.argsort(-means, kind="stable")[:2]
    gains = np.round(plain.values[measure][a] - plain.values[measure][b], 12)
    left, dropped = sorted(gains), 0
    while sum(left) >= -1e-12:
        left.pop()
        dropped += 1
    names = [plain.topics[t] for t in np.argsort(-gains, kind="stable")[:dropped]]
    words = ", ".join(names[:3]) + " and others" if dropped > 3 else finding.numbers["names"]
    assert all(name in words for name in names[:3])
    return {
        "run": plain.runs[a], "other": plain.runs[b], "measure": measure, "dropped": dropped,
        "topics": len(plain.topics), "names": words, "difference": float(means[a] - means[b]),
        "wins": int((gains > 0).sum()), "losses": int((gains < 0).sum()),
    }  # fmt: skip


def hard_topics(finding, plain):
    measure = next(iter(plain.values))
    x = plain.values[measure]
    worst = int(np.argmin(np.round(x.mean(axis=0), 12)))
    empty = sum(2 * sum(value == 0 for value in x[:, t]) >= len(x) for t in range(x.shape[1]))
    lowest = np.round(x.mean(axis=0), 12)
    return {
        "topic": plain.topics[worst], "measure": measure, "mean": float(x[:, worst].mean()),
        "best": float(x[:, worst].max()), "empty": int(empty), "topics": x.shape[1], "overall": float(x.mean()),
        "zero": 0, "alike": int((lowest == lowest[worst]).sum()) - 1,
    }  # fmt: skip


def unjudged(finding, plain):
    shares = plain.unjudged.sum(axis=1) / plain.retrieved.sum(axis=1)
    precision = plain.mean("P@10")
    highest = precision + plain.unjudged.mean(axis=1) / 10
    top, best = int(np.argmax(shares)), int(np.argmax(precision))
    others = [r for r in range(len(shares)) if r != best]
    return {
        "depth": 10, "notable": int((shares > 0.1).sum()), "limit": 0.1, "runs": len(shares),
        "run": plain.runs[top], "share": float(shares[top]), "precision": float(precision[top]),
        "highest": float(highest[top]), "best": plain.runs[best], "best_precision": float(precision[best]),
        "above": sum(bool(highest[r] > precision[best] + 1e-9) for r in others),
    }  # fmt: skip


def ties(finding, plain):
    value, low, high = plain.mean("AP"), plain.ap_worst.mean(axis=1), plain.ap_best.mean(axis=1)
    top = int(np.argmax(np.round(high - low, 12)))
    turning = 0
    for a, b in plain.pairs:
        first, second = (a, b) if value[a] >= value[b] else (b, a)
        equal = abs(value[a] - value[b]) < 1e-12
        turning += bool(low[first] < high[second] - 1e-12 or (equal and high[first] > low[second] + 1e-12))
    return {
        "run": plain.runs[top], "measure": "AP", "value": float(value[top]), "worst": float(low[top]),
        "best": float(high[top]), "touched": int((high - low > 1e-12).sum()), "runs": len(value), "open": turning,
        "pairs": len(plain.pairs), "unknown": 0,
    }  # fmt: skip


def high_effort(finding, plain):
    has_relevant = plain.base > 0
    gain, twist = plain.values["AP"][:, has_relevant].ravel(), plain.values["Twist"][:, has_relevant].ravel()
    quarters = np.quantile(gain, [0.25, 0.5, 0.75])
    row = (gain[:, None] > quarters).sum(axis=1)
    column = (twist[:, None] >= [0.25, 0.5, 0.75]).sum(axis=1)
    count = int(((row >= 2) & (column <= 1)).sum())
    upper, costly = int((row >= 2).sum()), int((column <= 1).sum())
    return {
        "measure": "AP", "lists": len(gain), "count": count, "share": count / len(gain), "median": float(quarters[1]),
        "upper": upper, "limit": 0.5, "costly": costly, "expected": upper * costly / len(gain) ** 2,
        "agree": float((row == column).mean()),
    }  # fmt: skip


def no_return(finding, plain):
    has_relevant = plain.base > 0
    base, zero = plain.base[has_relevant], plain.rho[:, has_relevant] == 0
    is_large = base > np.median(base)
    tau = stats.kendalltau(base, zero.mean(axis=0))
    assert ("many relevant" in finding.sentence) == bool(tau.pvalue < 0.05 and tau.statistic > 0)
    return {
        "count": int(zero.sum()), "lists": zero.size, "share": float(zero.mean()), "cutoff": 1000, "rho": 0,
        "median": float(np.median(base)), "many_share": float(zero[:, is_large].mean()),
        "few_share": float(zero[:, ~is_large].mean()), "tau": float(tau.statistic), "p": float(tau.pvalue),
    }  # fmt: skip


def scale(finding, plain):
    """Recompute the counterexamples of AP and ERR; RBP adds up convex weights, nDCG@20 is cut at 20."""
    rises = [
        float(text)
        for text in re.findall(r"rises by more: ([\d.]+) against ([\d.]+)", finding.numbers["example"])[0]
    ]
    r, s, u, v = re.findall(r"\(([01]+)\)", finding.numbers["example"])[:4]
    measure = {"AP": lambda text: scratch.ap([c == "1" for c in text], 5), "ERR@20": err}[
        finding.numbers["measure"]
    ]
    assert [measure(s) - measure(r), measure(v) - measure(u)] == close(rises, abs=5e-5)
    steps = [
        np.cumsum(np.cumsum([int(x) - int(y) for x, y in zip(b, a, strict=True)]))
        for a, b in ((r, s), (u, v))
    ]
    assert (steps[0] <= steps[1]).all() and rises[0] > rises[1] and sorted(r) != sorted("0" * len(r))
    assert r.count("1") == s.count("1") and u.count("1") == v.count("1")
    warned = [name for name in plain.values if name != "RBP"]
    return {
        "warned": len(warned), "measures": len(plain.values), "length": len(r), "measure": finding.numbers["measure"],
        "names": ", ".join(warned[:-1]) + f" and {warned[-1]}", "example": finding.numbers["example"],
    }  # fmt: skip


def err(text):
    """Expected reciprocal rank of binary grades, best grade 1."""
    left, total = 1.0, 0.0
    for rank, digit in enumerate(text, 1):
        stop = int(digit) / 2
        total += left * stop / rank
        left *= 1 - stop
    return total


def test_no_sentence_without_its_numbers(both):
    """Digits in a sentence come from its numbers, never from its words; and each one is given as data."""
    _, result, _ = both
    for finding in result:
        words = re.sub(r"\{[^{}]*\}", "", finding.pattern)
        assert not re.search(r"\d", words), finding.pattern
        assert re.findall(r"\{(\w+)[:}]", finding.pattern)
        assert finding.evidence.rows and finding.view and result[finding.kind] is not None
        assert set(finding.chart.label) | {finding.chart.value} <= set(finding.evidence.columns)
        for column in (finding.chart.low, finding.chart.high, finding.chart.strong):
            assert not column or column in finding.evidence.columns
    assert result["findings"].column("evidence") == [finding.evidence.name for finding in result]


@pytest.mark.parametrize("runs", [2, 6, 25])
def test_no_leader_is_named_among_identical_systems(runs, scored):
    """In 20 collections of runs that differ by chance alone, a leader is named no more often than the test errs."""
    named = spread = 0
    for seed in range(20):
        rng = np.random.default_rng([seed, runs])
        difficulty = rng.beta(1, 2, 30)
        values = np.clip(difficulty + rng.normal(0, 0.15, (runs, 30)), 0, 1)
        result = rs.findings(scored({"AP": values, "RR": np.sqrt(values)}), replicates=50)
        finding = result.get("leader")
        named += "leads by AP: the test" in finding.sentence
        spread += not finding.sentence.startswith("No run leads")
        if finding.sentence.startswith("No run leads"):
            assert result.get("decisive_topics") is None
        assert result.get("disagreement").numbers["contradict"] == 0
    assert named == 0 if runs > 2 else named <= 4  # two runs: the level of the test, .05
    assert spread <= 4


def test_no_run_leads_if_all_come_from_one_model():
    """Draw every run from the same noisy ranking model, and evaluate lists and judgments."""
    rng = np.random.default_rng(1)
    qrels = {f"t{t}": {f"d{k}": int(rng.random() < 0.3) for k in range(40)} for t in range(25)}
    runs = {
        f"run{r}": {
            topic: {doc: grade + float(rng.normal()) for doc, grade in judged.items()}
            for topic, judged in qrels.items()
        }
        for r in range(8)
    }  # fmt: skip
    result = rs.findings(rs.evaluate(qrels, runs, "AP nDCG@10 Twist"))
    assert result.get("leader").sentence.startswith(
        "No run leads by AP beyond chance: chance alone spreads the means of 8 runs over 25 topics"
    )
    assert (
        result.get("separation").sentence
        == "25 topics separate none of the 28 pairs of runs by any of these measures."
    )


def test_pairs_whose_orders_were_only_sampled_are_undecided_and_not_open():
    """Compat has no closed form under ties, and 14 tied documents have too many orders to examine all."""
    topics = [f"t{t}" for t in range(3)]
    qrels = {topic: {**{f"r{k}": k + 1 for k in range(7)}, "n": 0} for topic in topics}
    tied = {f"{kind}{k}": 1.0 for kind in "rx" for k in range(7)}
    runs = {f"run{r}": dict.fromkeys(topics, tied) for r in range(2)}
    runs["apart"] = {topic: {"n": 1.0} for topic in topics}
    finding = rs.findings(rs.evaluate(qrels, runs, "Compat")).get("ties")
    assert (finding.numbers["open"], finding.numbers["unknown"], finding.numbers["pairs"]) == (1, 2, 3)
    assert "can change the order of 1 of 3 pairs of runs, and 2 are undecided." in finding.sentence
    assert (
        finding.sentence.startswith("At least 2 of 3 runs")
        and "of the orders that were examined" in finding.sentence
    )


def test_pairs_are_undecided_where_another_order_may_define_an_undefined_value():
    """On q2 b_ratio is undefined in the order by id; in another one B gains more than A leads by on q1."""
    qrels = {"q1": {"a": 1, "b": 1}, "q2": {"e": 1, "f": 0, "b": 1}}
    lists = {
        "A": {"q1": {"a": 2.0, "b": 2.0, "c": 1.0}, "q2": {"e": 1.0, "b": 1.0, "a": 1.0}},
        "B": {"q1": {"a": 3.0, "c": 2.0, "b": 2.0}, "q2": {"b": 1.0, "f": 1.0, "e": 1.0}},
    }
    means = []
    for orders in product(*(permutations(lists[run]["q2"]) for run in lists)):
        ordered = {run: {"q1": lists[run]["q1"], "q2": list(o)} for run, o in zip(lists, orders, strict=True)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            matrix = complete(rs.evaluate(qrels, ordered, "b_ratio"), "b_ratio")
        means.append(matrix.values.mean(axis=1))
    assert {bool(a > b) for a, b in means} == {False, True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        finding = rs.findings(rs.evaluate(qrels, lists, "b_ratio")).get("ties")
    assert (finding.numbers["open"], finding.numbers["unknown"]) == (0, 1)
    assert "worst of the orders that were examined" in finding.sentence


def test_runs_that_can_only_equal_the_best_precision_do_not_reach_more():
    """Counted once more with fractions: sums of tenths differ in the last bit."""
    differ = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        topics = [f"t{t}" for t in range(7)]
        qrels = {topic: {f"d{k}": int(rng.random() < 0.5) for k in range(12)} for topic in topics}
        runs = {
            f"run{r}": {topic: [f"{'du'[rng.random() < 0.1]}{k}" for k in rng.permutation(12)] for topic in topics}
            for r in range(6)
        }  # fmt: skip
        finding = rs.findings(rs.evaluate(qrels, runs, "P@10")).get("unjudged")
        tops = {run: [(t, d) for t in topics for d in lists[t][:10]] for run, lists in runs.items()}
        current = {run: Fraction(sum(qrels[t].get(d, 0) for t, d in top), 70) for run, top in tops.items()}
        reachable = {
            run: current[run] + Fraction(sum(d[0] == "u" for _, d in top), 70) for run, top in tops.items()
        }
        best = max(runs, key=current.__getitem__)
        assert finding.numbers["best"] == best
        assert finding.numbers["above"] == sum(reachable[run] > current[best] for run in runs if run != best)
        differ += any(reachable[run] == current[best] for run in runs if run != best)
    assert differ > 5


def test_unjudged_precision_is_that_of_the_table_where_missing_topics_are_skipped():
    qrels = {f"t{t}": {"a": 1, "b": 0} for t in range(4)}
    runs = {"all": {t: ["a", "b"] for t in qrels}, "half": {"t0": ["a", "x"], "t1": ["b", "a"]}}
    scores = rs.evaluate(qrels, runs, "P@2", missing="skip")
    finding = rs.findings(scores).get("unjudged")
    assert finding.numbers["run"] == "half" and finding.numbers["precision"] == scores.mean("P@2")[1] == 0.5
    assert finding.numbers["highest"] == 0.75


def test_differences_that_are_significant_by_exactly_one_measure_are_counted(scored):
    up, down = np.linspace(0.1, 0.9, 4)[:, None], np.linspace(0.9, 0.1, 4)[:, None]
    rng = np.random.default_rng(3)
    noise = rng.normal(0, 0.01, (4, 20))
    wide = rng.normal(0, 0.3, (4, 20))
    wide -= wide.mean(axis=1)[:, None]
    result = rs.findings(scored({"AP": up + noise, "RR": down + noise, "P@5": up + noise}), replicates=20)
    finding = result.get("disagreement")
    assert (finding.numbers["significant"], finding.numbers["by_one"], finding.numbers["contradict"]) == (
        6,
        0,
        6,
    )
    assert "0 of these differences are significant by exactly one of the two, 6 by both." in finding.sentence
    finding = rs.findings(scored({"AP": up + noise, "RR": 0.1 * down + wide}), replicates=20).get(
        "disagreement"
    )
    assert (finding.numbers["significant"], finding.numbers["by_one"], finding.numbers["contradict"]) == (
        6,
        6,
        0,
    )


def test_topics_that_share_the_lowest_mean_are_all_the_hardest(scored):
    result = rs.findings(scored({"AP": [[0.1, 0.0, 0.2, 0.5], [0.2, 0.3, 0.1, 0.5]]}), replicates=20).get(
        "hard_topics"
    )
    assert result.sentence.startswith("Topic t0 and 2 others are the hardest: mean AP 0.1500")
    assert "on 1 of 4 topics at least half of the runs score 0" in result.sentence


def test_measures_that_tie_runs_differently_are_not_reported_as_agreeing(scored):
    result = rs.findings(
        scored({"AP": [[0.1, 0.3], [0.2, 0.5]], "P@5": [[0.2, 0.2], [0.2, 0.2]]}), replicates=20
    )
    assert result.get("disagreement").sentence == (
        "No two of the 2 measures order any of the 1 pairs of runs in opposite directions."
    )


def test_a_large_number_of_pairs_is_sampled_and_the_sentence_reports_it(scored, monkeypatch):
    rng = np.random.default_rng(6)
    values = np.clip(np.linspace(0.2, 0.7, 12)[:, None] + rng.normal(0, 0.1, (12, 25)), 0, 1)
    scores = scored({"AP": values, "RR": np.clip(values + rng.normal(0, 0.2, (12, 25)), 0, 1)})
    whole = rs.findings(scores, replicates=50)
    monkeypatch.setattr("rankscope.analysis.findings.basis.MAX_PAIRS", 20)
    sampled = rs.findings(scores, replicates=50)
    assert (whole.get("separation").numbers["pairs"], sampled.get("separation").numbers["pairs"]) == (66, 20)
    assert "of 20 pairs of runs (drawn from 66) (" in sampled.get("separation").sentence
    share = [result.get("separation").numbers["share"] for result in (whole, sampled)]
    assert share[0] == pytest.approx(share[1], abs=0.3)
    kept = ("swapped", "pairs", "tau")  # what needs no test is of all pairs
    assert [whole.get("disagreement").numbers[k] for k in kept] == [
        sampled.get("disagreement").numbers[k] for k in kept
    ]
    assert "among 20 pairs that were drawn and tested" in sampled.get("disagreement").sentence
    assert rs.findings(scores, replicates=50).get("separation").sentence == sampled.get("separation").sentence


def test_one_clear_leader(scored):
    rng = np.random.default_rng(2)
    values = np.clip(
        rng.random((1, 20)) * 0.3 + np.array([[0.6], [0.3], [0.1]]) + rng.normal(0, 0.02, (3, 20)), 0, 1
    )
    finding = rs.findings(scored({"AP": values})).get("leader")
    assert finding.sentence.startswith("r0 leads by AP: its mean of")
    assert finding.numbers["others"] == 2
    assert finding.link == {"view": "runs", "measure": "AP", "run": ["r0", "r1"]}


def test_runs_with_equal_means_both_have_the_highest(scored):
    rng = np.random.default_rng(3)
    best = 0.7 + rng.normal(0, 0.02, 20)
    values = np.stack([best, best, best - 0.3, best - 0.6])
    finding = rs.findings(scored({"AP": values})).get("leader")
    assert finding.sentence.startswith("2 of 4 runs share the lead by AP: r0 and r1 have the highest mean, ")
    assert finding.sentence.endswith(" over 20 topics.")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_rule_is_silent_where_it_has_nothing(rule, scored):
    """One run on one topic without lists: nothing can be compared, and only a scale can be spoken of."""
    result = rs.findings(scored({"AP": [[0.5]]}))
    assert [finding.kind for finding in result] == ["scale"]
    kinds = {finding.kind for finding in rs.findings(scored({"NumRet": [[5.0, 3.0], [4.0, 2.0]]}))}
    assert rule.__name__ not in kinds


def test_unjudged_bound_is_that_of_the_certainty(small):
    qrels, runs = small
    finding = rs.findings(rs.evaluate(qrels, runs, "P@10 AP")).get("unjudged")
    low, high = rs.evaluate(qrels, runs, "P@10", unjudged="bounds").bounds("P@10")
    means = {run: (low.values[r].mean(), high.values[r].mean()) for r, run in enumerate(low.runs)}
    for row in finding.evidence.records():
        assert (row["lowest"], row["highest"]) == close(means[row["run"]])


def test_lower_is_better(scored):
    """Measures of which lower values are better lead with the lowest mean."""
    rng = np.random.default_rng(2)
    values = rng.random((3, 30)) * 0.1 + np.array([[0.6], [0.3], [0.1]])
    measure = "BalancePoint"
    result = rs.findings(scored({measure: values}))
    assert result.get("leader").numbers["run"] == "r2"
    assert result.get("fragile_lead") is None  # nowhere worse
    assert result.get("hard_topics") is None
