"""Convert the plain-text formulas of measures to MathML.

A line of a formula is a sequence of statements. The parser converts the mathematics of a statement (sums, products,
fractions, powers, indices); words, and text that it cannot parse, stay text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable

__all__ = ["set_formula"]

_GREEK = {"alpha": "α", "beta": "β", "gamma": "γ"}
_BIG = {"sum": "∑", "prod": "∏", "product": "∏"}
_RELATIONS = {"=": "=", "<": "&lt;", ">": "&gt;", "<=": "≤", ">=": "≥", "->": "→", "in proportion to": "∝"}
_PROSE = re.compile("(?:and?|are|as|at|by|each|for|has|if|in|is|its?|o[fnr]|than|that|the|to|where|with)")
_TOKEN = re.compile(
    r"\s*(?:(?P<big>(?:sum|product|prod) (?:over (?P<over>.*?) of(?= )|of(?= [A-Z]\(i\))))"
    r"|(?P<related>in proportion to)|(?P<number>\d+(?:\.\d+)?(?:e-\d+)?)|(?P<signed>s[+-](?=\(| [=/]|$))"
    r"|(?P<name>[a-z]+-[a-z]{2,}|[A-Za-z][A-Za-z0-9_]*(?:@[a-z])?)|(?P<dots>\.\.\.)|(?P<sign><=|>=|->|[-+*/^()\[\]=<>,]))"
)
_ENDS = re.compile(r"(?:,(?= )|:(?= )| (?=(?:if|for|where|with|unless|as|and|or|but|at|over|cut off) ))")
_SPACE = '<mspace width="0.2em"/>'
_INDEXED = re.compile(r"([A-Za-z]{1,5})_([a-zA-Z0-9]|max|min|base)")


def set_formula(formula: str) -> str:
    """Return a formula as HTML with MathML, with a paragraph for each line.

    >>> set_formula("R = 1/k")
    '<p><math displaystyle="true"><mi>R</mi><mo>=</mo><mfrac><mn>1</mn><mi>k</mi></mfrac></math></p>'
    >>> set_formula("as it was")
    '<p>as it was</p>'
    """
    return "".join(f"<p>{_line(line.strip())}</p>" for line in formula.splitlines())


def _line(line: str) -> str:
    """Convert the statements of a line."""
    parts = re.split(r"(;\s+|,\s+(?=[\w+]+(?:\([a-z]\))? = ))", line)
    set_ = [_statement(part) if i % 2 == 0 else f"{part.strip()} " for i, part in enumerate(parts)]
    return "".join(set_).strip()


def _statement(text: str) -> str:
    """Convert a statement: an optional label before a colon, mathematics, and the words after it."""
    label = re.match(r"((?:[a-z0-9][\w-]*(?: [\w-]+)*:|(?:the )?mean over .*? of) )(?=.*[=/^])", text)
    before, rest = (label[0], text[label.end() :]) if label else ("", text)
    ends = [*_ends(rest), len(rest)]
    # Prefer ends after which no fraction follows, so that more of the statement becomes mathematics.
    for end in sorted(ends, key=lambda position: " / " in rest[position:]):
        if _may_be_mathematics(rest[:end]):
            try:
                mathml = _Parser(rest[:end]).whole()
            except ValueError:
                continue
            return _words(before) + f'<math displaystyle="true">{mathml}</math>' + _words(rest[end:])
    return _words(text)


def _may_be_mathematics(text: str) -> bool:
    """Return whether text has an operator outside parentheses and no sentence before its first relation."""
    left = re.split(r"[=<>]", text, maxsplit=1)[0] if re.search(r"[=<>]", text) else ""
    words = [
        word for word in re.findall(r"[a-z]{2,}", left.split("sum over")[0]) if word not in (*_GREEK, "of")
    ]
    outside = re.sub(r"\([^()]*\)", "", text)
    return len(words) <= 2 and re.search(r"[=/^<]|\bsum over\b", outside) is not None


def _ends(text: str) -> list[int]:
    """Return where words may begin: outside parentheses and outside the range of a sum."""
    hidden = re.sub(
        r"(sum|prod|product) over .*? of\b",
        lambda match: re.sub(r"\S", "x", match[0]).replace(" ", "x"),
        text,
    )
    ends = []
    for match in _ENDS.finditer(hidden):
        before = hidden[: match.start()]
        if before.count("(") == before.count(")"):
            ends.append(match.start())
    return ends


def _words(text: str) -> str:
    """Convert words, including the signs, indices and powers among them."""
    text = html.escape(text, quote=False)
    for plain, sign in {" * ": " · ", "&lt;=": "≤", "&gt;=": "≥", "-&gt;": "→", " ... ": " … "}.items():
        text = text.replace(plain, sign)
    text = text.replace("1e-12", "10<sup>-12</sup>")
    text = re.sub(r"\^\(([^()]*)\)|\^(-?\w+)", lambda m: f"<sup>{m[1] or m[2]}</sup>", text)
    text = re.sub(rf"\b{_INDEXED.pattern}\b(?!\()", r"\1<sub>\2</sub>", text)
    text = re.sub(r"\b(alpha|beta|gamma)\b(?!_)", lambda m: _GREEK[m[1]], text)
    return re.sub(r"\blog(2|10|<sub>base</sub>)(?!\w)", r"log<sub>\1</sub>", text)


class _Parser:
    """Recursive-descent parser of equations; its methods return MathML."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str, bool]] = []  # kind, text, whether a space is before it
        self.position = 0
        position, text = 0, text.strip()
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise ValueError(text[position:])
            kind = str(match.lastgroup if match.lastgroup != "over" else "big")
            value = match["over"] or "" if kind == "big" else match[kind]
            if kind == "big":
                value = f"{match['big'].split()[0]} {value}"
            self.tokens.append((kind, value, match[0][:1] == " "))
            position = match.end()

    def peek(self, ahead: int = 0) -> tuple[str, str, bool]:
        index = self.position + ahead
        return self.tokens[index] if index < len(self.tokens) else ("end", "", False)

    def take(self, value: str = "") -> str:
        token = self.peek()[1]
        if self.peek()[0] == "end" or (value and token != value):
            raise ValueError(f"{value} expected")
        self.position += 1
        return token

    def whole(self) -> str:
        """Parse the whole text, or raise ValueError."""
        mathml = self.relation()
        if self.peek()[0] != "end":
            raise ValueError(self.peek()[1])
        return mathml

    def relation(self) -> str:
        mathml = "" if self.peek()[1] == "=" else self.addition()
        while self.peek()[1] in _RELATIONS:
            mathml += f"<mo>{_RELATIONS[self.take()]}</mo>{self.addition()}"
        return mathml

    def addition(self) -> str:
        mathml = ""
        if self.peek()[1] == "-":
            self.take()
            mathml = "<mo>−</mo>"
        mathml += self.product()
        while self.peek()[1] in ("+", "-"):
            sign = "+" if self.take() == "+" else "−"
            mathml += f"<mo>{sign}</mo>{self.product()}"
        return mathml

    def product(self, *, summed: bool = False) -> str:
        mathml = self.fraction(summed)
        while self.peek()[1] == "*":
            self.take()
            # A sum needs no multiplication sign before it.
            mathml += ("" if self.peek()[0] == "big" else "<mo>·</mo>") + self.fraction(summed)
        return mathml

    def fraction(self, summed: bool) -> str:
        first = self.position
        above = self.adjacent()
        while self.peek()[1] == "/":
            if summed and self.peek(1)[0] == "big":
                break  # a sum divided by a sum
            above = self.bare(above, first)
            self.take()
            second = self.position
            below = self.bare(self.adjacent(), second)
            above = f"<mfrac>{_row(above)}{_row(below)}</mfrac>"
            first = -1
        return above

    def bare(self, mathml: str, first: int) -> str:
        """Remove enclosing parentheses, which the bar of a fraction makes redundant."""
        if first >= 0 and self.tokens[first][1] == "(":
            depth = 0
            for index in range(first, self.position):
                depth += {"(": 1, ")": -1}.get(self.tokens[index][1], 0)
                if depth == 0:
                    if index == self.position - 1:
                        return mathml.removeprefix("<mrow><mo>(</mo>").removesuffix("<mo>)</mo></mrow>")
                    break
        return mathml

    def adjacent(self) -> str:
        """Parse adjacent factors, or a phrase."""
        if self.peek()[0] == "big":
            return self.big()
        words = self.phrase()
        if words:
            return words
        mathml = self.power()
        while self.peek()[0] in ("number", "name", "signed", "dots", "big") or self.peek()[1] == "(":
            after = self.big() if self.peek()[0] == "big" else self.phrase() or self.power()
            mathml += (_SPACE if re.search(r">[^<]{2,}</m(?:i|text)>$", mathml) else "") + after
        return mathml

    def phrase(self) -> str:
        """Parse a sequence of names and numbers that has at least two words, as text."""
        last = 0
        while self.peek(last)[0] in ("name", "number") and not self.called(last):
            last += 1
        row = [self.peek(i)[1] for i in range(last)]
        if sum(bool(re.fullmatch(r"[a-z-]{2,}", word)) and word not in _GREEK for word in row) < 2:
            return ""
        self.position += last
        return f"<mtext>{_plain(' '.join(row))}</mtext>"

    def called(self, ahead: int) -> bool:
        """Return whether a name has arguments."""
        sign, spaced = self.peek(ahead + 1)[1:]
        return self.peek(ahead)[0] == "name" and sign in ("(", "[") and not spaced

    def big(self) -> str:
        name, _, over = self.take().partition(" ")
        sign = f'<mo movablelimits="false">{_BIG[name]}</mo>'
        under = f"<munder>{sign}<mtext>{_plain(over)}</mtext></munder>" if over else sign
        mathml = f"<mrow>{under}{self.product(summed=True)}</mrow>"
        if self.peek()[1] == "/":
            self.take()
            mathml = f"<mfrac>{mathml}{_row(self.adjacent())}</mfrac>"
        return mathml

    def power(self) -> str:
        mathml = self.atom()
        if self.peek()[1] == "^":
            self.take()
            if self.peek()[1] == "(":
                self.take()
                raised = self.addition()
                self.take(")")
            else:
                minus = "<mo>−</mo>" if self.peek()[1] == "-" and self.take() else ""
                raised = minus + self.atom()
            mathml = f"<msup>{_row(mathml)}{_row(raised)}</msup>"
        return mathml

    def atom(self) -> str:
        kind, value, _ = self.peek()
        if value == "(":
            return f"<mrow>{self.enclosed('(', ')', self.relation)}</mrow>"
        called = self.called(0)
        value = self.take()
        if kind == "number":
            base, _, exponent = value.partition("e")
            return f"<mn>{base}</mn>" if not exponent else f"<msup><mn>10</mn><mn>{exponent}</mn></msup>"
        if kind == "dots":
            return "<mo>⋯</mo>"
        if kind == "signed":
            mathml = f"<msup><mi>{value[0]}</mi><mo>{value[1].replace('-', '−')}</mo></msup>"
            called = self.peek()[1] == "("
        elif kind == "name" and not _PROSE.fullmatch(value):
            mathml = _name(value)
        else:
            raise ValueError(value)
        if not called:
            return mathml
        closing = {"(": ")", "[": "]"}[self.peek()[1]]
        return f"<mrow>{mathml}{self.enclosed(self.peek()[1], closing, self.arguments)}</mrow>"

    def arguments(self) -> str:
        mathml = self.relation()
        while self.peek()[1] == ",":
            self.take()
            mathml += f"<mo>,</mo>{self.relation()}"
        return mathml

    def enclosed(self, opening: str, closing: str, inner: Callable[[], str]) -> str:
        self.take(opening)
        mathml = inner()
        self.take(closing)
        return f"<mo>{opening}</mo>{mathml}<mo>{closing}</mo>"


