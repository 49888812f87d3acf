"""A figure and the numbers it shows, together."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankscope.errors import SettingsError
from rankscope.files import write_atomically
from rankscope.plots.style import styled
from rankscope.tables import Table

__all__ = ["Figure"]

_METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None, "ModDate": None, "Producer": "Rankscope", "Creator": None},
    "svg": {"Date": None, "Creator": "Rankscope"},
    "png": {"Software": None},
}
"""Without dates and versions the same figure is the same bytes."""


@dataclass(frozen=True)
class Figure:
    """What was drawn: the matplotlib figure, its axes, and the table of every number in it."""

    figure: Any
    axes: Any
    table: Table

    def save(self, path: str | Path) -> Path:
        """Write a PDF, SVG or PNG (by the ending of the name), whole or not at all."""
        target = Path(path)
        write_atomically(target, self.render(target.suffix[1:].lower()))
        return target

    def render(self, kind: str) -> bytes:
        """The figure as the bytes of a pdf, svg or png file."""
        if kind not in _METADATA:
            raise SettingsError(
                f"no figure can be a {kind or 'file without an ending'}", hint="use .pdf, .svg or .png"
            )
        out = io.BytesIO()
        with styled():
            self.figure.savefig(out, format=kind, metadata=_METADATA[kind])
        return out.getvalue()

    def _repr_png_(self) -> bytes:
        return self.render("png")
