"""Command lines from what the parsers of the commands say that they take, mostly sensible and sometimes absurd."""

from __future__ import annotations

import argparse
import random

from rankscope.cli.commands import COMMANDS
from rankscope.cli.main import command_module
from rankscope.measures import REGISTRY

OWN_GRAMMAR = ("trec_eval",)
LEFT_OUT = ("explore",)  # serves until it is interrupted
SELDOM = {"demo": 0.05, "study": 0.5, "report": 0.7, "completion": 0.2, "measures": 0.5}

SMALL = {  # what makes a command quick; what is drawn later on the line wins
    "properties": ["--depth=3", "--relevant=2", "-m", "AP"],
    "scales": ["--length=4", "--samples=50", "-m", "RR"],
    "archetypes": ["--relevant=2", "--length=4"],
    "power": ["--replicates=20"],
    "compare": ["--replicates=20"],
    "study": ["--replicates=10", "--repeats=1"],
    "simulate": ["--systems=2", "--topics=2", "--depth=5", "--pool-depth=3"],
}
FEW = {  # asking for much of these is allowed, and takes as long as it takes
    **{name: ["1", "2", "3"] for name in ("depth", "length", "relevant", "nonrelevant", "grades", "aspects")},
    **{name: ["1", "2", "10"] for name in ("replicates", "repeats", "samples", "examples")},
    **{name: ["1", "2", "5"] for name in ("systems", "topics", "pool_depth")},
}
NUMBERS = [
    "0",
    "1",
    "2",
    "3",
    "5",
    "10",
    "100",
    "-1",
    "x",
    "",
    "1.5",
    "1e3",
    "nan",
    "-0",
    "२",
    "2147483647",
    "9" * 20,
]
FRACTIONS = [
    "0",
    "0.05",
    "0.3",
    "0.5",
    "0.95",
    "1",
    "50",
    "100",
    "nan",
    "inf",
    "-inf",
    "-1",
    "1e308",
    "1e-308",
    "",
    "x",
]
ODD_MEASURES = [
    "AP(",
    "P@",
    "@5",
    "AP()",
    "nDCG(gains='1,2')@2",
    "nDGC",
    "AP,P@5",
    "RBP(p=2)",
    "P@0",
    "P@99999999999",
    "",
    "é",
]
SPECIAL = {
    "digits": ["0", "4", "100", "-1", "101", "x"],
    "orders": ["file,trec_eval", "rank,file", "trec_eval9,rank", "ascending_id,file", "file", "a,b,c", ""],
    "cell": ["AP huge huge", "AP low low", "AP x y", "", "NumRet huge huge"],
    "weights": ["1,1", "0.5,0.3", "0,0", "x", "", "nan,1", "-1,2", "inf,1", "1,1,1"],
    "property": ["swap", "redundancy", "replacement", "induced", "none", ""],
    "groups": ["groups.txt", "absent", "q.txt", ".", "/dev/null"],
    "gains": ["linear", "exp2", "0,5,10", "0", "", "x", "0,inf", "0,1e400", "1,2"],
    "discount": ["log2", "jk", "x"],
    "output": [
        "out.json",
        "out.csv",
        "out.md",
        "o",
        "absent/o",
        ".",
        "q.txt",
        "run0.txt",
        "link.txt",
        "/dev/null",
        "",
    ],
    "plot": ["out.png", "out.svg", "out.txt", "absent/o.png", ".png", "q.txt", "link.svg"],
    "plugin": ["json", "no_such_module", "a..b", "", ".", "x.py", "mine.py"],
    "manifest": ["study", "study/manifest.json", "q.txt", ".", "absent", "/dev/null"],
    "study": ["study", "q.txt", ".", "absent", "study/figures"],
    "topic": ["1", "2", "301", "10", "", "none", "unknown"],
    "baseline": ["run0", "run1", "", "none", "run0.txt"],
    "scores": ["scores.csv", "AP=scores.csv", "q.txt", "absent", "AP=", "=scores.csv"],
    "collection": [
        "a=q.txt:run0.txt",
        "b=q.txt:folder",
        "a=q.txt:run*.txt",
        "=",
        "a=",
        "a=q.txt",
        "a=q.txt:absent",
    ],
    "collections": ["four.toml", "four.toml", "q.txt", "absent", "/dev/null", "."],
    "by": ["AP", "nDCG", "nope"],
    "focus": ["AP", "nDCG", "nope"],
}


def measures(rng: random.Random) -> str:
    """One to three measures, with parameters and cutoffs that they may or may not have."""
    return " ".join(_measure(rng) for _ in range(rng.randint(1, 3)))


def _measure(rng: random.Random) -> str:
    if rng.random() < 0.15:
        return rng.choice(ODD_MEASURES)
    measure = rng.choice(sorted(REGISTRY.values(), key=str))
    written = []
    for name in rng.sample(sorted(measure.parameters), min(len(measure.parameters), rng.randint(0, 2))):
        parameter = measure.parameters[name]
        near = [
            str(x) for x in (parameter.low, parameter.high, parameter.default) if x not in (None, "")
        ] + list(parameter.choices)
        written.append(f"{name}={rng.choice([*near * 3, *FRACTIONS])}")
    cutoff = {"required": ["@1", "@10"], "optional": ["", "", "@1", "@5"], "none": [""]}[measure.cutoff_rule]
    end = rng.choice([*cutoff * 5, "@0", "@0.3", "@-1", "@nan", "@9999999999"])
    return measure.name + (f"({','.join(written)})" if written else "") + end


