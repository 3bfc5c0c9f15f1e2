"""What packetdrill's end says of a kernel."""

from __future__ import annotations

from pathlib import Path

from rexmit.gate.attempts import Verdict
from rexmit.gate.scripts import judged

DIFFERS = "a.pkt:3: error handling packet: timing error\n"


def test_a_program_that_is_not_installed_is_no_fault_of_the_kernel() -> None:
    script = Path("a.pkt")
    assert judged(1, "", DIFFERS, script) is Verdict.WORSE
    for shell in ("sh: 2: ethtool: not found", "/bin/sh: line 1: ethtool: command not found"):
        assert judged(1, "", f"{shell}\n{DIFFERS}", script) is Verdict.CANNOT_TELL
    assert judged(1, "", f"{DIFFERS}route: not found\n", script) is Verdict.WORSE
