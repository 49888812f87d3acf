"""Realistic synthetic test collections; the same seed gives the same bytes on every machine.

The parameters of the model (abilities of systems, ease of topics, recall bases, overlooked documents, depth of the
pool) are tuned to resemble the first round of TREC-COVID (Voorhees et al. 2020): mean AP between about .03 and .3 over
systems (.17 on average), positively correlated systems and topics, recall bases around 70 with a heavy tail. Nine in
ten of the first 10 documents of a ranking are judged, four in ten of the first 100, one in eight of 1,000; recall at
rank 1,000 is .55.
"""

from __future__ import annotations

from rankscope.progress import progress
from rankscope.simulation.collection import SimulatedCollection
from rankscope.simulation.model import Settings, make_systems, make_topic

__all__ = ["SimulatedCollection", "simulate"]


def simulate(
    systems: int = 40,
    topics: int = 50,
    grades: int = 3,
    depth: int = 1000,
    seed: int = 1,
    *,
    pool_depth: int = 15,
    aspects: int = 0,
    sparse: bool = False,
) -> SimulatedCollection:
    """Simulate a test collection.

    The rankings of a topic stay the same when systems or topics are added; the judgments grow with the pool.

    Parameters
    ----------
    systems, topics
        Number of systems and of topics.
    grades
        Number of grades, including grade 0 (3: grades 0, 1, 2).
    depth
        Length of a full ranking; some systems return less, some omit a topic, most have tied scores.
    seed
        Seed of the random numbers; the same seed gives the same collection on every machine.
    pool_depth
        Depth of the pool, to which three systems out of four contribute.
    aspects
        Number of aspects per topic, each with its own judgments.
    sparse
        Whether to judge only one or two relevant documents per topic, as in click collections.

    Returns
    -------
    SimulatedCollection
        Runs and judgments, in memory; :meth:`~rankscope.simulation.SimulatedCollection.write` writes TREC files.

    Examples
    --------
    >>> collection = simulate(systems=4, topics=2, depth=100, seed=7)
    >>> sorted(set(collection.qrels["301"].values()))
    [0, 1, 2]
    >>> collection.runs == simulate(systems=4, topics=2, depth=100, seed=7).runs
    True
    """
    settings = Settings(systems, topics, grades, depth, seed, pool_depth, aspects, sparse)
    settings.validate()
    members = make_systems(settings)
    numbers = progress(range(topics), total=topics, label="simulating topics")
    return SimulatedCollection(
        settings, members, [make_topic(settings, members, number) for number in numbers]
    )
