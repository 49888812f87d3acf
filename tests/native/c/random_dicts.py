"""Read random dicts with the extension module whose path is the argument, and compare with sorting in Python."""

import random
import sys
from array import array
from functools import reduce
from importlib.util import module_from_spec, spec_from_file_location
from itertools import accumulate, pairwise
from typing import Any


def check_values(memory: Any, draw: random.Random) -> None:
    """Compare the values of kernels with a loop over hits."""
    n_topics, grades = draw.randrange(1, 5), [draw.randrange(-2, 4) for _ in range(12)]
    topic = [draw.randrange(n_topics) for _ in range(draw.randrange(6))]
    ranks = [sorted(draw.sample(range(1, 20), draw.randrange(9))) for _ in topic]
    ends = [*accumulate(map(len, ranks), initial=0)]
    hits = [(rank, draw.randrange(12)) for ranking in ranks for rank in ranking]
    divisors = [draw.choice([0.0, 1.0, 3.0]) for _ in range(n_topics)]
    gains, weights = [0.0, 0.5, 1.0, 3.0], [1 / rank for rank in range(1, draw.choice([20, 21, 40]))]
    kernels, expected = [], []
    caps, scales = ([float(draw.randrange(4)) for _ in range(n_topics)] for _ in range(2))
    for term in range(7):
        rel, cutoff = draw.randrange(term == 4, 3), draw.choice([1, 5, 100])
        tables = (caps, scales, divisors) if term == 6 else (gains, weights, divisors)
        kernels.append((term, rel, cutoff, *(array("d", table).tobytes() for table in tables)))
        for t, start, stop in zip(topic, ends, ends[1:], strict=False):
            kept = [(r, grades[j]) for r, j in hits[start:stop] if r <= cutoff and grades[j] >= rel]
            above = [sum(0 <= grades[j] < rel for q, j in hits[start:stop] if q < r) for r, _ in kept]
            preferences = [1 - (min(n, caps[t]) / scales[t] if scales[t] else 0.0) for n in above]
            value = {
                0: float(len(kept)),
                1: float(bool(kept)),
                2: next((1 / r for r, _ in kept), 0.0),
                3: reduce(float.__add__, (n / r for n, (r, _) in enumerate(kept, 1)), 0.0),
                4: reduce(float.__add__, (gains[g] * weights[r - 1] for r, g in kept), 0.0),
                5: float(sum(grades[j] >= rel and r <= divisors[t] for r, j in hits[start:stop])),
                6: reduce(float.__add__, preferences, 0.0),
            }[term]
            expected.append(value / divisors[t] if divisors[t] else 0.0)
    arrays = [
        array("q", topic),
        array("q", ends),
        *(array("i", c) for c in ([r for r, _ in hits], [j for _, j in hits])),
    ]
    values = memory.evaluate_hits(*arrays, array("i", grades), kernels)
    assert memoryview(values).cast("d").tolist() == expected
    bounds = sorted(draw.choices(range(13), k=3))
    sums = memory.sum_ideals(array("q", [0, *bounds, 12]), array("i", grades), kernels[4])
    _, rel, cutoff, *_ = kernels[4]
    for value, (start, stop) in zip(memoryview(sums).cast("d"), pairwise([0, *bounds, 12]), strict=True):
        best = sorted((gains[g] for g in grades[start:stop] if g >= rel), reverse=True)[:cutoff]
        assert value == reduce(float.__add__, map(float.__mul__, best, weights), 0.0)


