"""One run of a packet script in a kernel of its own, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from rexmit.engines.boot import BootOptions, GuestDiedError
from rexmit.engines.command import SHARE_MIB, Command, execute
from rexmit.gate.scripts import Case

RECORDS: Final = 4096
"""Records of why TCP retransmitted that a kernel has room for."""

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
        out: list[bytes] = []
        err: list[bytes] = []
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
                on_stdout=out.append,
                on_stderr=err.append,
                hang_limit_s=self.hang_limit_s,
                end=end,
            )
        except GuestDiedError as error:
            verdict = Verdict.SPLAT if error.splat else Verdict.CANNOT_TELL
            text = "\n".join([str(error), *(() if error.splat else error.console_tail)])
            return Attempt(verdict, text, _text(out), splat=error.splat)
        return Attempt(
            Verdict.SPLAT if done.splat else _verdict(done.status),
            _text(err) or (f"exit status {done.status}" if done.status else ""),
            _text(out),
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


def _text(pieces: Sequence[bytes]) -> str:
    return b"".join(pieces).decode(errors="replace")
