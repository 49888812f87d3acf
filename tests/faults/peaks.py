"""The largest memory of a command, which runs in its own process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# VmHWM and not ru_maxrss, which would include the memory of the parent before exec.
_PROGRAM = """
import sys
from pathlib import Path
from rankscope.cli.main import main
code = main(sys.argv[1:])
lines = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
sys.stderr.write(f"\\npeak {lines['VmHWM'].split()[0]}\\n")
sys.exit(code)
"""


def measure_peak(*words: str, stdin: bytes | None = None, cwd: Path) -> tuple[int, str, int]:
    """Return the exit code, standard error, and the largest memory of a command in kilobytes."""
    ended = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *words], input=stdin, capture_output=True, cwd=cwd, timeout=300
    )
    error = ended.stderr.decode()
    return ended.returncode, error, int(error.rsplit("peak ", 1)[1])
