"""Is a run no worse than a baseline? Non-inferiority within a margin, the question of continuous integration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING, Annotated

from rankscope.analysis import stats
from rankscope.analysis.compare import check_margin
from rankscope.analysis.slices import Interaction, SliceDifference, compare_slices, divide, slice_tables
from rankscope.choices import VALUE_OPTIONS
from rankscope.declaration import AttributeName, Level, Option, analysis, check_run, list_names
from rankscope.errors import InputError, MeasureError, SettingsError, suggest_names
from rankscope.lazy import numpy as np
from rankscope.read.ids import id_cell
from rankscope.result import TypedResult, table
from rankscope.rows import MeasuredRunRow, RowTable, column
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.arrays import Bools, Floats
    from rankscope.measures import Measure
    from rankscope.scores import ScoreMatrix, Scores


_TARGET = 0.8  # Probability of passing that a plan aims at, for a system that is as good as the baseline.
_MAX_TOPICS = 2**30  # No collection has more topics; a plan that needs them is useless.


Baseline = Annotated["Scores | ScoreMatrix | str", Option("FILE")]


def parse_margins(text: str) -> float | dict[str, float]:
    """Parse the margin of all measures, or one for each as M=D between commas.

    >>> parse_margins("0.01"), parse_margins("RBP(p=0.5)=0.01,AP=0.02")
    (0.01, {'RBP(p=0.5)': 0.01, 'AP': 0.02})
    """
    from argparse import ArgumentTypeError

    try:
        if "=" not in text:
            return float(text)
        parts = [part.rpartition("=") for part in text.split(",")]
        pairs = [(name.strip(), float(number)) for name, _, number in parts]
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a margin such as 0.005 or AP=0.01,RR=0.02") from None
    names = [name for name, _ in pairs]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise ArgumentTypeError(f"{text!r} names {repeated[0]!r} twice; give each measure one margin")
    return dict(pairs)


class Check(MeasuredRunRow):
    """Test that a run is no worse than the baseline by a measure."""

    value: float = column("mean of the run")
    baseline: float = column("mean of the baseline")
    difference: float = column("difference of the means, positive where the run is better than the baseline")
    lower: float = column("lower end of the one-sided interval of the difference")
    margin: float = column("largest accepted loss against the baseline")
    passed: bool = column("whether the lower end is above minus the margin")
    topics: int = column()
    pass_probability: float = column("probability that a run exactly as good as the baseline passes")
    margin_80: float = column("margin with which that probability is 80 %")
    topics_80: int | None = column(
        "number of topics with which that probability is 80 %, with the same margin"
    )


class LostTopic(MeasuredRunRow):
    """A topic on which a run is worse than the baseline."""

    topic: str = column()
    value: float = column("value of the run")
    baseline: float = column("value of the baseline")
    difference: float = column("difference of the values, negative where the run is worse")


class Gate(TypedResult):
    """Tests that runs are no worse than a baseline."""

    gate: RowTable[Check] = table("every run and measure")
    topics: RowTable[LostTopic] = table("topics with the largest losses", main=False)
    interactions: RowTable[Interaction] | None = table("tests of interaction with slices", default=None)
    slices: RowTable[SliceDifference] | None = table("differences in merit by slice", default=None)

    shown = ("gate", "topics", "interactions", "slices")

    @property
    def passed(self) -> bool:
        """Whether every run is no worse than the baseline by more than the margin, in every measure."""
        return all(check.passed for check in self.gate)

    def report(self) -> str:
        """Return the verdict, the numbers and the topics with the largest losses, in Markdown for a pull request."""
        checks = list(self.gate)
        failed = {(check.run, check.measure) for check in checks if not check.passed}
        level = f"{100 * (1 - self.settings['alpha']):g} %"
        verdict = f"{len(failed)} of {len(checks)} checks failed" if failed else "no worse than the baseline"
        left_out = self.settings["left_out_topics"]
        parts = [
            f"## Retrieval: {verdict}\n",
            self.gate.markdown(),
            "The test is for non-inferiority within the margin: a check passes if the lower end of the one-sided"
            f" {level} interval of the difference is above -margin, or if the runs are identical. A failed check does"
            f" not show that the run is worse.{f' {_describe_left_out(left_out)}' if left_out else ''}\n",
            *dict.fromkeys(map(_describe_plan, checks)),
            "",
        ]
        if failed and len(self.topics):
            lost = [row for row in self.topics if (row.run, row.measure) in failed]
            parts += ["Topics with the largest losses:\n", LostTopic.table("topics", lost).markdown()]
        for extra in (self.interactions, self.slices):
            parts += [] if extra is None else [f"{extra.caption}:\n", extra.markdown()]
        return "\n".join(parts)


@analysis(uses=(*VALUE_OPTIONS, "weights"), measures=("nDCG@10",))
def gate(
    scores: Scores,
    baseline: Baseline,
    *,
    margin: Annotated[float | Mapping[str, float], Option("D", parse=parse_margins)] = 0.005,
    alpha: Level = 0.05,
    worst: Annotated[int, Option("N")] = 5,
    by: AttributeName | Sequence[AttributeName] = (),
) -> Gate:
    """Test that runs are no worse than a baseline by more than a margin (non-inferiority).

    The command exits with 1 unless all checks pass. A check passes if the lower end of the one-sided (1 - alpha)
    Student interval of the mean difference is above -margin, measure by measure; identical runs pass. A failed check
    does not show that the run is worse: the result states the probability with which a system exactly as good as the
    baseline passes (noncentral t, if its differences are normal and vary as these do), and the margin and the number
    of topics that make it 80 %. All checks must pass. This intersection-union test needs no correction for multiple
    tests: a run that is worse by more than a margin passes with probability at most alpha (Berger 1982). Differences
    are positive if the run is better, even for measures whose lower values are better.

    Topics that only the run or only the baseline has are left out, and listed in the settings. The command prints a
    Markdown report, which lists the topics with the largest losses; -f, or the file name of -o, selects another format.

    Parameters
    ----------
    scores
        Runs to test.
    baseline
        Baseline: a run, or saved scores (a file written by eval -q, or CSV with a row per topic and a column per
        system). If it has several runs, the one with the same name is used. In Python: the name of a run, or scores.
    margin
        Largest acceptable loss: one number for all measures, or M=D,... per measure.
    alpha
        One-sided significance level.
    worst
        Number of topics with the largest losses to list.
    by
        Attribute of topics: also compare each run with the baseline on its slices, such as lang, or length:4 for
        quantile bins of a number; repeatable. Slices do not change whether a check passes.

    Returns
    -------
    Gate
        Tables ``gate`` (one check per run and measure) and ``topics`` (where runs are worse); ``slices`` and
        ``interactions`` with by; ``passed`` is the answer.

    References
    ----------
    Berger 1982.

    Commands
    --------
    rankscope gate qrels.txt new.run --baseline old.run -m nDCG@10 --margin 0.005
    rankscope gate qrels.txt new.run --baseline old.run --topics 301-325
    rankscope gate qrels.txt new.run --baseline old.run --topic-data topics.csv --weights traffic --by lang
    rankscope eval qrels.txt old.run -m "nDCG@10 AP" -q -f csv -o baseline.csv
    rankscope gate qrels.txt new.run --baseline baseline.csv -m "nDCG@10 AP" --margin nDCG@10=0.01,AP=0.02 -o gate.md

    Examples
    --------
    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"a": 1} for i in range(9)}
    >>> before = rs.evaluate(qrels, {"run": {f"q{i}": ["a", "b"] for i in range(9)}}, ["AP"])
    >>> after = rs.evaluate(qrels, {"run": {f"q{i}": ["b", "a"] if i == 3 else ["a"] for i in range(9)}}, ["AP"])
    >>> rs.gate(before, before).passed, rs.gate(after, before).passed
    (True, False)
    >>> rs.gate(after, before).topics[0].topic
    'q3'
    """
    from rankscope.scores import as_scores

    reference = scores if isinstance(baseline, str) else as_scores(baseline)
    stats.check_level(alpha)
    if worst < 0:
        raise SettingsError(f"the {worst} worst topics", hint="give a whole number from 0 on")
    names = [run for run in scores.runs if run != baseline]
    if not names:
        raise InputError("there is no run to compare with the baseline", hint="name another run file")
    margins = _margins(scores.measures, margin)
    checks: list[Check] = []
    lost: list[LostTopic] = []
    unmatched: dict[str, None] = {}
    slices, sliced = divide(scores, by), []
    for run in names:
        for measure in scores.measures:
            other = baseline if isinstance(baseline, str) else _counterpart(run, reference)
            is_common, values, before, left_out = _matched(scores, run, reference, other, measure)
            topics = [topic for topic, kept in zip(scores.topics, is_common.tolist(), strict=True) if kept]
            weights = None if scores.weights is None else scores.weights[is_common]
            unmatched |= dict.fromkeys(left_out)
            difference = measure.merit(values) - measure.merit(before)
            lower = stats.lower_limit(difference, alpha, weights)
            name, accepted = str(measure), margins[measure]
            linear = [stats.linearise(row[None, :], weights)[0] for row in (values, before, difference)]
            value, reference_value, mean = (float(row.mean()) for row in linear)
            passed = bool(lower > -accepted) or not difference.any()
            plan = pass_plan(float(linear[2].std(ddof=1)), len(topics), accepted, alpha)
            checks.append(
                Check(run, name, value, reference_value, mean, lower, accepted, passed, len(topics), *plan)
            )
            matrix = stats.CompleteMatrix(measure, difference[None, :], tuple(topics), (), weights)
            if slices:
                sliced.append(compare_slices(matrix, [(run, other)], slices, alpha=alpha))
            lost += [
                LostTopic(run, name, topics[t], float(values[t]), float(before[t]), float(difference[t]))
                for t in np.argsort(difference, kind="stable")[:worst].tolist()
                if difference[t] < 0
            ]
    return Gate(
        gate=Check.table("gate", checks), topics=LostTopic.table("topics", lost),
        **(slice_tables(sliced) if sliced else {}),
        settings={
            **scores.settings, "baseline": baseline if isinstance(baseline, str) else dict(reference.settings),
            "margin": {str(measure): number for measure, number in margins.items()}, "alpha": alpha,
            "left_out_topics": list(unmatched), **({"by": list_names(by)} if by else {}),
        },
    )  # fmt: skip


def pass_plan(spread: float, topics: int, margin: float, alpha: float) -> tuple[float, float, int | None]:
    """Return the chance that an equally good system passes, and the margin and the topics that make it 80 %.

    The lower end is above -margin if t = (mean + margin) / (s / sqrt(n)) is above its 1 - alpha quantile; for true
    differences of mean zero and standard deviation s, t is noncentral with margin sqrt(n) / s. No number of topics is
    enough for a margin of zero.

    >>> probability, wide, many = pass_plan(0.1, 50, 0.02, 0.05)
    >>> round(probability, 3), round(wide, 4), many
    (0.401, 0.0357, 156)
    """
    if spread == 0:
        return 1.0, 0.0, 2
    wide = _needed(topics, alpha) * spread / sqrt(topics)
    probability = _passing(topics, margin * sqrt(topics) / spread, alpha)
    if margin == 0:
        return probability, wide, None
    # The margin in standard deviations that n topics need falls with n: double n, then bisect.
    enough, ratio = 2, margin / spread
    while _needed(enough, alpha) / sqrt(enough) > ratio and enough < _MAX_TOPICS:
        enough *= 2
    low = enough // 2
    while enough - low > 1:
        middle = (low + enough) // 2
        low, enough = (low, middle) if _needed(middle, alpha) / sqrt(middle) <= ratio else (middle, enough)
    return probability, wide, max(2, enough) if enough < _MAX_TOPICS else None


def _passing(topics: int, shift: float, alpha: float) -> float:
    """Return the chance that noncentral t with n - 1 degrees of freedom exceeds the quantile of the central one."""
    from scipy.special import nctdtr, stdtrit

    quantile = float(stdtrit(topics - 1, 1 - alpha))
    # Far above, the noncentral distribution underflows, and the chance is 1 to the last digit.
    return 1.0 if shift > 30 + 2 * abs(quantile) else float(1 - nctdtr(topics - 1, shift, quantile))


@lru_cache(maxsize=1024)
def _needed(topics: int, alpha: float) -> float:
    """Return the noncentrality at which a number of topics passes with a probability of 80 %."""
    low, high = 0.0, 1.0
    while _passing(topics, high, alpha) < _TARGET:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if _passing(topics, middle, alpha) >= _TARGET else (middle, high)
    return high


def _describe_plan(check: Check) -> str:
    """Return a line of a list: the probability of passing, and the margin or number of topics that makes it 80 %."""
    line = (
        f"- {_escape(check.run)}, {_escape(check.measure)}: a system as good as the baseline passes with probability"
        f" {100 * check.pass_probability:.0f} % ({check.topics} topics, this variance)"
    )
    if check.pass_probability >= _TARGET:
        return f"{line}."
    alternative = "" if check.topics_80 is None else f", or {check.topics_80:,} topics with this margin"
    return f"{line}; 80 % takes a margin of {check.margin_80:.4f}{alternative}."


def _margins(measures: Sequence[Measure], margin: float | Mapping[str, float]) -> dict[Measure, float]:
    """Return the margin of each measure; a margin of a measure that is not evaluated is an error."""
    if not isinstance(margin, Mapping):
        named = dict.fromkeys(measures, margin)
    else:
        named = {}
        for name, number in margin.items():
            if (measure := _parse_measure(name)) in named:
                raise SettingsError(f"{name!r} names {measure} again", hint="give each measure one margin")
            named[measure] = number
        for measure in named:
            if measure not in measures:
                raise SettingsError(
                    f"the margin of {measure} has no effect, since {measure} is not evaluated",
                    hint=f"evaluate it, too (-m), or leave out its margin; evaluated: {', '.join(map(str, measures))}",
                )
        for measure in measures:
            if measure not in named:
                hint = "give a number for it, or one for all measures"
                raise SettingsError(f"{measure} has no margin", hint=hint)
    for measure, number in named.items():
        check_margin(number, [measure])
    return {measure: float(named[measure]) for measure in measures}


def _parse_measure(text: str) -> Measure:
    """Parse a measure name; an unknown name denotes an external measure."""
    from rankscope.measures.grammar import external_measure, parse

    try:
        return parse(text)
    except MeasureError:
        return external_measure(text)


def _counterpart(run: str, baseline: Scores) -> str:
    """Return the run of the baseline to compare a run with."""
    if len(baseline.runs) == 1:
        return baseline.runs[0]
    if run not in baseline.runs:
        hint = suggest_names(run, baseline.runs) or f"its runs are called {', '.join(baseline.runs[:3])} ..."
        raise InputError(f"the baseline has {len(baseline.runs)} runs and none is called {run!r}", hint=hint)
    return run


def _matched(
    scores: Scores, run: str, baseline: Scores, other: str, measure: Measure
) -> tuple[Bools, Floats, Floats, list[str]]:
    """Return a mask of the topics on which both runs have a value, these values, and the topics that only one has."""
    check_run(other, baseline.runs)
    values = scores.matrix(measure).values[scores.runs.index(run)]
    before = baseline.matrix(measure).values[baseline.runs.index(other)]
    left_out: list[str] = []
    if scores.topics != baseline.topics:
        position = {str(topic): index for index, topic in enumerate(map(id_cell, baseline.topics))}
        indices = np.array([position.pop(str(topic), -1) for topic in map(id_cell, scores.topics)])
        before = np.where(indices < 0, np.nan, before[indices])
        left_out = list(position)
    is_common = np.isfinite(values) & np.isfinite(before)
    left_out = [*(scores.topics[index] for index in np.flatnonzero(~is_common).tolist()), *left_out]
    if (n_common := int(is_common.sum())) < 2:
        problem = f"the run and the baseline share {n_common} topics on which {measure} is defined"
        raise InputError(problem, hint="evaluate both on the same topics, at least two")
    return is_common, values[is_common], before[is_common], left_out


def _describe_left_out(topics: list[str], max_names: int = 5) -> str:
    """Return a sentence about the topics that were left out."""
    named = ", ".join(map(_escape, topics[:max_names])) + (" ..." if len(topics) > max_names else "")
    return f"Left out, because only one of the two has a value: {len(topics)} topics ({named})."


def _escape(text: str) -> str:
    """Return untrusted text with Markdown escaped."""
    return Table("x", ("x",), [(text,)]).markdown().splitlines()[2].removeprefix("| ").removesuffix(" |")
