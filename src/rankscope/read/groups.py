"""Groups of runs, such as the teams that submitted them: from a file, a pattern for names, or a mapping."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from rankscope.errors import InputError, SettingsError
from rankscope.read.delimited import text_lines
from rankscope.read.source import Source

__all__ = ["run_groups"]

_HINT = "name a file with lines of `run group`, or a regular expression for names of runs such as '^[a-z]+'"
_PATIENCE = 1.0  # seconds for a regular expression of the user's


def run_groups(runs: Iterable[str], groups: Mapping[str, str] | str | Path) -> dict[str, str]:
    """The group of each run that has one, in the order of the runs.

    ``groups`` maps names of runs to groups, or is a file with lines of ``run group`` (separated by a tab, if names have
    spaces; lines that begin with ``#`` are comments), or, where there is no such file, a regular expression: a run
    belongs to the group that its name shows, which is what the first pair of parentheses matches, or all that is
    matched. Runs that are not named, or not matched, have no group.

    >>> runs = ["uni-a", "uni-b", "lab_x", "other"]
    >>> run_groups(runs, r"^(.*)[-_]")
    {'uni-a': 'uni', 'uni-b': 'uni', 'lab_x': 'lab'}
    >>> run_groups(runs, {"other": "baselines"})
    {'other': 'baselines'}
    """
    names = list(runs)
    if isinstance(groups, Mapping):
        found = {run: str(groups[run]) for run in names if run in groups}
    elif _is_file(groups):
        listed = _listed(Path(groups))
        found = {run: listed[run] for run in names if run in listed}
    else:
        found = _matched(names, str(groups))
    if names and not found:
        raise InputError(f"groups: {_said(groups)} gives none of the {len(names)} runs a group", hint=_HINT)
    return found


def _is_file(name: str | Path) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # too long for a name, or with characters that none can have
        return False


def _said(groups: Mapping[str, str] | str | Path) -> str:
    return "the mapping" if isinstance(groups, Mapping) else repr(str(groups))


def _listed(path: Path) -> dict[str, str]:
    groups: dict[str, str] = {}
    for number, line in text_lines(Source.of(path)):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        fields = [part.strip() for part in line.split("\t" if "\t" in line.strip() else None)]
        if len(fields) != 2 or not all(fields):
            raise InputError("not a run and its group", path=str(path), line=number, hint="write: run group")
        run, group = fields
        if groups.setdefault(run, group) != group:
            raise InputError(
                f"run {run} belongs to {groups[run]} already", path=str(path), line=number, hint="keep one"
            )
    return groups


def _matched(names: list[str], pattern: str) -> dict[str, str]:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise SettingsError(
            f"groups {pattern!r}: there is no such file, and as a regular expression it fails: {error}",
            hint=_HINT,
        ) from None
    found = _searched(names, pattern)
    return {name: group for name, group in zip(names, found, strict=True) if group}


_SEARCH = """
import json, re, sys
pattern, names = json.load(sys.stdin)
search = re.compile(pattern).search
print(flush=True)
groups = [found and found.group(1 if found.re.groups else 0) for found in map(search, names)]
json.dump(groups, sys.stdout)
"""
"""Prints a line when it begins to search, and the group of each name when it is done."""


def _searched(names: list[str], pattern: str) -> list[str | None]:
    """What a regular expression finds in each name, within a second.

    A few characters can make an expression backtrack for years, and nothing interrupts a search in this process but its
    end: another process searches, and is ended.
    """
    import subprocess
    from threading import Timer

    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _SEARCH], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as searching:
        assert searching.stdin is not None
        assert searching.stdout is not None
        timer = Timer(_PATIENCE, searching.kill)
        try:
            searching.stdin.write(json.dumps([pattern, names]).encode())
            searching.stdin.close()
            searching.stdout.readline()
            timer.start()
            answer = searching.stdout.read()
        except BaseException:
            searching.kill()
            raise
        finally:
            timer.cancel()
    if searching.returncode:
        raise SettingsError(
            f"groups {pattern!r}: the regular expression takes more than a second",
            hint="write one without repetitions inside repetitions, or name a file with lines of `run group`",
        )
    groups: list[str | None] = json.loads(answer)
    return groups
