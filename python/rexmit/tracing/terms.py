"""Which mechanisms count as what, in one place."""

from __future__ import annotations

from typing import Final

BY_ACKS: Final = ("fast-retransmit", "sack-recovery", "fack", "early-retransmit", "rack")
"""What acknowledgements bring on."""

EITHER: Final = " or "
"""Between the two mechanisms of a verdict, where the packets cannot tell which."""

WORDS: Final = {
    "rto": "retransmission timeout",
    "rto-recovery": "what followed a timeout",
    "fast-retransmit": "duplicate ACKs",
    "sack-recovery": "holes between SACK blocks",
    "fack": "forward ACK, from the highest SACK",
    "early-retransmit": "early retransmit: fewer duplicate ACKs",
    "rack": "RACK: later packets were ACKed first",
    "tlp": "tail loss probe",
    "mptcp-reinject": "sent again on another subflow",
    "unknown": "cause not known",
}
"""The mechanisms for people who do not work on TCP stacks."""

PROMPTED: Final = {
    "path-mtu": "too large for the path, as ICMP said",
    "fast-open": "data of the SYN, which Fast Open did not carry",
    "fin-again": "FIN repeated on an ACK of the peer's packet",
}
"""What is sent again though no loss was found, by its `basis`: its mechanism is unknown."""

COLOURS: Final = {
    "rto": "#D55E00",
    "rto-recovery": "#E69F00",
    "tlp": "#CC79A7",
    "rack": "#0072B2",
    "fast-retransmit": "#56B4E9",
    "sack-recovery": "#009E73",
    "fack": "#8C564B",
    "early-retransmit": "#7A5AC8",
    "mptcp-reinject": "#000000",
    "unknown": "#777777",
}
"""The palette of Okabe and Ito (2008), and three colours more; timers are dark, what
acknowledgements brought on is light."""

ON_DARK: Final = COLOURS | {
    "rack": "#4BA3E3",
    "sack-recovery": "#2FC79A",
    "fack": "#C99587",
    "early-retransmit": "#AE98F0",
    "mptcp-reinject": "#FFFFFF",
    "unknown": "#AAB0B8",
}
"""The same on a dark ground, where some would not be seen."""

OWNERS: Final = {
    "connecting": "connecting",
    "client": "the client's program",
    "between-requests": "between requests",
    "messages": "messages at their own pace",
    "server": "the server's program",
    "tls-set-up": "TLS handshake",
    "unanswered": "last request unanswered",
    "round-trip": "round trips",
    "receiver-window": "the receiver's window",
    "nagle": "small packets held back (Nagle)",
    "sender": "the sender: program, buffer or pacing",
    "late-or-lost": "its program, or a loss before here",
    "slow-start": "slow start",
    "small-window": "congestion window, small after loss or reordering",
    "path-rate": "the path's rate",
    "policer": "a policer",
    "recovery-timer": "timeouts",
    "recovery-probe": "tail loss probes",
    "recovery-fast": "fast retransmit, RACK",
    "path-mtu": "the path's MTU",
    "peer-gone": "peer gone",
    "closing": "closing",
    "unknown": "not known",
}
"""Whose time it was, as a noun: the words of the table `account`."""
