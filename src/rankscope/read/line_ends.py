r"""Reject line ends other than LF and CRLF.

A file whose lines end in a lone CR would be one long line, and all but its first document ignored text after the tag:
results would look right and be wrong. So a CR must precede an LF, and the other line breaks of ``str.splitlines`` must
not occur where a line could end: from the start of its last field on, and in comments. Inside an id they are part of
the id.
"""

from __future__ import annotations

import re

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


def describe_line_end(end: bytes) -> tuple[str, str]:
    """Return message and hint for a foreign line end."""
    name = _NAMES[end]
    hint = "end lines in LF or CRLF" + ("; tr '\\r' '\\n' converts the file" if end == b"\r" else "")
    return f"a line ends in {name}, not in LF or CRLF", hint
