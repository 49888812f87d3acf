"""Formulas as mathematics: the text that a measure has for terminals, set in MathML, which browsers draw by themselves.

A line of a formula is a row of statements. What of a statement is mathematics (sums, products, fractions, powers,
indices) is parsed; its words, and whatever cannot be parsed, stay words.
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
    """A formula as HTML with MathML, a paragraph for each line.

    >>> set_formula("R = 1/k")
    '<p><math displaystyle="true"><mi>R</mi><mo>=</mo><mfrac><mn>1</mn><mi>k</mi></mfrac></math></p>'
    >>> set_formula("as it was")
    '<p>as it was</p>'
    """
    return "".join(f"<p>{_line(line.strip())}</p>" for line in formula.splitlines())


def _line(line: str) -> str:
    """The statements of a line, each as mathematics as far as it is."""
    parts = re.split(r"(;\s+|,\s+(?=[\w+]+(?:\([a-z]\))? = ))", line)
    set_ = [_statement(part) if i % 2 == 0 else f"{part.strip()} " for i, part in enumerate(parts)]
    return "".join(set_).strip()


def _statement(text: str) -> str:
    """A label before a colon, the mathematics, and the words after it; all words if there is no mathematics."""
    label = re.match(r"((?:[a-z0-9][\w-]*(?: [\w-]+)*:|(?:the )?mean over .*? of) )(?=.*[=/^])", text)
    before, rest = (label[0], text[label.end() :]) if label else ("", text)
    ends = [*_ends(rest), len(rest)]
    # the words after it rather without a fraction among them: then more of it is mathematics
    for end in sorted(ends, key=lambda place: " / " in rest[place:]):
        if _may_be_mathematics(rest[:end]):
            try:
                found = _Parser(rest[:end]).whole()
            except ValueError:
                continue
            return _words(before) + f'<math displaystyle="true">{found}</math>' + _words(rest[end:])
    return _words(text)


def _may_be_mathematics(text: str) -> bool:
    """Whether there is an operator outside of parentheses, and before the first relation no sentence."""
    left = re.split(r"[=<>]", text, maxsplit=1)[0] if re.search(r"[=<>]", text) else ""
    words = [
        word for word in re.findall(r"[a-z]{2,}", left.split("sum over")[0]) if word not in (*_GREEK, "of")
    ]
    outside = re.sub(r"\([^()]*\)", "", text)
    return len(words) <= 2 and re.search(r"[=/^<]|\bsum over\b", outside) is not None


def _ends(text: str) -> list[int]:
    """Where mathematics may end and words begin: outside of parentheses and of what a sum is over."""
    hidden = re.sub(
        r"(sum|prod|product) over .*? of\b",
        lambda found: re.sub(r"\S", "x", found[0]).replace(" ", "x"),
        text,
    )
    places = []
    for found in _ENDS.finditer(hidden):
        before = hidden[: found.start()]
        if before.count("(") == before.count(")"):
            places.append(found.start())
    return places


def _words(text: str) -> str:
    """Words, with the signs, indices and powers among them."""
    text = html.escape(text, quote=False)
    for plain, sign in {" * ": " · ", "&lt;=": "≤", "&gt;=": "≥", "-&gt;": "→", " ... ": " … "}.items():
        text = text.replace(plain, sign)
    text = text.replace("1e-12", "10<sup>-12</sup>")
    text = re.sub(r"\^\(([^()]*)\)|\^(-?\w+)", lambda m: f"<sup>{m[1] or m[2]}</sup>", text)
    text = re.sub(rf"\b{_INDEXED.pattern}\b(?!\()", r"\1<sub>\2</sub>", text)
    text = re.sub(r"\b(alpha|beta|gamma)\b(?!_)", lambda m: _GREEK[m[1]], text)
    return re.sub(r"\blog(2|10|<sub>base</sub>)(?!\w)", r"log<sub>\1</sub>", text)


class _Parser:
    """Reads an equation by recursive descent; every method returns MathML."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str, bool]] = []  # kind, text, whether a space is before it
        self.place = 0
        at, text = 0, text.strip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise ValueError(text[at:])
            kind = str(found.lastgroup if found.lastgroup != "over" else "big")
            value = found["over"] or "" if kind == "big" else found[kind]
            if kind == "big":
                value = f"{found['big'].split()[0]} {value}"
            self.tokens.append((kind, value, found[0][:1] == " "))
            at = found.end()

    def peek(self, ahead: int = 0) -> tuple[str, str, bool]:
        place = self.place + ahead
        return self.tokens[place] if place < len(self.tokens) else ("end", "", False)

    def take(self, value: str = "") -> str:
        found = self.peek()[1]
        if self.peek()[0] == "end" or (value and found != value):
            raise ValueError(f"{value} expected")
        self.place += 1
        return found

    def whole(self) -> str:
        """All of it, or an error."""
        found = self.relation()
        if self.peek()[0] != "end":
            raise ValueError(self.peek()[1])
        return found

    def relation(self) -> str:
        made = "" if self.peek()[1] == "=" else self.addition()
        while self.peek()[1] in _RELATIONS:
            made += f"<mo>{_RELATIONS[self.take()]}</mo>{self.addition()}"
        return made

    def addition(self) -> str:
        made = ""
        if self.peek()[1] == "-":
            self.take()
            made = "<mo>−</mo>"
        made += self.product()
        while self.peek()[1] in ("+", "-"):
            sign = "+" if self.take() == "+" else "−"
            made += f"<mo>{sign}</mo>{self.product()}"
        return made

    def product(self, *, summed: bool = False) -> str:
        made = self.fraction(summed)
        while self.peek()[1] == "*":
            self.take()
            # a sum needs no sign of multiplication before it
            made += ("" if self.peek()[0] == "big" else "<mo>·</mo>") + self.fraction(summed)
        return made

    def fraction(self, summed: bool) -> str:
        first = self.place
        above = self.adjacent()
        while self.peek()[1] == "/":
            if summed and self.peek(1)[0] == "big":
                break  # a sum divided by a sum
            above = self.bare(above, first)
            self.take()
            second = self.place
            below = self.bare(self.adjacent(), second)
            above = f"<mfrac>{_row(above)}{_row(below)}</mfrac>"
            first = -1
        return above

    def bare(self, made: str, first: int) -> str:
        """Without the parentheses around all of it: the bar of a fraction is enough."""
        if first >= 0 and self.tokens[first][1] == "(":
            depth = 0
            for place in range(first, self.place):
                depth += {"(": 1, ")": -1}.get(self.tokens[place][1], 0)
                if depth == 0:
                    if place == self.place - 1:
                        return made.removeprefix("<mrow><mo>(</mo>").removesuffix("<mo>)</mo></mrow>")
                    break
        return made

    def adjacent(self) -> str:
        """Factors one beside the other, or words that say what is meant."""
        if self.peek()[0] == "big":
            return self.big()
        words = self.phrase()
        if words:
            return words
        made = self.power()
        while self.peek()[0] in ("number", "name", "signed", "dots", "big") or self.peek()[1] == "(":
            after = self.big() if self.peek()[0] == "big" else self.phrase() or self.power()
            made += (_SPACE if re.search(r">[^<]{2,}</m(?:i|text)>$", made) else "") + after
        return made

    def phrase(self) -> str:
        """Names and numbers in a row with two words among them, as text."""
        last = 0
        while self.peek(last)[0] in ("name", "number") and not self.called(last):
            last += 1
        row = [self.peek(i)[1] for i in range(last)]
        if sum(bool(re.fullmatch(r"[a-z-]{2,}", word)) and word not in _GREEK for word in row) < 2:
            return ""
        self.place += last
        return f"<mtext>{_plain(' '.join(row))}</mtext>"

    def called(self, ahead: int) -> bool:
        """Whether a name has arguments."""
        sign, spaced = self.peek(ahead + 1)[1:]
        return self.peek(ahead)[0] == "name" and sign in ("(", "[") and not spaced

    def big(self) -> str:
        name, _, over = self.take().partition(" ")
        sign = f'<mo movablelimits="false">{_BIG[name]}</mo>'
        under = f"<munder>{sign}<mtext>{_plain(over)}</mtext></munder>" if over else sign
        made = f"<mrow>{under}{self.product(summed=True)}</mrow>"
        if self.peek()[1] == "/":
            self.take()
            made = f"<mfrac>{made}{_row(self.adjacent())}</mfrac>"
        return made

    def power(self) -> str:
        made = self.atom()
        if self.peek()[1] == "^":
            self.take()
            if self.peek()[1] == "(":
                self.take()
                raised = self.addition()
                self.take(")")
            else:
                minus = "<mo>−</mo>" if self.peek()[1] == "-" and self.take() else ""
                raised = minus + self.atom()
            made = f"<msup>{_row(made)}{_row(raised)}</msup>"
        return made

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
            made = f"<msup><mi>{value[0]}</mi><mo>{value[1].replace('-', '−')}</mo></msup>"
            called = self.peek()[1] == "("
        elif kind == "name" and not _PROSE.fullmatch(value):
            made = _name(value)
        else:
            raise ValueError(value)
        if not called:
            return made
        closing = {"(": ")", "[": "]"}[self.peek()[1]]
        return f"<mrow>{made}{self.enclosed(self.peek()[1], closing, self.arguments)}</mrow>"

    def arguments(self) -> str:
        made = self.relation()
        while self.peek()[1] == ",":
            self.take()
            made += f"<mo>,</mo>{self.relation()}"
        return made

    def enclosed(self, opening: str, closing: str, inner: Callable[[], str]) -> str:
        self.take(opening)
        made = inner()
        self.take(closing)
        return f"<mo>{opening}</mo>{made}<mo>{closing}</mo>"


def _name(name: str) -> str:
    """A name: an index below the line, a Greek letter, a logarithm with its base; measures keep their names."""
    if name in ("log2", "log10"):
        return f"<msub><mi>log</mi><mn>{name[3:]}</mn></msub>"
    indexed = _INDEXED.fullmatch(name)
    if indexed:
        return f"<msub><mi>{indexed[1]}</mi>{_name(indexed[2])}</msub>"
    return f"<mi>{_GREEK.get(name, name)}</mi>"


def _plain(text: str) -> str:
    return html.escape(text, quote=False).replace("&lt;=", "≤").replace("&gt;=", "≥").replace(" .. ", " … ")


def _row(made: str) -> str:
    """One element, as fractions and powers need it."""
    kind = re.match(r"<(\w+)[ >]", made)
    closed = kind is not None and _closes(made, kind[1])
    return made if closed else f"<mrow>{made}</mrow>"


def _closes(made: str, kind: str) -> bool:
    """Whether the first element ends where all of it ends."""
    depth = 0
    for found in re.finditer(rf"<(/?){kind}[ >]", made):
        depth += -1 if found[1] else 1
        if depth == 0:
            return made.index(">", found.start()) == len(made) - 1
    return False
