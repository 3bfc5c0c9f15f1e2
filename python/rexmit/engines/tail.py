"""Reading files that another process is still writing, and freeing what was read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

CHUNK: Final = 1 << 20
LONGEST_LINE: Final = 64 << 20
"""Bytes. Lines of events are shorter by far."""

_BLOCK: Final = 1 << 16
_FALLOC_FL_KEEP_SIZE: Final = 1
_FALLOC_FL_PUNCH_HOLE: Final = 2


class LineTooLongError(Exception):
    """A line has no end within `LONGEST_LINE`."""


class Tail:
    """What was appended to an open file since the last look, whatever its owner seeks to.

    What has been read is taken for dealt with at the next look, and no longer takes room.
    """

    def __init__(self, descriptor: int) -> None:
        """The descriptor remains the caller's. It must be open for writing, too."""
        self._file = descriptor
        self._read = 0
        self._freed = 0

    def read(self) -> bytes:
        """New bytes, at most 1 MiB of them; empty when there is nothing new."""
        if self._read - self._freed >= CHUNK:
            end = self._read // _BLOCK * _BLOCK
            _free(self._file, self._freed, end - self._freed)
            self._freed = end
        data = os.pread(self._file, CHUNK, self._read)
        self._read += len(data)
        return data

    def pieces(self) -> Iterator[bytes]:
        """What `read` gives, one after the other; ends with what there is now, however fast more
        is written.
        """
        end = os.fstat(self._file).st_size
        while self._read < end and (data := self.read()):
            yield data


def _free(descriptor: int, begin: int, length: int) -> None:
    """Make a hole in a file. A file system that has no holes keeps what it has."""
    import ctypes

    libc = ctypes.CDLL(None)
    offset = ctypes.c_int64
    mode = _FALLOC_FL_PUNCH_HOLE | _FALLOC_FL_KEEP_SIZE
    libc.fallocate(descriptor, mode, offset(begin), offset(length))


class LineTail:
    """Complete lines that were appended to an open file since the last look."""

    def __init__(self, descriptor: int) -> None:
        """The descriptor remains the caller's."""
        self._file = descriptor
        self._tail = Tail(descriptor)
        self._rest = b""

    def lines(self) -> list[bytes]:
        """New complete lines, without their ends; a line still being written waits.

        Ends with what there is now, however fast more is written. Raises LineTooLongError.
        """
        chunks: list[bytes] = []
        left = os.fstat(self._file).st_size
        pieces = [self._rest]
        while left > 0 and (data := self._tail.read()):
            left -= len(data)
            first, *others = data.split(b"\n")
            pieces.append(first)
            if others:
                *complete, last = others
                chunks += [b"".join(pieces), *complete]
                pieces = [last]
            elif sum(map(len, pieces)) > LONGEST_LINE:
                raise LineTooLongError
        self._rest = b"".join(pieces)
        return chunks


def last_lines(descriptor: int, count: int, *, most_bytes: int = 1 << 16) -> list[str]:
    """The last non-empty lines of an open file, as a terminal would show them (no carriage
    returns)."""
    size = os.fstat(descriptor).st_size
    text = os.pread(descriptor, most_bytes, max(0, size - most_bytes)).decode("utf-8", "replace")
    lines = [line.replace("\r", "").rstrip() for line in text.split("\n")]
    return [line for line in lines if line][-count:]
