"""Certificates: generated, complete, and right about the measures that are known to fail."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from rankscope.cli.main import main
from rankscope.lab.certificates import CLAIMS, Certificates, certificates, page
from rankscope.lab.measurement.scales import ALL, EQUAL, STRONG, WEAK
from rankscope.measures import REGISTRY
from rankscope.measures.function import FunctionMeasure


@pytest.fixture(scope="module")
def found(shared: Callable[[str, Callable[[], Certificates]], Certificates]) -> Certificates:
    return shared("certificates", certificates)


def test_every_measure_has_all_its_certificates(found: Certificates) -> None:
    names = {c.measure.partition("@")[0] for c in found.certificates}
    builtin = {m.name for m in REGISTRY.values() if not isinstance(m, FunctionMeasure)}
    assert builtin <= names
    for name in {c.measure for c in found.certificates}:
        assert len([c for c in found.certificates if c.measure == name]) == 3 + 2 + 4 + 2 * 4, name
    for one in found.certificates:
        assert bool(one.counterexample) == (not one.holds), one


@pytest.mark.parametrize(
    "measure, property, holds",
    [
        ("ACT", "irrelevance monotonicity", False),
        ("AP_IA", "redundancy", False),
        ("AP", "redundancy", True),
        ("Twist", "swap", False),
        ("Twist", "replacement", False),
        ("nDCG", "swap", True),
        ("DCG", EQUAL, True),
        ("DCG", ALL, False),
        ("DCG(discount='jk')", EQUAL, False),
        ("DCG(discount='jk',base=10)", EQUAL, False),
        ("RBP", EQUAL, True),
        ("RBP", ALL, False),
        ("RBP(p=0.5)", ALL, True),
        ("RBP(p=0.5)", STRONG, True),
        ("RBP(p=0.5)", WEAK, False),
        ("AP", EQUAL, False),
    ],
)
def test_what_is_known(found: Certificates, measure: str, property: str, holds: bool) -> None:
    assert any(c.measure == measure and c.property == property for c in found.certificates)
    assert found.holds(measure, property) is holds


def test_undefined_scales_are_said_to_be_so(found: Certificates) -> None:
    mine = [c for c in found.certificates if c.measure == "BalancePoint" and c.property == ALL]
    assert [c.row()[2] for c in mine] == ["undefined", "undefined"]


def test_the_page_tells_all_of_it(found: Certificates) -> None:
    text = page(found)
    assert all(f"`{name}`, {property}. Claim: " in text for name, property, _ in CLAIMS)
    assert "already at length 11 (00000000001)->(00000000010)" in text
    assert "ACT(abx) = 0.0833 > ACT(ab) = 0.0750" in text
    assert all(f"| `{c.measure}` |" in text for c in found.certificates)


def test_the_command(
    found: Certificates, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr("rankscope.lab.certificates.certificates", lambda of: asked.append(of) or found)
    assert main(["measures", "--certificates", "-f", "json"]) == 0
    assert asked == [None]  # every measure
    rows = json.loads(capsysbinary.readouterr().out)["tables"]["certificates"]
    assert len(rows) == len(found.certificates)
    assert {"measure", "property", "verdict", "violations", "cases", "setting", "counterexample"} == set(
        rows[0]
    )


@pytest.mark.parametrize("name", ["Rprec", "Bpref", "Rho", "SigmaPlus"])
def test_what_holds_only_with_as_many_relevant_documents_as_ranks_is_not_certified(name: str) -> None:
    found = certificates(name)
    rows = [r for r in found.tables["certificates"].records() if r["property"] == EQUAL]
    assert [(r["setting"], r["verdict"]) for r in rows] == [
        ("length 5, relevant 5", "holds"),
        ("length 5, relevant 3", "violated"),
    ]
    assert not found.holds(name, EQUAL)
    assert "(✓)" in next(line for line in page(found).splitlines() if line.startswith(f"| `{name}` |"))
