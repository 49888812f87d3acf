"""Disks that fail, or kill the process, at a given step."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from rankscope.files import Disk


class Dead(BaseException):
    """Death of the process: no handler runs."""


class Faulty(Disk):
    """Counts the steps, and at one of them ends: nothing reaches the disk after it."""

    def __init__(self, last: int | None = None, exchanges: bool = True) -> None:
        self.steps, self.last, self.exchanges = 0, last, exchanges
        self.log: list[str] = []

    def _step(self, operation: str, path: Path) -> None:
        self.steps += 1
        self.log.append(f"{operation} {path.name}")
        if self.last is not None and self.steps > self.last:
            self.end()

    def end(self) -> None:
        raise Dead

    def make_directory(self, path: Path) -> None:
        self._step("make", path)
        super().make_directory(path)

    def write(self, path: Path, data: bytes) -> None:
        self._step("begin", path)
        super().write(path, data[: len(data) // 2])
        self._step("write", path)
        super().write(path, data)

    def append(self, path: Path, data: bytes) -> None:
        self._step("append", path)
        super().append(path, data)

    def rename(self, path: Path, target: Path) -> None:
        self._step("rename", path)
        super().rename(path, target)

    def exchange(self, path: Path, other: Path) -> bool:
        self._step("exchange", path)
        return self.exchanges and super().exchange(path, other)

    def remove(self, path: Path) -> None:
        self._step("remove", path)
        super().remove(path)

    def remove_directory(self, path: Path) -> None:
        self._step("remove directory", path)
        super().remove_directory(path)


class Full(Faulty):
    """From one step on there is no room; removing still works."""

    def end(self) -> None:
        if not self.log[-1].startswith("remove"):
            raise OSError(28, "No space left on device")


class Killing(Faulty):
    """Ends the process as the system does when it runs out of memory."""

    def end(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)
