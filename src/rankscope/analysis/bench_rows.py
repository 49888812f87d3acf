"""Rows of the tables of leaderboards over several tasks."""

from __future__ import annotations

from rankscope.rows import Row, column


class Place(Row):
    """Value and rank of a system by an aggregate."""

    system: str = column("name of the system")
    aggregate: str = column()
    value: float | None = column("value of the aggregate; empty if it depends on a missing score")
    rank: int | None = column("rank of the system, from 1; empty if it depends on a missing score")
    first_rank: int = column("first rank of the interval of the rank")
    last_rank: int = column("last rank of the interval of the rank")
    tier: int | None = column("tier, from 1: neighbours of which no two are separated")
    lowest: float | None = column("lowest value over all values of missing scores", default=None)
    highest: float | None = column("highest value over all values of missing scores", default=None)


class SystemPair(Row):
    """Test of a pair of systems by an aggregate."""

    a: str = column("the first system")
    b: str = column("the second system")
    aggregate: str = column()
    difference: float | None = column("value of a minus value of b; empty if a score is missing")
    p: float | None = column("p-value of the test over tasks; empty if a score is missing", p_value=True)
    adjusted: float | None = column("the p-value, corrected for the number of pairs", p_value=True)
    separated: bool = column("whether the order of the two is established")


class Fragile(Row):
    """Effect of another aggregate, or of fewer tasks, on the leaderboard of an aggregate."""

    aggregate: str = column()
    change: str = column(
        "aggregate: another one; task: one left out; leader: fewest left out to change the leader"
    )
    without: str = column("tasks that are left out, separated by semicolons, or the other aggregate")
    tasks: int = column("number of tasks that are left out")
    leader: str = column("best system after the change")
    changed: int = column("pairs of systems whose order changes")
    tau: float = column("Kendall's tau-b between the leaderboards before and after")
    exact: bool = column("whether no fewer tasks change the leader, which always holds", default=True)


class Separation(Row):
    """Number of systems that an aggregate separates."""

    aggregate: str = column()
    pairs: int = column("number of pairs of systems")
    separated: int = column("pairs whose order is established")
    adjacent: int = column("pairs of neighbours in the leaderboard")
    adjacent_separated: int = column("pairs of neighbours whose order is established")
    tiers: int | None = column("number of tiers")


class TaskRow(Row):
    """A task and its agreement with the leaderboard."""

    task: str = column("name of the task")
    type: str = column("type of the task; empty if unknown")
    systems: int = column("number of systems with a score")
    topics: int | None = column("number of topics, if their scores are known")
    mean: float = column("mean score of the systems")
    tau: float = column("Kendall's tau-b between the task and the first aggregate")


class FriedmanTest(Row):
    """Friedman's test of all systems, and Nemenyi's critical distance."""

    systems: int = column("number of systems")
    tasks: int = column("number of tasks")
    statistic: float = column("Friedman's chi-squared, corrected for ties")
    p: float = column(p_value=True)
    critical_distance: float = column(
        "difference of mean ranks from which on Nemenyi's test separates two systems"
    )
