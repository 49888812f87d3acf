"""The bindings declare what the C sources declare, and use the libraries."""

from __future__ import annotations

import ctypes as c
import itertools
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rankscope.native import counting, judgments, libraries, memory, readahead, scanner, scans
from rankscope.native.cuts import topic_cuts
from rankscope.read.qrels import Qrels

SOURCES = Path(libraries.__file__).parent / "c"
needs_native = pytest.mark.needs("native")


def c_text(name: str) -> str:
    """Return a C source on one line, without comments."""
    return " ".join(re.sub(r"/\*.*?\*/", "", (SOURCES / name).read_text("utf-8"), flags=re.DOTALL).split())


def c_kind(declaration: str) -> str:
    """Return the type of a parameter or field, ``pointer`` for any pointer or array."""
    is_pointer = "*" in declaration or "[" in declaration
    return "pointer" if is_pointer else declaration.removeprefix("const ").split()[0]


def python_kind(declared: Any) -> str:
    names = {c.c_int32: "int32_t", c.c_int64: "int64_t", c.c_double: "double", None: "void"}
    return names.get(declared, "pointer")


def test_the_module_of_dicts_has_the_version_that_is_asked_for() -> None:
    """With another version it would be ignored, and dicts would be read slowly."""
    assert f'PyModule_AddIntConstant(module, "VERSION", {memory.VERSION})' in c_text("memory.c")


def test_constants_are_those_of_the_c_sources() -> None:
    scanner_text, counting_text = map(c_text, ("scanner.h", "counting.c"))
    assert f"#define RS_VERSION {scanner._VERSION} " in scanner_text
    assert f"#define STRIDE {counting._STRIDE} " in counting_text
    assert f"PADDING = {scans._PADDING} " in c_text("memory.c")
    version, library = re.search(r"#define COUNTING_VERSION (\d+) ", counting_text), counting._library()
    assert version is not None and library is not None
    assert library.rs_counting_version() == int(version[1])

    def values(name: str) -> dict[str, int]:
        found = re.search(rf"enum {name} {{([^}}]*)}}", scanner_text)
        assert found is not None
        return {each.split()[0]: int(each.split()[2]) for each in found[1].split(",") if each.strip()}

    statuses, states, columns = map(values, ("rs_status", "rs_state", "rs_column"))
    assert [statuses["RS_NO_MEMORY"], statuses["RS_RETURNING_TOPIC"]] == [scans._NO_MEMORY, scans._RETURNING]
    names = {
        "TOO_LONG": "long", "NUL": "nul", "FIELDS": "fields", "BAD_RANK": "rank", "BAD_SCORE": "score",
        "NAN_SCORE": "nan", "DUPLICATE": "duplicate", "LINE_END": "ending",
    }  # fmt: skip
    assert {statuses[f"RS_{name}"]: kind for name, kind in names.items()} == scans._KINDS
    assert (states["RS_BUSY"], states["RS_DONE"]) == (readahead._BUSY, readahead._DONE)
    assert [columns[name] for name in ("RS_TOPICS", "RS_ITERATIONS", "RS_DOCUMENTS")] == [
        judgments._TOPICS, judgments._ITERATIONS, judgments._DOCUMENTS,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "signatures"),
    [
        ("scanner.h", scanner._SIGNATURES),
        ("counting.c", counting._FUNCTIONS),
    ],
)
def test_functions_have_the_parameters_of_their_c_declaration(
    file: str, signatures: libraries.Signatures
) -> None:
    text = c_text(file)
    for name, (result, arguments) in signatures.items():
        found = re.search(rf"RS_API ([\w ]+\**) ?{name}\(([^)]*)\)", text)
        assert found is not None, name
        parameters = [] if found[2] == "void" else found[2].split(",")
        assert [python_kind(each) for each in arguments] == [c_kind(each.strip()) for each in parameters], (
            name
        )
        assert python_kind(result) == c_kind(found[1]), name


