"""What-if: edits, their effect on every measure, and the axioms they put to the test."""

from __future__ import annotations

import contextlib
import csv
import io
import subprocess
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope.cli.main import main
from rankscope.reporting import report
from rankscope.simulation import simulate

pytestmark = pytest.mark.usefixtures("light_fonts")
Open = Callable[..., Any]
State = Callable[[Any], dict[str, list[str]]]
Settled = Callable[[Any], None]
QRELS = {"q1": {"a": 2, "b": 1, "c": 1, "n": 0}}
RANKED = ["n", "a", "x", "b", "y", "z"]


@pytest.fixture(scope="module")
def small_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = {"q1": {document: -float(rank) for rank, document in enumerate(RANKED)}}
    return report(rs.Collection(QRELS, {"bm25": run}), tmp_path_factory.mktemp("whatif") / "r.html")


def _run_commands(commands: str, folder: Path) -> None:
    """Let a shell parse commands, and call ``rankscope`` in this process with the parsed arguments."""
    stub = 'rankscope() { printf "%s\\0" "$@" >words; }\n'
    process = subprocess.run(
        stub + commands, shell=True, cwd=folder, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    *words, end = (folder / "words").read_text("utf-8").split("\0")
    assert end == ""
    with contextlib.chdir(folder):
        assert main(words) == 0


def _cell(page: Any, measure: str, column: int) -> str:
    return str(page.locator(f"tr[data-measure='{measure}'] td").nth(column).inner_text())


def _value(ranked: list[str], measure: str) -> float:
    run = {"q1": {document: -float(rank) for rank, document in enumerate(ranked)}}
    return float(rs.evaluate(QRELS, run, measure).mean(measure)[0])


def test_moving_a_document_gives_the_values_of_the_new_list(
    open_page: Open, small_page: Path, read_state: State
) -> None:
    page = open_page(small_page, "view=whatif")
    measures = ["AP", "nDCG", "RBP", "Bpref", "Twist", "Rho", "Sigma", "RR"]
    page.get_by_role("button", name="Move rank 2 up").click()
    moved = ["a", "n", "x", "b", "y", "z"]
    for measure in measures:
        assert _cell(page, measure, 0) == f"{_value(RANKED, measure):.4f}", measure
        assert _cell(page, measure, 1) == f"{_value(moved, measure):.4f}", measure
        assert _cell(page, measure, 3) == "keeps", measure
    assert read_state(page)["edits"] == ["m2-1"]
    page.get_by_role("button", name="Undo").click()
    for measure in measures:
        assert _cell(page, measure, 1) == f"{_value(RANKED, measure):.4f}", measure


def test_replacing_a_document(open_page: Open, small_page: Path) -> None:
    page = open_page(small_page, "view=whatif")
    page.get_by_label("Grade at rank 1").select_option("1")
    assert page.get_by_text("By replacement, the ranking got better").count() == 1
    assert _cell(page, "AP", 1) == f"{_value(['c', *RANKED[1:]], 'AP'):.4f}"
    assert page.get_by_label("Grade at rank 3").locator("option[value='1']").is_disabled()


def test_moving_by_number_and_by_dragging(open_page: Open, small_page: Path) -> None:
    page = open_page(small_page, "view=whatif")
    box = page.get_by_label("Move the document at rank 4 to rank")
    box.fill("1")
    box.press("Enter")
    assert _cell(page, "AP", 1) == f"{_value(['b', 'n', 'a', 'x', 'y', 'z'], 'AP'):.4f}"
    cells = page.locator(".list tbody td:nth-child(2)")
    cells.nth(2).drag_to(cells.nth(0))
    assert _cell(page, "AP", 1) == f"{_value(['a', 'b', 'n', 'x', 'y', 'z'], 'AP'):.4f}"
    assert page.get_by_text("After 2 steps").count() == 1


def test_a_move_down_of_a_relevant_document_must_not_raise_scores(open_page: Open, small_page: Path) -> None:
    page = open_page(small_page, "view=whatif&edits=m2-6")
    assert page.get_by_text("the ranking got worse: no measure should rise").count() == 1
    assert float(_cell(page, "AP", 1)) < float(_cell(page, "AP", 0))


def test_an_edit_that_helps_one_grade_and_hurts_another_is_judged_by_no_axiom(
    open_page: Open, small_page: Path
) -> None:
    page = open_page(small_page, "view=whatif&edits=m4-1 m3-5")
    assert page.get_by_text("swap and replacement do not apply").count() == 1


def test_twist_breaks_swap_and_replacement_in_the_examples(open_page: Open, small_page: Path) -> None:
    page = open_page(small_page, "view=whatif")
    page.get_by_role("button", name="a swap that lowers Twist").click()
    assert (_cell(page, "Twist", 0), _cell(page, "Twist", 1)) == ("0.2500", "0.0000")
    assert _cell(page, "Twist", 3) == "breaks"
    assert _cell(page, "AP", 3) == "keeps"
    page.get_by_role("button", name="a replacement that lowers Twist").click()
    assert (_cell(page, "Twist", 0), _cell(page, "Twist", 1)) == ("0.2500", f"{float(Fraction(2, 9)):.4f}")
    assert _cell(page, "Twist", 3) == "breaks"
    page.get_by_role("button", name="Back to the run").click()
    assert _cell(page, "AP", 0) == f"{_value(RANKED, 'AP'):.4f}"


def test_the_keyboard_follows_the_document_it_moves(
    open_page: Open, settled: Settled, small_page: Path
) -> None:
    page = open_page(small_page, "view=whatif")
    page.get_by_role("button", name="Move rank 4 up").focus()
    for _ in range(3):
        page.keyboard.press("Enter")
        settled(page)
    moved = ["b", "n", "a", "x", "y", "z"]
    assert _cell(page, "AP", 1) == f"{_value(moved, 'AP'):.4f}"
    # rank 1 cannot move further up, so that the adjacent control has the focus
    assert page.evaluate("document.activeElement.ariaLabel") == "Move rank 1 down"
    box = page.get_by_label("Move the document at rank 1 to rank")
    box.fill("3")
    box.press("Enter")
    settled(page)
    assert page.evaluate("document.activeElement.ariaLabel") == "Move the document at rank 3 to rank"


def test_a_small_change_is_not_printed_as_zero(open_page: Open, tmp_path: Path) -> None:
    qrels = {"q": {f"d{k}": 1 for k in range(400)}}
    ranked = [*(f"d{k}" for k in range(398)), "x", "d398"]
    run = {"q": {document: -float(rank) for rank, document in enumerate(ranked)}}
    page = open_page(
        report(rs.Collection(qrels, {"r": run}), tmp_path / "r.html"), "view=whatif&edits=m400-399"
    )
    change = _cell(page, "AP", 2)
    assert change == "+6·10⁻⁶", change
    assert _cell(page, "P@10", 2) == "0.0000"


def test_an_edit_reaches_the_leaderboard(open_page: Open, collection_page: Path) -> None:
    """Repairing one topic of a run says where the run would then stand."""
    page = open_page(collection_page, "view=runs")
    name = page.evaluate(
        """() => {
            const {data, state} = rankscope;
            return data.runs[data.bestFirst('AP', data.means('AP', state.settings)).at(-1)];
        }"""
    )
    page.evaluate(
        """name => {
            const {state, data} = rankscope, r = data.runs.indexOf(name);
            let best = 0, most = -1;
            for (let t = 0; t < data.topics.length; t++) {
                const n = data.list(data.index(r, t));
                if (n.to - n.from > most) { most = n.to - n.from; best = t; }
            }
            state.choose(r, best);
            state.view = 'whatif';
            const list = data.list(data.index(r, best));
            const ranks = Array.from(list.rank.subarray(list.from, list.to));
            state.edits = ranks.map((rank, k) => `m${rank}-${k + 1}`).join(' ');
        }""",
        name,
    )
    text = page.locator(".standing").inner_text()
    topic = page.evaluate("rankscope.data.topics[rankscope.state.topic]")
    folder = collection_page.parent / "data"
    scores = rs.evaluate(folder / "qrels.txt", folder / "runs", "AP")
    after = float(_cell(page, "AP", 1))
    values = scores.matrix("AP").values.copy()
    r, t = scores.runs.index(name), scores.topics.index(topic)
    values[r, t] = after
    means = values.mean(axis=1)
    rank = int((means > means[r]).sum()) + 1
    assert f"would be {rank}" in text and f"of 8 by AP ({means[r]:.4f}" in text
    assert "now 8th" in text


def _exported(page: Any) -> tuple[list[dict[str, str]], list[str]]:
    """Return the data of the chart and the commands that reproduce it."""
    page.locator("details.save summary").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Data (CSV)").click()
    rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text("utf-8"))))
    return rows, page.locator("details.save pre").inner_text().splitlines()


