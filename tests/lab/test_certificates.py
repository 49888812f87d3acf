"""Certificates: generated, complete, and right about the measures that are known to fail."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from rankscope.cli.main import main
from rankscope.lab.certificate_model import CLAIMS, PROPERTIES, Certificates, guarantees, render_page
from rankscope.lab.certificates import certificates
from rankscope.lab.measurement.scales import ALL, EQUAL, OWN, SCALES, STRONG, WEAK
from rankscope.measures import REGISTRY
from rankscope.measures.function import FunctionMeasure


@pytest.fixture(scope="module")
def result(shared: Callable[[str, Callable[[], Certificates]], Certificates]) -> Certificates:
    return shared("certificates", certificates)


def test_every_measure_has_all_its_certificates(result: Certificates) -> None:
    names = {c.measure.partition("@")[0] for c in result.certificates}
    builtin = {m.name for m in REGISTRY.values() if not isinstance(m, FunctionMeasure)}
    assert builtin <= names
    for name in {c.measure for c in result.certificates}:
        expected = sum(len(names) for _, names in PROPERTIES) + 2 * len(SCALES)
        assert len([c for c in result.certificates if c.measure == name]) == expected, name
    for certificate in result.certificates:
        assert bool(certificate.counterexample) == (not certificate.holds), certificate


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
        ("AP", OWN, False),
        ("Interval@3", OWN, True),
        ("P@3", OWN, True),
        ("AP", "priority", True),
        ("AP", "deepness", False),
        ("AP", "closeness threshold", True),
        ("P@3", "closeness threshold", True),  # with a cutoff of 10
        ("nDCG", "deepness threshold", False),
        ("TBG", "deepness threshold", True),
        ("RBP(p=0.5)", "closeness threshold", False),
        ("SetP", "confidence", True),
        ("SetP", "monotonicity", False),
        ("RR", "convergence", False),
        ("Bpref", "top-weightedness", False),
        ("DCG", "boundedness", False),
    ],
)
def test_known_properties_have_certificates(
    result: Certificates, measure: str, property: str, holds: bool
) -> None:
    assert any(c.measure == measure and c.property == property for c in result.certificates)
    assert result.holds(measure, property) is holds


def test_undefined_scales_are_reported_as_undefined(result: Certificates) -> None:
    rows = result["certificates"].records()
    verdicts = [row["verdict"] for row in rows if (row["measure"], row["property"]) == ("BalancePoint", ALL)]
    assert verdicts == ["undefined", "undefined"]


def test_the_page_lists_all_certificates(result: Certificates) -> None:
    text = render_page(result)
    assert all(f"`{name}`, {property}. Claim: " in text for name, property, _ in CLAIMS)
    assert "already at length 11 the step from (00000000001) to (00000000010)" in text
    assert "ACT(abx) = 0.0833 > ACT(ab) = 0.0750" in text
    heads = [line for line in text.splitlines() if line.startswith("| measure |")]
    assert len(heads) == 2  # properties, and scales
    for name in {c.measure for c in result.certificates}:
        rows = [line for line in text.splitlines() if line.startswith(f"| [`{name}`](measures/")]
        assert [row.count("|") for row in rows] == [head.count("|") for head in heads], name


def test_the_page_of_a_measure_has_its_counterexamples(result: Certificates) -> None:
    lines = guarantees(result, "AP")
    assert lines[0].startswith("`AP` has relevance monotonicity, irrelevance monotonicity, redundancy, swap")
    assert any(
        line.startswith("| deepness | AP(00001110) = 0.1202 > AP(00010101) = 0.1198") for line in lines
    )
    undefined = guarantees(result, "BalancePoint")
    assert any(line.startswith(f"| {ALL} | BalancePoint") for line in undefined)
    broken = {c.property for c in result.certificates if c.measure == "AP" and not c.holds}
    assert {line.split(" | ")[0][2:] for line in lines if line.startswith("| ")} == broken | {"but not"}
    assert [line.split()[0] for line in guarantees(result, "RBP") if line.startswith("`")] == [
        "`RBP`",
        "`RBP(p=0.5)`",
        "`RBP(p=0.95)`",
    ]


def test_the_command(
    result: Certificates, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    monkeypatch.setattr("rankscope.lab.certificates.certificates", lambda of: calls.append(of) or result)
    assert main(["measures", "--certificates", "-f", "json"]) == 0
    assert calls == [None]  # every measure
    rows = json.loads(capsysbinary.readouterr().out)["tables"]["certificates"]
    assert len(rows) == len(result.certificates)
    assert {"measure", "property", "verdict", "violations", "cases", "setting", "counterexample"} == set(
        rows[0]
    )


@pytest.mark.parametrize("name", ["Rprec", "Bpref", "Rho", "SigmaPlus"])
def test_properties_that_need_as_many_relevant_documents_as_ranks_are_not_certified(name: str) -> None:
    result = certificates(name)
    rows = [r for r in result.tables["certificates"].records() if r["property"] == EQUAL]
    assert [(r["setting"], r["verdict"]) for r in rows] == [
        ("length 5, relevant 5", "holds"),
        ("length 5, relevant 3", "violated"),
    ]
    assert not result.holds(name, EQUAL)
    rows = [line for line in render_page(result).splitlines() if line.startswith(f"| [`{name}`]")]
    assert ["(✓)" in row for row in rows] == [False, True]  # a scale, never a property