@pytest.mark.parametrize(
    ("file", "name", "structure"),
    [
        ("scanner.h", "rs_result", scanner.ScanResult),
        ("scanner.h", "rs_documents", scanner.DocumentsResult),
        ("scanner.h", "rs_judgments", scanner.JudgmentsResult),
        ("counting.c", "rs_counting", counting._Counting),
    ],
)
def test_structures_have_the_fields_of_their_c_declaration(
    file: str, name: str, structure: type[c.Structure]
) -> None:
    result = re.search(rf"typedef struct {{([^}}]*)}} {name};", c_text(file))
    assert result is not None
    fields = []
    for statement in filter(str.strip, result[1].split(";")):
        kind = statement.split()[1 if statement.strip().startswith("const ") else 0]
        names = statement.split(kind, 1)[1].split(",")
        fields += [(each.split()[-1].lstrip("*"), c_kind(f"{kind} {each}")) for each in names]
    assert fields == [(name, python_kind(kind)) for name, kind in structure._fields_]  # type: ignore[misc]


@needs_native
@pytest.mark.parametrize("module", [scanner, counting])
def test_a_library_is_loaded_once(module: ModuleType) -> None:
    load = module.library if module is scanner else module._library
    assert module.available() and load() is load()


@needs_native
def test_a_library_of_another_version_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanner, "_VERSION", scanner._VERSION + 1)
    with pytest.raises(OSError, match="version"):
        scanner.load(SOURCES / "scanner.so")
    assert libraries.find_library("scanner", scanner.load) is None


@needs_native
def test_dicts_are_read_by_the_extension_module_unless_another_scanner_is_selected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if memory._memory is None:
        pytest.skip("the extension module was not built")

    monkeypatch.delenv(scanner.VARIABLE, raising=False)
    indexed = memory.index_judgments(["1"], [{"b": 0, "a": 2}])
    assert indexed is not None
    index, grades, offsets = indexed
    assert sorted(grades.tolist()) == [0, 2] and offsets.tolist() == [0, 2]

    def match(index: Any) -> tuple[Any, ...] | None:
        rankings = {"1": {"x": 1.0, "a": 2.0}, "9": {"a": 1.0}}
        return memory.match(rankings, {"1": 0}, index, True, False, False, False)

    matched, arrays = match(index), (np.array([1.0, 3.0, 3.0]), np.array([0, 3]))
    assert matched is not None
    topic, length, list_offsets, rank, judgment, *_, ignored = matched
    assert [part.tolist() for part in (topic, length, list_offsets, rank)] == [[0], [2], [0, 1], [1]]
    assert grades[judgment].tolist() == [2] and list(ignored) == ["9"]
    ordered = memory.sort_groups(*arrays, ascending=False)
    assert ordered is not None and [part.tolist() for part in ordered[:3]] == [
        [2, 1, 0],
        [1, 1, 3],
        [2, 2, 1],
    ]
    assert match(None) is None
    monkeypatch.setenv(scanner.VARIABLE, "python")
    assert memory.index_judgments(["1"], [{"b": 0, "a": 2}]) is None
    assert match(index) is None and memory.sort_groups(*arrays, ascending=False) is None


@needs_native
def test_a_scan_returns_hits_and_documents_of_the_same_text() -> None:
    qrels = Qrels.from_dict({"1": {"a": 1}})
    library = scanner.library()
    assert library is not None
    table = scans.build_table(library, [b"1"], qrels.topic_offsets, qrels.documents)
    with scans.Scan.open(table, scans.ScanRequest(0, False, 1), False) as scan:
        scan.feed(b"1 Q0 b 1 2 t\n1 Q0 a 2 1 t\n8 Q0 a 1 1 t\n9 Q0 a 1 1 t\n")
        scan.finish()
        arrays = scan.arrays()
        assert [(topic, names, first.tolist()) for topic, names, first in scan.documents()] == [
            (0, [b"b"], [1])
        ]
    assert (arrays.rank.tolist(), arrays.length.tolist(), arrays.ignored) == ([2], [2], [b"8", b"9"])


@pytest.mark.parametrize("starts", [[-1, 2], [0, 5], [0, 3, 2, 4], [2, 1]])
def test_offsets_outside_the_texts_are_rejected(starts: list[int]) -> None:
    with pytest.raises(ValueError, match="overlap"):
        scans.pad(np.zeros(4, np.uint8), np.array(starts))


def test_padded_texts_begin_at_zero_and_are_followed_by_readable_bytes() -> None:
    data = np.frombuffer(b"xxabbb", np.uint8)
    padded, starts = scans.pad(data, np.array([2, 3, 3, 6]))
    assert bytes(padded) == b"abbb" + bytes(64) and starts.tolist() == [0, 1, 1, 4]
    assert scans.pad(data, np.array([0, 6]))[1].tolist() == [0, 6]


