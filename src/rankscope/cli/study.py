"""The experiments of a measure paper in one go, into a directory; --from repeats a study and says if it is identical.

Correlation between the measures, archetypes and effort/gain, robustness to sampled and shallow pools, discriminative
power, measures on an interval scale, bounds of RBP: as CSV, the tables of a paper as LaTeX, the data of the figures as
JSON, and manifest.json with versions, settings, seed and digests. Several collections (--collection, --collections)
have one table and one figure per experiment together; what is not possible on one of them is in the table left_out.

examples:
  rankscope study qrels.txt runs/ -o my-study
  rankscope study qrels.txt runs/ -m "AP nDCG MyMeasure" --plugin mymeasure.py --focus MyMeasure -o my-study
  rankscope study qrels.txt runs/ --topics 301-325 -o first-half
  rankscope study qrels.txt runs/ --like twist -o as-published
  rankscope study --collection covid=covid/qrels.txt:covid/runs --collection cranfield=cran/qrels.txt:cran/runs -o both
  rankscope study --collections four.toml --like twist --plots -o four
  rankscope study qrels.txt runs/ --intervals -o scales-matter
  rankscope study --from my-study/manifest.json
  rankscope study --from theirs/ --allow-plugins
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankscope.choices import (
    DEFAULT_MEASURES,
    EXPERIMENTS,
    INTERVAL_LENGTH,
    PERSISTENCE,
    RATIOS,
    SAMPLINGS,
    STUDIES,
)
from rankscope.cli import arguments, options
from rankscope.cli.output import render_for_terminal
from rankscope.cli.plugins import described_plugin, load_listed_plugin
from rankscope.cli.terminal import write
from rankscope.errors import InputError, SettingsError, printable
from rankscope.progress import silence
from rankscope.tables import render_parts

if TYPE_CHECKING:
    from rankscope.analysis.study.experiments import Study


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_collection(parser)
    for action in parser._actions:
        # with --from, the manifest names the collection
        if action.dest in ("qrels", "runs"):
            action.nargs = "?" if action.dest == "qrels" else "*"
            action.required = False
    options.add_collections(parser)
    options.add_measures(parser, DEFAULT_MEASURES)
    options.add_topics(parser)
    parser.add_argument(
        "--like",
        choices=STUDIES,
        help="do as a published study where nothing else is said; twist: Ferro and others (2016), with its measures and"
        " the best 75 %% of the runs in correlations, pools and power",
    )
    parser.add_argument("-o", "--output", metavar="DIR", help="the directory to write (whole or not at all)")
    parser.add_argument(
        "--from", dest="manifest", metavar="MANIFEST", help="repeat the study of this manifest"
    )
    parser.add_argument(
        "--allow-plugins",
        action="store_true",
        help="with --from: run the plugins that the manifest names, if they are what they were",
    )
    parser.add_argument(
        "--name", metavar="TEXT", help="name of the collection (default: that of the judgments)"
    )
    parser.add_argument(
        "--focus", metavar="M", help="the measure under study (default: Twist, or the last one)"
    )
    parser.add_argument(
        "--top",
        type=float,
        metavar="F",
        help="share of the runs, best by AP, in the correlations and in --top-of (default: 0.75)",
    )
    parser.add_argument(
        "--top-of",
        metavar="E,...",
        help=f"further experiments that look at the best runs only: {', '.join(EXPERIMENTS)}, or all (default: none)",
    )
    parser.add_argument(
        "--ratios",
        type=options.decimals,
        action=options.Collected,
        metavar="P,...",
        help=f"percent of judgments kept (default: {','.join(map(str, RATIOS))})",
    )
    parser.add_argument(
        "--repeats", type=int, default=10, metavar="N", help="samples per ratio (default: 10)"
    )
    parser.add_argument("--sampling", choices=SAMPLINGS, help="strata of the samples (default: grade)")
    parser.add_argument(
        "--pool-depth", type=int, default=10, metavar="K", help="depth of the shallow pool (default: 10)"
    )
    parser.add_argument("--alpha", type=float, metavar="A", help="level of the bootstrap (default: 0.05)")
    parser.add_argument(
        "--replicates",
        type=int,
        metavar="B",
        help="replicates of the bootstrap (default: 1000)",
    )
    parser.add_argument(
        "--p",
        type=options.decimals,
        action=options.Collected,
        default=PERSISTENCE,
        metavar="P,...",
        help=f"persistence of the bounded RBP (default: {','.join(map(str, PERSISTENCE))})",
    )
    parser.add_argument(
        "--intervals",
        type=int,
        nargs="?",
        const=INTERVAL_LENGTH,
        metavar="N",
        help="show what the step to an interval scale does to the order of the runs and to significant differences,"
        f" for lists cut to N ranks (default: {INTERVAL_LENGTH}); its table is written in any case",
    )
    options.add_handling(parser)
    parser.add_argument(
        "--plots",
        action="store_true",
        help="also draw the figures, as PDF, beside their data; and the comparison with the best run, its closest rival"
        " topic by topic, every run on every topic, ranks across measures, coverage of aspects, orderings and findings;"
        " with --from only the figures of the tables",
    )
    options.add_style(parser)
    options.add_seed(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.analysis.study.experiments import LIKE, study
    from rankscope.measures import parse_many

    silence(args.quiet)
    if args.manifest is not None:
        _repeat(args)
        return
    several = bool(args.collection or args.collections)
    if not several and (args.qrels is None or not args.runs):
        raise SettingsError(
            "there is no collection", hint="name QRELS and RUN files, --collection, or --from a manifest"
        )
    if args.output is None:
        raise SettingsError("there is no directory to write to", hint="add -o DIR")
    arguments.load_plugins(args)
    asked = arguments.parse_measures(args) if args.measure or args.like is None else None
    looked_at = asked if asked is not None else parse_many(LIKE[args.like]["measures"])
    qrels: Any
    runs: Any
    if several:
        qrels, runs = arguments.open_named_collections(args, looked_at), None
    else:
        qrels, runs = arguments.open_inputs(args, looked_at)
    ratios = args.ratios and [int(r) if float(r).is_integer() else r for r in args.ratios]
    made = study(
        qrels, runs, asked, name=args.name, like=args.like, focus=args.focus, top=args.top, top_of=args.top_of,
        ratios=ratios, repeats=args.repeats, sampling=args.sampling, depth=args.pool_depth, alpha=args.alpha,
        replicates=args.replicates, p=args.p, intervals=args.intervals, seed=args.seed, missing=args.missing,
        ties=args.ties, unjudged=args.unjudged, jobs=args.jobs, resume=args.output,
        plugins=[described_plugin(plugin) for plugin in args.plugin],
    )  # fmt: skip
    collections = {"": (qrels, runs)} if not several else {name: tuple(one) for name, one in qrels.items()}
    written = made.write(args.output, _pictures(args, made, collections) if args.plots else None)
    _print(made)
    sys.stdout.write(f"\n{written} files in {args.output}\n")


def _pictures(args: argparse.Namespace, made: Study, collections: dict[str, Any]) -> dict[str, bytes]:
    """The figures, without digests in the manifest: they may differ from one version of matplotlib to the next."""
    from rankscope.analysis.study.beside import beside
    from rankscope.measures import parse_many
    from rankscope.plots import figures_beside, using

    pictures = _figures(args, made)
    with using(args.style):
        for number, (collection, (qrels, runs)) in enumerate(collections.items(), start=1):
            found, left_out = beside(
                qrels, runs, parse_many(made.settings["measures"]), missing=args.missing, ties=args.ties,
                unjudged=args.unjudged, seed=args.seed, jobs=args.jobs,
            )  # fmt: skip
            for name, reason in left_out.items():
                sys.stderr.write(
                    printable(f"rankscope: no figure of {collection or 'the'} {name}: {reason}") + "\n"
                )
            # names of collections are the user's, and no names of files
            own = f"-{number}" if len(collections) > 1 else ""
            for name, figure in figures_beside(found).items():
                pictures[f"figures/{name}{own}.pdf"] = figure.render("pdf")
                pictures[f"figures/{name}{own}.csv"] = figure.table.csv().encode("utf-8", "surrogateescape")
    return pictures


def _figures(args: argparse.Namespace, made: Study) -> dict[str, bytes]:
    """The figures of what the study has in its tables."""
    from rankscope.plots import study_figures, using

    with using(args.style):
        return {f"figures/{name}.pdf": figure.render("pdf") for name, figure in study_figures(made).items()}


def _repeat(args: argparse.Namespace) -> None:
    from rankscope.analysis.study.experiments import repeat_study

    _load_plugins(args)
    again = repeat_study(args.manifest, jobs=args.jobs)
    if args.output is not None:
        again.study.write(args.output, _figures(args, again.study) if args.plots else None)
    total = len(again.study.file_names())
    then = ", ".join(f"{name} {before} then and {now} now" for name, (before, now) in again.versions.items())
    if again.identical:
        sys.stdout.write(f"identical: {total} files" + (f" (with {then})" if then else "") + "\n")
        return
    raise InputError(
        f"{len(again.changed)} of {total} files differ: {', '.join(again.changed)}",
        path=args.manifest,
        hint=f"the versions differ: {then}"
        if then
        else "the versions are the same; add -o DIR to look at them",
    )


def _load_plugins(args: argparse.Namespace) -> None:
    """Run the plugins of the manifest, if the user says so: they are programs, and the manifest may be anybody's."""
    from rankscope.analysis.study.manifest import read_manifest

    beside = Path(args.manifest) if Path(args.manifest).is_dir() else Path(args.manifest).parent
    listed = read_manifest(args.manifest)["inputs"]["plugins"]
    arguments.load_plugins(args)
    foreign = [plugin for plugin in listed if plugin["name"] not in args.plugin]
    if foreign and not args.allow_plugins:
        names = ", ".join(f"{plugin['name']} (SHA-256 {plugin['sha256']})" for plugin in foreign)
        raise InputError(
            f"to repeat this study, programs that it names must be run: {names}",
            path=args.manifest,
            hint="look at them, then add --allow-plugins",
        )
    for plugin in listed:
        load_listed_plugin(plugin, beside)
        sys.stderr.write(printable(f"rankscope: plugin {plugin['name']} (SHA-256 {plugin['sha256']})") + "\n")


def _print(made: Study) -> None:
    people = sys.stdout.isatty()
    for part in render_for_terminal(made.display) if people else render_parts(made.display, "tsv"):
        write(part, is_styled=people)
