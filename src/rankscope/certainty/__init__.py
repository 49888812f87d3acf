"""Uncertainty of values caused by tied scores and by unjudged documents."""
