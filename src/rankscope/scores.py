"""Collections and scores: judgments and runs, and the values of measures for all runs and topics."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rankscope.arrays import Weights
from rankscope.caching import TransientCacheMixin, cached_property
from rankscope.certainty.values import Uncertainty, compute_values, judge_with_options, validate_options
from rankscope.choices import COLLECTION_OPTIONS, SCORE_FIGURES
from rankscope.columns import CategoricalColumn
from rankscope.engines import using
from rankscope.errors import InputError, SettingsError, check_name, suggest_names
from rankscope.frames import FrameMixin
from rankscope.judging import Judged, judge
from rankscope.judging.shares import VACUOUS, has_nonrelevant
from rankscope.measures import Measure, needs_aspects, parse_many
from rankscope.measures.grammar import ExternalMeasure, external_measure, parse
from rankscope.read import Inputs, Qrels, Runs, as_runs, open_collection
from rankscope.read.ids import id_cell, key_text
from rankscope.result import Result
from rankscope.rows import Row, column
from rankscope.tables import Cell, Table, Tables

if TYPE_CHECKING:
    from rankscope.judging.coverage import Coverage
    from rankscope.judging.description import Description
    from rankscope.read.scores import ScoreTable

__all__ = ["Collection", "ScoreMatrix", "Scores", "as_scores", "evaluate", "read_scores", "score"]

MISSING = ("zero", "skip")
Measures = str | Measure | Iterable[str | Measure]
NamedWeights = str | Mapping[Any, float] | None
"""Weights of topics: a column of their attributes, or a mapping; None if they are equal."""
DEFAULT_MEASURES = ("AP", "nDCG@10", "P@10", "RR", "RBP", "Twist")
"""Measures to evaluate unless others are named."""


@dataclass(frozen=True, eq=False, repr=False)
class ScoreMatrix(FrameMixin):
    """Values of one measure, an array of shape (runs, topics), with labels."""

    values: npt.NDArray[np.float64]
    runs: tuple[str, ...]
    topics: Sequence[Any]
    measure: Measure
    weights: Weights = None
    """Weights of the topics; None if they are equal."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.asarray(self.values, dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of runs and topics."""
        return self.values.shape

    @property
    def topic_cells(self) -> list[str | int]:
        """Topics as cells of tables: text and integers unchanged, others as text."""
        return [*map(id_cell, self.topics)]

    def __repr__(self) -> str:
        return f"<ScoreMatrix: {self.measure}, {len(self.runs)} runs x {len(self.topics)} topics>"

    def frame_columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the columns of a frame with a row per run: the name of the run, then a column per topic."""
        if "run" in self.topics:
            hint = "use the frame of the scores, which has a row per run and topic"
            raise InputError("a topic is called 'run', as is the column of the runs", hint=hint)
        return {"run": self.runs, **dict(zip(self.topics, self.values.T, strict=True))}


class MeanRow(Row):
    """Mean of a run; options that give bounds of values add columns."""

    run: str = column()
    measure: str = column()
    value: float = column("mean over topics, or another summary that the measure defines")
    topics: int = column("number of topics with a defined value")


class TopicRow(Row):
    """Value of a run on a topic; options that give bounds of values add columns."""

    run: str = column()
    topic: str = column()
    measure: str = column()
    value: float = column("value of the measure")


class MeasureValues(dict[str, float]):
    """Values by the requested names of measures; a lookup accepts every name of a measure, and the measure itself.

    >>> values = evaluate({"q": {"d": 1}}, {"q": ["d"]}, "MRR@10").means()["run"]
    >>> values, values["RR@10"], values["recip_rank_10"]
    ({'MRR@10': 1.0}, 1.0, 1.0)
    """

    def __init__(self, measures: Sequence[Measure], values: Iterable[float]) -> None:
        super().__init__(zip(map(str, measures), values, strict=True))
        self.measures = measures

    def __missing__(self, measure: str | Measure) -> float:
        return dict(self)[str(self.measures[_find_measure(self.measures, measure)])]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.measures, [*self.values()])


def _find_measure(measures: Sequence[Measure], measure: str | Measure) -> int:
    """Return the index of a measure, by any of its names."""
    for index, candidate in enumerate(measures):
        if measure == (str(candidate) if isinstance(measure, str) else candidate):
            return index  # Names of external measures cannot be parsed.
    parsed = parse(measure) if isinstance(measure, str) else measure
    if parsed not in measures:
        names = [str(m) for m in measures]
        hint = suggest_names(str(parsed), names) or f"there are {', '.join(names)}"
        raise InputError(f"{parsed} was not evaluated", hint=hint)
    return measures.index(parsed)


@dataclass(frozen=True, eq=False, repr=False)
class Scores(Result):
    """Values of measures for runs and topics.

    ``values`` is an array of shape (measures, runs, topics); undefined values are NaN.

    >>> scores = evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.9, "d2": 0.8}}, ["map", "P@2"])
    >>> scores.means(), scores.measures[0].canonical_name
    ({'run': {'map': 1.0, 'P@2': 0.5}}, 'AP')
    """

    figures = SCORE_FIGURES
    runs: tuple[str, ...]
    topics: Sequence[Any]
    """Topics as text, or in their original type if a dict of judgments has them in another."""
    measures: tuple[Measure, ...]
    values: npt.NDArray[np.float64]
    settings: Mapping[str, Any] = field(default_factory=dict)
    judged: Judged | None = None
    uncertainty: Uncertainty | None = None
    """Standard errors and ranges of the values, with ``ties`` other than break or ``unjudged="bounds"``."""
    collection: Collection | Inputs | None = None
    """Evaluated collection; None for scores from a file."""
    weights: Weights = None
    """Weights of the topics; None if they are equal."""
    topic_data: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Attributes of the topics: ``{topic: {column: value}}``."""

    def _about(self) -> str:
        return f"{len(self.runs)} runs x {len(self.topics)} topics x {len(self.measures)} measures"

    def require_judged(self, analysis: str) -> Judged:
        """Return the judged rankings, or raise an error that says that ``analysis`` needs them."""
        if self.judged is None:
            if isinstance(self.collection, Collection) and self.collection.has_qrels:
                self.collection.opened.qrels.require_grades(analysis)
            hint = "evaluate judgments and runs instead of reading scores"
            raise InputError(f"{analysis} needs rankings, and these scores have values only", hint=hint)
        return self.judged

    def require_collection(self, analysis: str) -> Collection:
        """Return the collection, or raise an error that says that ``analysis`` needs it."""
        self.require_judged(analysis)
        if not isinstance(self.collection, Collection):
            raise InputError(f"{analysis} needs the collection of the scores", hint="evaluate a collection")
        return self.collection

    def _index(self, measure: str | Measure) -> int:
        return _find_measure(self.measures, measure)

    def matrix(self, measure: str | Measure) -> ScoreMatrix:
        """Return the values of one measure with labels.

        Parameters
        ----------
        measure
            Measure or its name.

        Returns
        -------
        ScoreMatrix
            ``values`` of shape (runs, topics), ``runs`` and ``topics``.
        """
        index = self._index(measure)
        return ScoreMatrix(self.values[index], self.runs, self.topics, self.measures[index], self.weights)

    def bounds(self, measure: str | Measure) -> tuple[ScoreMatrix, ScoreMatrix]:
        """Return the lowest and the highest values over all labels of unjudged documents.

        Parameters
        ----------
        measure
            Measure or its name, evaluated with ``unjudged="bounds"``.

        Returns
        -------
        tuple of ScoreMatrix
            Bounds of every value; ``uncertainty.tight`` states whether both are attained.

        Examples
        --------
        >>> scores = evaluate({"q": {"a": 1}}, {"q": {"x": 2.0, "a": 1.0}}, "RR", unjudged="bounds")
        >>> [matrix.values.tolist() for matrix in scores.bounds("RR")]
        [[[0.5]], [[1.0]]]
        """
        ranges = self.uncertainty
        if ranges is None or ranges.lowest is None or ranges.highest is None:
            raise SettingsError("these scores have no bounds", hint='evaluate with unjudged="bounds"')
        index, matrix = self._index(measure), self.matrix(measure)
        return replace(matrix, values=ranges.lowest[index]), replace(matrix, values=ranges.highest[index])

    def mean(self, measure: str | Measure) -> npt.NDArray[np.float64]:
        """Return the mean of each run over topics (or the sum or geometric mean, if the measure declares it)."""
        index = self._index(measure)
        return self.measures[index].means(self.values[index], self.weights)

    def means(self) -> dict[str, MeasureValues]:
        """Return ``{run: {name of a measure: mean}}``; means omit topics with undefined values."""
        columns = zip(*(self.mean(measure).tolist() for measure in self.measures), strict=True)
        return {run: MeasureValues(self.measures, v) for run, v in zip(self.runs, columns, strict=True)}

    def per_topic(self) -> dict[str, dict[Any, MeasureValues]]:
        """Return ``{run: {topic: {name of a measure: value}}}``."""
        by_run = np.moveaxis(self.values, 0, 2).tolist()
        return {
            run: {t: MeasureValues(self.measures, v) for t, v in zip(self.topics, by_topic, strict=True)}
            for run, by_topic in zip(self.runs, by_run, strict=True)
        }

    def with_topics(self, topics: str | Iterable[Any]) -> Scores:
        """Return the scores of some of the topics: a list, or a text such as ``351,401-410``."""
        from rankscope.read.topics import select_topics

        texts = [key_text(topic, "topic") for topic in self.topics]
        named = topics if isinstance(topics, str) else [key_text(topic, "topic") for topic in topics]
        selected = frozenset(select_topics(named, texts, "was not evaluated"))
        kept = [t for t, text in enumerate(texts) if text in selected]
        names = tuple(self.topics[t] for t in kept)
        settings = {**self.settings, "chosen_topics": [*map(id_cell, names)]}
        return replace(
            self, topics=names, values=self.values[:, :, kept], settings=settings, judged=None,
            uncertainty=None if self.uncertainty is None else self.uncertainty.with_topics(kept),
            weights=None if self.weights is None else self.weights[kept],
        )  # fmt: skip

    def with_topic_data(self, topic_data: Any = None, weights: NamedWeights = None) -> Scores:
        """Return the scores with attributes and weights of their topics.

        Parameters
        ----------
        topic_data
            Attributes of topics: a file, a frame or a dict of dicts.
        weights
            Weights of topics: a column of the attributes, or a mapping; None for equal weights.

        Examples
        --------
        >>> scores = evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": ["a"], "q2": ["x", "b"]}, "RR")
        >>> scores.with_topic_data(weights={"q1": 3, "q2": 1}).means()
        {'run': {'RR': 0.875}}
        """
        from rankscope.read.topic_data import read_topic_data, topic_weights

        data = {} if topic_data is None else read_topic_data(topic_data)
        settings = dict(self.settings)
        if isinstance(topic_data, str | Path):
            settings["topic_data"] = str(topic_data)
        if weights is None:
            return replace(self, topic_data=data, settings=settings)
        texts = [key_text(topic, "topic") for topic in self.topics]
        numbers = np.array(topic_weights(weights, data, texts))
        is_stored = isinstance(weights, str) and "topic_data" in settings
        settings["weights"] = weights if is_stored else dict(zip(texts, numbers.tolist(), strict=True))
        if len(numbers):
            settings["effective_topics"] = float(numbers.sum() ** 2 / np.square(numbers).sum())
        # Equal weights are no weights, bit for bit.
        varying = numbers if len(numbers) and (numbers != numbers[0]).any() else None
        return replace(self, topic_data=data, weights=varying, settings=settings)

    def by(self, attribute: str) -> dict[str, Scores]:
        """Return the scores of each slice of topics, by the value of an attribute or by quantile bins of a number.

        Parameters
        ----------
        attribute
            Column of ``topic_data`` (``lang``), with the number of quantile bins of a number or date (``length:4``).
            Without a column of that name: ``recall_base``, ``judged`` (number of judged documents) or ``difficulty``
            (mean of the first measure over runs).

        Examples
        --------
        >>> scores = evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": ["a"], "q2": ["x", "b"]}, "RR")
        >>> slices = scores.with_topic_data({"q1": {"lang": "en"}, "q2": {"lang": "it"}}).by("lang")
        >>> {name: part.mean("RR").tolist() for name, part in slices.items()}
        {'en': [1.0], 'it': [0.5]}
        """
        from rankscope.read.topic_data import slice_topics

        name, colon, count = attribute.rpartition(":")
        name = name if colon and count.isdecimal() and int(count) else attribute
        bins = None if name == attribute else int(count)
        slices = slice_topics(self._attribute(name), bins, name)
        return {label: self.with_topics([self.topics[t] for t in topics]) for label, topics in slices.items()}

    def _attribute(self, name: str) -> Sequence[Any]:
        """Return the value of an attribute for each topic, from the table or derived."""
        from rankscope.read.topic_data import attribute_values

        is_column = any(name in row for row in self.topic_data.values())
        if name == "difficulty" and not is_column:
            columns = [column[~np.isnan(column)] for column in self.values[0].T]
            return [float(column.mean()) if len(column) else None for column in columns]
        if name in ("recall_base", "judged") and not is_column:
            pool = self.require_judged(f"the attribute {name}").pool
            return [*map(int, pool.count(pool.grade >= (1 if name == "recall_base" else 0)))]
        return attribute_values(self.topic_data, name, [key_text(topic, "topic") for topic in self.topics])

    def with_measures(self, measures: Measures) -> Scores:
        """Return the scores of some of the measures."""
        selected = measures if isinstance(measures, list | tuple) else parse_many(measures)
        kept = [self._index(measure) for measure in selected]
        settings = {**self.settings, "measures": [str(self.measures[m]) for m in kept]}
        return replace(
            self, measures=tuple(self.measures[m] for m in kept), values=self.values[kept], settings=settings,
            uncertainty=None if self.uncertainty is None else self.uncertainty.with_measures(kept),
        )  # fmt: skip

    def best_first(self, measure: str | Measure | None = None) -> list[int]:
        """Return the indices of the runs by their means, best first and undefined last.

        The default measure is the first one with a direction.
        """
        directed = (m for m in self.measures if m.better != "neither")
        by = next(directed, self.measures[0]) if measure is None else self.measures[self._index(measure)]
        return by.best_first(self.mean(by))

    # tables -------------------------------------------------------------------------------------------------------

    @property
    def tables(self) -> Mapping[str, Table]:
        """Tables ``means`` and ``topics`` in long form, with one value per row."""
        return Tables({"means": self.means_table, "topics": self.topics_table})

    @property
    def main(self) -> Sequence[str]:
        """Name of the table of values per topic."""
        return ("topics",)

    @property
    def display(self) -> Sequence[Table]:
        """Table of means with a row per run and a column per measure."""
        return (self.wide(),)

    @classmethod
    def row_types(cls) -> dict[str, type[Row]]:
        return {"means": MeanRow, "topics": TopicRow}

    def means_table(self) -> Table:
        """Return the means with a row per run and measure."""
        rows = []
        more = self.uncertainty or Uncertainty()
        defined = (~np.isnan(self.values)).sum(axis=2)
        for r, (run, means) in enumerate(self.means().items()):
            rows += [
                (run, str(m), means[str(m)], int(defined[i, r]), *more.for_mean(m, i, r, self.weights))
                for i, m in enumerate(self.measures)
            ]
        return Table("means", (*MeanRow.specs, *more.columns), rows)

    def topics_table(self, *, means: bool = False) -> Table:
        """Return the values with a row per run, topic and measure, without topics that a run was not evaluated on.

        With ``means``, rows of the topic ``all`` with the means follow the topics of each run.
        """
        run, topic = (index.astype(np.int32) for index in np.nonzero(~self._skipped()))
        values = self.values[:, run, topic]
        all_topics = ["all"] * means
        if means:
            runs = np.arange(len(self.runs), dtype=np.int32)
            order = np.argsort(np.concatenate([run, runs]), kind="stable")
            run = np.concatenate([run, runs])[order]
            topic = np.concatenate([topic, np.full_like(runs, len(self.topics))])[order]
            of_runs = np.array([self.mean(measure) for measure in self.measures])
            values = np.concatenate([values, of_runs], axis=1)[:, order]
        more = self.uncertainty or Uncertainty()
        count = len(self.measures)
        measure = np.tile(np.arange(count, dtype=np.int16), len(run))
        return Table.from_columns(
            "topics",
            {
                "run": CategoricalColumn(self.runs, np.repeat(run, count)),
                "topic": CategoricalColumn(
                    [*map(id_cell, self.topics), *all_topics], np.repeat(topic, count)
                ),
                "measure": CategoricalColumn([str(m) for m in self.measures], measure),
                "value": values.T.ravel(),
                **more.table_columns(self.measures, run, topic, self.weights),
            },
        )

    def _skipped(self) -> npt.NDArray[np.bool_]:
        if self.settings.get("missing") != "skip":
            return np.zeros((len(self.runs), len(self.topics)), np.bool_)
        if self.judged is None:
            return np.asarray(np.isnan(self.values).all(axis=0))
        return self.judged.grid(~self.judged.present)

    def wide(self, order: Sequence[int] | None = None, *, digits: int = 4) -> Table:
        """Return the means with a row per run and a column per measure, best run first or in a given ``order``."""
        more = self.uncertainty or Uncertainty()
        shown_columns = [name for name in ("error", "lowest", "highest") if name in more.columns]
        if "error" in shown_columns and not np.any(more.error):
            shown_columns.remove("error")  # All values are exact.
        means = list(self.means().values())
        rows: list[tuple[Cell, ...]] = []
        for r in self.best_first() if order is None else order:
            cells: list[Cell] = [self.runs[r]]
            for i, (measure, value) in enumerate(zip(self.measures, means[r].values(), strict=True)):
                extra = dict(zip(more.columns, more.for_mean(measure, i, r, self.weights), strict=True))
                cells += [value, *(extra[name] for name in shown_columns)]
            rows.append(tuple(cells))
        names = [name for m in self.measures for name in (str(m), *(f"{m} {more}" for more in shown_columns))]
        best = {str(m): m.sign for m in self.measures}
        topics = "1 topic" if len(self.topics) == 1 else f"{len(self.topics):,} topics"
        if self.weights is not None:
            topics += f", weighted (as many as {self.settings['effective_topics']:.1f})"
        shown = self._digits(digits)
        vacuous = f"bounds are {self.settings['bounds']}" if "bounds" in self.settings else ""
        caption = f"Means over {topics}"
        return Table("means", ("run", *names), rows, shown, best, caption=caption, legend=vacuous)

    def _digits(self, digits: int) -> dict[str, int]:
        """Return the number of decimals of each measure: 0 for counts."""
        return {str(measure): 0 if measure.summary == "sum" else digits for measure in self.measures}

    def wide_topics(self) -> Table:
        """Return the values with a row per topic and a column per measure, run after run.

        >>> scores = evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": ["a"], "q2": ["a", "b"]}, "AP P@1")
        >>> print(scores.wide_topics().text())
        topic      AP     P@1
        ─────────────────────
        q1     1.0000  1.0000
        q2     0.5000  0.0000
        """
        skipped, single = self._skipped(), len(self.runs) == 1
        rows: list[tuple[Cell, ...]] = [
            (*(() if single else (run,)), id_cell(topic), *self.values[:, r, t].tolist())
            for r, run in enumerate(self.runs)
            for t, topic in enumerate(self.topics)
            if not skipped[r, t]
        ]
        names = tuple(str(measure) for measure in self.measures)
        caption = f"Every topic of {self.runs[0]}" if single else "Every topic of every run"
        columns = (*(() if single else ("run",)), "topic", *names)
        return Table("topics", columns, rows, self._digits(4), caption=caption)

    def explore(self) -> Any:
        """Return the explorer for a notebook."""
        from rankscope.explorer import notebook

        return notebook(self)


class Collection(TransientCacheMixin):
    """Judgments and runs, with the options of reading and evaluating them for all analyses.

    Parameters
    ----------
    qrels
        Judgments: a path, a dict, a frame or :class:`Qrels`; None for analyses that need none.
    runs
        Runs: paths, directories, patterns, dicts, frames, or the result of :func:`read_runs`.
    order
        Order of a ranking: trec_eval (score, ties by document id), trec_eval9 (the same with 32-bit scores),
        ascending_id (score, ties by ascending document id), rank or file; None keeps the order of runs that were read
        before, and reads others as trec_eval does.
    missing
        Judged topics that a run lacks: zero evaluates an empty ranking, skip leaves the topic out of its means.
    ties
        Value for tied documents: in the order of document ids (break), the mean over all orders (expected), or in the
        best or the worst order.
    unjudged
        Retrieved documents without a judgment: nonrelevant, removed from the ranking (condense), or of any grade
        (bounds), which gives every value a range.
    topics
        Judged topics to keep, such as 351,401-410, a file or a list; all unless set.
    grades
        Grades to merge, such as 0,1=0;2=1;3,4=2, or numbers to bin, such as 0-0.2=0;0.2-1=1.
    input_format
        Formats of the files (``{"qrels": ..., "runs": ...}``), if they are not the detected ones.
    columns
        Names of the columns of tables, such as topic=query,doc=item_id,grade=label, or a dict, if they are unusual.
    topic_data
        Attributes of topics: a file (CSV, TSV, JSON lines), a frame or a dict of dicts.
    weights
        Weights of topics, positive numbers: a column of ``topic_data``, or a mapping; equal unless set.
    seed
        Seed of orders of tied documents that are sampled.
    jobs
        Number of workers; None or 0 for all cores.
    engine
        Where the work runs: nothing (this machine), an executor, a Dask client, a Spark session, or the name of one.

    Examples
    --------
    >>> collection = Collection({"q1": {"d1": 1}}, {"bm25": {"q1": {"d2": 2.0, "d1": 1.0}}})
    >>> collection, collection.evaluate("AP").means()
    (<Collection: 1 runs, 1 judged topics>, {'bm25': {'AP': 0.5}})
    """

    def __init__(
        self,
        qrels: Qrels | Mapping[str, Mapping[str, int]] | str | Path | Any,
        runs: Any,
        *,
        order: str | None = None,
        missing: str = "zero",
        ties: str = "break",
        unjudged: str = "nonrelevant",
        topics: str | Sequence[str] | None = None,
        grades: str | None = None,
        input_format: Mapping[str, str] | None = None,
        columns: str | Mapping[str, str] | None = None,
        topic_data: Any = None,
        weights: NamedWeights = None,
        seed: int = 1,
        jobs: int | None = None,
        engine: Any = None,
    ) -> None:
        check_missing(missing)
        self.order, self.missing, self.topics, self.jobs, self.engine = order, missing, topics, jobs, engine
        self.options = validate_options(ties, unjudged, seed)
        self.grades, self.input_format = grades, input_format
        self.topic_data, self.weights = topic_data, weights
        paths = [qrels, *(runs if isinstance(runs, list | tuple) else [runs])]
        self.paths = paths if all(isinstance(path, str | Path) for path in paths) else None
        self._qrels: Qrels | None = None
        if qrels is None:
            self.runs = as_runs(runs, order, (input_format or {}).get("runs"))
        else:
            self._qrels, self.runs = open_collection(
                qrels, runs, order=order, grades=grades, topics=topics, input_format=input_format, columns=columns,
                gains=True,
            )  # fmt: skip

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "engine": None}  # Clients and executors cannot be pickled.

    def __repr__(self) -> str:
        judged = "no judgments" if self._qrels is None else f"{len(self._qrels.topics)} judged topics"
        return f"<Collection: {len(self.runs)} runs, {judged}>"

    @property
    def ties(self) -> str:
        """Option for tied documents."""
        return self.options.ties

    @property
    def unjudged(self) -> str:
        """Option for unjudged documents."""
        return self.options.unjudged

    @property
    def has_qrels(self) -> bool:
        """Whether there are judgments."""
        return self._qrels is not None

    @property
    def qrels(self) -> Qrels:
        """Judgments, whose grades are whole numbers."""
        return self.opened.qrels.require_grades()

    @property
    def opened(self) -> Inputs:
        """Judgments, perhaps with gains, and runs."""
        if self._qrels is None:
            raise InputError("the collection has no judgments", hint="name a file of judgments (qrels)")
        return Inputs(self._qrels, self.runs)

    @property
    def judged(self) -> Judged:
        """Judged rankings; files are read on first use."""
        self.opened.qrels.require_grades()
        return self._judged

    @cached_property
    def _judged(self) -> Judged:
        if self.engine is None and self.jobs is None:
            return judge_with_options(*self.opened, self.options)
        with using(self.engine, self.jobs):
            return judge_with_options(*self.opened, self.options, jobs=self.jobs)

    @property
    def inputs(self) -> Inputs:
        """Judgments, whose grades are whole numbers, and runs."""
        return Inputs(self.qrels, self.runs)

    @property
    def settings(self) -> dict[str, Any]:
        """Options of reading, for the settings of results."""
        return self.opened.settings

    def for_measures(self, measures: Iterable[Measure]) -> Collection:
        """Return the collection with aspects of its judgments if one of the measures needs them."""
        undecided = self._qrels is not None and self._qrels.subtopics is not None
        return self._with_aspects if undecided and needs_aspects(measures) else self

    @cached_property
    def _with_aspects(self) -> Collection:
        qrels = self.opened.qrels.with_aspects()
        judged = {"_judged": replace(self._judged, qrels=qrels)} if "_judged" in vars(self) else {}
        return self._copy(_qrels=qrels, **judged)  # Ranks and judgments stay the same.

    def with_qrels(self, qrels: Qrels) -> Collection:
        """Return the same collection with other judgments."""
        return self._copy(_qrels=qrels)

    def with_runs(self, runs: Runs) -> Collection:
        """Return the same collection with other runs."""
        return self._copy(runs=runs)

    def reordered(self, order: str) -> Collection:
        """Return the collection with its runs in another order."""
        return self if self.runs.order == order else self._copy(order=order, runs=self.runs.with_order(order))

    def with_options(self, **changes: Any) -> Collection:
        """Return the collection with other evaluation options: ``ties``, ``unjudged``, ``seed``."""
        options = replace(self.options, **changes)
        return self if options == self.options else self._copy(options=options)

    def with_tie_groups(self) -> Collection:
        """Return the collection with judged rankings that include groups of tied documents."""
        if self.options.settings:  # Other options read what they need.
            return self
        return self._copy(_judged=judge(*self.opened, ties=True, jobs=self.jobs))

    def _copy(self, **changed: Any) -> Collection:
        other = object.__new__(Collection)
        vars(other).update(super().__getstate__(), **changed)
        return other

    def describe(self, name: str = "collection") -> Description:
        """Return the features of the collection: topics, runs, judgments, and the depth of its pool.

        Parameters
        ----------
        name
            Name of the collection.

        Examples
        --------
        >>> collection = Collection({"q": {"a": 1, "b": 0}}, {"r": {"q": ["a", "b", "x"]}})
        >>> {row.feature: row.value for row in collection.describe().features}["Pool depth (half of the runs)"]
        2
        """
        from rankscope.judging.description import describe

        self.check_options("describe", ("order", "missing"))
        return describe(self.judged, name, self.settings)

    def coverage(self, topic: str | None = None) -> Coverage:
        """Return the share of aspects that the first k documents cover (StRec@k), and the first rank of each aspect.

        Parameters
        ----------
        topic
            Topic whose aspects to list; all topics by default.

        Examples
        --------
        >>> qrels = {"q": {"a": {"1": 1}, "b": {"2": 1}}}
        >>> collection = Collection(qrels, {"good": {"q": ["a", "b"]}, "poor": {"q": ["x", "y", "b"]}})
        >>> [tuple(row) for row in collection.coverage().coverage]
        [('good', 1, 0.5), ('good', 2, 1.0), ('poor', 1, 0.0), ('poor', 3, 0.5)]
        """
        from rankscope.judging.coverage import compute_coverage

        self.check_options("coverage", ("order", "missing"))
        decided = self.for_measures([parse("StRec")])
        return compute_coverage(decided.judged, topic, self.missing, decided.settings)

    def check_options(self, name: str, uses: Container[str]) -> None:
        """Raise an error if the collection has an option that the function ``name`` does not honour."""
        for option, default in COLLECTION_OPTIONS.items():
            value = getattr(self, option)
            honoured = value if value == "bounds" else option
            if honoured not in uses and value != default:
                shown = value if isinstance(value, str) else {}
                hint = f"leave {option} out of the collection"
                raise SettingsError(f"{name} does not honour {option}={shown!r}", hint=hint)

    def attach_topic_data(self, scores: Scores) -> Scores:
        """Return scores with the attributes and weights of topics of this collection."""
        return scores.with_topic_data(self.topic_data, self.weights)

    def evaluate(self, measures: Measures = DEFAULT_MEASURES) -> Scores:
        """Return the value of every measure for every run and topic.

        Parameters
        ----------
        measures
            Measures or their names, such as ``["AP", rs.nDCG @ 10]`` or ``"AP nDCG@10"``.
        """
        return self.evaluate_parsed(require_measures(measures))

    def evaluate_parsed(self, measures: tuple[Measure, ...]) -> Scores:
        """Return the value of every measure for every run and topic, of measures that were parsed before."""
        collection = self.for_measures(measures)
        return score(collection._judged, measures, missing=self.missing, collection=collection)


