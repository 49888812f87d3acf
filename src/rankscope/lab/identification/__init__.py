"""Which definition does a piece of code compute? Short inputs, variants of measures, and ways to call others' code."""
