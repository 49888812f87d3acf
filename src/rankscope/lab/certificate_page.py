"""The page of certificates: what was claimed, two tables of verdicts; and what the page of one measure says."""

from __future__ import annotations

from collections.abc import Sequence

from rankscope.lab.axioms.relations import RELATIONS
from rankscope.lab.certificate_model import (
    CUTOFF,
    LONG_CUTOFF,
    LONG_SETTINGS,
    PROPERTIES,
    SCALE_SETTINGS,
    Certificate,
    Certificates,
    describe_settings,
)
from rankscope.lab.measurement.scales import EQUAL, SCALES
from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.worlds import aspect_world
from rankscope.measures import measure

__all__ = ["CLAIMS", "guarantees", "render_page"]

CLAIMS = (
    (
        "DCG",
        EQUAL,
        "DCG is interval-like where both ends have equally many relevant documents (Ferrante et al. 2017)",
    ),
    ("DCG(discount='jk')", EQUAL, "the same for the discount max(1, log2 i) of Jarvelin and Kekalainen 2002"),
    ("DCG(discount='jk',base=10)", EQUAL, "the same for max(1, log10 i)"),
    (
        "RBP",
        EQUAL,
        "RBP is interval-like where both ends have equally many relevant documents (Ferrante et al. 2017)",
    ),
    (
        "Twist",
        "swap",
        "moving a more relevant document up does not lower an effectiveness measure (Ferrante et al. 2015)",
    ),
    ("Twist", "replacement", "nor does replacing a document by a more relevant one (Ferrante et al. 2015)"),
    (
        "ACT",
        "irrelevance monotonicity",
        "appending a non-relevant document does not raise a score (Albahem et al. 2018)",
    ),
    (
        "AP",
        "deepness",
        "correcting an error nearer to the top of the list has more effect (Amigó et al. 2013)",
    ),
    (
        "AP",
        "deepness threshold",
        "one relevant document at the top is worth more than many far down (Amigó et al. 2013)",
    ),
    ("RBP(p=0.5)", "closeness threshold", "but not more than several near the top (Amigó et al. 2013)"),
    ("RBP", "closeness threshold", "the same"),
    ("AP_IA", "redundancy", "a document of a new aspect gains at least as much (Albahem et al. 2018)"),
)
"""What is written about measures, or asked of them, that is worth holding against what was found."""


def render_page(certificates: Certificates) -> str:
    """Return the certificates as a Markdown page: claims, and a table each of properties and of scales."""
    tested = [name for name in RELATIONS if any(name in names for _, names in PROPERTIES)]
    lines = [
        "# Certificates",
        "",
        "What every measure guarantees, found by looking at every ranking. This page is written by",
        "`python -m rankscope.lab.certificates docs/certificates.md`; `rankscope measures --certificates -f json`",
        "prints the same with all numbers. The smallest counterexample to what does not hold is on the",
        "[page of each measure](measures/README.md).",
        "",
        f"Measures that need a cutoff have {CUTOFF}, and {LONG_CUTOFF} on rankings of hundreds of documents; effort",
        "measures are evaluated at the depth. A violation (✗) is certain, but for the two thresholds, which speak of",
        "some number of documents and of large ones; ✓ means that there is none in these settings, – that the measure",
        "is not a number (for a scale: a finite one) on every ranking. Counts, ranks and lengths are no measures of",
        "effectiveness, but have their rows all the same.",
        "",
        "## Properties",
        "",
        *_legend(tested),
        "",
        *_matrix(certificates.certificates, tested, [RELATIONS[name].short for name in tested]),
        "",
        "## Scales",
        "",
        "What they are is said in [scales](scales.md). Binary rankings with",
        f"{' and with '.join(map(describe_settings, SCALE_SETTINGS))}; for RBP and DCG with",
        f"{' and with '.join(map(describe_settings, LONG_SETTINGS))}.",
        "(✓) is a scale that a measure is on only where the topic has as many relevant documents as the ranking is",
        "long, and not where it has fewer.",
        "",
        *_matrix(certificates.certificates, list(SCALES), list(SCALES)),
        "",
        "## Claims, and what was found",
        "",
        *_claims(certificates),
        *_cube_test_lines(certificates),
        "",
    ]
    return "\n".join(lines)


