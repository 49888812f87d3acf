"""Generate docs/measures/, docs/certificates.md and the types of rs.AP, rs.nDCG ... from the registry of measures.

python docs/make_measures.py            write the pages and the types
python docs/make_measures.py --check    only check whether they are up to date
"""

from __future__ import annotations

import sys
from pathlib import Path

from rankscope.lab.certificate_model import Certificates, guarantees, render_page
from rankscope.lab.certificates import certificates
from rankscope.lab.weights import DEPTH
from rankscope.measures import REGISTRY, Measure
from rankscope.measures.grammar import parse

HOME = Path(__file__).parent / "measures"
CERTIFICATES = HOME.with_name("certificates.md")
NAMES = HOME.parents[1] / "src" / "rankscope" / "measures" / "names.pyi"
FAMILIES = {
    "classic": "Classic measures",
    "effort": "Effort",
    "diversity": "Diversity",
}
_BETTER = {
    "higher": "higher is better",
    "lower": "lower is better",
    "neither": "neither higher nor lower is better",
}


def page(measure: Measure, results: Certificates) -> str:
    """Return the page of a measure: meaning, formula, parameters, reference and guarantees."""
    aliases = [name for name, other in REGISTRY.items() if other == measure and name != measure.name]
    lines = [f"# {measure.name}", "", measure.meaning, "", "```", measure.formula, "```", ""]
    if measure.user:
        lines += [f"**The user behind it.** {measure.user}", ""]
    if picture(measure):
        lines += [f"![The weights of the first {DEPTH} ranks of {_example(measure)}]({measure.name}.svg)", ""]
    if measure.parameters or measure.cutoff_rule != "none":
        lines += ["| parameter | default | meaning | allowed |", "|---|---|---|---|"]
        for key, p in measure.parameters.items():
            lines.append(f"| `{key}` | `{p.default!r}` | {_cell(p.meaning)} | {_cell(p.allowed())} |")
        if measure.cutoff_rule != "none":
            default = "" if measure.default_cutoff is None else f"`{measure.default_cutoff:g}`"
            lines.append(f"| `@k` | {default} | {measure.cutoff_meaning} | {measure.cutoff_rule} |")
        lines.append("")
    low, high = measure.range
    facts = [f"Range {low:g} to {high:g}", _BETTER[measure.better], f"over topics: {measure.summary}"]
    if measure.needs_aspects:
        facts.append("uses judgments per aspect (a document judged without aspects has one)")
    lines.append("; ".join(facts) + ".")
    if aliases:
        lines.append(f"Also called {', '.join(f'`{name}`' for name in aliases)}.")
    lines += [
        f"Reference: {measure.reference}.",
        "",
        "```sh",
        f"rankscope eval QRELS RUN -m {_example(measure)}",
        "```",
        "",
        "## What it guarantees",
        "",
        "[Certificates](../certificates.md) defines the properties and lists the rankings that were tested.",
        "",
        *guarantees(results, measure.name),
    ]
    return "\n".join(lines).rstrip() + "\n"


def picture(measure: Measure) -> str:
    """Return the weights of the first ranks as an SVG, or an empty string if ranks have no weights."""
    weights = parse(_example(measure)).rank_weights(DEPTH)
    if weights is None:
        return ""
    step, height, left, top = 14, 90, 44, 10
    highest = float(weights.max()) or 1.0
    bottom, right = top + height, left + step * DEPTH
    bars = []
    for rank, weight in enumerate(weights.tolist(), 1):
        tall = height * weight / highest
        x = left + step * (rank - 1) + 2
        bars.append(
            f'<rect x="{x}" y="{bottom - tall:.2f}" width="{step - 4}" height="{tall:.2f}">'
            f"<title>rank {rank}: {weight:.4g}</title></rect>"
        )
    numbers = [
        f'<text x="{left + step * (rank - 1) + step / 2:g}" y="{bottom + 14}" text-anchor="middle">{rank}</text>'
        for rank in (1, 5, 10, 15, 20)
    ]
    title = f"weights of the first {DEPTH} ranks of {_example(measure)}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right + 8} {bottom + 34}" width="{right + 8}" '
            f'height="{bottom + 34}" role="img" aria-label="{title}" font-family="sans-serif" font-size="10">',
            f"<title>{title}</title>",
            f'<g fill="#0072B2">{"".join(bars)}</g>',
            f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="#555"/>',
            f'<g fill="#222">{"".join(numbers)}',
            f'<text x="{left - 5}" y="{top + 8}" text-anchor="end">{highest:.3g}</text>',
            f'<text x="{left - 5}" y="{bottom}" text-anchor="end">0</text>',
            f'<text x="{(left + right) / 2:g}" y="{bottom + 28}" text-anchor="middle">rank</text></g>',
            "</svg>",
            "",
        ]
    )


