r"""Lines of runs and judgments: their fields, their ends, and invalid ones, with messages that all scanners share.

A file whose lines end in a lone CR would be one long line, and all but its first document ignored text after the tag:
results would look right and be wrong. So a CR must precede an LF, and the other line breaks of ``str.splitlines`` must
not occur where a line could end: from the start of its last field on, and in comments. Inside an id they are part of
the id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

from rankscope.errors import InputError
from rankscope.read.ids import to_text
from rankscope.read.limits import line_too_long
from rankscope.read.source import Source

RUN = "topic Q0 document rank score tag"
QRELS = "topic iteration document grade"
_SUBJECTS = {RUN: "a run has", QRELS: "qrels have"}
_FIELD_HINTS = {
    (RUN, 4): "this looks like a qrels file; name the qrels first and the runs after it",
    (QRELS, 5): "preference judgments and judgment groups have five; give ordinary qrels",
    (QRELS, 6): "this looks like a run; name the qrels first and the runs after it",
}
_END = b"\0"  # marks the end of a line among its fields, because no field can contain it
_NAMES = {
    b"\r": "CR",
    b"\x0b": "VT",
    b"\x0c": "FF",
    b"\x1c": "FS",
    b"\x1d": "GS",
    b"\x1e": "RS",
    b"\xc2\x85": "NEL (U+0085)",
    b"\xe2\x80\xa8": "U+2028",
    b"\xe2\x80\xa9": "U+2029",
}
_FOREIGN = re.compile(rb"[\x0b\x0c\x1c-\x1e]|\xc2\x85|\xe2\x80[\xa8\xa9]")
_UNICODE = re.compile(rb"\xc2\x85|\xe2\x80[\xa8\xa9]")


def may_have_foreign_end(text: bytes) -> bool:
    r"""Return whether whole lines must be checked one by one; lines with too many fields must be anyway.

    >>> may_have_foreign_end(b"301 Q0 d1 1 2 t\r\n"), may_have_foreign_end(b"301 Q0 d1 1 2 t\r301 Q0 d2 2 1 t\n")
    (False, True)
    """
    if b"\r" in text and text.count(b"\r") != text.count(b"\r\n"):
        return True
    if not text.isascii() and _UNICODE.search(text):
        return True
    return b"\x1c" in text or b"\x1d" in text or b"\x1e" in text


def foreign_end(line: bytes, columns: int) -> bytes | None:
    r"""Return the first foreign line end in a line (without its LF) with a number of columns, or None.

    >>> foreign_end(b"301 0 d1 1\r302 0 d2 0\r", 4), foreign_end("301 0 d\u2028 1\r".encode(), 4)
    (b'\r', None)
    >>> foreign_end("301 Q0 d1 1 2 tag\u2028301 Q0 d2 2 1 tag".encode(), 6)
    b'\xe2\x80\xa8'
    """
    if b"\r" in line[:-1]:
        return b"\r"
    fields = line.split(None, columns - 1)
    if not fields:
        return None
    comment = fields[0].startswith(b"#")
    if not comment and len(fields) < columns:
        return None
    match = _FOREIGN.search((line if comment else fields[-1]).rstrip())
    return match.group() if match else None


class LineProblem(Exception):  # noqa: N818 - becomes an InputError once the file has a name
    """First invalid line of a run, or of another file of some ``columns``.

    ``kind`` is one of ``long``, ``nul``, ``ending``, ``fields``, ``rank``, ``score``, ``nan``, ``duplicate``, tested in
    this order; a duplicate is a problem of the line where the document occurs for the second time.
    """

    def __init__(
        self, kind: str, line: int, text: bytes = b"", topic: bytes = b"", fields: int = 0, columns: str = RUN
    ) -> None:
        super().__init__(kind, line)
        self.columns = columns
        self.kind, self.line, self.text, self.topic, self.fields = kind, line, text, topic, fields

    def describe(self) -> tuple[str, str]:
        """Return message and hint."""
        text = _quote(self.text)
        match self.kind:
            case "long":
                return line_too_long()
            case "nul":
                return "a NUL byte in the line", "this looks like binary data; give a text file"
            case "ending":
                hint = "; tr '\\r' '\\n' converts the file" if self.text == b"\r" else ""
                return (
                    f"a line ends in {_NAMES[self.text]}, not in LF or CRLF",
                    f"end lines in LF or CRLF{hint}",
                )
            case "fields":
                width, found = len(self.columns.split()), f"{self.fields} field{'s' * (self.fields != 1)}"
                hint = (
                    "complete the line or remove it" if self.fields < width else "ids must not contain spaces"
                )
                expected = f"{_SUBJECTS.get(self.columns, 'there should be')} {width}: {self.columns}"
                return f"{found} where {expected}", _FIELD_HINTS.get((self.columns, self.fields), hint)
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
        raise locate_problem(problem, source) from None


def locate_problem(problem: LineProblem, source: Source) -> InputError:
    """Return the error for an invalid line of a source."""
    if not source.is_unchanged():  # the line may mix two versions of the file
        return source.changed()
    description, hint = problem.describe()
    return InputError(description, path=source.label, line=problem.line, hint=hint)


def _quote(text: bytes) -> str:
    shown = to_text(text)
    return f"'{shown}'" if len(shown) <= 60 else f"'{shown[:57]}...'"


def reject_empty(source: Source, columns: str = RUN) -> NoReturn:
    """Raise the error for a run, or qrels, without data."""
    problem = "there is no line with data" if source.size else "the file is empty"
    raise InputError(problem, path=source.label, hint=f"{_SUBJECTS[columns]} lines of: {columns}")


def split_lines(
    text: bytes, before: int, columns: str
) -> tuple[list[bytes], Sequence[int], LineProblem | None]:
    r"""Return the fields of whole lines with data, the numbers of these lines, and the first invalid line.

    After the fields of a line comes a mark; invalid lines and those after them are missing. ``before`` is the number
    of lines before the text. As in trec_eval, text after the tag of a run is ignored.

    >>> split_lines(b"301 0 d1 1\n# judged\n302 0 d2 0\n", 7, QRELS)
    ([b'301', b'0', b'd1', b'1', b'\x00', b'302', b'0', b'd2', b'0', b'\x00'], [8, 10], None)
    """
    count = text.count(b"\n")
    if count == len(text):  # only empty lines, of which there may be millions
        return [], [], None
    fields, width = text.replace(b"\n", b" \0 ").split(), len(columns.split())
    if (
        len(fields) == (width + 1) * count
        and fields[width :: width + 1].count(_END) == count
        and _END not in text
        and not any(first[:1] == b"#" for first in set(fields[:: width + 1]))
        and not may_have_foreign_end(text)
    ):
        return fields, range(before + 1, before + count + 1), None
    fields = []
    lines: list[int] = []
    for number, line in enumerate(text.split(b"\n")[:-1], before + 1):
        row = line.split()
        if _END in line:
            return fields, lines, LineProblem("nul", number)
        if end := foreign_end(line, width):
            return fields, lines, LineProblem("ending", number, end)
        if not row or row[0][:1] == b"#":
            continue
        if len(row) < width or (len(row) > width and columns != RUN):
            return fields, lines, LineProblem("fields", number, fields=len(row), columns=columns)
        fields += [*row[:width], _END]
        lines.append(number)
    return fields, lines, None
