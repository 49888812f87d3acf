"""The case analysis: relations between rankings that a measure should respect, checked on all of them."""
