"""Write a synthetic collection: qrels.txt, runs/ and, with aspects, qrels.diversity.txt.

The same options and seed give the same files on every machine.

examples:
  rankscope simulate synthetic --systems 40 --topics 50 --grades 3 --depth 1000 --seed 1
  rankscope eval synthetic/qrels.txt synthetic/runs -m "AP nDCG@10"
  rankscope simulate diverse --aspects 5 --grades 4
"""

import argparse
import shlex
from dataclasses import dataclass
from typing import Annotated

from rankscope.cli import options
from rankscope.cli.commands import program
from rankscope.declaration import Option
from rankscope.errors import printable


@dataclass
class Options:
    """Properties of the collection.

    Parameters
    ----------
    systems
        Number of runs.
    topics
        Number of topics.
    grades
        Number of grades, grade 0 included.
    depth
        Number of documents in a complete ranking.
    pool_depth
        Number of documents of a ranking that are judged.
    aspects
        Number of aspects per topic; more than 0 also writes qrels.diversity.txt.
    seed
        Seed of the random numbers.
    sparse
        Judge only one or two relevant documents per topic.
    """

    systems: Annotated[int, Option("N")] = 40
    topics: Annotated[int, Option("N")] = 50
    grades: Annotated[int, Option("N")] = 3
    depth: Annotated[int, Option("N")] = 1000
    pool_depth: Annotated[int, Option("N")] = 15
    aspects: Annotated[int, Option("N")] = 0
    seed: Annotated[int, Option("N")] = 1
    sparse: bool = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", metavar="DIR", help="new or empty directory")
    options.add_options(parser, Options)
    parser.add_argument("--gzip", action="store_true", help="write runs/NAME.txt.gz")
    parser.add_argument("--quiet", action="store_true", help="print nothing")


def run(args: argparse.Namespace) -> None:
    from rankscope.simulation import simulate

    collection = simulate(**{name: getattr(args, name) for name in vars(Options())})
    folder = collection.write(args.directory, compress=args.gzip)
    if not args.quiet:
        counts = f"{args.systems} runs, {args.topics} topics, {collection.judgments} judgments"
        paths = " ".join(shlex.quote(str(path)) for path in (folder / "qrels.txt", folder / "runs"))
        print(printable(f"{folder}: {counts}, seed {args.seed}"))
        print(printable(f"next: {program()} eval {paths}"))
