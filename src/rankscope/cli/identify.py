"""Which definition does a function compute? Names the variant, or the nearest one and the shortest input that differs.

The function is called on every short list: with grades, ties, unjudged documents, judged documents that are missing,
and none at all; so are all variants of all measures. It takes the grades of a ranked list, or judgments and a run;
--call says which where the names of its parameters do not:
  grades  f(grades)               counts  f(grades, {grade: judged documents})
  pool    f(grades, all grades)   dicts   f({document: grade}, {document: score})
  arrays  f(y_true, y_score)
Measures of pytrec_eval, ir_measures, ranx, sklearn, trectools, cwl_eval and torchmetrics are named library:measure.

examples:
  rankscope identify mymetrics:ndcg
  rankscope identify metrics.py:average_precision --call dicts
  rankscope identify sklearn:ndcg_score@10
  rankscope identify pytrec_eval:ndcg_cut_10 -f json
"""

from __future__ import annotations

import argparse

from rankscope.choices import CALLS
from rankscope.cli import options
from rankscope.cli.output import emit
from rankscope.cli.plugins import load_function
from rankscope.progress import silence


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "function",
        metavar="MODULE:FUNCTION",
        help="a module or file and a function of it, or library:measure",
    )
    parser.add_argument(
        "--call", choices=CALLS, help="how the function is called (default: by its parameters)"
    )
    options.add_output(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.lab.identification.libraries import LIBRARIES
    from rankscope.lab.identification.search import identify

    silence(args.quiet)
    module = args.function.partition(":")[0]
    function = args.function if module in LIBRARIES else load_function(args.function)
    emit(args, identify(function, call=args.call, name=args.function))
