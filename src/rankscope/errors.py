"""Everything that can go wrong because of what the user gave, each with one clear line.

The command line prints ``str(error)`` and ends with exit code 2; nothing else of an error reaches the user.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike

__all__ = [
    "InputError",
    "MeasureError",
    "MissingDependencyError",
    "RankscopeError",
    "SettingsError",
    "WorkerError",
    "located",
    "nearest",
]


def printable(text: str, keep: str = "") -> str:
    r"""One line without control characters, so that untrusted text cannot disturb a terminal; some may be kept.

    >>> printable("a\x1b[31m\nb"), printable("a\x1b[31m\nb", keep="\n")
    ('a\\x1b[31m\\nb', 'a\\x1b[31m\nb')
    """
    return "".join(c if c.isprintable() or c in keep else ascii(c)[1:-1] for c in text)


class RankscopeError(Exception):
    """The parent of all errors of Rankscope."""


class InputError(RankscopeError):
    """A file or value that cannot be used: ``path:line: what is wrong; what to do``.

    >>> print(InputError("NaN score", path="bm25.txt", line=3, hint="remove the line or give a number"))
    bm25.txt:3: NaN score; remove the line or give a number
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
        where = "" if self.path is None else self.path + ("" if self.line is None else f":{self.line}") + ": "
        what_to_do = "" if self.hint is None else f"; {self.hint}"
        return printable(f"{where}{self.message}{what_to_do}")

    def __reduce__(self) -> tuple[object, ...]:
        # errors cross process borders, and keyword arguments would be lost on the way
        return (_input_error, (type(self), self.message, self.path, self.line, self.hint))


def _input_error(
    kind: type[InputError], message: str, path: str | None, line: int | None, hint: str | None
) -> InputError:
    return kind(message, path=path, line=line, hint=hint)


@contextmanager
def located(path: str) -> Iterator[None]:
    """Name the file in errors about what it holds, unless they name one."""
    try:
        yield
    except InputError as error:
        if error.path is not None:
            raise
        raise type(error)(error.message, path=path, line=error.line, hint=error.hint) from None


class MeasureError(InputError):
    """An unknown measure, or one with parameters that make no sense."""


class SettingsError(InputError):
    """An option or argument outside what it may be."""


class WorkerError(InputError):
    """A process or machine that did part of the work died, again and again."""


class MissingDependencyError(InputError):
    """An optional package is needed and not installed."""

    @classmethod
    def of(cls, package: str, extra: str, purpose: str) -> MissingDependencyError:
        """The error for an absent package of an extra.

        >>> print(MissingDependencyError.of("matplotlib", "plots", "figures"))
        figures need matplotlib; install it with: pip install 'rankscope[plots]'
        """
        return cls(f"{purpose} need {package}", hint=f"install it with: pip install 'rankscope[{extra}]'")


def nearest(name: str, known: Iterable[str], most: int = 3) -> str:
    """A hint with the known names closest to a misspelt one.

    >>> nearest("nDGC", ["nDCG", "AP"])
    'did you mean nDCG?'
    >>> nearest("mea", ["method", "measure"], most=1)
    'did you mean measure?'
    """
    from difflib import get_close_matches

    known = list(known)
    folded = {candidate.lower(): candidate for candidate in reversed(known)}
    close = [folded[match] for match in get_close_matches(name.lower(), list(folded), n=most, cutoff=0.5)]
    return f"did you mean {' or '.join(close)}?" if close else ""
