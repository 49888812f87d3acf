"""BibTeX references of Rankscope, its measures and its methods.

The entries are in ``references.bib``. The key of an entry is the first author's family name and the year, as in the
references of measures ("Moffat and Zobel 2008").
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from rankscope import __version__
from rankscope.errors import check_name

if TYPE_CHECKING:
    from rankscope.measures import Measure

METHODS = {
    "bench": "bradley1952 demsar2006",
    "bounds": "moffat2008",
    "certain": "carterette2006",
    "correct": "horvitz1952 aslam2006 angelopoulos2023 holm1979",
    "compare": "student1908 wilcoxon1945 smucker2007 carterette2012 holm1979 benjamini1995",
    "correlate": "kendall1938 yilmaz2008 urbano2017 webber2010 corsi2024",
    "effort": "ferro2016 angelini2012",
    "gate": "berger1982",
    "judges": "cohen1960 krippendorff2018 sanderson2007",
    "leaderboard": "hesterberg2015 efron1975 goldstein1996 lancaster1961",
    "next": "carterette2006",
    "overlap": "webber2010 corsi2024",
    "pools": "buckley2004 zobel1998",
    "power": "sakai2006 carterette2012",
    "properties": "albahem2018",
    "scales": "ferrante2017 ferrante2021",
    "study": "ferro2016 ferro2015",
    "ties": "mcsherry2008",
}
"""Keys of the references of each method, by the command (or option) that uses it."""

_RANKSCOPE = (
    "@software{{rankscope, author = {{{{The Rankscope developers}}}}, title = {{Rankscope:"
    " Measuring Rankings, and Measuring the Measures}}, version = {{{version}}}, license = {{MIT}}}}"
)


@cache
def load_entries() -> dict[str, str]:
    """Return the entries of the bibliography by key."""
    text = (Path(__file__).parent / "references.bib").read_text("utf-8")
    return {line[line.index("{") + 1 : line.index(",")]: line for line in text.splitlines() if line}


def find_keys(reference: str) -> list[str]:
    """Return the keys of the entries that a reference names.

    >>> find_keys("Rocchio 1966, Salton and McGill 1983"), find_keys("after van Rijsbergen 1979")
    (['rocchio1966', 'salton1983'], ['vanrijsbergen1979'])
    >>> find_keys("our paper")
    []
    """
    named = [
        (name + year).replace(" ", "").lower()
        for name, year in re.findall(r"((?:van )?[A-Z][\w'-]*)(?:(?!\d{4}).)*?(\d{4})", reference)
    ]
    return [key for key in named or [reference] if key in load_entries()]


def cite(measures: str | Measure | Iterable[str | Measure] = (), methods: str | Iterable[str] = ()) -> str:
    """Return BibTeX references of Rankscope, measures and methods.

    Parameters
    ----------
    measures
        Measures, or their names.
    methods
        Names of methods, as in :data:`METHODS`.

    Returns
    -------
    str
        Comments with the reference of each measure and method, then BibTeX entries. A user-defined measure has only a
        comment, with its own reference.

    Examples
    --------
    >>> print(cite("RBP", "gate"))  # doctest: +ELLIPSIS
    % Rankscope ... is free software under the MIT licence.
    % RBP: Moffat and Zobel 2008
    % gate: Berger 1982
    <BLANKLINE>
    @software{rankscope,
    ...
    @article{moffat2008,
      author = {Moffat, Alistair and Zobel, Justin},
    ...
    """
    from rankscope.measures import parse_many

    names = methods.replace(",", " ").split() if isinstance(methods, str) else list(methods)
    for name in names:
        hint = f"choose among {', '.join(METHODS)}"
        check_name(name, METHODS, f"there is no method {name!r} to cite", hint=hint)
    comments = [f"Rankscope {__version__} is free software under the MIT licence."]
    keys: dict[str, None] = {}
    for measure in parse_many(measures) if measures else ():
        comments.append(f"{measure}: {measure.reference or 'no reference is known'}")
        keys |= dict.fromkeys(find_keys(measure.reference))
    for name in names:
        keys_of_method = METHODS[name].split()
        comments.append(f"{name}: {', '.join(map(_short_reference, keys_of_method))}")
        keys |= dict.fromkeys(keys_of_method)
    cited = [_RANKSCOPE.format(version=__version__), *(load_entries()[key] for key in sorted(keys))]
    return "\n".join([*(f"% {line}" for line in comments), "", *map(_format_entry, cited)])


def _short_reference(key: str) -> str:
    """Return the short reference of an entry: first author and year."""
    author = re.search(r"author = \{+([^,}]+)", load_entries()[key])
    return f"{author[1] if author else key} {key[-4:]}"


def _format_entry(entry: str) -> str:
    """Format an entry with one line per field."""
    head, *fields = re.split(r", (?=\w+ = \{)", entry.removesuffix("}"))
    return "\n".join([f"{head},", *(f"  {field}," for field in fields), "}", ""])
