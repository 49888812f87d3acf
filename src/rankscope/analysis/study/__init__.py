"""The experiments of a paper about a measure, and the manifest that repeats them."""
