"""Invalid lines of runs, and their messages, which all scanners share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from rankscope.errors import InputError
from rankscope.read.ids import to_text
from rankscope.read.limits import line_too_long
from rankscope.read.line_ends import describe_line_end
from rankscope.read.source import Source

COLUMNS = "topic Q0 document rank score tag"
NUL_HINT = "this looks like binary data; give a text file"


class LineProblem(Exception):  # noqa: N818 - becomes an InputError once the file has a name
    """First invalid line of a run.

    ``kind`` is one of ``long``, ``nul``, ``ending``, ``fields``, ``rank``, ``score``, ``nan``, ``duplicate``, tested in
    this order; a duplicate is a problem of the line where the document occurs for the second time.
    """

    def __init__(self, kind: str, line: int, text: bytes = b"", topic: bytes = b"", fields: int = 0) -> None:
        super().__init__(kind, line)
        self.kind, self.line, self.text, self.topic, self.fields = kind, line, text, topic, fields

    def describe(self) -> tuple[str, str]:
        """Return message and hint."""
        text = _quote(self.text)
        match self.kind:
            case "long":
                return line_too_long()
            case "nul":
                return "a NUL byte in the line", NUL_HINT
            case "ending":
                return describe_line_end(self.text)
            case "fields":
                hint = "complete the line or remove it"
                if self.fields == 4:
                    hint = "this looks like a qrels file; name the qrels first and the runs after it"
                return f"{self.fields} field{'s' * (self.fields != 1)} where a run has 6: {COLUMNS}", hint
            case "rank":
                return f"rank {text} is not an integer", "correct it, or choose another order"
            case "score":
                return f"score {text} is not a number", "give a decimal number such as 12.5 or 1e-3"
            case "nan":
                return "NaN score", "remove the line or give a number"
            case _:
                description = f"document {text} occurs twice in topic {_quote(self.topic)}"
                return description, "keep one of the two lines"


@contextmanager
def locate_problems(source: Source) -> Iterator[None]:
    """Convert a :class:`LineProblem` to an InputError that names the source."""
    try:
        yield
    except LineProblem as problem:
        source.check_unchanged()  # the line may mix two versions of the file
        description, hint = problem.describe()
        raise InputError(description, path=source.label, line=problem.line, hint=hint) from None


def _quote(text: bytes) -> str:
    shown = to_text(text)
    return f"'{shown}'" if len(shown) <= 60 else f"'{shown[:57]}...'"


def reject_empty(text: Source) -> NoReturn:
    """Raise the error for a run without data."""
    description = "the file is empty" if text.size == 0 else "there is no line with data"
    raise InputError(description, path=text.label, hint=f"a run has lines of: {COLUMNS}")