def test_judgments_that_change_while_they_are_read_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "qrels"
    path.write_bytes(b"1 0 a 1\n")
    stamp, judgments = readahead._read_judgments(str(path))
    assert judgments is not None
    assert (judgments.documents, stamp[2]) == ([b"a"], 8)
    later = iter([stamp, (*stamp[:3], stamp[3] + 1)])
    for stamps in (
        lambda _: next(later),
        lambda _: (*stamp[:2], 9, stamp[3]),
        lambda _: (*stamp[:2], 7, stamp[3]),
    ):
        monkeypatch.setattr(readahead, "_stamp", stamps)
        with pytest.raises(OSError, match="changed"):
            readahead._read_judgments(str(path))
    monkeypatch.undo()
    path.write_bytes(b"")
    assert readahead._read_judgments(str(path))[1] is None
    with pytest.raises(OSError, match="regular"):
        readahead._read_judgments(str(tmp_path))


def test_only_large_files_are_split_and_only_if_there_are_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = b"".join(b"%d Q0 d 1 1 t\n" % topic for topic in range(100, 200))
    monkeypatch.setattr(readahead, "_PIECE", len(text) // 3)
    for name in ("b", "a", ".hidden"):
        (tmp_path / name).write_bytes(text)
    (tmp_path / "empty").touch()
    a, b = readahead._list_files([str(tmp_path), str(tmp_path / "missing")])
    assert [Path(file.path).name for file in (a, b)] == ["a", "b"]
    assert len(a.spans) == 3 and [a.spans[0][0], a.spans[-1][1]] == [0, len(text)]
    assert all(first[1] == second[0] for first, second in zip(a.spans, a.spans[1:], strict=False))
    assert readahead._spans(a.path, len(text), is_split=False) == [(0, len(text))]
    monkeypatch.setattr(readahead, "_PIECE", len(text) - 1)
    assert readahead._spans(a.path, len(text), is_split=True) == [(0, len(text))]
    monkeypatch.setattr(readahead, "_PIECE", 1)
    assert len(readahead._spans(a.path, len(text), is_split=True)) == readahead._MAX_PIECES
    assert len(readahead._list_files([str(tmp_path / "a")] * 4)[0].spans) > 1
    assert len(readahead._list_files([str(tmp_path / "a")] * 5)[0].spans) == 1


@pytest.mark.parametrize("comment", [b"#", b"# 3 4", b"#word", b"", b"  "])
def test_files_are_cut_behind_comments_of_any_form(tmp_path: Path, comment: bytes) -> None:
    text = b"1 Q0 d 1 1 t\n" * 20 + (comment + b"\n") * 15 + b"2 Q0 d 1 1 t\n" * 20
    path = tmp_path / "run"
    path.write_bytes(text)
    assert topic_cuts(path, len(text), 2) == [text.index(b"2 Q0")]


@needs_native
def test_files_that_are_read_ahead_are_found_by_their_stamp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readahead, "count_workers", lambda: 4)
    qrels, runs = tmp_path / "qrels", tmp_path / "runs"
    qrels.write_bytes(b"1 0 b 1\n1 0 a 2\n")
    runs.mkdir()
    (runs / "x").write_bytes(b"1 Q0 a 1 1 t\n")
    (runs / "y").write_bytes(b"1 Q0 c 1 2 t\n1 Q0 b 2 1 t\n")

    def open_files(jobs: int | None, names: list[Path]) -> Any:
        return readahead.read_ahead(str(qrels), [*map(str, names)], 0, False, jobs)

    with open_files(None, [runs]) as ahead:
        assert ahead is not None
        ahead._threads.wait()
        for name in "xy":
            path = runs / name
            stamp = readahead._stamp(path.stat())
            (part,) = ahead.find_parts(0, False, stamp) or ()
            assert (part.start, part.stop) == (0, path.stat().st_size)
            assert part.scan()
            assert ahead.find_parts(1, False, stamp) is None and ahead.find_parts(0, True, stamp) is None
        assert ahead.find_parts(0, False, (0, 0, 0, 0)) is None
        result = ahead.find_judgments(readahead._stamp(qrels.stat()))
        assert result is not None and result.documents == [b"a", b"b"]
        assert ahead.find_judgments((0, 0, 0, 0)) is None
        (runs / "x").write_bytes(b"1 Q0 b 1 1 t\n")
    assert ahead.find_scan(0) is None  # It was closed.


