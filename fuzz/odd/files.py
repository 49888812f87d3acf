"""Judgments and runs, ordinary and odd, from a random generator: the same seed gives the same bytes."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable

TOPICS = [
    b"1",
    b"2",
    b"10",
    b"301",
    b"wt09-1",
    "é".encode(),
    b"\xff\xfe",
    b"=1+1",
    b"<b>&amp;",
    b"\x1b[31m",
    b"t" * 300,
]
DOCUMENTS = [b"d%d" % i for i in range(12)] + [
    b"D1", b"d\xe9", b"-", b"'", b'"', b"a#d", b"<script>", "d\u2028".encode(), b"d" * 400, b"=cmd", b"\\", b"%s",
]  # fmt: skip
GRADES = [b"0", b"1", b"2", b"3", b"1", b"0", b"-1", b"-2", b"+1", b"007", b"2147483646"]
ODD_GRADES = [
    b"2147483647",
    b"-2147483648",
    b"9" * 25,
    b"1.0",
    b"x",
    b"1e1",
    b"",
    b"nan",
    b"0x1",
    b"1_0",
    b"\xd9\xa1",
]
SCORES = [
    b"1",
    b"2",
    b"3.5",
    b"0",
    b"-0.0",
    b"0.0",
    b"1e-3",
    b"-inf",
    b"inf",
    b"1e999",
    b"12.25",
    b"+7",
    b".5",
    b"6.",
]
ODD_SCORES = [
    b"nan",
    b"-nan",
    b"0x10",
    b"1_0",
    b"high",
    b"9" * 400,
    b"1e",
    b"1,5",
    b"1.2.3",
    b"--1",
    b"\xd9\xa1",
    b"1e5000000",
]
ENDS = [
    b"\r",
    "\x85".encode(),
    "\u2028".encode(),
    "\u2029".encode(),
    b"\x0b",
    b"\x0c",
    b"\x1c",
    b"\x1e",
    b"\r\r\n",
    b"\n\r",
]
SPLICES = [
    *ENDS, b"\n", b"\r\n", b"\t", b" ", b"\x00", b"\xff", b"#", b"\n\n", b"\n#\n", b"# ", b"nan", b"1 0 d1 9\n",
    b"\xef\xbb\xbf", b"\xa0", b"\xc2\xa0", b"1 Q0 d1 1 1 t\n", b"\xed\xa0\x80", b"\x1f\x8b",
]  # fmt: skip

Collection = tuple[bytes, list[bytes]]


def collection(rng: random.Random, odd: float) -> Collection:
    """Judgments and one to three runs; ``odd`` is the share of values that are not what they should be."""
    topics = rng.sample(TOPICS, rng.randint(1, 5))
    documents = rng.sample(DOCUMENTS, rng.randint(2, 14))
    iterations = rng.choice([[b"0"], [b"0"], [b"Q0"], [b"1", b"2"]])
    judged = []
    for topic in topics:
        for iteration in iterations:
            mine = rng.sample(documents, rng.randint(1, len(documents)))
            judged += [b" ".join([topic, iteration, d, _one(rng, GRADES, ODD_GRADES, odd)]) for d in mine]
    runs = [_run(rng, topics, documents, odd) for _ in range(rng.choice([1, 2, 2, 3]))]
    if rng.random() < 0.1:
        runs = [runs[0]] * len(runs)
    return b"\n".join(judged) + b"\n", runs


def _one(rng: random.Random, usual: list[bytes], strange: list[bytes], odd: float) -> bytes:
    return rng.choice(strange if rng.random() < odd else usual)


def _run(rng: random.Random, topics: list[bytes], documents: list[bytes], odd: float) -> bytes:
    lines, constant = [], rng.random() < 0.2
    mine = rng.sample(topics, rng.randint(1, len(topics)))
    for topic in [*mine, b"unknown"] if rng.random() < 0.2 else mine:
        pool = rng.choice([[*documents, b"u1", b"u2"], documents, [b"u1", b"u2", b"u3"]])
        for rank, document in enumerate(rng.sample(pool, rng.randint(1, len(pool))), 1):
            score = b"1" if constant else _one(rng, SCORES, ODD_SCORES, odd)
            lines.append([topic, b"Q0", document, b"%d" % rank, score, b"tag"])
    order = rng.random()
    if order < 0.15:
        rng.shuffle(lines)  # topics come and go
    blank = rng.choice([b" ", b" ", b" ", b"\t", b"  ", b"\x0b"])
    return b"\n".join(blank.join(fields) for fields in lines) + b"\n"


def accident(rng: random.Random, content: bytes) -> bytes:
    """Damage a file at random."""
    at, width = rng.randint(0, len(content)), rng.randint(0, 12)
    lines = content.split(b"\n")
    line = rng.randrange(len(lines))
    kinds: list[Callable[[], bytes]] = [
        lambda: content[:at] + content[at + width :],
        lambda: content[: at + width] + content[at:],
        lambda: content[:at] + rng.choice(SPLICES) + content[at:],
        lambda: content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :],
        lambda: content[:at],
        lambda: content.replace(b"\n", rng.choice(ENDS)),
        lambda: content.replace(b"\n", b"\r\n"),
        lambda: content[:at] + content[at:].replace(b"\n", rng.choice(ENDS)),
        lambda: content.replace(b" ", rng.choice([b"\t", b"\xc2\xa0", b"\x0c", b"  ", b","])),
        lambda: b"\n".join([*lines[:line], *lines[line + 1 :]]),
        lambda: b"\n".join([*lines[: line + 1], *lines[line:]]),
        lambda: b"\n".join(rng.sample(lines, len(lines))),
        lambda: b"\n".join([*lines[:line], b"# " + lines[line], *lines[line + 1 :]]),
        lambda: b"\n".join([*lines[:line], lines[line] + b" more of it", *lines[line + 1 :]]),
        lambda: gzip.compress(content, mtime=0),
        lambda: gzip.compress(gzip.compress(content, mtime=0), mtime=0),
        lambda: gzip.compress(content, mtime=0)[: at // 2],
        lambda: _flipped(rng, gzip.compress(content, mtime=0)),
        lambda: gzip.compress(content, mtime=0) + rng.choice([b"\0" * width, b"x", b"more", content]),
        lambda: gzip.compress(content[:at], mtime=0) + gzip.compress(content[at:], mtime=0),
        lambda: b"\xef\xbb\xbf" + content,
        lambda: content.decode("latin-1").encode("utf-16"),
        lambda: content.rstrip(b"\n"),
        lambda: content + b"\n" * width,
        lambda: content + b"x" * 70_000 + b"\n",
        lambda: b"",
        lambda: b"\n" * width,
        lambda: b"# nothing but words\n",
        lambda: bytes(rng.randrange(256) for _ in range(200)),
        lambda: content + content,
    ]
    return rng.choice(kinds)()


def _flipped(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def damage(rng: random.Random, content: bytes) -> bytes:
    """One to three accidents."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        content = accident(rng, content)
    return content
