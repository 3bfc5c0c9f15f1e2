"""One run of a packet script in a kernel of its own, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from rexmit.engines.boot import BootOptions, GuestDiedError, NoLongerWantedError
from rexmit.engines.command import SHARE_MIB, Command, execute
from rexmit.gate.scripts import Case

RECORDS: Final = 4096
"""Records of why TCP retransmitted that a kernel has room for."""

MOST_BYTES: Final = 16 << 20
"""A script, and the programs that it runs, may say so much on an output."""

_FAILED: Final = 1
"""packetdrill's exit status where a kernel does something else than its script says."""

_PACKET: Final = re.compile(r"^(?:outbound sniffed|inbound injected) packet: ")


class Verdict(StrEnum):
    """What a script says of a kernel."""

    GOOD = "good"
    WORSE = "worse"
    SPLAT = "splat"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A run of a script."""

    verdict: Verdict
    text: str
    """What packetdrill said on standard error, or how the kernel ended."""
    log: str = ""
    """What it told of packets, system calls and states."""
    causes: str = ""
    """The kernel's record of why it retransmitted."""
    splat: tuple[str, ...] = ()
    virtual_s: float = 0.0
    cpu_s: float = 0.0

    @property
    def packets(self) -> tuple[str, ...]:
        """The packets, with times by the script's clock."""
        return tuple(line for line in self.log.splitlines() if _PACKET.match(line))


@dataclass(frozen=True, slots=True)
class Bench:
    """What all scripts run with."""

    tool: Path
    arguments: Sequence[str]
    kernel: Path
    seed: int
    memory: str
    hang_limit_s: float | None

    def attempt(self, case: Case, core: int, end: Callable[[], bool]) -> Attempt:
        """Boots a kernel, and runs a script in a network namespace of its own there.

        What another script did cannot be seen: the kernel has done nothing else.
        """
        out, err = _Output(), _Output()
        command = Command(
            case.command(self.tool, self.arguments),
            folder=case.script.parent,
            alone=True,
            causes=RECORDS,
        )
        options = BootOptions(self.kernel, core, self.seed, self.memory, share_mib=SHARE_MIB)
        try:
            done = execute(
                command,
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
        return Attempt(
            Verdict.SPLAT if done.splat else _verdict(done.status),
            err.text() or (f"exit status {done.status}" if done.status else ""),
            out.text(),
            done.causes,
            done.splat,
            done.virtual_s,
            done.cpu_s,
        )


def _verdict(status: int) -> Verdict:
    if status == 0:
        return Verdict.GOOD
    # Others are of the shell (not found) or of a signal: packetdrill did not judge.
    return Verdict.WORSE if status == _FAILED else Verdict.CANNOT_TELL


class _Output:
    """What a script said on one of its outputs."""

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
