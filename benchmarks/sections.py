"""Sections of BENCHMARKS.md about other parts of Rankscope: modules with ``table(quick) -> str``."""

from __future__ import annotations

import argparse
import importlib
import re
from pathlib import Path

__all__ = ["SECTIONS", "present", "with_section"]

SECTIONS = {
    "frames": "Frames and files",
    "ties": "Tied scores",
    "dicts": "Dicts and arrays",
    "meta": "Meta-evaluation",
    "scales": "Measurement scales",
    "lab": "The laboratory, and diversity",
    "effort": "Effort",
    "web": "The page",
    "clusters": "Clusters",
    "analyses": "Commands on many runs",
    "growth": "Growth",
}
"""Headings by module."""


def present() -> list[str]:
    """Return the names of the sections whose module exists."""
    return [name for name in SECTIONS if (Path(__file__).parent / f"{name}.py").exists()]


def with_section(page: str, section: str) -> str:
    """Return a page with this section, which replaces the one with the same heading or becomes the last.

    The part about load has marks of its own and stays last.

    >>> with_section("# P\\n\\n## A\\n\\nold\\n\\n## B\\n\\nb\\n", "## A\\n\\nnew")
    '# P\\n\\n## A\\n\\nnew\\n\\n## B\\n\\nb\\n'
    """
    heading = section.partition("\n")[0]
    parts = re.split(r"\n(?=## |<!-- load: begin -->)", page.rstrip("\n"))
    places = [i for i, part in enumerate(parts) if part.partition("\n")[0] == heading]
    load = [i for i, part in enumerate(parts) if part.startswith("<!-- load")]
    where = places[0] if places else load[0] if load else len(parts)
    parts[where : where + len(places)] = [section.strip() + "\n"]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def main() -> None:
    """Write one section to a file; runs in its own process."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("section", choices=SECTIONS)
    parser.add_argument("output", type=Path)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    module = importlib.import_module(f"benchmarks.{args.section}")
    args.output.write_text(f"## {SECTIONS[args.section]}\n\n{module.table(args.quick)}", encoding="utf-8")


if __name__ == "__main__":
    main()