@needs_native
@pytest.mark.parametrize(
    ("jobs", "workers", "n_threads"), [(9, 9, 3), (2, 9, 2), (9, 3, 2), (1, 9, 1), (None, 9, 3), (None, 2, 1)]
)
def test_threads_are_bounded_by_jobs_workers_files_and_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int | None, workers: int, n_threads: int
) -> None:
    monkeypatch.setattr(readahead, "count_workers", lambda: workers)
    qrels = tmp_path / "qrels"
    qrels.write_bytes(b"1 0 b 1\n")
    names = [tmp_path / name for name in "xyz"]
    for name in names:
        name.write_bytes(b"1 Q0 a 1 1 t\n")
    for n_bytes, expected in ((1, n_threads), (13 * 3 + 1, 1)):
        monkeypatch.setattr(readahead, "_BYTES_PER_THREAD", n_bytes)
        with readahead.read_ahead(str(qrels), [*map(str, names)], 0, False, jobs) as ahead:
            assert ahead is not None and len(ahead._threads.threads) == expected


@needs_native
@pytest.mark.parametrize(("jobs", "workers"), [(-1, 9), (None, 1), (4, 1)])
def test_nothing_is_read_ahead_without_a_second_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int | None, workers: int
) -> None:
    monkeypatch.setattr(readahead, "count_workers", lambda: workers)
    qrels = tmp_path / "qrels"
    qrels.write_bytes(b"1 0 b 1\n")
    with readahead.read_ahead(str(qrels), [], 0, False, jobs) as ahead:
        assert ahead is None


def test_a_scan_returns_documents_only_down_to_a_requested_depth() -> None:
    assert scans.ScanRequest(0, ties=False).depth == 0


class _ScriptedLibrary:
    """A library whose functions return prepared values; it records their calls."""

    def __init__(self, claims: list[int], stamp: tuple[int, ...]) -> None:
        self.calls: list[tuple[str, Any]] = []
        self.claims, self.stamp = iter(claims), stamp

    def __getattr__(self, name: str) -> Any:
        def call(_: Any, value: Any = None, stamp: Any = None) -> Any:
            self.calls.append((name.removeprefix("rs_"), value))
            if name == "rs_ahead_claim":
                return next(self.claims)
            if stamp is not None:
                stamp[:] = self.stamp
            return 42

        return call

    def wait(self) -> None:
        self.calls.append(("wait", None))


@pytest.mark.parametrize(
    ("jobs", "claims", "expected"),
    [
        (2, [2], [("ahead_claim", 7), ("ahead_scan", 7)]),
        (2, [3], [("ahead_claim", 7)]),
        (1, [4, 4], [("ahead_claim", 7), ("wait", None), ("ahead_claim", 7)]),
        (1, [1, 2], [("ahead_claim", 7), ("wait", None), ("ahead_claim", 7), ("ahead_scan", 7)]),
        (9, [1, 3], [("ahead_claim", 7), ("wait", None), ("ahead_claim", 7)]),
        (0, [0], [("ahead_claim", 7)]),
    ],
)
def test_a_scan_is_taken_only_if_it_is_done_and_its_file_is_the_same(
    jobs: int, claims: list[int], expected: list[tuple[str, Any]]
) -> None:
    stamp = (1, 2, 3, 4)
    for other in (stamp, (1, 2, 3, 5)):
        ahead = readahead.ReadAhead.__new__(readahead.ReadAhead)
        library = _ScriptedLibrary(claims, other)
        ahead._library, ahead._threads, ahead._handle = library, library, 9  # type: ignore[assignment]
        ahead._jobs, ahead._stamps = jobs, [()] * 7 + [stamp]
        is_done = expected[-1][0] == "ahead_scan"
        assert ahead.find_scan(7) == (42 if is_done and other == stamp else None)
        freed = [("scan_free", None)] if is_done and other != stamp else []
        assert library.calls == [("ahead_stop", 0), *expected, *freed]
        library.calls.clear()
        for _ in range(2):  # It is closed once.
            ahead.close()
        assert library.calls == [("ahead_stop", 1), ("wait", None), ("ahead_free", None)]
        assert ahead.find_scan(7) is None


