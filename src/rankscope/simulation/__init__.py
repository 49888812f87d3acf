"""Synthetic test collections that behave like real ones, the same bytes from the same seed on every machine.

Abilities of systems, ease of topics and recall bases were set so that the score matrices look like those of
the TREC ad hoc tracks (Voorhees and Harman 2005): mean AP between about .05 and .45 over systems, positively
correlated systems and topics, recall bases with a heavy tail, unjudged documents rare at the top of the lists
and frequent at their end.
"""

from __future__ import annotations

from rankscope.progress import progress
from rankscope.simulation.collection import Collection
from rankscope.simulation.model import Settings, make_systems, make_topic

__all__ = ["Collection", "simulate"]


def simulate(
    systems: int = 40,
    topics: int = 50,
    grades: int = 3,
    depth: int = 1000,
    seed: int = 1,
    *,
    pool_depth: int = 100,
    aspects: int = 0,
    sparse: bool = False,
) -> Collection:
    """Make a synthetic collection.

    systems, topics: how many of them.
    grades: their number, grade 0 included (3: grades 0, 1, 2).
    depth: length of a full list; some systems return less, some leave a topic out, most have tied scores.
    seed: the same seed gives the same collection everywhere.
    pool_depth: how many of the first documents are judged, of three systems out of four.
    aspects: aspects per topic, with judgments for each of them.
    sparse: judge one or two relevant documents per topic and nothing else, as click collections do.

    The lists for a topic stay the same when systems or topics are added; the judgments grow with the pool.

    >>> collection = simulate(systems=4, topics=2, depth=100, seed=7)
    >>> sorted(set(collection.qrels["301"].values()))
    [0, 1, 2]
    >>> collection.runs == simulate(systems=4, topics=2, depth=100, seed=7).runs
    True
    """
    settings = Settings(systems, topics, grades, depth, seed, pool_depth, aspects, sparse)
    settings.check()
    members = make_systems(settings)
    numbers = progress(range(topics), total=topics, label="simulating topics")
    return Collection(settings, members, [make_topic(settings, members, number) for number in numbers])
