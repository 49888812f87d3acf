"""Scales: whether equal differences of a measure mean equal things, so that means may be taken."""
