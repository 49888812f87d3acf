"""Atomic writing of files, and digests of their content."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

from rankscope.errors import InputError

_RENAME_EXCHANGE = 2  # Also RENAME_SWAP of macOS.
_AT_FDCWD = -100  # Resolves paths relative to the working directory.


def digest(content: bytes | Path) -> str:
    """Return the SHA-256, in hexadecimal, of bytes, a file (read in blocks), or the files of a directory.

    >>> digest(b"")[:16]
    'e3b0c44298fc1c14'
    """
    import hashlib  # Imported lazily: it loads a library that most commands do not need.

    if isinstance(content, bytes):
        return hashlib.sha256(content).hexdigest()
    if content.is_dir():
        files = sorted(path for path in content.rglob("*") if path.is_file())
        listed = [f"{path.relative_to(content).as_posix()} {digest(path)}\n" for path in files]
        return digest("".join(listed).encode("utf-8", "surrogateescape"))
    with content.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Disk:
    """Operations that write results, in one class so that tests can inject failures into each of them."""

    def make_directory(self, path: Path) -> None:
        """Create a directory in an existing parent."""
        path.mkdir()

    def write(self, path: Path, data: bytes) -> None:
        """Write a file."""
        path.write_bytes(data)

    def append(self, path: Path, data: bytes) -> None:
        """Append to a file."""
        with path.open("ab") as file:
            file.write(data)

    def sync(self, path: Path) -> None:
        """Flush a file, or the entries of a directory, to the storage device.

        Does nothing if the file system, or Windows for directories, does not support it. Raises errors of the device.
        """
        if os.name == "nt" and path.is_dir():
            return
        try:
            handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
        except PermissionError:  # The directory is writable but not readable.
            return
        try:
            os.fsync(handle)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EROFS):
                raise
        finally:
            os.close(handle)

    def rename(self, path: Path, target: Path) -> None:
        """Rename a file or directory; replaces a file, or an empty directory, of that name."""
        path.replace(target)

    def exchange(self, path: Path, other: Path) -> bool:
        """Exchange two names atomically; return False if the system or the file system does not support it."""
        if sys.platform not in ("linux", "darwin"):
            return False
        import ctypes

        library = ctypes.CDLL(None, use_errno=True)
        names = os.fsencode(path), os.fsencode(other)
        if hasattr(library, "renameat2"):
            return bool(library.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0)
        return hasattr(library, "renamex_np") and library.renamex_np(*names, _RENAME_EXCHANGE) == 0

    def remove(self, path: Path) -> None:
        """Remove a file if it exists."""
        path.unlink(missing_ok=True)

    def remove_directory(self, path: Path) -> None:
        """Remove an empty directory."""
        path.rmdir()


disk = Disk()


def write_atomically(path: str | Path, content: str | bytes | Iterable[str]) -> None:
    """Write a file atomically: into a temporary sibling, which is then renamed.

    The content is flushed before the rename, so that a power loss leaves the old file or the new one, and after the
    call the new one; a hidden file of an unfinished write may remain in the directory.

    An existing file keeps its mode. If the path is a symbolic link, its target is written. Content given as an iterable
    is written part by part.
    """
    target = Path(path)
    parts = iter([content]) if isinstance(content, str | bytes) else iter(content)
    blocks = (part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part for part in parts)
    if target.exists() and not target.is_file() and not target.is_dir():
        with target.open("wb") as device:  # A device or a pipe cannot be replaced by a file.
            device.writelines(blocks)
        return
    try:
        resolved = Path(os.path.realpath(target, strict=target.exists()))
        temporary = _make_sibling(resolved)
    except OSError as error:
        hint = "check the directory"
        raise InputError(f"cannot write ({error.strerror})", path=target, hint=hint) from None
    try:
        disk.write(temporary, next(blocks, b""))
        for block in blocks:
            disk.append(temporary, block)
        temporary.chmod(_mode(resolved))
        disk.sync(temporary)
        disk.rename(temporary, resolved)
        disk.sync(resolved.parent)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InputError(f"cannot write ({error.strerror})", path=target, hint="check the path") from None
        raise


def _make_sibling(path: Path) -> Path:
    """Create an empty hidden file in the same directory, readable by the user only.

    This replaces tempfile, whose import takes longer than writing a file.
    """
    while True:
        sibling = path.parent / f".{path.name[:40]}.{os.urandom(6).hex()}"
        try:
            os.close(os.open(sibling, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            continue
        return sibling


def _mode(path: Path) -> int:
    """Return the mode of an existing file, or the default mode of a new one."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask
