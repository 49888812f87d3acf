"""The C sources compiled in other ways: sanitizers find nothing, and every variant gives the same hits."""

from __future__ import annotations

import ctypes as c
import itertools
import os
import random
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from rankscope.read.ids import to_text
from rankscope.read.orders import ORDERS
from rankscope.read.qrels import Qrels
from rankscope.read.source import Source
from rankscope.scan import native, python

ROOT = Path(__file__).parents[3]
NATIVE = ROOT / "src" / "rankscope" / "native" / "c"
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")

UNOPTIMISED = "-O0"
"""Compiles in a quarter of the time, runs as long, and nothing that a sanitizer could see is optimised away."""

pytestmark = [pytest.mark.needs("sanitizers"), pytest.mark.slow]


@pytest.mark.parametrize(
    "options", [[], ["-DRS_WEAK_HASH"], ["-DRS_PORTABLE"]], ids=["usual", "weak hash", "portable"]
)
def test_sanitizers_find_nothing(options: list[str], tmp_path: Path) -> None:
    """AddressSanitizer and UBSan over the seeds of the fuzzer and thousands of random changes of them."""
    program = tmp_path / "fuzz"
    environment = {"STANDALONE": "1", "CC": str(COMPILER), "PATH": "/usr/bin:/bin"}
    build = [str(ROOT / "fuzz" / "build.sh"), str(program), *options, UNOPTIMISED]
    created = subprocess.run(build, env=environment, capture_output=True, text=True, check=False)
    if created.returncode:
        pytest.skip(f"this compiler has no sanitizers: {created.stderr[:200]}")
    seeds = sorted(map(str, (ROOT / "fuzz" / "seeds").iterdir()))
    n_changes = 25 * settings().max_examples  # of each seed: 1,500 in CI
    command = [str(program), "-n", str(n_changes), *seeds]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert ran.stdout == f"{len(seeds) * (n_changes + 1)} inputs\n"


def test_without_memory_there_is_an_error_and_no_leak(tmp_path: Path) -> None:
    program = tmp_path / "exhaustion"
    flags = [
        "-std=c11",
        "-g",
        UNOPTIMISED,
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
        f"-I{NATIVE}",
    ]
    source = str(Path(__file__).parent / "exhaustion.c")
    command = [str(COMPILER), *flags, source, "-o", str(program)]
    created = subprocess.run(command, capture_output=True, text=True, check=False)
    if created.returncode:
        pytest.skip(f"this compiler has no sanitizers: {created.stderr[:200]}")
    ran = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "done\n"), ran.stderr[-3000:]


@pytest.fixture(
    scope="module", params=[["-DRS_WEAK_HASH"], ["-DRS_PORTABLE"], ["-O0"]], ids=lambda options: options[0]
)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> native.c.CDLL:
    return native.load(_compiled(tmp_path_factory.mktemp("library"), request.param))


def _compiled(folder: Path, options: list[str]) -> Path:
    path = folder / "scanner.so"
    sources = [str(path) for path in sorted(NATIVE.glob("*.c")) if path.name != "memory.c"]  # needs Python
    usual = ["-std=c11", "-O1", "-fPIC", "-shared"]
    subprocess.run([str(COMPILER), *usual, *options, *sources, "-o", str(path)], check=True)
    return path


@pytest.mark.parametrize("order", ORDERS)
def test_variants_give_the_same_hits(library: native.c.CDLL, order: str) -> None:
    """With a weak hash nearly all documents collide: neither duplicates nor judgments may be imagined."""
    dice = random.Random(7)
    ids = [f"doc-{dice.randrange(10 ** dice.randrange(1, 12))}" for _ in range(600)]
    ids = sorted(set(ids))
    qrels = Qrels.from_dict({str(t): dict.fromkeys(dice.sample(ids, 120), 1) for t in (7, 8, 9)})
    scores = ["0", "-0.0", "1e-3", *map(str, range(9)), *(str(dice.random()) for _ in range(12))]
    lines = [
        f"{topic} Q0 {document} {dice.randrange(300)} {dice.choice(scores)} t"
        for topic in (9, 5, 7)
        for document in dice.sample(ids, 300)
    ]
    source = Source.open("\n".join(lines).encode())
    a = native.scan_source(source, qrels, order, library=library)
    b = python.scan_source(source, qrels, order)
    for name in ("topic", "length", "offsets", "rank", "judgment", "tied"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    assert a.ignored_topics == b.ignored_topics == ("5",)


def colliding(pairs: int) -> list[bytes]:
    """2 ** pairs ids that have one hash under multiplication and folding with any constants, whatever they start from.

    Flipping the highest bit of a word flips bits 63 and 31 of the state after it, for certain; flipping these in the
    next word takes it back.
    """
    words = [(b"aaaaaaaabbbbbbbb", b"aaaaaaa\xe1bbb\xe2bbb\xe2")] * pairs
    return [b"".join(word) for word in itertools.product(*words)]


@pytest.fixture(scope="module")
def counting(tmp_path_factory: pytest.TempPathFactory) -> native.c.CDLL:
    """Compile the library so that it counts the probes of its hash tables."""
    return native.load(_compiled(tmp_path_factory.mktemp("counting"), ["-DRS_COUNT_PROBES"]))


@pytest.mark.parametrize("judged", [True, False], ids=["judged", "retrieved"])
def test_no_file_can_make_ids_collide(judged: bool, counting: native.c.CDLL) -> None:
    probes = c.c_uint64.in_dll(counting, "rs_probes")
    before = probes.value
    ids = colliding(13)
    assert len(set(ids)) == 1 << 13
    pool = dict.fromkeys((to_text(item) for item in ids), 1) if judged else {"d": 1}
    run = b"".join(b"1 Q0 %b 1 1 t\n" % item for item in ids)
    result = native.scan_source(Source.open(run), Qrels.from_dict({"1": pool}), "trec_eval", library=counting)
    assert len(result.rank) == (len(ids) if judged else 0)
    assert 0 < probes.value - before < 3 * len(ids)  # 34 million without a secret key


def test_sanitizers_find_nothing_in_the_extension_module(tmp_path: Path) -> None:
    """Check random dicts against sorting in Python, under AddressSanitizer and UBSan."""
    module = tmp_path / "_memory.so"
    include = sysconfig.get_paths()["include"]
    flags = [
        "-std=c11",
        "-g",
        "-O1",
        "-fPIC",
        "-shared",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
    ]
    command = [str(COMPILER), *flags, f"-I{include}", str(NATIVE / "memory.c"), "-o", str(module)]
    created = subprocess.run(command, capture_output=True, text=True, check=False)
    if created.returncode:
        pytest.skip(
            f"this compiler has no sanitizers, or there are no headers of Python: {created.stderr[:200]}"
        )
    runtime = subprocess.run(
        [str(COMPILER), "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    environment = {
        **os.environ,
        "LD_PRELOAD": runtime,
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONMALLOC": "malloc",
    }
    ran = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("random_dicts.py")), str(module)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, "done\n"), ran.stderr[-3000:]
