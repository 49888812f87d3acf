"""Atomic replacement of a directory of results that preserves files of the user.

A directory that holds only an earlier result is exchanged for the new one in a single step. If it also holds files of
the user, or cannot be exchanged on this system, the new files are written into a hidden directory inside it, which is
renamed to :data:`COMMITTED` once it is complete. This rename commits the new result: its files are then moved into the
directory. If that is interrupted, the next access completes it (:func:`finish_replacement`).

Files and their directories are flushed to the storage device before a rename commits them, so that a power loss has
the same effect as a kill at the same moment.

Only files that the manifest of the earlier result lists are replaced or removed, and only if they are as it left them.
"""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from secrets import token_hex

from rankscope import files as layer
from rankscope.errors import InputError

STAGED = ".rankscope-new"
COMMITTED = ".rankscope-commit"
_MAX_AGE = 3600.0  # Seconds; replacements take less than one, so that older leftovers are abandoned.

ManifestReader = Callable[[Path], Mapping[str, str | None]]
"""Function that returns the names and SHA-256 digests (None: any content) in the manifest of a directory.

It raises an error if the directory has no manifest."""


def replace_directory(
    directory: str | Path, files: Mapping[str, bytes], manifest: str, listed: ManifestReader
) -> None:
    """Write the files of a result atomically; ``manifest`` is the name of the file that lists the others.

    Replaces a directory with an earlier result; rejects any other directory that is not empty.
    """
    target = Path(os.path.realpath(directory))
    display_path = Path(directory)
    try:
        finish_replacement(target, manifest, listed)
        _discard(target / STAGED)
        old = _check_earlier_result(target, display_path, listed)
        _reject_foreign_files(target, display_path, files, old)
        if not _replace_by_sibling(target, files, old):
            _replace_from_within(target, files, manifest, listed)
        _remove_leftovers(target, listed)
    except OSError as error:
        hint = "check the directory"
        raise InputError(f"cannot write ({error.strerror})", path=display_path, hint=hint) from None


def finish_replacement(target: Path, manifest: str, listed: ManifestReader) -> None:
    """Complete a replacement that was interrupted after its commit."""
    committed = target / COMMITTED
    if not committed.is_dir():
        return
    new = sorted(_files(committed))
    # The manifest of the earlier result is still there.
    if manifest in new and (target / manifest).is_file():
        _remove_listed(target, listed(target).keys() - listed(committed).keys())
    for name in sorted(new, key=lambda name: (name == manifest, name)):  # Moves the manifest last.
        _make_parents(target, name)
        layer.disk.rename(committed / name, _resolve(target, name))
    for folder in {_resolve(target, name).parent for name in new} | {target}:
        layer.disk.sync(folder)
    _remove_empty(committed)


def _check_earlier_result(
    target: Path, display_path: Path, listed: ManifestReader
) -> Mapping[str, str | None]:
    """Return the files of the earlier result, if any; raise InputError if one was changed."""
    if not target.exists():
        return {}
    if not target.is_dir():
        raise InputError("this is a file", path=display_path, hint="choose another directory")
    if not any(target.iterdir()):
        return {}
    old = listed(target)
    for name, digest in old.items():
        path = _resolve(target, name)
        if digest is None or not path.exists():
            continue
        if not path.is_file() or layer.digest(path) != digest:
            hint = "choose another directory, or remove the file"
            problem = "the file was changed since it was written here"
            raise InputError(problem, path=display_path / name, hint=hint)
    return old


def _reject_foreign_files(
    target: Path, display_path: Path, files: Mapping[str, bytes], old: Mapping[str, str | None]
) -> None:
    for name in files:
        path = _resolve(target, name)
        folders = [target / parent for parent in PurePosixPath(name).parents[:-1]]
        taken = name not in old and os.path.lexists(path)
        if taken or any(folder.exists() and not folder.is_dir() for folder in folders):
            hint = "move it, or choose another directory"
            raise InputError("rankscope did not write this file", path=display_path / name, hint=hint)


def _replace_by_sibling(target: Path, files: Mapping[str, bytes], old: Mapping[str, str | None]) -> bool:
    """Exchange the directory for a new sibling; return False, without changes, if that is impossible."""
    if target.exists() and set(_entries(target)) - old.keys():
        return False
    fresh = target.parent / f"{_sibling_prefix(target)}{token_hex(8)}"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        layer.disk.make_directory(fresh)
    except OSError:
        return False  # The directory may be writable even if its parent is not.
    try:
        _write_all(fresh, files)
        if target.exists():
            fresh.chmod(target.stat().st_mode & 0o7777)
        is_installed = _install(fresh, target, bool(old))
    except BaseException:
        _discard(fresh)
        raise
    if not is_installed:
        _discard(fresh)
        return False
    layer.disk.sync(target.parent)
    if old:  # The earlier result is now in the sibling.
        _remove_listed(fresh, old)
        for name in list(_entries(fresh)):  # A file that another process added meanwhile.
            if not os.path.lexists(target / name):
                _make_parents(target, name)
                layer.disk.rename(fresh / name, target / name)
        _remove_empty(fresh)
    return True


