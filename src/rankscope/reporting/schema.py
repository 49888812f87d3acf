"""The data of the report: types and meanings of all fields.

``web/make_types.py`` keeps a JSON Schema of the data, the types of the page's sources and the table in
``web/README.md`` in step with this description. A *list* is one run on one topic, list number
``run * topics + topic``. Arrays are numpy arrays here and packed numbers in the page.
"""

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from rankscope.arrays import AnyArray

Array: TypeAlias = AnyArray
Cell: TypeAlias = str | int | float | bool | None

VERSION = 2
"""Version of the format; increases when a page could misread data of another version."""


class Judgments(TypedDict):
    """Judgments of the topics.

    Attributes
    ----------
    counts
        topics x grades: judged documents of each grade
    nonrelevant
        topics: judged documents of grade 0 or less
    negative
        topics: those of them below 0
    """

    counts: Array
    nonrelevant: Array
    negative: Array


class RankingArrays(TypedDict):
    """Rankings: lengths, and ranks of their relevant documents.

    Attributes
    ----------
    retrieved
        lists: documents in the list, 0 where the run lacks the topic
    judged10
        lists: judged documents in the first ten ranks
    hits
        lists: relevant documents in the list
    rank
        hits: ranks, ascending within a list, list after list
    grade
        hits: grades, as indices of grades
    """

    retrieved: Array
    judged10: Array
    hits: Array
    rank: Array
    grade: Array


class Nonrelevant(TypedDict):
    """Ranks of judged documents that are not relevant.

    Attributes
    ----------
    hits
        lists: number in the list
    rank
        entries: ranks
    negative
        entries: 1 where the grade is below 0; absent if it never is
    """

    hits: Array
    rank: Array
    negative: NotRequired[Array]


class Documents(TypedDict):
    """Names of relevant documents.

    Attributes
    ----------
    names
        topics x names: the relevant documents of each topic
    hit
        hits: index of the name among those of its topic
    """

    names: list[list[str]]
    hit: Array


class TopDocuments(TypedDict):
    """Documents in the first ranks of some run that are not judged relevant.

    Attributes
    ----------
    depth
        ranks down to which every document has a name
    complete
        whether the entries include all ranks of unjudged documents, not only the first
    names
        topics x names
    judged
        names of all topics: 1 if judged not relevant, 0 if unjudged
    hits
        lists: number of entries
    rank
        entries: ranks, ascending within a list
    document
        entries: index of the name among those of its topic
    """

    depth: int
    complete: bool
    names: list[list[str]]
    judged: Array
    hits: Array
    rank: Array
    document: Array


class Measured(TypedDict):
    """A measure and its values for all lists and runs.

    Attributes
    ----------
    name
        canonical name
    meaning
        one-line description
    kind
        given: requested with -m, in addition to the standard measures
    summary
        summary over topics
    better
        direction of better values
    low
        lowest possible value; null if unbounded
    high
        highest possible value; null if unbounded
    formula
        name of the formula that the report computes, for changed settings and rankings
    values
        lists: the values, NaN where undefined
    means
        runs: summary of the values over topics
    mean_low
        runs: lower end of the 95 % t interval of the summary
    mean_high
        runs: its upper end
    """

    name: str
    meaning: str
    kind: Literal["gain", "effort", "data", "given"]
    summary: Literal["mean", "geometric mean", "sum"]
    better: Literal["higher", "lower", "neither"]
    low: float | None
    high: float | None
    formula: NotRequired[str]
    values: Array
    means: Array
    mean_low: Array
    mean_high: Array


class OpenRange(TypedDict):
    """Bounds of means over orders of tied documents and labels of unjudged documents.

    Attributes
    ----------
    worst
        runs: the mean in the worst order of tied documents
    best
        runs: the mean in the best order
    exact
        whether all orders were evaluated
    lowest
        runs: the lowest mean over all labels of unjudged documents
    highest
        runs: the highest mean over all labels
    tight
        runs: whether labels attain both bounds
    """

    worst: Array
    best: Array
    exact: bool
    lowest: Array
    highest: Array
    tight: list[bool]


class Archetype(TypedDict):
    """A shape of CRP curves.

    Attributes
    ----------
    name
        the archetype
    meaning
        condition for a ranking to belong to it
    """

    name: str
    meaning: str


class Note(TypedDict):
    """A note about the data.

    Attributes
    ----------
    kind
        subject
    level
        importance
    text
        the sentence
    items
        cases
    """

    kind: str
    level: Literal["note", "warning"]
    text: str
    items: NotRequired[list[str]]


class StudyTable(TypedDict):
    """A table of a study; undefined numbers are null, infinite ones the texts "Infinity" and "-Infinity".

    Attributes
    ----------
    columns
        names of the columns
    rows
        cells of each row
    """

    columns: list[str]
    rows: list[list[Cell]]


class SourceFiles(TypedDict):
    """Command line arguments that open the same collection.

    Attributes
    ----------
    qrels
        the judgments, as they were named
    runs
        the runs, as they were named
    options
        options with which they were read
    files
        runs: the file of each, null if unknown
    study
        the directory of the study, as it was named
    groups
        the groups of runs, as they were named
    """

    qrels: str
    runs: list[str]
    options: list[str]
    files: list[str | None]
    study: NotRequired[str]
    groups: NotRequired[str]


class TextExcerpts(TypedDict):
    """First characters of texts of documents and topics.

    Attributes
    ----------
    documents
        by name, for documents that the report names
    queries
        by topic
    """

    documents: dict[str, str]
    queries: dict[str, str]


