"""The whole command line against hostile and careless users.

Every command gets damaged, absurd and merely unusual files with options drawn from its parser. It must end with 0 or 2,
print one line and leave no file behind if it fails, and print JSON that a strict parser reads.
RANKSCOPE_HYPOTHESIS=thorough tries many more examples.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankscope.cli.commands import COMMANDS
from rankscope.cli.main import command_module
from rankscope.measures import REGISTRY, Measure

# files ----------------------------------------------------------------------------------------------------------------

TOPICS = [
    b"1", b"2", b"10", b"wt09-1", b"\xff\xfe", "é".encode(), b"=1+1", b"<b>&", b"\x1b[31m", "\u202e".encode(),
    b"t" * 300,
]  # fmt: skip
DOCUMENTS = [
    b"d1", b"d2", b"d3", b"d4", b"d5", b"d\xe9", b"-", b"'", b'"', b"#d", b"<script>", "\u2028".encode(), b"d" * 400,
]  # fmt: skip
GRADES = [b"0", b"1", b"2", b"3", b"1", b"0", b"-1", b"-2", b"+1", b"007", b"2147483646"]
ODD_GRADES = [b"2147483647", b"-2147483648", b"99999999999999999999", b"1.0", b"x", b"1e1", b""]
SCORES = [b"1", b"2", b"3.5", b"0", b"-0.0", b"1e-3", b"-inf", b"inf", b"1e999", b"1"]
ODD_SCORES = [b"nan", b"-1e-999", b"0x10", b"1_0", b"high", b"9" * 400, b"1e", b"+.5", b"1,5"]
SPLICES = [
    b"\n", b"\r\n", b"\r", b"\t", b" ", b"\x00", b"\xff", b"\x85", b"\x1c", b"#", b"\n\n", b"\n#\n", b"nan",
    b"1 0 d1 9\n", b"\xef\xbb\xbf",
]  # fmt: skip


# Strategies are cached: building one takes as long as drawing from it ten times.


def either(usual: list[bytes], odd: list[bytes]) -> dict[bool, st.SearchStrategy[bytes]]:
    """Return the strategies of hostile (True) and other users (False)."""
    return {True: st.sampled_from([*usual * 4, *odd]), False: st.sampled_from(usual)}


GRADE, SCORE = either(GRADES, ODD_GRADES), either(SCORES, ODD_SCORES)


@cache
def sample(*choices: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(choices)


@cache
def sample_several(*choices: Any, min_size: int = 1, max_size: int | None = None, unique: bool = True) -> Any:
    return st.lists(sample(*choices), min_size=min_size, max_size=max_size, unique=unique)


@st.composite
def collections(draw: st.DrawFn, hostile: bool) -> tuple[bytes, list[bytes]]:
    """Judgments and one to three runs: strange but well-formed or, from a hostile user, damaged in some places."""
    topics = draw(sample_several(*TOPICS, min_size=draw(sample(1, 3)), max_size=5))
    documents = draw(sample_several(*DOCUMENTS, max_size=7))
    iterations = draw(sample((b"0",), (b"0",), (b"1", b"2", b"3")))
    lines = []
    for topic in topics:
        for iteration in iterations:
            for document in draw(sample_several(*documents)):
                grade = draw(GRADE[hostile])
                lines.append(b" ".join([topic, iteration, document, grade]))
    qrels = b"\n".join(lines) + b"\n"
    runs = [_run(draw, topics, documents, hostile) for _ in range(draw(sample(2, 3, 3, 2, 1)))]
    if draw(sample(*[False] * 5, True)):
        runs = [runs[0]] * 3  # identical runs
    if hostile:
        qrels = draw(damaged(qrels)) if draw(st.booleans()) else qrels
        runs = [draw(damaged(content)) if draw(st.booleans()) else content for content in runs]
    return qrels, runs


def _run(draw: st.DrawFn, topics: list[bytes], documents: list[bytes], hostile: bool) -> bytes:
    lines = []
    answered = [draw(sample(*topics))]
    answered += draw(sample_several(*topics, b"unknown", min_size=0, max_size=4, unique=not hostile))
    constant = draw(st.booleans())
    used: set[tuple[bytes, bytes]] = set()
    for topic in answered:
        pool = draw(sample((*documents, b"u1", b"u2"), (b"u1", b"u2", b"u3")))  # or all unjudged
        for rank, document in enumerate(draw(sample_several(*pool)), 1):
            score = b"1" if constant else draw(SCORE[hostile])
            if hostile or (topic, document) not in used:
                lines.append(b" ".join([topic, b"Q0", document, str(rank).encode(), score, b"tag\xff"]))
            used.add((topic, document))
    return b"\n".join(lines) + b"\n"


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """Draw bytes that a few accidents have damaged."""
    for _ in range(draw(st.integers(1, 3))):
        content = accident(draw, content)
    return content


def accident(draw: st.DrawFn, content: bytes) -> bytes:
    at, width = draw(st.integers(0, len(content))), draw(st.integers(0, 12))
    kinds: list[Callable[[], bytes]] = [
        lambda: content[:at] + content[at + width :],
        lambda: content[: at + width] + content[at:],
        lambda: content[:at] + draw(st.sampled_from(SPLICES)) + content[at:],
        lambda: content[:at] + draw(st.binary(max_size=3)) + content[at + 1 :],
        lambda: content[:at],
        lambda: content.replace(b"\n", b"\r\n"),
        lambda: gzip.compress(content, mtime=0),
        lambda: gzip.compress(content, mtime=0)[: at // 2],
        lambda: b"\xef\xbb\xbf" + content,
        lambda: b"\n".join(draw(st.permutations(content.split(b"\n")))),
        lambda: b"",
    ]
    return draw(st.sampled_from(kinds))()


# words ----------------------------------------------------------------------------------------------------------------

NUMBERS = ["0", "1", "2", "3", "5", "10", "100", "-1"]
ODD_NUMBERS = ["x", "", "1.5", "1e3", "nan", "-0", "२", "2147483647", "99999999999999999999"]
FRACTIONS = ["0", "0.05", "0.3", "0.5", "0.8", "0.95", "1", "50", "100"]
ODD_FRACTIONS = ["nan", "inf", "-inf", "-1", "1e308", "1e-308", "", "x", "2"]
FEW = {  # asking for much of these is allowed, and takes as long as it takes
    **{name: ["1", "2", "3"] for name in ("depth", "length", "relevant", "nonrelevant", "grades", "aspects")},
    **{name: ["1", "2", "10"] for name in ("replicates", "repeats", "samples", "examples")},
    **{name: ["1", "2", "5"] for name in ("systems", "topics", "pool_depth")},
}
SLOW = ("plot", "certificates")  # options that take a second each time


@st.composite
def measure_texts(draw: st.DrawFn, hostile: bool) -> str:
    """A measure with parameters and a cutoff; from a hostile user beyond what it takes, or no measure at all."""
    if hostile and draw(st.booleans()):
        none = ["AP(", "P@", "@5", "AP()", "nDCG(gains='1,2')@2", "nDGC", "AP,P@5"]
        return draw(st.text(max_size=8) | st.sampled_from(none))
    measure: Measure = draw(st.sampled_from(sorted(REGISTRY.values(), key=str)))
    written = []
    for name in draw(st.permutations(sorted(measure.parameters)))[: draw(st.integers(0, 2))]:
        p = measure.parameters[name]
        near = [str(x) for x in (p.low, p.high, p.default) if x not in (None, "")] + list(p.choices)
        written.append(f"{name}={draw(st.sampled_from(near + (FRACTIONS + ODD_FRACTIONS) * hostile))}")
    text = measure.name + (f"({','.join(written)})" if written else "")
    if measure.name == "IPrec":
        return text + draw(st.sampled_from(["@0", "@0.3", "@1"]))
    cutoffs = {"required": ["@1", "@10"], "optional": ["", "@1", "@5", "@10000000"], "none": [""]}
    odd = ["@0", "@0.3", "@-1", "@inf", "@1e10", "@nan", "@9999999999"]
    return text + draw(st.sampled_from(cutoffs[measure.cutoff_rule] * 2 + odd * hostile))


def draw_value(draw: st.DrawFn, action: argparse.Action, world: Any, hostile: bool) -> str:
    """Draw a value of an option: a valid one or, from a hostile user, any text."""

    def pick(usual: Sequence[str], odd: Sequence[str] = ()) -> str:
        return draw(st.sampled_from([*[*usual] * 2, *odd] if hostile else list(usual)))

    if action.choices:
        return pick([*map(str, action.choices)], ["other"])
    kind = getattr(action.type, "__name__", "")
    if kind in ("int", "float", "whole_numbers", "decimals"):
        whole = kind in ("int", "whole_numbers")
        few = FEW.get(action.dest) or (NUMBERS if whole else FRACTIONS)
        odd = ["0", "-1", "x"] if action.dest in FEW else ODD_NUMBERS if whole else ODD_FRACTIONS
        several = 1 if kind in ("int", "float") else 3
        return ",".join(pick(few, odd) for _ in range(draw(st.integers(1, several))))
    folder, absent = str(world.folder), str(world.folder / "absent")
    special: dict[str, Callable[[], str]] = {
        "measure": lambda: " ".join(draw(st.lists(measure_texts(hostile), min_size=1, max_size=3))),
        "by": lambda: draw(measure_texts(hostile)),
        "focus": lambda: draw(measure_texts(hostile)),
        "digits": lambda: pick(["0", "4", "100"], ["-1", "101", "x", "२"]),
        "orders": lambda: pick(["file,trec_eval", "rank,file", "trec_eval9,rank"], ["file", "a,b,c", ""]),
        "cell": lambda: pick(
            ["AP huge huge", "AP low low", "nDCG low medium"], ["AP x y", "", "NumRet huge huge"]
        ),
        "weights": lambda: pick(["1,1", "0.5,0.3"], ["0,0", "x", "", "nan,1", "-1,2", "inf,1", "1,1,1"]),
        "property": lambda: pick(["swap", "redundancy", "replacement", "induced"], ["none", ""]),
        "groups": lambda: pick(["groups.txt"], [absent, "q.txt", "."]),
        "gains": lambda: pick(["linear", "exp2", "0,5,10"], ["0", "", "x", "0,inf", "0,1e400", "1,2"]),
        "discount": lambda: pick(["log2", "jk"], ["x"]),
        "output": lambda: pick(["out.json", f"{folder}/out.csv", "out.md", "o"], ["absent/o", ".", folder]),
        "plot": lambda: pick(["out.png", "out.svg"], ["out.txt", "absent/o.png", ".png"]),
        "plugin": lambda: pick(["json"], ["no_such_module", "a..b", "", ".", "x.py"]),
        "host": lambda: pick(["127.0.0.1", "localhost"], ["256.0.0.1", "", "é"]),
        "manifest": lambda: pick([world.qrels, folder, absent]),
        "study": lambda: pick([world.qrels, folder, absent]),
        "topic": lambda: pick(world.topics, ["", "none"]),
        "baseline": lambda: pick(["run0"], ["", "none"]),
    }
    if action.dest in special:
        return special[action.dest]()
    return draw(st.sampled_from(["run0", "", "é\x1b\n", "AP", "none", folder]) | st.text(max_size=5))


@cache
def build_parser(command: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=command)
    command_module(command).add_arguments(parser)
    return parser


# Options that make commands fast enough for hundreds of runs; options that are drawn come later and override them.
SMALL = {
    "properties": ["--depth=3", "--relevant=2"],
    "effort": ["--length=4", "--relevant=2"],
    "scales": ["--length=4", "--samples=50"],
    "power": ["--replicates=20"],
    "compare": ["--replicates=20"],
    "study": ["--replicates=10", "--repeats=1"],
    "simulate": ["--systems=2", "--topics=2", "--depth=5", "--pool-depth=3"],
}
# By default there are too many, or none.
NEEDED = [("properties", "measure"), ("scales", "measure"), ("study", "output")]


def draw_arguments(draw: st.DrawFn, command: str, world: Any, hostile: bool) -> list[str]:
    """Draw arguments of a command from its parser."""
    arguments = [command, *SMALL.get(command, ())]
    actions = [action for action in build_parser(command)._actions if action.dest != "help"]
    optional = [action for action in actions if action.option_strings]
    likely = [action for action in optional if action.dest not in SLOW]
    selected = draw(st.lists(st.sampled_from(likely), max_size=4)) if likely else []
    selected += [action for action in optional if action.required or (command, action.dest) in NEEDED]
    if draw(st.integers(0, 30)) == 30:
        selected += [action for action in optional if action.dest == "plot"]
    for action in selected:
        flag = draw(st.sampled_from(action.option_strings))
        if action.nargs == 0:
            arguments.append(flag)
        else:
            value = draw_value(draw, action, world, hostile)
            arguments += [f"{flag}={value}"] if flag.startswith("--") else [flag, value]
    for action in actions:
        if not action.option_strings:
            arguments += positional(draw, command, action, world, hostile)
    return arguments


def positional(
    draw: st.DrawFn, command: str, action: argparse.Action, world: Any, hostile: bool
) -> list[str]:
    folder = str(world.folder)
    usual: list[list[str]] = []
    odd: list[list[str]] = [[], [folder], ["-"], ["absent"], [""]]
    if action.dest == "qrels":
        usual = [[world.qrels]]
    elif action.dest == "runs":
        usual = [world.runs[:1]] if command == "curve" else [world.runs, [f"{folder}/run*.txt"]]
        odd += [[f"{folder}/[x"], [world.qrels], world.runs[:1] * 2]
    elif action.dest == "directory":
        usual = [[f"{folder}/new"]]
        odd = [[f"{folder}/out/deep"], [world.qrels], [folder]]
    elif action.choices:
        usual, odd = [[str(choice)] for choice in action.choices], [["other"]]
    else:
        usual = [[draw(measure_texts(hostile))]]
    return draw(st.sampled_from(usual * 3 + odd if hostile else usual))


# tests ----------------------------------------------------------------------------------------------------------------

MOODS = [(False, False)] * 3 + [(True, False), (False, True)]
"""Whether files, and words, are hostile; never both, because then all commands would fail early."""
SHARE = {"demo": 0.02, "study": 0.1, "report": 0.25, "explore": 0.25, "completion": 0.1}
"""Share of the default number of examples, by default half: all thirty commands test their common code (reading,
parsing, emitting)."""


@pytest.fixture(autouse=True)
def nothing_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """Build the data of the explorer without its server, which would run until interrupted."""
    import rankscope.explorer.server as server

    monkeypatch.setattr(server, "serve", lambda app, listener, work: work())


LONG = "study explore demo leave-out properties scales report findings pools power".split()  # noqa: SIM905
"""Commands whose examples take more than a second and a half; tests/run --quick leaves them out."""


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in LONG else [])
        for name in COMMANDS
        if name != "trec_eval"
    ],
)
def test_every_command_survives(command: str, command_line: Any) -> None:
    examples = settings.default.max_examples if settings.default else 60

    @settings(max_examples=max(2, int(SHARE.get(command, 0.5) * examples)))
    @given(st.data(), st.sampled_from(MOODS))
    def survives(data: st.DataObject, mood: tuple[bool, bool]) -> None:
        draw: Any = data.draw
        qrels, runs = draw(collections(mood[0]))
        with command_line.world(qrels, runs) as world:
            arguments = draw_arguments(draw, command, world, mood[1])
            command_line.check(arguments, world, draw(st.sampled_from([b"", qrels, runs[0]])))

    survives()


TREC_EVAL = {
    "-m": ("map P.5,10 all_trec official set ndcg.1=3,2=-1 utility.1,-1,0,0 relstring.2 yaap gm_map".split(),  # noqa: SIM905
           ["P.x", "nope", "P.0", "P.99999999999", "success.-1", "", ".", "set_F.nan", "bing", "G.2=3", "prefs_simp"]),
    "-l": (["1", "2"], ODD_NUMBERS),
    "-M": (["1", "5"], ODD_NUMBERS),
    "-N": (["0", "100"], ODD_NUMBERS),
    "-D": (["0"], ["1"]),
    "-R": (["qrels", "qrels_jg", "prefs", "qrels_prefs"], ["x"]),
    "-T": (["trec_results"], ["x"]),
    "-Z": (["q.txt"], ["absent", "run0.txt"]),
}  # fmt: skip


@given(data=st.data(), mood=st.sampled_from(MOODS))
def test_trec_eval_survives(data: st.DataObject, mood: tuple[bool, bool], command_line: Any) -> None:
    draw: Any = data.draw
    qrels, runs = draw(collections(mood[0]))
    with command_line.world(qrels, runs) as world:
        arguments = ["trec_eval"]
        flags = [*TREC_EVAL, *["-m", "-q", "-c", "-n", "-J", "-h", "-v"] * 2] + ["-o", "-x", "--help"] * mood[
            1
        ]
        for flag in draw(st.lists(st.sampled_from(flags), max_size=4)):
            arguments.append(flag)
            if flag in TREC_EVAL:
                usual, odd = TREC_EVAL[flag]
                arguments.append(draw(st.sampled_from(usual + odd * mood[1])))
        files = [[world.qrels, world.runs[0]]] * 8 + [[world.qrels], ["-", world.runs[0]], ["", ""]] * mood[1]
        command_line.check([*arguments, *draw(st.sampled_from(files))], world, qrels)


WORDS = [*COMMANDS, "--version", "--help", "-h", "evla", "-", "--", "", "-q", "\x1b", "é"]


@given(words=st.lists(st.sampled_from(WORDS) | st.text(max_size=4), max_size=3))
def test_arbitrary_words_instead_of_a_command_cause_no_traceback(words: list[str], command_line: Any) -> None:
    with command_line.world(b"", []) as world:
        named = bool(words) and words[0] in COMMANDS
        command_line.check([words[0], "--help"] if named else words, world)
