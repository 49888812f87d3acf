"""Run the commands and expressions of the page, each one once."""

from __future__ import annotations

import contextlib
import csv
import functools
import io
import json
import os
import re
import shlex
import tempfile
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import rankscope
from rankscope.cli.main import main

ROOT = Path(__file__).parents[2]
EXAMPLES = Path(__file__).parent / "examples"
COLLECTIONS = {
    "COVID": ("TREC-COVID", "trec_covid_r1_full24/qrels.txt trec_covid_r1_full24/runs"),
    "CRANFIELD": ("Cranfield", "cranfield/qrels.txt cranfield/runs"),
    "WEB2011": ("Web-2011", "web2011_diversity/qrels.adhoc.txt web2011_diversity/runs"),
    "WEB2012": ("Web-2012", "web2012_diversity/qrels.adhoc.txt web2012_diversity/runs"),
}
"""Collections by variable: name, and paths of judgments and runs below the data folder."""
OTHERS = {
    "COVID_RUN": "trec_covid_r1_full24/qrels.txt trec_covid_r1_full24/runs/sab20.1.meta.docs.gz",
    "WEB2012_ASPECTS": "web2012_diversity/qrels.for_ndeval.txt web2012_diversity/runs",
}
"""One run of TREC-COVID, and the judgments of Web 2012 by aspect."""

LEADERBOARD = "trec_covid_r1_full24/official_leaderboard.csv"
"""Official results of the runs of TREC-COVID, by NIST."""

FUNCTIONS = {
    "cumsum": "rankscope.lab.measurement.intervals",
    "steps": "rankscope.lab.measurement.intervals",
    "delta": "rankscope.lab.measurement.intervals",
    "positions": "rankscope.lab.measurement.distances",
    "rbp_threshold": "rankscope.lab.measurement.convexity",
    "combinations": "itertools",
    "loadtxt": "numpy",
    "log2": "math",
    "sqrt": "math",
    "DictReader": "csv",
    "Path": "pathlib",
    "wilcoxon": "scipy.stats",
}
"""Functions that expressions may use in addition to `rs`, with the modules that define them."""


def data_folder() -> Path | None:
    """Return the data folder: RANKSCOPE_DATA, or ../shared/data; None if it does not exist."""
    named = os.environ.get("RANKSCOPE_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    return folder if folder.is_dir() else None


def variables() -> dict[str, str]:
    """Return the value of every variable of the page."""
    data = data_folder() or Path("data")
    values = {name: _below(data, parts) for name, (_, parts) in COLLECTIONS.items()}
    values |= {name: _below(data, parts) for name, parts in OTHERS.items()}
    values["FOUR"] = four(str(data))
    values["SCORES"] = str(data / "score_matrices")
    values["LEADERBOARD"] = str(data / LEADERBOARD)
    values |= {folder.name.upper(): str(folder) for folder in EXAMPLES.iterdir() if folder.is_dir()}
    return values


def four(data: str) -> str:
    """Return the options that name the four collections below a folder."""
    return " ".join(
        f"--collection {title}=" + ":".join(f"{data}/{part}" for part in parts.split())
        for title, parts in COLLECTIONS.values()
    )


def folders(names: Iterable[str]) -> list[str]:
    """Return the data folders that these variables refer to.

    >>> folders(["COVID_RUN", "SCORES"])
    ['score_matrices', 'trec_covid_r1_full24']
    """
    parts = {
        **{name: parts for name, (_, parts) in COLLECTIONS.items()},
        **OTHERS,
        "SCORES": "score_matrices",
        "LEADERBOARD": LEADERBOARD,
    }
    return sorted({parts[name].split("/")[0] for name in names})


def _below(folder: Path, parts: str) -> str:
    return " ".join(str(folder / part) for part in parts.split())


def needs(text: str) -> frozenset[str]:
    """Return the variables of a command or expression that refer to real data.

    >>> sorted(needs("rankscope effort $COVID"))
    ['COVID']
    """
    used = set(re.findall(r"\$(\w+)", text))
    if "FOUR" in used:
        used |= set(COLLECTIONS)
    return frozenset(used & {*COLLECTIONS, *OTHERS, "SCORES", "LEADERBOARD"})


def run_source(command: str, python: str) -> Any:
    """Return the tables of a command, or the value of an expression."""
    if python:
        return _value(python)
    return _tables(command)


def _filled(text: str) -> str:
    values = variables()
    return re.sub(r"\$(\w+)", lambda match: values[match[1]], text)


@functools.cache
def _value(python: str) -> Any:
    names = {
        "rs": rankscope,
        **{name: getattr(import_module(home), name) for name, home in FUNCTIONS.items()},
    }
    return eval(_filled(python), names)


def _numbers(row: dict[str, Any]) -> dict[str, Any]:
    """Convert infinite numbers, which JSON stores as text, back to floats."""
    return {
        key: float(value) if isinstance(value, str) and value in ("Infinity", "-Infinity") else value
        for key, value in row.items()
    }


@functools.cache
def _tables(command: str) -> dict[str, Any]:
    program, *arguments = shlex.split(_filled(command))
    if program != "rankscope":
        raise ValueError(f"not a command of ours: {command}")
    previous = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return _run(command, arguments)
        finally:
            os.chdir(previous)


def _run(command: str, arguments: list[str]) -> dict[str, Any]:
    writes = "-o" in arguments
    errors = io.StringIO()
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())), contextlib.redirect_stderr(errors):
        try:
            code = main(arguments if writes else [*arguments, "-f", "json", "-o", "result.json"])
        except SystemExit as stop:
            code = stop.code
    if code:
        raise RuntimeError(f"{command} ended with {code}: {errors.getvalue().strip()}")
    files = {path.name: path for path in Path().rglob("*") if path.is_file()}
    tables: dict[str, Any] = {"files": sorted(files)}
    if "result.json" in files:
        result = json.loads(files["result.json"].read_text("utf-8"), object_hook=_numbers)
        tables |= {"settings": result["settings"], **result["tables"]}
    for path in files.values():
        if path.suffix == ".csv":
            with path.open(encoding="utf-8", newline="") as lines:
                tables[path.stem] = list(csv.DictReader(lines))
        elif path.suffix == ".html":
            tables["page"] = path.read_text("utf-8")
    return tables
