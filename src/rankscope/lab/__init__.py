"""The laboratory: what a measure guarantees, on every possible ranking."""
