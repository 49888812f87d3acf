"""Certificates of measures: the settings in which they are computed, results, and their Markdown.

The Markdown is the page of all measures, and the section in the page of one measure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from rankscope.lab.axioms.relations import RELATIONS
from rankscope.lab.measurement.scales import EQUAL, SCALES
from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.worlds import aspect_world
from rankscope.measures import measure
from rankscope.result import Result
from rankscope.tables import Table

ASPECTS = {"aspects": 2, "depth": 6, "relevant": 6}
GRADES = {"grades": 2, "depth": 5, "relevant": 5}
FEW = {"grades": 1, "depth": 6, "relevant": 2}
BINARY = {"grades": 1, "depth": 8, "relevant": 8}
NEAR = {"grades": 1, "depth": 200, "relevant": 100}
FAR = {"grades": 1, "depth": 2000, "relevant": 1000}
CUTOFF = 3
LONG_CUTOFF = 10

_EXTENSION = ("relevance monotonicity", "irrelevance monotonicity")
_ORDER = ("swap", "replacement")
_ANY_GRADES = ("monotonicity", "boundedness")
_STRICT = ("priority", "deepness", "confidence", "convergence", "top-weightedness")
PROPERTIES: tuple[tuple[dict[str, int], tuple[str, ...]], ...] = (
    (ASPECTS, (*_EXTENSION, "redundancy")),
    (GRADES, (*_ORDER, *_ANY_GRADES)),
    (FEW, (*_EXTENSION, *_ORDER, *_STRICT, *_ANY_GRADES)),
    (BINARY, (*_STRICT, *_ANY_GRADES)),
    (NEAR, ("closeness threshold",)),
    (FAR, ("deepness threshold",)),
)
"""Settings in which each property is tested.

Strict properties are tested with binary relevance only, since a measure that ignores grades would violate them between
two grades. AP violates deepness only from length 8.
"""
SCALE_SETTINGS = ({"length": 5, "relevant": 5}, {"length": 5, "relevant": 3})
LONG_SETTINGS = ({"length": 12, "relevant": 12}, {"length": 12, "relevant": 6})
"""Settings for weighted sums, which are longer because the discount max(1, log10 i) fails only from length 11.

