"""Every command with enough to do, so that it can be interrupted; run as a script, how long each takes to end.

python tests/faults/at_work.py                all commands: seconds between Ctrl-C and the end of the process
python tests/faults/at_work.py compare power  some of them
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

INSTANT = {"cite", "completion", "help"}
"""Commands that end too soon to be interrupted."""

WORK = {
    "eval": "eval qrels.txt many",
    "eval, describe": "eval qrels.txt many --describe",
    "trec_eval": "trec_eval qrels.txt -",
    "ndeval": "ndeval qrels.txt -",
    "compare": "compare qrels.txt runs --test bootstrap --replicates 300000 -o out.json",
    "compare, pairs": "compare --scores AP=scores.csv -o out.json",
    "compare, Tukey": "compare --scores AP=scores.csv --test tukey -o out.json",
    "compare, randomisation": "compare --scores AP=scores.csv --test randomisation -o out.json",
    "bench": "bench scores.csv --replicates 3000000",
    "correct": "correct qrels.txt many --human qrels.txt --pi 1 -m P@10",
    "gate": "gate qrels.txt many --baseline runs/r0.txt",
    "overlap": "overlap many",
    "verdict": "verdict qrels.txt many",
    "curve": "curve qrels.txt - --topic 1",
    "effort": "effort qrels.txt many",
    "eval, coverage": "eval qrels.txt many --coverage",
    "report": "report qrels.txt many -o out.html",
    "bounds": "bounds qrels.txt many",
    "certain": "certain qrels.txt many",
    "next": "next qrels.txt many --budget 10",
    "findings": "findings qrels.txt many",
    "pools": "pools qrels.txt runs --repeats 100000 -o out.json",
    "leave-out": "leave-out qrels.txt many --pool-depth 10",
    "certain, across": "certain qrels.txt many --across measures",
    "judges": "judges a=qrels.txt b=qrels.txt --runs many",
    "orderings": "orderings qrels.txt many",
    "measures": "measures --certificates -o out.json",
    "correlate": "correlate qrels.txt many",
    "power": "power qrels.txt runs --replicates 300000 -o out.json",
    "properties": "properties --depth 12 -m AP,RR,nDCG@5 -o out.json",
    "scales": "scales --length 16 -o out.json",
    "identify": "identify sluggish.py:mean --call grades",
    "effort, enumerate": "effort --enumerate --relevant 7 --length 15",
    "study": "study qrels.txt runs --repeats 100000 -o out",
    "demo": "demo out",
    "simulate": "simulate out --systems 300 --topics 3000",
    "explore": "explore qrels.txt many --no-browser",
}
"""Commands that work for several seconds in the directory of :func:`make`. ``-`` is a pipe that does not end."""


def make(collection_dir: Path) -> Path:
    """Write four runs of 300,000 lines, 600 links to them, and scores of 2,000 systems."""
    (collection_dir / "runs").mkdir()
    (collection_dir / "many").mkdir()
    judgments = [f"{t} 0 d{i} {i // 9 % 3}\n" for t in range(300) for i in range(0, 900, 9)]
    (collection_dir / "qrels.txt").write_text("".join(judgments))
    for r in range(4):
        lines = [
            f"{t} Q0 d{(i * (2 * r + 1)) % 1009} {i} {-i} r{r}\n" for t in range(300) for i in range(1000)
        ]
        (collection_dir / "runs" / f"r{r}.txt").write_text("".join(lines))
    for name in range(600):
        (collection_dir / "many" / f"m{name}.txt").symlink_to(f"../runs/r{name % 4}.txt")
    values = [[(t * 7919 + r * 104729) % 1000 / 1000 for r in range(2000)] for t in range(30)]
    rows = ["topic," + ",".join(f"s{r}" for r in range(2000))]
    rows += [f"{t}," + ",".join(map(str, row)) for t, row in enumerate(values)]
    (collection_dir / "scores.csv").write_text("\n".join(rows) + "\n")
    (collection_dir / "sluggish.py").write_text(
        "import time\n\n\ndef mean(grades):\n    time.sleep(0.01)\n    return sum(grades) / max(1, len(grades))\n"
    )
    return collection_dir


def started(
    words: list[str], collection_dir: Path, work: float = 0.6, **environment: str
) -> subprocess.Popen[bytes]:
    """Start a command and wait until it has worked for a time; its standard input is a pipe that does not end."""
    command = subprocess.Popen(
        [sys.executable, "-m", "rankscope", *words],
        cwd=collection_dir,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, **environment},
    )
    try:
        wait_until_busy(command, 0.2 if words[0] == "demo" else work)
    except BaseException:
        end(command)
        raise
    return command


def end(command: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Kill a command if it still runs, close its pipes, and return what it wrote to both outputs.

    A pipe that is left to the garbage collector is a ResourceWarning in whichever test runs then.
    """
    if command.poll() is None:
        command.kill()
    return command.communicate()


def wait_until_busy(command: subprocess.Popen[bytes], work: float) -> None:
    """Until the handler of Ctrl-C is in place, which happens before any work is done, and some of it is done.

    So many seconds of the processor, because others may have it; what sleeps for half a second waits for its input.
    """
    for _ in range(6000):
        status = Path(f"/proc/{command.pid}/status").read_text().splitlines()
        caught = next((line for line in status if "SigCgt" in line), "")
        if caught and int(caught.split()[1], 16) >> (signal.SIGINT - 1) & 1:
            break
        time.sleep(0.02)
    begun = last = _worked(command.pid)
    until = time.monotonic() + 300.0
    since = time.monotonic()
    while command.poll() is None and last < begun + work and time.monotonic() < min(until, since + 0.5):
        time.sleep(0.02)
        worked = _worked(command.pid)
        if worked > last or not _sleeps(command.pid):
            last, since = worked, time.monotonic()
    if command.poll() is not None:
        error = end(command)[1].decode(errors="replace")
        raise AssertionError(f"it ended with {command.returncode} before it was interrupted: {error}")


def _worked(process: int) -> float:
    """Return the CPU seconds of a process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _sleeps(process: int) -> bool:
    """Return whether a process waits for something else than a processor."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "SD"


def interrupted(
    command: subprocess.Popen[bytes], times: int = 1, group: bool = False
) -> tuple[float, bytes, str]:
    """Send Ctrl-C; return the seconds until the end, and both outputs."""
    start = time.monotonic()
    for _ in range(times):
        os.killpg(command.pid, signal.SIGINT) if group else command.send_signal(signal.SIGINT)
        if times > 1:
            time.sleep(0.02)
    try:
        command.wait(timeout=300)
        seconds = time.monotonic() - start
    finally:
        out, error = end(command)
    return seconds, out, error.decode()


def main() -> None:
    """Measure the named commands, or all."""
    names = sys.argv[1:] or list(WORK)
    with tempfile.TemporaryDirectory() as scratch:
        folder = make(Path(scratch))
        for name in names:
            try:
                seconds, _, _ = interrupted(started(WORK[name].split(), folder))
                print(f"{seconds:6.2f} s  {name}", flush=True)
            except AssertionError as early:
                print(f"     - s  {name}: {early}", flush=True)


if __name__ == "__main__":
    main()
