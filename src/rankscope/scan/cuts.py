"""Where a run file can be cut so that its pieces can be read independently: at changes of topic."""

from __future__ import annotations

from pathlib import Path

from rankscope.read.source import BLOCK

__all__ = ["topic_cuts"]


def topic_cuts(path: Path, size: int, pieces: int) -> list[int]:
    """Byte offsets of at most ``pieces - 1`` lines where another topic begins, near equal shares."""
    cuts: list[int] = []
    with path.open("rb", buffering=BLOCK) as file:
        for piece in range(1, pieces):
            wanted = size * piece // pieces
            if cuts and wanted <= cuts[-1]:
                continue
            file.seek(wanted)
            file.readline()  # the rest of a line that belongs to the piece before
            topic: bytes | None = None
            while line := file.readline():
                name = line.split(None, 1)[:1]
                if not name or name[0][:1] == b"#":
                    continue
                if topic is not None and name[0] != topic:
                    cuts.append(file.tell() - len(line))
                    break
                topic = name[0]
    return cuts