The first of each pair of settings has as many relevant documents as ranks. A property that holds only there holds by
chance.
"""


class Certificate(NamedTuple):
    """Verdict on one measure and one property in one setting: whether it holds (None: undefined), and why not."""

    measure: str
    property: str
    holds: bool | None
    violations: int | None
    cases: int | None
    setting: str
    counterexample: str


@dataclass(frozen=True, eq=False, repr=False)
class Certificates(Result):
    """Certificates of several measures, as tables."""

    certificates: tuple[Certificate, ...]
    settings: dict[str, Any]

    def _about(self) -> str:
        holding = sum(bool(certificate.holds) for certificate in self.certificates)
        return f"{len(self.settings['measures'])} measures, {holding} of {len(self.certificates)} hold"

    @property
    def tables(self) -> Mapping[str, Table]:
        """Table ``certificates`` with one row for each measure, property and setting."""
        columns = ("measure", "property", "verdict", "violations", "cases", "setting", "counterexample")
        verdicts = {True: "holds", False: "violated", None: "undefined"}
        rows = [(c.measure, c.property, verdicts[c.holds], *c[3:]) for c in self.certificates]
        return {"certificates": Table("certificates", columns, rows)}

    @cached_property
    def by_measure(self) -> dict[str, dict[str, list[Certificate]]]:
        """Certificates by measure and property."""
        result: dict[str, dict[str, list[Certificate]]] = {}
        for certificate in self.certificates:
            by_property = result.setdefault(certificate.measure, {})
            by_property.setdefault(certificate.property, []).append(certificate)
        return result

    def holds(self, name: str, property: str) -> bool:
        """Return whether a measure has a property in every tested setting."""
        return all(c.holds for c in self.certificates if c.measure == name and c.property == property)


def describe_settings(settings: Mapping[str, int]) -> str:
    """Return settings as text, such as "grades 1, depth 6, relevant 2"."""
    return ", ".join(f"{key} {value}" for key, value in settings.items())


CLAIMS = (
    ("DCG", EQUAL, "DCG is interval-like where both ends have equally many relevant documents (Ferrante et al. 2017)"),
    ("DCG(discount='jk')", EQUAL, "the same for the discount max(1, log2 i) of Jarvelin and Kekalainen 2002"),
    ("DCG(discount='jk',base=10)", EQUAL, "the same for max(1, log10 i)"),
    ("RBP", EQUAL, "RBP is interval-like where both ends have equally many relevant documents (Ferrante et al. 2017)"),
    ("Twist", "swap",
     "moving a more relevant document up does not lower an effectiveness measure (Ferrante et al. 2015)"),
    ("Twist", "replacement", "nor does replacing a document by a more relevant one (Ferrante et al. 2015)"),
    ("ACT", "irrelevance monotonicity",
     "appending a non-relevant document does not raise a score (Albahem et al. 2018)"),
    ("AP", "deepness", "correcting an error nearer to the top of the list has more effect (Amigó et al. 2013)"),
    ("AP", "deepness threshold",
     "one relevant document at the top is worth more than many far down (Amigó et al. 2013)"),
    ("RBP(p=0.5)", "closeness threshold", "but not more than several near the top (Amigó et al. 2013)"),
    ("RBP", "closeness threshold", "the same"),
    ("AP_IA", "redundancy", "a document of a new aspect gains at least as much (Albahem et al. 2018)"),
)  # fmt: skip
"""Claims of the literature, and requirements, that the page compares with the certificates."""


def render_page(certificates: Certificates) -> str:
    """Return the certificates as a Markdown page: tables of properties and of scales, and claims."""
    tested = [name for name in RELATIONS if any(name in names for _, names in PROPERTIES)]
    lines = [
        "# Certificates",
        "",
        "Properties and scales of every measure, tested on all rankings of some settings. This page is generated by",
        "`python docs/make_measures.py`; `rankscope measures --certificates -f json`",
        "prints the same with all numbers. The [page of each measure](measures/README.md) shows the smallest",
        "counterexample to each property that it violates.",
        "",
        f"Measures that need a cutoff use {CUTOFF}, and {LONG_CUTOFF} on rankings of hundreds of "
        "documents; effort",
        "measures are evaluated at the depth. ✗ is a proved violation, except for the two thresholds, which concern",
        "some n and large n. ✓ means that no violation exists in these settings, and – that the measure is undefined",
        "(for a scale: or infinite) on some ranking. Counts, ranks and lengths are included, although they do not",
        "measure effectiveness.",
        "",
        "## Properties",
        "",
        *_legend(tested),
        "",
        *_matrix(certificates, tested, [RELATIONS[name].short for name in tested]),
        "",
        "## Scales",
        "",
        "[Scales](scales.md) explains the columns. The settings are binary rankings with",
        f"{' and with '.join(map(describe_settings, SCALE_SETTINGS))}; for RBP and DCG with",
        f"{' and with '.join(map(describe_settings, LONG_SETTINGS))}.",
        "(✓) means that the measure is on the scale only if the topic has as many relevant documents as the ranking",
        "has ranks, and not if it has fewer.",
        "",
        *_matrix(certificates, list(SCALES), list(SCALES)),
        "",
        "## Claims and results",
        "",
        *_claims(certificates),
        *_cube_test_lines(certificates),
        "",
    ]
    return "\n".join(lines)


def guarantees(certificates: Certificates, name: str) -> list[str]:
    """Return the Markdown lines of one measure: its properties, and the smallest counterexample to each other one.

    >>> from rankscope.lab.certificates import certificates
    >>> [line.partition(":")[0] for line in guarantees(certificates("RR"), "RR") if "convergence" in line]
    ['| convergence | RR(10) = 1.0000 = RR(11) = 1.0000']
    """
    lines = []
    for label, own in certificates.by_measure.items():
        if measure(label).name != name:
            continue
        holding = [name for name, verdicts in own.items() if _mark(name, verdicts) == "✓"]
        lines += [f"`{label}` has " + (", ".join(holding) or "none of the properties") + ".", ""]
        if len(holding) < len(own):
            lines += ["| but not | because |", "|---|---|"]
            for name_of, verdicts in own.items():
                if name_of not in holding:  # A violation says more than an undefined value.
                    reason = min((c for c in verdicts if not c.holds), key=lambda c: c.holds is None)
                    lines.append(f"| {name_of} | " + reason.counterexample.replace("|", "\\|") + " |")
            lines.append("")
    return lines


def _legend(names: Sequence[str]) -> Iterator[str]:
    yield "| | property | reference | on all rankings with |"
    yield "|---|---|---|---|"
    for name in names:
        relation = RELATIONS[name]
        settings = [settings for settings, tested in PROPERTIES if name in tested]
        where = "; ".join(map(describe_settings, settings))
        meaning = relation.meaning.rpartition(": ")[2]
        yield f"| {relation.short} | **{name}**: {meaning} | {relation.reference} | {where} |"


def _claims(certificates: Certificates) -> Iterator[str]:
    for name, property, text in CLAIMS:
        own = certificates.by_measure.get(name, {}).get(property, [])
        broken = next((c for c in own if not c.holds), None)
        verdict = f"**violated** ({broken.setting}): {broken.counterexample}" if broken else "**holds**"
        if own:
            yield f"- `{name}`, {property}. Claim: {text}. Result: {verdict}"


def _cube_test_lines(certificates: Certificates) -> Iterator[str]:
    """Yield lines on the ambiguous Time in the equation of the cube test, and its consequences."""
    texts = {
        "documents": "ACT(preset='equation7')",
        "iterations": "ACT(preset='equation7',time='iterations')",
    }
    if not set(texts.values()) <= certificates.by_measure.keys():
        return
    tree = Tree(aspect_world(2, relevant=2, nonrelevant=1), 3)
    yield "- The equation of the cube test (Albahem et al. 2018, Equation 7) does not define its Time:"
    for time, text in texts.items():
        values, own = measure(text).evaluate(tree), certificates.by_measure[text]
        scores = " and ".join(f"ACT({word}) = {values[tree.find_node(word)]:.4f}" for word in ("ab", "abx"))
        names = ("relevance monotonicity", "irrelevance monotonicity")
        violated = [name for name in names if any(c.holds is False for c in own[name])]
        yield f"    - by {time}, {scores}: `{text}` violates {' and '.join(violated) or 'neither monotonicity'}"
    yield "    - the numbers in the paper are those of `ACT`, the program of TREC 2017 with one iteration"


def _matrix(certificates: Certificates, names: Sequence[str], heads: Sequence[str]) -> Iterator[str]:
    yield "| measure | " + " | ".join(heads) + " |"
    yield "|---|" + ":-:|" * len(names)
    for text, own in certificates.by_measure.items():
        marks = " | ".join(_mark(name, own[name]) for name in names)
        yield f"| [`{text}`](measures/{measure(text).name}.md) | {marks} |"


def _mark(name: str, certificates: Sequence[Certificate]) -> str:
    """Return the table cell of a property, given its certificates in all settings."""
    verdicts = [certificate.holds for certificate in certificates]
    if False in verdicts:
        return "(✓)" if name in SCALES and verdicts[0] else "✗"
    return "–" if None in verdicts else "✓"
