"""The experiments of a measure paper in one go, and the manifest that repeats them."""

from rankscope.analysis.study.experiments import LIKE, MEASURES, Repetition, Study, repeat_study, study

__all__ = ["LIKE", "MEASURES", "Repetition", "Study", "repeat_study", "study"]
