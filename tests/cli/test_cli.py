"""The command line as a person meets it: real processes' worth of arguments, one line for every mistake."""

from __future__ import annotations

import gzip
import hashlib
import importlib.machinery
import io
import json
import os
import shutil
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rankscope import __version__
from rankscope.cli.commands import COMMANDS
from rankscope.cli.main import command_parser, main

QRELS = "1 0 a 1\n1 0 b 0\n2 0 a 2\n"
RUN = "1 Q0 a 1 2.0 tag\n1 Q0 b 2 1.0 tag\n2 Q0 a 1 1.0 tag\n3 Q0 a 1 1.0 tag\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "bm25.txt").write_text(RUN)
    return str(tmp_path / "qrels.txt"), str(tmp_path / "bm25.txt")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        code = main(arguments)
    except SystemExit as stop:
        code = int(stop.code or 0)
    out, err = capsys.readouterr()
    return code, out, err


def test_version_names_the_scanner(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--version")
    assert code == 0
    assert out.startswith(f"rankscope {__version__} (scanner: ")


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys)
    assert code == 0
    assert all(f"  {name} " in out for name in COMMANDS)


def test_help_version_and_completion_load_nothing_heavy() -> None:
    """In a process in which numpy and the like cannot be loaded."""
    shells = [["completion", shell] for shell in ("bash", "zsh", "fish")]
    calls = [["--version"], ["--help"], ["help", "eval"], *shells, *([name, "--help"] for name in COMMANDS)]
    probe = f"""
import sys
import tomllib
import warnings
for heavy in ("numpy", "scipy", "matplotlib", "pandas"):
    sys.modules[heavy] = None
from rankscope.cli.main import command_parser, main
for words in {calls!r}:
    try:
        code = main(words)
    except SystemExit as stop:
        code = stop.code
    if code:
        sys.exit(f"{{words}} ended with {{code}}")"""
    process = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True)
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout.count("usage: rankscope") > len(COMMANDS)


@pytest.mark.parametrize("command", [c for c in COMMANDS if c != "trec_eval"])
def test_every_command_has_help_with_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, command, "--help")
    assert code == 0
    assert "usage: rankscope" in out
    assert "examples:" in out


@pytest.mark.parametrize(("command", "given", "threads"), [
    ("eval", None, "1"), ("report", None, "1"), ("eval", "3", "3"), ("power", None, "None"),
    ("--version", None, "None"),
])  # fmt: skip
def test_commands_without_linear_algebra_use_one_blas_thread_unless_set(
    command: str, given: str | None, threads: str
) -> None:
    probe = f"""
import os, sys
from rankscope.cli.main import command_parser, main
try:
    main([{command!r}, "--help"])
except SystemExit:
    sys.stderr.write(str(os.environ.get("OPENBLAS_NUM_THREADS")))"""
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    if given is not None:
        environment["OPENBLAS_NUM_THREADS"] = given
    process = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, env=environment)
    assert process.stderr == threads


def test_eval_does_not_load_scipy(files: tuple[str, str]) -> None:
    probe = f"""
import sys
import tomllib
import warnings
from rankscope.cli.main import command_parser, main
main(["eval", {files[0]!r}, {files[1]!r}])
sys.exit(1 if any(m in sys.modules for m in ("scipy", "matplotlib", "pandas")) else 0)"""
    assert subprocess.run([sys.executable, "-c", probe], capture_output=True).returncode == 0


def test_the_command_line_disables_the_garbage_collector(files: tuple[str, str]) -> None:
    """Check that no collection happens while modules load or at exit, with real command-line arguments."""
    probe = (
        "import gc, sys\n"
        f"sys.argv = ['rankscope', 'eval', *{files!r}, '-m', 'AP']\n"
        "from rankscope.__main__ import program\n"
        "seen = []\n"
        "gc.callbacks.append(lambda phase, info: seen.append(phase))\n"
        "code = program()\n"
        "print(code, len(seen), gc.get_freeze_count() > 1000)"
    )
    process = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True)
    assert process.stdout.splitlines()[-1] == "0 0 True", process.stderr
    assert "AP" in process.stdout


PROCESS = """
import atexit, os, sys, threading, time
from rankscope.__main__ import run_process
sys.argv = ['rankscope', *{arguments!r}]
code = run_process()
print('library')
atexit.register(print, 'registered')
threading.Thread(target=lambda: (time.sleep(0.3), print('thread'))).start()
class Last:
    def __del__(self, write=os.write):
        write(2, b'taken apart')
sys.last = Last()  # variables of this text live until the end
sys.exit(code)"""


