"""Settings of a scale analysis: length of rankings, grades, and number of documents of each grade."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rankscope.errors import SettingsError


@dataclass(frozen=True)
class Setting:
    """Rankings of ``length`` documents over the grades 0 to ``grades``, at most ``relevant`` of each grade above 0.

    >>> Setting(5, 3), Setting(5, 3).is_limited, Setting(5, 5).is_limited
    (Setting(length=5, relevant=3, grades=1), True, False)
    """

    length: int
    relevant: int
    grades: int = 1

    @classmethod
    def from_arguments(cls, length: int, relevant: int | None, grades: int = 1) -> Setting:
        """Return the validated setting; by default the recall base is the length."""
        if not 1 <= length <= 1000:
            raise SettingsError(f"rankings of length {length}", hint="the length is from 1 to 1000")
        if not 1 <= grades <= 9:
            raise SettingsError(f"grades up to {grades}", hint="grades go up to a number from 1 to 9")
        if relevant is not None and relevant < 1:
            raise SettingsError(f"{relevant} relevant documents", hint="a topic has at least one")
        return cls(length, length if relevant is None else relevant, grades)

    @property
    def is_limited(self) -> bool:
        """Whether the recall base excludes some words of grades as rankings."""
        return self.relevant < self.length

    def with_length(self, length: int) -> Setting:
        """Return a copy with another length of rankings."""
        return replace(self, length=length)

    def __str__(self) -> str:
        """Return a phrase such as "at length 5 with 3 relevant documents"."""
        where = f"at length {self.length}"
        if self.grades > 1:
            return f"{where} over the grades 0 to {self.grades} with {self.relevant} documents of each"
        if self.relevant == self.length:
            return where
        return f"{where} with {self.relevant} relevant document{'s' if self.relevant > 1 else ''}"

    def digits(self, code: int) -> tuple[int, ...]:
        """Return the grades of the ranking with a code, whose digits in base ``grades + 1`` they are.

        >>> Setting(3, 3).digits(6), Setting(3, 3, grades=2).digits(7)
        ((1, 1, 0), (0, 2, 1))
        """
        result = []
        for _ in range(self.length):
            code, digit = divmod(int(code), self.grades + 1)
            result.append(digit)
        return tuple(reversed(result))

    def word(self, code: int) -> str:
        """Return the ranking with a code as text.

        >>> Setting(4, 4).word(6)
        '(0110)'
        """
        return f"({''.join(map(str, self.digits(code)))})"
