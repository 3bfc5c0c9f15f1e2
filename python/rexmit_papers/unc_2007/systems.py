"""The systems of UNC 2007, which system explains a sender, and what counts as RTO and FR/R."""

from __future__ import annotations

from typing import Final

from rexmit.tracing import terms
from rexmit.tracing.systems import system

SYSTEMS: Final = ("Windows", "Linux", "Solaris", "FreeBSD", "RFC")
"""In the paper's order; its FreeBSD has Mac OS X in it (the same TCP), RFC is ours."""

RULES: Final = "RFC"
"""The system of a stack that does what RFCs say, and nothing of its own."""

RTO: Final = ("rto", "rto-recovery", "tlp")
"""What counts as RTO in the tables: made by a timer, or in the go-back-N after one. The probe's
timer is younger than the paper, which had only one."""

FR: Final = terms.BY_ACKS
"""What counts as FR/R: brought on by acknowledgements."""

COUNTED: Final = (
    f"RTO: {', '.join(RTO)} (what a timer made, and what followed a timeout); "
    f"FR/R: {', '.join(FR)}; neither: mptcp-reinject, unknown"
)


def system_of(stack: str | None, stacks: str | None) -> str | None:
    """The one system that explains a sender; None for none and for several. Several stacks of one
    system (Linux 3 and 6) are that system. The RFCs are no system: they count where nothing else
    explains the sender.
    """
    words = [stack] if stack not in (None, "several", "none") else (stacks or "").split(",")
    systems = {system(word) for word in words if word and word.strip()}
    real = systems - {RULES} or systems
    return real.pop() if len(real) == 1 else None
