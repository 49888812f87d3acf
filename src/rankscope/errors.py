"""Errors caused by user input, each with a one-line message.

The command line prints ``str(error)`` without a traceback and exits with code 2.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from os import PathLike

__all__ = [
    "InputError",
    "MeasureError",
    "MissingDependencyError",
    "RankscopeError",
    "SettingsError",
    "WorkerError",
    "check_name",
    "error_path",
    "suggest_names",
]


def printable(text: str, keep: str = "") -> str:
    r"""Escape control characters, except those in ``keep``, so that untrusted text cannot control a terminal.

    >>> printable("a\x1b[31m\nb"), printable("a\x1b[31m\nb", keep="\n")
    ('a\\x1b[31m\\nb', 'a\\x1b[31m\nb')
    """
    return "".join(c if c.isprintable() or c in keep else ascii(c)[1:-1] for c in text)


class RankscopeError(Exception):
    """Base class of all errors of Rankscope."""


class InputError(RankscopeError):
    """An invalid file or value: ``path:line: problem; remedy``.

    >>> print(InputError("NaN score", path="bm25.txt", line=3, hint="remove the line or give a number"))
    bm25.txt:3: NaN score; remove the line or give a number
    >>> print(InputError("there is no topic '9'", hint=suggest_names("9", ["301"])))
    there is no topic '9'
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | PathLike[str] | None = None,
        line: int | None = None,
        hint: str | None = None,
    ) -> None:
        self.message = message
        self.path = None if path is None else str(path)
        self.line = line
        self.hint = hint
        super().__init__(message)

    def __str__(self) -> str:
        line = "" if self.line is None else f":{self.line}"
        location = "" if self.path is None else f"{self.path}{line}: "
        remedy = f"; {self.hint}" if self.hint else ""
        return printable(f"{location}{self.message}{remedy}")

    def __reduce__(self) -> tuple[object, ...]:
        # Errors are pickled between processes, and the default reduction would lose keyword arguments.
        return partial(type(self), path=self.path, line=self.line, hint=self.hint), (self.message,)


@contextmanager
def error_path(path: str | None, line: int | None = None) -> Iterator[None]:
    """Add the path of the file, and the line if it is known, to errors about its content that name no file.

    Parameters
    ----------
    path
        Path of the file.
    line
        Line of the problem, for errors that name no line.

    Examples
    --------
    >>> with error_path("qrels.txt"):
    ...     raise InputError("a grade is missing")
    Traceback (most recent call last):
    rankscope.errors.InputError: qrels.txt: a grade is missing
    """
    try:
        yield
    except InputError as error:
        if error.path is not None:
            raise
        raise type(error)(error.message, path=path, line=error.line or line, hint=error.hint) from None


class MeasureError(InputError):
    """An unknown measure, or invalid parameters of one."""


class SettingsError(InputError):
    """An option or argument with an invalid value."""


class WorkerError(InputError):
    """A worker process or machine that died repeatedly."""


class MissingDependencyError(InputError):
    """An optional package that is needed and not installed."""

    @classmethod
    def for_package(
        cls, package: str, extra: str, purpose: str, path: str | None = None
    ) -> MissingDependencyError:
        """Return the error for a missing package of an extra; ``path`` names the file that needs it.

        >>> print(MissingDependencyError.for_package("matplotlib", "plots", "figures"))
        figures need matplotlib; install it with: pip install 'rankscope[plots]'
        """
        hint = f"install it with: pip install 'rankscope[{extra}]'"
        return cls(f"{purpose} need {package}", path=path, hint=hint)


@contextmanager
def require_package(package: str, extra: str, purpose: str, path: str | None = None) -> Iterator[None]:
    """Turn an ImportError into the error of :meth:`MissingDependencyError.for_package`."""
    try:
        yield
    except ImportError:
        raise MissingDependencyError.for_package(package, extra, purpose, path) from None


def suggest_names(name: str, candidates: Iterable[str], max_names: int = 3) -> str:
    """Return a hint with the candidates closest to a misspelt name, or an empty string.

    Parameters
    ----------
    name
        Misspelt name.
    candidates
        Valid names.
    max_names
        Largest number of suggestions.

    Examples
    --------
    >>> suggest_names("nDGC", ["nDCG", "AP"])
    'did you mean nDCG?'
    >>> suggest_names("mea", ["method", "measure"], max_names=1)
    'did you mean measure?'
    """
    from difflib import get_close_matches

    # Of candidates that differ only in case, the first one wins.
    folded = {candidate.lower(): candidate for candidate in reversed(list(candidates))}
    close = [folded[key] for key in get_close_matches(name.lower(), list(folded), n=max_names, cutoff=0.5)]
    return f"did you mean {' or '.join(close)}?" if close else ""


def check_name(
    name: str, names: Collection[str], message: str, *, listed: str = "choose one of", hint: str = "",
    error: type[InputError] = SettingsError, path: str | PathLike[str] | None = None,
) -> None:  # fmt: skip
    """Raise an error if a name is not one of some names; the hint has similar ones, or lists the first ten.

    Parameters
    ----------
    name
        Name to check.
    names
        Valid names.
    message
        Message of the error.
    listed
        Words before the list of the names.
    hint
        Hint instead of the list, if no name is similar.
    error
        Class of the error.
    path
        File that has the name.

    Examples
    --------
    >>> check_name("x", ("t", "wilcoxon"), "no test is called 'x'")
    Traceback (most recent call last):
    rankscope.errors.SettingsError: no test is called 'x'; choose one of t, wilcoxon
    """
    if name not in names:
        shown = ", ".join(list(names)[:10]) + (" ..." if len(names) > 10 else "")
        raise error(message, path=path, hint=suggest_names(name, names) or hint or f"{listed} {shown}")
