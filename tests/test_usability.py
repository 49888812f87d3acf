"""Calls that users of dicts, frames and other libraries write first."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas
import pytest

import declared
import rankscope as rs
from rankscope.cli.main import main
from rankscope.errors import InputError

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
RUNS = {"bm25": {"q1": {"a": 0.5, "b": 0.6}, "q2": {"c": 1.0}}, "dense": {"q1": ["a"], "q2": ["x", "c"]}}
REQUESTED = ["MRR@10", "recall@100", "RBP(p=0.8)", "nDCG@10"]


# Names of measures ---------------------------------------------------------------------------------------------------


def test_results_show_measures_under_the_requested_name() -> None:
    scores = rs.evaluate(QRELS, RUNS, " ".join(REQUESTED))
    assert [str(measure) for measure in scores.measures] == REQUESTED
    assert [m.canonical_name for m in scores.measures] == ["RR@10", "R@100", "RBP", "nDCG@10"]
    assert list(scores.means()["bm25"]) == list(scores.per_topic()["bm25"]["q1"]) == REQUESTED
    assert scores.settings["measures"] == list(dict.fromkeys(scores.to_pandas().measure)) == REQUESTED
    assert all(name in str(scores) for name in REQUESTED)
    assert {row.measure for row in rs.compare(scores).pairs} == set(REQUESTED)
    pickled = pickle.loads(pickle.dumps(scores.measures))
    assert [*map(str, pickled)] == REQUESTED and pickled == scores.measures


def test_a_measure_is_the_same_under_all_its_names() -> None:
    scores = rs.evaluate(QRELS, RUNS, "map AP MRR@10 recip_rank_10")
    assert [*map(str, scores.measures)] == ["map", "MRR@10"]
    assert scores.measures == (rs.AP, rs.RR @ 10)
    for name in ("RR@10", "mrr_at_10", "MRR@10", "RR(rel=1)@10", rs.RR @ 10):
        assert scores.means()["dense"][name] == 0.75 == scores.mean(name)[1]
        assert scores.per_topic()["dense"]["q2"][name] == 0.5 == scores.matrix(name).values[1, 1]
    with pytest.raises(InputError, match="nDCG was not evaluated; there are map, MRR@10"):
        scores.means()["bm25"]["ndcg"]


def test_means_are_plain_data() -> None:
    means = rs.evaluate(QRELS, RUNS, REQUESTED).means()
    assert json.loads(json.dumps(means)) == means == pickle.loads(pickle.dumps(means))
    frame = pandas.DataFrame(means)
    assert list(frame.index) == REQUESTED and list(frame.columns) == ["bm25", "dense"]
    assert frame.loc["MRR@10", "dense"] == 0.75


def test_analyses_find_a_measure_by_another_name_than_the_requested_one() -> None:
    runs = {**RUNS, "third": {"q1": ["b", "a"], "q2": ["c"]}}
    scores = rs.evaluate(QRELS, runs, "map MRR@10")
    assert rs.correlate(scores, top=0.7, by="AP").settings["by"] == "AP"
    pooled = rs.pool_correlation(scores, against="RR@10")
    assert {row.b for row in pooled.correlations} == {"MRR@10"}
    verdicts = rs.lab.scales("recip_rank_5", length=3)
    assert verdicts.verdict("RR@5", verdicts.verdicts[0].scale) is verdicts.verdicts[0]
    properties = rs.lab.properties("recip_rank_5", aspects=1, depth=3, relevant=2)
    assert properties.measure("RR@5") == rs.RR @ 5


def test_scores_keep_the_names_of_their_file() -> None:
    columns = {"run": ["a"], "topic": ["1"], "measure": ["ndcg_cut_10"], "value": [0.5]}
    scores = rs.read_scores(columns)
    assert scores.means() == {"a": {"ndcg_cut_10": 0.5}} and scores.measures == (rs.nDCG @ 10,)


# Ids of any type -----------------------------------------------------------------------------------------------------


def with_ids(change: Callable[[str], Any]) -> tuple[Any, Any]:
    """Return the small collection of the declared analyses with other ids."""
    qrels = {
        change(topic): {change(d): g for d, g in declared.QRELS.judgments(topic).items()}
        for topic in declared.QRELS.topics
    }
    runs = {
        run: {change(topic): {change(d): s for d, s in scored.items()} for topic, scored in lists.items()}
        for run, lists in declared.LISTS.items()
    }
    return qrels, runs


@pytest.mark.parametrize("kind", [int, np.int64, lambda text: ("en", int(text)), UUID, Decimal])
def test_ids_are_of_any_hashable_type_and_topics_keep_it(kind: Callable[[Any], Any]) -> None:
    def change(text: str) -> Any:
        number = int(text[1:]) + 300
        return kind(f"{number:032}") if kind is UUID else kind(str(number))

    scores = rs.evaluate(*with_ids(change), "AP nDCG")
    plain = rs.evaluate(*with_ids(lambda text: text), "AP nDCG")
    expected = tuple(change(topic) for topic in ("q1", "q2", "q3"))
    assert scores.topics == scores.matrix("AP").topics == expected
    assert type(scores.topics[0]) is type(expected[0])
    assert list(scores.per_topic()["a"]) == list(expected)
    assert scores.values.tobytes() == plain.values.tobytes()
    assert (
        scores.with_topics(expected[:1]).topics
        == scores.with_topics([str(expected[0])]).topics
        == expected[:1]
    )
    assert len(scores.to_csv().splitlines()) == len(plain.to_csv().splitlines())
    json.dumps(scores.tables["topics"].records())


def test_frames_have_integer_topics() -> None:
    scores = rs.evaluate({7: {1: 1}, 11: {1: 1}}, {7: {1: 0.5}, 11: [2, 1]}, "AP")
    assert scores.to_pandas().topic.tolist() == scores.to_polars()["topic"].to_list() == [7, 11]
    assert scores.topics == (7, 11) and scores.per_topic()["run"][11]["AP"] == 0.5


@pytest.mark.parametrize(
    "name", [name for name in declared.DECLARED if declared.declaration(name).input_name == "scores"]
)
def test_analyses_accept_integer_topics(name: str) -> None:
    measures = declared.MEASURES.get(name, "AP P@2 nDCG")

    def analyse(change: Callable[[str], Any]) -> Any:
        arguments = dict(declared.ARGUMENTS.get(name, {}))
        if "human" in arguments:  # labels of documents: the only argument with ids
            arguments["human"] = {
                change(topic): {change(d): g for d, g in labels.items()}
                for topic, labels in arguments["human"].items()
            }
        return declared.DECLARED[name](rs.evaluate(*with_ids(change), measures), **arguments)

    texts = analyse(lambda text: str(int(text[1:]) + 300))
    numbers = analyse(lambda text: int(text[1:]) + 300)
    for table in texts.tables:
        rows, others = ([[*map(str, row)] for row in result[table].rows] for result in (texts, numbers))
        assert rows == others


def test_two_ids_with_the_same_text_are_an_error() -> None:
    with pytest.raises(InputError, match=r"topic '1' occurs twice; .* 1 and '1' are the same"):
        rs.evaluate({1: {"a": 1}, "1": {"a": 1}}, {"1": ["a"]}, "AP")
    with pytest.raises(InputError, match=r"topic '1' occurs twice; .* 1 and '1' are the same"):
        rs.evaluate({1: {"a": 1}}, {1: ["a"], "1": ["a"]}, "AP")
    with pytest.raises(InputError, match="document '1' occurs twice"):
        rs.evaluate({1: {"1": 1}}, {1: [1, "1"]}, "AP")
    for missing in (None, float("nan")):
        with pytest.raises(InputError, match="an id is missing"):
            rs.evaluate({missing: {"a": 1}}, {1: ["a"]}, "AP")


def test_a_missing_topic_is_an_error() -> None:
    scores = rs.evaluate(QRELS, RUNS, "AP")
    with pytest.raises(InputError, match="topic 'missing' was not evaluated; there are topics such as q1"):
        scores.with_topics(["missing"])


# Small calls ---------------------------------------------------------------------------------------------------------


def test_parameters_of_a_measure_need_no_name() -> None:
    assert rs.RBP(0.5) == rs.RBP(p=0.5) and rs.RBP(0.8) == rs.RBP and rs.SetF(2.0) == rs.SetF(beta=2.0)
    with pytest.raises(InputError, match="AP takes no parameters without a name; write AP"):
        rs.AP(2)
    with pytest.raises(InputError, match="RBP takes 4 parameters without a name"):
        rs.RBP(0.8, 1, False, 0, 1)


def test_several_cutoffs_make_several_measures() -> None:
    assert rs.nDCG @ [5, 10] == [rs.nDCG @ 5, rs.nDCG @ 10]
    scores = rs.evaluate(QRELS, RUNS, ["AP", rs.nDCG @ [5, 10]])
    assert [*map(str, scores.measures)] == ["AP", "nDCG@5", "nDCG@10"]


def test_a_result_iterates_over_the_names_of_its_tables() -> None:
    scores = rs.evaluate(QRELS, RUNS, "AP")
    assert list(scores) == ["means", "topics"]
    assert [scores[name].name for name in scores] == list(scores.tables)


def test_qrels_are_made_from_a_dict() -> None:
    qrels = rs.Qrels(QRELS)
    assert qrels.judgments("q1") == QRELS["q1"] and qrels.topics == ("q1", "q2") and len(qrels) == 3
    assert rs.evaluate(qrels, RUNS, "AP").means() == rs.evaluate(QRELS, RUNS, "AP").means()


def test_measures_of_ir_measures_are_measures() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    requested = [ir_measures.nDCG @ 10, ir_measures.RBP(p=0.5), ir_measures.AP]
    scores = rs.evaluate(QRELS, RUNS, requested)
    assert [*map(str, scores.measures)] == ["nDCG@10", "RBP(p=0.5,graded=True)", "AP"]
    assert rs.evaluate(QRELS, RUNS, requested[0]).measures == (rs.nDCG @ 10,)
    theirs = [requested[0], requested[2]]  # It has no provider of RBP without further packages.
    expected = ir_measures.calc_aggregate(theirs, QRELS, {"q1": {"a": 0.5, "b": 0.6}, "q2": {"c": 1.0}})
    assert [expected[m] for m in theirs] == pytest.approx([scores.mean("nDCG@10")[0], scores.mean("AP")[0]])
    with pytest.raises(InputError, match=r"7 is not a measure; write its name, such as 'nDCG@10'"):
        rs.evaluate(QRELS, RUNS, [7])


def test_a_list_of_dicts_is_a_list_of_runs() -> None:
    scores = rs.evaluate(QRELS, [RUNS["bm25"], RUNS["dense"]], "MRR@10")
    assert scores.runs == ("run1", "run2")
    assert scores.mean("RR@10").tolist() == rs.evaluate(QRELS, RUNS, "RR@10").mean("RR@10").tolist()
    assert rs.evaluate(QRELS, [RUNS["bm25"], ("dense", RUNS["dense"])], "AP").runs == ("run", "dense")


@pytest.mark.parametrize("kind", [list, tuple, set])
def test_judgments_may_be_lists_of_relevant_documents(kind: type) -> None:
    scores = rs.evaluate({"q1": kind(["a"]), "q2": kind(["c", "d"])}, RUNS, "AP")
    graded = {"q1": {"a": 1}, "q2": {"c": 1, "d": 1}}
    assert scores.means() == rs.evaluate(graded, RUNS, "AP").means()
    with pytest.raises(
        InputError, match=r"judgments of topic 'q1' are 'ab'; give \{document: grade\}, or a list"
    ):
        rs.evaluate({"q1": "ab"}, RUNS, "AP")


# Scores as input -----------------------------------------------------------------------------------------------------


def scores_of_many() -> rs.Scores:
    return rs.evaluate(*with_ids(lambda text: text), "AP MRR@10 nDCG@10")


def same(a: rs.Scores, b: rs.Scores) -> bool:
    names = [[str(measure) for measure in scores.measures] for scores in (a, b)]
    return (a.runs, a.topics, names[0], a.values.tobytes()) == (
        b.runs,
        b.topics,
        names[1],
        b.values.tobytes(),
    )


def test_our_own_frames_and_files_are_read_back(tmp_path: Path) -> None:
    scores = scores_of_many()
    for frame in (
        scores.to_pandas(),
        scores.to_polars(),
        scores.to_arrow(),
        scores.wide_topics().to_pandas(),
    ):
        assert same(rs.read_scores(frame), scores)
    path = tmp_path / "wide.csv"
    path.write_text(scores.wide_topics().csv())
    assert path.read_text().startswith("run,topic,AP,MRR@10,nDCG@10\n")
    assert same(rs.read_scores(path), scores)
    matrix = rs.read_scores({"AP": scores.matrix("AP").to_pandas()})
    assert same(matrix, scores.with_measures("AP"))


def test_a_wide_table_of_one_run_has_a_column_per_measure(tmp_path: Path) -> None:
    path = tmp_path / "bm25.csv"
    path.write_text("topic,AP,MRR@10\n351,0.25,0.5\n352,,1\n")
    scores = rs.read_scores(path)
    assert scores.runs == ("bm25",) and scores.topics == ("351", "352")
    assert scores.means() == {"bm25": {"AP": 0.25, "MRR@10": 0.75}}


def test_certain_tests_topics_without_rankings() -> None:
    scores = scores_of_many()
    full, values = rs.certain(scores), rs.certain(rs.read_scores(scores.to_pandas()))
    for a, b in zip(full.pairs, values.pairs, strict=True):
        assert (a.a, a.b, a.measure, a.order, a.topics, a.p) == (b.a, b.b, b.measure, b.order, b.topics, b.p)
        assert b.ties is b.unjudged is b.lowest is b.labels is None and b.together in (None, False)
    for a, b in zip(full.runs, values.runs, strict=True):
        assert (a.run, a.value, a.first_rank, a.last_rank) == (b.run, b.value, b.first_rank, b.last_rank)
    for across in ("measures", "samples"):
        rows = [rs.certain(s, across=across).ranks.rows for s in (scores, rs.read_scores(scores.to_pandas()))]
        assert rows[0] == rows[1]
    for needs in ({"labels": True}, {"across": "cutoffs"}, {"across": "pools"}):
        with pytest.raises(InputError, match="needs rankings, and these scores have values only"):
            rs.certain(rs.read_scores(scores.to_pandas()), **needs)


@pytest.mark.parametrize("command", ["eval", "certain", "findings", "compare", "gate"])
def test_commands_take_scores(
    command: str, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(scores_of_many().wide_topics().csv())
    more = ["--baseline", str(path), "--margin", "0.5"] if command == "gate" else []
    assert main([command, "--scores", str(path), *more, "-f", "json"]) in (
        (0, 1) if command == "gate" else (0,)
    )
    tables = json.loads(capsysbinary.readouterr().out)["tables"]
    assert any(tables.values())
    if command == "eval":
        means = {(row["run"], row["measure"]): row["value"] for row in tables["means"]}
        expected = scores_of_many().means()
        assert means == {(run, name): value for run, of in expected.items() for name, value in of.items()}
        assert main(["eval", "--scores", str(path), "--stream", "-o", str(tmp_path / "x.csv")]) == 2
        assert b"--stream and -l need rankings" in capsysbinary.readouterr().err


# Columns -------------------------------------------------------------------------------------------------------------

LOG = {"search": ["q1", "q1", "q2"], "sku": ["a", "b", "c"], "clicks": [1, 0, 2]}
RANKED = {"search": ["q1", "q1", "q2"], "sku": ["b", "a", "c"], "points": [0.6, 0.5, 1.0]}
COLUMNS = {"topic": "search", "doc": "sku", "grade": "clicks", "score": "points"}


def write_csv(path: Path, columns: dict[str, list[Any]]) -> Path:
    pandas.DataFrame(columns).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("columns", [COLUMNS, "topic=search, doc=sku,grade=clicks,score=points"])
def test_columns_may_be_named(columns: Any, tmp_path: Path) -> None:
    expected = rs.evaluate(QRELS, RUNS["bm25"], "AP nDCG").values.tobytes()
    files = write_csv(tmp_path / "qrels.csv", LOG), write_csv(tmp_path / "run.csv", RANKED)
    frames = pandas.DataFrame(LOG), pandas.DataFrame(RANKED)
    for qrels, run in (files, frames, (LOG, RANKED)):
        assert rs.evaluate(qrels, run, "AP nDCG", columns=columns).values.tobytes() == expected
    with pytest.raises(
        InputError, match=r"columns cannot have name_of_doc=sku; write topic=query,doc=item_id"
    ):
        rs.evaluate(*files, "AP", columns={"name_of_doc": "sku"})
    with pytest.raises(InputError):
        rs.evaluate(*frames, "AP")  # The names hold for one call.


def test_commands_take_the_names_of_columns(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    files = [str(write_csv(tmp_path / "qrels.csv", LOG)), str(write_csv(tmp_path / "run.csv", RANKED))]
    option = ["--columns", "topic=search,doc=sku,grade=clicks,score=points"]
    assert main(["eval", *files, *option, "-m", "MRR@10", "-f", "tsv"]) == 0
    assert b"run\tMRR@10\t0.75\t2" in capsysbinary.readouterr().out


@pytest.mark.parametrize("topic", ["query", "session_id"])
@pytest.mark.parametrize("document", ["item_id", "product_id"])
def test_columns_of_search_logs_are_recognised(topic: str, document: str, tmp_path: Path) -> None:
    names = {"search": topic, "sku": document, "clicks": "label", "points": "score"}
    files = [
        write_csv(tmp_path / f"{name}.csv", {names[key]: values for key, values in table.items()})
        for name, table in (("qrels", LOG), ("run", RANKED))
    ]
    assert rs.evaluate(*files, "MRR@10").means() == {"run": {"MRR@10": 0.75}}


def test_a_table_without_documents_says_so(tmp_path: Path) -> None:
    (tmp_path / "qrels.csv").write_text("query,label\nq1,1\n")
    message = r"qrels\.csv:1: there is no column for doc_id .*: query, label; or name it by columns"
    with pytest.raises(InputError, match=message):
        rs.evaluate(tmp_path / "qrels.csv", RUNS, "AP")


# Commands ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    rs.simulate(systems=3, topics=8, depth=30, seed=1, pool_depth=10).write(tmp_path)
    return [str(tmp_path / "qrels.txt"), *sorted(map(str, (tmp_path / "runs").iterdir()))]


def printed(capsysbinary: pytest.CaptureFixture[bytes], *arguments: str) -> str:
    assert main([*arguments]) == 0
    return capsysbinary.readouterr().out.decode()


def test_a_run_may_be_named_on_the_command_line(files: list[str], capsysbinary: Any) -> None:
    qrels, first, second, _ = files
    out = printed(capsysbinary, "eval", qrels, f"bm25={first}", second, "-m", "HitRate@5", "-f", "json")
    document = json.loads(out)
    assert [row["run"] for row in document["tables"]["means"]] == ["bm25", Path(second).stem]
    assert set(document["settings"]["files"]) == {qrels, first, second}
    assert document["settings"]["measures"] == ["HitRate@5"]
    assert rs.measure("HitRate@5") == rs.Success @ 5


def test_a_spreadsheet_file_is_rejected(files: list[str], tmp_path: Path, capsysbinary: Any) -> None:
    for more in ([], ["-f", "csv"]):
        assert main(["eval", *files, "-m", "AP", "-o", str(tmp_path / "x.xlsx"), *more]) == 2
        assert b"x.xlsx: .xlsx files cannot be written; write .csv" in capsysbinary.readouterr().err
    assert not (tmp_path / "x.xlsx").exists()


def test_latex_of_intervals_is_the_table_of_the_terminal(files: list[str], capsysbinary: Any) -> None:
    shown = printed(capsysbinary, "eval", *files, "-m", "AP P@10", "--ci", "-f", "table").splitlines()
    latex = printed(capsysbinary, "eval", *files, "-m", "AP P@10", "--ci", "-f", "latex")
    cells = [" ".join(line.split()) for line in shown]
    for line in latex.splitlines():
        if line.endswith(r"\\") and not line.startswith("run"):
            plain = line.removesuffix(r" \\").replace(r"\textbf{", "").replace("}", "").replace(r"$\pm$", "±")
            assert plain.replace(" & ", " ").replace("--", "–") in cells
    assert latex.count(r"$\pm$") == 7 and latex.startswith(r"% \caption{Means over 8 topics")
    assert r"\par\smallskip{\footnotesize $\pm$ 95 \% of the mean over topics" in latex


def test_letters_of_groups_are_not_those_of_pairs(files: list[str], capsysbinary: Any) -> None:
    out = printed(capsysbinary, "compare", *files, "-m", "AP", "-f", "latex")
    assert r"\textsuperscript{A}" in out and r"\textsuperscript{a}" not in out
    assert "% \\caption{Differences a - b" in out
    below = out.partition("\\end{tabular}\n")[2].splitlines()[0]
    assert below == r"\par\smallskip{\footnotesize runs that share a letter do not differ significantly}"
    assert all(line.startswith("% \\") for line in out.splitlines() if line.startswith("%"))


# Grades that are numbers ---------------------------------------------------------------------------------------------

RATES = {"q1": {"a": 0.37, "b": 0.1, "d": 0.2}, "q2": {"c": 1.0}}
BINS = "0-0.2=0;0.2-0.6=1;0.6-1=2"
BINNED = {"q1": {"a": 1, "b": 0, "d": 1}, "q2": {"c": 2}}


def test_grades_that_are_numbers_are_binned(tmp_path: Path) -> None:
    rows = [(topic, document, rate) for topic, rates in RATES.items() for document, rate in rates.items()]
    frame = pandas.DataFrame(rows, columns=["qid", "docno", "grade"])
    trec, table, lines = (tmp_path / name for name in ("qrels.txt", "qrels.csv", "qrels.jsonl"))
    trec.write_text("".join(f"{topic} 0 {document} {rate}\n" for topic, document, rate in rows))
    frame.to_csv(table, index=False)
    frame.to_json(lines, orient="records", lines=True)
    expected = rs.evaluate(BINNED, RUNS, "AP nDCG ERR").values.tobytes()
    for source in (RATES, frame, trec, table, lines):
        collection = rs.Collection(source, RUNS, grades=BINS)
        assert {topic: collection.qrels.judgments(topic) for topic in collection.qrels.topics} == BINNED
        assert collection.settings["grades"] == BINS
        assert collection.evaluate("AP nDCG ERR").values.tobytes() == expected
    assert rs.read_qrels(trec, grades=BINS).judgments("q1") == BINNED["q1"]
    whole = rs.Qrels({"q": {"a": 0, "b": 3, "c": 10}}).with_merged_grades("0-3=0;3-10=1")
    assert whole.judgments("q") == {"a": 0, "b": 1, "c": 1}


def test_the_command_bins_grades(tmp_path: Path, capsysbinary: Any) -> None:
    (tmp_path / "qrels").write_text("q1 0 a 0.37\nq1 0 b 0.1\n")
    (tmp_path / "run").write_text("q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\n")
    files = [str(tmp_path / "qrels"), str(tmp_path / "run")]
    assert printed(
        capsysbinary, "eval", *files, "-m", "AP", "--grades", "0 - .2 = 0; .2-1=1", "-f", "tsv"
    ) == ("run\tmeasure\tvalue\ttopics\nrun\tAP\t0.5\t1\n")


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        ("0-0.2=0;0.1-1=1", "are not valid bins; give ranges that do not overlap"),
        ("0-0.2=1;0.2-1=0", "are not valid bins"),
        ("0.2-0.2=1", "are not valid bins"),
        ("0-0.2=0;1=1", "mix ranges and single grades"),
        ("0-0.2=0;0.2-0.5=1", "the number 1 is in no range of grades; there are 0-0.2=0;0.2-0.5=1"),
        ("0.15-0.4=0;0.4-1=1", "the number 0.1 is in no range of grades"),
    ],
)
def test_bins_that_cannot_be_used_are_errors(bins: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        rs.Collection(RATES, RUNS, grades=bins)
    with pytest.raises(
        InputError, match=r"this analysis needs grades, and .* is not a whole number; bin them: --grades"
    ):
        rs.Collection(RATES, RUNS).describe()
