"""What matters in a collection, as sentences with numbers: each rule is a small function, each finding is data."""

from rankscope.analysis.findings.asked import findings
from rankscope.analysis.findings.finding import Chart, Finding, Findings

__all__ = ["Chart", "Finding", "Findings", "findings"]
