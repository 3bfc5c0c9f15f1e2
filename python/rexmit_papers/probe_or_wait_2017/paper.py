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

BARS_SOURCE: Final = "github.com/vkirany/mptcp-retrans, plots/plot_tlp_c.py, plot_tlp_new.py"
"""The authors' own repository of the paper: the scripts that draw Figures 2, 4 and 6, found in a
public index of GitHub. The paper itself prints no numbers."""

_IN_THEIR_ORDER: Final = ((20, 20), (20, 30), (30, 20), (20, 120), (120, 20))


def _bars(*times_ms: int) -> Mapping[tuple[int, int], int]:
    return dict(zip(_IN_THEIR_ORDER, times_ms, strict=True))


BARS_MS: Final[Mapping[tuple[str, str], Mapping[tuple[int, int], int]]] = {
    (TCP_RTO, ONE): _bars(474, 474, 540, 474, 1613),
    (TCP_RTO, TWO): _bars(469, 469, 645, 469, 1631),
    (TCP_RTO, PROBE): _bars(973, 973, 1070, 973, 2594),
    (TCP_TLP, ONE): _bars(474, 474, 540, 474, 1612),
    (TCP_TLP, TWO): _bars(326, 326, 533, 326, 1645),
    (TCP_TLP, PROBE): _bars(722, 722, 808, 722, 2103),
    (MPTCP_RTO, ONE): _bars(385, 432, 453, 394, 878),
    (MPTCP_RTO, TWO): _bars(385, 397, 407, 435, 877),
    (MPTCP_RTO, PROBE): _bars(384, 443, 453, 495, 878),
    (MPTCP_TLP, ONE): _bars(386, 432, 463, 394, 928),
    (MPTCP_TLP, TWO): _bars(277, 280, 356, 288, 1148),
    (MPTCP_TLP, PROBE): _bars(627, 680, 667, 639, 1442),
    (NEW, ONE): _bars(385, 432, 451, 394, 827),
    (NEW, TWO): _bars(231, 243, 272, 288, 752),
    (NEW, PROBE): _bars(385, 443, 451, 499, 827),
}
"""Completion of the second burst, ms, by configuration, loss and one-way delays. For MPTCP with the
probe the script of Figure 6 is taken, which is the later; that of Figure 4 differs by 1 ms."""

DIAGRAMS: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    (MPTCP_RTO, ONE): ("1 x", "2 x"),
    (MPTCP_TLP, ONE): ("1 x",),
    (MPTCP_RTO, TWO): ("1 x", "1 y", "2 x", "2 y"),
    (MPTCP_TLP, TWO): ("1 x", "1 y"),
    (MPTCP_RTO, PROBE): ("1 x", "1 x lost", "2 x"),
    (MPTCP_TLP, PROBE): ("1 x", "1 x lost", "2 x"),
    (NEW, ONE): ("1 x", "2 x"),
    (NEW, TWO): ("1 x", "1 y", "2 x", "2 y"),
    (NEW, PROBE): ("1 x", "1 x lost", "2 x"),
}
"""What goes again in the timing diagrams, Figure 3 (RTO and TLP) and Figure 5 (New): the path, and
which of the lost packets, x the first; probes among them. As the figures of the authors' own
repository draw them (images/timing1P.eps, timing2P.eps, timing1PP.eps, timingER3NewTLP1.eps)."""
