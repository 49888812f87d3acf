"""The worked examples of the papers as files: judgments and runs of one topic, `t`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import count

GRADES = {"hr": 3, "fr": 2, "pr": 1, "nr": 0}

TWIST = {
    "ideal": "hr hr fr fr pr pr pr nr nr nr nr nr nr nr nr",
    "worst": "nr nr nr nr nr nr nr nr nr nr nr nr nr nr nr",
    "full-scale": "nr nr nr nr nr nr nr nr pr pr pr fr fr hr hr",
    "a": "hr hr fr nr pr fr nr nr nr pr nr nr nr nr nr",
    "b": "hr nr pr nr fr nr nr nr fr pr nr nr hr pr nr",
    # ours: one list of each further archetype, and one that ends above the bound of Proposition 2
    "excellent-a": "hr fr hr fr pr pr pr nr nr nr nr nr nr nr nr",
    "excellent-b": "fr fr pr nr pr hr hr nr nr nr nr nr nr nr nr",
    "ups-and-downs": "hr fr hr fr nr nr pr nr nr nr nr nr nr nr nr",
    "typical-b": "hr nr pr nr fr nr nr nr fr nr nr nr nr nr nr",
    "above": "pr nr nr nr nr nr nr nr nr pr pr fr fr hr hr",
}
"""Two highly, two fairly and three partially relevant documents, fifteen ranks (the Twist paper)."""

CRP = {
    "ideal": "hr hr hr fr fr fr pr pr pr pr nr nr nr nr nr nr nr nr nr nr",
    "worst-case": "nr nr nr nr nr nr nr nr nr nr pr pr pr pr fr fr fr hr hr hr",
    "a": "hr hr fr nr pr fr nr nr nr pr hr nr nr nr nr nr nr nr nr nr",
    "b": "hr hr pr nr fr pr nr nr fr pr fr nr hr pr nr nr nr nr nr nr",
}
"""Three highly, three fairly and four partially relevant documents, twenty ranks (the CRP paper)."""

ASPECTS = {word: " ".join(word) for word in ("a", "ab", "abx", "axxa", "axxb", "aaaa", "aaab")}
"""Five documents for each of two aspects, a and b; x is not relevant (the paper on properties)."""

SCALES = {
    name: " ".join("r" if digit == "1" else "nr" for digit in digits)
    for name, digits in {
        "err-r": "0000001110",
        "err-s": "0000010110",
        "err-u": "1101011011",
        "err-v": "1110011011",
        "ap-r": "0000000000",
        "ap-s": "0100100001",
        "ap-u": "0100111001",
        "dcg-r": "0010110010",
        "dcg-s": "0101011110",
        "dcg-u": "1101110100",
    }.items()
}
"""The rankings of the three examples against interval-like scales; ten relevant documents."""

EXAMPLES = {"twist": TWIST, "crp": CRP, "aspects": ASPECTS, "scales": SCALES}


def files() -> dict[str, str]:
    """Return the content of every file of `docs/papers/examples`."""
    texts = {
        "aspects/qrels.txt": "".join(f"t {aspect} {aspect}{n} 1\n" for aspect in "ab" for n in range(1, 6)),
        "scales/qrels.txt": "".join(f"t 0 r{n} 1\n" for n in range(1, 11)),
    }
    for name in ("twist", "crp"):
        texts[f"{name}/qrels.txt"] = "".join(
            f"t 0 {document} {GRADES[document.rstrip('0123456789')]}\n"
            for document in _documents(EXAMPLES[name]["ideal"])
            if not document.startswith("nr")
        )
    for name, lists in EXAMPLES.items():
        for run, letters in lists.items():
            ranked = _documents(letters)
            texts[f"{name}/{run}.run"] = "".join(
                f"t Q0 {document} {rank} {len(ranked) - rank + 1} {run}\n"
                for rank, document in enumerate(ranked, 1)
            )
    return texts


def _documents(letters: str) -> list[str]:
    """One document for each letter: the first hr is hr1, the second hr2.

    >>> _documents("hr nr hr")
    ['hr1', 'nr1', 'hr2']
    """
    numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: count(1))
    return [f"{letter}{next(numbers[letter])}" for letter in letters.split()]
