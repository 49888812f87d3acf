"""Where bytes come from: a file, a gzipped file, standard input; with one clear line when they do not."""

from __future__ import annotations

from pathlib import Path

from rankscope.errors import InputError

__all__ = ["GZIP_MAGIC", "read_bytes", "unreadable"]

GZIP_MAGIC = b"\x1f\x8b"


def read_bytes(source: str | Path | bytes) -> bytes:
    """The whole content of a source, unpacked if it is gzipped (told by its first bytes, not by its name)."""
    from rankscope.read.blocks import Source

    return b"".join(Source.of(source).blocks())


def unreadable(error: OSError, name: str) -> InputError:
    """What the operating system says about a file, as one of our errors."""
    return InputError(_why_unreadable(error), path=name, hint=_remedy(error))


def _why_unreadable(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, IsADirectoryError):
        return "this is a directory"
    if isinstance(error, PermissionError):
        return "no permission to read it"
    return error.strerror or "cannot be read"


def _remedy(error: OSError) -> str:
    if isinstance(error, IsADirectoryError):
        return "name a file in it"
    if isinstance(error, PermissionError):
        return "change its permissions"
    return "check the path"
