"""A small parser of numpydoc docstrings, for help that must load fast (importing numpydoc takes 85 ms)."""

import inspect
import re
from typing import NamedTuple


class Docstring(NamedTuple):
    """Parts of a docstring."""

    text: str
    """Text before the first section: summary and extended summary."""
    parameters: dict[str, str]
    """Meaning of each parameter or attribute, in one line."""
    sections: dict[str, str]
    """Text of each section by its title."""


def parse_docstring(text: str | None) -> Docstring:
    """Split a docstring into its sections.

    >>> docstring = parse_docstring('''Count.
    ...
    ...     Parameters
    ...     ----------
    ...     a, b
    ...         Things
    ...         to count.
    ...
    ...     Returns
    ...     -------
    ...     A number.
    ...     ''')
    >>> docstring.text, docstring.parameters, docstring.sections["Returns"]
    ('Count.', {'a': 'Things to count.', 'b': 'Things to count.'}, 'A number.')
    """
    head, *rest = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.cleandoc(text or ""), flags=re.MULTILINE)
    sections = {title: body.strip("\n") for title, body in zip(rest[::2], rest[1::2], strict=True)}
    parameters: dict[str, str] = {}
    described = "\n".join(sections.get(title, "") for title in ("Parameters", "Attributes"))
    for entry in re.split(r"^(?=\S)", described, flags=re.MULTILINE):
        names, _, meaning = entry.partition("\n")
        parameters |= {name.strip(" *"): " ".join(meaning.split()) for name in names.split(",") if name}
    return Docstring(head.strip(), parameters, sections)


def plain_text(text: str) -> str:
    """Return reStructuredText without its markup, as a terminal shows it.

    >>> plain_text("``top`` of :func:`~rankscope.compare`, or None")
    'top of compare, or None'
    """
    named = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"\1", text)
    return named.replace("``", "")
