"""What can be wrong with a line of a run, and what to say about it: the same for every scanner."""

from __future__ import annotations

from typing import NoReturn

from rankscope.errors import InputError
from rankscope.read.ids import to_text
from rankscope.read.limits import line_too_long
from rankscope.read.line_ends import described_end
from rankscope.read.source import Source

__all__ = ["COLUMNS", "LineProblem", "refuse_empty"]

COLUMNS = "topic Q0 document rank score tag"


class LineProblem(Exception):  # noqa: N818 - becomes an InputError once the file has a name
    """The first line of a run that is wrong. Both scanners raise it, so their messages are the same.

    ``kind`` is one of ``long``, ``nul``, ``ending``, ``fields``, ``rank``, ``score``, ``nan``, ``duplicate``, tested in
    this order within a line; a duplicate is a problem of the line where the document occurs for the second time.
    """

    def __init__(self, kind: str, line: int, text: bytes = b"", topic: bytes = b"", fields: int = 0) -> None:
        super().__init__(kind, line)
        self.kind, self.line, self.text, self.topic, self.fields = kind, line, text, topic, fields

    def located(self, label: str) -> InputError:
        """The error to show for a file."""
        message, hint = getattr(self, f"_{self.kind}")()
        return InputError(message, path=label, line=self.line, hint=hint)

    def _long(self) -> tuple[str, str]:
        return line_too_long()

    def _nul(self) -> tuple[str, str]:
        return "a NUL byte in the line", "this looks like binary data; give a text file"

    def _ending(self) -> tuple[str, str]:
        return described_end(self.text)

    def _fields(self) -> tuple[str, str]:
        message = f"{self.fields} field{'s' * (self.fields != 1)} where a run has 6: {COLUMNS}"
        if self.fields == 4:
            return (
                message,
                "this looks like a qrels file; name the qrels first and the runs after it",
            )
        return message, "complete the line or remove it"

    def _rank(self) -> tuple[str, str]:
        return (
            f"rank {_quoted(self.text)} is not an integer",
            "correct it, or choose another order",
        )

    def _score(self) -> tuple[str, str]:
        return f"score {_quoted(self.text)} is not a number", "give a decimal number such as 12.5 or 1e-3"

    def _nan(self) -> tuple[str, str]:
        return "NaN score", "remove the line or give a number"

    def _duplicate(self) -> tuple[str, str]:
        return (
            f"document {_quoted(self.text)} occurs twice in topic {_quoted(self.topic)}",
            "keep one of the two lines",
        )


def _quoted(text: bytes) -> str:
    shown = to_text(text)
    return f"'{shown}'" if len(shown) <= 60 else f"'{shown[:57]}...'"


def refuse_empty(text: Source) -> NoReturn:
    """A run without a line of data is no run."""
    what = "the file is empty" if text.size == 0 else "there is no line with data"
    raise InputError(what, path=text.label, hint=f"a run has lines of: {COLUMNS}")
