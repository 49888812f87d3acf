"""The case analysis: the same as a loop over pairs written down one by one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

import pytest

from rankscope.errors import SettingsError
from rankscope.lab import properties, relation
from rankscope.lab import related_rankings as single_pairs
from rankscope.lab.axioms import cases
from rankscope.lab.axioms.pairs import induced_pairs
from rankscope.lab.axioms.relations import RELATIONS
from rankscope.lab.rankings import enumeration as rankings
from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.worlds import World, aspect_world, graded_world
from rankscope.measures import measure

Pair = tuple[str, str]


def words(world: World, depth: int) -> list[str]:
    return ["".join(w) for n in range(depth + 1) for w in product(world.labels, repeat=n)]


def related(world: World, depth: int) -> Iterator[tuple[str, Pair]]:
    """(property, (lower, higher)) for every pair of rankings, straight from the definitions."""
    grade = dict(zip(world.labels, world.grades, strict=True))
    aspects = [] if world.graded else [letter for letter in world.labels if letter != "x"]
    for word in words(world, depth):
        if 1 <= len(word) < depth:
            for letter in world.labels:
                yield "monotonicity", (word, word + letter)
                if grade[letter] > 0:
                    yield "relevance monotonicity", (word, word + letter)
                    continue
                yield "irrelevance monotonicity", (word + letter, word)
                if any(grade[own_letter] > 0 for own_letter in word):
                    yield "confidence", (word + letter, word)
            for old, new in permutations(aspects, 2):
                if old in word and new not in word:
                    yield "redundancy", (word + old, word + new)
        for i, own_letter in enumerate(word):
            for letter in world.labels:
                if grade[letter] > grade[own_letter]:
                    yield "replacement", (word, word[:i] + letter + word[i + 1 :])
                    yield "convergence", (word, word[:i] + letter + word[i + 1 :])
            for j in range(i + 1, len(word)):
                if grade[word[j]] > grade[own_letter]:
                    swapped = word[:i] + word[j] + word[i + 1 : j] + own_letter + word[j + 1 :]
                    yield "swap", (word, swapped)
                    yield "top-weightedness", (word, swapped)
                    if j == i + 1:
                        yield "priority", (word, swapped)
            for j in range(i + 2, len(word) - 1):
                worse, better = word[i : i + 2]
                if word[j : j + 2] == worse + better and grade[better] > grade[worse]:
                    between, after, right = word[i + 2 : j], word[j + 2 :], better + worse
                    low = word[: i + 2] + between + right + after
                    yield "deepness", (low, word[:i] + right + between + word[j:])
        yield "boundedness", (word, word)


def thresholds(world: World, depth: int) -> Iterator[tuple[str, list[Pair]]]:
    """(property, pairs of one case): one relevant document at the top, and n of them after n others."""
    (x,) = (letter for letter, grade in zip(world.labels, world.grades, strict=True) if grade == 0)
    for letter, max_count in zip(world.labels, world.judged, strict=True):
        if letter != x:
            case = [
                (letter + x * (2 * n - 1), x * n + letter * n)
                for n in range(1, min(depth // 2, max_count) + 1)
            ]
            yield "closeness threshold", case
            yield "deepness threshold", [case[-1][::-1]]


def reach(world: World, depth: int) -> set[Pair]:
    """Return the transitive closure from the empty ranking, by its definition."""
    steps: dict[str, set[str]] = {word: set() for word in words(world, depth)}
    aspects = [] if world.graded else [letter for letter in world.labels if letter != "x"]
    for word in words(world, depth - 1):
        for letter, grade in zip(world.labels, world.grades, strict=True):
            low, high = (word, word + letter) if grade > 0 else (word + letter, word)
            steps[low].add(high)
        for old, new in permutations(aspects, 2):
            if old in word and new not in word:
                steps[word + old].add(word + new)
    result = set()
    for start in steps:
        queue, visited = [start], {start}
        while queue:
            more = steps[queue.pop()] - visited
            visited |= more
            queue += more
        result |= {(start, other) for other in visited - {start}}
    return result


STRICT = {"priority", "deepness", "confidence", "convergence", "top-weightedness"}


def breaks(name: str, low: float, high: float) -> bool:
    """Whether two scores break a property."""
    if name == "boundedness":
        return not -1e-9 <= low <= 1 + 1e-9
    return low >= high - 1e-9 if name in STRICT else low > high + 1e-9


WORLDS = [
    ({"aspects": 2, "relevant": 3}, aspect_world(2, relevant=3, nonrelevant=4), 4),
    ({"aspects": 3, "relevant": 9}, aspect_world(3, relevant=9, nonrelevant=3), 3),
    (
        {"aspects": 2, "weights": [0.8, 0.2]},
        aspect_world(2, relevant=4, nonrelevant=4, weights=[0.8, 0.2]),
        4,
    ),
    ({"grades": 2, "relevant": 2}, graded_world(2, relevant=2, nonrelevant=4), 4),
    ({"grades": 1, "relevant": 2}, graded_world(1, relevant=2, nonrelevant=5), 5),
]
MEASURES = [
    "ACT",
    "AP_IA",
    "alpha_nDCG@3",
    "ERR",
    "nDCG@3",
    "SetF",
    "Bpref",
    "Twist@5",
    "CT(preset='equation7')",
    "DCG",
    "SetP",
]


@pytest.mark.parametrize("settings, world, depth", WORLDS, ids=lambda value: str(value)[:40])
@pytest.mark.parametrize("block", [40, 1 << 17])
def test_counts_equal_a_plain_loop(
    settings: dict[str, int], world: World, depth: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rankings, "BLOCK", block)
    names = [name for name in RELATIONS if "aspects" in settings or name != "redundancy"]
    result = properties(MEASURES, depth=depth, properties=names, **settings)  # type: ignore[arg-type]
    tree = Tree(world, depth)
    number = {word.replace("-", ""): i for i, word in enumerate(tree.words())}
    limit = dict(zip(world.labels, world.judged, strict=True))

    def exists(word: str) -> bool:
        return all(word.count(letter) <= max_count for letter, max_count in limit.items())

    pairs: dict[str, list[Pair]] = {name: [] for name in names}
    named: dict[str, list[list[Pair]]] = {}
    for name, case in thresholds(world, depth):
        named.setdefault(name, []).append(case)
    for name, (low, high) in [*related(world, depth), *(("induced", pair) for pair in reach(world, depth))]:
        if exists(low) and exists(high):
            pairs[name].append((low, high))
    for text in MEASURES:
        values = measure(text).evaluate(tree.flat())
        value = dict(zip(number, values.tolist(), strict=True))
        for finding in (f for f in result.verdicts if f.measure == measure(text)):
            name = finding.relation.name
            if name in named:
                cases = [[value[a] < value[b] - 1e-9 for a, b in case] for case in named[name]]
                broken = sum(not any(case) for case in cases)
                assert (finding.cases, finding.violations) == (len(cases), broken), (text, name)
                continue
            wrong = [(a, b) for a, b in pairs[name] if breaks(name, value[a], value[b])]
            assert (finding.cases, finding.violations) == (len(pairs[name]), len(wrong)), (text, name)
            if wrong:
                (example,) = finding.shortest
                assert (example.low.replace("-", ""), example.high.replace("-", "")) in wrong
                assert example.length == min(max(len(a), len(b)) for a, b in wrong)


def test_induced_pairs_of_three_aspects_equal_the_closure() -> None:
    world = aspect_world(3, relevant=3, nonrelevant=3)
    tree = Tree(world, 3)
    words = [word.replace("-", "") for word in tree.words()]
    result = [
        (words[a], words[b]) for low, high in induced_pairs(tree) for a, b in zip(low, high, strict=True)
    ]
    assert len(result) == len(set(result))
    assert set(result) == reach(world, 3)


@pytest.mark.parametrize(
    "length, relevant, low, high, scores",
    [(6, 2, "000010", "000100", (1 / 4, 0.0)), (4, 2, "0100", "0110", (1 / 4, 2 / 9))],
)
def test_twist_breaks_swap_and_replacement(
    length: int, relevant: int, low: str, high: str, scores: tuple[float, float]
) -> None:
    """Both counterexamples are among those that the laboratory finds."""
    result = properties(
        f"Twist@{length}",
        grades=1,
        depth=length,
        relevant=relevant,
        properties=["swap", "replacement"],
        fixed_length=True,
        examples=1000,
    )
    examples = {(e.low, e.high): (e.low_score, e.high_score) for f in result.verdicts for e in f.shortest}
    assert examples[low, high] == pytest.approx(scores, abs=1e-12)


def test_a_property_and_a_measure_of_the_user() -> None:
    def first_document_decides(ranking: str) -> Iterator[Pair]:
        "rankings that begin with a relevant document beat all others of their length"
        if ranking[:1] == "1":
            yield "0" * len(ranking), ranking
            yield "01"[: len(ranking)] + "z", ranking  # not a ranking: passed over

    counted = measure("Late_for_properties", lambda grades: sum(i * g for i, g in enumerate(grades)))
    result = properties([counted, "RR"], grades=1, depth=4, properties=[first_document_decides, "swap"])
    assert [f.relation.name for f in result.verdicts[:2]] == ["first document decides", "swap"]
    assert result.verdicts[0].cases == 1 + 2 + 4 + 8
    assert result.violations("RR", "swap") == 0
    assert result.violations(counted, "swap") > 0
    assert result.violations(counted, "first document decides") == 0
    sentence = result.tables["counterexamples"].rows[0][-1]
    assert sentence == (
        "Late_for_properties(01) = 1.0000 > Late_for_properties(10) = 0.0000: "
        "moving a more relevant document up lowered the score"
    )
    named = relation(first_document_decides, name="mine", broken="it did not")
    assert (named.name, named.broken) == ("mine", "it did not")


def test_an_interruption_keeps_the_results_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rankings, "BLOCK", 100)
    whole = properties("ACT", aspects=2, depth=6, properties=["irrelevance monotonicity"])
    blocks_seen = []

    def interrupted(items: object, total: int, label: str) -> Iterator[object]:
        for item in items:  # type: ignore[attr-defined]
            if len(blocks_seen) == 5:
                raise KeyboardInterrupt
            blocks_seen.append(item)
            yield item

    monkeypatch.setattr(cases, "progress", interrupted)
    part = properties("ACT", aspects=2, depth=6, properties=["irrelevance monotonicity"])
    assert not part.complete and part.settings["complete"] is False
    assert 0 < part.verdicts[0].cases < whole.verdicts[0].cases
    assert "interrupted" in part.tables["properties"].caption
    assert whole.complete and "interrupted" not in whole.tables["properties"].caption


def test_too_many_rankings_are_rejected_with_their_number() -> None:
    with pytest.raises(
        SettingsError, match=r"swap at depth 18: 581,130,733 scores at a time, 67,108,864 fit"
    ):
        properties("AP", aspects=2, depth=18, properties=["swap"])
    with pytest.raises(SettingsError, match="depth 40 has"):
        properties("AP", aspects=2, depth=40, properties=["redundancy"])


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"grades": 1, "multi_aspect": True}, "no aspects"),
        ({"grades": 1, "weights": [1.0]}, "no aspects"),
        ({"aspects": 2, "grades": 10}, "grades up to 10"),
        ({"aspects": 4, "grades": 2, "multi_aspect": True}, "80 kinds of documents"),
        ({"aspects": 0}, "0 aspects"),
        ({"grades": 12}, "grades up to 12"),
        ({"relevant": 0}, "0 relevant documents"),
        ({"weights": [1.0]}, "weights"),
        ({"properties": ["redundacy"]}, "did you mean redundancy"),
        ({"grades": 1, "properties": ["redundancy"]}, "redundancy needs aspects"),
        ({"depth": 0}, "depth 0"),
    ],
)
def test_wrong_settings_say_what_to_do(settings: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        properties("AP", **{"depth": 3, **settings})  # type: ignore[arg-type]


MOFFAT = ("boundedness", "monotonicity", "convergence", "top-weightedness")
AMIGO = ("priority", "deepness", "deepness threshold", "closeness threshold", "confidence")


@pytest.mark.parametrize(
    "name, moffat, amigo",
    [
        ("SetP", "1010", "00011"),  # precision at the length of the list, which is Moffat's k
        ("RR", "1100", "00100"),
        ("AP", "1111", "10010"),
        ("DCG", "0111", "11010"),
        ("nDCG", "1111", "11010"),
        ("RBP", "1111", "11110"),
        ("RBP(p=0.95)", "1111", "11110"),
        ("RBP(p=0.75)", "1111", "11100"),  # p^2 (1 + p) > 1 from p = 0.7549 on
        ("RBP(p=0.76)", "1111", "11110"),
        ("ERR", "1111", "11100"),
    ],
)
def test_properties_of_measures_are_those_derived_by_hand(name: str, moffat: str, amigo: str) -> None:
    """Worked out by hand from the formulas; the thresholds of AP and DCG from n (1 - log 2) and diverging sums."""
    short = properties(name, grades=1, depth=8, properties=[*MOFFAT, "priority", "deepness", "confidence"])
    near = properties(name, grades=1, depth=60, relevant=30, properties=["closeness threshold"])
    far = properties(name, grades=1, depth=400, relevant=200, properties=["deepness threshold"])
    broken = {f.relation.name: f.violations for result in (short, near, far) for f in result.verdicts}
    assert "".join("01"[not broken[property_name]] for property_name in MOFFAT) == moffat
    assert "".join("01"[not broken[property_name]] for property_name in AMIGO) == amigo


def test_average_precision_breaks_deepness_from_eight_documents_on() -> None:
    """Correcting ranks i and i + 1 gains (hits above + 1) / (i (i + 1)), so that hits above can outweigh the rank."""
    assert properties("AP", grades=1, depth=7, properties=["deepness"]).verdicts[0].violations == 0
    (result,) = properties("AP", grades=1, depth=8, properties=["deepness"], examples=5).verdicts
    assert {(e.low, e.high) for e in result.shortest} == {("00001110", "00010101"), ("00000110", "00001001")}
    first = result.shortest[0]
    gains = {"00001110": 1 / 5 + 2 / 6 + 3 / 7, "00010101": 1 / 4 + 2 / 6 + 3 / 8}
    assert (first.low_score, first.high_score) == pytest.approx((gains[first.low] / 8, gains[first.high] / 8))


def test_rankings_that_are_named_may_be_long_and_are_written_shortly() -> None:
    names = ["deepness threshold", "closeness threshold"]
    result = properties("AP RR BalancePoint", grades=1, depth=2000, relevant=1000, properties=names)
    assert result.settings["rankings"] == 2 + 2 * 1000
    verdicts = {(row["measure"], row["property"]): row["sentence"] for row in result["verdicts"].records()}
    assert "AP(0^1000 1^1000) = 0.3071 > AP(1 0^1999) = 0.0010" in verdicts["AP", names[0]]
    assert "in the one case among rankings over 0, 1" in verdicts["RR", names[0]]
    assert "n up to 1000; the shortest is RR(10) = 1.0000 > RR(01) = 0.5000" in verdicts["RR", names[1]]
    assert "lower the score more than one at the top" in verdicts["BalancePoint", names[1]]
    few = properties("P@10", grades=1, depth=9, relevant=2, fixed_length=True, properties=names)
    assert [f.cases for f in few.verdicts] == [0, 0]  # no ranking of nine documents is among them


def test_ties_are_written_as_such_and_single_scores_alone() -> None:
    result = properties("DCG BalancePoint", grades=1, depth=2, properties=["boundedness", "confidence"])
    sentences = [row[-1] for row in result["counterexamples"].rows]
    assert sentences == [
        "DCG(11) = 1.6309: the score does not lie between 0 and 1",
        "DCG(10) = 1.0000 = DCG(1) = 1.0000: appending a non-relevant document did not lower the score",
        "BalancePoint(-) = inf: the score does not lie between 0 and 1",
        "BalancePoint(10) = inf = BalancePoint(1) = inf: appending a non-relevant document did not raise the score",
    ]


def test_single_pairs_are_broken_as_the_case_analysis_says() -> None:
    """Compare the table of pairs with the counts."""
    for name in [name for name in RELATIONS if name not in ("redundancy", "induced")]:
        (counted,) = properties("RR", grades=1, depth=5, properties=[name]).verdicts
        pairs = single_pairs("RR", grades=1, depth=5, properties=[name])["relations"].column("violated")
        is_existential = name == "closeness threshold"
        assert (len(pairs), sum(pairs)) == (
            (2, 2) if is_existential else (counted.cases, counted.violations)
        ), name
    pairs = single_pairs("AP", grades=1, depth=6, properties=["closeness threshold"])["relations"]
    assert pairs.column("violated") == [False] * 3  # the third holds, which is enough


def test_a_measure_that_was_not_tested() -> None:
    with pytest.raises(SettingsError, match="RR was not tested"):
        properties("AP", depth=2).violations("RR", "redundancy")
