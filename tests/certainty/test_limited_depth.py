"""Bounds from the documents down to the last rank with weight are those from all documents."""

from __future__ import annotations

import random
from itertools import permutations

import numpy as np
import pytest

from rankscope.certainty import documents
from rankscope.certainty.documents import hits_by_topic
from rankscope.certainty.pairs import lowest_differences
from rankscope.certainty.values import compute_values
from rankscope.judging import judge
from rankscope.measures import parse_many
from rankscope.read import Qrels, Run, Runs

MEASURES = parse_many("nDCG@1 nDCG@2 P@1 P@2 DCG@2 nDCG(gains=exp2)@2")


@pytest.mark.parametrize("seed", range(12))
def test_deeper_documents_count_only_for_the_ideal_ranking(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    luck = random.Random(seed)
    names = "abcdefghij"
    grades = {t: {d: luck.choice([0, 1, 2]) for d in names[:4]} for t in "tuv"}
    rankings: dict[str, dict[str, list[str]]] = {}
    for (
        run
    ) in "ABC":  # Judged documents on top, so that some topics have unjudged documents only further down.
        rankings[run] = {t: luck.sample(names[:4], 2) + luck.sample(names[4:], 5) for t in "tu"}
        rankings[run]["v"] = luck.sample(names, 7)
    qrels = Qrels.from_dict(grades)
    runs = Runs([Run.from_dict(topics, name) for name, topics in rankings.items()])
    first, second = np.array([*permutations(range(4), 2)]).T
    results = []
    for limit in (0, documents.SMALL):
        monkeypatch.setattr(documents, "SMALL", limit)
        for measure in MEASURES:
            judged = documents.with_unjudged(qrels, runs, [measure])
            current = measure.merit(compute_values(judge(qrels, runs), [measure])[0][0])
            found = lowest_differences(
                judged, measure, hits_by_topic(judged), (current, current), first, second, ties=False
            )
            results.append((judged.known_depth, found))
    for (shallow, limited), (deep, full) in zip(results[:6], results[6:], strict=True):
        assert shallow < deep
        np.testing.assert_allclose(limited.lowest, full.lowest, rtol=1e-9, atol=1e-12)
        assert limited.exact.tolist() == full.exact.tolist()
