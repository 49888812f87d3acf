"""Loads plugins: Python modules and files that define measures.

A plugin can run any code with the rights of its user. Plugins of the command line are always loaded. A plugin of a
manifest is loaded only if its digest is the one in the manifest, and the user allows it.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from rankscope.errors import InputError, suggest_names
from rankscope.files import digest


def load_plugin(name: str) -> None:
    """Import a module, or a file that ends in ``.py``, which registers its measures."""
    path = Path(name)
    is_file = path.suffix == ".py"
    _make_importable(path.parent.resolve() if is_file else Path.cwd())
    try:
        if is_file:
            _import_file(path.resolve())
        else:
            import_module(name)
    except (Exception, SystemExit) as error:
        problem = f"cannot import plugin ({type(error).__name__}: {error})"
        raise InputError(problem, path=path, hint="check the module") from None


def load_function(text: str) -> Callable[..., Any]:
    """Return the function of ``module:function`` or ``file.py:function``."""
    name, _, attribute = text.rpartition(":")
    if not name or not attribute:
        raise InputError(f"{text!r} names no function", hint="write module:function or file.py:function")
    load_plugin(name)
    path = str(Path(name).resolve())
    files = [m for m in list(sys.modules.values()) if getattr(m, "__file__", None) == path]
    module = files[0] if files else sys.modules[name]
    function: Callable[..., Any] | None = getattr(module, attribute, None)
    if not callable(function):
        names = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        hint = suggest_names(attribute, names) or f"it has {', '.join(names[:5]) or 'none'}"
        raise InputError(f"there is no function {attribute!r}", path=name, hint=hint)
    return function


def _make_importable(folder: Path) -> None:
    """Let a plugin import modules of its folder; the folder comes last, so that it shadows no other module."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _import_file(path: Path) -> None:
    """Import a file once, even if a loaded module has the same name."""
    if any(getattr(module, "__file__", None) == str(path) for module in list(sys.modules.values())):
        return
    name = path.stem if path.stem not in sys.modules else f"rankscope_plugin_{path.stem}"
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None  # Files that end in .py have a loader.
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise


def describe_plugin(name: str) -> dict[str, str | None]:
    """Return name, SHA-256 digest and source of a plugin; a module without a file has neither digest nor source."""
    file = _find_file(name)
    if file is None:
        return {"name": name, "sha256": None}
    content = file.read_bytes()
    description: dict[str, str | None] = {"name": name, "sha256": digest(content)}
    if file.suffix == ".py" and len(content) <= _MAX_SOURCE:
        with suppress(UnicodeDecodeError):
            text = content.decode("utf-8")
            if "\0" not in text:
                description["source"] = text
    return description


_MAX_SOURCE = 1 << 20  # bytes of source that a manifest stores


def load_listed_plugin(plugin: Mapping[str, str | None], folder: Path) -> None:
    """Import a plugin of a manifest in ``folder``, after validating its digest.

    If there is no such file, the source that is stored in the manifest is used.
    """
    name = str(plugin["name"])
    is_file = Path(name).suffix == ".py"
    _make_importable(Path.cwd())
    candidates = [Path(name), folder / name] if is_file else [_find_file(name)]
    path = next((path for path in candidates if path is not None and path.is_file()), None)
    if path is None and plugin["sha256"] is None and not is_file:
        load_plugin(name)  # a module without a file
    elif path is None:
        _load_source(plugin)
    elif digest(path) != plugin["sha256"]:
        stored = ", or move the plugin away: the manifest stores the version that the study used"
        hint = "run a new study" + (stored if plugin.get("source") else "")
        change = _describe_change(plugin, path)
        raise InputError(f"the plugin changed since the study was run{change}", path=path, hint=hint)
    else:
        load_plugin(str(path) if is_file else name)


def _load_source(plugin: Mapping[str, str | None]) -> None:
    """Write the source that a manifest stores to a file of the same name, and load it."""
    name, source = str(plugin["name"]), plugin.get("source")
    if source is None:
        hint = "run in the directory that the study was run in"
        raise InputError("there is no such plugin", path=name, hint=hint)
    content = source.encode("utf-8")
    if digest(content) != plugin["sha256"]:
        problem = "the source of the plugin in the manifest does not have its digest"
        raise InputError(problem, path=name, hint="do not run it")
    # Worker processes that start later import the file again, so it is kept until this process ends.
    import atexit
    import shutil
    from tempfile import mkdtemp

    folder = Path(mkdtemp(prefix="rankscope-plugin-")).resolve()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    file = folder / (Path(name).name if Path(name).suffix == ".py" else f"{name.split('.')[-1]}.py")
    file.write_bytes(content)
    load_plugin(str(file))


def _describe_change(plugin: Mapping[str, str | None], file: Path) -> str:
    """Describe the first line in which a plugin differs from the source in the manifest."""
    stored = (plugin.get("source") or "").splitlines()
    current = file.read_text("utf-8", "replace").splitlines()
    if not stored:
        return ""
    pairs = enumerate(zip(stored, current, strict=False))
    line = next((i for i, (a, b) in pairs if a != b), min(len(stored), len(current)))
    before, after = (lines[line].strip()[:100] if line < len(lines) else "" for lines in (stored, current))
    return f": line {line + 1} was {before!r} and is {after!r}"


def _find_file(name: str) -> Path | None:
    """Return the source file of a plugin, or None for a module without one."""
    if Path(name).suffix == ".py":
        return Path(name)
    try:
        spec = find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None
    return Path(spec.origin) if spec and spec.origin and Path(spec.origin).is_file() else None


def source_files(name: str) -> Iterator[Path]:
    """Yield the files of a plugin: the module, and for a package everything in its directory."""
    _make_importable(Path.cwd())
    if (file := _find_file(name)) is not None:
        yield file
        if file.name == "__init__.py":
            yield from file.parent.rglob("*")
