"""Page of conformance: its scripts print the values it states, and it contains every declared measure."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path

import pytest

import rankscope as rs
from rankscope.lab.identification.conformance import MEASURES, first_difference

PAGE = (Path(__file__).parents[2] / "docs" / "conformance.md").read_text("utf-8")
SCRIPTS = re.findall(
    r"^`([^`]+)`, (\S+) and not (\S+):\n\n```python\n(.*?)\n```", PAGE, re.MULTILINE | re.DOTALL
)
IMPORTED = {"cwl_eval": "cwl"}


def test_the_page_has_six_libraries_and_every_measure():
    assert len(MEASURES) >= 6
    for library, names in MEASURES.items():
        (section,) = re.findall(rf"^## {library} .*?(?=^## )", PAGE, re.MULTILINE | re.DOTALL)
        listed = [
            line.split(" | ")[0].removeprefix("| ") for line in section.splitlines() if line.startswith("| ")
        ]
        assert listed[1:] == list(names)
    assert len(SCRIPTS) >= 20


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("text", "theirs", "usual", "script"), SCRIPTS, ids=[script[0] for script in SCRIPTS]
)
def test_three_lines_show_a_difference(text, theirs, usual, script):
    library = text.partition(":")[0]
    pytest.importorskip(IMPORTED.get(library, library))
    if library == "ir_measures" and sys.version_info >= (3, 14) and re.search(r"\d", text):
        pytest.skip("ir_measures 0.4.3 reads no numbers on Python 3.14: it asks for ast.Num")
    assert len(script.splitlines()) == 3
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(script, {})
    value = float(printed.getvalue().split()[-1])
    assert value == pytest.approx(float(theirs), rel=1e-4, nan_ok=True)
    assert value != pytest.approx(float(usual), rel=1e-4)


@pytest.mark.filterwarnings("ignore")
def test_the_usual_value_is_ours():
    pytest.importorskip("sklearn")
    result = first_difference("sklearn:ndcg_score", "nDCG")
    assert result is not None
    scores = rs.evaluate({"q": result.input.qrels}, {"r": {"q": result.input.run}}, ["nDCG"])
    assert scores.mean("nDCG")[0] == pytest.approx(result.usual)
