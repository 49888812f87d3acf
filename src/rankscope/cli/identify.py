"""Identify the definition that a function computes, or the nearest one and the shortest input on which they differ.

The function and all variants of all measures are evaluated on all short rankings: with grades, ties, unjudged
documents, missing judged documents, and on empty ones. The function takes the grades of a ranking, or judgments and a
run. --call selects its parameters, if their names do not:

  grades  f(grades)
  counts  f(grades, {grade: judged documents})
  pool    f(grades, all grades)
  dicts   f({document: grade}, {document: score})
  arrays  f(y_true, y_score)

Measures of pytrec_eval, ir_measures, ranx, sklearn, trectools, cwl_eval and torchmetrics are named library:measure.

examples:
  rankscope identify mymetrics:ndcg
  rankscope identify metrics.py:average_precision --call dicts
  rankscope identify sklearn:ndcg_score@10
  rankscope identify pytrec_eval:ndcg_cut_10 -f json
"""

import argparse

from rankscope.choices import CALLS
from rankscope.cli import options
from rankscope.cli.output import emit
from rankscope.cli.plugins import load_function


def add_arguments(parser: argparse.ArgumentParser) -> None:
    function = "module or file and its function, or library:measure"
    parser.add_argument("function", metavar="MODULE:FUNCTION", help=function)
    parser.add_argument("--call", choices=CALLS, help="parameters of the function (default: by their names)")
    options.add_output(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.lab.identification.libraries import LIBRARIES
    from rankscope.lab.identification.search import identify

    module = args.function.partition(":")[0]
    function = args.function if module in LIBRARIES else load_function(args.function)
    emit(args, identify(function, call=args.call, name=args.function))
