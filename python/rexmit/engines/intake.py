"""From an engine's events to the record of a cell: in order, whole, or failed without a row."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from rexmit._core import RunRows
from rexmit.engines.engine import CELL_ID, Task
from rexmit.store.record import FailedCell, Record
from rexmit.store.rows import EVENTS as ROWS

if TYPE_CHECKING:
    from rexmit._core import Batch

Event = Mapping[str, Any]

EVENTS: Final = frozenset(
    {
        "cell-start",
        *ROWS,
        "cell-end",
        "cell-error",
    }
)
"""The types of event that tell of a cell."""

_BUILD_AGAIN: Final = "the engine and this package do not belong together: build them again"


class Intake:
    """Makes the record of one cell. `teller` is who tells of it, for messages."""

    def __init__(self, task: Task, on_transfers: Callable[[int], None], *, teller: str) -> None:
        self.record = Record(cell=task.cell)
        self._task = task
        self._on_transfers = on_transfers
        self._teller = teller
        self._started = False
        self._ended = False
        self._rows = RunRows()
        self._transfers = 0

    def take(self, event: Event) -> None:
        """Take in an event of the cell. One that no such engine tells fails the cell."""
        kind = event["type"]
        early = not self._started and kind not in ("cell-start", "cell-error")
        if event.get("cell") != CELL_ID or self._ended or early:
            self._refuse(f"{self._teller} told of {kind} out of turn")
        elif kind == "cell-start":
            self._started = True
            self._note(event)
        elif kind in ROWS:
            self._add(kind, event)
        elif kind == "cell-end":
            self._end(event)
        else:
            self.fail(str(event.get("message")), [])

    def take_rows(self, tables: Mapping[str, Batch]) -> None:
        """Take in all rows of the cell, of an engine that tells them together."""
        self._keep(tables)
        self._count(self.record.transfers)

    def _keep(self, tables: Mapping[str, Batch]) -> None:
        import polars as pl

        self.record.tables = {name: pl.DataFrame(table) for name, table in tables.items()}

    def _add(self, kind: str, event: Event) -> None:
        try:
            self._rows.add(kind, json.dumps(event))
        except (ValueError, RecursionError) as fault:
            self._refuse(f"{self._teller} told of a {kind} in which {fault}")
            return
        if kind == "transfer":
            self._count(1)

    def _count(self, transfers: int) -> None:
        self._transfers += transfers
        self._on_transfers(transfers)

    def fail(self, message: str, console_tail: list[str]) -> None:
        """The cell has failed, unless it has ended before.

        A failed cell has no rows: half a cell would pass for a whole one in every mean.
        """
        if not self._ended:
            self.discard(message, console_tail)

    def _refuse(self, fault: str) -> None:
        """Events are not what they must be: the cell fails, if it had ended well too."""
        if self.record.failed is None:
            self.discard(f"{fault}; {_BUILD_AGAIN}", [])

    def discard(self, message: str, console_tail: list[str], splat: tuple[str, ...] = ()) -> None:
        """The cell has failed for this, whether or not it had ended."""
        self._ended = True
        if self._transfers:
            self._count(-self._transfers)
            self._transfers = 0
        self.record.tables = {}
        task = self._task
        self.record.failed = FailedCell(task.cell, task.label, message, console_tail, splat)

    def _note(self, event: Event) -> None:
        ignored, warnings = (event.get(name) or [] for name in ("ignored", "warnings"))
        lists = isinstance(ignored, list) and isinstance(warnings, list)
        if not lists or not all(isinstance(entry, Mapping) for entry in ignored):
            self._refuse(f"{self._teller} told of a cell-start that is none")
            return
        for entry in ignored:
            known = {
                "config": self._task.config,
                "setting": str(entry.get("setting", "")),
                "why": str(entry.get("why", "")),
            }
            if known not in self.record.ignored:
                self.record.ignored.append(known)
        for warning in map(str, warnings):
            if warning not in self.record.warnings:
                self.record.warnings.append(warning)

    def _end(self, event: Event) -> None:
        late = event.get("late") or {}
        if not isinstance(late, Mapping) or not all(isinstance(ns, int) for ns in late.values()):
            self._refuse(f"{self._teller} told of a cell-end that is none")
            return
        self.record.late = dict(late)
        if not self.record.tables:
            self._keep(self._rows.tables())
        numbers = self.record.tables["transfers"]["repetition"].sort().to_list()
        if numbers == list(range(self._task.repeat)):
            self._ended = True
        else:
            self.fail(f"{self._teller} gave {len(numbers)} of {self._task.repeat} transfers", [])
