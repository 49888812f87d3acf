"""Insert computed tables into a page, between <!-- NAME --> and <!-- end -->."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path


def put(page: Path, tables: Mapping[str, str], *, check: bool = False) -> int:
    """Print the tables and write them into the page; with ``check`` only return 1 if the page would change."""
    text = page.read_text("utf-8")
    for name, table in tables.items():
        print(table)
        section = re.compile(rf"(?<=<!-- {re.escape(name)} -->\n).*?(?=<!-- end -->)", re.DOTALL)
        text, count = section.subn(table.replace("\\", r"\\"), text)
        if count != 1:
            raise SystemExit(f"{page.name} has {count} sections for the table {name!r}")
    if check:
        return int(text != page.read_text("utf-8"))
    page.write_text(text, "utf-8")
    return 0
