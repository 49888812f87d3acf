"""Type variables of the functions that run pieces of work."""

from typing import TypeVar

Piece = TypeVar("Piece")
Result = TypeVar("Result")
