"""Archives as the kernel unpacks them when it starts (cpio, `newc`)."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

Entry = tuple[int, bytes]
"""Mode, with the kind of file, and content."""

_END: Final = "TRAILER!!!"


def file(content: bytes, *, executable: bool = False) -> Entry:
    """A file."""
    return stat.S_IFREG | (0o755 if executable else 0o644), content


def link(target: str) -> Entry:
    """A symbolic link."""
    return stat.S_IFLNK | 0o777, target.encode()


FOLDER: Final[Entry] = (stat.S_IFDIR | 0o755, b"")


def archive(entries: Mapping[str, Entry]) -> bytes:
    """The archive of these, by absolute path, with the folders that they need: the same bytes for
    the same entries."""
    every: dict[str, Entry] = {}
    for path in sorted(entries):
        for folder in reversed(PurePosixPath(path).parents):
            if str(folder) != "/":
                every.setdefault(str(folder), FOLDER)
        if path != "/":
            every[path] = entries[path]
    parts = [
        _entry(number, path.lstrip("/"), *entry)
        for number, (path, entry) in enumerate(every.items(), 1)
    ]
    return b"".join([*parts, _entry(0, _END, 0, b"")])


def _entry(number: int, name: str, mode: int, content: bytes) -> bytes:
    encoded = name.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(encoded), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
    return _padded(head) + _padded(content)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)
