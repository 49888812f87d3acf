"""Tables that a script computes, put into their places on a page: between <!-- NAME --> and <!-- end -->."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path


def put(page: Path, tables: Mapping[str, str], *, check: bool = False) -> int:
    """Print the tables and write them into the page; with ``check`` only say (1) whether that would change it."""
    text = page.read_text("utf-8")
    for name, table in tables.items():
        print(table)
        place = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
        text, found = place.subn(lambda part, table=table: part[1] + table + part[2], text)
        if found != 1:
            raise SystemExit(f"{page.name} has {found} places for the table {name!r}")
    if check:
        return int(text != page.read_text("utf-8"))
    page.write_text(text, "utf-8")
    return 0
