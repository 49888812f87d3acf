"""Sections of BENCHMARKS.md about other parts of Rankscope: modules with ``table(quick) -> str``."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

__all__ = ["SECTIONS", "present"]

SECTIONS = {
    "frames": "Frames and files",
    "ties": "Tied scores",
    "dicts": "Dicts, in the place of pytrec_eval",
    "meta": "Meta-evaluation",
    "scales": "Measurement scales",
    "lab": "The laboratory, and diversity",
    "effort": "Effort",
    "web": "The page",
    "clusters": "Clusters",
}
"""Modules and their headings."""


def present() -> list[str]:
    """The names of the sections whose module exists."""
    return [name for name in SECTIONS if (Path(__file__).parent / f"{name}.py").exists()]


def main() -> None:
    """Write one section to a file, in a process of its own."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("section", choices=SECTIONS)
    parser.add_argument("output", type=Path)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    module = importlib.import_module(f"benchmarks.{args.section}")
    args.output.write_text(f"## {SECTIONS[args.section]}\n\n{module.table(args.quick)}", encoding="utf-8")


if __name__ == "__main__":
    main()
