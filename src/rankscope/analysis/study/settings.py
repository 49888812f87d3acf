"""Settings of a study: the options of its command, its manifest and its repetition are derived from one class.

This module imports nothing heavy, so that ``rankscope study --help`` starts fast.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from rankscope.choices import DEFAULT_MEASURES, EXPERIMENTS, INTERVAL_LENGTH, PERSISTENCE, RATIOS, Sampling
from rankscope.declaration import Level, MeasureName, Option, Seed
from rankscope.errors import InputError, check_name

if TYPE_CHECKING:
    from rankscope.measures import Measure


PUBLISHED: dict[str, dict[str, Any]] = {
    "twist": {
        "measures": ("AP", "Bpref", "RBP", "nDCG(discount='jk',base=10)", "Twist"),
        "focus": "Twist",
        "top_of": ("pools", "power"),
    }
}
"""Settings of published studies, where they differ from the defaults.

``twist``: Ferro et al. (2016). They use the best three quarters of the runs in the experiments, but all of them in
archetypes and effort/gain planes, and nDCG of Jarvelin and Kekalainen with base 10; its gains 0, 5, 10, ... give the
same values as 0, 1, 2, ...
"""


@dataclass(frozen=True, kw_only=True)
class StudySettings:
    """Settings of a study.

    Parameters
    ----------
    measures
        Measures to study, at least two.
    focus
        Measure under study (default: Twist, or the last one).
    top
        Share of the runs, best by AP, in the correlations and in ``top_of``.
    top_of
        Further experiments that use only the best runs: effort, pools, power, scales and bounds, or all (default:
        none).
    ratios
        Percentages of the judgments that are kept.
    repeats
        Number of samples per ratio.
    sampling
        Strata of the samples.
    pool_depth
        Depth of the shallow pool.
    alpha
        Significance level of the bootstrap test.
    replicates
        Number of replicates of the bootstrap.
    p
        Persistence of RBP in its bounds.
    seed
        Seed of the random numbers.
    intervals
        Show how an interval scale changes the order of the runs and their significant differences, for rankings cut
        at this rank (default: 10); the table is always written.
    name
        Name of the collection (default: the name of the judgments).

    Examples
    --------
    >>> settings = StudySettings(measures="AP nDCG", top_of="power,pools")
    >>> settings.focus_measure, settings.limited_experiments, settings.ratios
    (nDCG, ('pools', 'power'), (90, 70, 50, 30, 10))
    >>> StudySettings.from_published("twist", repeats=1).focus_measure
    Twist
    """

    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES
    focus: MeasureName | None = None
    top: Annotated[float, Option("F")] = 0.75
    top_of: Annotated[str | Sequence[str], Option("E,...")] = ()
    ratios: Annotated[Sequence[float], Option("P,...")] = RATIOS
    repeats: Annotated[int, Option("N")] = 10
    sampling: Sampling = "grade"
    pool_depth: Annotated[int, Option("K")] = 10
    alpha: Level = 0.05
    replicates: Annotated[int, Option("B")] = 1000
    p: Annotated[Sequence[float], Option("P,...")] = PERSISTENCE
    seed: Seed = 1
    intervals: Annotated[int | None, Option("N", bare=INTERVAL_LENGTH)] = None
    name: Annotated[str | None, Option("TEXT")] = None

    def __post_init__(self) -> None:
        # Files write 90 %, not 90.0 %.
        ratios = tuple(int(ratio) if float(ratio).is_integer() else ratio for ratio in self.ratios)
        object.__setattr__(self, "ratios", ratios)

    @classmethod
    def from_published(cls, study: str, **changes: Any) -> StudySettings:
        """Return the settings of a published study (:data:`PUBLISHED`), with some of them changed."""
        check_name(study, PUBLISHED, f"there is no published study {study!r}", listed="there are")
        published = PUBLISHED[study]
        if "measures" in changes:  # Other measures may lack the one that the published study is about.
            published = {key: value for key, value in published.items() if key != "focus"}
        return cls(**{**published, **changes})

    @classmethod
    def from_manifest(cls, settings: Mapping[str, Any]) -> StudySettings:
        """Return the settings that a manifest records."""
        return cls(**{field.name: settings[field.name] for field in fields(cls) if field.name in settings})

    def for_manifest(self) -> dict[str, Any]:
        """Return the settings as a manifest records them: resolved, as JSON values, without those that are None."""
        values: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        values |= {
            "measures": [str(measure) for measure in self.selected_measures],
            "focus": str(self.focus_measure),
            "top_of": list(self.limited_experiments),
            "ratios": list(self.ratios),
            "p": list(self.p),
        }
        return {name: value for name, value in values.items() if value is not None}

    @cached_property
    def selected_measures(self) -> tuple[Measure, ...]:
        """Parsed measures."""
        from rankscope.measures import parse_many

        measures = tuple(parse_many(self.measures))
        if len(measures) < 2:
            raise InputError("a study compares measures", hint="name at least two, such as -m 'AP nDCG'")
        return measures

    @cached_property
    def focus_measure(self) -> Measure:
        """Measure under study."""
        from rankscope.measures import parse_many

        measures = self.selected_measures
        if self.focus is None:
            return next((measure for measure in measures if measure.name == "Twist"), measures[-1])
        focus = parse_many([self.focus])[0]
        if focus not in measures:
            raise InputError(f"{focus} is not among the measures of the study", hint=f"add -m {focus}")
        return measures[measures.index(focus)]  # under the name that the tables have

    @cached_property
    def limited_experiments(self) -> tuple[str, ...]:
        """Experiments that use only the best runs, in the order of :data:`~rankscope.choices.EXPERIMENTS`."""
        listed = [self.top_of] if isinstance(self.top_of, str) else self.top_of
        names = [name.strip() for text in listed for name in text.split(",") if name.strip()]
        if names == ["all"]:
            return EXPERIMENTS
        for name in names:
            check_name(name, (*EXPERIMENTS, "all"), f"there is no experiment {name!r}")
        return tuple(name for name in EXPERIMENTS if name in names)
