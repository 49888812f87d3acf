"""Serve the explorer of a collection to the browser of this machine, until you press Ctrl-C.

The explorer is the report that `rankscope report` writes, for collections that are too large for a file, and with all
documents of every ranking.

examples:
  rankscope explore qrels.txt runs/
  rankscope explore qrels.txt runs/ --port 8765 --no-browser
"""

import argparse
import os
import sys
from functools import partial

from rankscope.cli import options
from rankscope.cli.report import add_report_options, open_report, report_values
from rankscope.declaration import parse_parameters
from rankscope.errors import SettingsError
from rankscope.explorer import explore, serve_explorer
from rankscope.reporting import prepare_document


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_report_options(parser)
    parameters = parse_parameters(explore, omit=("scores", "on_ready"))
    options.add_parameters(parser, {name: parameters[name] for name in ("host", "port")})
    parser.add_argument("--no-browser", action="store_true", help="print the address only")


def run(args: argparse.Namespace) -> None:
    if not 0 <= args.port < 65536:
        raise SettingsError(f"--port {args.port}", hint="a port is a number from 0 to 65535")
    collection, measures = open_report(args)

    def on_ready(url: str) -> None:
        print(f"exploring {len(collection.runs)} runs at {url}\nCtrl-C ends it", flush=True)
        if not args.no_browser:
            _open_browser(url)

    prepare = partial(prepare_document, collection, measures, **{"documents": True, **report_values(args)})
    serve_explorer(collection, prepare, args.title, args.host, args.port, on_ready)


def _open_browser(url: str) -> None:
    """Open a graphical browser if there is one and output goes to a terminal; a text browser would occupy it."""
    graphical = (
        sys.platform in ("darwin", "win32") or "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ
    )
    if graphical and sys.stdout.isatty():
        import webbrowser

        webbrowser.open(url)