def evaluate(
    qrels: Qrels | Mapping[str, Mapping[str, int]] | str | Path | Any,
    runs: Any,
    measures: Measures = DEFAULT_MEASURES,
    *,
    order: str | None = None,
    missing: str = "zero",
    ties: str = "break",
    unjudged: str = "nonrelevant",
    topic_data: Any = None,
    weights: NamedWeights = None,
    seed: int = 1,
    jobs: int | None = None,
    engine: Any = None,
    columns: str | Mapping[str, str] | None = None,
) -> Scores:
    """Evaluate runs: the value of every measure for every run and topic.

    The same as ``Collection(qrels, runs, ...).evaluate(measures)``: see :class:`Collection` for the accepted
    judgments, runs and options.

    Parameters
    ----------
    qrels
        Judgments: a path, a dict {topic: {document: grade}}, a data frame, or :class:`Qrels`.
    runs
        Runs: paths, directories, patterns, {name: run}, data frames, or :class:`Runs`.
    measures
        Measures, by name or value; a text may name several, separated by spaces.
    order, missing, ties, unjudged, topic_data, weights, seed
        As for :class:`Collection`.
    jobs
        Number of workers (default: all cores).
    engine
        Engine that runs the work: an executor, a Dask client, a Spark session, or the name of an engine
        (default: the cores of this machine).
    columns
        Names of the columns of tables, as for :class:`Collection`.

    Returns
    -------
    Scores
        Values of every measure for every run and topic, with means and exports.

    Examples
    --------
    >>> evaluate({"q1": {"d1": 1}}, {"a": {"q1": {"d1": 1.0}}, "b": {"q1": {"d2": 1.0}}}, "AP").mean("AP").tolist()
    [1.0, 0.0]
    """
    opened = Collection(
        qrels, runs, order=order, missing=missing, ties=ties, unjudged=unjudged, topic_data=topic_data, weights=weights,
        seed=seed, jobs=jobs, engine=engine, columns=columns,
    )  # fmt: skip
    return opened.evaluate(measures)