def main() -> None:
    spec = spec_from_file_location("_memory", sys.argv[1])
    memory = module_from_spec(spec)
    spec.loader.exec_module(memory)
    draw = random.Random(1)
    ids = [f"d{i}" for i in range(90)] + ["é" * 40, "", "\udce9"]
    scores = [0.0, -0.0, 1.5, -2.5, 7, 10**400, float("inf"), float("nan"), True, "no"]
    weights = [9, 3, 9, 9, 9, 0.02, 1, 0.05, 0.02, 0.02]
    for _ in range(3000):
        pool = ids if draw.random() < 0.1 else ids[:90]
        judgments = [
            dict(
                zip(
                    draw.sample(pool, 60),
                    draw.choices([0, 1, -3, 5, 2**40], [9, 9, 9, 9, 0.01], k=draw.randrange(60)),
                    strict=False,
                )
            )
            for _ in range(draw.randrange(4))
        ]
        numbers = [*map(str, range(len(judgments)))]
        indexed = memory.index_judgments(numbers, judgments)
        if indexed is None:
            judgments = [dict.fromkeys(ids[:40], 1)]
            indexed = memory.index_judgments(["0"], judgments)
        index, grades, offsets = indexed
        number_of = {}
        for t, graded in enumerate(judgments):
            start = memoryview(offsets).cast("q")[t]
            ordered = sorted(graded, key=str.encode)
            assert index.ids()[start : start + len(graded)] == [name.encode() for name in ordered]
            assert memoryview(grades).cast("i")[start : start + len(graded)].tolist() == [
                *map(graded.get, ordered)
            ]
            number_of[t] = {name: start + i for i, name in enumerate(ordered)}
        topics = {str(t): t for t in range(len(judgments))}
        run = {}
        for topic in draw.sample(["0", "1", "2", "3", "x"], draw.randrange(6)):
            names = draw.sample(pool, draw.randrange(len(pool)))
            run[topic] = (
                names
                if draw.random() < 0.2
                else dict(zip(names, draw.choices(scores, weights, k=len(names)), strict=True))
            )
        flags = [draw.random() < 0.5 for _ in range(4)]
        hits = memory.match(run, topics, index, *flags)
        if hits and flags[0] and not flags[1]:
            rank, judgment = (memoryview(hits[i]).cast("i").tolist() for i in (3, 4))
            expected = []
            for topic in sorted(set(run) & set(topics), key=topics.get):
                ranking = run[topic]
                if isinstance(ranking, dict):
                    by_id = sorted(ranking, key=str.encode, reverse=not flags[2])
                    ranking = sorted(by_id, key=lambda name: -ranking[name])
                number_by_id = number_of[topics[topic]]
                expected += [
                    (place, number_by_id[name])
                    for place, name in enumerate(ranking, 1)
                    if name in number_by_id
                ]
            assert list(zip(rank, judgment, strict=False)) == expected
    for _ in range(1000):
        sizes = [draw.randrange(9) for _ in range(draw.randrange(6))] + [draw.randrange(60)]
        values = [draw.choice([0.0, -0.0, 1.5, -2.5, float("inf")]) for _ in range(sum(sizes))]
        offsets = [sum(sizes[:i]) for i in range(len(sizes) + 1)]
        ascending = draw.random() < 0.5
        parts = memory.sort_groups(array("d", values), array("q", offsets), ascending)
        order, first, size, tied = (memoryview(part).cast("i").tolist() for part in parts)
        expected = []
        for start, stop in pairwise(offsets):
            places = range(start, stop) if ascending else range(stop - 1, start - 1, -1)
            expected += sorted(places, key=lambda place: -values[place])
        assert order == expected
        assert sum(tied) == sum(n > 1 for n in size) <= len(first)
        texts = draw.choices([*ids[:92], "\0", "a\nb"], k=draw.randrange(50))
        data, starts = memory.join_texts(texts)
        assert memory.join_texts(array("Q", map(id, texts))) == (data, starts)  # addresses, as numpy has them
        assert bytes(data[-64:]) == bytes(64)
        starts = memoryview(starts).cast("q").tolist()
        assert [bytes(data[start:stop]) for start, stop in pairwise(starts)] == [
            text.encode() for text in texts
        ]
        topics = {text: draw.randrange(len(texts)) for text in texts[::2]}
        rows = sorted(draw.sample(range(len(texts) + 1), len(texts) // 2))
        values = array("d", range(2 * len(rows)))
        result = memory.as_dicts(dict.fromkeys(texts), topics, array("i", rows), ["AP", "RR"], values)
        kept = {text: topics[text] for text in dict.fromkeys(texts) if text in topics}
        assert result == {
            text: {"AP": rows.index(t), "RR": rows.index(t) + len(rows)}
            for text, t in kept.items()
            if t in rows
        }
        check_values(memory, draw)
    assert memory.join_texts(["a", "\udce9"]) is memory.join_texts(["a", 1]) is None
    assert memory.join_texts(array("Q", [id(ids), 0])) is memory.join_texts(array("Q", [0])) is None
    row = array("i", [7])
    for function, *wrong in (
        (memory.join_texts, None),
        (memory.index_judgments, None),
        (memory.index_judgments, [], [{}]),
        (memory.sort_groups, array("d", [1.0]), array("q", [0, 2]), True),
        (memory.sort_groups, array("d", [1.0]), array("q", [0, 5, 1]), True),
        (memory.sort_groups, array("d", [1.0]), array("q", []), True),
        (memory.sum_ideals, array("q", [0, 1]), row, (4, 1, 9, bytes(8), bytes(8), bytes(8))),
        (memory.sum_ideals, array("q", []), row, (4, 1, 9, bytes(64), bytes(8), bytes(8))),
        (memory.sum_ideals, array("q", [0, 2]), row, (4, 1, 9, bytes(64), bytes(8), bytes(8))),
        (memory.sum_ideals, array("q", [0, 1]), row, (0, 1, 9, bytes(64), bytes(8), bytes(8))),
        (memory.sum_ideals, array("q", [0, 1]), row, (4, -1, 9, bytes(64), bytes(8), bytes(8))),
        (memory.as_dicts, {"q": 1}, {"q": 0}, row, ["AP"], array("d", [1.0, 2.0])),
        (memory.as_dicts, {"q": 1}, {"q": "no"}, row, ["AP"], array("d", [1.0])),
        (memory.as_dicts, {"q": 1}, {"q": 0}, array("i", [0]), [[]], array("d", [1.0])),
    ):
        try:
            function(*wrong)
        except (TypeError, ValueError, IndexError):
            continue
        raise AssertionError((function, wrong))
    for wrong in (None, {"q": 3}, {"q": -1}, {"q": "no"}):
        try:
            memory.match({"q": {}}, wrong, memory.index_judgments(["q"], [{}])[0], 1, 1, 1, 1)
        except (TypeError, IndexError):
            continue
        raise AssertionError(wrong)
    print("done")


if __name__ == "__main__":
    main()
