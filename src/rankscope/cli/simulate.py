"""Write a synthetic collection: qrels.txt, runs/ and, with aspects, qrels.diversity.txt.

The same options and seed give the same files on every machine.

examples:
  rankscope simulate synthetic --systems 40 --topics 50 --grades 3 --depth 1000 --seed 1
  rankscope eval synthetic/qrels.txt synthetic/runs -m "AP nDCG@10"
  rankscope simulate diverse --aspects 5 --grades 4
"""

from __future__ import annotations

import argparse
import shlex

from rankscope.cli.commands import program
from rankscope.errors import printable
from rankscope.progress import silence

_SIZES = {
    "systems": (40, "number of runs"),
    "topics": (50, "number of topics"),
    "grades": (3, "number of grades, grade 0 included"),
    "depth": (1000, "number of documents in a complete ranking"),
    "pool-depth": (15, "number of documents of a ranking that are judged"),
    "aspects": (0, "number of aspects per topic; more than 0 also writes qrels.diversity.txt"),
    "seed": (1, "seed of the random numbers"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", metavar="DIR", help="new or empty directory")
    for name, (default, meaning) in _SIZES.items():
        parser.add_argument(
            f"--{name}", type=int, default=default, metavar="N", help=f"{meaning} (default: {default})"
        )
    parser.add_argument(
        "--sparse", action="store_true", help="judge only one or two relevant documents per topic"
    )
    parser.add_argument("--gzip", action="store_true", help="write runs/NAME.txt.gz")
    parser.add_argument("--quiet", action="store_true", help="print nothing")


def run(args: argparse.Namespace) -> None:
    from rankscope.simulation import simulate

    silence(args.quiet)
    collection = simulate(
        systems=args.systems,
        topics=args.topics,
        grades=args.grades,
        depth=args.depth,
        seed=args.seed,
        pool_depth=args.pool_depth,
        aspects=args.aspects,
        sparse=args.sparse,
    )
    folder = collection.write(args.directory, compress=args.gzip)
    if not args.quiet:
        counts = f"{args.systems} runs, {args.topics} topics, {collection.judgments} judgments"
        paths = " ".join(shlex.quote(str(path)) for path in (folder / "qrels.txt", folder / "runs"))
        print(printable(f"{folder}: {counts}, seed {args.seed}"))
        print(printable(f"next: {program()} eval {paths}"))
