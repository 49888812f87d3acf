"""Vectors of numbers in plain memory, with the arithmetic that formulas of measures need, done by a library in C.

To load numpy takes longer than to evaluate a run. A command that only wants values of the usual measures does without
it: the same formulas (:mod:`rankscope.measures`) are given vectors instead of arrays, and have the same results to the
last bit. A formula that needs more than there is here is evaluated with numpy. Nothing here needs numpy.

>>> half = Vector.of([1, 2]) / 2 if available() else [0.5, 1.0]
>>> list(half)
[0.5, 1.0]
"""

from __future__ import annotations

import ctypes as c
from array import array
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NoReturn

from rankscope.libraries import Signatures, library_beside, loaded

__all__ = ["BeyondVectors", "Vector", "available"]

_P, _N = c.c_void_p, c.c_int64
_FUNCTIONS: Signatures = {
    "rs_vectors_join": (None, [c.c_int32, _P, _N, _P, _N, _P, _N]),
    "rs_vectors_take": (c.c_int32, [_P, _N, _P, _P, _N]),
    "rs_vectors_put": (c.c_int32, [_P, _P, _N, _P, _N]),
    "rs_vectors_where": (_N, [_P, _P, _N]),
    "rs_vectors_of_int32": (None, [_P, _P, _N]),
    "rs_vectors_take_int32": (None, [_P, _P, _P, _N]),
    "rs_vectors_owners": (None, [_P, _N, _P]),
    "rs_vectors_falling": (_N, [_P, _P, _N, _P]),
    "rs_vectors_ordinals": (None, [_P, _P, _N]),
    "rs_vectors_sums": (None, [_P, _P, _N, _N, _P]),
    "rs_vectors_firsts": (None, [_P, _P, _N, _P]),
    "rs_vectors_total": (c.c_double, [_P, _N]),
}
_PLUS, _MINUS, _TIMES, _DIVIDED, _RATIO, _LEAST, _MOST, _AT_MOST, _AT_LEAST, _BELOW, _ABOVE = range(11)


@lru_cache(maxsize=1)
def _library() -> c.CDLL | None:
    return library_beside(
        __file__, "vectors", lambda path: loaded(path, ("rs_vectors_version", 1), _FUNCTIONS)
    )


def available() -> bool:
    """Whether the library was built and can be loaded here."""
    return _library() is not None


class BeyondVectors(Exception):  # noqa: N818 - a signal to whoever can do it with numpy, not an error of the user
    """What a formula asks of a vector, and only an array of numpy can do."""