def guarantees(certificates: Certificates, name: str) -> list[str]:
    """What the page of a measure says: what holds, and the smallest counterexample to what does not.

    >>> from rankscope.lab.certificates import certificates
    >>> [line.partition(":")[0] for line in guarantees(certificates("RR"), "RR") if "convergence" in line]
    ['| convergence | RR(10) = 1.0000 = RR(11) = 1.0000']
    """
    lines = []
    names_by_measure = dict.fromkeys(c.measure for c in certificates.certificates)
    for label in [text for text in names_by_measure if measure(text).name == name]:
        own = [c for c in certificates.certificates if c.measure == label]
        names = dict.fromkeys(c.property for c in own)
        verdicts = {name: [c.holds for c in own if c.property == name] for name in names}
        holding = [name for name in names if _mark(name, verdicts[name]) == "✓"]
        lines += [f"`{label}` has " + (", ".join(holding) or "none of the properties") + ".", ""]
        reasons = {
            name: next(c for c in own if c.property == name and c.holds == _worst(verdicts[name]))
            for name in names
            if name not in holding
        }
        if reasons:
            lines += ["| but not | because |", "|---|---|"]
            lines += [f"| {name} | {_cell(c)} |" for name, c in reasons.items()]
            lines.append("")
    return lines


def _worst(verdicts: Sequence[bool | None]) -> bool | None:
    return False if False in verdicts else None


def _cell(certificate: Certificate) -> str:
    return certificate.counterexample.replace("|", "\\|")


def _legend(names: Sequence[str]) -> list[str]:
    lines = ["| | property | asked by | on all rankings with |", "|---|---|---|---|"]
    for name in names:
        relation = RELATIONS[name]
        where = "; ".join(describe_settings(settings) for settings, tested in PROPERTIES if name in tested)
        lines.append(
            f"| {relation.short} | **{name}**: {relation.meaning.rpartition(': ')[2]} | {relation.reference} | {where} |"
        )
    return lines


def _claims(certificates: Certificates) -> list[str]:
    lines = []
    for name, property, text in CLAIMS:
        own = [c for c in certificates.certificates if c.measure == name and c.property == property]
        broken = next((c for c in own if not c.holds), None)
        if own:
            verdict = (
                "**holds**" if broken is None else f"**violated** ({broken.setting}): {broken.counterexample}"
            )
            lines.append(f"- `{name}`, {property}. Claim: {text}. Found: {verdict}")
    return lines


def _cube_test_lines(certificates: Certificates) -> list[str]:
    """What the equation of the cube test leaves open, and what depends on it."""
    texts = {
        "documents": "ACT(preset='equation7')",
        "iterations": "ACT(preset='equation7',time='iterations')",
    }
    if not set(texts.values()) <= {c.measure for c in certificates.certificates}:
        return []
    tree = Tree(aspect_world(2, relevant=2, nonrelevant=1), 3)
    lines = [
        "- The equation of the cube test (Albahem et al. 2018, Equation 7) does not say what its Time is:"
    ]
    for time, text in texts.items():
        values = measure(text).evaluate(tree)
        scores = " and ".join(f"ACT({word}) = {values[tree.node(word)]:.4f}" for word in ("ab", "abx"))
        broken = [c.property for c in certificates.certificates if c.measure == text and c.holds is False]
        violated = [name for name in ("relevance monotonicity", "irrelevance monotonicity") if name in broken]
        lines.append(
            f"    - by {time}, {scores}: `{text}` violates {' and '.join(violated) or 'neither monotonicity'}"
        )
    lines.append(
        "    - the numbers that the paper prints are those of `ACT`, TREC's program of 2017 in one iteration"
    )
    return lines


def _matrix(certificates: Sequence[Certificate], names: Sequence[str], heads: Sequence[str]) -> list[str]:
    lines = ["| measure | " + " | ".join(heads) + " |", "|---|" + ":-:|" * len(names)]
    verdicts: dict[str, dict[str, list[bool | None]]] = {}
    for c in certificates:
        verdicts.setdefault(c.measure, {}).setdefault(c.property, []).append(c.holds)
    for text, own in verdicts.items():
        render_page = f"[`{text}`](measures/{measure(text).name}.md)"
        lines.append(f"| {render_page} | " + " | ".join(_mark(name, own[name]) for name in names) + " |")
    return lines


def _mark(name: str, verdicts: list[bool | None]) -> str:
    """What the table says of a property, given the verdicts in each setting."""
    if False in verdicts:
        return "(✓)" if name in SCALES and verdicts[0] else "✗"
    return "–" if None in verdicts else "✓"
