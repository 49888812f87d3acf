"""Create a small synthetic collection, evaluate it, and write a report: a first look at Rankscope.

examples:
  rankscope demo
  rankscope demo my-first-look --seed 7
"""

import argparse
import json
import shlex
import tempfile
from pathlib import Path

from rankscope.cli import options
from rankscope.cli.commands import program
from rankscope.cli.eval import DEFAULT
from rankscope.directories import replace_directory
from rankscope.errors import InputError
from rankscope.files import digest
from rankscope.json_documents import integer, object_shape, one_of, read_json, record, text
from rankscope.text_layout import terminal_columns

MANIFEST = "demo.json"
"""Lists the files of a demo with their digests: ``demo`` replaces no other file."""
_KIND = "rankscope demo"
_FILES = object_shape(text(), text("[0-9a-f]{64}", "a digest"))
_SHAPE = record({"kind": one_of([_KIND]), "seed": integer(), "files": _FILES})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "directory", metavar="DIR", nargs="?", default="rankscope-demo", help="where to write"
    )
    options.add_seed(parser)
    options.add_jobs(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.read import read_qrels, read_runs
    from rankscope.reporting import report
    from rankscope.scores import Collection
    from rankscope.simulation import simulate

    target = Path(args.directory)
    _reject_foreign(target)
    with tempfile.TemporaryDirectory(prefix="rankscope-demo-") as folder:
        simulated = simulate(systems=12, topics=25, grades=4, depth=200, seed=args.seed, pool_depth=25)
        draft = simulated.write(Path(folder) / target.name)
        qrels, runs = read_qrels(draft / "qrels.txt"), read_runs(draft / "runs")
        collection = Collection(qrels, runs, jobs=args.jobs)
        scores = collection.evaluate(DEFAULT)
        report(collection, draft / "report.html")
        _write(target, draft, args.seed)
    print(
        f"{len(runs)} synthetic systems on {len(qrels.topics)} topics, best first by mean {scores.measures[0]}:\n"
    )
    print(scores.wide().text(terminal_columns(120)))
    folder, command = shlex.quote(str(target)), program()
    run = shlex.quote(f"{target}/runs/{next(iter(runs))}.txt")
    print(f"""
Twist measures how little avoidable effort a ranking costs its user: 1 is the ideal ranking.

report      {target / "report.html"}   (open it in a browser)
next        {command} eval {folder}/qrels.txt {folder}/runs -q
            {command} curve {folder}/qrels.txt {run} --topic {qrels.topics[0]}
            {command} effort {folder}/qrels.txt {folder}/runs""")


def _reject_foreign(target: Path) -> None:
    """Raise an error unless the directory is new, or a demo without files of the user among its runs."""
    if not target.exists():
        return
    own = _listed(target)
    runs = target / "runs"
    for path in sorted(runs.iterdir()) if runs.is_dir() else []:
        if f"runs/{path.name}" not in own:
            hint = "move it, or name another directory"
            raise InputError("rankscope did not write this file", path=path, hint=hint)


def _write(target: Path, draft: Path, seed: int) -> None:
    """Write the files of a draft and their list; replace an earlier demo."""
    paths = sorted(path for path in draft.rglob("*") if path.is_file())
    files = {path.relative_to(draft).as_posix(): path.read_bytes() for path in paths}
    listed = {"kind": _KIND, "seed": seed, "files": {name: digest(data) for name, data in files.items()}}
    files[MANIFEST] = json.dumps(listed, indent=1).encode() + b"\n"
    replace_directory(target, files, MANIFEST, _listed)


def _listed(directory: Path) -> dict[str, str | None]:
    """Return the files of the demo in a directory with their digests."""
    try:
        content = read_json(directory / MANIFEST, _SHAPE, "")
    except InputError:
        hint = "name another directory"
        raise InputError("this directory exists and is not a demo", path=directory, hint=hint) from None
    return {**content["files"], MANIFEST: None}
