"""The rules of findings, in the order in which their findings are read."""

from collections.abc import Callable

from rankscope.analysis.findings.basis import Basis
from rankscope.analysis.findings.documents import ties, unjudged
from rankscope.analysis.findings.effort import high_effort, no_return
from rankscope.analysis.findings.finding import Finding
from rankscope.analysis.findings.order import disagreement, leader, separation
from rankscope.analysis.findings.scale import scale
from rankscope.analysis.findings.slices import slices
from rankscope.analysis.findings.topics import decisive_topics, fragile_lead, hard_topics

RULES: tuple[Callable[[Basis], Finding | None], ...] = (
    leader, slices, separation, disagreement, decisive_topics, fragile_lead, hard_topics, unjudged, ties, high_effort,
    no_return, scale,
)  # fmt: skip
"""Each rule returns a finding, or None if there is nothing to report."""
