"""One run of a test in a kernel of its own, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol

from rexmit.engines.boot import BootOptions, GuestDiedError, NoLongerWantedError
from rexmit.engines.command import SHARE_MIB, Command, Done, execute

RECORDS: Final = 4096
"""Records of why TCP retransmitted that a kernel has room for."""

MOST_BYTES: Final = 16 << 20
"""A test, and the programs that it runs, may say so much on an output."""

_PACKET: Final = re.compile(r"^(?:outbound sniffed|inbound injected) packet: ")


class Verdict(StrEnum):
    """What a test says of a kernel."""

    GOOD = "good"
    WORSE = "worse"
    SPLAT = "splat"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A run of a test."""

    verdict: Verdict
    text: str
    """What the test said of a fault, or how the kernel ended."""
    log: str = ""
    """What packetdrill told of packets, system calls and states."""
    causes: str = ""
    """The kernel's record of why it retransmitted."""
    splat: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    """Lines of KTAP, where the test itself consists of several."""
    virtual_s: float = 0.0
    cpu_s: float = 0.0

    @property
    def packets(self) -> tuple[str, ...]:
        """The packets, with times by the script's clock."""
        return tuple(line for line in self.log.splitlines() if _PACKET.match(line))


class Named(Protocol):
    """One of a group."""

    @property
    def group(self) -> str:
        """What it belongs to; of a script with several families of addresses the script."""

    @property
    def part(self) -> str:
        """Which one of its group it is."""

    @property
    def name(self) -> str:
        """Both, for a line."""


class Test(Named, Protocol):
    """What can be run on a kernel and judges it."""

    @property
    def script(self) -> Path:
        """Absolute."""

    def command(self) -> Command:
        """Runs it."""

    def judge(self, done: Done, out: str, err: str) -> Attempt:
        """What is to be said of a run that ended, and what it wrote."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What all tests run on."""

    kernel: Path
    seed: int
    memory: str
    hang_limit_s: float | None

    def attempt(self, test: Test, core: int, end: Callable[[], bool]) -> Attempt:
        """Boots a kernel, and runs a test there.

        What another test did cannot be seen: the kernel has done nothing else.
        """
        out, err = _Output(), _Output()
        options = BootOptions(self.kernel, core, self.seed, self.memory, share_mib=SHARE_MIB)
        try:
            done = execute(
                replace(test.command(), causes=RECORDS),
                options,
                on_stdout=out.add,
                on_stderr=err.add,
                hang_limit_s=self.hang_limit_s,
                end=lambda: end() or out.is_full or err.is_full,
            )
        except NoLongerWantedError:
            if end():
                raise
            return Attempt(Verdict.CANNOT_TELL, f"it said more than {MOST_BYTES >> 20} MiB")
        except GuestDiedError as error:
            verdict = Verdict.SPLAT if error.splat else Verdict.CANNOT_TELL
            text = "\n".join([str(error), *(() if error.splat else error.console_tail)])
            return Attempt(verdict, text, out.text(), splat=error.splat)
        attempt = test.judge(done, out.text(), err.text())
        return replace(
            attempt,
            verdict=Verdict.SPLAT if done.splat else attempt.verdict,
            splat=done.splat,
            virtual_s=done.virtual_s,
            cpu_s=done.cpu_s,
        )


class _Output:
    """What a test said on one of its outputs."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._left = MOST_BYTES

    def add(self, piece: bytes) -> None:
        """It said more."""
        self._pieces.append(piece[: max(self._left, 0)])
        self._left -= len(piece)

    @property
    def is_full(self) -> bool:
        """It said more than is kept."""
        return self._left < 0

    def text(self) -> str:
        """All that is kept."""
        return b"".join(self._pieces).decode(errors="replace")
