"""Groups of runs, such as the teams that submitted them: from a file, a pattern for names, or a mapping."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from rankscope.errors import InputError, SettingsError

__all__ = ["run_groups"]

_HINT = "name a file with lines of `run group`, or a regular expression for names of runs such as '^[a-z]+'"


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
    lines = path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    for number, line in enumerate(lines, 1):
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


def _matched(names: Iterable[str], pattern: str) -> dict[str, str]:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise SettingsError(
            f"groups {pattern!r}: there is no such file, and as a regular expression it fails: {error}",
            hint=_HINT,
        ) from None
    found = {}
    for name in names:
        if match := compiled.search(name):
            group = match.group(1 if compiled.groups else 0)
            if group:
                found[name] = group
    return found
