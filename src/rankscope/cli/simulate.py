"""``rankscope simulate``: write a synthetic collection."""

from __future__ import annotations

import argparse
import shlex

from rankscope.errors import printable

NAME = "simulate"
SUMMARY = "write a synthetic collection of judgments and runs"
EXAMPLES = """\
examples:
  rankscope simulate made --systems 40 --topics 50 --depth 1000 --seed 1
  rankscope eval made/qrels.txt made/runs -m "AP nDCG@10"
  rankscope simulate diverse --aspects 5 --grades 4
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("directory", metavar="DIR", help="new directory for qrels.txt and runs/")
    parser.add_argument("--systems", type=int, default=40, metavar="N", help="number of runs (default 40)")
    parser.add_argument("--topics", type=int, default=50, metavar="N", help="number of topics (default 50)")
    parser.add_argument(
        "--grades", type=int, default=3, metavar="N", help="number of grades, grade 0 included (default 3)"
    )
    parser.add_argument(
        "--depth", type=int, default=1000, metavar="N", help="documents per list (default 1000)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="same seed, same files (default 1)")
    parser.add_argument(
        "--pool-depth",
        type=int,
        default=100,
        metavar="N",
        help="documents of a list that are judged (default 100)",
    )
    parser.add_argument(
        "--aspects",
        type=int,
        default=0,
        metavar="N",
        help="aspects per topic; writes qrels.diversity.txt too (default 0)",
    )
    parser.add_argument(
        "--sparse",
        action="store_true",
        help="judge only one or two relevant documents per topic, nothing else",
    )
    parser.add_argument("--gzip", action="store_true", help="write runs/NAME.txt.gz")


def run(args: argparse.Namespace) -> None:
    """Simulate, write, and say what to do next."""
    from rankscope.simulate import simulate

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
    place = collection.write(args.directory, compress=args.gzip)
    if getattr(args, "quiet", False):
        return
    counts = f"{args.systems} runs, {args.topics} topics, {collection.judgments} judgments"
    print(printable(f"{place}: {counts}, seed {args.seed}"))
    paths = " ".join(shlex.quote(str(path)) for path in (place / "qrels.txt", place / "runs"))
    print(printable(f"next: rankscope eval {paths}"))
