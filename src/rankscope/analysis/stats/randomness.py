"""Random numbers from one seed: the same on every machine, for any number of jobs."""

import numpy as np

from rankscope.errors import SettingsError


def streams(seed: int, count: int) -> list[np.random.SeedSequence]:
    """Return independent streams, one per task, so that results do not depend on where a task runs."""
    return _sequence(seed).spawn(count)


def generator(seed: int | np.random.SeedSequence) -> np.random.Generator:
    """Return the generator of a seed or of one of its streams.

    >>> generator(1).integers(0, 10, 3).tolist() == generator(1).integers(0, 10, 3).tolist()
    True
    """
    sequence = seed if isinstance(seed, np.random.SeedSequence) else _sequence(seed)
    return np.random.Generator(np.random.PCG64(sequence))


def _sequence(seed: int) -> np.random.SeedSequence:
    if seed < 0:
        raise SettingsError(f"the seed is {seed}", hint="give a whole number from 0 on")
    return np.random.SeedSequence(seed)