def _same_as_written(rows: list[dict[str, str]], folder: Path) -> None:
    text = (folder / "curve.csv").read_text("utf-8").split("# curve\n")[1].split("\n\n")[0]
    written = {row["rank"]: row for row in csv.DictReader(io.StringIO(text))}
    assert len(rows) > 3 and rows[0].keys() == {"rank", "crp_before", "crp"}
    assert any(row["crp"] != row["crp_before"] for row in rows)
    for row in rows:
        for name in ("crp_before", "crp"):
            assert int(row[name]) == int(written[row["rank"]][name]), row["rank"]


@pytest.mark.product(1)
@pytest.mark.parametrize("edits", ["m3-1 m60-1", "m40-2 r1=3 r5=0", "r2=1 m2-9 m1-4"])
def test_the_command_of_an_edited_list_reproduces_its_curve(
    open_page: Open, collection_page: Path, tmp_path: Path, edits: str
) -> None:
    page = open_page(collection_page, f"view=whatif&edits={edits}")
    assert page.evaluate("rankscope.state.edits") == edits
    rows, (command,) = _exported(page)
    _run_commands(f"{command} --quiet", tmp_path)
    _same_as_written(rows, tmp_path)
    assert (tmp_path / "curve.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.product(1)
@pytest.mark.parametrize("example", ["x1 m5-4", "x2 r3=1", "x1 m5-1 r2=1"])
def test_the_commands_of_an_example_reproduce_its_curve(
    open_page: Open, small_page: Path, tmp_path: Path, example: str
) -> None:
    page = open_page(small_page, f"view=whatif&edits={example}")
    rows, commands = _exported(page)
    _run_commands("\n".join(commands), tmp_path)
    _same_as_written(rows, tmp_path)


def test_unjudged_documents_are_told_from_those_judged_not_relevant(open_page: Open, tmp_path: Path) -> None:
    generated = simulate(systems=4, topics=3, grades=2, depth=40, seed=2, pool_depth=5)
    page = open_page(
        report(rs.evaluate(generated.qrels, generated.runs, "AP"), tmp_path / "r.html"), "view=curves"
    )
    grades = page.locator("table:has(caption) tbody tr td:nth-child(3)").all_inner_texts()[:20]
    assert {"?", "0"} < set(grades)
    page.locator("nav a", has_text="What if").click()
    shown = page.evaluate(
        "[...document.querySelectorAll('.list tbody select')].slice(0, 20).map(e => e.value)"
    )
    assert shown == grades
    page.locator(".list tbody select").nth(grades.index("?")).select_option("0")
    assert page.evaluate("rankscope.state.edits") == f"r{grades.index('?') + 1}=0"


def test_an_edit_for_which_there_is_no_document_is_not_done(open_page: Open, small_page: Path) -> None:
    page = open_page(
        small_page, "view=whatif&edits=r3=1 r5=1 r6=2 r6=9 m4-1"
    )  # of grade 1 one document is left
    assert "after 2 changes (r3=1 m4-1)" in page.locator("details.save p.note").last.text_content()