def score(
    judged: Judged,
    measures: Sequence[Measure],
    *,
    missing: str = "zero",
    settings: Mapping[str, Any] | None = None,
    collection: Collection | None = None,
) -> Scores:
    """Return the values of measures for judged rankings, with the settings of their collection if there is one."""
    check_missing(missing)
    values, uncertainty = compute_values(judged, measures, missing)
    recorded = {
        "measures": [str(m) for m in measures],
        "missing": missing,
        **judged.options.settings,
        **({} if judged.options.unjudged != "bounds" or has_nonrelevant(judged) else {"bounds": VACUOUS}),
        **(settings or (collection.settings if collection else {})),
    }
    ids = judged.qrels.topic_ids
    topics = tuple(ids.get(topic, topic) for topic in judged.topics) if ids else judged.topics
    lists = judged if judged.qrels.gains is None else None  # Analyses of rankings compare grades.
    scores = Scores(judged.runs, topics, tuple(measures), values, recorded, lists, uncertainty, collection)
    return scores if collection is None else collection.attach_topic_data(scores)


def require_measures(measures: Measures) -> tuple[Measure, ...]:
    """Return the measures to evaluate; reject an empty list."""
    parsed = tuple(parse_many(measures))
    if not parsed:
        raise SettingsError("there is no measure to evaluate", hint="name at least one, such as AP")
    return parsed


