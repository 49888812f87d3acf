"""Rows of the tables that findings are based on."""

from rankscope.rows import Row, column


class Sentence(Row):
    """A finding in words."""

    kind: str = column("subject of the finding")
    sentence: str = column()
    evidence: str = column("name of the table with the numbers behind the sentence")


class LeaderRow(Row):
    """A run by the first measure."""

    run: str = column()
    value: float | None = column("mean over the topics")
    low: float | None = column()
    high: float | None = column()
    rank: float | None = column("rank of the run; equal means share the middle of their ranks")
    first_rank: int | None = column()
    last_rank: int | None = column()
    tied_for_first: bool | None = column("whether the topics do not separate the run from the best one")


class Separation(Row):
    """Pairs of runs that the topics separate by a measure."""

    measure: str = column()
    pairs: int = column()
    significant: int = column("pairs that differ significantly")
    share: float = column()
    topics: int = column()


class Disagreement(Row):
    """Pairs of runs that two measures order differently."""

    a: str = column("the first measure")
    b: str = column("the second measure")
    tau: float = column()
    swapped: int = column("pairs of runs that the two measures order differently")
    pairs: int = column()
    share: float = column("share of the pairs that are swapped")
    significant: int = column("swapped pairs that are significant by at least one of the two measures")
    contradict: int = column("pairs that differ significantly by both measures, in opposite directions")


class TopicShare(Row):
    """A topic and its share of the variance of the means."""

    topic: str = column()
    share: float = column("share of the topic in the variance of the means of the runs")
    mean: float = column("mean over the runs on this topic")
    spread: float = column("standard deviation over the runs on this topic")
    in_half: bool = column("whether the topic is among the fewest that carry half of the variance")


class LeadTopic(Row):
    """A topic and the difference of the first two runs on it."""

    topic: str = column()
    value_a: float = column()
    value_b: float = column()
    difference: float = column()
    needed: bool = column("whether the topic is among those whose loss would change the order")


class HardTopic(Row):
    """A topic by the values of all runs."""

    topic: str = column()
    mean: float = column("mean over the runs on this topic")
    best: float = column("value of the best run on this topic")
    half_score_0: bool = column("whether half of the runs or more score 0 on the topic")


class UnjudgedShare(Row):
    """A run and its unjudged documents."""

    run: str = column()
    unjudged: float = column("share of the first documents that is unjudged")
    lowest: float = column("precision as judged")
    highest: float = column("precision if all of its unjudged documents were relevant")
    notable: bool = column("whether more than a tenth of the first documents is unjudged")


class TiedMean(Row):
    """A run and the bounds of its mean over orders of tied documents."""

    run: str = column()
    value: float = column("mean over the topics")
    worst: float = column("mean in the worst order of tied documents")
    best: float = column("mean in the best order of tied documents")
    width: float = column("difference between the two")


class NoReturnTopic(Row):
    """A topic and its rankings whose CRP curve never returns to 0."""

    topic: str = column()
    relevant: int = column()
    lists: int = column()
    rho_0: int = column("rankings whose Rho is 0, because their CRP curve never returns to 0")
    share: float = column("share of the topic's rankings whose CRP curve never returns to 0")
    many: bool = column("whether the topic has more relevant documents than the median topic")


class MeasureScale(Row):
    """A measure and its scale."""

    measure: str = column()
    scale: str = column("scale of the measure: interval-like or ordinal")
    fails_from: int | None = column()
    counterexample: str = column()