def _install(fresh: Path, target: Path, exchange: bool) -> bool:
    if exchange:
        return layer.disk.exchange(fresh, target)
    try:
        layer.disk.rename(fresh, target)
    except OSError:  # The target is a mount point, or the system cannot replace directories.
        return False
    return True


def _replace_from_within(
    target: Path, files: Mapping[str, bytes], manifest: str, listed: ManifestReader
) -> None:
    is_new = not target.exists()
    staged = target / STAGED
    try:
        if is_new:
            layer.disk.make_directory(target)
        layer.disk.make_directory(staged)
        _write_all(staged, files)
        layer.disk.rename(staged, target / COMMITTED)
        layer.disk.sync(target)
    except BaseException:
        _discard(staged)
        if is_new:
            _remove_empty(target)
        raise
    finish_replacement(target, manifest, listed)


def _write_all(directory: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a new directory, flushed before their directories."""
    for name, data in files.items():
        _make_parents(directory, name)
        layer.disk.write(directory / name, data)
        layer.disk.sync(directory / name)
    for folder, _, _ in os.walk(directory, topdown=False):
        layer.disk.sync(Path(folder))


def _make_parents(directory: Path, name: str) -> None:
    for parent in reversed(PurePosixPath(name).parents[:-1]):
        if not (directory / parent).is_dir():
            layer.disk.make_directory(directory / parent)


def _resolve(target: Path, name: str) -> Path:
    """Return the path of a file in a manifest; raise InputError if it is outside the directory."""
    parts = PurePosixPath(name).parts
    inside = bool(parts) and not PurePosixPath(name).is_absolute() and ".." not in parts
    inside = inside and not any(c in name for c in "\\:\0") and parts[0] not in (STAGED, COMMITTED)
    path = target.joinpath(*parts)
    between = [target.joinpath(*parts[:n]) for n in range(1, len(parts) + 1)] if inside else []
    if not inside or any(step.is_symlink() for step in between):
        hint = "choose another directory"
        raise InputError(f"{name!r} is not a file of this directory", path=target, hint=hint)
    return path


def _files(directory: Path) -> Iterator[str]:
    """Return the relative names of all files in a directory tree."""
    paths = {name: directory / name for name in _entries(directory)}
    return (name for name, path in paths.items() if path.is_symlink() or not path.is_dir())


def _entries(directory: Path) -> Iterator[str]:
    """Yield the relative names of all files and empty directories in a directory tree."""
    for folder, folders, names in os.walk(directory):
        parent = Path(folder)
        links = [name for name in folders if (parent / name).is_symlink()]
        for name in [*names, *links]:
            yield (parent / name).relative_to(directory).as_posix()
        if parent != directory and not folders and not names:
            yield parent.relative_to(directory).as_posix()


def _discard(directory: Path) -> None:
    """Remove an unfinished directory."""
    if directory.is_dir():
        for name in list(_files(directory)):
            layer.disk.remove(directory / name)
        _remove_empty(directory)


def _remove_listed(directory: Path, names: Iterable[str]) -> None:
    """Remove these files, and their directories if empty."""
    for name in sorted(names):
        layer.disk.remove(_resolve(directory, name))
        for parent in PurePosixPath(name).parents[:-1]:
            if (directory / parent).is_dir() and not any((directory / parent).iterdir()):
                layer.disk.remove_directory(directory / parent)


def _remove_empty(directory: Path) -> None:
    """Remove the empty directories of a tree, including its root."""
    for folder, _, _ in os.walk(directory, topdown=False):
        if not any(Path(folder).iterdir()):
            layer.disk.remove_directory(Path(folder))


def _remove_leftovers(target: Path, listed: ManifestReader) -> None:
    """Remove temporary siblings left behind by replacements of this directory that were killed."""
    for leftover in target.parent.glob(f"{glob.escape(_sibling_prefix(target))}*"):
        try:
            if time.time() - leftover.stat().st_ctime < _MAX_AGE:
                continue
            try:
                names = list(listed(leftover))
            except InputError:  # The replacement was killed before it wrote its manifest.
                names = list(_files(leftover))
            _remove_listed(leftover, names)
            _remove_empty(leftover)
        except (InputError, OSError):
            continue  # It belongs to another program, or is gone already.


def _sibling_prefix(target: Path) -> str:
    return f".{target.name[:40]}.rankscope-"
