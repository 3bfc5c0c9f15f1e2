"""One boot of the campaign, from its first kernel to its record.

Usually one kernel runs all its cells. Where a kernel dies or hangs, the cell it was at has failed,
and a fresh kernel runs the cells after that one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from rexmit.campaign.boots import Boot
from rexmit.campaign.grid import Cell
from rexmit.engines.boot import NO_SANDBOX, Event, GuestBoot
from rexmit.errors import UserError
from rexmit.store.record import CellRows, FailedCell, Record
from rexmit.store.tables import RETRANSMISSION_FIELDS, TRANSFER_FIELDS

GUEST_VERSION: Final = 1
"""The version of the guest's events that this program reads."""

Start = Callable[[tuple[Cell, ...]], GuestBoot]
"""Boots a kernel that runs these cells."""


@dataclass(slots=True)
class Health:
    """What all boots of a campaign know together."""

    kernel_runs: bool = False
    """The guest program has run in this kernel at least once: where one dies early after that, its
    cell is at fault, not the kernel."""


class Attempt:
    """Looks after the kernel of one boot; `step` does what there is to do and never waits."""

    def __init__(
        self,
        boot: Boot,
        start: Start,
        *,
        hang_limit_s: float,
        on_transfers: Callable[[int], None],
        on_failed: Callable[[FailedCell], None],
        on_captures: Callable[[GuestBoot, set[int]], None],
        health: Health,
    ) -> None:
        self.record = Record(boot=boot.id)
        self._start = start
        self._hang_limit_s = hang_limit_s
        self._on_transfers = on_transfers
        self._on_failed = on_failed
        self._on_captures = on_captures
        self._health = health
        self._began = time.monotonic()
        self._left = list(boot.cells)
        self._ended: set[int] = set()
        self._current: int | None = None
        self._guest = self._boot()

    def _boot(self) -> GuestBoot:
        self._current = None
        self._ended = set()
        self._first_ns: int | None = None
        return self._start(tuple(self._left))

    def close(self) -> None:
        """Kill the kernel, whatever it is at."""
        self._guest.close()

    def step(self) -> bool:
        """Take in what is new; true once the record is complete.

        Raises UserError for what no other boot would do better: no sandbox, a kernel that never
        starts the guest, a guest program of another version.
        """
        guest = self._guest
        for event in guest.poll():
            self._take(event)
        if guest.fault is not None and not guest.ended:
            guest.kill()
        if not guest.ended:
            if guest.silent_s <= self._hang_limit_s:
                return False
            guest.kill()
            for event in guest.poll():
                self._take(event)
            silence = f"no sign of life for {self._hang_limit_s:g} s"
            if not self._health.kernel_runs:
                raise UserError(f"{silence} from the kernel's start on", _tail(guest))
            return self._conclude(f"{silence}; it was busy with: {guest.doing}")
        if not guest.clean:
            return self._conclude(self._why(guest))
        for cell in [cell for cell in self._left if cell.id not in self._ended]:
            self._fail(cell, "the guest did not run it", [])
        return self._conclude(None)

    def _why(self, guest: GuestBoot) -> str:
        said = "\n".join(guest.errors())
        if guest.exit_status == NO_SANDBOX:
            raise UserError("the kernel's sandbox could not be made", said or None)
        if not self._health.kernel_runs and guest.fault is None:
            raise UserError(f"{guest.how_it_ended()} before it ran anything", _tail(guest))
        return f"{guest.how_it_ended()}; it was busy with: {guest.doing}"

    def _conclude(self, trouble: str | None) -> bool:
        """The kernel has ended. True if nothing is left to run."""
        guest = self._guest
        if trouble is not None:
            waiting = [cell for cell in self._left if cell.id not in self._ended]
            at = next((cell for cell in waiting if cell.id == self._current), None)
            if at is None and waiting:
                at = waiting[0]
            if at is not None:
                self._fail(at, trouble, guest.console_tail())
        self._on_captures(guest, {cell for cell in self._ended if cell in self.record.rows})
        if guest.usage is not None:
            self.record.cpu_s += guest.usage.cpu_s
            self.record.peak_memory_bytes = max(
                self.record.peak_memory_bytes, guest.usage.peak_memory_bytes
            )
        if self._first_ns is not None:
            self.record.virtual_ns += guest.virtual_ns - self._first_ns
        guest.close()
        self._left = [cell for cell in self._left if cell.id not in self._ended]
        if self._left:
            self._guest = self._boot()
            return False
        self.record.wall_s = time.monotonic() - self._began
        self.record.rows = dict(sorted(self.record.rows.items()))
        return True

    def _cell(self, event: Event) -> Cell:
        for cell in self._left:
            if cell.id == event.get("cell") and cell.id not in self._ended:
                return cell
        raise UserError(
            f"the guest told of cell {event.get('cell')}, which it was not to run now",
            "the guest program and this package do not belong together: build them again",
        )

    def _take(self, event: Event) -> None:
        kind = event["type"]
        if kind == "hello":
            self._first_ns = self._guest.virtual_ns
            self._health.kernel_runs = True
            if event.get("version") != GUEST_VERSION:
                raise UserError(
                    f"the guest program speaks version {event.get('version')}, "
                    f"this package version {GUEST_VERSION}",
                    "build them again from one source",
                )
        elif kind == "cell-start":
            cell = self._cell(event)
            self._current = cell.id
            self.record.rows[cell.id] = CellRows()
            self._note(cell, event)
        elif kind == "transfer":
            self._rows(event).transfers.append(_row(event, TRANSFER_FIELDS))
            self._on_transfers(1)
        elif kind == "retransmission":
            self._rows(event).retransmissions.append(_row(event, RETRANSMISSION_FIELDS))
        elif kind == "cell-end":
            self._end(self._cell(event))
        elif kind == "cell-error":
            self._fail(self._cell(event), str(event.get("message")), [])

    def _rows(self, event: Event) -> CellRows:
        cell = self._cell(event)
        rows = self.record.rows.get(cell.id)
        if rows is None:
            raise UserError(f"the guest told of a transfer of cell {cell.id} before its start")
        return rows

    def _note(self, cell: Cell, event: Event) -> None:
        for entry in event.get("ignored") or ():
            found = {
                "config": cell.config,
                "setting": str(entry["setting"]),
                "why": str(entry["why"]),
            }
            if found not in self.record.ignored:
                self.record.ignored.append(found)
        for warning in event.get("warnings") or ():
            if warning not in self.record.warnings:
                self.record.warnings.append(str(warning))

    def _end(self, cell: Cell) -> None:
        rows = self.record.rows.get(cell.id)
        numbers = sorted(row["repetition"] for row in rows.transfers) if rows else []
        if numbers != list(range(cell.repeat)):
            self._fail(cell, f"the guest gave {len(numbers)} of {cell.repeat} transfers", [])
            return
        self._ended.add(cell.id)
        self._current = None

    def _fail(self, cell: Cell, message: str, console_tail: list[str]) -> None:
        """A failed cell has no rows: half a cell would pass for a whole one in every mean."""
        rows = self.record.rows.pop(cell.id, None)
        if rows is not None:
            self._on_transfers(-len(rows.transfers))
        self._ended.add(cell.id)
        self._current = None
        failed = FailedCell(cell.id, cell.label, message, console_tail)
        self.record.failed.append(failed)
        self._on_failed(failed)


def _tail(guest: GuestBoot) -> str:
    return "\n".join(guest.console_tail()) or "its console is empty"


def _row(event: Event, fields: frozenset[str]) -> dict[str, Any]:
    missing = sorted(fields - event.keys())
    if missing:
        raise UserError(
            f"the guest left {', '.join(missing)} out of a row",
            "the guest program and this package do not belong together: build them again",
        )
    return {name: event[name] for name in sorted(fields)}
