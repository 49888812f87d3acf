"""Help text of ``rankscope trec_eval -h``."""

from __future__ import annotations

import textwrap

from rankscope.trec_eval.names import ENTRIES, NICKNAMES, Entry, RelevanceSettings, select_entries
from rankscope.trec_eval.options import Options

_TEXT = """rankscope trec_eval: the output of trec_eval 10, byte for byte, same options

usage: rankscope trec_eval [options] QRELS RUN

RUN may be - for standard input. Both files may be gzipped.

  -q, --query_eval_wanted       the values of every topic before the summary
  -m, --measure NAME[.PARAMS]   a measure, or a nickname of several;
                                repeatable (default: official)
  -c, --complete_rel_info_wanted
                                judged topics that the run lacks count as 0
  -n, --nosummary               no summary
  -l, --level_for_rel N         lowest grade that is relevant (default: 1)
  -M, --Max_retrieved_per_topic N
                                only the first N documents of each topic
  -J, --Judged_docs_only        only documents that were judged
  -N, --Number_docs_in_coll N   documents in the collection (for utility)
  -R, --Rel_info_format FORMAT  how to read the judgments: qrels, qrels_jg,
                                prefs, qrels_prefs (default: qrels)
  -T, --Results_format FORMAT   how to read the run: trec_results
  -Z, --Zscore FILE             print z scores, from lines of:
                                topic measure mean deviation
  --order ORDER                 extension: how to sort a ranking, such as
                                trec_eval9 (32-bit scores)
  -h, --help                    this text; with -m, about these measures
  -v, --version                 versions

examples:
  rankscope trec_eval qrels.txt bm25.run
  rankscope trec_eval -q -c -m map -m P.5,10 -m ndcg_cut.10 qrels.txt bm25.run
  rankscope trec_eval -h -m bpref

nicknames:
{nicknames}

measures:
{measures}

Parameters follow a dot: -m P.5,10  -m ndcg.1=3,2=9  -m rbp.p=0.8.
The order of the output is that of the list above.
"""

_FORMATS = {
    "qrels": "lines of: topic iteration document grade. A negative grade means pooled but not judged.",
    "qrels_jg": "lines of: topic person document grade. Measures are averaged over the people of a topic.",
    "prefs": "lines of: topic group subgroup document level. In a subgroup, documents of a higher level are "
    "preferred; inside a group preferences carry over from one to the next; groups may contradict each other. "
    "Level 0 means not relevant.",
    "qrels_prefs": "lines of: topic group document level, read as preferences.",
}


def format_help(options: Options) -> str:
    """Return the general help text or, with ``-m``, descriptions of the selected measures."""
    if options.measures:
        return "\n".join(_describe(entry) for entry in select_entries(options.measures)) + "\n"
    text = _TEXT.format(
        nicknames="\n".join(_wrap(name, names) for name, names in NICKNAMES.items()),
        measures=_wrap("", tuple(ENTRIES)),
    )
    lines = textwrap.fill(f"{options.judgments}: {_FORMATS[options.judgments]}", 79)
    return f"{text}\n{lines}\n"


def _wrap(label: str, words: tuple[str, ...]) -> str:
    first, indent = f"  {label:<10} ", " " * 13
    return textwrap.fill(
        " ".join(words), 79, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False
    )


def _describe(entry: Entry) -> str:
    default = ",".join(f"{value:g}" for value in entry.default)
    shown = f"{entry.name}.{default}" if default else entry.name
    measures = [
        column.measure for column in entry.columns(None, RelevanceSettings()) if column.measure is not None
    ]
    if not measures:
        return f"{shown}\n    {_NO_MEASURES.get(entry.name, 'a count of preferences: see -h -R prefs')}"
    formula = "\n    ".join(measures[0].formula.splitlines())
    return f"{shown}  ({measures[0]} of Rankscope)\n    {measures[0].meaning}\n    {formula}"


_NO_MEASURES = {
    "runid": "The tag of the run.",
    "num_q": "Number of topics evaluated.",
    "relstring": "The first grades as a string: a digit, > above 9, - unjudged, . pooled but not judged.",
}
