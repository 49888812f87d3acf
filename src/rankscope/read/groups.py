"""Assign runs to groups, such as the teams that submitted them, by a file, a regular expression, or a mapping."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from rankscope.errors import InputError, SettingsError
from rankscope.read.delimited import text_lines
from rankscope.read.source import Source, is_file

_HINT = "name a file with lines of `run group`, or a regular expression for names of runs such as '^[a-z]+'"
_TIMEOUT = 1.0  # seconds


def run_groups(runs: Iterable[str], groups: Mapping[str, str] | str | Path) -> dict[str, str]:
    """Return the group of each run that has one, in the order of the runs.

    ``groups`` is a mapping of runs to groups; a file with lines of ``run group`` (separated by a tab if names have
    spaces; lines that start with ``#`` are comments); or, if there is no such file, a regular expression whose first
    capture group, or whole match, in the name of a run is its group. Runs without an entry or a match have no group.

    >>> runs = ["uni-a", "uni-b", "lab_x", "other"]
    >>> run_groups(runs, r"^(.*)[-_]")
    {'uni-a': 'uni', 'uni-b': 'uni', 'lab_x': 'lab'}
    >>> run_groups(runs, {"other": "baselines"})
    {'other': 'baselines'}
    """
    names = list(runs)
    if isinstance(groups, Mapping):
        result = {run: str(groups[run]) for run in names if run in groups}
    elif is_file(groups):
        group_of_run = _read_groups(Path(groups))
        result = {run: group_of_run[run] for run in names if run in group_of_run}
    else:
        result = _match_groups(names, str(groups))
    if names and not result:
        source = "the mapping" if isinstance(groups, Mapping) else repr(str(groups))
        raise InputError(f"groups: {source} gives none of the {len(names)} runs a group", hint=_HINT)
    return result


def _read_groups(path: Path) -> dict[str, str]:
    groups: dict[str, str] = {}
    for number, line in text_lines(Source.open(path)):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        fields = [part.strip() for part in line.split("\t" if "\t" in line.strip() else None)]
        if len(fields) != 2 or not all(fields):
            raise InputError("not a run and its group", path=str(path), line=number, hint="write: run group")
        run, group = fields
        if groups.setdefault(run, group) != group:
            problem = f"run {run} already belongs to {groups[run]}"
            raise InputError(problem, path=str(path), line=number, hint="keep one")
    return groups


def _match_groups(names: list[str], pattern: str) -> dict[str, str]:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        problem = f"groups {pattern!r}: there is no such file, and as a regular expression it fails: {error}"
        raise SettingsError(problem, hint=_HINT) from None
    groups = _search_names(names, pattern)
    return {name: group for name, group in zip(names, groups, strict=True) if group}


_SEARCH = """
import json, re, sys
pattern, names = json.load(sys.stdin)
search = re.compile(pattern).search
print(flush=True)
groups = [match and match.group(1 if match.re.groups else 0) for match in map(search, names)]
json.dump(groups, sys.stdout)
"""
"""Prints a line when the search starts, and the groups of all names at its end."""


def _search_names(names: list[str], pattern: str) -> list[str | None]:
    """Return the match of a regular expression in each name, within a second.

    A short expression can backtrack for years, and a search cannot be interrupted: it runs in another process, which
    can be killed.
    """
    import subprocess
    from threading import Timer

    command = [sys.executable, "-I", "-S", "-c", _SEARCH]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        timer = Timer(_TIMEOUT, process.kill)
        try:
            process.stdin.write(json.dumps([pattern, names]).encode())
            process.stdin.close()
            process.stdout.readline()
            timer.start()
            answer = process.stdout.read()
        except BaseException:
            process.kill()
            raise
        finally:
            timer.cancel()
    if process.returncode:
        hint = "write one without repetitions inside repetitions, or name a file with lines of `run group`"
        raise SettingsError(f"groups {pattern!r}: the regular expression takes more than a second", hint=hint)
    groups: list[str | None] = json.loads(answer)
    return groups
