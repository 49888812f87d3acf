"""Every command has its recorded options, and some calls their recorded exit code, output and notes.

The commands themselves gave the values in recorded.json; other tests compare numbers with other programs. These tests
detect unintended changes. After an intended change, run

    python -m tests.cli.test_recorded

and review the difference before you commit it.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.plots.conftest import _collection
from tests.recorded import assert_recorded, shorten, to_plain, write_recorded

from rankscope.cli.commands import COMMANDS, OWN_GRAMMAR, program
from rankscope.cli.main import command_parser, main
from rankscope.measures import REGISTRY

RECORDED = Path(__file__).with_name("recorded.json")
MAX_LINES = 40
"""Number of lines of an output that are recorded."""

CALLS = """
eval qrels.txt runs
eval qrels.txt runs -m "AP P@5" -q --format csv
eval qrels.txt runs/b.txt -m BalancePoint --digits 2
eval qrels.txt runs --topics 2,3 -m "AP nDCG@5" --format json
eval qrels.txt runs -m RR -o means.tsv
eval qrels.txt runs -m "Rho AP" --format markdown
eval qrels.txt runs --topics 9
eval qrels.txt runs --stream -m AP
eval qrels.txt missing.txt
eval qrels.txt runs --digits x
eval qrels.txt runs -o x.svg --plot x.svg
eval qrels.txt runs -o qrels.txt
eval qrels.txt runs --jbos 2
trec_eval -m map -m P.5 qrels.txt runs/a.txt
trec_eval -q -m recip_rank qrels.txt runs/a.txt
trec_eval -m map qrels.txt close.txt
ndeval aspects.txt runs/a.txt
ndeval aspects.txt runs/a.txt -M 2
ndeval aspects.txt runs/a.txt -M 1
ndeval aspects.txt runs/a.txt -M 0
ndeval aspects.txt runs/a.txt -alpha 2
ndeval aspects.txt runs/b.txt -baseline runs/a.txt -riskAlpha 0
ndeval aspects.txt runs/b.txt -baseline runs/a.txt -riskAlpha 0.5
ndeval aspects.txt runs/b.txt -baseline runs/a.txt -riskAlpha -1
compare qrels.txt runs -m AP
gate qrels.txt runs/a.txt --baseline runs/b.txt -m AP
gate qrels.txt runs/b.txt --baseline runs/a.txt -m AP
overlap runs
verdict qrels.txt runs
verdict qrels.txt runs/a.txt runs/b.txt
curve qrels.txt runs/a.txt --topic 2
curve qrels.txt runs/a.txt
effort qrels.txt runs
effort qrels.txt runs --enumerate
effort --enumerate --relevant 2 --length 4
bounds qrels.txt runs
certain qrels.txt runs -m AP
next qrels.txt runs
pools qrels.txt runs --repeats 1 --ratios 50
orderings qrels.txt runs
correlate qrels.txt runs
power qrels.txt runs
eval qrels.txt runs --format table
eval qrels.txt runs -m "AP P@5" -q --format table
eval qrels.txt runs -m "AP nDCG@10 P@5" --unjudged bounds --format table
eval qrels.txt runs -m "Rho BalancePoint" --format table
eval --collection x=qrels.txt:runs -m AP
curve qrels.txt runs/a.txt --topic 2 --format table
curve qrels.txt runs/a.txt --topic 2 --head 3 --format table
compare qrels.txt runs -m AP --format table
effort qrels.txt runs --format table
certain qrels.txt runs -m AP --format table
properties -m "AP ACT" --depth 3 --format table
properties -m "P@2 ACT" --format table
scales -m "P@2 RR" --length 3 --format table
scales -m P@2 --length 3 --all-intervals --format table
scales -m P@2 --length 3 --equal-relevant --format table
measures nDCG
measures AP
measures "RBP(p=0.5)"
measures nDCG@10
measures Nothing
properties -m "AP ACT" --depth 3
properties -m P@2 --depth 3 --format tsv
scales -m P@2 --length 3
cite -m "AP nDCG"
cite
simulate new --systems 2 --topics 3 --depth 20
simulate new2 --systems 0
help nothing
evl qrels.txt runs
eval qrels.txt runs --sort AP --rel 2 -m "AP P@5" --format latex
eval qrels.txt runs -m "AP P@5" --no-ci --format table
eval qrels.txt runs -m AP -q --format markdown
eval qrels.txt runs --describe --format table
eval aspects.txt runs --coverage --topic 1
eval aspects.txt runs -m "alpha_nDCG@5 StRec@5"
eval qrels.txt x=runs/a.txt y=runs/b.txt -m AP --missing skip
eval qrels.txt runs --order file --ties expected -m AP
eval qrels.txt runs --unjudged condense -m AP
eval qrels.txt runs --grades "0,1=0;2,3=1" -m AP
eval qrels.txt runs --input-format csv
eval qrels.txt runs --input-format qrels=trec --input-format runs=trec -m AP
eval qrels.txt runs --topic-data topics.csv --weights traffic -m AP
eval qrels.txt runs --topic-data topics.csv --by lang -m AP --format table
eval qrels.txt runs --topic-data topics.csv --by length:2 -m AP
eval qrels.txt runs --weights traffic
eval qrels.txt runs -m AP --name demo
eval qrels.txt runs -m AP --plot x.svg --width 1
eval qrels.txt runs -m AP --plot x.svg --width 41
eval qrels.txt runs -m AP --plot x.svg --style nothing
eval qrels.txt runs -m AP --plot x.txt
eval qrels.txt runs --plugin missing.py -m Half
eval qrels.txt runs --plugin broken.py -m Half
eval --scores scores.csv --format table
eval --nuggets nuggets.jsonl
eval -m AP
eval qrels.txt
findings qrels.txt runs -m AP
findings qrels.txt runs -m AP --format json
findings qrels.txt runs --topic-data topics.csv --by lang -m AP
compare qrels.txt runs -m AP --baseline a --per-topic --format table
compare qrels.txt runs -m AP --baseline a --baseline b --format latex
compare qrels.txt runs -m AP --baseline x
compare qrels.txt runs -m AP --baseline a --margin 0.05 --format table
compare qrels.txt runs -m AP --test wilcoxon --correction bonferroni --alpha 0.1
compare qrels.txt runs -m AP --test randomisation --replicates 200 --seed 3
compare qrels.txt runs -m "AP RR" --also-interval 3 --format table
compare qrels.txt runs -m AP --topic-data topics.csv --by lang --baseline a --format table
compare --scores scores.csv
compare qrels.txt runs/a.txt -m AP
gate qrels.txt runs/b.txt --baseline runs/a.txt -m "AP P@5" --margin 0.5
gate qrels.txt runs/b.txt --baseline runs/a.txt -m AP --worst 2 --format table
gate qrels.txt runs/b.txt --baseline runs/a.txt -m AP --topic-data topics.csv --by lang
gate --scores scores.csv --baseline a
gate qrels.txt runs/b.txt -m AP
bench tasks.csv
bench tasks.csv --aggregate borda --format table
bench tasks.csv --missing-cells nothing
bench --collection x=qrels.txt:runs --collection y=aspects.txt:runs -m AP
overlap runs --qrels qrels.txt --baseline a --depth 5
overlap runs --depths 2,5 --rbo-p 0.8 --per-topic --format table
verdict qrels.txt runs -m AP --pair a b --per-topic
verdict qrels.txt runs --depth 2 --format json
curve qrels.txt runs --run a --topic 2 --cutoff 5 --discount jk
curve qrels.txt runs/a.txt --topic 2 --edits m5-2 --format table
curve qrels.txt runs/a.txt --topic 7
curve qrels.txt runs --topic 2 --run x
effort qrels.txt runs --significance --format table
effort qrels.txt runs --per-topic --cutoff 5
effort qrels.txt runs --groups "^(.)"
effort qrels.txt runs --groups "^(.)" --by group
effort qrels.txt runs --gains nDCG --top 0.5
report qrels.txt runs -m AP --title Small -o report.html
report qrels.txt runs -m AP
explore qrels.txt runs --port 65536
explore qrels.txt runs --port x
explore qrels.txt runs --host 0.0.0.0 --port -1
bounds qrels.txt runs --p 0.5,0.8 --depths 5,10 --format table
bounds qrels.txt runs --measures "RBP AP" --show a
certain qrels.txt runs -m AP --baseline a --no-labels --format table
certain qrels.txt runs -m P@5 --cutoffs 2,5
certain qrels.txt runs -m AP --judges qrels.txt
certain --scores scores.csv
next qrels.txt runs --budget 2 --format table
next qrels.txt runs -m P@5 --budget 3 --template labels.txt
next qrels.txt runs --for correct --human human.txt --budget 2
next qrels.txt runs --simulate --batch 2 --target 0.9
pools qrels.txt runs --ratios 50 --repeats 2 --per-run --format table
pools qrels.txt runs --pool-depth 3 --by depth
leave-out qrels.txt runs -m AP --pool-depth 3
leave-out qrels.txt runs --groups "^(.)" --pool-depth 3 --top 0.5
judges qrels.txt aspects.txt
judges qrels.txt aspects.txt --runs runs -m AP --format table
judges qrels.txt aspects.txt --reference x
correct qrels.txt runs --human human.txt -m P@5
correct qrels.txt runs --human human.txt -m P@5 --baseline a --format table
correct qrels.txt runs --human human.txt -m Twist
orderings qrels.txt runs --orders trec_eval,file -m AP
measures RBP --plot x.svg
correlate qrels.txt runs -m "AP P@5 RR" --swaps --format table
correlate qrels.txt runs -m "AP P@5" --method rbo --top 0.75
correlate qrels.txt runs -m "AP P@5" --against AP --per-topic
power qrels.txt runs -m "AP P@5" --per-pair --format table
power qrels.txt runs -m AP --test bootstrap --replicates 50
properties -m AP --depth 3 --property nothing
properties -m "AP P@2" --depth 3 --fixed-length --examples 1
scales -m "AP RR" --length 4 --axioms --format table
scales -m AP --length 3 --count 2
identify gain.py:half
identify gain.py:nothing
study qrels.txt runs -m AP
study qrels.txt runs -m "AP P@5" --ratios 50 --repeats 1 --replicates 20 --name small -o study
cite --method power
completion bash
completion nothing
simulate small --systems 2 --topics 2 --depth 5 --gzip
help
help compare
eval qrels.txt odd -m AP
eval qrels.txt odd/c.txt odd/d.txt -m AP --missing skip
eval qrels.txt odd/c.txt -m "AP RR" -q --missing skip --format table
eval qrels.txt odd/a.txt odd/c.txt -m AP --quiet
eval qrels.txt odd/a.txt odd/b.txt odd/e.txt -m AP --ties expected --unjudged bounds
eval positive.txt runs -m "AP Bpref"
eval positive.txt runs -m AP --unjudged condense
certain positive.txt runs -m AP
certain qrels.txt runs --across measures --format table
certain qrels.txt runs --across cutoffs -m "P@5" --cutoffs 1,2
certain --scores scores.csv --across measures
next positive.txt runs -m P@5 --budget 1
next qrels.txt runs -m P@5 --judged filled.txt --budget 1
next qrels.txt runs -m P@5 --for correct --judged filled.txt --budget 1 --template again.txt
gate qrels.txt runs/b.txt --baseline odd/c.txt -m AP --topics 1,3
gate qrels.txt runs/b.txt --baseline odd/c.txt -m AP --topics 3
gate qrels.txt runs/b.txt --baseline odd/c.txt -m AP
gate qrels.txt runs/b.txt --baseline runs/a.txt -m AP --format json
gate qrels.txt runs/b.txt --baseline runs/a.txt -m AP -o gate.md
gate qrels.txt runs/b.txt --baseline runs/a.txt -m AP -o gate.txt
gate qrels.txt runs/b.txt --baseline runs/a.txt -m AP -o gate.csv
gate --scores scores.csv --baseline scores.csv
gate qrels.txt runs/b.txt --baseline scores.csv -m AP
eval qrels.txt runs --stream -m "AP P@5" -o values.csv
eval qrels.txt runs --stream -m AP -o values.tsv --quiet
eval qrels.txt runs --stream -m AP -o values.csv --ties expected
eval qrels.txt runs --stream -m AP -o values.csv --ci
eval qrels.txt runs --stream -m AP -o values.csv --no-ci
eval qrels.txt runs --stream -m AP -o values.csv --sort AP
eval qrels.txt runs --stream -m AP -o values.csv --plot x.svg
eval qrels.txt runs --stream -m AP -o values.csv --weights traffic
eval qrels.txt runs --stream -m AP -o values.csv --format csv
eval qrels.txt runs --stream -m AP -o values.csv --digits 2
eval qrels.txt runs --stream -m AP -o values.csv --columns "a b"
eval aspects.txt runs --stream -m "StRec@5" -o values.csv
eval --scores scores.csv --stream
eval --scores scores.csv -l 2
eval --scores scores.csv -m AP
eval qrels.txt --scores scores.csv
eval --scores scores.csv --ties expected
eval --scores scores.csv --topics 1,2 -q --format csv
eval --scores scores.csv --topic-data topics.csv --by lang --sort input
eval --scores AP=scores.csv --ci --format table
eval qrels.txt runs --topic 1
eval qrels.txt runs --describe -m AP
eval qrels.txt runs --describe --ties expected
eval qrels.txt runs --describe -l 2
eval qrels.txt runs --describe --weights traffic
eval qrels.txt runs --describe --sort AP
eval qrels.txt runs --describe --ci
eval qrels.txt runs --describe --stream
eval qrels.txt runs --describe --figure topics
eval qrels.txt runs --describe --missing skip
eval qrels.txt runs --describe --plot x.svg
eval qrels.txt runs --describe --coverage
eval --describe --scores scores.csv
eval qrels.txt runs --describe -q --name demo
eval --describe --collection x=qrels.txt:runs --collection y=aspects.txt:runs
eval qrels.txt runs --describe --collection x=qrels.txt:runs
eval aspects.txt runs --coverage -q
eval aspects.txt runs --coverage --collection x=qrels.txt:runs
eval aspects.txt runs --coverage --plot x.svg --highlight a --highlight x
eval aspects.txt runs --coverage --topic 9
eval qrels.txt runs -l 2 --sort RR -m "AP P@5"
eval qrels.txt runs -l 2 --sort P@5 -m "AP P@5"
eval qrels.txt runs --sort run -m AP
eval qrels.txt runs --sort input -m AP -q --format table
eval qrels.txt runs --sort Nothing -m AP
eval qrels.txt runs -m "AP P@5" --ci
eval qrels.txt runs -m AP --ci --seed 4 -o means.md
eval qrels.txt runs -m AP -o means.json
eval qrels.txt runs -m AP -o means.xlsx
eval qrels.txt runs -m AP -o means.tex --digits 2
eval qrels.txt runs -m "AP P@5" -q -o topics.csv
eval qrels.txt runs -m AP -c
eval qrels.txt runs -m ""
eval qrels.txt runs -m AP --plot x.svg --figure topics --highlight b --highlight none
eval qrels.txt runs -m AP --plot x.svg --figure topics --highlight a
eval qrels.txt runs -m AP --plot x.svg --figure slices
eval qrels.txt runs -m AP --plot x.svg --figure slices --topic-data topics.csv --by lang
eval qrels.txt runs -m AP --plot x.svg --topic-data topics.csv --by lang --by length:2
eval qrels.txt runs -m AP --plot x.svg --ci
eval qrels.txt runs -m AP --plot runs/a.txt
eval qrels.txt runs -m AP --plugin half.py -o half.py
eval qrels.txt runs -m "Half AP" --plugin half.py
eval qrels.txt runs -m Half --plugin half
eval qrels.txt 'runs/*.txt' -m AP -o runs/c.txt
eval qrels.txt runs scores=runs/a.txt -m AP
eval qrels.txt runs -m AP --jobs 2 --engine threads
eval qrels.txt runs -m AP --engine nothing
eval qrels.txt runs -m AP --topics
eval qrels.txt runs -- -m AP
eval qrels.txt runs --measur AP
eval qrels.txt runs -Z
eval qrels.txt runs --colums=3
eval qrels.txt runs --zzz
eval qrels.txt runs --format nothing
explore qrels.txt runs extra --prt 2
-x
--
help eval extra more
TERM=xterm eval qrels.txt runs
TERM=xterm COLUMNS=40 eval qrels.txt runs -m "AP P@5"
TERM=xterm COLUMNS=30 eval qrels.txt runs -m "AP P@5"
TERM=xterm COLUMNS=25 eval qrels.txt runs -m "AP P@5"
TERM=xterm COLUMNS=22 eval qrels.txt runs -m "AP P@5"
TERM=xterm COLUMNS=20 eval qrels.txt runs -m "AP P@5"
TERM=xterm COLUMNS=50 eval qrels.txt runs -m "Rho AP P@5" --digits 2
TERM=xterm COLUMNS=200 eval qrels.txt runs -q --digits 3
TERM=xterm eval qrels.txt runs/a.txt -m "AP P@5"
TERM=xterm eval qrels.txt runs -m "AP P@5" --no-ci
TERM=xterm eval qrels.txt runs -m "AP P@5" --format csv
TERM=xterm eval qrels.txt runs -m AP -o means.txt
TERM=xterm eval qrels.txt runs -m AP -o - -q
TERM=dumb eval qrels.txt runs -m AP
TERM=xterm NO_COLOR= eval qrels.txt runs -m AP --ci
TERM=xterm NO_COLOR= compare qrels.txt runs -m "AP P@5" --baseline a
TERM=xterm NO_COLOR= compare qrels.txt runs -m AP --baseline a --per-topic
TERM=xterm findings qrels.txt runs -m AP
TERM=xterm COLUMNS=60 findings qrels.txt runs -m AP
TERM=xterm gate qrels.txt runs/b.txt --baseline runs/a.txt -m AP
TERM=xterm COLUMNS=70 curve qrels.txt runs/a.txt --topic 2
TERM=xterm COLUMNS=120 curve qrels.txt runs/a.txt --topic 2 --head 4 --edits m5-2
TERM=xterm COLUMNS=70 curve qrels.txt odd/e.txt --topic 2
TERM=xterm verdict qrels.txt runs
TERM=xterm COLUMNS=60 properties -m "AP ACT" --depth 3
TERM=xterm COLUMNS=150 scales -m "AP RR" --length 3
TERM=xterm measures
TERM=xterm NO_COLOR= COLUMNS=79 measures
TERM=xterm COLUMNS=130 measures nDCG
COLUMNS=60 measures "RBP(p=0.5)"
COLUMNS=79 measures ERR
TERM=xterm trec_eval -q -m map qrels.txt runs/a.txt
TERM=xterm effort qrels.txt runs
TERM=xterm effort qrels.txt runs --significance
TERM=xterm study qrels.txt runs -m "AP P@5" --ratios 50 --repeats 1 --replicates 20 -o study
measures --format csv
measures --plot x.svg
measures RBP --plot x.svg --format csv
measures P --format json
measures IPrec
measures IPrec --format csv
measures Success --certificates --format csv
measures RPB
measures nDCG@x
effort qrels.txt runs --cell "AP huge huge"
effort qrels.txt runs --cell AP
effort qrels.txt runs --cell "AP huge huge" --format json
effort qrels.txt runs --significance --per-topic
effort qrels.txt runs --enumerate --format json
effort --enumerate --relevant 2 --length 3 --relevant-grades 1 --format table
effort qrels.txt runs --plot x.svg --figure equal-gain --highlight a
effort qrels.txt runs --plot x.svg --figure equal-gain --highlight a:1 --highlight b:2
effort qrels.txt runs --plot x.svg --figure plane --facet recall-base --highlight a:1
effort qrels.txt runs --plot x.svg --colour nothing
curve qrels.txt runs/a.txt --topic 2 --plot x.svg --figure rp --ranks 3
curve qrels.txt runs/a.txt --topic 2 --plot x.svg --axis log --bars linear
curve qrels.txt runs/a.txt --topic 2 --head 25 --format table
curve qrels.txt runs/a.txt --topic 2 --head 24 --format table
curve qrels.txt runs/a.txt --topic 2 --head 0 --format table
properties -m "AP P@2" --depth 3 --weights 0.5,0.5
properties -m AP --depth 3 --weights x
properties -m "AP nDCG" --grades 2 --depth 2 --format table
scales -m AP --length 3 --axioms --grades 2
scales -m AP --length 3 --equal-relevant --all-intervals
scales -m AP --length 3 --grades 2 --format table
bench
bench tasks.csv --collection x=qrels.txt:runs
bench --collection x=qrels.txt:runs -m "AP RR"
bench tasks.csv -o bench.html
bench tasks.csv --format json
judges qrels.txt ./qrels.txt
judges qrels.txt other=aspects.txt --format json
overlap qrels.txt runs
overlap runs --format json
identify gain.py
identify gain.py:hafl
identify :half
identify nothing_such:f
identify gain.py:half --call pool
study qrels.txt -o study
study -o study
study qrels.txt runs -m AP --ratios 50 --repeats 1 --replicates 20 -o study --like nothing
study qrels.txt runs -m "Half AP" --plugin half.py --repeats 1 -o s && study --from s
study qrels.txt runs -m "Half AP" --plugin half.py --repeats 1 -o s && study --from s --allow-plugins -o t
study qrels.txt runs -m "P@5 AP" --ratios 50 --repeats 1 --replicates 20 -o study && study --from study/manifest.json
report qrels.txt runs -m AP -o qrels.txt
report --scores scores.csv -o report.html
ndeval aspects.txt runs/a.txt runs/b.txt -traditional -c -o nd.csv
ndeval aspects.txt runs/a.txt -beta 1.5
ndeval aspects.txt runs/a.txt -alpha 1 -beta 0
ndeval aspects.txt runs/a.txt -baseline runs/b.txt -riskAlpha x
ndeval aspects.txt odd/d.txt -c
ndeval aspects.txt odd/d.txt
ndeval aspects.txt odd/d.txt -baseline odd/c.txt -riskAlpha 2 -c
ndeval aspects.txt odd/c.txt -baseline odd/d.txt -riskAlpha 2
ndeval aspects.txt close.txt
ndeval aspects.txt close.txt -traditional
ndeval aspects.txt close.txt -baseline runs/a.txt -traditional
ndeval aspects.txt runs/a.txt -alpha -0.1
ndeval aspects.txt runs/a.txt -alpha 1 -beta 1.0001
trec_eval -c -M 3 -l 2 -m map -m P.1,2 qrels.txt odd/d.txt
trec_eval -q -n -c -m map qrels.txt odd/d.txt
trec_eval -q -m map qrels.txt odd/c.txt
trec_eval -m official qrels.txt close.txt
trec_eval --order trec_eval9 -m map qrels.txt close.txt
trec_eval -h -m map
TERM=xterm trec_eval -m map qrels.txt odd/a.txt
trec_eval -R qrels_jg -m map aspects.txt runs/a.txt
trec_eval -R qrels_prefs -m prefs_simp aspects.txt runs/a.txt
trec_eval -R prefs -m prefs_simp prefs.txt runs/a.txt
trec_eval -m map decimal.txt runs/a.txt
trec_eval -m map twice.txt runs/a.txt
trec_eval -m map floats.txt runs/a.txt
findings --scores scores.csv
eval odd.txt runs -m AP
eval qrels.txt odd/c.txt runs/a.txt -m AP --missing skip --format table
eval qrels.txt odd/c.txt runs/a.txt -m AP --missing skip --ci --format table
eval --describe --collections two.toml
eval --describe --collections two.toml --topics 1
eval --describe --collections two.toml --collection z=qrels.txt:odd/c.txt
eval qrels.txt runs --describe --topics 1,3 -q --format table
bench --collections two.toml -m AP
study --collections two.toml -m "AP P@5" --ratios 50 --repeats 1 --replicates 20 -o both
bounds qrels.txt runs --topics
eval qrels.csv runs -m AP --quiet
eval qrels.csv runs -m AP
TERM=xterm COLUMNS=150 properties -m "AP ACT" --depth 3
TERM=xterm COLUMNS=119 scales -m "AP RR" --length 3
properties -m AP --depth 3 --relevant 1 --nonrelevant 2 --format table
next qrels.txt runs -m P@5 --budget 4 --format csv
next qrels.txt runs -m P@5 --budget 0
certain qrels.txt runs --across cutoffs -m "P@5 AP" --format table
certain qrels.txt runs -m AP --baseline x
judges qrels.txt aspects.txt --runs runs --top 2 --consensus --format table
correlate qrels.txt runs -m "AP P@5" --orders trec_eval
gate qrels.txt runs/b.txt --baseline runs/a.txt -m AP --quiet
gate qrels.txt runs/b.txt runs/c.txt --baseline runs/a.txt -m AP
curve qrels.txt runs/a.txt --topic 2 --edits x
curve qrels.txt runs --topic 2
effort qrels.txt runs --highlight a
effort --enumerate --relevant 0
identify gain.py:half --depth 2
simulate small --systems 2 --topics 2 --depth 5 --pool-depth 2 --grades 2
-h
trec_eval -m nothing qrels.txt runs/a.txt
trec_eval qrels.txt close.txt
trec_eval -n -q -m map qrels.txt close.txt
trec_eval scores.csv runs/a.txt
trec_eval qrels.txt scores.csv
completion zsh
completion fish
cite -m "AP nDCG" -o used.bib
cite --method nothing
simulate small --systems 2 --topics 2 --depth 5 --aspects 2 --seed 3 --sparse --quiet
simulate "a b" --systems 1 --topics 1 --depth 5
simulate runs
demo runs
COLUMNS=90 demo small --seed 3
correlate qrels.txt runs -m AP --pool-depth 3
correlate qrels.txt runs -m AP --orders trec_eval,file
correlate qrels.txt runs -m AP --orders trec_eval,file --plot x.svg
correlate qrels.txt runs -m AP --pool-depth 3 --swaps
correlate qrels.txt runs -m "AP RR" --against AP --orders trec_eval,file --method rbo
eval --help
COLUMNS=60 eval --help
COLUMNS=40 curve --help
COLUMNS=130 compare --help
COLUMNS=72 study --help
COLUMNS=0 gate --help
COLUMNS=x cite --help
properties --help
certain --help
next --help
effort --help
eval filled.txt runs -m "AP GMBpref Bpref"
eval qrels.txt runs -m AP --plot x.svg --topic-data topics.csv --by length:2 --by lang
eval qrels.txt runs -m "AP P@5" --topic-data topics.csv --by length:2 --by lang -q
eval qrels.txt runs -m "AP P@5" --plot x.svg --figure heat-map
effort qrels.txt runs --gains "AP nDCG" --plot x.svg
TERM=xterm COLUMNS=40 scales -m "AP RR" --length 3
TERM=xterm COLUMNS=57 scales -m "AP RBP" --length 3
TERM=xterm COLUMNS=73 scales -m "P@2 nDCG" --length 3
TERM=xterm COLUMNS=88 scales -m "RBP(p=0.5) ERR" --length 3
TERM=xterm COLUMNS=101 scales -m "AP RR" --length 3
TERM=xterm COLUMNS=45 properties -m "AP ACT" --depth 3
TERM=xterm COLUMNS=77 properties -m "AP ACT nDCG" --depth 2
TERM=xterm COLUMNS=52 findings qrels.txt runs -m "AP P@5"
TERM=xterm COLUMNS=66 compare qrels.txt runs -m "AP RR" --baseline b
TERM=xterm COLUMNS=58 verdict qrels.txt runs
TERM=xterm COLUMNS=61 certain qrels.txt runs -m "AP RR"
TERM=xterm COLUMNS=64 next qrels.txt runs -m P@5 --budget 3
TERM=xterm COLUMNS=43 effort qrels.txt runs
TERM=xterm COLUMNS=91 effort --enumerate --relevant 2 --length 4
TERM=xterm COLUMNS=55 curve qrels.txt runs/b.txt --topic 3 --head 8
TERM=xterm COLUMNS=48 measures "nDCG(gains=exp2)@10"
TERM=xterm COLUMNS=67 measures
eval aspects.txt runs --coverage --plot x.svg
eval aspects.txt runs --coverage --topic 1 --plot x.svg
compare qrels.txt runs -m AP --baseline a --topics
correlate --scores scores.csv --orders trec_eval,file
correlate qrels.txt runs -m AP --pool-depth 3 --per-topic
overlap qrels.txt
overlap aspects.txt
""".strip().splitlines()
"""Calls of commands: words such as TERM=xterm set the environment (and TERM a terminal), && separates calls."""


def describe_options(command: str) -> Any:
    """Return the arguments of a command: names, default, number of values, placeholder, choices."""
    options = {}
    for action in command_parser(command)._actions:
        name = " ".join(action.option_strings) or action.dest
        # A word that the parser would show instead of its default is no setting.
        default = None if action.default == "==SUPPRESS==" else action.default
        options[name] = {
            "default": repr(default),
            "values": str(action.nargs),
            "placeholder": str(action.metavar),
            "choices": " ".join(map(str, action.choices or ())),
            "required": action.required,
        }
    return to_plain(options)


@contextlib.contextmanager
def small_files() -> Iterator[Path]:
    """Create a folder with judgments and runs, the working directory in the block."""
    qrels, runs = _collection(["a", "b", "c"], ["1", "2", "3"])
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "work")
        folder.mkdir()
        with contextlib.chdir(folder):
            write_files(qrels, runs)
            yield folder


def write_files(qrels: Any, runs: Any) -> None:
    """Write the files that calls name."""
    Path("runs").mkdir()
    Path("qrels.txt").write_text(
        "".join(f"{topic} 0 {d} {g}\n" for topic, judged in qrels.items() for d, g in judged.items())
    )
    Path("aspects.txt").write_text(
        "".join(
            f"{topic} {1 + number % 2} {d} {int(g > 1)}\n"
            for topic, judged in qrels.items()
            for number, (d, g) in enumerate(judged.items())
        )
    )
    Path("human.txt").write_text(
        "".join(
            f"{topic} 0 {d} {g} 0.5\n"
            for topic, judged in qrels.items()
            for d, g in list(judged.items())[::2]
        )
    )
    for name, rankings in runs.items():
        Path(f"runs/{name}.txt").write_text(
            "".join(
                f"{topic} Q0 {d} {rank} {-rank} {name}\n"
                for topic, documents in rankings.items()
                for rank, d in enumerate(documents, 1)
            )
        )
    Path("topics.csv").write_text("topic,lang,length,traffic\n1,de,3,5\n2,en,8,1\n3,de,4,2\n")
    Path("scores.csv").write_text("topic,a,b\n1,0.5,0.25\n2,0.75,0.5\n3,0.25,0.5\n")
    Path("tasks.csv").write_text("system,x,y,z\na,0.5,0.4,0.7\nb,0.4,0.6,0.2\nc,0.3,0.1,\n")
    Path("gain.py").write_text("def half(grades):\n    return sum(grades) / 2\n")
    Path("broken.py").write_text("import nothing_of_this_name\n")
    Path("half.py").write_text("import rankscope as rs\nrs.measure('Half', lambda grades: sum(grades) / 2)\n")
    Path("positive.txt").write_text(
        "".join(f"{topic} 0 {d} 1\n" for topic, judged in qrels.items() for d, g in judged.items() if g)
    )
    Path("filled.txt").write_text(
        "".join(f"{topic} 0 d{number} 1\n" for topic in "12" for number in range(15, 20))
    )
    Path("odd").mkdir()  # Runs with ties, too few and too many topics, and without relevant documents.
    odd = {"a": ("123", 0), "b": ("123", 0), "c": ("13789", 1), "d": ("237", 1), "e": ("12", 0.5)}
    for name, (topics, slope) in odd.items():
        Path(f"odd/{name}.txt").write_text(
            "".join(
                f"{topic} Q0 d{i if name != 'e' else 15 + i} {i + 1} {20 - int(i * slope)} {name}\n"
                for topic in topics
                for i in range(10)
            )
        )
    Path("odd.txt").write_text("1 0 d1 1\n4 0 d1 1\n")
    Path("qrels.csv").write_text("topic,doc,grade\n1,d1,1\n2,d2,0\n")
    Path("prefs.txt").write_text("".join(f"1 {i % 2} {i % 3} d{i} {i % 4}\n" for i in range(10)))
    Path("decimal.txt").write_text("1 0 d1 1\n1 0 d2 0.5\n")
    Path("floats.txt").write_text("1 0 d1 1\n1 0 d2 1.0\n")
    Path("twice.txt").write_text("1 0 d1 1\n1 0 d1 1\n")
    two = {"x": ("qrels.txt", "runs"), "y": ("positive.txt", "odd")}
    Path("two.toml").write_text(
        "".join(f'[collections.{name}]\nqrels = "{q}"\nruns = "{r}"\n' for name, (q, r) in two.items())
    )
    # Scores that differ as 64-bit numbers only.
    close = [f"1 Q0 d{i} {i + 1} {0.5 + i * 1e-10:.12f} close\n" for i in range(15)]
    Path("close.txt").write_text("".join(close))


class Terminal(io.TextIOWrapper):
    """Stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def describe_call(line: str) -> Any:
    """Return the exit codes of calls, the first lines of their output, their number, their notes and new files.

    Files that a call overwrites are restored, so that calls do not depend on each other.
    """
    before = {path: path.read_bytes() for path in list_files()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", list(sys.path))
        for module in ("half", "gain"):  # A plugin registers its measures when it is imported.
            patch.delitem(sys.modules, module, raising=False)
        for name in [name for name, measure in REGISTRY.items() if measure.family == "user"]:
            patch.delitem(REGISTRY, name)
        own = {*REGISTRY}
        results = [describe_program(shlex.split(part), patch) for part in line.split(" && ")]
        for name in {*REGISTRY} - own:
            del REGISTRY[name]
    written = [path for path in sorted(list_files()) if path.read_bytes() != before.get(path)]
    described = {path.relative_to(Path.cwd()).as_posix(): describe_file(path) for path in written}
    for path in written:
        path.unlink()
    for path, content in before.items():
        if not path.is_file():
            path.write_bytes(content)
    for path in sorted(Path.cwd().rglob("*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
    result = results[0] if len(results) == 1 else {"calls": results}
    return result | ({"files": described} if described else {})


def list_files() -> set[Path]:
    return {path for path in Path.cwd().rglob("*") if path.is_file() and "__pycache__" not in path.parts}


def describe_file(path: Path) -> Any:
    """Return the number of lines of a table and the first ones, or the texts of a figure."""
    if path.suffix == ".svg":
        texts = re.findall("<!-- (.*?) -->", path.read_text("utf-8"))
        return [len(texts), shorten(list(dict.fromkeys(texts)))]
    if path.suffix not in (".csv", ".tsv", ".txt", ".md", ".tex", ".bib"):
        return "a file"  # Its content depends on versions.
    lines = path.read_text("utf-8").splitlines()
    return [len(lines), *lines[:4]]


def describe_program(words: list[str], patch: pytest.MonkeyPatch) -> Any:
    """Return the exit code of a call, the first lines of its output, their number, and its notes."""
    stream = io.TextIOWrapper
    while words and re.fullmatch("[A-Z_]+=.*", words[0]):
        name, _, value = words.pop(0).partition("=")
        patch.setenv(name, value)
        stream = Terminal if name == "TERM" else stream
    content = io.BytesIO()
    out, err = stream(content, "utf-8", newline="\n"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code: object = main(words)
        except SystemExit as stopped:
            code = stopped.code
    out.flush()
    folder = f"{Path.cwd()}{os.sep}"
    text = content.getvalue().decode().replace(program(), "rankscope").replace(folder, "")
    lines = re.sub(r"\d\.\d MB", "... MB", text).splitlines()
    notes = err.getvalue().replace(folder, "").splitlines()[:MAX_LINES]
    result = {"code": str(code), "lines": len(lines), "output": lines[:MAX_LINES], "notes": notes}
    if lines[MAX_LINES:]:
        result["rest"] = hashlib.sha256("\n".join(lines[MAX_LINES:]).encode()).hexdigest()[:16]
    return result


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with small_files() as path:
        yield path


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")


def all_options() -> Any:
    return {command: describe_options(command) for command in COMMANDS if command not in OWN_GRAMMAR}


def test_options_of_commands_change_only_on_purpose() -> None:
    assert_recorded(all_options(), RECORDED, "options")


@pytest.mark.parametrize("line", CALLS)
def test_calls_change_only_on_purpose(line: str, folder: Path) -> None:
    assert_recorded(describe_call(line), RECORDED, line)


if __name__ == "__main__":
    os.environ |= {"COLUMNS": "100", "NO_COLOR": "1"}
    with small_files():
        recorded = {"options": all_options()} | {line: describe_call(line) for line in CALLS}
    write_recorded(RECORDED, recorded)
