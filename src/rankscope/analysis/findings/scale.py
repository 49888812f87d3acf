"""The finding about scales: means of ordinal measures, with the shortest counterexample."""

from functools import lru_cache

from rankscope.analysis.findings.basis import Basis
from rankscope.analysis.findings.finding import Chart, Finding, MeasureScale
from rankscope.cells import join_names
from rankscope.errors import MeasureError, SettingsError
from rankscope.lab.measurement.scales import ALL, EQUAL, ScaleVerdict
from rankscope.lab.measurement.verdicts import MAX_LENGTH, scales
from rankscope.measures import Measure
from rankscope.tables import Cell

ORDINAL = "ordinal"
_SHORT, _LONG = 5, 12


def scale(basis: Basis) -> Finding | None:
    """Report the measures that are not interval-like, so that their means are not permissible (Ferrante et al. 2017).

    The milder of the two interval-like scales counts: intervals whose ends have equally many relevant documents.
    """
    directed = (measure for measure in basis.scores.measures if measure.better != "neither")
    rows = [row for measure in directed if (row := badge(measure)) is not None]
    if not rows:
        return None
    warned = [row for row in rows if row[1] == ORDINAL]
    example = min(warned, key=lambda row: (int(str(row[2])), str(row[0])), default=None)
    numbers: dict[str, Cell] = {"warned": len(warned), "measures": len(rows)}
    if example is None:
        pattern = (
            "{warned} of {measures} measures are ordinal: the laboratory finds no equal steps that they value"
            " differently."
        )
    else:
        numbers |= {
            "names": join_names([str(row[0]) for row in warned], 4), "measure": example[0], "length": example[2],
            "example": example[3],
        }  # fmt: skip
        pattern = (
            "{warned} of {measures} measures are ordinal, so that their means are doubtful ({names}): they value equal"
            " steps differently. At length {length}, {example}."
        )
    evidence = MeasureScale.table("scale", rows,
        caption="Scale of each measure, and the shortest counterexample",
        legend="interval-like where both ends have equally many relevant documents, or else ordinal",
    )  # fmt: skip
    chart = Chart("badges", ("measure",), "scale")
    state: dict[str, Cell] = {} if example is None else {"measure": example[0]}
    return Finding("Means of ordinal measures", pattern, numbers, evidence, chart, "runs", state)


def badge(measure: Measure) -> tuple[Cell, ...] | None:
    """Return name, scale, shortest contradicting length and counterexample of a measure; None if it has no scale.

    Rankings are one longer than the cutoff, so that the cutoff has an effect; theorems decide long ones. They have as
    many relevant documents as ranks, and half as many, because some measures are interval-like only with as many. If
    only short rankings can be enumerated, the scale names their length.

    >>> from rankscope.measures import parse
    >>> badge(parse("RBP")), badge(parse("AP"))[:3], badge(parse("P@20"))[:3]
    (('RBP', 'interval-like', None, ''), ('AP', 'ordinal', 3), ('P@20', 'ordinal', 21))
    """
    facts = (_badge.__wrapped__ if measure.family == "user" else _badge)(measure)
    return facts and (str(measure), *facts)


@lru_cache(256)  # The verdict of the laboratory depends on the measure only.
def _badge(measure: Measure) -> tuple[Cell, ...] | None:
    is_effort = measure.family == "effort"
    cut_measure = measure @ _SHORT if is_effort and measure.cutoff_rule != "none" else measure
    cut = cut_measure.cutoff if isinstance(cut_measure.cutoff, int) and not is_effort else 0
    length = max(_SHORT, cut + 1) if cut < _LONG else max(MAX_LENGTH, cut) + 1
    verdicts = _verdicts(cut_measure, length)
    is_decided = bool(verdicts)
    verdicts = verdicts or _verdicts(cut_measure, _LONG)
    if not verdicts:
        return None
    broken = [v for v in verdicts if v.scale == EQUAL and v.counterexample is not None]
    if not broken:
        everywhere = all(verdict.holds for verdict in verdicts)
        name = "interval-like (all)" if everywhere else "interval-like"
        return name if is_decided else f"{name} to length {_LONG}", None, ""
    shortest = min(broken, key=lambda v: v.fails_from or v.length)
    assert shortest.counterexample is not None
    words = shortest.counterexample.sentence(str(cut_measure), EQUAL)
    return ORDINAL, shortest.fails_from or shortest.length, words


def _verdicts(measure: Measure, length: int) -> list[ScaleVerdict]:
    """Return the verdicts on the two interval-like scales; empty if the laboratory cannot decide them."""
    try:
        results = [
            scales(measure, length, relevant=relevant, count="sample", samples=100)
            for relevant in (length, (length + 1) // 2)
        ]
    except (MeasureError, SettingsError):
        return []
    if any(result.partial for result in results):  # The enumeration was interrupted.
        raise KeyboardInterrupt
    return [verdict for result in results for verdict in result.verdicts if verdict.scale in (ALL, EQUAL)]