@needs_native
def test_large_files_keep_as_many_threads_busy_as_they_have_portions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pieces of a file count by their own length, wherever they begin."""
    text = b"".join(b"%d Q0 d 1 1 t\n" % topic for topic in range(100, 200))
    (tmp_path / "run").write_bytes(text)
    (tmp_path / "qrels").write_bytes(b"100 0 d 1\n")
    stamp, judged = readahead._read_judgments(str(tmp_path / "qrels"))
    assert judged is not None
    monkeypatch.setattr(readahead, "_PIECE", len(text) // 8)
    monkeypatch.setattr(readahead, "count_workers", lambda: 9)
    files = readahead._list_files([str(tmp_path / "run")])
    assert len(files[0].spans) == 8
    for n_bytes, n_threads in ((len(text) + 1, 1), (len(text), 2), (len(text) // 2, 3), (1, 8)):
        monkeypatch.setattr(readahead, "_BYTES_PER_THREAD", n_bytes)
        ahead = readahead.ReadAhead(stamp, judged, files, 0, False, 9)
        assert len(ahead._threads.threads) == n_threads
        ahead.close()
    monkeypatch.setattr(judged.table.library, "rs_ahead_new", lambda *_: None)
    failed = readahead.ReadAhead(stamp, judged, files, 0, False, 9)
    assert not failed._threads.threads and failed.find_scan(0) is None


def test_only_files_that_can_be_split_are_opened_to_be_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(readahead, "topic_cuts", lambda _, size, pieces: asked.append((size, pieces)) or [5])
    monkeypatch.setattr(readahead, "_PIECE", 10)
    assert readahead._spans("x", 20, is_split=True) == [(0, 5), (5, 20)]
    for size, is_split in ((20, False), (19, True), (9, True)):
        assert readahead._spans("x", size, is_split) == [(0, size)]
    assert asked == [(20, 2)]
    monkeypatch.setattr(readahead, "_MAX_FILES", 2)
    for name in "abc":
        (tmp_path / name).write_text("1")
    (tmp_path / "aa").mkdir()  # Directories inside of directories count, but are not read.
    listed = readahead._list_files([str(tmp_path), str(tmp_path / "c")])
    assert [Path(file.path).name for file in listed] == ["a"]
    monkeypatch.undo()
    assert len(readahead._list_files([str(tmp_path), str(tmp_path / "c")])) == 4


@needs_native
def test_deficits_are_those_of_numpy() -> None:
    rng = np.random.default_rng(1)
    for runs, signs in ((1, 1), (3, 70), (5, 64)):
        sums, inverse = rng.normal(size=(runs, signs)), rng.random((runs, runs))
        differences = (sums[np.newaxis] - sums[:, np.newaxis]) * inverse[:, :, np.newaxis]
        expected = np.hstack([(sign * differences).max(axis=1, initial=0.0) for sign in (1, -1)])
        for layout in (sums, np.asfortranarray(sums)):
            np.testing.assert_array_equal(counting.largest_deficits(layout, inverse), expected)


@needs_native
@pytest.mark.parametrize("words", [1, 7, 8, 9, 24])
def test_items_below_vectors_are_counted_as_in_numpy(words: int) -> None:
    rng = np.random.default_rng(words)
    n_ranks, n_items, n_vectors = 3, 64 * words - 1, 5
    heights = rng.integers(0, 4, (n_ranks, n_items))
    marks = [
        np.packbits(
            np.pad([row <= t for t in range(4)], ((0, 0), (0, 1))), axis=1, bitorder="little"
        ).view(np.uint64)
        for row in heights
    ]  # fmt: skip
    delta = np.array(sorted(rng.integers(0, 4, (n_vectors, n_ranks)).tolist()), np.int16)
    size = rng.integers(1, 5, n_vectors)
    begins, weight = np.array([0, n_items // 3, n_items]), np.array([2, 3])
    offsets, position = np.array([0, 1, 1, 4, 5, 6]), rng.integers(0, n_items, 6)
    worth = rng.integers(1, 9, 6)
    comparable = violated = 0
    for v in range(n_vectors):
        below = (heights <= delta[v][:, np.newaxis]).all(axis=0)
        counted = [int(below[start:stop].sum()) for start, stop in itertools.pairwise(begins)]
        comparable += int(size[v]) * sum(int(w) * n for w, n in zip(weight, counted, strict=True))
        violated += sum(int(worth[q] * below[: position[q]].sum()) for q in range(offsets[v], offsets[v + 1]))
    found = counting.count(marks, delta, size, (offsets, position, worth), (begins, weight))
    assert found == (comparable, violated)


def test_values_become_dicts_with_the_module_and_without(monkeypatch: pytest.MonkeyPatch) -> None:
    class Rankings(dict):  # type: ignore[type-arg]
        """A mapping that only Python reads."""

    run = {"q3": [], "other": [], "q1": [], "q2": []}
    arguments = ({"q1": 0, "q2": 1, "q3": 2}, np.array([0, 2], np.int32), ["AP", "RR"])
    values = np.array([[0.25, 0.5], [0.75, 1.0]])
    expected = {"q3": {"AP": 0.5, "RR": 1.0}, "q1": {"AP": 0.25, "RR": 0.75}}
    for rankings in (run, Rankings(run)):
        result = memory.as_dicts(rankings, *arguments, values)
        assert result == expected and list(result) == list(expected)
    monkeypatch.setattr(memory, "is_usable", lambda: False)
    monkeypatch.setattr(memory, "_memory", None)
    assert memory.as_dicts(run, *arguments, values) == expected
    for function, given in (
        (memory.index_judgments, (["1"], [{"a": 1}])),
        (memory.sum_ideals, (np.array([0, 1]), np.ones(1, np.int32), ())),
        (memory.sort_groups, (np.ones(1), np.array([0, 1]), False)),
        (memory.join_texts, (["a"],)),
    ):
        assert function(*given) is None  # type: ignore[operator]


@needs_native
def test_the_module_is_used_only_if_the_native_scanner_is_selected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_memory", None)
    assert not memory.is_usable()
    monkeypatch.setattr(memory, "_memory", object())
    assert memory.is_usable()
    monkeypatch.setattr(memory, "is_selected", lambda: False)
    assert not memory.is_usable()


@needs_native
def test_a_scan_without_memory_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, library = Qrels.from_dict({"1": {"d7": 1}}), scanner.library()
    assert library is not None
    table = scans.build_table(library, [b"1"], qrels.topic_offsets, qrels.documents)
    request = scans.ScanRequest(0, ties=False)
    monkeypatch.setattr(table, "library", _ScriptedLibrary([], ()))
    table.library.rs_scan_new = lambda *_: None
    with pytest.raises(MemoryError), scans.Scan.open(table, request, False):
        pass


@pytest.mark.parametrize("status", [1, 2, 3, 9])
def test_a_status_becomes_its_exception(status: int) -> None:
    scan = scans.Scan.__new__(scans.Scan)
    result = scanner.ScanResult(line=5, fields=3, status=status)
    scan._result = lambda: result  # type: ignore[method-assign]
    scan._check(0)
    kinds = {1: MemoryError, 2: scans.ReturningTopic}
    with pytest.raises(kinds.get(status, scans.ScanError)) as raised:
        scan._check(status)
    if status > 2:
        assert raised.value.args == (scans._KINDS[status], 5, b"", b"", 3)


def test_texts_with_enough_padding_are_not_copied() -> None:
    for length, is_copied in ((66, False), (67, False), (65, True)):
        data = np.zeros(length, np.uint8)
        padded, starts = scans.pad(data, np.array([0, 1, 2]))
        assert (padded is not data) == is_copied and len(padded) >= 2 + 64
        assert starts.tolist() == [0, 1, 2]
    shifted, starts = scans.pad(np.arange(99, dtype=np.uint8), np.array([1, 1, 3]))
    assert shifted[:2].tolist() == [1, 2] and len(shifted) == 2 + 64 and starts.tolist() == [0, 0, 2]
    empty, starts = scans.pad(np.zeros(0, np.uint8), np.array([0]))
    assert len(empty) == 64 and starts.tolist() == [0]


@needs_native
def test_judgments_are_left_to_python_without_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    library = _ScriptedLibrary([], ())
    library.rs_qrels_new = lambda _: None
    monkeypatch.setattr(judgments, "library", lambda: library)
    assert judgments.parse_judgments([b"1 0 a 1\n"]) is None
    assert library.calls == []
    with pytest.raises(MemoryError):
        scanner.DocumentTable(library, None)  # type: ignore[arg-type]
