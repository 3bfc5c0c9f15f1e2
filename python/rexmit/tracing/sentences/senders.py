"""What is known of a sender, in words: from its SYN, and from its retransmissions."""

from __future__ import annotations

from typing import Final

from rexmit.tracing.systems import system
from rexmit.tracing.words import listed

_SYN: Final = {
    "linux-2.4": "Linux 2.4",
    "linux-2.6": "Linux 2.6.17 to 2.6.37",
    "linux-3": "Linux 2.6.38 to 3.10",
    "linux-4": "Linux 3.11 to 4.19",
    "linux-6": "Linux 4.20 or later",
    "linux": "Linux",
    "windows-xp": "Windows 2000 or XP",
    "windows-7": "Windows Vista, 7 or 8",
    "windows-10": "Windows 10 or later",
    "windows": "Windows",
    "freebsd-5": "FreeBSD 5",
    "freebsd": "FreeBSD 7 or later",
    "mac-os-x": "macOS",
    "bsd": "FreeBSD or macOS",
    "solaris-10": "Solaris 10",
}
"""The versions whose SYN has such a form: `crates/trace/src/fingerprint/systems.rs`."""

_STACK: Final = {
    "linux-6": "RACK (Linux 4.18 or later)",
    "linux-3.10": "FACK with early retransmit (Linux 3.10)",
    "linux-4.1": "FACK with tail loss probes (Linux 4.1)",
    "linux-2.4": "FACK (Linux 2.4)",
    "windows-xp": "Windows XP",
    "windows-11": "RACK as in Windows 10 or 11",
    "freebsd-5": "NewReno (FreeBSD 5)",
    "freebsd-14": "FreeBSD 14's base stack",
    "freebsd-14-rack": "FreeBSD 14's RACK stack",
    "macos-15": "RACK as in macOS 15",
    "solaris-10": "Solaris 10",
    "rfc": "the RFCs' rules (5681, 6298, 6675)",
}
"""What a stack of the model is recognised by: `rexmit stacks` lists them."""

_MANY: Final = 3
"""More systems than this are not named one by one."""


def by_syn(syn_system: str | None, *, syn_seen: bool) -> str:
    """The system that the SYN (or SYN-ACK) names."""
    if syn_system is not None:
        return f"{_SYN.get(syn_system, syn_system)}, by its SYN"
    return "system not known by its SYN" if syn_seen else "SYN not seen"


def by_retransmissions(stack: str | None, stacks: str | None) -> str:
    """The stacks that would have retransmitted so."""
    if stack is not None and stack not in ("several", "none"):
        return f"its retransmissions fit {_STACK.get(stack, stack)}"
    if stack != "several":
        return "its retransmissions fit no stack known to rexmit"
    systems = sorted({system(word) for word in (stacks or "").split(",") if word} - {"RFC"})
    if not 0 < len(systems) <= _MANY:
        return "its retransmissions do not tell which stack"
    return f"its retransmissions fit {listed(systems, 'or')}"


def in_words(
    stack: str | None, stacks: str | None, syn_system: str | None, *, syn_seen: bool
) -> str:
    """Both in one line."""
    return f"{by_syn(syn_system, syn_seen=syn_seen)}; {by_retransmissions(stack, stacks)}"
