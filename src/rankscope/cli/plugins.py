"""Plugins: Python modules and files of the user's that define measures.

A plugin is a program and can do whatever its user can. One that is named on the command line is run; one that a
manifest names is run only if it is the file that the manifest means, and the user allows it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from rankscope.errors import InputError, nearest
from rankscope.files import digest

__all__ = ["described_plugin", "load_function", "load_listed_plugin", "load_plugin"]


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
        hint = nearest(function, known) or f"it has {', '.join(known[:5]) or 'none'}"
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
    """The name and the SHA-256 digest of a plugin; a module that is no file has none."""
    file = _file_of(name)
    return {"name": name, "sha256": digest(file) if file else None}


def load_listed_plugin(plugin: Mapping[str, str | None], beside: Path) -> None:
    """Import a plugin that a manifest names, after checking that it is the one it means."""
    from rankscope.analysis.study.manifest import checked_input

    name = str(plugin["name"])
    if Path(name).suffix == ".py":
        load_plugin(str(checked_input({"path": name, **plugin}, "the plugin", beside)))
        return
    _make_importable(Path.cwd())
    if described_plugin(name) != plugin:
        raise InputError(
            "the plugin changed since the study was made", path=name, hint="make a new study instead"
        )
    load_plugin(name)


def _file_of(name: str) -> Path | None:
    if Path(name).suffix == ".py":
        return Path(name)
    try:
        found = find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None
    return Path(found.origin) if found and found.origin and Path(found.origin).is_file() else None
