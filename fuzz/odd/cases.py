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
"""Kinds of cases, and their relative frequencies."""


def make_case(rng: random.Random, folder: Path, study: Path, only: str | None = None) -> Case:
    """Write files into an empty directory, and return a command to run there."""
    odd = rng.choice([0.0, 0.0, 0.0, 0.01, 0.1])
    qrels, runs = files.collection(rng, odd)
    kind = only or rng.choices([*KINDS], [*KINDS.values()])[0]
    if kind in ("numbers", "words"):
        share = rng.choice([0.0, 0.1, 0.4])
        qrels = files.damage(rng, qrels) if rng.random() < share else qrels
        runs = [files.damage(rng, run) if rng.random() < share else run for run in runs]
    names = write_files(folder, qrels, runs)
    for name in ("four.toml", "scores.csv", "groups.txt") if kind == "words" else ():
        if rng.random() < 0.3:
            (folder / name).write_bytes(files.damage(rng, (folder / name).read_bytes()))
    if kind == "numbers":
        return _numbers(rng, qrels, runs, names)
    if kind in ("manifest", "kill") or rng.random() < 0.3:
        shutil.copytree(study, folder / "study")
    if kind == "manifest":
        return _manifest(rng, folder)
    if kind == "kill":
        command = ["study", str(study.parent / "qrels.txt"), str(study.parent / "runs"), "-o", "study"]
        command += ["--repeats", "1", "--replicates", str(rng.choice([10, 20])), "-m", "AP,RR", "--quiet"]
        return Case(kind, command, kill=rng.uniform(0.0, 1.2), targets=("study",))
    command = words.words(rng, names)
    case = Case(kind, command, rng.choice([b"", qrels, runs[0]]), targets=_targets(command))
    if kind == "interrupt":
        case.interrupt = rng.choice([rng.uniform(0, 0.2), rng.uniform(0, 1.0)])
    return case


def write_files(folder: Path, qrels: bytes, runs: list[bytes]) -> list[str]:
    (folder / "folder").mkdir()
    names = [f"run{r}.txt" for r in range(len(runs))]
    for name, content in zip(["q.txt", *names], [qrels, *runs], strict=True):
        (folder / name).write_bytes(content)
    for name, content in zip(names, runs, strict=True):
        (folder / "folder" / name).write_bytes(content)
    (folder / "four.toml").write_text(
        "".join(
            f"[collections.{name}]\nqrels = 'q.txt'\nruns = {runs}\n" for name, runs in COLLECTIONS.items()
        )
    )
    (folder / "groups.txt").write_text("run0 a\nrun1 a\nrun2 b\n")
    (folder / "scores.csv").write_text("run,1,2,10\nrun0,0.5,0.25,1\nrun1,0.1,0.9,0\nrun2,1,1,0.5\n")
    (folder / "mine.py").write_text(
        "import rankscope as rs\nrs.measure('Soaked', lambda grades: float(len(grades)))\n"
    )
    (folder / "link.txt").symlink_to("q.txt")
    (folder / "link").symlink_to("folder")
    (folder / "dangling.txt").symlink_to("nowhere")
    return names


def _targets(command: list[str]) -> tuple[str, ...]:
    """Return the paths that the command may write."""
    targets = ["report.html"] if command[0] == "report" else []
    for flag, after in zip(command, [*command[1:], ""], strict=True):
        if flag in ("-o", "--output", "--plot", "--template"):
            targets.append(after)
        elif flag.startswith(("--output=", "--plot=", "--template=")):
            targets.append(flag.partition("=")[2])
    if command[0] in ("simulate", "demo"):
        targets += [word for word in command[1:] if not word.startswith("-")] + ["rankscope-demo"]
    return tuple(target for target in targets if target)


# numbers --------------------------------------------------------------------------------------------------------------


Expected = tuple[str, str, plain.Judgments, dict[str, plain.Lists]]
"""The command, the ordering, the judgments, and the runs by name; no runs if the files must be refused."""


def _numbers(rng: random.Random, qrels: bytes, runs: list[bytes], names: list[str]) -> Case:
    """Return a command whose numbers are known, or whose files must be rejected."""
    order = rng.choice(["trec_eval", "trec_eval", "rank", "file"])
    which = rng.choice(["eval", "eval", "eval", "trec_eval", "curve"])
    arguments = (
        [names, ["folder"], ["run*.txt"], ["-"]][rng.choice([0, 0, 1, 2, 3])]
        if which == "eval"
        else names[:1]
    )
    called = (
        ["stdin"] if arguments == ["-"] else [f"run{r}" for r in range(1 if which != "eval" else len(runs))]
    )
    judged, lists = _meant(which, order, qrels, dict(zip(called, runs, strict=False)))
    topic = rng.choice([*judged] or [b"1"])
    if which == "trec_eval":
        measures = [
            word for name in ("map", "recip_rank", "P.5", "recall.5", "ndcg_cut.10") for word in ("-m", name)
        ]
        command = ["trec_eval", "-q", *measures, "q.txt", *arguments]
    elif which == "eval":
        command = [
            "eval",
            "q.txt",
            *arguments,
            "-m",
            " ".join(MEASURES),
            "-q",
            "-f",
            "json",
            "--order",
            order,
        ]
        command += rng.choice([[], ["-j", "1"], ["-j", "3"]])
    else:
        command = [
            "curve",
            "q.txt",
            *arguments,
            f"--topic={os.fsdecode(topic)}",
            "-f",
            "json",
            "--order",
            order,
        ]
        lists = {name: {topic: rankings[topic]} for name, rankings in lists.items() if topic in rankings}
    stdin = runs[0] if arguments == ["-"] else b""
    return Case(
        "numbers",
        command,
        stdin,
        expected=(which, order, judged, lists),
        scanner=rng.choice(["", "", "python"]),
    )


