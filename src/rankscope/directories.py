"""Replacing a directory of results: the old one or the new one is in place, and nobody's own files are touched.

A directory that holds an earlier result and nothing else is exchanged for the new one in a single step. One that also
holds files of the user's, or that cannot be exchanged here, is changed from within: the new files are written into a
hidden directory inside it, which is renamed to :data:`COMMITTED` once it is whole. From then on the new result counts:
its files are moved to their places, and should that be cut off, whoever opens the directory next does the rest
(:func:`finish_replacement`).

Files and the directories that hold them are on the medium before a rename makes them the result, so that a power loss
leaves what a kill at the same moment leaves.

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

__all__ = ["COMMITTED", "ManifestReader", "finish_replacement", "replace_directory"]

STAGED = ".rankscope-new"
COMMITTED = ".rankscope-commit"
_FORGOTTEN = 3600.0  # seconds: a replacement takes less than one

ManifestReader = Callable[[Path], Mapping[str, str | None]]
"""What the manifest in a directory lists: names and SHA-256 digests (None: any content); an error if it has none."""


def replace_directory(
    directory: str | Path, files: Mapping[str, bytes], manifest: str, listed: ManifestReader
) -> None:
    """Write all files of a result, or none; ``manifest`` is the one that lists the others.

    A directory that holds an earlier result is replaced; any other that is not empty is refused.
    """
    target = Path(os.path.realpath(directory))
    shown = Path(directory)
    try:
        finish_replacement(target, manifest, listed)
        _discard(target / STAGED)
        old = _earlier(target, shown, listed)
        _refuse_taken_names(target, shown, files, old)
        if not _replace_from_beside(target, files, old):
            _replace_from_within(target, files, manifest, listed)
        _sweep(target, listed)
    except OSError as error:
        raise InputError(f"cannot write ({error.strerror})", path=shown, hint="check the directory") from None


def finish_replacement(target: Path, manifest: str, listed: ManifestReader) -> None:
    """Do what is left of a replacement that was cut off after the new result was whole."""
    committed = target / COMMITTED
    if not committed.is_dir():
        return
    new = sorted(_files(committed))
    if manifest in new and (target / manifest).is_file():  # still that of the earlier result
        _remove_listed(target, listed(target).keys() - listed(committed).keys())
    for name in sorted(new, key=lambda name: (name == manifest, name)):  # the manifest last
        _make_parents(target, name)
        layer.disk.rename(committed / name, _place(target, name))
    for folder in {_place(target, name).parent for name in new} | {target}:
        layer.disk.sync(folder)
    _remove_empty(committed)


def _earlier(target: Path, shown: Path, listed: ManifestReader) -> Mapping[str, str | None]:
    """The files of the result that is there, all as it left them."""
    if not target.exists():
        return {}
    if not target.is_dir():
        raise InputError("this is a file", path=shown, hint="choose another directory")
    if not any(target.iterdir()):
        return {}
    old = listed(target)
    for name, digest in old.items():
        path = _place(target, name)
        if digest is None or not path.exists():
            continue
        if not path.is_file() or layer.digest(path) != digest:
            raise InputError(
                "the file was changed since it was written here",
                path=shown / name,
                hint="choose another directory, or remove the file",
            )
    return old


def _refuse_taken_names(
    target: Path, shown: Path, files: Mapping[str, bytes], old: Mapping[str, str | None]
) -> None:
    for name in files:
        path = _place(target, name)
        folders = [target / parent for parent in PurePosixPath(name).parents[:-1]]
        taken = name not in old and os.path.lexists(path)
        if taken or any(folder.exists() and not folder.is_dir() for folder in folders):
            raise InputError(
                "rankscope did not write this file",
                path=shown / name,
                hint="move it, or choose another directory",
            )


def _replace_from_beside(target: Path, files: Mapping[str, bytes], old: Mapping[str, str | None]) -> bool:
    """A new directory takes the place of the old one; False, and nothing done, if it cannot."""
    if target.exists() and set(_entries(target)) - old.keys():
        return False
    fresh = target.parent / f"{_beside(target)}{token_hex(8)}"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        layer.disk.make_directory(fresh)
    except OSError:
        return False  # where the parent cannot be written, the directory itself may be
    try:
        _write_all(fresh, files)
        if target.exists():
            fresh.chmod(target.stat().st_mode & 0o7777)
        placed = _placed(fresh, target, bool(old))
    except BaseException:
        _discard(fresh)
        raise
    if not placed:
        _discard(fresh)
        return False
    layer.disk.sync(target.parent)
    if old:  # the earlier result now has the other name
        _remove_listed(fresh, old)
        for name in list(_entries(fresh)):  # somebody put a file there at this very moment
            if not os.path.lexists(target / name):
                _make_parents(target, name)
                layer.disk.rename(fresh / name, target / name)
        _remove_empty(fresh)
    return True


def _placed(fresh: Path, target: Path, exchange: bool) -> bool:
    if exchange:
        return layer.disk.exchange(fresh, target)
    try:
        layer.disk.rename(fresh, target)
    except OSError:  # a place where something is mounted, or a system that replaces no directory
        return False
    return True


def _replace_from_within(
    target: Path, files: Mapping[str, bytes], manifest: str, listed: ManifestReader
) -> None:
    made = not target.exists()
    staged = target / STAGED
    try:
        if made:
            layer.disk.make_directory(target)
        layer.disk.make_directory(staged)
        _write_all(staged, files)
        layer.disk.rename(staged, target / COMMITTED)
        layer.disk.sync(target)
    except BaseException:
        _discard(staged)
        if made:
            _remove_empty(target)
        raise
    finish_replacement(target, manifest, listed)


def _write_all(place: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a new directory, all on the medium before their directories are."""
    for name, data in files.items():
        _make_parents(place, name)
        layer.disk.write(place / name, data)
        layer.disk.sync(place / name)
    for folder, _, _ in os.walk(place, topdown=False):
        layer.disk.sync(Path(folder))