class Vector:
    """Numbers, each a float of 64 bits. What is not defined here is :class:`BeyondVectors`."""

    __slots__ = ("_values", "address")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, size: int) -> None:
        self._hold(array("d", bytes(8 * size)))

    def _hold(self, values: array[float]) -> None:
        self._values = values
        self.address: int = values.buffer_info()[0]
        """Where the numbers are, for the library."""

    @classmethod
    def of(cls, values: Iterable[float]) -> Vector:
        """A vector of these numbers."""
        made = cls.__new__(cls)
        made._hold(array("d", values))
        return made

    @classmethod
    def of_int32(cls, address: int | None, size: int) -> Vector:
        """Those of a memory with integers of 32 bits."""
        made = cls(size)
        if size:
            _done().rs_vectors_of_int32(address, made.address, size)
        return made

    @classmethod
    def taken_int32(cls, values: int, index: int | None, size: int) -> Vector:
        """Of a memory with integers of 32 bits those at the places in another one."""
        made = cls(size)
        if size:
            _done().rs_vectors_take_int32(values, index, made.address, size)
        return made

    @classmethod
    def owners(cls, ends: int | None, lists: int, size: int) -> Vector:
        """The list of each of so many hits, by a memory that says where lists end: integers of 64 bits."""
        made = cls(size)
        if size:
            _done().rs_vectors_owners(ends, lists, made.address)
        return made

    @classmethod
    def joined(cls, parts: Iterable[Vector]) -> Vector:
        """One after the other."""
        values = array("d")
        for part in parts:
            values += part._values
        made = cls.__new__(cls)
        made._hold(values)
        return made

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[float]:
        return iter(self._values)

    def __repr__(self) -> str:
        return f"Vector.of({self.tolist()})"

    def tolist(self) -> list[float]:
        """The numbers, as Python has them."""
        return self._values.tolist()

    # number by number ---------------------------------------------------------------------------------------------

    def _join(self, operation: int, other: Any, swapped: bool = False) -> Vector:
        if isinstance(other, Vector):
            if len(other) != len(self):
                raise ValueError("vectors of different lengths")
            right, step = other, 1
        elif isinstance(other, int | float):
            right, step = Vector.of([other]), 0
        else:
            raise BeyondVectors(f"a vector with {type(other).__name__}")
        if isinstance(self, Truths) and isinstance(other, Truths) and operation < _LEAST:
            raise BeyondVectors("arithmetic of truths")  # which is logic to numpy
        made = Vector(len(self))
        sides = (right.address, step, self.address, 1) if swapped else (self.address, 1, right.address, step)
        _done().rs_vectors_join(operation, *sides, made.address, len(self))
        return made

    def __add__(self, other: Any) -> Vector:
        return self._join(_PLUS, other)

    def __radd__(self, other: Any) -> Vector:
        return self._join(_PLUS, other, swapped=True)

    def __sub__(self, other: Any) -> Vector:
        return self._join(_MINUS, other)

    def __rsub__(self, other: Any) -> Vector:
        return self._join(_MINUS, other, swapped=True)

    def __mul__(self, other: Any) -> Vector:
        return self._join(_TIMES, other)

    def __rmul__(self, other: Any) -> Vector:
        return self._join(_TIMES, other, swapped=True)

    def __truediv__(self, other: Any) -> Vector:
        return self._join(_DIVIDED, other)

    def __rtruediv__(self, other: Any) -> Vector:
        return self._join(_DIVIDED, other, swapped=True)

    def __le__(self, other: Any) -> Truths:
        return Truths.told(self._join(_AT_MOST, other))

    def __ge__(self, other: Any) -> Truths:
        return Truths.told(self._join(_AT_LEAST, other))

    def __lt__(self, other: Any) -> Truths:
        return Truths.told(self._join(_BELOW, other))

    def __gt__(self, other: Any) -> Truths:
        return Truths.told(self._join(_ABOVE, other))

    def over(self, other: Any) -> Vector:
        """The ratio, 0 where the other number is 0."""
        return self._join(_RATIO, other)

    def least(self, other: Any) -> Vector:
        """The smaller of two numbers."""
        return self._join(_LEAST, other)

    def most(self, other: Any) -> Vector:
        """The larger of two numbers."""
        return self._join(_MOST, other)

    def astype(self, kind: type) -> Vector:
        """The same numbers: they are floats already."""
        if kind is not float:
            raise BeyondVectors(f"a vector of {kind}")
        return self

    # some of them, list by list, all of them ----------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Vector:
        """The numbers at the places that another vector has, or where something is true."""
        if not isinstance(index, Vector):
            raise BeyondVectors(f"a vector at {index!r}")
        if isinstance(index, Truths):
            if len(index) != len(self):
                raise ValueError("vectors of different lengths")
            index = index.nonzero()
        made = Vector(len(index))
        if not _done().rs_vectors_take(self.address, len(self), index.address, made.address, len(index)):
            raise IndexError("a place that is not in the vector")
        return made

    def copy(self) -> Vector:
        """The same numbers once more."""
        return Vector.of(self._values)

    def put(self, places: Vector, values: Vector) -> None:
        """Other numbers at some places."""
        if not _done().rs_vectors_put(values.address, places.address, len(places), self.address, len(self)):
            raise IndexError("a place that is not in the vector")

    def nonzero(self) -> Vector:
        """The places at which there is no 0."""
        places = Vector(len(self) + 1)
        return places._first(_done().rs_vectors_where(self.address, places.address, len(self)))

    def _first(self, count: int) -> Vector:
        made = Vector.__new__(Vector)
        made._hold(self._values[:count])
        return made

    def ordinals(self) -> Vector:
        """Of a vector of lists: 1 for the first hit of a list, 2 for the second, ..."""
        made = Vector(len(self))
        _done().rs_vectors_ordinals(self.address, made.address, len(self))
        return made

    def falling(self, values: Vector) -> Vector:
        """Of a vector of lists: the places of the values above 0, within each list from the largest to the smallest."""
        places = Vector(len(self))
        return places._first(
            _done().rs_vectors_falling(self.address, values.address, len(self), places.address)
        )

    def sums(self, values: Any, size: int) -> Vector:
        """Of a vector of lists: the sum of a value over each of so many lists, added one by one."""
        made = Vector(size)
        each, step = (values, 1) if isinstance(values, Vector) else (Vector.of([values]), 0)
        _done().rs_vectors_sums(self.address, each.address, step, len(self), made.address)
        return made

    def firsts(self, values: Vector, otherwise: float, size: int) -> Vector:
        """Of a vector of lists: the value at the first hit of each of so many lists."""
        made = Vector.of([otherwise] * size)
        _done().rs_vectors_firsts(self.address, values.address, len(self), made.address)
        return made

    def total(self) -> float:
        """The sum of all, with the bits that numpy's has."""
        found: float = _done().rs_vectors_total(self.address, len(self))
        return found

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(name) if name.startswith("__") else BeyondVectors(f"{name} of a vector")

    def _beyond(self, *_: Any, **__: Any) -> NoReturn:
        raise BeyondVectors("an operation on vectors")

    __eq__ = __ne__ = __bool__ = __pow__ = __rpow__ = __neg__ = __abs__ = __invert__ = __and__ = __or__ = (
        _beyond
    )
    __mod__ = __floordiv__ = __array__ = __setitem__ = _beyond
    __array_ufunc__ = __array_function__ = _beyond  # numpy asks these first


class Truths(Vector):
    """Where something holds (1) and where it does not (0), as a comparison tells: as an index it chooses numbers."""

    __slots__ = ()

    @classmethod
    def told(cls, vector: Vector) -> Truths:
        """What a comparison has found."""
        made = cls.__new__(cls)
        made._hold(vector._values)
        return made

    def astype(self, kind: type) -> Vector:
        """The same as numbers."""
        return super().astype(kind).copy()


def _done() -> c.CDLL:
    library = _library()
    assert library is not None
    return library
