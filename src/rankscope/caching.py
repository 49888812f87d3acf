"""Caches of values derived from immutable objects; caches are dropped on copy and pickle."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property as locked_property
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")
_MISSING: Any = object()

if TYPE_CHECKING:
    from functools import cached_property as cached_property
else:

    class cached_property(locked_property):
        """A cached property without the lock of Python 3.11, which costs more than most values of small rankings."""

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            value = vars(instance)[self.attrname] = self.func(instance)
            return value


class TransientCacheMixin:
    """An object whose cached properties are left out of copies and pickles, because they can be recomputed."""

    def __getstate__(self) -> dict[str, Any]:
        kind: Any = type(self)  # mypy does not accept that a class is hashable
        cached = _cached_names(kind)
        state = dict(vars(self))
        for name in cached & state.keys():
            del state[name]
        return state


@lru_cache
def _cached_names(kind: type) -> frozenset[str]:
    """Return the names of the cached properties of a class."""
    return frozenset(name for name in dir(kind) if isinstance(getattr(kind, name, None), locked_property))


class CacheMixin(TransientCacheMixin):
    """An object with a cache of derived values that several measures share: views, ideal rankings, curves."""

    @cached_property
    def _cached(self) -> dict[Hashable, Any]:
        return {}

    def cache(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the cached value of a key; call ``compute`` if it is missing.

        >>> thing = CacheMixin()
        >>> thing.cache("answer", lambda: 42), thing.cache("answer", lambda: 43)
        (42, 42)
        """
        value: T = self._cached.get(key, _MISSING)
        if value is _MISSING:
            value = self._cached[key] = compute()
        return value
