"""The bindings declare what the C sources declare, and use the libraries."""

from __future__ import annotations

import ctypes as c
import os
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rankscope.native import counting, libraries, memory, paths, readahead, scanner, scans
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


@pytest.mark.parametrize(
    ("file", "signatures"),
    [
        ("scanner.h", scanner._SIGNATURES),
        ("paths.c", paths._FUNCTIONS),
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
        ("paths.c", "rs_paths", paths._Paths),
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
@pytest.mark.parametrize("module", [scanner, paths, counting])
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
        options = {"by_score": True, "in_32_bits": False, "ascending": False, "ties": False}
        return memory.match(rankings, {"1": 0}, index, **options)

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


class _OnlyDescriptor:
    """A file that can only be read by its descriptor."""

    def __init__(self, number: int) -> None:
        self.number = number

    def fileno(self) -> int:
        return self.number


@needs_native
@pytest.mark.skipif(os.name != "posix", reason="the library shares file descriptors on POSIX only")
def test_the_library_reads_the_descriptor_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(b"1 Q0 b 1 2 t\n1 Q0 a 2 1 t\n8 Q0 a 1 1 t\n9 Q0 a 1 1 t\n")
    qrels = Qrels.from_dict({"1": {"a": 1}})
    library = scanner.library()
    assert library is not None
    table = scans.build_table(library, [b"1"], qrels.topic_offsets, qrels.documents)
    with (
        path.open("rb", buffering=0) as file,
        scans.Scan.open(table, scans.ScanRequest(0, False, 1), False) as scan,
    ):
        shared: Any = _OnlyDescriptor(file.fileno())
        assert scan.read(shared, 1 << 10) == path.stat().st_size
        assert scan.read(shared, 1 << 10) == 0
        scan.finish()
        arrays = scan.arrays()
        assert scan.line == 4
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
