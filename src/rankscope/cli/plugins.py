"""Plugins: Python modules and files of the user's that define measures.

A plugin is a program and can do whatever its user can. One that is named on the command line is run; one that a
manifest names is run only if it is the file that the manifest means, and the user allows it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from rankscope.errors import InputError, suggest_names
from rankscope.files import digest

__all__ = ["described_plugin", "load_function", "load_listed_plugin", "load_plugin", "source_files"]


def load_plugin(name: str) -> None:
    """Import a module, or a file that ends in ``.py``, so that its measures are known."""
    path = Path(name)
    is_file = path.suffix == ".py"
    _make_importable(path.parent.resolve() if is_file else Path.cwd())
    try:
        if is_file:
            _import_file(path.resolve())
        else:
            import_module(name)
    except (Exception, SystemExit) as error:
        raise InputError(
            f"the plugin cannot be loaded ({type(error).__name__}: {error})",
            path=path,
            hint="check the module",
        ) from None


def load_function(text: str) -> Callable[..., Any]:
    """The function that ``module:function`` or ``file.py:function`` names."""
    name, _, function = text.rpartition(":")
    if not name or not function:
        raise InputError(f"{text!r} names no function", hint="write module:function or file.py:function")
    load_plugin(name)
    path = str(Path(name).resolve())
    files = [m for m in list(sys.modules.values()) if getattr(m, "__file__", None) == path]
    module = files[0] if files else sys.modules[name]
    found = getattr(module, function, None)
    if not callable(found):
        known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        hint = suggest_names(function, known) or f"it has {', '.join(known[:5]) or 'none'}"
        raise InputError(f"there is no function {function!r}", path=name, hint=hint)
    chosen: Callable[..., Any] = found
    return chosen


def _make_importable(folder: Path) -> None:
    """What lies beside a plugin can be imported by it, but takes no other module's place."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _import_file(path: Path) -> None:
    """Import a file once, also one that is called like a module that is already loaded."""
    if any(getattr(module, "__file__", None) == str(path) for module in list(sys.modules.values())):
        return
    name = path.stem if path.stem not in sys.modules else f"rankscope_plugin_{path.stem}"
    spec = spec_from_file_location(name, path)
    assert spec is not None  # it ends in .py
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise


def described_plugin(name: str) -> dict[str, str | None]:
    """The name, the SHA-256 digest and the source of a plugin; a module that is no file has no digest and no source."""
    file = _file_of(name)
    if file is None:
        return {"name": name, "sha256": None}
    content = file.read_bytes()
    known: dict[str, str | None] = {"name": name, "sha256": digest(content)}
    if file.suffix == ".py" and len(content) <= _LARGEST:
        with suppress(UnicodeDecodeError):
            text = content.decode("utf-8")
            if "\0" not in text:
                known["source"] = text
    return known


_LARGEST = 1 << 20  # bytes of source that a manifest carries


def load_listed_plugin(plugin: Mapping[str, str | None], beside: Path) -> None:
    """Import a plugin that a manifest names, after checking that it is the one it means.

    Where it is not to be found, the source that the manifest carries takes its place.
    """
    name = str(plugin["name"])
    is_file = Path(name).suffix == ".py"
    _make_importable(Path.cwd())
    places = [Path(name), beside / name] if is_file else [_file_of(name)]
    found = next((place for place in places if place is not None and place.is_file()), None)
    if found is None and plugin["sha256"] is None and not is_file:
        load_plugin(name)  # a module that is no file
    elif found is None:
        _load_source(plugin)
    elif digest(found) != plugin["sha256"]:
        raise InputError(
            f"the plugin changed since the study was made{_first_change(plugin, found)}",
            path=found,
            hint="make a new study instead, or move it away: the study carries the plugin that it was made with"
            if plugin.get("source")
            else "make a new study instead",
        )
    else:
        load_plugin(str(found) if is_file else name)


def _load_source(plugin: Mapping[str, str | None]) -> None:
    """Run the source that a manifest carries, as a file of the same name."""
    name, source = str(plugin["name"]), plugin.get("source")
    if source is None:
        raise InputError(
            "the plugin: no such file", path=name, hint="run in the directory the study was made in"
        )
    content = source.encode("utf-8")
    if digest(content) != plugin["sha256"]:
        raise InputError(
            "the source of the plugin in the manifest is not the one with its digest",
            path=name,
            hint="do not run it",
        )
    # kept until the end: processes that are started later import it again
    import atexit
    import shutil
    from tempfile import mkdtemp

    folder = Path(mkdtemp(prefix="rankscope-plugin-")).resolve()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    file = folder / (Path(name).name if Path(name).suffix == ".py" else f"{name.split('.')[-1]}.py")
    file.write_bytes(content)
    load_plugin(str(file))


def _first_change(plugin: Mapping[str, str | None], file: Path) -> str:
    """Where a plugin differs from the source that the manifest carries, in words."""
    then = (plugin.get("source") or "").splitlines()
    now = file.read_text("utf-8", "replace").splitlines()
    if not then:
        return ""
    same = next(
        (i for i, (a, b) in enumerate(zip(then, now, strict=False)) if a != b), min(len(then), len(now))
    )
    before, after = (lines[same].strip()[:100] if same < len(lines) else "" for lines in (then, now))
    return f": line {same + 1} was {before!r} and is {after!r}"


def _file_of(name: str) -> Path | None:
    if Path(name).suffix == ".py":
        return Path(name)
    try:
        found = find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None
    return Path(found.origin) if found and found.origin and Path(found.origin).is_file() else None


def source_files(name: str) -> Iterator[Path]:
    """Yield the files of a plugin: the module, and for a package everything in its directory."""
    _make_importable(Path.cwd())
    if (file := _file_of(name)) is not None:
        yield file
        if file.name == "__init__.py":
            yield from file.parent.rglob("*")
