"""Probe or Wait 2017: what it measured, under which names this package has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SOURCE: Final = (
    "K. Yedugundla, P. Hurtig, A. Brunstrom, Probe or Wait: Handling tail losses using Multipath "
    "TCP, 2017"
)

PAIRS: Final = ((20, 20), (20, 30), (20, 120), (30, 20), (120, 20))
"""One-way delays in ms, that of the path with the losses first (Table I)."""

ONE: Final = "path 1 burst 2 data -1"
TWO: Final = "path 1 burst 2 data -2..-1"
PROBE: Final = "path 1 burst 2 data -1#1..2"
LOSSES: Final[Mapping[str, str]] = {
    ONE: "the last packet lost",
    TWO: "the last two packets lost",
    PROBE: "the last packet and its probe or first retransmission lost",
}
"""The three cases, by the pattern that makes them."""

TCP_RTO, TCP_TLP = "tcp-rto", "tcp-tlp"
MPTCP_RTO, MPTCP_TLP, NEW = "mptcp-rto", "mptcp-tlp", "mptcp-new"

FIGURES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "2": ("Tail loss scenarios using TCP", (TCP_RTO, TCP_TLP)),
    "4": ("Tail loss scenarios using MPTCP", (MPTCP_RTO, MPTCP_TLP)),
    "6": ("MPTCP-New beside MPTCP and TCP", (TCP_TLP, MPTCP_TLP, NEW)),
}
"""Title and configurations of the figures of completion times; a panel for each case."""
