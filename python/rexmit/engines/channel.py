"""What a guest writes, as open files, whatever it makes of their names.

The guest program lays file systems of its own over the shared folder, which nobody else sees, and
sends what is in them as open files over its standard input. Until then, and with a guest program
that sends nothing, they are those of the folder itself. Nothing is opened by a name that the guest
may have given to a link or a pipe.
"""

from __future__ import annotations

import array
import contextlib
import os
import socket
from pathlib import Path
from typing import Final, Self

from rexmit.store.opening import inner_folder, lasting_file

FOLDERS: Final = (".", "scratch", "captures")
STREAMS: Final = ("events.jsonl", "stdout", "stderr")

_LITTLE_BYTES: Final = 1 << 18
"""A file system with less room than this left is as good as full: a guest writes in pieces."""


class Channel:
    """The open files of one boot's shared folder."""

    def __init__(self, folder: Path) -> None:
        """`folder` must be there, a fresh one."""
        self._open: dict[str, int] = {}
        self._ours, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._ours.setblocking(False)
        self._received = False
        try:
            for name in FOLDERS:
                inner_folder(folder / name)
                flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
                self._open[name] = os.open(folder / name, flags)
            for name in STREAMS:
                self._open[name] = lasting_file(folder / name, 0o600)
        except BaseException:
            self.close()
            raise

    def __getitem__(self, name: str) -> int:
        """The descriptor of one of `FOLDERS` and `STREAMS`, the same from first to last."""
        return self._open[name]

    def path(self, name: str) -> Path:
        """A path that leads to one of them, for as long as this is open."""
        return Path(f"/proc/{os.getpid()}/fd/{self[name]}")

    def receive(self) -> None:
        """Take what the guest program has sent, if it has. Never waits."""
        if self._received:
            return
        descriptors = array.array("i")
        count = len(self._open)
        room = socket.CMSG_LEN(count * descriptors.itemsize)
        with contextlib.suppress(BlockingIOError, ConnectionError):
            # Not by recv_fds, which takes no notice of flags.
            _, control, _, _ = self._ours.recvmsg(16, room, socket.MSG_CMSG_CLOEXEC)
            for level, kind, data in control:
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                    descriptors.frombytes(
                        data[: len(data) // descriptors.itemsize * descriptors.itemsize]
                    )
        self._received = len(descriptors) == count
        for mine, theirs in zip(self._open.values(), descriptors, strict=False):
            if self._received:
                os.dup2(theirs, mine, inheritable=False)
            os.close(theirs)

    def full(self, name: str) -> str | None:
        """How large one of `FOLDERS` is if the guest has filled it, in words."""
        if not self._received:
            return None
        free = os.fstatvfs(self[name])
        if free.f_bavail * free.f_frsize >= _LITTLE_BYTES and free.f_favail > 0:
            return None
        return f"{free.f_blocks * free.f_frsize >> 20} MiB, {free.f_files:,} files"

    def close(self) -> None:
        """Let go of all of it. What only the guest program's file systems held is gone then."""
        for end in (self._ours, self.theirs):
            end.close()
        for descriptor in self._open.values():
            os.close(descriptor)
        self._open.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
