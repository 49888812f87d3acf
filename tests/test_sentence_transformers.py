"""The evaluator with the interface of sentence-transformers, against definitions and against the real class."""

from __future__ import annotations

from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankscope.errors import SettingsError
from rankscope.sentence_transformers import InformationRetrievalEvaluator

random = np.random.default_rng(4)
QUERIES = {f"q{i}": f"query {i}" for i in range(12)}
CORPUS = {f"d{i}": f"document {i}" for i in range(60)}
RELEVANT = {
    topic: {f"d{i}" for i in random.choice(60, size, replace=False)}
    for topic, size in zip(QUERIES, [0, 1, 2, 3, 5, 8, 13, 1, 2, 30, 4], strict=False)
}
CUTOFFS: dict[str, Any] = {
    "mrr_at_k": [3, 10], "ndcg_at_k": [5, 10], "accuracy_at_k": [1, 3], "precision_recall_at_k": [2, 20],
    "map_at_k": [4, 25],
}  # fmt: skip
VECTORS = {
    text: random.integers(-2, 3, 4).astype(np.float32) for text in [*QUERIES.values(), *CORPUS.values()]
}


class Model:
    """A model with few different similarities, so that there are many ties."""

    def encode(self, texts: list[str], **options: Any) -> Any:
        return np.array([VECTORS[text] for text in texts])


class DotModel(Model):
    similarity_fn_name = "dot"

    def similarity(self, queries: Any, documents: Any) -> Any:
        return queries @ documents.T


def values_by_definition(ranking: list[str], relevant: set[str]) -> dict[str, float]:
    is_hit = [document in relevant for document in ranking]
    values: dict[str, float] = {}
    for k in CUTOFFS["accuracy_at_k"]:
        values[f"accuracy@{k}"] = float(any(is_hit[:k]))
    for k in CUTOFFS["precision_recall_at_k"]:
        values[f"precision@{k}"] = sum(is_hit[:k]) / k
        values[f"recall@{k}"] = sum(is_hit[:k]) / len(relevant)
    for k in CUTOFFS["mrr_at_k"]:
        values[f"mrr@{k}"] = next((1 / rank for rank, hit in enumerate(is_hit[:k], 1) if hit), 0.0)
    for k in CUTOFFS["ndcg_at_k"]:
        gain = sum(hit / log2(rank + 1) for rank, hit in enumerate(is_hit[:k], 1))
        values[f"ndcg@{k}"] = gain / sum(1 / log2(rank + 1) for rank in range(1, min(k, len(relevant)) + 1))
    for k in CUTOFFS["map_at_k"]:
        result = [rank for rank, hit in enumerate(is_hit[:k], 1) if hit]
        total = sum(number / rank for number, rank in enumerate(result, 1))
        values[f"map@{k}"] = total / min(k, len(relevant))
    return values


@pytest.mark.parametrize("chunk", [7, 50_000])
def test_values_are_those_of_the_definitions_in_chunks_of_any_size(chunk: int) -> None:
    evaluator = InformationRetrievalEvaluator(QUERIES, CORPUS, RELEVANT, chunk, **CUTOFFS, name="dev")
    result = evaluator(DotModel())
    rows = []
    for topic, relevant in RELEVANT.items():
        if relevant:
            similarity = {d: float(VECTORS[QUERIES[topic]] @ VECTORS[text]) for d, text in CORPUS.items()}
            ranking = sorted(CORPUS, key=lambda d: (-similarity[d], d))
            rows.append(values_by_definition(ranking, relevant))
    expected = {f"dev_dot_{key}": np.mean([row[key] for row in rows]) for key in rows[0]}
    assert result == pytest.approx(expected, abs=1e-12)
    assert all(type(value) is float for value in result.values())
    assert evaluator.primary_metric == "dev_dot_ndcg@10"
    assert evaluator.scores is not None
    assert len(evaluator.scores.topics) == 10  # one topic has no relevant documents, one no entry


