"""An evaluator of embedding models with the interface of sentence-transformers, which need not be installed.

>>> import numpy as np
>>> class Model:
...     def encode(self, texts, **options):
...         return np.array([[text.count("a"), text.count("b")] for text in texts], float)
>>> evaluator = InformationRetrievalEvaluator({"q1": "a"}, {"d1": "bb", "d2": "ab"}, {"q1": {"d2"}}, name="dev")
>>> evaluator(Model())["dev_cosine_ndcg@10"]
1.0
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankscope.arrays import Floats
from rankscope.errors import SettingsError
from rankscope.evaluation import Evaluator
from rankscope.scores import Scores

__all__ = ["InformationRetrievalEvaluator"]

_MEASURES = {"accuracy": "Success", "precision": "P", "recall": "R", "mrr": "RR", "ndcg": "nDCG", "map": "AP"}
"""Our measures by the names of sentence-transformers."""


class InformationRetrievalEvaluator:
    """An evaluator of a model: encodes topics and documents, ranks by similarity, and returns means.

    Arguments, keys and values are those of the class in sentence-transformers. Trainers take it in a list:
    ``evaluator=[InformationRetrievalEvaluator(...)]``. ``scores`` has the values of every topic, for tests and
    intervals.

    Parameters
    ----------
    queries, corpus
        Texts of topics and documents by id. Topics without relevant documents are left out.
    relevant_docs
        Ids of the relevant documents of every topic.
    corpus_chunk_size
        Number of documents that are encoded at a time.
    mrr_at_k, ndcg_at_k, accuracy_at_k, precision_recall_at_k, map_at_k
        Cutoffs.
    show_progress_bar, batch_size, truncate_dim
        Options of ``model.encode``.
    name
        Prefix of the keys of results.
    write_csv
        Whether calls with an output path append a row to a CSV file there.
    score_functions
        Functions of embeddings of topics and documents that return a matrix of scores, by name. None: the similarity
        of the model, or cosine if it has none.
    main_score_function
        Score function of ``primary_metric``. None: the one with the highest nDCG.
    query_prompt, query_prompt_name, corpus_prompt, corpus_prompt_name
        Options of ``model.encode``.
    """

    def __init__(
        self,
        queries: Mapping[Any, Any],
        corpus: Mapping[Any, Any],
        relevant_docs: Mapping[Any, Collection[Any]],
        corpus_chunk_size: int = 50_000,
        mrr_at_k: Sequence[int] = (10,),
        ndcg_at_k: Sequence[int] = (10,),
        accuracy_at_k: Sequence[int] = (1, 3, 5, 10),
        precision_recall_at_k: Sequence[int] = (1, 3, 5, 10),
        map_at_k: Sequence[int] = (100,),
        show_progress_bar: bool = False,
        batch_size: int = 32,
        name: str = "",
        write_csv: bool = True,
        truncate_dim: int | None = None,
        score_functions: Mapping[str, Callable[[Any, Any], Any]] | None = None,
        main_score_function: str | None = None,
        query_prompt: str | None = None,
        query_prompt_name: str | None = None,
        corpus_prompt: str | None = None,
        corpus_prompt_name: str | None = None,
    ) -> None:
        self._queries = {topic: text for topic, text in queries.items() if relevant_docs.get(topic)}
        if not self._queries or not corpus:
            raise SettingsError("no topic with a relevant document, or no document", hint="check the ids")
        self._corpus = dict(corpus)
        self._relevant = {topic: dict.fromkeys(relevant_docs[topic], 1) for topic in self._queries}
        keys = [f"accuracy@{k}" for k in accuracy_at_k]
        keys += [f"{kind}@{k}" for k in precision_recall_at_k for kind in ("precision", "recall")]
        for kind, cutoffs in (("mrr", mrr_at_k), ("ndcg", ndcg_at_k), ("map", map_at_k)):
            keys += [f"{kind}@{k}" for k in cutoffs]
        self._names = {
            key: _MEASURES[kind] + key.removeprefix(kind) for key in keys for kind in [key.split("@")[0]]
        }
        self._depth = max(int(key.split("@")[1]) for key in keys)
        self._evaluator = Evaluator(self._relevant, list(self._names.values()))
        self._chunk_size = corpus_chunk_size
        self._encoding = {
            "batch_size": batch_size, "show_progress_bar": show_progress_bar, "truncate_dim": truncate_dim,
        }  # fmt: skip
        self._prompts = {
            "query": {"prompt": query_prompt, "prompt_name": query_prompt_name},
            "document": {"prompt": corpus_prompt, "prompt_name": corpus_prompt_name},
        }
        self._score_functions, self._main = score_functions, main_score_function
        self._best = f"ndcg@{max(ndcg_at_k)}" if ndcg_at_k else keys[0]
        self.name, self.write_csv = name, write_csv
        self.primary_metric: str | None = None
        """Key of the result that trainers compare, after a call."""
        self.scores: Scores | None = None
        """Values of every topic in the last call, with a run for every score function."""

    def __call__(
        self, model: Any, output_path: str | Path | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """Evaluate a model, and return the means of measures by key (``NAME_cosine_ndcg@10``)."""
        functions = self._score_functions or _model_functions(model)
        runs = self._rank(model, functions)
        self.scores = self._evaluator(runs)
        means = {run: self._means(self.scores, run) for run in runs}
        prefix = f"{self.name}_" if self.name else ""
        best = self._main or max(sorted(means), key=lambda run: means[run][self._best])
        self.primary_metric = f"{prefix}{best}_{self._best}"
        if output_path is not None and self.write_csv:
            self._append_row(Path(output_path), means, (epoch, steps))
        return {f"{prefix}{run}_{key}": value for run, row in means.items() for key, value in row.items()}

    def _means(self, scores: Scores, run: str) -> dict[str, float]:
        means, sizes = {}, np.array([len(self._relevant[topic]) for topic in scores.topics])
        for key, name in self._names.items():
            values = scores.matrix(name).values[scores.runs.index(run)]
            # Theirs divides by the number of relevant documents that fit above the cutoff.
            if key.startswith("map@"):
                values = values * sizes / np.minimum(sizes, int(key.removeprefix("map@")))
            means[key] = float(np.mean(values))
        return means

    def _encode(self, model: Any, kind: str, texts: list[Any]) -> Any:
        encode = getattr(model, f"encode_{kind}", None) or model.encode
        return encode(texts, convert_to_tensor=True, **self._encoding, **self._prompts[kind])

    def _rank(self, model: Any, functions: Mapping[str, Callable[[Any, Any], Any]]) -> dict[str, Any]:
        """Return the highest documents of every topic, by name of score function; ties by ascending id."""
        queries = self._encode(model, "query", list(self._queries.values()))
        documents, n = list(self._corpus), self._chunk_size
        hits: dict[str, list[list[tuple[float, Any]]]] = {
            run: [[] for _ in self._queries] for run in functions
        }
        for start in range(0, len(documents), n):
            chunk = documents[start : start + n]
            embedded = self._encode(model, "document", [self._corpus[document] for document in chunk])
            for run, function in functions.items():
                for row, pairs in zip(_as_array(function(queries, embedded)), hits[run], strict=True):
                    k = min(self._depth, len(chunk))
                    kept = np.flatnonzero(row >= np.partition(row, -k)[-k])  # ties at the last rank included
                    pairs += [(-row[i].item(), chunk[i]) for i in kept]
                    pairs.sort()
                    del pairs[self._depth :]
        return {
            run: {t: [doc for _, doc in pairs] for t, pairs in zip(self._queries, ranked, strict=True)}
            for run, ranked in hits.items()
        }

    def _append_row(
        self, folder: Path, means: Mapping[str, Mapping[str, float]], start: Sequence[int]
    ) -> None:
        path = folder / f"Information-Retrieval_evaluation{'_' * bool(self.name)}{self.name}_results.csv"
        folder.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        with path.open("a", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if is_new:
                kinds = [key.split("@") for key in self._names]
                titles = [f"{kind.upper() if len(kind) < 5 else kind.title()}@{k}" for kind, k in kinds]
                writer.writerow(
                    ["epoch", "steps", *(f"{run}-{title}" for run in sorted(means) for title in titles)]
                )
            writer.writerow([*start, *(means[run][key] for run in sorted(means) for key in self._names)])


def _model_functions(model: Any) -> dict[str, Callable[[Any, Any], Any]]:
    """Return the similarity of a model by its name."""
    if hasattr(model, "similarity"):
        return {str(getattr(model, "similarity_fn_name", "cosine")): model.similarity}
    return {"cosine": _cosine}


def _cosine(queries: Any, documents: Any) -> Floats:
    unit = []
    for matrix in map(_as_array, (queries, documents)):
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        unit.append(matrix / np.where(norms > 0, norms, 1))
    return np.asarray(unit[0] @ unit[1].T, dtype=float)


def _as_array(values: Any) -> Any:
    """Return a numpy array of a tensor on any device, or of anything that is like an array."""
    for method in ("detach", "cpu", "float"):  # numpy has no bfloat16.
        values = getattr(values, method)() if hasattr(values, method) else values
    return np.asarray(values)