def _name(name: str) -> str:
    """Convert a name: subscripts, Greek letters, logarithms with their base; measures keep their names."""
    if name in ("log2", "log10"):
        return f"<msub><mi>log</mi><mn>{name[3:]}</mn></msub>"
    indexed = _INDEXED.fullmatch(name)
    if indexed:
        return f"<msub><mi>{indexed[1]}</mi>{_name(indexed[2])}</msub>"
    return f"<mi>{_GREEK.get(name, name)}</mi>"


def _plain(text: str) -> str:
    return html.escape(text, quote=False).replace("&lt;=", "≤").replace("&gt;=", "≥").replace(" .. ", " … ")


def _row(mathml: str) -> str:
    """Wrap MathML into a single element, as fractions and powers require."""
    kind = re.match(r"<(\w+)[ >]", mathml)
    closed = kind is not None and _closes(mathml, kind[1])
    return mathml if closed else f"<mrow>{mathml}</mrow>"


def _closes(mathml: str, kind: str) -> bool:
    """Return whether the first element encloses the whole text."""
    depth = 0
    for tag in re.finditer(rf"<(/?){kind}[ >]", mathml):
        depth += -1 if tag[1] else 1
        if depth == 0:
            return mathml.index(">", tag.start()) == len(mathml) - 1
    return False
