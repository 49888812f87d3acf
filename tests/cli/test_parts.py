"""Parts of the command line compute what they computed before: wrapped help, parsed values, options, errors and notes.

The functions themselves gave the values in recorded_parts.json. They are tried on many inputs, which calls of commands
would reach one by one. After an intended change, run

    python -m tests.cli.test_parts

and review the difference before you commit it.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import itertools
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any
from unittest import mock

import pytest
from tests.cli.test_recorded import Terminal, small_files
from tests.recorded import assert_recorded, to_plain, write_recorded

import rankscope as rs
from rankscope.choices import ORDERS
from rankscope.cli import (
    arguments,
    commands,
    curve,
    explore,
    interrupts,
    main,
    measures,
    ndeval,
    notes,
    options,
    output,
    parser,
    plugins,
    study,
    targets,
    terminal,
)
from rankscope.cli import eval as eval_command
from rankscope.declaration import Option
from rankscope.errors import InputError, SettingsError
from rankscope.measures import REGISTRY, parse_many
from rankscope.read import open_qrels
from rankscope.result import TableResult
from rankscope.tables import Table
from rankscope.text_layout import no_ink

RECORDED = Path(__file__).with_name("recorded_parts.json")
WIDTHS = (20, 27, 36, 50, 79, 100, 101, 130)
"""Widths of terminals in columns."""


def _try(function: Callable[..., Any], *values: Any, **named: Any) -> str:
    """Return the result of a function as text, or its error."""
    try:
        return json.dumps(to_plain(function(*values, **named)))
    except (argparse.ArgumentTypeError, InputError, SettingsError, SystemExit) as error:
        return f"{type(error).__name__}: {error}".replace(f"{Path.cwd()}{os.sep}", "")


def _each(function: Callable[..., Any], values: Iterable[Any]) -> list[str]:
    return [f"{value!r}: {_try(function, value)}" for value in values]


def _digest(texts: Iterable[str]) -> list[str]:
    """Return the first texts and a digest of all."""
    listed = list(texts)
    return [*listed[:8], hashlib.sha256("\n".join(listed).encode()).hexdigest()[:12]]


@contextlib.contextmanager
def _columns(number: int) -> Iterator[None]:
    with mock.patch.dict(os.environ, COLUMNS=str(number), NO_COLOR="1"):
        yield


def _help() -> Iterator[str]:
    """Yield the help of a command with every kind of argument, in terminals of several widths."""
    words = "words that are long enough for two lines, such as --an-option or un-hyphenated ones"
    description = (
        f"Do {words}.\n\nSee {words}, and\nmore {words}.\n\n  a table    with {words}\n  short\n\nexamples:\n"
        f"  rankscope do this\n  rankscope do --an-option 'a b' \"c d\" -x 1 more words than fit, {words}\n"
        f"  rankscope do --short      {words}\n  rankscope do -a              # remark"
    )
    for width in WIDTHS:
        with _columns(width):
            command = parser.Parser(prog="rankscope do", description=description)
            command.add_argument("first", metavar="FIRST", help=words)
            command.add_argument("others", metavar="OTHER", nargs="*", help=words)
            command.add_argument("-n", "--needed", required=True, metavar="N", help=words)
            command.add_argument("-f", "--flag", action="store_true", help="flag")
            command.add_argument("--pair", nargs=2, metavar=("A", "B"), help=words)
            command.add_argument("--maybe", nargs="?", help="maybe")
            yield f"{width}: {command.format_help()}"


@dataclass
class DeclaredOptions:
    """Options of every kind.

    Parameters
    ----------
    shown
        Whether to show ``many`` of 100 %.
    hidden
        AP of a hidden run.
    many
        RBO of runs; see ``--other``.
    share
        Share of ``runs``, the *best* first.
    counts
        X ranks of interest.
    shares
        Shares of topics.
    pair
        Names of two runs (default: the first two).
    kind
        Kind of figure.
    maybe
        `Number` of lines, if any.
    parsed
        Digits of all numbers.
    """

    shown: bool = False
    hidden: bool = True
    many: Annotated[Sequence[str], Option("RUN", ("-r",))] = ()
    share: Annotated[float, Option("F")] = 0.25
    counts: Annotated[Sequence[int], Option("K,K,...")] = (5, 10)
    shares: Annotated[Sequence[float], Option("F")] = ()
    pair: Annotated[str | None, Option("A B")] = None
    kind: Annotated[str, Option(choices=("one", "two"))] = "one"
    maybe: Annotated[int | None, Option("N", bare=3)] = None
    parsed: Annotated[int, Option("D", parse=options._digits)] = 4


def _declared_options() -> Iterator[str]:
    """Yield the help of options that a class declares, and what they are parsed as."""
    command = parser.Parser(prog="rankscope do")
    options.add_options(command, DeclaredOptions)
    with _columns(100):
        yield command.format_help()
    calls = (
        "", "--shown --no-hidden", "--many a -r b", "--share 0.5", "--share x", "--counts 1,2 --counts 3", "--counts x",
        "--shares 0.5,1", "--pair a b", "--pair a", "--kind two", "--kind three", "--maybe", "--maybe 7", "--parsed 2",
        "--parsed x",
    )  # fmt: skip
    for line in calls:
        with contextlib.redirect_stderr(io.StringIO()):
            yield f"{line}: {_try(lambda words: vars(command.parse_args(words)), line.split())}"


def _pictures() -> Iterator[str]:
    """Yield the curves of rankings of few and many ranks in characters, in terminals of several widths."""
    for length, width in itertools.product((1, 2, 3, 9, 10, 30, 120), (12, 40, 79, 140)):
        ranking = [f"d{k}" for k in range(length)]
        collection = rs.Collection(
            {"a topic": {"d0": 1, f"d{length // 2}": 2, "x": 1}}, {"run": {"a topic": ranking}}
        )
        with _columns(width):
            yield curve._picture(rs.curve(collection, "run", "a topic"))


def _lists_of_measures() -> Iterator[str]:
    known = [REGISTRY[name] for name in ("AP", "nDCG", "P", "RBP", "alpha_nDCG", "Twist")]
    for width in WIDTHS:
        with _columns(width):
            yield measures.list_by_family(known, no_ink)
            yield from (measures.explain(measure, measure) for measure in known[3:])
            yield from (measures.explain(measure, measure @ 5) for measure in known[:3])


def _plugin_changes() -> Iterator[str]:
    stored = "one\n  two\nthree\n"
    for text in ("one\n  two\nthree\n", "one\n  2\nthree\n", "one\n", stored + "four\n", "x" * 200, ""):
        Path("changed.py").write_text(text)
        for source in (stored, None, ""):
            yield plugins._describe_change({"source": source}, Path("changed.py"))
    Path("changed.py").unlink()


def _described_plugins() -> Iterator[str]:
    """Yield the descriptions of plugins for a manifest, whose sources may be large, binary or missing."""
    contents = {
        "largest.py": b"#" * (1 << 20), "larger.py": b"#" * ((1 << 20) + 1), "binary.py": b"\xff", "nul.py": b"\0",
        "data.txt": b"x",
    }  # fmt: skip
    for name, content in contents.items():
        Path(name).write_bytes(content)
    for name in (*contents, "half.py", "json", "sys", "nothing", "email", "a..b"):
        try:
            described = plugins.describe_plugin(name)
        except OSError as error:
            yield f"{name}: {type(error).__name__}"
            continue
        files = [path.name for path in plugins.source_files(name)]
        source = described.pop("source", None)
        if Path(name).suffix:
            yield f"{name}: {described} {source and len(source)} {files}"
        else:  # The digest of a module of Python depends on its version.
            yield f"{name}: {bool(described['sha256'])} {source and source[:3]} {files[:1]} {len(files) > 1}"
    for name in contents:
        Path(name).unlink()


def _reported_formats() -> Iterator[str]:
    """Yield what is printed about files whose format is recognised."""
    Path("qrels.csv").write_text("topic,doc,grade\n1,d1,1\n")
    for file, quiet in itertools.product(("qrels.csv", "qrels.txt"), (True, False)):
        with contextlib.redirect_stderr(io.StringIO()) as err:
            arguments.report_formats([open_qrels(file)], quiet)
        yield f"{file} {quiet}: {err.getvalue()}"
    Path("qrels.csv").unlink()


def _listed_plugins() -> Iterator[str]:
    """Yield what loading a plugin of a manifest does: the file or module that is imported, or an error."""
    text = Path("half.py").read_text()
    folder = Path("elsewhere")
    folder.mkdir()
    (folder / "other.py").write_text(text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    for name, sha256, source in itertools.product(
        ("half.py", "other.py", "none.py", "half", "none", "sys"), (digest, "0" * 64, None),
        (text, "x = 1", None),
    ):  # fmt: skip
        plugin = {"name": name, "sha256": sha256, "source": source}
        loaded: list[str] = []
        with mock.patch.object(
            plugins, "load_plugin", lambda path, seen=loaded: seen.append(Path(path).name)
        ):
            error = _try(plugins.load_listed_plugin, plugin, folder)
        yield f"{name} {str(sha256)[:4]} {source and source[:4]}: {loaded} {error}"
    (folder / "other.py").unlink()
    folder.rmdir()


def _reading_ahead() -> Iterator[str]:
    """Yield the arguments with which files are read ahead, or None, by the options of the command."""
    base: dict[str, Any] = {
        "ties": "break", "unjudged": "nonrelevant", "columns": None, "runs": ["a", "b"], "grades": None, "engine": None,
        "stream": False, "topics": None, "plugin": [], "qrels": "q", "order": "trec_eval", "jobs": None,
    }  # fmt: skip
    changes: list[dict[str, Any]] = [
        {}, {"ties": "expected"}, {"unjudged": "bounds"}, {"unjudged": "condense"}, {"columns": "a=b"},
        {"runs": ["x=a", "b"]}, {"grades": "0-1=0"}, {"grades": "0,1=0"}, {"engine": "threads"}, {"stream": True},
        {"topics": "1"}, {"plugin": ["half"]}, {"jobs": 2}, *({"order": order} for order in ORDERS),
    ]  # fmt: skip
    seen: list[Any] = []

    def record(*values: Any) -> Any:
        seen.append(values)
        return contextlib.nullcontext()

    with mock.patch("rankscope.native.readahead.read_ahead", record):
        for change in changes:
            seen.clear()
            with arguments.read_ahead(argparse.Namespace(**base | change)):
                yield f"{change}: {seen}"


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _formats() -> Iterator[str]:
    files = (
        None,
        "-",
        "x",
        "x.csv",
        "x.json",
        "x.md",
        "x.tex",
        "x.txt",
        "x.tsv",
        "x.XLSX",
        "x.xls",
        "x.ods",
        "x.CSV",
    )
    for stream, file, name in itertools.product((io.StringIO(), _Terminal()), files, (None, "json")):
        with contextlib.redirect_stdout(stream):
            args = argparse.Namespace(output=file, format=name, digits=None)
            text = f"{_try(output.choose_format, args)} {output._is_styled(args, name or 'table')}"
        yield f"{stream.isatty()} {file} {name}: {text}"


def _notes() -> Iterator[str]:
    text = "a note that is longer than the terminal, with-hyphens and averyveryverylongword"
    for stream, width, quiet in itertools.product((io.StringIO, _Terminal), (12, 40), (True, False)):
        with contextlib.redirect_stderr(stream()) as err, _columns(width):
            parser.note(argparse.Namespace(quiet=quiet), text)
        yield f"{stream.__name__} {width} {quiet}: {err.getvalue()}"


def _exceptions() -> Iterator[str]:
    """Yield the exit code and message for every kind of exception."""
    missing = FileNotFoundError(2, "No such file", "x.txt")
    errors = (
        SettingsError("problem", hint="hint"), InputError("problem", path="x", line=3), KeyboardInterrupt(),
        MemoryError(), missing, OSError("plain"), OSError(28, "No space left"), ValueError("bug\nsecond line"),
    )  # fmt: skip
    for error in errors:

        def run(_: Any, error: BaseException = error) -> int:
            raise error

        with contextlib.redirect_stderr(io.StringIO()) as err:
            code = main.main([], run)
        yield f"{error!r}: {code} {err.getvalue()}"


def _notes_on_runs() -> Iterator[str]:
    """Yield the notes on runs that lack topics, have ties or unjudged documents, or more topics than are judged."""
    qrels = {t: {"a": 1, "b": 0} for t in "123"}
    full = {t: ["a", "b"] for t in "123"}
    kinds: dict[str, Any] = {
        "full": full, "short": {"1": ["a"]}, "shorter": {"2": ["b"]}, "odd": full | {"8": ["a"]},
        "odder": full | {"8": ["a"], "9": ["b"]}, "unknown": {t: ["x", "y", "a", "z"] for t in "123"},
        "oddest": {"1": ["a"], "9": ["a"]},
        "tied": {t: {"a": 1.0, "b": 1.0, "c": 1.0} for t in "123"},
    }  # fmt: skip
    for number in (1, 2, 3):
        for chosen in itertools.combinations(kinds, number):
            judged = rs.Collection(qrels, {name: kinds[name] for name in chosen}).judged
            yield f"{chosen}: {list(notes.notes_on(judged, 'zero', parse_many(['AP', 'Bpref'])))}"
    judged = rs.Collection({t: {"a": 1} for t in "123"}, {"full": full}).judged
    for names in ("AP", "Bpref", "AP Bpref GMBpref", "GMBpref AP Bpref"):
        yield f"{names}: {list(notes.notes_on(judged, 'zero', parse_many(names)))}"


def _identities() -> Iterator[str]:
    """Yield the errors of commands that would overwrite what they read."""
    base: dict[str, Any] = {"command": "eval", "qrels": "qrels.txt", "runs": ["runs"], "name": "qrels.txt"}
    changes: tuple[dict[str, Any], ...] = (
        {}, {"output": "qrels.txt"}, {"plot": "./qrels.txt"}, {"output": "runs/a.txt"}, {"output": "new"},
        {"output": "x", "plot": "odd/../x"}, {"output": "-", "plot": "-"}, {"output": "half.py", "plugin": ["half.py"]},
        {"output": "gain.py", "function": "gain.py:half"}, {"output": "scores.csv", "scores": ["AP=scores.csv"]},
        {"template": "topics.csv", "topic_data": "topics.csv"}, {"output": "runs"}, {"output": "odd/a.txt"},
        {"output": "odd/a.txt", "runs": ["odd/[ab].txt"]}, {"output": "odd/c.txt", "runs": ["odd/[ab].txt"]},
        {"output": "aspects.txt", "collection": ["x=aspects.txt:odd"]},
        {"output": "odd/a.txt", "collection": ["x=q:odd"]},
        {"output": "human.txt", "judgments": ["a=human.txt"]}, {"output": "", "plot": ""},
    )  # fmt: skip
    for change in changes:
        yield f"{change}: {_try(targets.validate_targets, argparse.Namespace(**base | change))}"


def _orders_of_runs() -> Iterator[str]:
    qrels = {"1": {"a": 1, "b": 2}, "2": {"a": 2}}
    runs = {"z": {"1": ["a"], "2": ["x", "a"]}, "a": {"1": ["b", "a"]}, "m": {"1": ["a", "b"], "2": ["a"]}}
    scores = rs.evaluate(qrels, runs, ["AP", "P(rel=2)@2", "BalancePoint"])
    for by, rel in itertools.product(
        ("input", "run", "AP", "P(rel=2)@2", "P@2", "BalancePoint", "RR"), (None, 1, 2)
    ):
        yield f"{by} {rel}: {_try(eval_command._sorted_indices, scores, by, rel)}"


def _explored() -> Iterator[str]:
    """Yield what the explorer prints by port and option, and whether it opens a browser."""
    collection = SimpleNamespace(runs=("a", "b"))
    for port, quiet in itertools.product((-1, 0, 65535, 65536), (True, False)):
        args = argparse.Namespace(port=port, host="here", title="T", no_browser=quiet)
        with (
            mock.patch.object(explore, "open_report", lambda _: (collection, [])),
            mock.patch.object(explore, "serve_explorer", lambda *values: values[-1]("http://here")),
            mock.patch.object(explore, "_open_browser", lambda url: print("browser", url)),
            contextlib.redirect_stdout(io.StringIO()) as out,
        ):
            error = _try(explore.run, args)
        yield f"{port} {quiet}: {error} {out.getvalue()}"
    variables: tuple[dict[str, str], ...] = ({}, {"DISPLAY": ":0"}, {"WAYLAND_DISPLAY": "w"})
    for platform, environment, stream in itertools.product(
        ("linux", "darwin", "win32"), variables, (io.StringIO(), _Terminal())
    ):
        with (
            mock.patch.object(sys, "platform", platform),
            mock.patch.dict(os.environ, environment, clear=True),
            mock.patch("webbrowser.open") as opened,
            contextlib.redirect_stdout(stream),
        ):
            explore._open_browser("http://here")
        yield f"{platform} {environment} {stream.isatty()}: {opened.call_count}"


def _interrupts() -> Iterator[str]:
    """Yield the signals and the handlers of interrupts, by platform and exception."""
    errors = (interrupts._Interrupt(), KeyboardInterrupt(), ValueError())
    for platform, error in itertools.product(("linux", "win32"), errors):
        with (
            mock.patch.object(sys, "platform", platform),
            mock.patch("threading.Timer") as timer,
            mock.patch("signal.signal") as handle,
            mock.patch.object(sys, "__unraisablehook__") as hook,
        ):
            interrupts._repeat_lost(SimpleNamespace(exc_value=error))  # type: ignore[arg-type]
        calls = [call.args for call in timer.mock_calls if len(call.args) > 2]
        sent = [(delay, getattr(send, "func", send).__name__, values) for delay, send, values in calls]
        yield f"{platform} {error!r}: {sent} {handle.call_count} {hook.call_count}"


def _programs() -> Iterator[str]:
    """Yield the names under which commands are repeated, by the way in which the program was started."""
    here = Path.cwd()
    for called, installed in itertools.product(
        (
            "rankscope",
            "/usr/bin/rankscope",
            str(here / "bin" / "rankscope.exe"),
            "pytest",
            "",
            "a b/rankscope",
        ),
        (None, "/usr/bin/rankscope", "rankscope"),
    ):
        with (
            mock.patch.object(sys, "argv", [called]),
            mock.patch.object(sys, "executable", "/usr/bin/python3"),
            mock.patch("shutil.which", lambda _, installed=installed: installed),
        ):
            yield f"{called.replace(str(here), '.')} {installed}: {commands.program()}"
    yield from commands.help_lines()


def _top_level() -> Iterator[str]:
    """Yield the output of options of the program itself, and of warnings."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main.dispatch(["--version"])
    yield re.sub(r"[0-9][0-9.]*\w*|native|compiled|python(?=,)", "N", out.getvalue())
    with contextlib.redirect_stderr(io.StringIO()) as err:
        with main._warnings_as_lines():
            warnings.warn("first", stacklevel=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with main._warnings_as_lines():
                warnings.warn("second\x1b", UserWarning, stacklevel=1)
    yield err.getvalue()
    for name in ("eval", "pools"):
        with (
            mock.patch.object(main, "_switch_off_blas_threads") as switched,
            mock.patch.dict(sys.modules),
            mock.patch.object(main, "_run", lambda *_: 3),
        ):
            del sys.modules["numpy"]
            code = main.dispatch([name, "qrels.txt", "runs"])
        yield f"{name}: {code} {switched.call_count}"
    for code, engine, jobs in itertools.product((None, 0, 1), (None, "local"), (None, 1)):
        module = SimpleNamespace(run=lambda _, code=code: code)
        yield f"{code} {engine} {jobs}: {main._run(module, argparse.Namespace(engine=engine, jobs=jobs, quiet=False))}"


def _repeated_studies() -> Iterator[str]:
    """Yield the result of a repeated study, by its differences, and the plugins that it loads."""
    changes: list[tuple[str, ...]] = [(), ("a.csv",), ("a.csv", "b.csv")]
    versions: list[dict[str, tuple[str, str]]] = [{}, {"numpy": ("1", "2"), "python": ("3", "4")}]
    for changed, versions_changed, written, plots in itertools.product(
        changes, versions, (None, "out"), (True, False)
    ):
        saved: list[Any] = []
        repeated = SimpleNamespace(
            identical=not changed, changed=changed, versions=versions_changed,
            study=SimpleNamespace(file_names=lambda: ["a", "b", "c"], write=lambda *v, to=saved: to.append(v)),
        )  # fmt: skip
        args = argparse.Namespace(manifest="m.json", jobs=None, output=written, plots=plots)
        with (
            mock.patch.object(study, "_load_plugins"),
            mock.patch.object(study, "_figures", lambda *_: {"f": b""}),
            mock.patch(
                "rankscope.analysis.study.experiments.repeat_study", lambda *_, result=repeated, **__: result
            ),
            contextlib.redirect_stdout(io.StringIO()) as out,
        ):
            error = _try(study._repeat, args)
        yield f"{changed} {[*versions_changed]} {written} {plots}: {error} {out.getvalue()} {saved}"
    listed = [{"name": "half.py", "sha256": "1"}, {"name": "gain.py", "sha256": "2"}]
    chosen: tuple[list[str], ...] = ([], ["half.py"], ["half.py", "gain.py"])
    for allowed, named, entries in itertools.product((True, False), chosen, ([], listed)):
        content = {"inputs": {"plugins": entries}}
        with (
            mock.patch("rankscope.analysis.study.manifest.read_manifest", lambda _, content=content: content),
            mock.patch.object(arguments, "load_plugins"),
            mock.patch.object(study, "load_listed_plugin") as load,
            contextlib.redirect_stderr(io.StringIO()) as err,
        ):
            for manifest in ("runs", "runs/m.json"):
                error = _try(
                    study._load_plugins,
                    argparse.Namespace(manifest=manifest, plugin=named, allow_plugins=allowed),
                )
        folders = [f"{call.args[0]['name']} {call.args[1]}" for call in load.call_args_list]
        yield f"{allowed} {named} {len(entries)}: {error} {folders} {err.getvalue()}"


def _drawn_studies() -> Iterator[str]:
    """Yield the files of the figures of one collection and of two, and the notes on those that are left out."""
    drawing = SimpleNamespace(render=lambda kind: kind.encode(), table=SimpleNamespace(csv=lambda: "x\n"))
    one = SimpleNamespace(evaluate=lambda names: f"scores of {names}")
    result = SimpleNamespace(settings={"measures": ["AP"]})
    for collection in (one, {"x": one, "y": one}, {"x": one}):
        with (
            mock.patch("rankscope.plots.study_figures", lambda _: {"means": drawing}),
            mock.patch(
                "rankscope.plots.extra_figures", lambda results: {"heat_map": drawing, str(results): drawing}
            ),
            mock.patch(
                "rankscope.analysis.study.extra_results.extra_results",
                lambda *values: (values, {"forest": "no pair"}),
            ),
            contextlib.redirect_stderr(io.StringIO()) as err,
        ):
            files = study._pictures(argparse.Namespace(style="serif", seed=4), result, collection)  # type: ignore[arg-type]
        yield f"{sorted(files.items())} {err.getvalue()}"


@contextlib.contextmanager
def _styled() -> Iterator[None]:
    """Let terminals show bold type and colour."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TERM", "xterm")
        patch.delenv("NO_COLOR", raising=False)
        yield


def _interrupted() -> Iterator[str]:
    """Yield what an interrupted command prints, by the target of its output."""
    table = Table("t", ("a", "b"), [("x", 0.5)])
    result = TableResult.from_tables(table, replace(table, caption="C"), settings={})
    for stream, file, name in itertools.product(
        (io.TextIOWrapper, Terminal), (None, "x"), (None, "table", "csv")
    ):
        content = io.BytesIO()
        with contextlib.redirect_stdout(stream(content, "utf-8", newline="\n")), _styled():
            with terminal.guarded_terminal(), contextlib.suppress(KeyboardInterrupt):
                output.emit_interrupted(argparse.Namespace(output=file, format=name, digits=1), result)
            sys.stdout.flush()
            yield f"{stream.__name__} {file} {name}: {content.getvalue().decode()}"


NUMBERS = [
    "",
    "0",
    "1",
    "-1",
    "2",
    "1.5",
    "x",
    "100",
    "101",
    "40",
    "40.1",
    "1.9",
    "1,2",
    "1,x",
    "5,",
    "nan",
    "inf",
]
FILES = ["x.svg", "x.SVG", "x.txt", "nowhere/x.pdf", "x", ".png"]
NAMED = [
    "x.csv",
    "AP=x.csv",
    "RBP(p=0.5)=x.csv",
    "P@10=a=b.csv",
    "=x",
    "a/b=c",
    "a(b=c",
    "a@x=c",
    "x=",
    "a\nb=c",
]
FORMATS = ["trec", "qrels=trec", "runs=csv", "x=trec", "nothing", "=trec", "qrels=", "runs=tsrv"]
LINES = [
    "  a b",
    "  a b   c d",
    "  rankscope eval q.txt runs/ -m 'AP RR' -f csv   for others and more of them",
    "   # x",
]
PARTS: dict[str, Callable[[], list[str]]] = {
    "digits": lambda: _each(options._digits, NUMBERS),
    "inches": lambda: _each(options._inches, NUMBERS),
    "decimals": lambda: _each(options.decimals, NUMBERS),
    "whole numbers": lambda: _each(options.whole_numbers, NUMBERS),
    "risks": lambda: _each(ndeval._risk, NUMBERS),
    "figure files": lambda: _each(options._figure_file, FILES),
    "styles": lambda: _each(options._style, ["sans", "serif", "gothic"]),
    "formats of files": lambda: _each(options._input_format, FORMATS),
    "grades": lambda: _each(options._merges, ["0,1=0", "x", "0-1=0;1-2=1", ""]),
    "named files": lambda: _each(arguments.split_named_file, NAMED),
    "examples": lambda: _digest(str(list(parser._wrap_example(line, w))) for w in range(8, 80, 3) for line in LINES),
    "words": lambda: _each(parser._split_command, [*LINES, "-a -b c d --e 'f g' \"h i\"=j -", "a", "-x"]),
    "help": lambda: _digest(_help()),
    "declared options": lambda: list(_declared_options()),
    "pictures of curves": lambda: _digest(_pictures()),
    "measures": lambda: _digest(_lists_of_measures()),
    "changes of plugins": lambda: list(_plugin_changes()),
    "listed plugins": lambda: list(_listed_plugins()),
    "reading ahead": lambda: list(_reading_ahead()),
    "formats": lambda: list(_formats()),
    "notes": lambda: list(_notes()),
    "notes on runs": lambda: list(_notes_on_runs()),
    "exceptions": lambda: list(_exceptions()),
    "targets": lambda: list(_identities()),
    "orders of runs": lambda: list(_orders_of_runs()),
    "defaults": lambda: _each(options._format_default, [None, (), (1, 2), [0.5], "a", 3, False]),
    "plugins": lambda: list(_described_plugins()),
    "explorer": lambda: list(_explored()),
    "interrupts": lambda: list(_interrupts()),
    "programs": lambda: list(_programs()),
    "program": lambda: list(_top_level()),
    "repeated studies": lambda: list(_repeated_studies()),
    "drawn studies": lambda: list(_drawn_studies()),
    "interrupted commands": lambda: list(_interrupted()),
    "file formats": lambda: list(_reported_formats()),
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def folder() -> Iterator[None]:
    with small_files():
        yield


@pytest.fixture(autouse=True)
def own_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the plugins that other tests imported."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    for module in ("half", "gain"):
        monkeypatch.delitem(sys.modules, module, raising=False)


@pytest.mark.parametrize("name", PARTS)
def test_parts_change_only_on_purpose(name: str) -> None:
    assert_recorded(PARTS[name](), RECORDED, name)


if __name__ == "__main__":
    with small_files():
        write_recorded(RECORDED, {name: part() for name, part in PARTS.items()})