def index() -> str:
    """Return the list of all measures by family."""
    lines = ["# Measures", "", "Generated from the registry by `python docs/make_measures.py`.", ""]
    measures = _built_in()
    families = [*FAMILIES, *sorted({m.family for m in measures} - set(FAMILIES))]
    for family in families:
        members = [m for m in measures if m.family == family]
        if members:
            lines += [
                f"## {FAMILIES.get(family, family)}",
                "",
                "| measure | meaning | reference |",
                "|---|---|---|",
            ]
            lines += [f"| [{m.name}]({m.name}.md) | {_cell(m.meaning)} | {m.reference} |" for m in members]
            lines.append("")
    return "\n".join(lines)


def pages(results: Certificates | None = None) -> dict[str, str]:
    """Return the content of every file of the folder; compute the certificates unless they are passed."""
    measures, results = _built_in(), certificates() if results is None else results
    pictures = {f"{measure.name}.svg": picture(measure) for measure in measures}
    return {
        "README.md": index(),
        **{f"{measure.name}.md": page(measure, results) for measure in measures},
        **{name: text for name, text in pictures.items() if text},
    }


def names() -> str:
    """Return the type stub with every name of the registry."""
    kinds = {name: type(measure) for name, measure in REGISTRY.items() if measure.family != "user"}
    modules = sorted({kind.__module__ for kind in kinds.values()})
    lines = [
        "# Every measure as a name of the package; written from the registry by python docs/make_measures.py",
        *(f"import {module}" for module in modules),
        "",
        *(f"{name}: {kind.__module__}.{kind.__qualname__}" for name, kind in sorted(kinds.items())),
    ]
    return "\n".join(lines) + "\n"


def _built_in() -> list[Measure]:
    return [measure for measure in dict.fromkeys(REGISTRY.values()) if measure.family != "user"]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _example(measure: Measure) -> str:
    if measure.cutoff_rule != "required":
        return measure.name
    return f"{measure.name}@{0.1 if 'recall' in measure.cutoff_meaning else 10}"


def existing_files() -> list[Path]:
    """Return the existing pages and pictures."""
    return sorted(path for path in HOME.iterdir() if path.suffix in (".md", ".svg"))


def main() -> int:
    """Write the pages, or compare them with --check."""
    HOME.mkdir(exist_ok=True)
    results = certificates()
    expected = pages(results)
    present = {path.name: path.read_text("utf-8") for path in existing_files()}
    if "--check" in sys.argv:
        if NAMES.read_text("utf-8") != names():
            print(f"out of date: {NAMES.name}")
            return 1
        stale = sorted(
            name for name in expected.keys() | present.keys() if expected.get(name) != present.get(name)
        )
        if CERTIFICATES.read_text("utf-8") != render_page(results):
            stale.append("../certificates.md")
        print("\n".join(f"out of date: docs/measures/{name}" for name in stale) or "up to date")
        return 1 if stale else 0
    for name in present.keys() - expected.keys():
        (HOME / name).unlink()
    for name, text in expected.items():
        (HOME / name).write_text(text, "utf-8")
    CERTIFICATES.write_text(render_page(results), "utf-8")
    NAMES.write_text(names(), "utf-8")
    print(f"{len(expected)} pages and pictures in {HOME}, {CERTIFICATES.name} and {NAMES.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
