"""One cell of the campaign and the kernel that runs it, from the kernel's start to the record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rexmit.campaign.grid import Cell
from rexmit.campaign.plan import CELL_ID
from rexmit.engines.boot import NO_SANDBOX, Event, GuestBoot
from rexmit.errors import UserError
from rexmit.store.record import FailedCell, Record
from rexmit.store.rows import RETRANSMISSION_FIELDS, TRANSFER_FIELDS

GUEST_VERSION: Final = 1
"""The version of the guest's events that this program reads."""

_BUILD_AGAIN: Final = "the guest program and this package do not belong together: build them again"


@dataclass(slots=True)
class Health:
    """What all boots of a campaign know together."""

    kernel_runs: bool = False
    """The guest program has run in this kernel at least once: where one dies early after that, its
    cell is at fault, not the kernel."""


class Attempt:
    """Looks after the kernel of one cell; `step` does what there is to do and never waits."""

    def __init__(
        self,
        cell: Cell,
        guest: GuestBoot,
        *,
        hang_limit_s: float,
        on_transfers: Callable[[int], None],
        health: Health,
    ) -> None:
        self.cell = cell
        self.record = Record(cell=cell.id)
        self._guest = guest
        self._hang_limit_s = hang_limit_s
        self._on_transfers = on_transfers
        self._health = health
        self._first_ns: int | None = None
        self._started = False
        self._ended = False

    @property
    def captures(self) -> Path:
        """The folder of the guest's captures, until `close`."""
        return self._guest.share / "captures"

    def close(self) -> None:
        """Kill the kernel, whatever it is at, and remove its files."""
        self._guest.close()

    def step(self) -> bool:
        """Take in what is new; true once the record is complete.

        Raises UserError for what no other boot would do better: no sandbox, a kernel that never
        starts the guest, a guest program of another version.
        """
        guest = self._guest
        self._take_all()
        if guest.fault is not None and not guest.ended:
            guest.kill()
        if not guest.ended:
            if guest.silent_s <= self._hang_limit_s:
                return False
            guest.kill()
            self._take_all()
            silence = f"no sign of life for {self._hang_limit_s:g} s"
            if not self._health.kernel_runs:
                raise UserError(f"{silence} from the kernel's start on", _tail(guest))
            self._fail(f"{silence}; it was busy with: {guest.doing}", guest.console_tail())
        elif not guest.clean:
            self._fail(self._why(), guest.console_tail())
        else:
            self._fail("the guest did not run it", [])
        if guest.usage is not None:
            self.record.cpu_s = guest.usage.cpu_s
            self.record.peak_memory_bytes = guest.usage.peak_memory_bytes
        if self._first_ns is not None:
            self.record.virtual_ns = guest.virtual_ns - self._first_ns
        return True

    def _why(self) -> str:
        guest = self._guest
        if guest.exit_status == NO_SANDBOX:
            said = "\n".join(guest.errors())
            raise UserError("the kernel's sandbox could not be made", said or None)
        if not self._health.kernel_runs and guest.fault is None:
            raise UserError(f"{guest.how_it_ended()} before it ran anything", _tail(guest))
        return f"{guest.how_it_ended()}; it was busy with: {guest.doing}"

    def _take_all(self) -> None:
        for event in self._guest.poll():
            self._take(event)

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
        elif kind in ("cell-start", "transfer", "retransmission", "cell-end", "cell-error"):
            self._take_of_cell(kind, event)

    def _take_of_cell(self, kind: str, event: Event) -> None:
        early = not self._started and kind not in ("cell-start", "cell-error")
        if event.get("cell") != CELL_ID or self._ended or early:
            raise UserError(f"the guest told of {kind} out of turn", _BUILD_AGAIN)
        if kind == "cell-start":
            self._started = True
            self._note(event)
        elif kind == "transfer":
            self.record.transfers.append(_row(event, TRANSFER_FIELDS))
            self._on_transfers(1)
        elif kind == "retransmission":
            self.record.retransmissions.append(_row(event, RETRANSMISSION_FIELDS))
        elif kind == "cell-end":
            self._end()
        else:
            self._fail(str(event.get("message")), [])

    def _note(self, event: Event) -> None:
        for entry in event.get("ignored") or ():
            found = {
                "config": self.cell.config,
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
        if numbers == list(range(self.cell.repeat)):
            self._ended = True
        else:
            self._fail(f"the guest gave {len(numbers)} of {self.cell.repeat} transfers", [])

    def _fail(self, message: str, console_tail: list[str]) -> None:
        """The cell has failed, unless it has ended before.

        A failed cell has no rows: half a cell would pass for a whole one in every mean.
        """
        if self._ended:
            return
        self._ended = True
        if self.record.transfers:
            self._on_transfers(-len(self.record.transfers))
        self.record.transfers.clear()
        self.record.retransmissions.clear()
        self.record.failed = FailedCell(self.cell.id, self.cell.label, message, console_tail)


def _tail(guest: GuestBoot) -> str:
    return "\n".join(guest.console_tail()) or "its console is empty"


def _row(event: Event, fields: frozenset[str]) -> dict[str, Any]:
    missing = sorted(fields - event.keys())
    if missing:
        raise UserError(f"the guest left {', '.join(missing)} out of a row", _BUILD_AGAIN)
    return {name: event[name] for name in sorted(fields)}
