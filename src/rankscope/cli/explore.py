"""Serve the interactive page about a collection to the browser of this machine; Ctrl-C ends it.

The same page as rankscope report writes, for collections too large for a file, and with all documents of every list.

examples:
  rankscope explore qrels.txt runs/
  rankscope explore qrels.txt runs/ --port 8765 --no-browser
"""

from __future__ import annotations

import argparse
import os
import sys

from rankscope.choices import FINDINGS_MEASURES
from rankscope.cli import arguments, options
from rankscope.cli.report import add_page_options, named


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_collection(parser)
    options.add_topics(parser)
    options.add_measures(parser, FINDINGS_MEASURES)
    add_page_options(parser)
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to bind to (default: 127.0.0.1, this machine only)"
    )
    parser.add_argument("--port", type=int, default=0, metavar="N", help="port (default: any free one)")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")


def run(args: argparse.Namespace) -> None:
    from rankscope.errors import SettingsError
    from rankscope.explorer import explore
    from rankscope.reporting import source_of
    from rankscope.reporting.study import read_study

    if not 0 <= args.port < 65536:
        raise SettingsError(f"--port {args.port}", hint="a port is a number from 0 to 65535")
    if args.cutoff < 1:
        raise SettingsError(f"--cutoff {args.cutoff}", hint="N is a number of ranks from 1 on")
    measures = arguments.parse_measures(args)
    if not args.measure:  # the page has its own, at its N
        measures = []
    opened = arguments.open_inputs(args, measures)
    qrels, runs = opened

    def ready(url: str) -> None:
        print(f"exploring {len(runs)} runs at {url}\nCtrl-C ends it", flush=True)
        if not args.no_browser:
            _open(url)

    explore(
        qrels,
        runs,
        measures=measures,
        title=args.title,
        order=args.order,
        missing=args.missing,
        length=args.cutoff,
        study=read_study(args.study) if args.study else None,
        everything=True if args.everything is None else args.everything,
        texts=args.texts,
        groups=args.groups,
        jobs=args.jobs,
        host=args.host,
        port=args.port,
        ready=ready,
        source=source_of(opened, **named(args)),
    )


def _open(url: str) -> None:
    """Open a graphical browser if there is one and somebody is watching; a text browser would take the terminal."""
    graphical = (
        sys.platform in ("darwin", "win32") or "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ
    )
    if graphical and sys.stdout.isatty():
        import webbrowser

        webbrowser.open(url)
