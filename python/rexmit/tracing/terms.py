"""Which mechanisms count as what, in one place, and the columns of connections that count them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import polars as pl

from rexmit.store.trace_schema import MECHANISMS, SIDES

RTO: Final = ("rto", "rto-recovery", "tlp")
"""What counts as RTO in the tables of UNC 2007: made by a timer, or in the go-back-N after one.
The probe's timer is younger than the paper, which had only one."""

FR: Final = ("fast-retransmit", "sack-recovery", "fack", "early-retransmit", "rack")
"""What counts as FR/R: brought on by acknowledgements."""

WORDS: Final = {
    "rto": "retransmission timeout",
    "rto-recovery": "what followed a timeout",
    "fast-retransmit": "three duplicate ACKs",
    "sack-recovery": "holes between SACK blocks",
    "fack": "forward ACK, from the highest SACK",
    "early-retransmit": "early retransmit: fewer duplicate ACKs",
    "rack": "RACK: later packets were ACKed first",
    "tlp": "tail loss probe",
    "mptcp-reinject": "sent again on another subflow",
    "unknown": "cause not known",
}
"""The mechanisms for people who do not work on TCP stacks."""

COUNTED: Final = (
    f"RTO: {', '.join(RTO)} (what a timer made, and what followed a timeout); "
    f"FR/R: {', '.join(FR)}; neither: mptcp-reinject, unknown"
)


def column(side: str, mechanism: str, what: str) -> str:
    """The name of a column of connections: `what` is needed, spurious or waited_s."""
    return f"{side}_{mechanism.replace('-', '_')}_{what}"


def total(
    what: str, mechanisms: Iterable[str] = MECHANISMS, sides: Iterable[str] = SIDES
) -> pl.Expr:
    """The sum of those columns in each row."""
    names = [column(side, mechanism, what) for side in sides for mechanism in mechanisms]
    return pl.sum_horizontal(names)


def retransmissions(
    sides: Iterable[str] = SIDES, mechanisms: Iterable[str] = MECHANISMS
) -> pl.Expr:
    """All retransmissions of a connection, or those by some mechanisms."""
    there, by = tuple(sides), tuple(mechanisms)
    return total("needed", by, there) + total("spurious", by, there)
