"""What tcpdump says on standard error: how many packets the kernel, or an interface, dropped."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Final

from rexmit.errors import UserError, argument

_TOLD: Final = re.compile(
    rb"^(\d{1,18}) packets? dropped by (?:kernel|interface)\s*$", re.MULTILINE
)
_CAPTURED: Final = re.compile(
    rb"^(?:\d+ packets? captured|tcpdump: listening on .*)$", re.MULTILINE
)

_AT_ONCE: Final = 1 << 20

START_S: Final = 2.0
"""Seconds in which the file is made: a shell starts the programs of a pipe side by side."""


class TcpdumpLog:
    """A file into which tcpdump's standard error goes, read as it grows.

    tcpdump says its counts at its end, and whenever it gets SIGUSR1. They are since its start, so
    what it says later replaces what it said before; a tcpdump that was started anew counts anew.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = 0
        self._before = 0
        self._now = 0
        self._told: list[int] = []
        self._rest = b""
        until = time.monotonic() + START_S
        while not path.exists() and time.monotonic() < until:
            time.sleep(0.02)
        self._read()

    def drops(self) -> int:
        """All that was dropped, as far as it was said. Raises UserError where the file cannot be
        read; one that is being replaced, as by a rotation of logs, says nothing new.
        """
        if self._path.exists():
            self._read()
        return self._before + self._now

    def _read(self) -> None:
        try:
            with self._path.open("rb") as file:
                if file.seek(0, 2) < self._at:
                    # Begun anew, as by rotation of logs.
                    self._at, self._rest = 0, b""
                file.seek(self._at)
                while chunk := file.read(_AT_ONCE):
                    self._at += len(chunk)
                    *lines, self._rest = (self._rest + chunk).split(b"\n")
                    self._rest = self._rest[-4096:]
                    for line in lines:
                        self._line(line)
        except OSError as error:
            raise UserError(
                f"{argument('tcpdump_log')} {self._path}: {error.strerror or error}",
                "name the file of tcpdump's standard error: tcpdump ... 2> FILE",
            ) from error

    def _line(self, line: bytes) -> None:
        if _CAPTURED.match(line):
            # A report, or a program, begins.
            if line.startswith(b"tcpdump:"):
                self._before += self._now
                self._now = 0
            self._told = []
        elif match := _TOLD.match(line):
            self._told.append(int(match[1]))
            self._now = sum(self._told)
