"""Writing files: whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from rankscope.errors import InputError

__all__ = ["write_atomically"]


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Write a file so that it is whole or absent: into a temporary sibling, then renamed."""
    target = Path(path)
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    if target.exists() and not target.is_file() and not target.is_dir():
        target.write_bytes(data)  # a device or a pipe cannot be replaced by a file
        return
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.")
    except OSError as error:
        raise InputError(
            f"cannot write ({error.strerror})", path=target, hint="check the directory"
        ) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(target)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InputError(f"cannot write ({error.strerror})", path=target, hint="check the path") from None
        raise
