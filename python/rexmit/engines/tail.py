"""Reading files that another process is still writing."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, Final

CHUNK: Final = 1 << 20


class Tail:
    """What was appended to a file since the last look. The file may not be there yet."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None

    def read(self) -> bytes:
        """New bytes, at most 1 MiB of them; empty when there is nothing new."""
        if self._file is None:
            try:
                self._file = self._path.open("rb", buffering=0)
            except FileNotFoundError:
                return b""
        return self._file.read(CHUNK) or b""

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


class LineTail:
    """Complete lines that were appended to a file since the last look."""

    def __init__(self, path: Path) -> None:
        self._tail = Tail(path)
        self._rest = b""

    def lines(self) -> list[bytes]:
        """New complete lines, without their ends; a line still being written waits."""
        found: list[bytes] = []
        while data := self._tail.read():
            *complete, self._rest = (self._rest + data).split(b"\n")
            found += complete
        return found

    def close(self) -> None:
        """Let go of the file."""
        self._tail.close()


def last_lines(path: Path, count: int, *, most_bytes: int = 1 << 16) -> list[str]:
    """The last non-empty lines of a file, as a terminal would show them (no carriage returns)."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - most_bytes))
            text = file.read().decode("utf-8", "replace")
    except FileNotFoundError:
        return []
    lines = [line.replace("\r", "").rstrip() for line in text.split("\n")]
    return [line for line in lines if line][-count:]