@pytest.mark.parametrize("is_measured", [False, True])
@pytest.mark.parametrize("succeeds", [False, True])
def test_a_process_ends_without_taking_the_interpreter_apart(
    files: tuple[str, str], is_measured: bool, succeeds: bool
) -> None:
    """Threads and functions registered to run at exit end first; tools that register theirs earlier are not cut off."""
    arguments = ["eval", *files, "-m", "AP", "-f", "csv"] if succeeds else ["eval", "absent", files[1]]
    probe = PROCESS.format(arguments=arguments)
    if is_measured:
        probe = "import atexit; atexit.register(print, 'measured')\n" + probe
    process = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True)
    assert process.returncode == (0 if succeeds else 2)
    lines = process.stdout.splitlines()
    assert ("run,measure,value,topics" in lines) is succeeds
    assert lines[-(3 + is_measured) :] == ["library", "thread", "registered", *["measured"] * is_measured]
    assert ("taken apart" in process.stderr) is is_measured


def test_the_installed_program_ends_that_way() -> None:
    entry = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]["scripts"]
    assert entry["rankscope"] == "rankscope.__main__:run_process"


def test_every_command_writes_its_tables_and_figures_as_html(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    page = tmp_path / "compared.html"
    assert run(capsys, "compare", *files, f"again={files[1]}", "-m", "AP", "-o", str(page), "--quiet")[0] == 0
    text = page.read_text()
    assert "Differences a - b" in text and "bm25" in text
    assert text.count("data:image/svg+xml") >= 2 and "<script" not in text


def test_settings_have_digests_of_further_files(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other, labels = tmp_path / "topics.csv", tmp_path / "labels.txt"
    other.write_text("topic,lang\n1,en\n")
    labels.write_text("".join(f"{line} 1\n" for line in Path(files[0]).read_text().splitlines()))
    for name, *more, path in (
        ("eval", "--topic-data", other),
        ("next", "--for", "correct", "--judged", labels),
    ):
        code, out, err = run(capsys, name, *files, "-m", "P@2", "-f", "json", *more, str(path))
        assert code == 0, err
        assert str(path) in json.loads(out)["settings"]["files"]


def test_eval_in_every_format(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    for format in ("table", "tsv", "csv", "markdown", "latex"):
        code, out, err = run(capsys, "eval", *files, "-m", "AP P@2", "-f", format)
        assert code == 0
        assert "bm25" in out
        assert "1 topic without judgments ignored" in err
    code, out, _ = run(capsys, "eval", *files, "-m", "AP", "-m", "nDCG @10", "-q", "-f", "json")
    answer = json.loads(out)
    assert answer["rankscope"] == __version__
    assert answer["command"] == "eval"
    assert answer["settings"]["order"] == "trec_eval"
    content = {path: hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in files}
    assert answer["settings"]["files"] == content
    assert answer["tables"]["means"] == [
        {"run": "bm25", "measure": "AP", "value": 1.0, "topics": 2},
        {"run": "bm25", "measure": "nDCG@10", "value": 1.0, "topics": 2},
    ]
    assert len(answer["tables"]["topics"]) == 4


def test_output_file_is_whole_and_takes_its_format_from_its_name(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "scores.csv"
    assert run(capsys, "eval", *files, "-m", "AP", "-o", str(target))[0] == 0
    assert target.read_text() == "run,measure,value,topics\nbm25,AP,1.0,2\n"
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []
    code, _, err = run(capsys, "eval", *files, "-o", str(tmp_path / "absent" / "x.csv"))
    assert code == 2
    assert "cannot write" in err


def test_standard_input(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stdin:
        buffer = io.BytesIO(gzip.compress(RUN.encode()))

    monkeypatch.setattr(sys, "stdin", Stdin())
    code, out, _ = run(capsys, "eval", files[0], "-", "-m", "AP")
    assert code == 0
    assert "stdin\tAP\t1.0\t2" in out
    assert run(capsys, "eval", "-", "-")[0] == 2


def test_digits(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "1.00\n" in run(capsys, "eval", *files, "-m", "AP", "-f", "table", "--digits", "2")[1]


def broken(tmp_path: Path) -> dict[str, Any]:
    run_lines = RUN.splitlines()
    return {
        "fewer fields": "1 Q0 a 1 2.0\n",
        "not a number": "1 Q0 a 1 high tag\n",
        "nan": "1 Q0 a 1 nan tag\n",
        "duplicate": f"{run_lines[0]}\n{run_lines[0]}\n",
        "empty": "",
        "binary": b"\x00\x01\x02" * 50,
        "truncated gz": gzip.compress(RUN.encode() * 50)[:60],
        "qrels given as run": QRELS,
        "other collection": "351 Q0 a 1 1.0 t\n",
        "directory": None,
        "absent": None,
    }


@pytest.mark.parametrize("kind", list(broken(Path())))
def test_bad_runs_get_one_line(
    kind: str, files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.run"
    content = broken(tmp_path)[kind]
    if kind == "directory":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    code, out, err = run(capsys, "eval", files[0], str(path))
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("rankscope: ")
    assert "broken.run" in err
    assert "Traceback" not in err
    assert ";" in err  # what to do


def test_run_given_as_qrels(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "eval", files[1], files[1])
    assert code == 2
    assert "bm25.txt:1: " in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nDGC@10", "did you mean nDCG"),
        ("RBP(p=2)", "cannot have p=2"),
        ("RBP(p=inf)", "cannot have p=inf"),
        ("P", "P needs a cutoff"),
        ("P@0", "cannot have the cutoff 0"),
        ("P@inf", "cannot have the cutoff inf"),
        ("P@x", "no number after @"),
        ("Rprec@10", "has no cutoff"),
        ("AP(rel=2", "not a measure"),
        ("AP(rel)", "malformed parameters"),
        ("AP(rle=2)", "did you mean rel"),
        ("AP(rel=0)", "cannot have rel=0"),
        ("AP(rel=inf)", "cannot have rel=inf"),
        ("IPrec@7", "cannot have the recall 7"),
        ("nDCG(gains='1,2')", "needs gain 0 for non-relevant"),
        ("nDCG(gains=cubic)", "cannot have gains='cubic'"),
        ("nDCG(discount=jk,base=1)", "cannot have base=1"),
        ("@10", "not a measure"),
    ],
)
def test_bad_measures_get_one_line(
    text: str, said: str, files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "eval", *files, "-m", text)
    assert code == 2
    assert said in err
    assert err.count("\n") == 1


def test_bad_usage_gets_one_line(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["evla"], ["eval"], ["eval", *files, "--order", "best"], ["eval", *files, "-j", "-2"]):
        code, _, err = run(capsys, *arguments)
        assert code == 2
        assert err.count("\n") == 1
    assert "did you mean eval" in run(capsys, "evla")[2]


def test_plugins(
    files: tuple[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    plugin = tmp_path / "my_measures.py"
    plugin.write_text("import rankscope as rs\nrs.measure('MyLength', lambda grades: len(grades))\n")
    code, out, _ = run(capsys, "eval", *files, "--plugin", str(plugin), "-m", "MyLength MyLength@1")
    assert code == 0
    assert "bm25\tMyLength\t1.5\t2" in out
    assert "bm25\tMyLength@1\t1.0\t2" in out
    plugin = tmp_path / "json.py"  # called like a module that is loaded, whose place it must not take
    plugin.write_text("import rankscope as rs\nrs.measure('MyOther', lambda grades: 7)\n")
    twice = ("--plugin", str(plugin), "--plugin", str(plugin))
    code, out, _ = run(capsys, "eval", *files, *twice, "-m", "MyOther")
    assert code == 0
    assert "7" in out.splitlines()[-1]
    spec = importlib.machinery.PathFinder.find_spec("json", sys.path)
    assert spec is not None
    assert spec.origin != str(plugin)
    (tmp_path / "broken.py").write_text("1 / 0\n")
    code, _, err = run(capsys, "eval", *files, "--plugin", str(tmp_path / "broken.py"))
    assert code == 2
    assert "broken.py: cannot import plugin (ZeroDivisionError" in err
    code, _, err = run(capsys, "eval", *files, "--plugin", "no_such_plugin")
    assert code == 2
    assert "cannot import plugin" in err


def test_measures_are_listed_and_explained(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "measures", "-f", "json")
    assert code == 0
    names = [row["measure"] for row in json.loads(out)["tables"]["measures"]]
    assert {"AP", "nDCG", "RBP", "Twist", "alpha_nDCG"} <= set(names)
    assert len(names) == len(set(names))
    assert "max_grade" in run(capsys, "measures", "ERR@20")[1]
    assert run(capsys, "measures", "ERX")[0] == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "completion", shell)
    assert code == 0
    assert "trec_eval" in out
    if shell == "bash":
        script = (
            f'{out}\nCOMP_WORDS=(rankscope eval --mis); COMP_CWORD=2; _rankscope; echo "${{COMPREPLY[@]}}"'
        )
        process = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
        assert process.stdout.strip() == "--missing"


def test_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "demo"
    code, out, _ = run(capsys, "demo", str(target))
    assert code == 0
    assert "Twist" in out
    assert (target / "report.html").stat().st_size > 10_000
    assert run(capsys, "demo", str(target))[0] == 0
    (tmp_path / "other").mkdir()
    assert run(capsys, "demo", str(tmp_path / "other"))[0] == 2


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the demo once, for tests that work on copies of it."""
    target = tmp_path_factory.mktemp("demo") / "demo"
    assert main(["demo", str(target), "--quiet"]) == 0
    return target


@pytest.mark.slow
@pytest.mark.parametrize("name", ["report.html", "runs/mine.txt", "qrels.txt", "runs/dense-1.txt"])
def test_demo_replaces_only_what_it_wrote(name: str, demo: Path, tmp_path: Path, capsys) -> None:
    """It replaced any report.html, and called runs of the user's synthetic."""
    target = tmp_path / "demo"
    shutil.copytree(demo, target)
    before = (target / "demo.json").read_bytes()
    (target / name).write_text("301 Q0 mine 1 1 t\n")
    code, out, error = run(capsys, "demo", str(target), "--quiet")
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert str(target / name) in error
    assert (target / name).read_text() == "301 Q0 mine 1 1 t\n"
    (target / name).unlink()
    assert run(capsys, "demo", str(target), "--quiet", "--seed", "2")[0] == 0
    assert (target / "demo.json").read_bytes() != before  # another seed makes another collection


def test_demo_leaves_other_collections_alone(tmp_path: Path, capsys) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    (tmp_path / "runs" / "r.txt").write_text("1 Q0 a 1 1 t\n")
    code, out, error = run(capsys, "demo", str(tmp_path))
    assert (code, out) == (2, "")
    assert "this directory exists and is not a demo" in error
    assert not (tmp_path / "report.html").exists()


def test_interruption_and_errors_of_ours(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import rankscope.cli.eval as command

    def fails(error: BaseException) -> tuple[int, str, str]:
        def raising(args: object) -> None:
            raise error

        monkeypatch.setattr(command, "run", raising)
        return run(capsys, "eval", *files)

    assert fails(KeyboardInterrupt())[0] == 130
    assert fails(MemoryError())[0] == 2
    assert fails(PermissionError(13, "Permission denied", "x.txt"))[2] == (
        "rankscope: x.txt: Permission denied; check the path and its permissions\n"
    )
    code, _, err = fails(ZeroDivisionError("oops"))
    assert code == 1
    assert "internal error (ZeroDivisionError: oops)" in err
    monkeypatch.setenv("RANKSCOPE_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        fails(ZeroDivisionError("oops"))


def test_hostile_names_do_not_disturb_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "qrels.txt").write_text(QRELS)
    path = tmp_path / "evil\x1b[31m$_<b>.txt"
    path.write_text(RUN)
    code, out, _ = run(capsys, "eval", str(tmp_path / "qrels.txt"), str(path), "-m", "AP", "-f", "table")
    assert code == 0
    assert "\x1b" not in out


def test_a_closed_pipe_is_no_error(files: tuple[str, str]) -> None:
    command = f"{sys.executable} -m rankscope eval {files[0]} {files[1]} -q | head -n 1"
    process = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert process.returncode == 0
    assert "Traceback" not in process.stderr


@pytest.mark.parametrize(("format", "separator"), [("csv", ","), ("tsv", "\t")])
def test_every_topic_is_one_table_for_programs(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str], format: str, separator: str
) -> None:
    code, out, _ = run(capsys, "eval", *files, "-m", "AP P@2", "-q", "-f", format)
    assert code == 0
    rows = [line.split(separator) for line in out.splitlines()]
    assert rows[0] == ["run", "topic", "measure", "value"]
    assert {len(row) for row in rows} == {4}
    assert [row[2] for row in rows if row[1] == "all"] == ["AP", "P@2"]


def test_topics_that_a_run_lacks_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n3 0 a 1\n")
    (tmp_path / "run").write_text("2 Q0 a 1 1 t\n")
    for missing, meaning in (("zero", "counted as empty rankings"), ("skip", "left out of its means")):
        _, _, err = run(capsys, "eval", str(tmp_path / "qrels"), str(tmp_path / "run"), "--missing", missing)
        expected = (
            f"'run' has nothing for 2 of 3 judged topics (such as '1'), {meaning} (--missing {missing})"
        )
        assert err == f"rankscope: {expected}\n"


def test_sentences_are_at_most_120_columns_wide(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from rankscope.cli.scales import _write_sentences

    monkeypatch.setenv("COLUMNS", "300")
    fits, longer = f"{'a' * 60} {'b' * 59}", f"{'a' * 60} {'b' * 60}"
    _write_sentences(SimpleNamespace(sentences=[fits, longer]))  # type: ignore[arg-type]
    assert capsys.readouterr().out == f"{fits}\n\n{'a' * 60}\n  {'b' * 60}\n\n"


def test_the_stored_source_of_a_plugin_is_loaded_under_the_name_of_its_module(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from rankscope.cli import plugins

    loaded: list[Path] = []
    monkeypatch.setattr(plugins, "load_plugin", lambda name: loaded.append(Path(name)))
    digest = hashlib.sha256(b"x = 1\n").hexdigest()
    for name in ("package.module", "folder/mine.py"):
        plugins._load_source({"name": name, "source": "x = 1\n", "sha256": digest})
    assert [(path.name, path.read_text()) for path in loaded] == [
        ("module.py", "x = 1\n"),
        ("mine.py", "x = 1\n"),
    ]


def test_an_example_is_wrapped_only_where_it_exceeds_the_width() -> None:
    from rankscope.cli.parser import _wrap_example

    line = "  rankscope evaluation --long-option value"
    assert list(_wrap_example(line, 25)) == ["  rankscope evaluation \\", "      --long-option value"]
    assert next(_wrap_example(line, 24)) == "  rankscope \\"


def test_a_measure_that_requires_a_cutoff_is_explained_at_10(capsys: pytest.CaptureFixture[str]) -> None:
    assert "weights of the ranks of P@10: 0.1, 0.1, 0.1," in run(capsys, "measures", "P")[1]


def test_a_manifest_stores_sources_of_up_to_a_mebibyte(tmp_path: Path) -> None:
    from rankscope.cli.plugins import describe_plugin

    file = tmp_path / "mine.py"
    for size, is_stored in ((1 << 20, True), ((1 << 20) + 1, False)):
        file.write_text("#" * size)
        assert ("source" in describe_plugin(str(file))) == is_stored


def test_the_explorer_offers_documents_and_opens_a_browser_only_at_a_terminal(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from rankscope.cli import explore

    calls: list[Any] = []
    opened: list[str] = []

    def serve(collection: Any, prepare: Any, title: Any, host: str, port: int, on_ready: Any) -> None:
        calls.append((collection.runs, prepare.keywords, title, host, port))
        on_ready("http://here")

    monkeypatch.setattr(explore, "serve_explorer", serve)
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(sys, "platform", "linux")
    for variable in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(variable, raising=False)
    options = ("explore", *files, "--title", "Mine", "--port", "0", "--host", "localhost")
    _, out, _ = run(capsys, *options)
    [(runs, keywords, *others)] = calls
    assert keywords["documents"] is True and keywords["title"] == "Mine"
    assert others == ["Mine", "localhost", 0]
    assert out == f"exploring {len(runs)} runs at http://here\nCtrl-C ends it\n"
    for is_terminal, platform, variable, more, n_opened in [
        (True, "linux", None, (), 0),
        (False, "linux", "DISPLAY", (), 0),
        (True, "linux", "DISPLAY", (), 1),
        (True, "linux", "WAYLAND_DISPLAY", (), 1),
        (True, "darwin", None, (), 1),
        (True, "darwin", None, ("--no-browser",), 0),
    ]:
        opened.clear()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "platform", platform)
            patch.setattr(sys.stdout, "isatty", lambda is_terminal=is_terminal: is_terminal, raising=False)
            if variable is not None:
                patch.setenv(variable, ":0")
            explore.run(command_parser("explore").read([*options[1:], *more]))
        assert len(opened) == n_opened, (is_terminal, platform, variable)


def test_a_changed_plugin_is_described_by_its_first_different_line(tmp_path: Path) -> None:
    from rankscope.cli.plugins import _describe_change

    file = tmp_path / "mine.py"
    file.write_text("a = 1\n  b = 2\nc = 3\n")
    for source, text in [
        (None, ""),
        ("", ""),
        ("a = 2\nb\n", ": line 1 was 'a = 2' and is 'a = 1'"),
        ("a = 1\nb = 3\n", ": line 2 was 'b = 3' and is 'b = 2'"),
        ("a = 1\n", ": line 2 was '' and is 'b = 2'"),
        ("a = 1\n  b = 2\nc = 3\nd = 4\n", ": line 4 was 'd = 4' and is ''"),
        (f"{'x' * 100}y", f": line 1 was {'x' * 100!r} and is 'a = 1'"),
    ]:
        assert _describe_change({"name": "mine.py", "source": source}, file) == text


def test_warnings_of_a_command_are_lines_unless_they_are_ignored(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def warn(_: list[str]) -> int:
        warnings.warn("this is rough", stacklevel=1)
        return 0

    for action, text in [
        ("error", "rankscope: warning: this is rough\n"),
        ("default", "rankscope: warning: this is rough\n"),
        ("ignore", ""),
    ]:
        with warnings.catch_warnings():
            warnings.resetwarnings()
            warnings.simplefilter(action)  # type: ignore[arg-type]
            assert main([], warn) == 0
        assert capsys.readouterr().err == text


def test_errors_of_the_system_get_one_line_and_errors_of_ours_a_way_to_report_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RANKSCOPE_TRACEBACK", raising=False)
    for error, code, text in [
        (MemoryError(), 2, "rankscope: not enough memory; evaluate fewer runs at a time\n"),
        (KeyboardInterrupt(), 130, "\nrankscope: interrupted\n"),
        (
            ValueError("one\ntwo"),
            1,
            "rankscope: internal error (ValueError: one); please report it"
            " (RANKSCOPE_TRACEBACK=1 shows where it happened)\n",
        ),
    ]:

        def fail(_: list[str], error: BaseException = error) -> int:
            raise error

        assert main([], fail) == code
        assert capsys.readouterr().err == text


def test_examples_get_a_comment_sign_once() -> None:
    from rankscope.cli.parser import _wrap_example

    assert list(_wrap_example("  a b   one   two", 80)) == ["  a b   # one   two"]
    assert list(_wrap_example("  a b   # one", 80)) == ["  a b   # one"]
    assert list(_wrap_example("  a b   one   two", 16)) == ["  # one   two", "  a b"]


def test_plain_output_is_styled_for_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from rankscope.cli import terminal

    monkeypatch.delenv("NO_COLOR", raising=False)
    for is_terminal, name, is_plain in [
        (True, "xterm", False), (True, "dumb", True), (True, None, True), (False, "xterm", True),
    ]:  # fmt: skip
        stream = io.StringIO()
        monkeypatch.setattr(stream, "isatty", lambda is_terminal=is_terminal: is_terminal, raising=False)
        monkeypatch.setattr(sys, "stdout", stream)
        monkeypatch.setenv("TERM", name) if name else monkeypatch.delenv("TERM", raising=False)
        assert terminal.ink()("x", "title") == ("x" if is_plain else "\x1b[1mx\x1b[0m")
        with terminal.guarded_terminal():  # This stream has no bytes to guard.
            assert sys.stdout is stream


def test_the_width_of_a_terminal_is_that_of_the_environment_or_a_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from rankscope.text_layout import terminal_columns

    monkeypatch.setattr(sys, "__stdout__", None)
    for value, expected in [("70", 70), ("1", 1), ("0", 80), ("-5", 80), ("x", 80), ("", 80), ("²", 80)]:
        monkeypatch.setenv("COLUMNS", value)
        assert terminal_columns() == expected
        assert terminal_columns(120) == (120 if expected == 80 else expected)
    monkeypatch.delenv("COLUMNS")
    monkeypatch.setattr(sys, "__stdout__", io.TextIOWrapper(io.BytesIO()))
    assert terminal_columns() == 80
    monkeypatch.setattr(sys, "__stdout__", SimpleNamespace(fileno=lambda: 1))
    for columns, expected in [(66, 66), (0, 80)]:
        monkeypatch.setattr(
            os, "get_terminal_size", lambda _, columns=columns: SimpleNamespace(columns=columns)
        )
        assert terminal_columns() == expected


@pytest.mark.parametrize(
    ("words", "columns"),
    [(["measures", "nDCG"], 80), (["properties", "-m", "AP ACT", "--depth", "2", "-f", "table"], 120)],
)
def test_texts_have_their_width_without_a_terminal(
    words: list[str], columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "__stdout__", None)
    monkeypatch.delenv("COLUMNS", raising=False)
    without = run(capsys, *words)
    monkeypatch.setenv("COLUMNS", str(columns))
    assert without == run(capsys, *words)
