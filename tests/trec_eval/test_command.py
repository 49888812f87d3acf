"""The options of trec_eval, each against what it means, and everything that can be wrong with them."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.cli.main import main
from rankscope.trec_eval.names import ENTRIES, NICKNAMES

QRELS = "1 0 a 1\n1 0 b 0\n1 0 c 2\n1 0 d -1\n2 0 a 1\n10 0 e 1\n10 0 f 0\n"
RUN = (
    "1 Q0 x 1 9 tag\n1 Q0 a 2 8 tag\n1 Q0 b 3 7 tag\n1 Q0 d 4 6 tag\n1 Q0 c 5 5 tag\n"
    "10 Q0 f 1 3 tag\n10 Q0 e 2 2 tag\n77 Q0 e 1 1 tag\n"
)

Printed = Callable[..., list[tuple[str, str, str]]]


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text(QRELS)
    run.write_text(RUN)
    return str(qrels), str(run)


@pytest.fixture
def printed(files: tuple[str, str], capsysbinary: pytest.CaptureFixture[bytes]) -> Printed:
    def run(*arguments: str, qrels: str = files[0], run: str = files[1]) -> list[tuple[str, str, str]]:
        assert main(["trec_eval", *arguments, qrels, run]) == 0
        text = capsysbinary.readouterr().out.decode()
        assert text == "" or text.endswith("\n")
        rows = []
        for line in text.splitlines():
            label, topic, value = line.split("\t")
            assert len(label) >= 22
            rows.append((label.rstrip(" "), topic, value))
        return rows

    return run


def test_topics_come_in_the_order_of_their_bytes(printed: Printed) -> None:
    assert [topic for _, topic, _ in printed("-q", "-c", "-m", "map")] == ["1", "10", "2", "all"]


def test_topics_that_the_run_lacks(printed: Printed) -> None:
    assert printed("-q", "-m", "recip_rank") == [
        ("recip_rank", "1", "0.5000"),
        ("recip_rank", "10", "0.5000"),
        ("recip_rank", "all", "0.5000"),
    ]
    assert printed("-c", "-m", "recip_rank") == [("recip_rank", "all", "0.3333")]
    assert printed("-c", "-m", "num_q") == [("num_q", "all", "3")]
    assert printed("-m", "num_q") == [("num_q", "all", "2")]


def test_complete_puts_counts_right_only_under_their_plain_names(printed: Printed) -> None:
    """As trec_eval: behind a missing topic stands a list of one unjudged document, hidden by name."""
    rows = printed(
        "-q", "-c", "-m", "num_ret", "-m", "utility", "-m", "relstring", "-m", "unj.1", "-m", "rbp_resid"
    )
    values = {label: value for label, topic, value in rows if topic == "2"}
    assert values == {
        "num_ret": "0",
        "utility": "0.0000",
        "relstring": "''",
        "unj_1": "0.0000",
        "rbp_resid": "0.0000",
    }
    rows = printed("-q", "-c", "-m", "utility.1,-1,0,0", "-m", "relstring.3", "-m", "rbp_resid.p=0.5")
    values = {label: value for label, topic, value in rows if topic == "2"}
    assert values == {"utility_1,-1,0,0": "-1.0000", "relstring_3": "'-'", "rbp_resid_p=0.5": "1.0000"}


def test_summary_and_topics_alone(printed: Printed) -> None:
    assert printed("-n", "-m", "map") == []
    assert {topic for _, topic, _ in printed("-n", "-q", "-m", "map")} == {"1", "10"}
    assert {topic for _, topic, _ in printed("-m", "map")} == {"all"}


def test_geometric_means_only_in_the_summary(printed: Printed) -> None:
    assert [topic for _, topic, _ in printed("-q", "-m", "gm_map")] == ["all"]
    assert printed("-c", "-m", "gm_map")[0][2] == f"{(0.45 * 0.5 * 0.00001) ** (1 / 3):.4f}"


def test_output_order_is_fixed_and_first_parameters_count(printed: Printed) -> None:
    rows = printed("-m", "success.3", "-m", "P.10,2", "-m", "P.7", "-m", "map")
    assert [label for label, _, _ in rows] == ["map", "P_2", "P_10", "success_3"]


def test_relevance_level(printed: Printed) -> None:
    assert (
        printed("-l2", "-m", "num_rel")
        == printed("--level_for_rel", "2", "-m", "num_rel")
        == [("num_rel", "all", "1")]
    )
    assert printed("-l2", "-q", "-m", "recip_rank")[0] == ("recip_rank", "1", "0.2000")
    assert printed("-l2", "-m", "ndcg") == printed("-m", "ndcg")  # gains are grades, whatever is relevant


def without(run: str, keep: Callable[[int, str], bool]) -> str:
    """Return the remaining lines of a run, by rank in their topic and by document."""
    kept, ranks = [], dict[str, int]()
    for line in run.splitlines():
        topic, _, document, *_ = line.split()
        ranks[topic] = ranks.get(topic, 0) + 1
        if keep(ranks[topic], document):
            kept.append(line)
    return "\n".join(kept) + "\n"


@pytest.mark.parametrize("depth", [1, 2, 3, 5, 100])
def test_max_retrieved_is_a_shorter_run(depth: int, printed: Printed, tmp_path: Path) -> None:
    short = tmp_path / "short"
    short.write_text(without(RUN, lambda rank, _: rank <= depth))
    arguments = ("-q", "-c", "-m", "all_trec")
    assert printed(f"-M{depth}", *arguments) == printed(*arguments, run=str(short))


def test_judged_only_is_a_run_without_the_rest(printed: Printed, tmp_path: Path) -> None:
    judged = tmp_path / "judged"
    judged.write_text(without(RUN, lambda _, document: document not in ("x", "d")))
    arguments = ("-q", "-m", "all_trec", "-m", "yaap", "-m", "dcg", "-m", "ideal_dcg")
    assert printed("-J", *arguments) == printed(*arguments, run=str(judged))


def test_cut_comes_before_judged_only(printed: Printed) -> None:
    assert printed("-q", "-J", "-M2", "-m", "num_ret")[0] == ("num_ret", "1", "1")


def test_relstring(printed: Printed) -> None:
    assert printed("-q", "-m", "relstring")[0] == ("relstring", "1", "'-10.2'")
    assert printed("-q", "-m", "relstring.2")[0] == ("relstring_2", "1", "'-1'")


def test_utility_knows_the_size_of_the_collection(printed: Printed) -> None:
    # topic 1: two relevant of five retrieved, none missed, 100 - 5 others outside
    assert printed("-q", "-N100", "-m", "utility.0,0,0,1")[0] == ("utility_0,0,0,1", "1", "95.0000")


def test_zscores(printed: Printed, tmp_path: Path) -> None:
    reference = tmp_path / "z"
    reference.write_text("1 recip_rank 0.25 0.5\n10 recip_rank 0.5 0\n1 num_ret 5 0\n10 num_ret 9 0\n")
    rows = printed(
        "-q", "-Z", str(reference), "-m", "recip_rank", "-m", "num_ret", "-m", "map", "-m", "runid"
    )
    assert rows == [
        ("Znum_ret", "1", "0.0000"),
        ("Zmap", "1", "-1000000.0000"),
        ("Zrecip_rank", "1", "0.5000"),
        ("Znum_ret", "10", "-1000000.0000"),
        ("Zmap", "10", "-1000000.0000"),
        ("Zrecip_rank", "10", "0.0000"),
        ("runid", "all", "tag"),
        ("Znum_ret", "all", "-1000000.0000"),
        ("Zmap", "all", "-1000000.0000"),
        ("Zrecip_rank", "all", "0.2500"),
    ]


def test_gains(printed: Printed) -> None:
    assert printed("-m", "ndcg.2=2") == [("ndcg_2=2", "all", printed("-m", "ndcg")[0][2])]
    assert printed("-m", "ndcg.1=0,2=0") == [("ndcg_1=0,2=0", "all", "0.0000")]
    # the document of grade 1 stands higher, so its gain makes the list better
    assert printed("-m", "ndcg.1=9")[0][2] > printed("-m", "ndcg")[0][2]
    assert printed("-q", "-m", "rbp.p=0.5,1=0.25,2=1")[0] == ("rbp_p=0.5,1=0.25,2=1", "1", "0.0938")
    assert printed("-q", "-m", "rbp.p=0.5,9=8")[0] == ("rbp_p=0.5,9=8", "1", "0.0391")
    # with a negative gain even documents of gain 0 are worth something
    assert printed("-q", "-m", "rbp.p=0.5,1=-1")[0] == ("rbp_p=0.5,1=-1", "1", "0.0729")


def test_bytes_of_ids_go_through(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    (tmp_path / "q").write_bytes(b"t\xe9 0 d\xff 1\n")
    (tmp_path / "r").write_bytes(b"t\xe9 Q0 d\xff 1 1 \xe9\n")
    assert (
        main(["trec_eval", "-q", "-m", "map", "-m", "runid", str(tmp_path / "q"), str(tmp_path / "r")]) == 0
    )
    assert (
        capsysbinary.readouterr().out
        == b"%-22s\tt\xe9\t1.0000\n%-22s\tall\t\xe9\n%-22s\tall\t1.0000\n"
        % (
            b"map",
            b"runid",
            b"map",
        )
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", "mapp"], "no measure 'mapp'; did you mean map"),
        (["-m", "P."], "no parameters after its dot"),
        (["-m", "P.0"], "cutoff below 1"),
        (["-m", "P.5,5.2"], "cutoff twice"),
        (["-m", "P.x"], "parameter 'x'"),
        (["-m", "map.3"], "map has no parameters"),
        (["-m", "ndcg.3"], "parameter '3'; write grade=gain"),
        (["-m", "ndcg.p=3"], "parameter 'p=3'"),
        (["-m", "ndcg.-1=3"], "grade below 0"),
        (["-m", "utility.1,2"], "2 parameters; it takes four"),
        (["-m", "rbp.p=nan"], "parameter 'nan'"),
        (["-m", "rbp.p=7"], "cannot have p=7"),
        (["-m", "11pt_avg.7"], "recall 7"),
        (["-m", "prefs_simp"], "cannot be computed from qrels; it needs -R prefs"),
        (["-R", "prefs", "-m", "map"], "map cannot be computed from prefs"),
        (["-R", "pref"], "no format 'pref'"),
        (["-T", "csv"], "no format 'csv'"),
        (["-l", "0"], "-l cannot be '0'"),
        (["-M", "many"], "-M cannot be 'many'"),
        (["-D", "1"], "-D"),
        (["-x"], "option -x not recognized"),
        (["--nosuch"], "option --nosuch not recognized"),
        (["third"], "3 files where two are needed; usage:"),
        (["-Z", "absent"], "absent: no such file"),
    ],
)
def test_mistakes_are_one_line(
    arguments: list[str], message: str, files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trec_eval", *arguments, *files]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.startswith("rankscope: ") and printed.err.count("\n") == 1
    assert message in printed.err


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("prefs", "1 g s d\n", ":1: 4 fields where there should be 5"),
        ("prefs", "# only\n", "the file is empty"),
        ("prefs", "1 g s d 1\n1 g s d 2\n", ":2: document 'd' occurs twice"),
        ("prefs", "1 g s d x\n", ":1: 'x' is not a number"),
        ("prefs", "1 g s d 1\n1 g s e 2\n1 g t d 2\n1 g t e 1\n", "contradicts itself"),
        ("prefs", "1 g s d 1\n1 g s e 0\n1 g t d 0\n1 g t e 0\n", "both at level 0 and above"),
        ("prefs", "9 g s d 1\n", "no topic in common"),
        ("prefs", "1 g s d\0 1\n", "this is a binary file"),
        pytest.param(
            "prefs", "#" + "x" * 10**5 + "\n1 g s d\0 1\n", ":2: a NUL byte in the line", id="late NUL"
        ),
        ("qrels_jg", "1 g d 1\n1 g d 1\n", ":2: 'g' judged document 'd' of topic '1' before"),
        ("qrels_jg", "1 g d 1.5\n", ":1: grade '1.5' is not a whole number"),
        ("qrels_jg", "\n", "the file is empty"),
        ("qrels", "9 0 d 1\n", "no topic in common"),
    ],
)
def test_wrong_judgments_are_one_line(
    kind: str,
    text: str,
    message: str,
    files: tuple[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_text(text)
    names = {"prefs": "all_prefs", "qrels_jg": "qrels_jg", "qrels": "official"}
    assert main(["trec_eval", "-R", kind, "-m", names[kind], str(wrong), files[1]]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and message in printed.err and printed.err.count("\n") == 1


def test_empty_zscores(files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "z").write_text("")
    assert main(["trec_eval", "-Z", str(tmp_path / "z"), *files]) == 2
    assert "the file is empty" in capsys.readouterr().err


NAMES = st.sampled_from([*ENTRIES, *NICKNAMES, "", "nonsense"])
PARAMETERS = st.sampled_from(
    ["", ".", ".5", ".0.5,1", ".1=2", ".p=0.3", ".x", ".-1", ".1,2,3,4", ".=", ".1=,", ".1e400"]
)
NUMBERS = st.sampled_from(["0", "1", "2", "-1", "x", "", "9" * 30])
ARGUMENTS = st.one_of(
    st.sampled_from(
        [["-q"], ["-c"], ["-n"], ["-J"], ["-h"], ["-v"], ["-o"], ["--"], ["-"], ["-qcn"], ["--help"]]
    ),
    st.tuples(NAMES, PARAMETERS).map(lambda pair: ["-m", "".join(pair)]),
    st.tuples(st.sampled_from(["-l", "-M", "-N", "-D"]), NUMBERS).map(list),
    st.tuples(st.just("-R"), st.sampled_from(["qrels", "qrels_jg", "prefs", "qrels_prefs", "no"])).map(list),
    st.text("-=.,qmRZ019 é\udcff", max_size=6).map(lambda text: [text]),
)
LINES = st.lists(
    st.lists(st.sampled_from(["1", "2", "a", "b", "Q0", "0", "-1", "1.5", "#", "nan", "\udcff"]), max_size=7),
    max_size=5,
)


@given(st.lists(ARGUMENTS, max_size=5), LINES, LINES)
def test_nothing_ends_in_a_traceback(
    folder: Path, arguments: list[list[str]], judged: list[list[str]], retrieved: list[list[str]]
) -> None:
    files = []
    for name, lines in (("judged", judged), ("retrieved", retrieved)):
        text = "\n".join(map(" ".join, lines)) if lines else {"judged": QRELS, "retrieved": RUN}[name]
        (folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))
        files.append(str(folder / name))
    out, err = io.TextIOWrapper(io.BytesIO(), write_through=True), io.StringIO()
    words = [argument for group in arguments for argument in group]
    with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
        code = main(["trec_eval", *words, *(file for file in files if "-" not in words)])
    assert code in (0, 2), err.getvalue()
    if code == 2:
        assert err.getvalue().splitlines()[-1].startswith("rankscope: ")
        assert out.buffer.getvalue() == b""  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("random")


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trec_eval", "-h"]) == 0
    text = capsys.readouterr().out
    assert "--Max_retrieved_per_topic" in text and "all_trec" in text and "iteration document grade" in text
    assert main(["trec_eval", "--help", "-m", "all_trec", "-m", "prefs"]) == 0
    text = capsys.readouterr().out
    assert "Average precision" in text and "rbp_resid" in text and "prefs_simp" in text
    assert main(["trec_eval", "--version"]) == 0
    assert capsys.readouterr().out.startswith("trec_eval version 10")


def test_terminals_see_no_control_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "q").write_bytes(b"t\x1b[2J 0 d 1\n")
    (tmp_path / "r").write_bytes(b"t\x1b[2J Q0 d 1 1 tag\n")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(["trec_eval", "-q", "-m", "map", str(tmp_path / "q"), str(tmp_path / "r")]) == 0
    assert capsys.readouterr().out.splitlines()[0] == f"{'map':<22}\tt\\x1b[2J\t1.0000"
