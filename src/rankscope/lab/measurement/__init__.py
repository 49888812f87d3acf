"""Scales of measurement: tests whether equal differences of a measure have equal meaning, as means require."""