def check_missing(missing: str) -> None:
    """Reject an unknown option for missing topics."""
    check_name(missing, MISSING, f"missing={missing!r}")


def as_scores(scores: Scores | ScoreMatrix) -> Scores:
    """Return scores unchanged, or convert a matrix to scores of one measure.

    >>> matrix = evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.9}}, ["AP", "RR"]).matrix("RR")
    >>> as_scores(matrix).means()
    {'run': {'RR': 1.0}}
    """
    if not isinstance(scores, ScoreMatrix):
        return scores
    settings = {"measures": [str(scores.measure)]}
    values = scores.values[np.newaxis]
    return Scores(scores.runs, scores.topics, (scores.measure,), values, settings, weights=scores.weights)


def read_scores(*sources: Any, missing: str = "zero") -> Scores:
    """Read scores from files and frames of many formats (see :mod:`~.read.scores`).

    A table with a row per run and topic, or of one run with a row per topic, may have a column per measure. A table
    with a row per topic and a column per system has one measure, named by the key of a mapping (``{"AP":
    "trec5_ap.csv"}``) or by the file; unknown names denote external measures. A table with a row per run, topic and
    measure, as ``rankscope eval -q -f csv`` writes it, and output of ``trec_eval -q`` name their measures; a key
    selects one of them. Files with the same measure of other runs (``trec_eval -q`` once for each run) are joined. All
    measures must have the same systems and topics. Assignments of nuggets, as JSON lines of the TREC RAG track, become
    the measures strict_vital, vital, strict_all and all.

    Parameters
    ----------
    *sources
        Files or frames of scores, or mappings from measures to them.
    missing
        Value of a topic without (vital) nuggets: zero, as in the script of the track, or skip.

    Returns
    -------
    Scores
        Values only: analyses that need rankings reject them.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "ap.csv").write_text("topic,bm25,dense\\n351,0.25,0.5\\n352,0.75,0.5\\n")
    ...     scores = read_scores({"AP": Path(folder, "ap.csv")})
    >>> scores, scores.mean("AP").tolist()
    (<Scores: 2 runs x 2 topics x 1 measures>, [0.5, 0.5])
    >>> read_scores({"name": ["a", "b"], "qid": ["1", "1"], "measure": ["map", "map"], "value": [0.5, 0.25]}).means()
    {'a': {'map': 0.5}, 'b': {'map': 0.25}}
    """
    check_name(missing, MISSING, f"missing={missing!r} is not a choice")
    named: dict[Measure, ScoreTable] = {}
    for source in sources:
        for name, path in (source if _is_keyed_by_measure(source) else {"": source}).items():
            for measure, table in _tables(path, name, missing).items():
                named[measure] = _join(named[measure], table, measure) if measure in named else table
    if not named:
        raise SettingsError("there is no file of scores", hint="name a CSV file")
    first, *others = named.values()
    for other in others:
        for labels in ("runs", "topics"):
            if getattr(other, labels) != getattr(first, labels):
                problem = f"its {'systems' if labels == 'runs' else labels} are not those of {first.path}"
                hint = "give matrices of the same systems and topics in the same order"
                raise InputError(problem, path=other.path, hint=hint)
    settings = {"measures": [str(m) for m in named], "scores": list(first.paths)}
    if len(named) > 1 and not all(table.paths == first.paths for table in others):
        settings["scores"] = [path for table in named.values() for path in table.paths]
    values = np.array([table.values for table in named.values()])
    return Scores(first.runs, first.topics, tuple(named), values, settings)