class EvidenceChart(TypedDict):
    """A chart of the evidence of a finding, with a mark per row of the table.

    Attributes
    ----------
    form
        kind of chart
    label
        columns that name a row
    value
        column of the bar, dot, cell or word
    low
        column of the lower end of the interval; empty: no interval
    high
        column of the upper end
    strong
        column of the rows that stand out; empty: all
    percent
        whether values are shares
    says
        explanation of the marks
    """

    form: Literal["bars", "dots", "plane", "badges"]
    label: list[str]
    value: str
    low: str
    high: str
    strong: str
    percent: bool
    says: str


class FindingData(TypedDict):
    """A finding of rs.findings: a sentence, its numbers, the table it is based on, and the view that shows it.

    Attributes
    ----------
    kind
        rule that produced it
    title
        heading
    sentence
        the finding in words
    numbers
        every number and name in the sentence
    evidence
        first rows of the table it is based on
    rows
        number of rows of that table
    chart
        chart of the table
    view
        the view that shows it
    measure
        measure to select there
    runs
        runs to select there
    topic
        topic to select there
    """

    kind: str
    title: str
    sentence: str
    numbers: dict[str, Cell]
    evidence: StudyTable
    rows: int
    chart: EvidenceChart
    view: str
    measure: NotRequired[str]
    runs: NotRequired[list[str]]
    topic: NotRequired[str]


class RunGroups(TypedDict):
    """Groups of runs, such as teams.

    Attributes
    ----------
    names
        in order of first occurrence
    of
        runs: index of the name, null if the run has no group
    """

    names: list[str]
    of: list[int | None]


class Coverage(TypedDict):
    """Aspects that the rankings cover, and the rank from which on.

    Attributes
    ----------
    names
        topics x aspects: those to which some document is relevant
    first
        lists x aspects of their topic: rank of the first document relevant to the aspect, 0: none
    """

    names: list[list[str]]
    first: Array


class Order(TypedDict):
    """Means of the runs at other cutoffs, or from smaller pools.

    Attributes
    ----------
    across
        difference between the columns
    measure
        measure of the page
    columns
        measure at a cutoff, or pool
    means
        columns x runs: the values of the topics as one number
    """

    across: Literal["cutoffs", "pools"]
    measure: str
    columns: list[str]
    means: Array


class TopicSlices(TypedDict):
    """Slices of the topics by an attribute.

    Attributes
    ----------
    attribute
        attribute that divides the topics, as named by --by
    names
        names of the slices
    of
        topics: index of the name, 65535 if the topic is in no slice
    """

    attribute: str
    names: list[str]
    of: Array


class Document(TypedDict):
    """Data of the report.

    Attributes
    ----------
    format
        constant
    version
        of this description
    rankscope
        the version that wrote it
    title
        heading of the page
    settings
        order; aspects (whether the judgments have any); missing (zero: an absent topic counts as an empty list,
        skip: left out of means); length (N of the effort measures); crossing; dcg
    source
        for commands that make a figure again; absent for data in memory
    fingerprint
        hashes of runs, topics, judgments, rankings and settings, to compare two reports
    runs
        names
    topics
        names
    only_scores
        whether there are no rankings: their arrays are empty, and views of them are left out
    grades
        positive grades that occur in the judgments, highest first
    topic
        the judgments
    list
        the lists
    nonrelevant
        absent if it is large, or with --no-documents
    documents
        absent likewise
    top
        absent with more than 25,000 lists, with --no-documents, and in notebooks
    measures
        the measures of every page, then the requested ones
    lead
        the measure to begin with
    archetypes
        from the best to the worst
    archetype
        lists: index of the archetype, 255 if effort is undefined
    samples
        1000 x topics: the bootstrap samples of rs.leaderboard; absent where large
    tied_first
        by measure: whether each run is tied for first by rs.leaderboard (multiple comparisons with the best, 5
        %); without measures that have no direction
    ranges
        by measure (--bounds): bounds of the means over ties and labels
    findings
        findings, the most important first (rs.findings)
    groups
        groups of runs (--groups)
    coverage
        where the judgments have aspects
    orders
        means of the runs at other cutoffs and from smaller pools; none for a single run, or where large
    permutations
        2000 x topics: random orders that test interactions with slices; absent where large
    slices
        slices of the topics (--by)
    weights
        topics: weights (--weights)
    texts
        texts of documents and topics (--texts)
    warnings
        notes about the data
    study
        the tables of rankscope study, by name
    server
        the explorer serves this page and answers list/RUN/TOPIC with [[document, grade], ...]
    """

    format: Literal["rankscope.page"]
    version: int
    rankscope: str
    title: str
    settings: dict[str, Any]
    source: NotRequired[SourceFiles]
    fingerprint: dict[str, str]
    runs: list[str]
    topics: list[str]
    only_scores: NotRequired[bool]
    grades: list[int]
    topic: Judgments
    list: RankingArrays
    nonrelevant: NotRequired[Nonrelevant]
    documents: NotRequired[Documents]
    top: NotRequired[TopDocuments]
    measures: list[Measured]
    lead: str
    archetypes: list[Archetype]
    archetype: Array
    samples: NotRequired[Array]
    tied_first: dict[str, list[bool]]
    ranges: NotRequired[dict[str, OpenRange]]
    findings: list[FindingData]
    groups: NotRequired[RunGroups]
    coverage: NotRequired[Coverage]
    orders: list[Order]
    permutations: NotRequired[Array]
    slices: NotRequired[list[TopicSlices]]
    weights: NotRequired[Array]
    texts: NotRequired[TextExcerpts]
    warnings: list[Note]
    study: NotRequired[dict[str, StudyTable]]
    server: NotRequired[bool]
