"""From an engine's events to the record of a cell: in order, whole, or failed without a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from rexmit.engines.engine import CELL_ID, Task
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
        """Take in an event of the cell. One that no such engine tells fails the cell."""
        kind = event["type"]
        early = not self._started and kind not in ("cell-start", "cell-error")
        if event.get("cell") != CELL_ID or self._ended or early:
            self._refuse(f"{self._teller} told of {kind} out of turn")
        elif kind == "cell-start":
            self._started = True
            self._note(event)
        elif kind in _TABLE_OF:
            self._add(event, _TABLE_OF[kind])
        elif kind == "cell-end":
            self._end()
        else:
            self.fail(str(event.get("message")), [])

    def _add(self, event: Event, table: Table) -> None:
        fault = table.fault(event)
        if fault is not None:
            self._refuse(f"{self._teller} told of a {table.event} in which {fault}")
            return
        names = (*table.must_have, *table.may_have)
        self.record.rows(table).append({name: event[name] for name in names if name in event})
        if table.event == "transfer":
            self._on_transfers(1)

    def fail(self, message: str, console_tail: list[str]) -> None:
        """The cell has failed, unless it has ended before.

        A failed cell has no rows: half a cell would pass for a whole one in every mean.
        """
        if not self._ended:
            self._fail(message, console_tail)

    def _refuse(self, fault: str) -> None:
        """Events are not what they must be: the cell fails, if it had ended well too."""
        if self.record.failed is None:
            self._fail(f"{fault}; {_BUILD_AGAIN}", [])

    def _fail(self, message: str, console_tail: list[str]) -> None:
        self._ended = True
        if self.record.transfers:
            self._on_transfers(-len(self.record.transfers))
        for table in TABLES:
            self.record.rows(table).clear()
        self.record.failed = FailedCell(self._task.cell, self._task.label, message, console_tail)

    def _note(self, event: Event) -> None:
        ignored, warnings = (event.get(name) or [] for name in ("ignored", "warnings"))
        lists = isinstance(ignored, list) and isinstance(warnings, list)
        if not lists or not all(isinstance(entry, Mapping) for entry in ignored):
            self._refuse(f"{self._teller} told of a cell-start that is none")
            return
        for entry in ignored:
            found = {
                "config": self._task.config,
                "setting": str(entry.get("setting", "")),
                "why": str(entry.get("why", "")),
            }
            if found not in self.record.ignored:
                self.record.ignored.append(found)
        for warning in map(str, warnings):
            if warning not in self.record.warnings:
                self.record.warnings.append(warning)

    def _end(self) -> None:
        numbers = sorted(row["repetition"] for row in self.record.transfers)
        if numbers == list(range(self._task.repeat)):
            self._ended = True
        else:
            self.fail(f"{self._teller} gave {len(numbers)} of {self._task.repeat} transfers", [])
