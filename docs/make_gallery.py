"""Make the pictures of the gallery again, by running the commands that stand beneath them.

    python docs/make_gallery.py            writes docs/images
    python docs/make_gallery.py --check    only says which pictures would change (with this version of matplotlib)

The page is the program: its blocks of sh and Python are taken in order and run in an empty folder.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

from rankscope.cli.main import main as rankscope

DOCS = Path(__file__).parent
_BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PICTURE = re.compile(r"!\[[^\]]*\]\((images/[^)]+)\)")


def blocks(page: str) -> list[tuple[str, str]]:
    """Return the language and the text of every code block of a page."""
    return _BLOCK.findall(page)


def pictures(page: str) -> list[str]:
    """Return the pictures of a page."""
    return _PICTURE.findall(page)


def run(page: str) -> dict[str, bytes]:
    """Run the commands of a page in an empty folder, and return the files in images/ by name."""
    previous = Path.cwd()
    names: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            Path("images").mkdir()
            for language, text in blocks(page):
                with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
                    if language == "python":
                        exec(text, names)
                    else:
                        _run_shell(text)
            return {f"images/{path.name}": path.read_bytes() for path in sorted(Path("images").iterdir())}
        finally:
            os.chdir(previous)


def _run_shell(text: str) -> None:
    for line in text.splitlines():
        program, *arguments = shlex.split(line)
        if program != "rankscope" or rankscope(arguments) != 0:
            raise SystemExit(f"this did not work: {line}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if a picture would change"
    )
    args = parser.parse_args()
    changed = 0
    for name, content in run((DOCS / "gallery.md").read_text(encoding="utf-8")).items():
        target = DOCS / name
        if target.exists() and target.read_bytes() == content:
            continue
        changed += 1
        print(f"{'would change' if args.check else 'written'}: {name} ({len(content) / 1024:.0f} KB)")
        if not args.check:
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(content)
    return 1 if args.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
