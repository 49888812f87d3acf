"""Preferences and judgment groups against plain loops over pairs of documents."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.cli import trec_eval
from rankscope.errors import InputError
from rankscope.trec_eval.options import read_options
from rankscope.trec_eval.results import Results

DOCUMENTS = "abcdefg"

rankings = st.lists(st.sampled_from([*DOCUMENTS, "x", "y"]), min_size=1, max_size=9, unique=True)
levels = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([0.0, 1.0, 2.0, 2.5]), min_size=1)
groups = st.dictionaries(
    st.sampled_from(["g1", "g2", "g3"]), st.lists(levels, min_size=1, max_size=2), min_size=1
)


def evaluated(tmp: Path, kind: str, text: str, ranking: list[str], *arguments: str) -> Results:
    (tmp / "judged").write_text(text)
    lines = [f"1 Q0 {document} {i} {100 - i} tag" for i, document in enumerate(ranking, 1)]
    (tmp / "run").write_text("\n".join(lines) + "\n")
    return trec_eval.evaluate(read_options(["-R", kind, *arguments, str(tmp / "judged"), str(tmp / "run")]))


def preferred_pairs(subgroups: list[dict[str, float]]) -> set[tuple[str, str]]:
    """Return all pairs that a group prefers: the transitive closure, by iteration to a fixed point."""
    pairs = {(a, b) for levels in subgroups for a in levels for b in levels if levels[a] > levels[b]}
    while True:
        more = {(a, d) for (a, b), (c, d) in itertools.product(pairs, pairs) if b == c} - pairs
        if not more:
            return pairs
        pairs |= more


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("prefs")


@given(groups, rankings)
def test_counts_of_preferences(
    folder: Path, groups: dict[str, list[dict[str, float]]], ranking: list[str]
) -> None:
    text = "".join(
        f"1 {group} s{i} {document} {level}\n"
        for group, subgroups in groups.items()
        for i, levels in enumerate(subgroups)
        for document, level in levels.items()
    )
    pairs_by_group = {group: preferred_pairs(subgroups) for group, subgroups in groups.items()}
    try:
        results = evaluated(folder, "prefs", text, ranking, "-m", "all_prefs")
    except InputError:
        # levels that contradict each other, or 0 in one subgroup and more in another
        zero = {
            (group, d) for group, s in groups.items() for one in s for d, level in one.items() if level == 0
        }
        more = {
            (group, d) for group, s in groups.items() for one in s for d, level in one.items() if level > 0
        }
        assert zero & more or any((b, a) in pairs for pairs in pairs_by_group.values() for a, b in pairs)
        return
    value = {label: row[0] for label, row in results.values.items()}
    rank = {document: i for i, document in enumerate(ranking)}
    ranks = {document: rank.get(document, 99) for document in DOCUMENTS}

    def is_fulfilled(pair: tuple[str, str]) -> bool:
        return ranks[pair[0]] < ranks[pair[1]]

    def both(pair: tuple[str, str]) -> bool:
        return ranks[pair[0]] < 99 and ranks[pair[1]] < 99

    def some(pair: tuple[str, str]) -> bool:
        return ranks[pair[0]] < 99 or ranks[pair[1]] < 99

    all_pairs = [pair for pairs in pairs_by_group.values() for pair in pairs]
    assert value["prefs_num_prefs_poss"] == len(all_pairs)
    assert value["prefs_num_prefs_ful"] == sum(map(is_fulfilled, all_pairs))
    assert value["prefs_num_prefs_ful_ret"] == sum(is_fulfilled(pair) and both(pair) for pair in all_pairs)
    for suffix, counts in (("", lambda pair: True), ("_ret", both), ("_imp", some)):
        possible = [pair for pair in all_pairs if counts(pair)]
        share = sum(map(is_fulfilled, possible)) / len(possible) if possible else 0.0
        assert value[f"prefs_simp{suffix}"] == pytest.approx(share)
        shares = []
        for pairs in pairs_by_group.values():
            group_pairs = [pair for pair in pairs if counts(pair)]
            shares.append(sum(map(is_fulfilled, group_pairs)) / len(group_pairs) if group_pairs else 0.0)
        assert value[f"prefs_avgjg{suffix}"] == pytest.approx(sum(shares) / len(shares))
        unordered = {frozenset(pair) for pair in possible}
        votes = []
        for a, b in map(tuple, unordered):
            group_pairs = [pair for pair in possible if set(pair) == {a, b}]
            votes.append(sum(map(is_fulfilled, group_pairs)) / len(group_pairs))
        assert value[f"prefs_pair{suffix}"] == pytest.approx(sum(votes) / len(votes) if votes else 0.0)


@given(levels, rankings)
def test_enough_relevant_documents_are_balanced_with_kept_preferences(
    folder: Path, levels: dict[str, float], ranking: list[str]
) -> None:
    relevant = [document for document in levels if levels[document] > 0]
    spare = 2 * len(relevant) - len(levels)
    if spare < 0:
        return
    text = "".join(f"1 0 {document} {level}\n" for document, level in levels.items())
    results = evaluated(folder, "qrels_prefs", text, ranking, "-m", "all_prefs")
    value = {label: row[0] for label, row in results.values.items()}
    kept = value["prefs_num_prefs_ful"] + spare * len(set(relevant) & set(ranking))
    possible = value["prefs_num_prefs_poss"] + spare * len(relevant)
    assert value["prefs_avgjg_Rnonrel"] == pytest.approx(kept / possible if possible else 0.0)


def test_ties_are_broken_by_rising_ids_for_preferences(folder: Path) -> None:
    (folder / "judged").write_text("1 g s a 2\n1 g s b 1\n")
    (folder / "run").write_text("1 Q0 a 1 1.0 tag\n1 Q0 b 2 1.0 tag\n")
    results = trec_eval.evaluate(
        read_options(["-R", "prefs", "-m", "prefs_simp", str(folder / "judged"), str(folder / "run")])
    )
    assert results.values["prefs_simp"].tolist() == [1.0]


def test_cut_lists_and_missing_topics(folder: Path) -> None:
    text = "1 g s a 2\n1 g s b 1\n2 g s a 2\n2 g s b 1\n"
    results = evaluated(folder, "prefs", text, ["b", "a"], "-M1", "-c", "-m", "prefs")
    assert results.topics == ["1", "2"]
    assert results.values["prefs_num_prefs_poss"].tolist() == [1.0, 1.0]
    assert results.values["prefs_num_prefs_ful"].tolist() == [0.0, 0.0]


people = st.dictionaries(
    st.sampled_from(["p1", "p2", "p3"]),
    st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, 2), min_size=1),
    min_size=1,
)


@given(people, rankings, st.sampled_from([(), ("-J",), ("-M3",), ("-l2",), ("-M4", "-J")]))
def test_groups_are_means_over_people(
    folder: Path, people: dict[str, dict[str, int]], ranking: list[str], options: tuple[str, ...]
) -> None:
    rows = [(person, d, g) for person, judged in people.items() for d, g in judged.items()]
    text = "".join(f"1 {person} {document} {grade}\n" for person, document, grade in rows)
    together = evaluated(folder, "qrels_jg", text, ranking, "-m", "qrels_jg", *options).values
    alone = []
    for person in people:
        text = "".join(f"1 0 {document} {grade}\n" for one, document, grade in rows if one == person)
        alone.append(
            evaluated(
                folder, "qrels", text, ranking, "-m", "map", "-m", "P", "-m", "Rprec_mult", *options
            ).values
        )
    assert len(together) == 20
    for label, value in together.items():
        name = label.replace("_avgjg", "")
        assert value[0] == pytest.approx(sum(one[name][0] for one in alone) / len(alone))


def test_groups_without_the_topic(folder: Path) -> None:
    results = evaluated(folder, "qrels_jg", "1 p a 1\n2 p a 1\n2 q a 0\n", ["a"], "-c", "-m", "qrels_jg")
    assert results.topics == ["1", "2"] and results.values["map_avgjg"].tolist() == [1.0, 0.0]
