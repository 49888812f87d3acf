"""Synthetic test collections that behave like real ones, the same bytes from the same seed on every machine.

Abilities of systems, ease of topics, recall bases, what systems overlook and the depth of the pool were set so
that runs look like those of the first round of TREC-COVID (Voorhees et al. 2020): mean AP between about .03 and
.3 over systems (.17 on average), positively correlated systems and topics, recall bases around 70 with a heavy
tail. Nine in ten of the first 10 documents of a list are judged, four in ten of the first 100, one in eight of
1,000; a list of 1,000 has found half of the relevant documents (recall .55).
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
    pool_depth: int = 15,
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
