"""Run the experiments of a paper about a measure, and write them to a directory; --from repeats a study.

The experiments are: correlation between the measures, archetypes and effort/gain, robustness to sampled and shallow
pools, discriminative power, measures on an interval scale, bounds of RBP. The directory contains all tables as CSV, the
tables of a paper as LaTeX, the data of figures as JSON, and manifest.json with versions, settings, seed and digests.
Several collections (--collection, --collections) share one table and one figure per experiment; the table left_out
lists experiments that a collection does not permit.

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
from typing import TYPE_CHECKING

from rankscope.analysis.study.settings import PUBLISHED, StudySettings
from rankscope.choices import DEFAULT_MEASURES
from rankscope.cli import arguments, options
from rankscope.cli.output import render_for_terminal
from rankscope.cli.plugins import describe_plugin, load_listed_plugin
from rankscope.cli.terminal import write
from rankscope.declaration import parse_parameters
from rankscope.errors import InputError, SettingsError, printable
from rankscope.tables import render_parts

if TYPE_CHECKING:
    from rankscope.analysis.study.experiments import Study
    from rankscope.scores import Collection

_SETTINGS = parse_parameters(StudySettings, omit=("measures", "seed"))  # Shared options set these.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_collection(parser)
    for action in parser._actions:
        # With --from, the manifest names the collection.
        if action.dest in ("qrels", "runs"):
            action.nargs = "?" if action.dest == "qrels" else "*"
            action.required = False
    options.add_collections(parser)
    options.add_measures(parser, DEFAULT_MEASURES)
    options.add_topics(parser)
    parser.add_argument(
        "--like",
        choices=tuple(PUBLISHED),
        help="start from the settings of a published study; twist: Ferro et al. (2016), with their measures and the"
        " best 75 %% of the runs in correlations, pools and power",
    )
    parser.add_argument("-o", "--output", metavar="DIR", help="write to DIR atomically")
    repeat = "repeat the study of this manifest"
    parser.add_argument("--from", dest="manifest", metavar="MANIFEST", help=repeat)
    allow = "with --from: run the plugins that the manifest names, if their digests match"
    parser.add_argument("--allow-plugins", action="store_true", help=allow)
    options.add_parameters(parser, _SETTINGS)
    parser.set_defaults(**dict.fromkeys(_SETTINGS))  # --like sets the options that the user does not.
    options.add_evaluation(parser, ("ties", "unjudged", "bounds"))
    parser.add_argument(
        "--plots",
        action="store_true",
        help="also draw the figures as PDF, next to their data, and further figures: comparison with the best run, the"
        " closest pair topic by topic, every run on every topic, ranks across measures, coverage of aspects, orderings"
        " and findings (with --from: only the figures of the tables)",
    )
    options.add_style(parser)
    options.add_seed(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.analysis.study.experiments import study

    if args.manifest is not None:
        _repeat(args)
        return
    several = bool(args.collection or args.collections)
    if not several and (args.qrels is None or not args.runs):
        hint = "name QRELS and RUN files, --collection, or --from a manifest"
        raise SettingsError("there is no collection", hint=hint)
    if args.output is None:
        raise SettingsError("there is no directory to write to", hint="add -o DIR")
    settings = _settings(args)
    measures = settings.selected_measures
    collection: Collection | dict[str, Collection]
    if several:
        collection = arguments.several_collections(args, measures)
    else:
        collection = arguments.open_collection(args, measures)
    plugins = [describe_plugin(plugin) for plugin in args.plugin]
    result = study(collection, settings, resume=args.output, plugins=plugins)
    n_files = result.write(args.output, _pictures(args, result, collection) if args.plots else None)
    _print(result)
    sys.stdout.write(f"\n{n_files} files in {args.output}\n")


def _settings(args: argparse.Namespace) -> StudySettings:
    """Return the settings of --like, overridden by the command line."""
    arguments.load_plugins(args)
    named = arguments.present(args, *_SETTINGS, "seed")
    if args.measure:
        named["measures"] = arguments.parse_measures(args)
    return StudySettings(**named) if args.like is None else StudySettings.from_published(args.like, **named)


def _pictures(
    args: argparse.Namespace, result: Study, collection: Collection | dict[str, Collection]
) -> dict[str, bytes]:
    """Return the drawn figures; the manifest has no digests of them, because they vary with versions of matplotlib."""
    from rankscope.analysis.study.extra_results import extra_results
    from rankscope.plots import extra_figures, using

    pictures = _figures(args, result)
    collections = collection if isinstance(collection, dict) else {"": collection}
    with using(args.style):
        for number, (name, opened) in enumerate(collections.items(), start=1):
            results, left_out = extra_results(opened.evaluate(result.settings["measures"]), args.seed)
            for figure, reason in left_out.items():
                text = f"rankscope: no figure of {name or 'the'} {figure}: {reason}"
                sys.stderr.write(printable(text) + "\n")
            # Names of collections are untrusted, so files are numbered instead.
            suffix = f"-{number}" if len(collections) > 1 else ""
            for figure, drawing in extra_figures(results).items():
                pictures[f"figures/{figure}{suffix}.pdf"] = drawing.render("pdf")
                text = drawing.table.csv()
                pictures[f"figures/{figure}{suffix}.csv"] = text.encode("utf-8", "surrogateescape")
    return pictures


def _figures(args: argparse.Namespace, result: Study) -> dict[str, bytes]:
    """Return the drawn figures of the tables of a study."""
    from rankscope.plots import study_figures, using

    with using(args.style):
        return {f"figures/{name}.pdf": figure.render("pdf") for name, figure in study_figures(result).items()}


def _repeat(args: argparse.Namespace) -> None:
    from rankscope.analysis.study.experiments import repeat_study

    _load_plugins(args)
    repeated = repeat_study(args.manifest, jobs=args.jobs)
    if args.output is not None:
        repeated.study.write(args.output, _figures(args, repeated.study) if args.plots else None)
    total = len(repeated.study.file_names())
    versions = repeated.versions.items()
    versions_text = ", ".join(f"{name} {old} then and {new} now" for name, (old, new) in versions)
    if repeated.identical:
        sys.stdout.write(
            f"identical: {total} files" + (f" (with {versions_text})" if versions_text else "") + "\n"
        )
        return
    same_versions = "the versions are the same; add -o DIR to compare the files"
    changed = f"{len(repeated.changed)} of {total} files differ: {', '.join(repeated.changed)}"
    hint = f"the versions differ: {versions_text}" if versions_text else same_versions
    raise InputError(changed, path=args.manifest, hint=hint)


def _load_plugins(args: argparse.Namespace) -> None:
    """Run the plugins of the manifest if the user permits it: plugins are programs, and the manifest is untrusted."""
    from rankscope.analysis.study.manifest import read_manifest

    directory = Path(args.manifest) if Path(args.manifest).is_dir() else Path(args.manifest).parent
    listed = read_manifest(args.manifest)["inputs"]["plugins"]
    arguments.load_plugins(args)
    foreign = [plugin for plugin in listed if plugin["name"] not in args.plugin]
    if foreign and not args.allow_plugins:
        names = ", ".join(f"{plugin['name']} (SHA-256 {plugin['sha256']})" for plugin in foreign)
        problem = f"this study needs plugins, which run code: {names}"
        raise InputError(problem, path=args.manifest, hint="inspect them, then add --allow-plugins")
    for plugin in listed:
        load_listed_plugin(plugin, directory)
        sys.stderr.write(printable(f"rankscope: plugin {plugin['name']} (SHA-256 {plugin['sha256']})") + "\n")


def _print(result: Study) -> None:
    people = sys.stdout.isatty()
    for part in render_for_terminal(result.display) if people else render_parts(result.display, "tsv"):
        write(part, is_styled=people)