def _make_parents(place: Path, name: str) -> None:
    for parent in reversed(PurePosixPath(name).parents[:-1]):
        if not (place / parent).is_dir():
            layer.disk.make_directory(place / parent)


def _place(target: Path, name: str) -> Path:
    """Where a file that a manifest lists stands; an error if that is not inside the directory."""
    parts = PurePosixPath(name).parts
    inside = bool(parts) and not PurePosixPath(name).is_absolute() and ".." not in parts
    inside = inside and not any(c in name for c in "\\:\0") and parts[0] not in (STAGED, COMMITTED)
    path = target.joinpath(*parts)
    between = [target.joinpath(*parts[:n]) for n in range(1, len(parts) + 1)] if inside else []
    if not inside or any(step.is_symlink() for step in between):
        raise InputError(
            f"{name!r} is not a file of this directory", path=target, hint="choose another directory"
        )
    return path


def _files(place: Path) -> Iterator[str]:
    """The names of everything in a directory that is no directory itself."""
    return (name for name in _entries(place) if (place / name).is_symlink() or not (place / name).is_dir())


def _entries(place: Path) -> Iterator[str]:
    """The names of everything in a directory that is no directory, or an empty one."""
    for folder, folders, names in os.walk(place):
        here = Path(folder)
        links = [name for name in folders if (here / name).is_symlink()]
        for name in [*names, *links]:
            yield (here / name).relative_to(place).as_posix()
        if here != place and not folders and not names:
            yield here.relative_to(place).as_posix()


def _discard(place: Path) -> None:
    """Remove a directory of files that we were writing."""
    if place.is_dir():
        for name in list(_files(place)):
            layer.disk.remove(place / name)
        _remove_empty(place)


def _remove_listed(place: Path, names: Iterable[str]) -> None:
    """Remove these files, and the directories that were made for them unless there is something else inside."""
    for name in sorted(names):
        layer.disk.remove(_place(place, name))
        for parent in PurePosixPath(name).parents[:-1]:
            if (place / parent).is_dir() and not any((place / parent).iterdir()):
                layer.disk.remove_directory(place / parent)


def _remove_empty(place: Path) -> None:
    """Remove a directory if there is nothing but empty directories inside, and these."""
    for folder, _, _ in os.walk(place, topdown=False):
        if not any(Path(folder).iterdir()):
            layer.disk.remove_directory(Path(folder))


def _sweep(target: Path, listed: ManifestReader) -> None:
    """Remove what earlier replacements of this directory left beside it when they were killed."""
    for left in target.parent.glob(f"{glob.escape(_beside(target))}*"):
        try:
            if time.time() - left.stat().st_ctime < _FORGOTTEN:
                continue
            try:
                names = list(listed(left))
            except InputError:  # killed before its manifest was written
                names = list(_files(left))
            _remove_listed(left, names)
            _remove_empty(left)
        except (InputError, OSError):
            continue  # not ours, or gone already


def _beside(target: Path) -> str:
    return f".{target.name[:40]}.rankscope-"
