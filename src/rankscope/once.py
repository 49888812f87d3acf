"""What is made from an object that does not change is made once, and made again where a copy needs it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any, TypeVar

__all__ = ["Derived", "Once"]

T = TypeVar("T")


class Derived:
    """Something whose cached properties follow from the rest of it: copies and pickles travel without them."""

    def __getstate__(self) -> dict[str, Any]:
        kind = type(self)
        return {
            name: value
            for name, value in vars(self).items()
            if not isinstance(getattr(kind, name, None), cached_property)
        }


class Once(Derived):
    """Remembers, by any key, what was made from it: views, ideal lists, curves that several measures share."""

    @cached_property
    def _made(self) -> dict[Hashable, Any]:
        return {}

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What ``make`` gives, which is called the first time only.

        >>> thing = Once()
        >>> thing.once("answer", lambda: 42), thing.once("answer", lambda: 43)
        (42, 42)
        """
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made
