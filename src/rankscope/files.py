"""Writing files, whole or not at all; and what identifies their content."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

from rankscope.errors import InputError

__all__ = ["Disk", "digest", "disk", "write_atomically"]

_EXCHANGE = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS
_HERE = -100  # AT_FDCWD: paths are relative to the working directory


def digest(content: bytes | Path) -> str:
    """SHA-256, in hexadecimal, of bytes or of a file, which is read in blocks; of a directory, that of its files.

    >>> digest(b"")[:16]
    'e3b0c44298fc1c14'
    """
    import hashlib  # loads a library that most commands do not need

    if isinstance(content, bytes):
        return hashlib.sha256(content).hexdigest()
    if content.is_dir():
        files = sorted(path for path in content.rglob("*") if path.is_file())
        listed = [f"{path.relative_to(content).as_posix()} {digest(path)}\n" for path in files]
        return digest("".join(listed).encode("utf-8", "surrogateescape"))
    with content.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Disk:
    """Every step by which results reach the disk, so that tests can fail, or kill us, at each of them."""

    def make_directory(self, path: Path) -> None:
        """A directory that is not there yet; its parent is."""
        path.mkdir()

    def write(self, path: Path, data: bytes) -> None:
        """A file with this content."""
        path.write_bytes(data)

    def append(self, path: Path, data: bytes) -> None:
        """More content of a file."""
        with path.open("ab") as file:
            file.write(data)

    def sync(self, path: Path) -> None:
        """Wait until a file, or the names in a directory, are on the medium.

        Not every file system can, and Windows has no way for directories; an error of the medium itself is raised.
        """
        if os.name == "nt" and path.is_dir():
            return
        try:
            handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
        except PermissionError:  # a directory in which we may write and not look
            return
        try:
            os.fsync(handle)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EROFS):
                raise
        finally:
            os.close(handle)

    def rename(self, path: Path, target: Path) -> None:
        """Another name for a file or directory; a file, or an empty directory, of that name is replaced."""
        path.replace(target)

    def exchange(self, path: Path, other: Path) -> bool:
        """Two names change places in one step; False where the system or the file system cannot do it."""
        if sys.platform not in ("linux", "darwin"):
            return False
        import ctypes

        library = ctypes.CDLL(None, use_errno=True)
        names = os.fsencode(path), os.fsencode(other)
        if hasattr(library, "renameat2"):
            return bool(library.renameat2(_HERE, names[0], _HERE, names[1], _EXCHANGE) == 0)
        return hasattr(library, "renamex_np") and library.renamex_np(*names, _EXCHANGE) == 0

    def remove(self, path: Path) -> None:
        """A file, if it is there."""
        path.unlink(missing_ok=True)

    def remove_directory(self, path: Path) -> None:
        """An empty directory."""
        path.rmdir()


disk = Disk()


def write_atomically(path: str | Path, content: str | bytes | Iterable[str]) -> None:
    """Write a file so that it is whole or absent: into a temporary sibling, then renamed.

    The content is on the medium before the name is, so that a power loss leaves the file that was there before or the
    new one, and after the call the new one; beside it may stay a hidden file of an unfinished write.

    A file that is there keeps its mode. What a symbolic link points to is written, and the link stays. Content that
    comes in parts is written as they come.
    """
    target = Path(path)
    parts = iter([content]) if isinstance(content, str | bytes) else iter(content)
    blocks = (part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part for part in parts)
    if target.exists() and not target.is_file() and not target.is_dir():
        with target.open("wb") as device:  # a device or a pipe cannot be replaced by a file
            device.writelines(blocks)
        return
    try:
        place = Path(os.path.realpath(target, strict=target.exists()))
        temporary = _sibling(place)
    except OSError as error:
        raise InputError(
            f"cannot write ({error.strerror})", path=target, hint="check the directory"
        ) from None
    try:
        disk.write(temporary, next(blocks, b""))
        for block in blocks:
            disk.append(temporary, block)
        temporary.chmod(_mode(place))
        disk.sync(temporary)
        disk.rename(temporary, place)
        disk.sync(place.parent)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InputError(f"cannot write ({error.strerror})", path=target, hint="check the path") from None
        raise


def _sibling(place: Path) -> Path:
    """A new empty file beside a place, hidden, and for us alone. (To load tempfile takes longer than writing does.)"""
    while True:
        path = place.parent / f".{place.name[:40]}.{os.urandom(6).hex()}"
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            continue
        return path


def _mode(place: Path) -> int:
    """The mode of the file that is there, or that of a new one."""
    try:
        return stat.S_IMODE(place.stat().st_mode)
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask
