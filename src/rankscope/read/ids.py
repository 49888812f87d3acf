"""Identifiers of topics and documents: bytes internally, text in the public API.

TREC files contain arbitrary bytes, and ties are broken by bytes; ``surrogateescape`` makes the round trip exact. Ids of
other types, from any source (files, frames, dicts, clusters), become text by the rule of :func:`id_text`, which
:func:`arrow_ids` applies to a column.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from rankscope.errors import InputError

EXACT = 1 << 53
"""Largest magnitude up to which a double represents every integer, hence every id."""
_IDS = "ids are text, bytes in UTF-8 or integers: convert them"
SAME_TEXT = "keep one of the two: ids are compared as text, in which 1 and '1' are the same"
"""Hint for two ids of a dict with the same text."""


def to_text(identifier: bytes) -> str:
    r"""Return the text of an identifier; bytes that are not UTF-8 survive the round trip.

    >>> to_bytes(to_text(b"caf\xe9")) == b"caf\xe9"
    True
    """
    return identifier.decode("utf-8", "surrogateescape")


def to_texts(identifiers: Sequence[bytes]) -> list[str]:
    r"""Return the texts of many identifiers at once.

    >>> to_texts([b"301", b"caf\xe9"]) == [to_text(b"301"), to_text(b"caf\xe9")], to_texts([])
    (True, [])
    """
    joined = b"\0".join(identifiers)
    if not identifiers or joined.count(b"\0") >= len(identifiers):
        return [*map(to_text, identifiers)]
    return to_text(joined).split("\0")


def to_bytes(identifier: str) -> bytes:
    """Return the bytes of an identifier (the inverse of :func:`to_text`)."""
    try:
        return identifier.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return identifier.encode("utf-8", "surrogatepass")


def sort_naturally(topics: Iterable[str]) -> list[str]:
    """Sort topics by number if all are numbers, else by bytes.

    >>> sort_naturally(["10", "9", "351"]), sort_naturally(["q10", "q9"])
    (['9', '10', '351'], ['q10', 'q9'])
    >>> sort_naturally(["1", "010", "01"])
    ['01', '1', '010']
    """
    topics = list(topics)
    joined = "".join(topics)
    topics.sort()
    if not joined.isascii():
        topics.sort(key=to_bytes)
    elif joined.isdigit() and 0 < min(lengths := set(map(len, topics))) <= max(lengths) < 19:
        # Numbers without leading zeros are sorted by length, then text; 01 and 1 are the same, and stay sorted by text.
        has_zeros = any(topic.startswith("0") and topic != "0" for topic in topics[:2])
        topics.sort(key=int if has_zeros else len)
    return topics


def id_text(value: Any, location: str, *, any_type: bool = False) -> str:
    """Return an id of any type as text.

    Text is returned unchanged, bytes are UTF-8, and integers and integral floating-point numbers become the text of
    the integer. Any other value is an error, unless ``any_type`` is set and the value is hashable and not missing.
    Messages name the ``location``, such as ``column 'qid'``.

    >>> id_text(301, "topic"), id_text(301.0, "topic"), id_text(b"301", "topic"), id_text("q1", "topic")
    ('301', '301', '301', 'q1')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return to_text(value)
    if getattr(getattr(value, "dtype", None), "kind", "") in ("i", "u", "f", "b"):
        value = value.item()  # a scalar of numpy
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and value.is_integer() and abs(value) <= EXACT:
        return str(int(value))
    is_missing = value is None or type(value).__name__ in ("NAType", "NaTType")  # of pandas
    if is_missing or (isinstance(value, float) and value != value):
        raise InputError(f"{location}: an id is missing", hint="fill the gap or remove the row")
    if any_type and isinstance(value, Hashable):
        return str(value)
    shown = repr(value)
    shown = shown if len(shown) <= 40 else f"{shown[:37]}..."
    raise InputError(f"{location}: {shown} ({type(value).__name__}) is not an id", hint=_IDS)


def key_text(key: Any, location: str) -> str:
    """Return an id in a dict, of any hashable type, as text.

    >>> key_text(301, "topic"), key_text(("en", 7), "topic")
    ('301', "('en', 7)")
    """
    return id_text(key, location, any_type=True)


def id_cell(key: Any) -> str | int:
    """Return an id as a cell of a table: text and integers unchanged, others as text.

    >>> id_cell(301), id_cell("q1"), id_cell(("en", 7))
    (301, 'q1', "('en', 7)")
    """
    if isinstance(key, str | int):
        return key
    return int(key) if hasattr(key, "__index__") else key_text(key, "topic")


def arrow_ids(column: Any, location: str) -> Any:
    """Return an Arrow column of ids of any type as one array of bytes, by the rule of :func:`id_text`.

    The type is ``large_binary``, because more than 2 GB of ids overflow the offsets of ``binary``.

    >>> import pyarrow as pa
    >>> arrow_ids(pa.array([301.0, 302.0]), "column 'qid'").to_pylist()
    [b'301', b'302']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kinds, array = pa.types, column
    if kinds.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    elif kinds.is_run_end_encoded(array.type):
        array = pc.call_function("run_end_decode", [array])
    if array.null_count:
        id_text(None, location)
    if kinds.is_floating(array.type):
        values: Any = array.cast(pa.float64())
        is_exact: Any = pc.less_equal(pc.abs(values), pa.scalar(float(EXACT)))
        is_integral: Any = pc.and_(pc.equal(values, pc.floor(values)), is_exact)
        invalid = pc.index(is_integral, False).as_py()
        if invalid >= 0:
            id_text(values[invalid].as_py(), location)
        array = array.cast(pa.float64()).cast(pa.int64())
    if kinds.is_integer(array.type):
        array = array.cast(pa.large_string())
    texts = (
        kinds.is_string, kinds.is_large_string, kinds.is_string_view, kinds.is_binary, kinds.is_large_binary,
        kinds.is_binary_view, kinds.is_fixed_size_binary, kinds.is_null,
    )  # fmt: skip
    if not any(is_text(array.type) for is_text in texts):
        raise InputError(f"{location}: values of type {array.type} are not ids", hint=_IDS)
    array = array.cast(pa.large_binary())
    if not isinstance(array, pa.ChunkedArray):
        return array
    return array.combine_chunks() if array.num_chunks else pa.array([], array.type)
