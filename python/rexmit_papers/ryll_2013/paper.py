"""The results printed in Ryll 2013, to be set beside ours.

Source of every number: A. Ryll, "Measuring TCP Tail Loss Probe Performance", Seminar Future
Internet, winter 2013, TU München; Linux 3.10.6 under mininet. Table 4 (times), Table 3 (networks),
Table 1 (what repairs the rest).
"""

from __future__ import annotations

from dataclasses import dataclass

SOURCE = "A. Ryll, Measuring TCP Tail Loss Probe Performance, TU Munich 2013 (Linux 3.10.6)"

#: Table 4 is printed for this many lost segments of this many.
TABLE_4_LOSSES = 5
SEGMENTS = 100

#: The configuration that Table 4 takes as 100 % (section 4: the kernel's default of then).
BASELINE = "er"


@dataclass(frozen=True)
class Cell:
    """One column of one block of Table 4: means over 100 transfers (satellite: 20)."""

    t_total_s: float
    t_recover_s: float


@dataclass(frozen=True)
class Network:
    """A row of Table 3. `rtt_ms` is the round trip over both links."""

    rate_bps: int
    rtt_ms: float
    letter: str  #: its letter in Figure 5

    @property
    def title(self) -> str:
        """As Table 4 heads the block."""
        return f"{self.rate_bps / 1e6:g} Mbit/s, {self.rtt_ms:g} ms RTT"


NETWORKS: dict[str, Network] = {
    "high-speed": Network(100_000_000, 10, "a"),
    "mobile": Network(7_200_000, 100, "b"),
    "satellite": Network(1_000_000, 800, "c"),
}

#: (network, configuration) to times, five of a hundred segments lost.
TABLE_4: dict[tuple[str, str], Cell] = {
    ("high-speed", "plain"): Cell(0.3595, 0.2396),
    ("high-speed", "er"): Cell(0.3574, 0.2365),
    ("high-speed", "tlp"): Cell(0.2214, 0.0447),
    ("mobile", "plain"): Cell(1.2091, 0.4392),
    ("mobile", "er"): Cell(1.2300, 0.4073),
    ("mobile", "tlp"): Cell(1.0944, 0.3310),
    ("satellite", "plain"): Cell(8.2145, 2.4792),
    ("satellite", "er"): Cell(8.2248, 2.4720),
    ("satellite", "tlp"): Cell(8.1948, 2.4331),
}


@dataclass(frozen=True)
class Repair:
    """A row of Table 1: what the paper expects to repair a tail loss once the probe is out."""

    lost_segments: int  #: the last row stands for this many and more
    losses: str  #: the tail before the probe: A acknowledged, L lost
    after_probe: str  #: the tail after it: S selectively acknowledged
    name: str  #: the mechanism as the paper calls it
    mechanism: (
        str | None
    )  #: in our vocabulary, the one that retransmits next; None: the probe itself was all


TABLE_1: tuple[Repair, ...] = (
    Repair(1, "AAAL", "AAAA", "TLP loss detection", None),
    Repair(2, "AALL", "AALS", "ER", "early-retransmit"),
    Repair(3, "ALLL", "ALLS", "ER", "early-retransmit"),
    Repair(4, "LLLL", "LLLS", "FACK", "fack"),
    Repair(5, ">=5 L", "..LS", "FACK", "fack"),
)


def repair_of(lost_segments: int) -> Repair:
    """The row of Table 1 for a number of lost segments, 1 or more."""
    return TABLE_1[min(lost_segments, len(TABLE_1)) - 1]
