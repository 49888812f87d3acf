"""Rankscope against other programs, on made workloads: ``python -m benchmarks`` writes BENCHMARKS.md."""
