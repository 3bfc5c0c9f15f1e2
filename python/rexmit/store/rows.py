"""The fields of the guest's rows: what they are called there, and which a column comes from.

The guest writes integers, nanoseconds and microseconds; what the campaign knows of a cell anyhow
(its network, its client, …) it does not write.
"""

from __future__ import annotations

from typing import Final

from rexmit.store.schema import RETRANSMISSIONS, TRANSFERS, Column

KNOWN: Final = frozenset(
    {
        "network",
        "config",
        "lost_segments",
        "congestion_control",
        "client",
        "loss_mode",
        "loss_pattern",
        "page_segments",
        "receive_window_bytes",
        "line_loss",
        "cell",
    }
)
"""Columns that come from the cell."""

_FROM_MICROSECONDS: Final = {"srtt_s": "srtt_us", "rto_s": "rto_us"}


def guest_field(column: Column) -> tuple[str, int]:
    """The guest's name of a column, and how many of its units make one of ours (1: as it is)."""
    if column.name in _FROM_MICROSECONDS:
        return _FROM_MICROSECONDS[column.name], 1_000_000
    if column.name.endswith("_s"):
        return f"{column.name[:-2]}_ns", 1_000_000_000
    return column.name, 1


def guest_fields(columns: tuple[Column, ...]) -> frozenset[str]:
    """The fields that a row of the guest must have."""
    return frozenset(guest_field(column)[0] for column in columns if column.name not in KNOWN)


TRANSFER_FIELDS: Final = guest_fields(TRANSFERS)
RETRANSMISSION_FIELDS: Final = guest_fields(RETRANSMISSIONS)
