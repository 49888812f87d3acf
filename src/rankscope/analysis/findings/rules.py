"""The rules of findings, in the order in which their findings are read."""

from __future__ import annotations

from collections.abc import Callable

from rankscope.analysis.findings.basis import Basis
from rankscope.analysis.findings.documents import ties, unjudged
from rankscope.analysis.findings.effort import parting, unreturned
from rankscope.analysis.findings.finding import Finding
from rankscope.analysis.findings.order import apart, disagreement, leader
from rankscope.analysis.findings.scale import scale
from rankscope.analysis.findings.topics import deciding, hard, overtaking

RULES: tuple[Callable[[Basis], Finding | None], ...] = (
    leader, apart, disagreement, deciding, overtaking, hard, unjudged, ties, parting, unreturned, scale,
)  # fmt: skip
"""Each rule returns a finding, or None if there is nothing to report."""