def test_models_without_a_similarity_use_cosine_and_functions_can_be_passed() -> None:
    plain = InformationRetrievalEvaluator(QUERIES, CORPUS, RELEVANT, **CUTOFFS)(Model())
    assert "cosine_map@25" in plain
    functions = {"minus": lambda q, d: -(q @ d.T), "dot": lambda q, d: q @ d.T}
    evaluator = InformationRetrievalEvaluator(QUERIES, CORPUS, RELEVANT, **CUTOFFS, score_functions=functions)
    both = evaluator(Model())
    dot = InformationRetrievalEvaluator(QUERIES, CORPUS, RELEVANT, **CUTOFFS)(DotModel())
    assert {key: both[key] for key in dot} == dot
    best = max(("dot", "minus"), key=lambda name: both[f"{name}_ndcg@10"])
    assert evaluator.primary_metric == f"{best}_ndcg@10"


def test_ids_can_be_integers() -> None:
    corpus = {2: "document 1", 10: "document 1"}  # a tie: 2 comes before 10
    evaluator = InformationRetrievalEvaluator({1: "query 1"}, corpus, {1: [10]}, **CUTOFFS)
    assert evaluator(DotModel())["dot_mrr@10"] == 0.5


def test_calls_with_an_output_path_append_rows_to_a_csv_file(tmp_path: Path) -> None:
    evaluator = InformationRetrievalEvaluator(QUERIES, CORPUS, RELEVANT, name="dev", map_at_k=[4])
    results = [evaluator(DotModel(), tmp_path / "new", epoch, 7) for epoch in (0, 1)]
    rows = (tmp_path / "new" / "Information-Retrieval_evaluation_dev_results.csv").read_text().splitlines()
    titles = rows[0].split(",")
    assert titles[:2] == ["epoch", "steps"]
    assert titles[6:9] == ["dot-Precision@1", "dot-Recall@1", "dot-Precision@3"]
    assert titles[-3:] == ["dot-MRR@10", "dot-NDCG@10", "dot-MAP@4"]
    assert [row.split(",")[:2] for row in rows[1:]] == [["0", "7"], ["1", "7"]]
    assert float(rows[2].split(",")[-1]) == results[1]["dev_dot_map@4"]


def test_nothing_to_evaluate_is_an_error() -> None:
    with pytest.raises(SettingsError, match="no topic with a relevant document"):
        InformationRetrievalEvaluator(QUERIES, CORPUS, {})


def test_values_are_those_of_sentence_transformers(tmp_path: Path) -> None:
    theirs = pytest.importorskip("sentence_transformers.evaluation", exc_type=ImportError)
    torch = pytest.importorskip("torch", exc_type=ImportError)

    class TensorModel:
        similarity_fn_name = "cosine"

        def encode(self, texts: list[str], **options: Any) -> Any:
            return torch.tensor(Model().encode(texts))

        encode_query = encode_document = encode

        def similarity(self, queries: Any, documents: Any) -> Any:
            normalize = torch.nn.functional.normalize
            return normalize(queries) @ normalize(documents).T

        class model_card_data:
            @staticmethod
            def set_evaluation_metrics(*_: Any, **__: Any) -> None: ...

    arguments = {"queries": QUERIES, "corpus": CORPUS, "relevant_docs": RELEVANT, **CUTOFFS, "name": "dev"}
    evaluators = [
        kind(**arguments) for kind in (theirs.InformationRetrievalEvaluator, InformationRetrievalEvaluator)
    ]
    folders = [tmp_path / "theirs", tmp_path / "ours"]
    expected, result = (
        one(TensorModel(), str(folder)) for one, folder in zip(evaluators, folders, strict=True)
    )
    assert result == pytest.approx(expected, abs=1e-12)
    assert evaluators[0].primary_metric == evaluators[1].primary_metric
    heads = [min(folder.iterdir()).read_text().splitlines()[0] for folder in folders]
    assert heads[0] == heads[1]
    names = [sorted(path.name for path in folder.iterdir()) for folder in folders]
    assert names[0] == names[1]
