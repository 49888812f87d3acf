"""Statistics that analyses share: coefficients, tests, resampling, seeded randomness."""
