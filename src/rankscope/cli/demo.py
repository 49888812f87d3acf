"""Make a small synthetic collection, evaluate it, and write a report: the first thing to run.

examples:
  rankscope demo
  rankscope demo my-first-look --seed 7
"""

from __future__ import annotations

import argparse
import shlex
import shutil
from pathlib import Path

from rankscope.cli import options
from rankscope.cli.commands import program
from rankscope.cli.eval import DEFAULT
from rankscope.errors import InputError
from rankscope.progress import silence


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "directory", metavar="DIR", nargs="?", default="rankscope-demo", help="where to write"
    )
    options.add_seed(parser)
    options.add_jobs(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.measures import parse_many
    from rankscope.read import read_qrels, read_runs
    from rankscope.reporting import report
    from rankscope.scores import evaluate
    from rankscope.simulation import simulate

    silence(args.quiet)
    target = Path(args.directory)
    if not (target / "qrels.txt").exists():
        if target.exists():
            raise InputError("this exists and is not a demo", path=target, hint="name another directory")
        simulate(systems=12, topics=25, grades=4, depth=200, seed=args.seed, pool_depth=25).write(target)
    qrels, runs = read_qrels(target / "qrels.txt"), read_runs(target / "runs")
    scores = evaluate(qrels, runs, parse_many(DEFAULT), jobs=args.jobs)
    page = target / "report.html"
    report(qrels, runs, page)
    print(
        f"{len(runs)} synthetic systems on {len(qrels.topics)} topics, best first by mean {scores.measures[0]}:\n"
    )
    print(scores.wide().text(shutil.get_terminal_size((120, 24)).columns))
    here, again = shlex.quote(str(target)), program()
    run = shlex.quote(f"{target}/runs/{next(iter(runs))}.txt")
    print(f"""
Twist says how little avoidable effort a list costs its user: 1 is the ideal list.

the page    {page}   (open it in a browser)
next        {again} eval {here}/qrels.txt {here}/runs -q
            {again} curve {here}/qrels.txt {run} --topic {qrels.topics[0]}
            {again} effort {here}/qrels.txt {here}/runs""")
