"""Identification of the definition that a function computes: short inputs, variants of measures, and kinds of calls."""