def _is_keyed_by_measure(source: Any) -> bool:
    """Return whether a source is a mapping of measures to files or frames, and not a table of columns."""
    return isinstance(source, Mapping) and all(
        isinstance(value, str | Path) or not isinstance(value, Sequence) for value in source.values()
    )


def _join(first: ScoreTable, other: ScoreTable, measure: Measure) -> ScoreTable:
    """Return the runs of two tables of a measure; topics that a table lacks are undefined for its runs."""
    if set(first.runs) & set(other.runs):
        raise InputError(f"two files hold {measure}", path=other.path, hint="name one of them otherwise")
    topics = tuple(dict.fromkeys((*first.topics, *other.topics)))
    column = {topic: t for t, topic in enumerate(topics)}
    values = np.full((len(first.runs) + len(other.runs), len(topics)), np.nan)
    values[: len(first.runs), [column[topic] for topic in first.topics]] = first.values
    values[len(first.runs) :, [column[topic] for topic in other.topics]] = other.values
    return type(first)(first.path, (*first.runs, *other.runs), topics, values, (*first.more, *other.paths))


def _tables(source: Any, name: str, missing: str) -> dict[Measure, ScoreTable]:
    """Return the matrices of a file by measure: the named one, or all; a matrix without a name has that of the file."""
    from rankscope.read.scores import read_score_tables

    tables = read_score_tables(source, is_measure=_names_measure, missing=missing)
    if list(tables) == [""] and not name and all(map(_names_measure, tables[""].runs)):
        table, run = tables[""], (_stem(source) if isinstance(source, str | Path) else "run",)
        # One run, with a column per measure.
        return {
            external_measure(text, others=True): replace(table, runs=run, values=table.values[[index]])
            for index, text in enumerate(table.runs)
        }
    if list(tables) == [""]:
        return {external_measure(name, others=True) if name else external_measure(_stem(source)): tables[""]}
    by_measure = {external_measure(text, others=True): table for text, table in tables.items()}
    if not name:
        return by_measure
    selected = external_measure(name, others=True)
    if selected not in by_measure:
        hint = suggest_names(name, tables) or f"there are {', '.join(tables)}"
        raise InputError(f"it holds no {name}", path=next(iter(tables.values())).path, hint=hint)
    return {selected: by_measure[selected]}


def _names_measure(text: str) -> bool:
    return not isinstance(external_measure(text, others=True), ExternalMeasure)


def _stem(source: Any) -> str:
    is_path = isinstance(source, str | Path)
    return Path(source).name.removesuffix(".gz").removesuffix(".csv") or str(source) if is_path else "score"
