"""The JSON Schema of the page's data, from the types and docstrings of src/rankscope/reporting/schema.py."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union

import numpy as np

from rankscope.docstrings import parse_docstring
from rankscope.reporting.schema import Document


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the data."""
    parts: dict[str, Any] = {}
    root = _object(Document, parts)
    return {"$schema": "draft 2020-12", "title": "Document", **root, "$defs": {**parts, "Packed": _packed()}}


def _object(kind: Any, parts: dict[str, Any]) -> dict[str, Any]:
    described = parse_docstring(kind.__doc__)
    return {
        "description": described.text,
        "type": "object",
        "properties": {
            name: {**_type(hint, parts), "description": described.parameters[name]}
            for name, hint in typing.get_type_hints(kind).items()
        },
        "required": [name for name in kind.__annotations__ if name in kind.__required_keys__],
        "additionalProperties": False,
    }


_PLAIN: Mapping[Any, str] = {
    str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"
}  # fmt: skip


def _type(kind: Any, parts: dict[str, Any]) -> dict[str, Any]:
    if kind is Any:
        return {}
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if typing.is_typeddict(kind):
        if kind.__name__ not in parts:
            parts[kind.__name__] = _object(kind, parts)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is np.ndarray:
        return {"$ref": "#/$defs/Packed"}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, UnionType):
        return {"anyOf": [_type(member, parts) for member in inner]}
    if origin is dict:
        return {"type": "object", "additionalProperties": _type(inner[1], parts)}
    return {"type": "array", "items": _type(inner[0], parts)}


def _packed() -> dict[str, Any]:
    """Numbers: base64 text in a report, an offset in the stream of the explorer, or indices of a table of values."""
    dtype = {"enum": ["u8", "u16", "u32", "i32", "f32", "f64"]}
    whole, packed = {"type": "integer"}, {"$ref": "#/$defs/Packed"}
    kinds = (
        {"dtype": dtype, "base64": {"type": "string"}},
        {"dtype": dtype, "at": whole, "length": whole},
        {"codes": packed, "table": packed},
    )
    return {
        "description": (_packed.__doc__ or "").strip(),
        "anyOf": [
            {"type": "object", "properties": kind, "required": list(kind), "additionalProperties": False}
            for kind in kinds
        ],
    }
