"""What one boot of a campaign gave, as the guest said it: kept in `partial/` until the run ends.

A record is one JSON file per boot, written when the boot has ended. Times are still in nanoseconds
and rows still lack what the cell knows; `store.tables` makes the tables of it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from rexmit.errors import UserError
from rexmit.store.files import write_text

FORMAT: Final = 1


@dataclass(slots=True)
class FailedCell:
    """A cell without rows, and why."""

    cell: int
    label: str
    message: str
    console_tail: list[str]


@dataclass(slots=True)
class CellRows:
    """The rows of one cell, as the guest wrote them."""

    transfers: list[dict[str, Any]] = field(default_factory=list)
    retransmissions: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class Record:
    """A boot that has ended: its cells' rows, and what a reader of the run should know."""

    boot: int
    rows: dict[int, CellRows] = field(default_factory=dict)
    failed: list[FailedCell] = field(default_factory=list)
    ignored: list[dict[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    virtual_ns: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0
    peak_memory_bytes: int = 0

    @property
    def transfers(self) -> int:
        """How many transfers it has."""
        return sum(len(rows.transfers) for rows in self.rows.values())


def write(record: Record, path: Path) -> None:
    """Write the record whole or not at all."""
    plain = {"format": FORMAT, **asdict(record)}
    write_text(path, json.dumps(plain, separators=(",", ":")))


def read(path: Path) -> Record:
    """A record that `write` wrote. Raises UserError for anything else."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        if plain.pop("format") != FORMAT:
            raise ValueError("another format")
        plain["rows"] = {int(cell): CellRows(**rows) for cell, rows in plain["rows"].items()}
        plain["failed"] = [FailedCell(**failed) for failed in plain["failed"]]
        return Record(**plain)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"cannot read {path}: {error}",
            "another version of rexmit may have written it; remove it to run its cells again",
        ) from None
