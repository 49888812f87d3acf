"""Time of the case analysis by depth, and of diversity measures relative to pyndeval.

``python -m benchmarks.lab [--quick]`` prints the section.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.timing import execute, python

__all__ = ["table"]

FIVE = "ACT AP_IA alpha_nDCG@10 NRBP StRec@10"
LOCAL = ["relevance monotonicity", "irrelevance monotonicity", "redundancy"]
DIVERSITY = (
    "alpha_nDCG@5", "alpha_nDCG@10", "alpha_nDCG@20", "alpha_DCG@10", "ERR_IA@10", "ERR_IA@20", "nERR_IA@20",
    "NRBP", "nNRBP", "AP_IA", "P_IA@10", "StRec@10",
)  # fmt: skip


def table(quick: bool) -> str:
    """Return the section as Markdown."""
    # first what runs in processes of their own: this one must stay small meanwhile
    diversity = _diversity(quick)
    return "\n".join([*_growth((6, 8, 10) if quick else (8, 10, 12, 14)), "", *diversity]) + "\n"


def _growth(depths: tuple[int, ...]) -> list[str]:
    from rankscope.lab import properties
    from rankscope.lab.rankings.enumeration import Evaluator, blocks, count_rankings
    from rankscope.lab.rankings.tree import Tree
    from rankscope.lab.rankings.worlds import aspect_world
    from rankscope.measures import parse_many

    world = aspect_world(2, relevant=10, nonrelevant=10)
    evaluators = [Evaluator(one, world) for one in parse_many(FIVE)]

    def evaluate(depth: int) -> None:
        for levels, prefix, _ in blocks(world, depth):
            tree = Tree(world, levels, prefix)
            for evaluator in evaluators:
                evaluator.evaluate(tree)

    lines = [
        f"Five measures ({FIVE}) on every ranking of two aspects down to a depth, and the case analysis",
        "of three properties (relevance and irrelevance monotonicity, redundancy); one core, CPU time, best of three.",
        "The loop is plain Python over the same rankings, one measure (ACT) only.",
        "",
        "| depth | rankings | five measures | ns per score | case analysis | induced pairs too | a loop, ACT only |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for depth in depths:
        seconds = _best(lambda h=depth: evaluate(h))
        cases = _best(lambda h=depth: properties(FIVE, properties=LOCAL, **_two(h)))
        induced = _best(lambda h=depth: properties(FIVE, **_two(h))) if depth <= 12 else None
        loop = _best(lambda h=depth: _plain_loop(h)) if depth <= 10 else None
        rankings = count_rankings(3, depth)
        lines.append(
            f"| {depth} | {rankings:,} | {_shown(seconds)} | {seconds / rankings / 5 * 1e9:.1f} | {_shown(cases)} "
            f"| {_shown(induced)} | {_shown(loop)} |"
        )
    return lines


def _two(depth: int) -> dict[str, Any]:
    return {"aspects": 2, "depth": depth, "relevant": 10, "jobs": 1}


def _plain_loop(depth: int) -> float:
    """Compute ACT of every ranking in a plain loop over its documents."""
    total = 0.0
    for length in range(depth + 1):
        for word in product("abx", repeat=length):
            heights, seen, tests = {"a": 0.0, "b": 0.0}, {"a": 0, "b": 0}, 0.0
            for letter in word:
                if letter != "x":
                    seen[letter] += 1
                    heights[letter] = min(5.0, heights[letter] + 0.5 ** seen[letter])
                tests += (heights["a"] + heights["b"]) / 10
            total += tests / length if length else 0.0
    return total


def _best(work: Callable[[], object]) -> float:
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
        if times[-1] > 5:
            break
    return min(times)


def _shown(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"


def _diversity(quick: bool) -> list[str]:
    runs, topics, depth = (6, 10, 200) if quick else (74, 50, 1000)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "collection"
        execute(python("-m", "benchmarks.lab", "make", folder, str(runs), str(topics), str(depth)))
        rows, values = [], {}
        peers = ["pyndeval"] if find_spec("pyndeval") and find_spec("ir_measures") else []
        for name in ("rankscope", *peers):
            output = Path(scratch) / f"{name}.json"
            used = min(
                (
                    execute(python("-m", "benchmarks.lab", name, folder, output))
                    for _ in range(1 if quick else 3)
                ),
                key=lambda usage: usage.wall,
            )
            values[name] = json.loads(output.read_text())
            rows.append((name, used))
    apart = "pyndeval is not installed."
    if peers:
        largest = _apart(values["rankscope"], values["pyndeval"])
        apart = f"Largest difference between the two over {len(values['pyndeval']):,} values: {largest:.1g}."
    ours = rows[0][1]
    return [
        f"{len(DIVERSITY)} diversity measures for {runs} runs x {topics} topics x {depth:,} documents with 5 aspects,",
        "from files to the value of every topic in a fresh process; pyndeval through ir_measures.",
        apart,
        "",
        "| program | wall | CPU | peak memory | wall, Rankscope = 1 |",
        "|---|---:|---:|---:|---:|",
        *(
            f"| {name} | {_shown(u.wall)} | {_shown(u.cpu)} | {u.memory:.0f} MB | {u.wall / ours.wall:.1f} |"
            for name, u in rows
        ),
    ]


def _apart(ours: dict[str, float], theirs: dict[str, float]) -> float:
    if set(ours) != set(theirs):
        raise AssertionError("the programs evaluated different things")
    return max(abs(ours[key] - theirs[key]) for key in ours)


def _make(folder: Path, runs: int, topics: int, depth: int) -> None:
    from rankscope.simulation import simulate

    simulate(systems=runs, topics=topics, depth=depth, aspects=5, seed=2024).write(folder)
    # equal scores are ordered differently by the two programs, so that none may be left
    for path in (folder / "runs").iterdir():
        lines, place = [], {}
        for line in path.read_text().splitlines():
            topic, q0, document, _, _, tag = line.split()
            place[topic] = place.get(topic, 0) + 1
            lines.append(f"{topic} {q0} {document} {place[topic]} {100_000 - place[topic]} {tag}\n")
        path.write_text("".join(lines))


def _rankscope(folder: Path) -> dict[str, float]:
    import rankscope as rs

    preset = {"alpha_DCG", "ERR_IA", "nERR_IA"}
    measures = [rs.measure(text) for text in DIVERSITY]
    measures = [one(preset="ndeval") if one.name in preset else one for one in measures]
    scores = rs.evaluate(
        rs.read_qrels(_judgments(folder), aspects=True), rs.read_runs(folder / "runs"), measures
    )
    return {
        f"{run} {topic} {text}": float(scores.values[m, r, t])
        for m, text in enumerate(DIVERSITY)
        for r, run in enumerate(scores.runs)
        for t, topic in enumerate(scores.topics)
    }


def _pyndeval(folder: Path) -> dict[str, float]:
    import ir_measures

    wanted: dict[Any, str] = {
        ir_measures.parse_measure(text.replace("StRec", "StRecall")): text for text in DIVERSITY
    }
    qrels = list(ir_measures.read_trec_qrels(str(_judgments(folder))))
    evaluator = ir_measures.pyndeval.evaluator(list(wanted), qrels)
    values = {}
    topics = {qrel.query_id for qrel in qrels}
    for path in sorted((folder / "runs").iterdir()):
        values.update({f"{path.stem} {topic} {text}": 0.0 for topic in topics for text in DIVERSITY})
        for metric in evaluator.iter_calc(ir_measures.read_trec_run(str(path))):
            values[f"{path.stem} {metric.query_id} {wanted[metric.measure]}"] = metric.value
    return values


def _judgments(folder: Path) -> Path:
    return folder / "qrels.diversity.txt"


def main(arguments: list[str]) -> None:
    """Measure one execution, or the whole section."""
    if arguments[:1] == ["make"]:
        _make(Path(arguments[1]), *map(int, arguments[2:]))
    elif arguments[:1] in (["rankscope"], ["pyndeval"]):
        values = (_rankscope if arguments[0] == "rankscope" else _pyndeval)(Path(arguments[1]))
        Path(arguments[2]).write_text(json.dumps(values))
    else:
        print(table("--quick" in arguments))


if __name__ == "__main__":
    main(sys.argv[1:])
