"""From an engine's events to the record of a cell: in order, whole, or failed without a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from rexmit.engines.engine import CELL_ID, Task
from rexmit.errors import UserError
from rexmit.store.record import FailedCell, Record
from rexmit.store.rows import TABLES, Table

Event = Mapping[str, Any]

EVENTS: Final = frozenset(
    {
        "cell-start",
        "transfer",
        "retransmission",
        "burst",
        "subflow",
        "cell-end",
        "cell-error",
    }
)
"""The types of event that tell of a cell."""

_BUILD_AGAIN: Final = "the engine and this package do not belong together: build them again"

_TABLE_OF: Final = {table.event: table for table in TABLES}
"""The tables by the events that are their rows."""


class Intake:
    """Makes the record of one cell. `teller` is who tells of it, for messages."""

    def __init__(self, task: Task, on_transfers: Callable[[int], None], *, teller: str) -> None:
        self.record = Record(cell=task.cell)
        self._task = task
        self._on_transfers = on_transfers
        self._teller = teller
        self._started = False
        self._ended = False

    def take(self, event: Event) -> None:
        """Take in an event of the cell. Raises UserError for one that no such engine tells."""
        kind = event["type"]
        early = not self._started and kind not in ("cell-start", "cell-error")
        if event.get("cell") != CELL_ID or self._ended or early:
            raise UserError(f"{self._teller} told of {kind} out of turn", _BUILD_AGAIN)
        if kind == "cell-start":
            self._started = True
            self._note(event)
        elif kind in _TABLE_OF:
            table = _TABLE_OF[kind]
            self.record.rows(table).append(self._row(event, table))
            if kind == "transfer":
                self._on_transfers(1)
        elif kind == "cell-end":
            self._end()
        else:
            self.fail(str(event.get("message")), [])

    def fail(self, message: str, console_tail: list[str]) -> None:
        """The cell has failed, unless it has ended before.

        A failed cell has no rows: half a cell would pass for a whole one in every mean.
        """
        if self._ended:
            return
        self._ended = True
        if self.record.transfers:
            self._on_transfers(-len(self.record.transfers))
        for table in TABLES:
            self.record.rows(table).clear()
        self.record.failed = FailedCell(self._task.cell, self._task.label, message, console_tail)

    def _note(self, event: Event) -> None:
        for entry in event.get("ignored") or ():
            found = {
                "config": self._task.config,
                "setting": str(entry.get("setting", "")),
                "why": str(entry.get("why", "")),
            }
            if found not in self.record.ignored:
                self.record.ignored.append(found)
        for warning in event.get("warnings") or ():
            if warning not in self.record.warnings:
                self.record.warnings.append(str(warning))

    def _end(self) -> None:
        numbers = sorted(row["repetition"] for row in self.record.transfers)
        if numbers == list(range(self._task.repeat)):
            self._ended = True
        else:
            self.fail(f"{self._teller} gave {len(numbers)} of {self._task.repeat} transfers", [])

    def _row(self, event: Event, table: Table) -> dict[str, Any]:
        try:
            row = {name: event[name] for name in table.must_have}
        except KeyError:
            missing = ", ".join(name for name in table.must_have if name not in event)
            raise UserError(f"{self._teller} left {missing} out of a row", _BUILD_AGAIN) from None
        row.update((name, event[name]) for name in table.may_have if name in event)
        return row