def _meant(
    which: str, order: str, qrels: bytes, runs: dict[str, bytes]
) -> tuple[plain.Judgments, dict[str, plain.Lists]]:
    """Return the content of the files; empty if they must be rejected."""
    try:
        judged = plain.parse_judgments(qrels, by_aspect=which != "trec_eval")
        lists = {name: plain.parse_lists(run) for name, run in runs.items()}
    except plain.Refused:
        return {}, {}
    if which != "trec_eval" and order == "rank" and not all(map(plain.ranks_are_numbers, lists.values())):
        return {}, {}
    if which != "curve" and any(not judged.keys() & rankings.keys() for rankings in lists.values()):
        return {}, {}
    return judged, lists


def numbers_problem(case: Case, code: int, out: bytes) -> str | None:
    """Return the first difference between the output and the expected numbers, or None."""
    which, order, judged, lists = case.expected
    if (code == 0) != bool(lists):
        return "accepted invalid files" if code == 0 else "rejected valid files"
    if code:
        return None
    check = {"eval": _eval_problem, "trec_eval": _trec_eval_problem, "curve": _curve_problem}[which]
    return check(out, order, judged, lists)


def _expected(order: str, judged: plain.Judgments, rankings: plain.Lists) -> dict[bytes, dict[str, float]]:
    return {
        t: plain.values(grades, plain.ranking(rankings.get(t, []), order)) for t, grades in judged.items()
    }


def _eval_problem(
    out: bytes, order: str, judged: plain.Judgments, lists: dict[str, plain.Lists]
) -> str | None:
    tables = json.loads(out)["tables"]
    values_by_key = {(row["run"], row["topic"], row["measure"]): row["value"] for row in tables["topics"]}
    means = {(row["run"], row["measure"]): row["value"] for row in tables["means"]}
    count = 0
    for name, rankings in lists.items():
        expected = _expected(order, judged, rankings)
        for topic, values in expected.items():
            for measure, value in values.items():
                count += 1
                value_printed = values_by_key.get((name, _as_json(topic), measure))
                if value_printed is None or not math.isclose(
                    value_printed, value, rel_tol=1e-9, abs_tol=1e-12
                ):
                    return f"{name} {topic!r} {measure} is {value}, not {value_printed}"
        for measure in MEASURES:
            mean = sum(values[measure] for values in expected.values()) / len(expected)
            if not math.isclose(means[name, measure], mean, rel_tol=1e-9, abs_tol=1e-12):
                return f"the mean of {name} {measure} is {mean}, not {means[name, measure]}"
    return None if count == len(values_by_key) else f"{len(values_by_key)} values, not {count}"


def _trec_eval_problem(
    out: bytes, order: str, judged: plain.Judgments, lists: list[plain.Lists]
) -> str | None:
    printed = {}
    for line in out.split(b"\n")[:-1]:
        name, topic, value = line.split(b"\t")
        if topic != b"all":
            printed[name.strip().decode(), topic] = float(value)
    (rankings,) = lists.values()
    expected = _expected("trec_eval", judged, rankings)
    for topic in judged.keys() & rankings.keys():
        for name, measure in OFFICIAL.items():
            value_printed = printed.pop((name, topic), None)
            if value_printed is None or abs(value_printed - expected[topic][measure]) > 0.5000001e-4:
                return f"{topic!r} {name} is {expected[topic][measure]}, not {value_printed}"
    return f"more values: {list(printed)[:3]}" if printed else None


def _curve_problem(
    out: bytes, order: str, judged: plain.Judgments, lists: dict[str, plain.Lists]
) -> str | None:
    ((topic, rows),) = next(iter(lists.values())).items()
    documents = plain.ranking(rows, order)
    printed = [(row["doc"], row["grade"]) for row in json.loads(out)["tables"]["curve"]][: len(documents)]
    expected = [(_as_json(document), judged[topic].get(document)) for document in documents]
    return None if printed == expected else f"the list is {expected}, not {printed}"


def _as_json(text: bytes) -> str:
    """Return an id as text in JSON."""
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


def _manifest(rng: random.Random, folder: Path) -> Case:
    """Damage the manifest or a table of a study, and return a command that reads it."""
    target = rng.choice(
        [folder / "study/manifest.json"] * 3 + sorted((folder / "study/figures").glob("*.json"))
    )
    if rng.random() < 0.4:
        target.write_bytes(files.damage(rng, target.read_bytes()))
    else:
        target.write_text(json.dumps(_changed(rng, json.loads(target.read_bytes()))))
    if rng.random() < 0.3:
        (folder / "study/manifest.json").unlink()
    again = [
        "study",
        "--from",
        rng.choice(["study", "study/manifest.json", str(target.relative_to(folder))]),
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
    command = rng.choice([again, again, page, over])
    return Case("manifest", command, targets=_targets(command))


def _changed(rng: random.Random, document: Any) -> Any:
    """Remove or replace one value of a document."""
    inside, key = None, None
    value = document
    while isinstance(value, dict | list) and value and (inside is None or rng.random() < 0.8):
        inside, key = value, rng.choice([*value]) if isinstance(value, dict) else rng.randrange(len(value))
        value = inside[key]
    if inside is None:
        return rng.choice(ODD_JSON)
    if rng.random() < 0.3:
        del inside[key]
    else:
        inside[key] = rng.choice(ODD_JSON)
    return document


def whole_study(folder: Path) -> bool:
    """Return whether a directory holds a study whose files match its manifest."""
    outputs = json.loads((folder / "manifest.json").read_bytes())["outputs"]
    return all(sha256((folder / name).read_bytes()).hexdigest() == digest for name, digest in outputs.items())
