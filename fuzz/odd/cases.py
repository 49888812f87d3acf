"""Cases of the soak: a world of files, a command line, and what must be true afterwards."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from odd import files, plain, words

MEASURES = ("AP", "RR", "P@5", "R@5", "nDCG@10")
COLLECTIONS = {"one": "'run*.txt'", "two": "['folder']", "three": "['run0.txt']\norder = 'file'"}
OFFICIAL = {"map": "AP", "recip_rank": "RR", "P_5": "P@5", "recall_5": "R@5", "ndcg_cut_10": "nDCG@10"}


@dataclass
class Case:
    """One command in one world; ``interrupt`` and ``kill`` are seconds after which it gets that signal."""

    kind: str
    words: list[str]
    stdin: bytes = b""
    interrupt: float | None = None
    kill: float | None = None
    expected: Any = None
    targets: tuple[str, ...] = field(default=())
    scanner: str = ""


KINDS = {"numbers": 40, "words": 44, "manifest": 10, "interrupt": 4, "kill": 2}
"""What cases are about, and how often."""


def made(rng: random.Random, place: Path, study: Path, only: str | None = None) -> Case:
    """A world in an empty directory, and what is to be done there."""
    odd = rng.choice([0.0, 0.0, 0.0, 0.01, 0.1])
    qrels, runs = files.collection(rng, odd)
    kind = only or rng.choices([*KINDS], [*KINDS.values()])[0]
    if kind in ("numbers", "words"):
        share = rng.choice([0.0, 0.1, 0.4])
        qrels = files.damaged(rng, qrels) if rng.random() < share else qrels
        runs = [files.damaged(rng, run) if rng.random() < share else run for run in runs]
    names = _written(place, qrels, runs)
    for name in ("four.toml", "scores.csv", "groups.txt") if kind == "words" else ():
        if rng.random() < 0.3:
            (place / name).write_bytes(files.damaged(rng, (place / name).read_bytes()))
    if kind == "numbers":
        return _numbers(rng, qrels, runs, names)
    if kind in ("manifest", "kill") or rng.random() < 0.3:
        shutil.copytree(study, place / "study")
    if kind == "manifest":
        return _manifest(rng, place)
    if kind == "kill":
        found = ["study", str(study.parent / "qrels.txt"), str(study.parent / "runs"), "-o", "study"]
        found += ["--repeats", "1", "--replicates", str(rng.choice([10, 20])), "-m", "AP,RR", "--quiet"]
        return Case(kind, found, kill=rng.uniform(0.0, 1.2), targets=("study",))
    found = words.words(rng, names)
    case = Case(kind, found, rng.choice([b"", qrels, runs[0]]), targets=_targets(found))
    if kind == "interrupt":
        case.interrupt = rng.choice([rng.uniform(0, 0.2), rng.uniform(0, 1.0)])
    return case


def _written(place: Path, qrels: bytes, runs: list[bytes]) -> list[str]:
    (place / "folder").mkdir()
    names = [f"run{r}.txt" for r in range(len(runs))]
    for name, content in zip(["q.txt", *names], [qrels, *runs], strict=True):
        (place / name).write_bytes(content)
    for name, content in zip(names, runs, strict=True):
        (place / "folder" / name).write_bytes(content)
    (place / "four.toml").write_text(
        "".join(
            f"[collections.{name}]\nqrels = 'q.txt'\nruns = {runs}\n" for name, runs in COLLECTIONS.items()
        )
    )
    (place / "groups.txt").write_text("run0 a\nrun1 a\nrun2 b\n")
    (place / "scores.csv").write_text("run,1,2,10\nrun0,0.5,0.25,1\nrun1,0.1,0.9,0\nrun2,1,1,0.5\n")
    (place / "mine.py").write_text(
        "import rankscope as rs\nrs.measure('Soaked', lambda grades: float(len(grades)))\n"
    )
    (place / "link.txt").symlink_to("q.txt")
    (place / "link").symlink_to("folder")
    (place / "dangling.txt").symlink_to("nowhere")
    return names


def _targets(found: list[str]) -> tuple[str, ...]:
    """What the command was told to write."""
    targets = ["report.html"] if found[0] == "report" else []
    for flag, after in zip(found, [*found[1:], ""], strict=True):
        if flag in ("-o", "--output", "--plot", "--template"):
            targets.append(after)
        elif flag.startswith(("--output=", "--plot=", "--template=")):
            targets.append(flag.partition("=")[2])
    if found[0] in ("simulate", "demo"):
        targets += [word for word in found[1:] if not word.startswith("-")] + ["rankscope-demo"]
    return tuple(target for target in targets if target)


# numbers --------------------------------------------------------------------------------------------------------------


Expected = tuple[str, str, plain.Judgments, dict[str, plain.Lists]]
"""The command, the ordering, the judgments, and the runs by name; no runs if the files must be refused."""


def _numbers(rng: random.Random, qrels: bytes, runs: list[bytes], names: list[str]) -> Case:
    """A command whose numbers are known, or whose files must be refused."""
    order = rng.choice(["trec_eval", "trec_eval", "rank", "file"])
    which = rng.choice(["eval", "eval", "eval", "trec_eval", "curve"])
    given = (
        [names, ["folder"], ["run*.txt"], ["-"]][rng.choice([0, 0, 1, 2, 3])]
        if which == "eval"
        else names[:1]
    )
    called = ["stdin"] if given == ["-"] else [f"run{r}" for r in range(1 if which != "eval" else len(runs))]
    judged, lists = _meant(which, order, qrels, dict(zip(called, runs, strict=False)))
    topic = rng.choice([*judged] or [b"1"])
    if which == "trec_eval":
        measures = [
            word for name in ("map", "recip_rank", "P.5", "recall.5", "ndcg_cut.10") for word in ("-m", name)
        ]
        found = ["trec_eval", "-q", *measures, "q.txt", *given]
    elif which == "eval":
        found = ["eval", "q.txt", *given, "-m", " ".join(MEASURES), "-q", "-f", "json", "--order", order]
        found += rng.choice([[], ["-j", "1"], ["-j", "3"]])
    else:
        found = ["curve", "q.txt", *given, f"--topic={os.fsdecode(topic)}", "-f", "json", "--order", order]
        lists = {name: {topic: one[topic]} for name, one in lists.items() if topic in one}
    stdin = runs[0] if given == ["-"] else b""
    return Case(
        "numbers",
        found,
        stdin,
        expected=(which, order, judged, lists),
        scanner=rng.choice(["", "", "python"]),
    )


def _meant(
    which: str, order: str, qrels: bytes, runs: dict[str, bytes]
) -> tuple[plain.Judgments, dict[str, plain.Lists]]:
    """What the files say; nothing if they must be refused."""
    try:
        judged = plain.judgments_of(qrels, by_aspect=which != "trec_eval")
        lists = {name: plain.lists_of(run) for name, run in runs.items()}
    except plain.Refused:
        return {}, {}
    if which != "trec_eval" and order == "rank" and not all(map(plain.ranks_are_numbers, lists.values())):
        return {}, {}
    if which != "curve" and any(not judged.keys() & one.keys() for one in lists.values()):
        return {}, {}
    return judged, lists


def numbers_problem(case: Case, code: int, out: bytes) -> str | None:
    """What is wrong with the answer to a case of numbers."""
    which, order, judged, lists = case.expected
    if (code == 0) != bool(lists):
        return "accepted what must be refused" if code == 0 else "refused what is right"
    if code:
        return None
    check = {"eval": _eval_problem, "trec_eval": _trec_eval_problem, "curve": _curve_problem}[which]
    return check(out, order, judged, lists)


def _expected(order: str, judged: plain.Judgments, one: plain.Lists) -> dict[bytes, dict[str, float]]:
    return {t: plain.values(grades, plain.ranking(one.get(t, []), order)) for t, grades in judged.items()}


def _eval_problem(
    out: bytes, order: str, judged: plain.Judgments, lists: dict[str, plain.Lists]
) -> str | None:
    tables = json.loads(out)["tables"]
    found = {(row["run"], row["topic"], row["measure"]): row["value"] for row in tables["topics"]}
    means = {(row["run"], row["measure"]): row["value"] for row in tables["means"]}
    count = 0
    for name, one in lists.items():
        expected = _expected(order, judged, one)
        for topic, values in expected.items():
            for measure, value in values.items():
                count += 1
                said = found.get((name, _as_json(topic), measure))
                if said is None or not math.isclose(said, value, rel_tol=1e-9, abs_tol=1e-12):
                    return f"{name} {topic!r} {measure} is {value}, not {said}"
        for measure in MEASURES:
            mean = sum(values[measure] for values in expected.values()) / len(expected)
            if not math.isclose(means[name, measure], mean, rel_tol=1e-9, abs_tol=1e-12):
                return f"the mean of {name} {measure} is {mean}, not {means[name, measure]}"
    return None if count == len(found) else f"{len(found)} values, not {count}"


def _trec_eval_problem(
    out: bytes, order: str, judged: plain.Judgments, lists: list[plain.Lists]
) -> str | None:
    found = {}
    for line in out.split(b"\n")[:-1]:
        name, topic, value = line.split(b"\t")
        if topic != b"all":
            found[name.strip().decode(), topic] = float(value)
    (one,) = lists.values()
    expected = _expected("trec_eval", judged, one)
    for topic in judged.keys() & one.keys():
        for name, measure in OFFICIAL.items():
            said = found.pop((name, topic), None)
            if said is None or abs(said - expected[topic][measure]) > 0.5000001e-4:
                return f"{topic!r} {name} is {expected[topic][measure]}, not {said}"
    return f"more values: {list(found)[:3]}" if found else None


def _curve_problem(
    out: bytes, order: str, judged: plain.Judgments, lists: dict[str, plain.Lists]
) -> str | None:
    ((topic, rows),) = next(iter(lists.values())).items()
    documents = plain.ranking(rows, order)
    said = [(row["doc"], row["grade"]) for row in json.loads(out)["tables"]["curve"]][: len(documents)]
    wanted = [(_as_json(document), judged[topic].get(document)) for document in documents]
    return None if said == wanted else f"the list is {wanted}, not {said}"


def _as_json(text: bytes) -> str:
    """An id as JSON gives it back."""
    return text.decode("utf-8", "surrogateescape")


# manifests ------------------------------------------------------------------------------------------------------------

ODD_JSON: list[Any] = [
    None,
    True,
    -1,
    0,
    10**30,
    0.5,
    1e308,
    "",
    "x",
    "\0",
    "../..",
    "\ud800",
    [],
    {},
    [None],
    {"": ""},
]


def _manifest(rng: random.Random, place: Path) -> Case:
    """A study whose manifest, or one of whose tables, was damaged, and a command that reads it."""
    target = rng.choice(
        [place / "study/manifest.json"] * 3 + sorted((place / "study/figures").glob("*.json"))
    )
    if rng.random() < 0.4:
        target.write_bytes(files.damaged(rng, target.read_bytes()))
    else:
        target.write_text(json.dumps(_changed(rng, json.loads(target.read_bytes()))))
    if rng.random() < 0.3:
        (place / "study/manifest.json").unlink()
    again = [
        "study",
        "--from",
        rng.choice(["study", "study/manifest.json", str(target.relative_to(place))]),
        "--quiet",
    ]
    page = ["report", "q.txt", "run0.txt", "--study", "study", "-o", "page.html", "--quiet"]
    over = [
        "study",
        "q.txt",
        "run0.txt",
        "folder/run0.txt",
        "-m",
        "AP,RR",
        "--repeats=1",
        "--replicates=10",
        "-o",
        "study",
    ]
    found = rng.choice([again, again, page, over])
    return Case("manifest", found, targets=_targets(found))


def _changed(rng: random.Random, document: Any) -> Any:
    """One place of a document is taken away, or something else put there."""
    inside, key = None, None
    here = document
    while isinstance(here, dict | list) and here and (inside is None or rng.random() < 0.8):
        inside, key = here, rng.choice([*here]) if isinstance(here, dict) else rng.randrange(len(here))
        here = inside[key]
    if inside is None:
        return rng.choice(ODD_JSON)
    if rng.random() < 0.3:
        del inside[key]
    else:
        inside[key] = rng.choice(ODD_JSON)
    return document


def whole_study(place: Path) -> bool:
    """Whether a directory holds a study with all of its files as its manifest has them."""
    outputs = json.loads((place / "manifest.json").read_bytes())["outputs"]
    return all(sha256((place / name).read_bytes()).hexdigest() == digest for name, digest in outputs.items())
