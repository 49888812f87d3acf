"""What is made from an object that does not change is made once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any, TypeVar

__all__ = ["Once"]

T = TypeVar("T")


class Once:
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
