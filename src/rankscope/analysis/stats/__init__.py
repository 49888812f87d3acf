"""Statistics that analyses share: coefficients, tests, resampling, seeded randomness."""

from rankscope.lazy import attach_stub

__getattr__, __all__ = attach_stub(__name__)
