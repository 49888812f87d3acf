"""Writes what follows from the description of the page's data (src/rankscope/reporting/schema.py): the JSON Schema, the
types of the page's sources, and the table in README.md.

python web/make_types.py            write them
python web/make_types.py --check    only say whether they are up to date
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from json_schema import json_schema

from rankscope.reporting.schema import VERSION

WEB = Path(__file__).parent
_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def typescript(schema: dict[str, Any]) -> str:
    """Return the schema as TypeScript, with an interface for each object."""
    parts = {name: part for name, part in schema["$defs"].items() if name != "Packed"}
    lines = [
        "// Written by web/make_types.py from src/rankscope/reporting/schema.py: change it there.",
        "",
        f"export const VERSION = {VERSION};",
        "",
        "/** " + schema["$defs"]["Packed"]["description"] + " */",
        f"export type Packed = {_type(schema['$defs']['Packed'])};",
    ]
    for name, part in {**parts, "Document": schema}.items():
        lines += ["", f"/** {part['description']} */", f"export interface {_named(name)} {{"]
        for field, of in part["properties"].items():
            mark = "" if field in part["required"] else "?"
            lines += [f"  /** {of['description']} */", f"  {field}{mark}: {_type(of)};"]
        lines.append("}")
    return "\n".join(lines) + "\n"


def _named(name: str) -> str:
    return {"Document": "Payload"}.get(name, name)


def _type(of: dict[str, Any]) -> str:
    if not of.keys() - {"description"}:
        return "unknown"
    if "$ref" in of:
        return _named(of["$ref"].rpartition("/")[2])
    if "enum" in of:
        return " | ".join(map(json.dumps, of["enum"]))
    if "anyOf" in of:
        return " | ".join(dict.fromkeys(map(_type, of["anyOf"])))
    if of["type"] == "array":
        return f"({_type(of['items'])})[]" if "anyOf" in of["items"] else f"{_type(of['items'])}[]"
    if "properties" in of:
        return "{ " + "; ".join(f"{name}: {_type(one)}" for name, one in of["properties"].items()) + " }"
    if of["type"] == "object":
        return f"Record<string, {_type(of['additionalProperties'])}>"
    return _PLAIN[of["type"]]


def table(schema: dict[str, Any]) -> str:
    """Return the fields as a Markdown table, nested fields by their path."""
    rows = ["| field | type | meaning |", "|---|---|---|"]

    def add(part: dict[str, Any], path: str) -> None:
        for field, of in part["properties"].items():
            optional = "" if field in part["required"] else "optional: "
            kind = _type(of).replace("|", "or")
            rows.append(f"| `{path}{field}` | `{kind}` | {optional}{of['description']} |")
            inner = of.get("items", of)
            name = inner.get("$ref", of.get("additionalProperties", {}).get("$ref", "")).rpartition("/")[2]
            if name and name != "Packed":
                add(schema["$defs"][name], f"{path}{field}{'[]' if inner is not of else ''}.")

    add(schema, "")
    return "\n".join(rows)


def generate() -> dict[Path, str]:
    """Return the content of each generated file."""
    schema = json_schema()
    readme = (WEB / "README.md").read_text("utf-8")
    inside = re.sub(
        r"(<!-- fields -->\n).*?(\n<!-- end of fields -->)",
        lambda found: found[1] + table(schema) + found[2],
        readme,
        flags=re.S,
    )
    return {
        WEB / "payload.schema.json": json.dumps(schema, indent=2) + "\n",
        WEB / "src" / "data" / "types.ts": typescript(schema),
        WEB / "README.md": inside,
    }


def main(arguments: list[str]) -> int:
    """Write the files, or say which are out of date."""
    stale = [path for path, text in generate().items() if not path.exists() or path.read_text("utf-8") != text]
    if "--check" in arguments:
        for path in stale:
            print(f"{path} is out of date: run python web/make_types.py")
        return int(bool(stale))
    for path, text in generate().items():
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