def value(rng: random.Random, action: argparse.Action) -> str:
    """Something that an option may be given."""
    if action.choices:
        return rng.choice([*map(str, action.choices), *map(str, action.choices), "other"])
    if action.dest == "measure":
        return measures(rng)
    if action.dest in FEW:
        return rng.choice([*FEW[action.dest] * 4, "0", "-1", "x"])
    if action.dest in SPECIAL:
        return rng.choice(SPECIAL[action.dest])
    kind = getattr(action.type, "__name__", "")
    if kind in ("int", "whole_numbers"):
        return rng.choice(NUMBERS)
    if kind in ("float", "decimals"):
        return ",".join(rng.choice(FRACTIONS) for _ in range(1 if kind == "float" else rng.randint(1, 3)))
    return rng.choice(["run0", "", "é\x1b\n", "AP", "none", "q.txt", "x" * 300, "\udcff", "0.5"])


def make_parser(command: str) -> argparse.ArgumentParser:
    """Return the parser of a command."""
    parser = argparse.ArgumentParser(prog=command)
    command_module(command).add_arguments(parser)
    return parser


def command(rng: random.Random) -> str:
    """Return a random command; slow commands are less frequent."""
    while True:
        name = rng.choice([name for name in COMMANDS if name not in LEFT_OUT])
        if rng.random() < SELDOM.get(name, 1.0):
            return name


def words(rng: random.Random, runs: list[str]) -> list[str]:
    """Return a command line for a collection in the working directory."""
    name = command(rng)
    if name in OWN_GRAMMAR:
        return [
            name,
            *trec_eval(rng),
            *rng.choice([["q.txt", runs[0]]] * 8 + [["q.txt"], ["-", runs[0]], ["", ""]]),
        ]
    line = [name, *SMALL.get(name, [])]
    actions = [action for action in make_parser(name)._actions if action.dest != "help"]
    optional = [action for action in actions if action.option_strings]
    actions_used = [rng.choice(optional) for _ in range(rng.choice([0, 1, 1, 2, 4]))] if optional else []
    actions_used = [
        action
        for action in actions_used
        if action.dest not in ("plot", "plots", "certificates") or rng.random() < 0.15
    ]
    actions_used += [action for action in optional if action.required]
    if name == "study" and not any(action.dest in ("output", "manifest") for action in actions_used):
        line += ["-o", rng.choice(["made", "study", ".", "q.txt", "link"])]
    for action in actions_used:
        flag = rng.choice(action.option_strings)
        if action.nargs == 0:
            line.append(flag)
        else:
            text = value(rng, action)
            line += [f"{flag}={text}"] if flag.startswith("--") else [flag, text]
    instead = any(action.dest in ("collection", "collections", "scores") for action in actions_used)
    for action in actions:
        if not action.option_strings and not (instead and rng.random() < 0.8):
            line += positional(rng, name, action, runs)
    return line


def positional(rng: random.Random, name: str, action: argparse.Action, runs: list[str]) -> list[str]:
    """Return a positional argument."""
    odd: list[list[str]] = [[], ["."], ["-"], ["absent"], [""], ["/dev/null"], ["link.txt"]]
    if action.dest == "qrels":
        usual = [["q.txt"]]
    elif action.dest == "runs":
        usual = [runs[:1]] if name in ("curve", "ndeval") else [runs, ["run*.txt"], ["folder"]]
        odd += [["[x"], ["q.txt"], runs[:1] * 2, [*runs, "q.txt"]]
    elif action.dest == "directory":
        usual, odd = [["new"]], [["out/deep"], ["q.txt"], ["."], ["study"]]
    elif action.choices:
        usual, odd = [[str(choice)] for choice in action.choices], [["other"]]
    else:
        usual = [[_measure(rng)]]
    return rng.choice(usual * 12 + odd)


def trec_eval(rng: random.Random) -> list[str]:
    """Return random flags of trec_eval."""
    flags = []
    options = {
        "-m": ["map", "P.5,10", "all_trec", "official", "ndcg.1=3,2=-1", "relstring.2", "P.x", "nope", "P.0", "", "."],
        "-l": NUMBERS, "-M": NUMBERS, "-N": NUMBERS, "-D": ["0", "1"], "-R": ["qrels", "qrels_jg", "prefs", "x"],
        "-T": ["trec_results", "x"], "-Z": ["q.txt", "absent"],
    }  # fmt: skip
    for _ in range(rng.randint(0, 3)):
        flag = rng.choice([*options, "-q", "-c", "-n", "-J", "-o", "-x"])
        flags += [flag, rng.choice(options[flag])] if flag in options else [flag]
    return flags
