"""What passes an interface, as a program captures it: Wireshark's dumpcap, or tcpdump."""

from __future__ import annotations

import contextlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import IO, Final

from rexmit.errors import UserError
from rexmit.interrupt import spared, undone_by
from rexmit.sources.capture import Live
from rexmit.tracing.inputs import FirstSignal, Read
from rexmit.tracing.options import Analysis
from rexmit.tracing.source import Batch, Core, Facts, Pace

_SNAPLEN: Final = "256"
"""Bytes kept of each packet: tunnels, IP and TCP with all options fit; no payload is looked at."""

_ANY: Final = "any"
"""All interfaces together, where the program can."""

_PATIENCE_S: Final = 3.0
"""How long the program has to end, once it was asked to."""


@dataclass
class Capturing:
    """A program at work, and what it says on standard error."""

    interface: str
    program: str
    process: subprocess.Popen[bytes]
    errors: IO[bytes]
    asked_at: float | None = None

    @property
    def source(self) -> Live:
        """What it captures."""
        assert self.process.stdout is not None  # noqa: S101 - it is a pipe
        return Live(self.interface, self.process.stdout)

    def ask_to_end(self) -> None:
        """Lets it write what it holds and end; where it does not, it is killed."""
        now = time.monotonic()
        if self.asked_at is None:
            self.asked_at = now
            self.process.send_signal(signal.SIGINT)
        elif now - self.asked_at > _PATIENCE_S:
            self.process.kill()

    def check(self, packets: int) -> None:
        """Once its output has ended: raises UserError where it failed before any packet came."""
        status = self.process.wait()
        if status and not packets and self.asked_at is None:
            raise UserError(*self._why())

    def _why(self) -> tuple[str, tuple[str, ...]]:
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").splitlines()
        text = " ".join(line.strip() for line in lines if line.strip())
        why = text[:600] or "it does not say why"
        what = f"{self.interface}: {self.program} cannot capture: {why}"
        refused = ("permission", "not permitted", "Operation not", "CAP_NET_RAW")
        if any(word in text for word in refused):
            path = shutil.which(self.program)
            return what, (
                "capture as root, or give the program the right once:",
                f"sudo setcap cap_net_raw,cap_net_admin+eip {path}",
            )
        return what, ()


class _Captured(Core):
    """The analysis of what a program captures."""

    def __init__(self, program: Capturing, analysis: Analysis, pace: Pace) -> None:
        # The kernel applies it.
        super().__init__([program.source], replace(analysis, capture_filter=None), pace=pace)
        self._program, self._filter = program, analysis.capture_filter or ""

    def next_batch(self, within_s: float | None) -> Batch | None:
        try:
            batch = super().next_batch(within_s)
        except Exception:
            # A program that captures nothing writes nothing, which is no capture.
            self._program.check(self.progress())
            raise
        if batch is None:
            self._program.check(self.progress())
        return batch

    def facts(self) -> Facts:
        return replace(super().facts(), capture_filter=self._filter)


@contextlib.contextmanager
def interface(name: str, analysis: Analysis, pace: Pace, looks_s: float) -> Iterator[Read[Core]]:
    """An interface until the first signal, at which the program that captures is asked to end.
    Raises UserError.
    """
    first = FirstSignal((signal.SIGINT, signal.SIGTERM))
    with capturing(name, analysis.capture_filter) as program, spared(first):
        yield Read(
            _Captured(program, analysis, pace),
            {"captures": [name], "files": []},
            ["watch", name],
            first,
            lambda _: program.ask_to_end(),
            looks_s,
        )


@contextlib.contextmanager
def capturing(interface: str, capture_filter: str | None) -> Iterator[Capturing]:
    """A program that captures on the interface; when this is left it has ended.

    Raises UserError where there is no such interface, or no program.
    """
    there = [name for _, name in socket.if_nameindex()]
    if interface not in (*there, _ANY):
        raise UserError(
            f"{interface}: there is no such interface",
            (
                f"one of {', '.join(sorted(there))}, or {_ANY} for all",
                "a pipe is - or a named one",
                "of files: rexmit trace FILE...",
            ),
            usage=True,
        )
    command = _command(interface, capture_filter)
    with tempfile.TemporaryFile() as errors:
        # In a group of its own: a Ctrl-C is ours, and we tell it.
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            bufsize=0,
            start_new_session=True,
        )
        with undone_by(process.kill):
            try:
                yield Capturing(interface, command[0], process, errors)
            finally:
                process.kill()
                process.wait()
                if process.stdout is not None:
                    process.stdout.close()


def _command(interface: str, capture_filter: str | None) -> list[str]:
    if shutil.which("dumpcap"):
        wanted = ["-f", capture_filter] if capture_filter else []
        return ["dumpcap", "-q", "-i", interface, "-s", _SNAPLEN, *wanted, "-w", "-"]
    if shutil.which("tcpdump"):
        wanted = [capture_filter] if capture_filter else []
        return ["tcpdump", "-U", "-n", "-i", interface, "-s", _SNAPLEN, "-w", "-", *wanted]
    raise UserError(
        "neither dumpcap nor tcpdump is here to capture",
        "apt-get install --no-install-recommends wireshark-common   (or tcpdump)",
    )
