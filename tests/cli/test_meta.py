"""The commands of meta-evaluation: the tables of their JSON, and one line for what cannot be done."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

import rankscope as rs
from rankscope.cli.main import main

COLUMNS = {
    "correlate": {"correlations": {"a", "b", "method", "value", "p", "runs"}},
    "power": {
        "power": {"measure", "test", "alpha", "pairs", "significant", "power", "delta"},
        "asl": {"measure", "a", "b", "asl"},
    },
    "compare": {"pairs": {"a", "b", "measure", "difference", "p", "adjusted", "significant", "effect_size"}},
    "pools": {
        "robustness": {"measure", "pool", "repeat", "tau"},
        "means": {"run", "measure", "pool", "value"},
    },
    "bounds": {"bounds": {"run", "topic", "p", "depth", "lower", "upper"}},
    "orderings": {"swaps": {"run", "share"}, "effect": {"run", "measure", "difference"}},
    "certain": {
        "pairs": {"a", "b", "measure", "order", "ties", "unjudged", "topics"},
        "runs": {"run", "measure", "first_rank", "last_rank"},
    },
}


@pytest.fixture(scope="module")
def collection_dir(tmp_path_factory):
    """Six runs of eight topics in files."""
    folder = tmp_path_factory.mktemp("meta")
    rng = np.random.default_rng(11)
    documents = [f"d{k:02}" for k in range(30)]
    qrels = {t: rng.choice([0, 0, 1, 2], 30) for t in range(1, 9)}
    (folder / "qrels.txt").write_text(
        "".join(
            f"{t} 0 {d} {g}\n"
            for t, grades in qrels.items()
            for d, g in zip(documents, grades, strict=True)
            if d < "d22"
        )
    )
    (folder / "runs").mkdir()
    for r in range(6):
        lines = []
        for t, grades in qrels.items():
            scores = (grades * 0.3 * r + rng.random(30) * 2).round(1)
            best = np.argsort(-scores, kind="stable")[:20]
            lines += [f"{t} Q0 {documents[k]} {i} {scores[k]} tag\n" for i, k in enumerate(best, 1)]
        (folder / "runs" / f"run{r}.txt").write_text("".join(lines))
    return folder


def arguments(collection_dir, command, *more):
    return [command, str(collection_dir / "qrels.txt"), str(collection_dir / "runs"), *more]


def tables(capsys, collection_dir, command, *more):
    assert main(arguments(collection_dir, command, *more, "-f", "json")) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["command"] == command
    assert len(printed["settings"]["files"]) == 7
    return printed["tables"]


def test_certain_follows_ranks_by_usual_measures_or_the_first_one(collection_dir, capsys):
    result = tables(capsys, collection_dir, "certain", "--across", "measures")
    assert list(result) == ["ranks", "runs", "changes"]
    assert [*result["ranks"][0]] == ["run", "by", "value", "rank"]
    assert [*result["runs"][0]] == ["run", "measure", "value", "first_rank", "last_rank"]
    assert {row["by"] for row in result["ranks"]} > {"AP", "nDCG@10", "Twist"}
    result = tables(
        capsys, collection_dir, "certain", "--across", "pools", "--pool-depth", "5", "--ratios", "50"
    )
    assert {row["by"] for row in result["ranks"]} == {"all judgments", "depth 5", "50%"}
    assert {row["measure"] for row in result["runs"]} == {"AP"}


@pytest.mark.parametrize("command", COLUMNS)
def test_json_has_the_tables_others_rely_on(command, collection_dir, capsys):
    result = tables(capsys, collection_dir, command)
    for name, columns in COLUMNS[command].items():
        assert result[name], name
        assert columns <= set(result[name][0])


@pytest.mark.parametrize("command", COLUMNS)
@pytest.mark.parametrize("format", ["table", "tsv", "csv", "markdown", "latex"])
def test_every_format_prints(command, format, collection_dir, capsys):
    assert (
        main(
            arguments(
                collection_dir, command, "-m", "P@10" if command == "bounds" else "AP nDCG", "-f", format
            )
        )
        == 0
    )
    assert capsys.readouterr().out.strip()


def test_correlate_is_scipys(collection_dir, capsys):
    result = tables(capsys, collection_dir, "correlate", "-m", "AP nDCG@5 RBP(p=0.5)")["correlations"]
    scores = rs.evaluate(
        collection_dir / "qrels.txt", rs.read_runs(collection_dir / "runs"), ["AP", "nDCG@5", "RBP(p=0.5)"]
    )
    for row in result:
        if row["method"] == "kendall":
            expected = stats.kendalltau(scores.mean(row["a"]), scores.mean(row["b"]))
            assert row["value"] == pytest.approx(expected.statistic, abs=1e-12)
            assert row["p"] == pytest.approx(expected.pvalue, abs=1e-12)
    assert {row["method"] for row in result} == {"kendall", "ap"}


def test_correlate_top_goes_by_a_measure_that_is_not_correlated(collection_dir, capsys):
    result = tables(
        capsys,
        collection_dir,
        "correlate",
        "-m",
        "RR nDCG",
        "--top",
        "0.5",
        "--method",
        "kendall",
        "-q",
        "--swaps",
    )
    assert [(r["a"], r["b"], r["runs"]) for r in result["correlations"]] == [("RR", "nDCG", 3)]
    assert len(result["topics"]) == 8
    assert len(result["swaps"]) == result["correlations"][0]["discordant"]


def test_power_and_compare_are_scipys(collection_dir, capsys):
    values = (
        rs.evaluate(collection_dir / "qrels.txt", rs.read_runs(collection_dir / "runs"), ["AP"])
        .matrix("AP")
        .values
    )
    expected = [stats.ttest_rel(values[a], values[b]).pvalue for a, b in combinations(range(6), 2)]
    power = tables(capsys, collection_dir, "power", "-m", "AP", "--test", "t", "--alpha", "0.05,0.01")
    np.testing.assert_allclose([row["asl"] for row in power["asl"]], expected, atol=1e-12)
    assert [row["significant"] for row in power["power"]] == [
        sum(p < a for p in expected) for a in (0.05, 0.01)
    ]
    pairs = tables(capsys, collection_dir, "compare", "-m", "AP", "--correction", "none")["pairs"]
    np.testing.assert_allclose([row["p"] for row in pairs], expected, atol=1e-12)
    assert [row["adjusted"] for row in pairs] == [row["p"] for row in pairs]


@pytest.mark.parametrize("command", ["power", "pools"])
def test_the_seed_decides(command, collection_dir, capsys):
    first, second, third = (
        tables(capsys, collection_dir, command, "-m", "AP", "--seed", s, "-j", j)
        for s, j in ("51", "53", "61")
    )
    assert first == second
    assert first != third


def test_pools_of_a_depth(collection_dir, capsys):
    result = tables(capsys, collection_dir, "pools", "--depth", "5,10", "-m", "P@5 AP")
    assert {row["pool"] for row in result["robustness"]} == {"depth 5", "depth 10"}
    assert all(row["change"] == 0 for row in result["means"] if (row["measure"]) == "P@5")


def test_leave_out_with_groups(collection_dir, capsys):
    (collection_dir / "teams.txt").write_text("run0 a\nrun1 a\n\n# a comment\nrun2 b\n")
    result = tables(
        capsys,
        collection_dir,
        "leave-out",
        "--pool-depth",
        "3",
        "--groups",
        str(collection_dir / "teams.txt"),
    )
    assert result["bias"][0]["groups"] == 5


def test_bounds_of_other_measures(collection_dir, capsys):
    result = tables(
        capsys, collection_dir, "bounds", "--p", "0.5", "--depths", "1,5", "-m", "P@5", "--ratios", "50"
    )
    assert {row["measure"] for row in result["bounds"]} == {"RBP(p=0.5)", "P@5"}
    assert {row["pool"] for row in result["means"]} == {"full", "50%"}


def test_orderings_of_other_pairs(collection_dir, capsys):
    result = tables(capsys, collection_dir, "orderings", "--orders", "rank,trec_eval")
    assert len(result["swaps"]) == 6
    assert result["total"][0]["documents"] == 6 * 8 * 20


def test_figures_are_drawn(collection_dir, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    for command in ("correlate", "power", "pools", "bounds"):
        picture = tmp_path / f"{command}.svg"
        assert main(arguments(collection_dir, command, "--plot", str(picture))) == 0
        assert picture.stat().st_size > 1000
        capsys.readouterr()


@pytest.mark.parametrize(
    "command, more, message",
    [
        ("correlate", ["-m", "AP"], "at least two measures"),
        ("correlate", ["--top", "75"], "between 0 and 1"),
        ("power", ["--alpha", "2"], "between 0 and 1"),
        ("power", ["--replicates", "0"], "0 replicates"),
        ("power", ["--seed", "-1"], "the seed is -1"),
        ("pools", ["--seed", "-1"], "the seed is -1"),
        ("power", ["--alpha", "x"], "not a list of numbers"),
        ("compare", ["--baseline", "bm25"], "no run is called 'bm25'"),
        ("pools", ["--ratios", "0"], "between 0 and 100"),
        ("pools", ["--depth", "0"], "at least 1"),
        ("pools", ["--depth", "a"], "not a list of whole numbers"),
        ("leave-out", [], "required: --pool-depth"),
        ("bounds", ["--depths", "0"], "from 1 on"),
        ("bounds", ["-m", "AP"], "no bounds"),
        ("bounds", ["--p", "1"], "between 0 and 1"),
        ("orderings", ["--orders", "file"], "give two"),
        ("certain", ["--across", "measures", "-m", "NumRet"], "does not order runs"),
        (
            "certain",
            ["--across", "pools", "--highlight", "bm25", "--plot", "x.svg"],
            "no run 'bm25' to highlight",
        ),
        ("eval", ["--coverage"], "these judgments have no aspects"),
    ],
)
def test_mistakes_get_one_line(command, more, message, collection_dir, capsys):
    try:
        code = main(arguments(collection_dir, command, *more))
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert not out


def test_an_invalid_line_of_a_groups_file_is_named(collection_dir, tmp_path, capsys):
    (tmp_path / "teams.txt").write_text("run0 a\nrun1\n")
    more = ["--pool-depth", "3", "--groups", str(tmp_path / "teams.txt")]
    assert main(arguments(collection_dir, "leave-out", *more)) == 2
    assert "teams.txt:2" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["correlate", "power", "compare", "pools"])
def test_a_single_run_is_refused(command, collection_dir, capsys):
    assert main([command, str(collection_dir / "qrels.txt"), str(collection_dir / "runs" / "run1.txt")]) == 2
    err = capsys.readouterr().err
    assert "at least two runs" in err
    assert err.count("\n") == 1


def test_overlap_of_the_lists_of_runs(collection_dir, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    runs, picture = [str(collection_dir / "runs" / f"run{r}.txt") for r in (1, 5)], tmp_path / "overlap.svg"
    more = ["--qrels", str(collection_dir / "qrels.txt"), "-q", "--plot", str(picture), "-f", "json"]
    assert main(["overlap", *runs, *more]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert len(printed["settings"]["files"]) == 3
    expected = rs.overlap(rs.Collection(collection_dir / "qrels.txt", runs))
    for name in ("overlap", "topics", "depths"):
        assert printed["tables"][name] == expected[name].records()
    assert picture.stat().st_size > 1000
    assert main(["overlap", *runs, "-f", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["settings"]["files"]) == 2


@pytest.mark.parametrize("judged", [True, False])
def test_overlap_of_some_topics(collection_dir, capsys, judged):
    runs = [str(collection_dir / "runs" / f"run{r}.txt") for r in (1, 5)]
    files = [*([str(collection_dir / "qrels.txt")] if judged else []), *runs]
    assert main(["overlap", *files, "-q", "-f", "json"]) == 0
    all_rows = json.loads(capsys.readouterr().out)["tables"]["topics"]
    named = [all_rows[1]["topic"], all_rows[3]["topic"]]
    assert main(["overlap", *files, "-q", "-f", "json", "--topics", ",".join(named)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["tables"]["topics"] == [all_rows[1], all_rows[3]]
    assert printed["tables"]["overlap"][0]["topics"] == 2
    assert printed["settings"]["chosen_topics"] == named
    assert main(["overlap", *files, "--topics", "nowhere"]) == 2
    assert ("has no judgments" if judged else "is in no run") in capsys.readouterr().err


def test_overlap_takes_judgments_first_or_by_name(collection_dir, capsys):
    runs = [str(collection_dir / "runs" / f"run{r}.txt") for r in (1, 5)]
    answers = []
    for files in (
        [str(collection_dir / "qrels.txt"), *runs],
        [*runs, "--qrels", str(collection_dir / "qrels.txt")],
    ):
        assert main(["overlap", *files, "-f", "json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0] == answers[1]
    assert "relevant_jaccard" in answers[0]["tables"]["overlap"][0]
    assert main(["overlap", runs[0], str(collection_dir / "qrels.txt")]) == 2
    assert "looks like a qrels file" in capsys.readouterr().err


@pytest.fixture(scope="module")
def score_files(collection_dir):
    """Write AP and P@10 of the runs as score matrices."""
    scores = rs.evaluate(
        rs.read_qrels(collection_dir / "qrels.txt"), rs.read_runs(collection_dir / "runs"), ["AP", "P@10"]
    )
    for name, measure in (("ap", "AP"), ("p10", "P@10")):
        matrix = scores.matrix(measure)
        rows = [
            ",".join([t, *map(repr, column)])
            for t, column in zip(matrix.topics, matrix.values.T.tolist(), strict=True)
        ]
        (collection_dir / f"{name}.csv").write_text(
            "\n".join([",".join(["topic", *matrix.runs]), *rows]) + "\n"
        )
    return ["--scores", f"AP={collection_dir / 'ap.csv'}", "--scores", f"P@10={collection_dir / 'p10.csv'}"]


@pytest.mark.parametrize(
    "command, more",
    [
        ("power", ["--test", "wilcoxon", "--test", "t", "--alpha", "0.05,0.01"]),
        ("compare", ["--baseline", "run1"]),
        ("correlate", ["--top", "0.75", "--method", "rbo"]),
    ],
)
def test_score_matrices_take_the_place_of_runs(command, more, collection_dir, score_files, capsys):
    expected = tables(capsys, collection_dir, command, "-m", "AP P@10", *more)
    assert main([command, *score_files, *more, "-f", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["tables"] == expected
    assert len(printed["settings"]["files"]) == 2


def test_numbers_of_significant_pairs_side_by_side(collection_dir, score_files, capsys):
    more = ["--test", "wilcoxon", "--test", "t", "--alpha", "0.05,0.01"]
    assert main(["power", *score_files, *more, "-f", "markdown"]) == 0
    out = capsys.readouterr().out
    assert "| measure | Wilcoxon 95% | Wilcoxon 99% | t test 95% | t test 99% |" in out
    assert main(["power", *score_files, *more, "-f", "json"]) == 0
    power = json.loads(capsys.readouterr().out)["tables"]["power"]
    counts = [str(r["significant"]) for r in power if r["measure"] == "AP"]
    assert f"| AP | {' | '.join(counts)} |" in out


def test_scores_and_runs_cannot_be_combined(collection_dir, score_files, capsys):
    for more in ([str(collection_dir / "qrels.txt"), str(collection_dir / "runs")], ["-m", "AP"]):
        assert main(["power", *score_files, *more]) == 2
        assert "replaces" in capsys.readouterr().err


def test_the_published_numbers_of_significant_pairs(data_dir, capsys):
    # the reproducibility study of RBP, Table 2, for AP and P@10 (its headers are exchanged)
    folder = data_dir / "score_matrices"
    files = [f"AP={folder / 'adhoc5_ap.csv'}", f"P@10={folder / 'adhoc5_p10.csv'}"]
    if not folder.is_dir():
        pytest.skip("score matrices are absent")
    more = ["--test", "wilcoxon", "--test", "t", "--alpha", "0.05,0.01", "-f", "json"]
    assert main(["power", *(word for file in files for word in ("--scores", file)), *more]) == 0
    power = json.loads(capsys.readouterr().out)["tables"]["power"]
    assert [r["significant"] for r in power] == [1260, 1077, 1164, 969, 1153, 904, 1150, 915]
    assert {r["pairs"] for r in power} == {1830}


def test_correlation_across_pools_and_orderings(collection_dir, capsys):
    more = ["--pool-depth", "3", "--orders", "trec_eval,file", "-m", "AP RR", "--against", "P@5"]
    result = tables(capsys, collection_dir, "correlate", *more)
    assert {(r["a"], r["pool_a"], r["order"]) for r in result["correlations"]} == {
        (a, pool, order)
        for a in ("AP", "RR")
        for pool in ("full", "depth 3")
        for order in ("trec_eval", "file")
    }
    assert len(result["differences"]) == 4
    assert main(arguments(collection_dir, "correlate", *more, "-f", "markdown")) == 0
    assert "| measure | pool | P@5 (trec\\_eval) | P@5 (file) |" in capsys.readouterr().out
    assert main(arguments(collection_dir, "correlate", *more, "--swaps")) == 2
    assert "leave out" in capsys.readouterr().err


def test_options_with_numbers_may_be_repeated(collection_dir, capsys):
    power = tables(
        capsys, collection_dir, "power", "-m", "AP", "--test", "t", "--alpha", ".05", "--alpha", ".01"
    )
    assert [row["alpha"] for row in power["power"]] == [0.05, 0.01]
    together = tables(capsys, collection_dir, "power", "-m", "AP", "--test", "t", "--alpha", "0.05,0.01,0.05")
    assert together == power
    bounds = tables(
        capsys, collection_dir, "bounds", "--p", "0.5", "--p", "0.9", "--depths", "1", "--depths", "5"
    )
    assert {(row["p"], row["depth"]) for row in bounds["bounds"]} == {(0.5, 1), (0.5, 5), (0.9, 1), (0.9, 5)}
    pools = tables(capsys, collection_dir, "pools", "-m", "AP", "--ratios", "50", "--ratios", "30")
    assert {row["pool"] for row in pools["robustness"]} == {50, 30}
