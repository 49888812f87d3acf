"""The rankings that a topic has: their length, their grades, and how many documents of each grade there are."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rankscope.errors import SettingsError

__all__ = ["Setting"]


@dataclass(frozen=True)
class Setting:
    """Rankings of ``length`` documents over the grades 0 to ``grades``, at most ``relevant`` of each grade above 0.

    >>> Setting(5, 3), Setting(5, 3).limited, Setting(5, 5).limited
    (Setting(length=5, relevant=3, grades=1), True, False)
    """

    length: int
    relevant: int
    grades: int = 1

    @classmethod
    def checked(cls, length: int, relevant: int | None, grades: int = 1) -> Setting:
        """The setting that was asked for, if there is such a one."""
        if not 1 <= length <= 1000:
            raise SettingsError(f"rankings of length {length}", hint="the length is from 1 to 1000")
        if not 1 <= grades <= 9:
            raise SettingsError(f"grades up to {grades}", hint="grades go up to a number from 1 to 9")
        if relevant is not None and relevant < 1:
            raise SettingsError(f"{relevant} relevant documents", hint="a topic has at least one")
        return cls(length, length if relevant is None else relevant, grades)

    @property
    def limited(self) -> bool:
        """Whether a ranking could be longer than there are documents of a grade: not every word is a ranking."""
        return self.relevant < self.length

    def of_length(self, length: int) -> Setting:
        """The same topic with other rankings."""
        return replace(self, length=length)

    def __str__(self) -> str:
        """In words, as they follow a sentence: at length 5 with 3 relevant documents."""
        where = f"at length {self.length}"
        if self.grades > 1:
            return f"{where} over the grades 0 to {self.grades} with {self.relevant} documents of each"
        if self.relevant == self.length:
            return where
        return f"{where} with {self.relevant} relevant document{'s' if self.relevant > 1 else ''}"

    def digits(self, code: int) -> tuple[int, ...]:
        """The grades of the ranking with a code, which is a number with one digit for each rank.

        >>> Setting(3, 3).digits(6), Setting(3, 3, grades=2).digits(7)
        ((1, 1, 0), (0, 2, 1))
        """
        found = []
        for _ in range(self.length):
            code, digit = divmod(int(code), self.grades + 1)
            found.append(digit)
        return tuple(reversed(found))

    def written(self, code: int) -> str:
        """The ranking as people write it.

        >>> Setting(4, 4).written(6)
        '(0110)'
        """
        return f"({''.join(map(str, self.digits(code)))})"
