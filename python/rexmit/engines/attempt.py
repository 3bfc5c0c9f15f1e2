"""One cell of the campaign and the kernel that runs it, from the kernel's start to the record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rexmit.engines.boot import NO_SANDBOX, Event, GuestBoot
from rexmit.engines.engine import Task
from rexmit.engines.intake import EVENTS, Intake
from rexmit.errors import SPLATTED, UserError
from rexmit.store.record import Record

GUEST_VERSION: Final = 1
"""The version of the guest's events that this program reads."""


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
        task: Task,
        guest: GuestBoot,
        *,
        hang_limit_s: float,
        on_transfers: Callable[[int], None],
        health: Health,
    ) -> None:
        self._intake = Intake(task, on_transfers, teller="the guest")
        self._guest = guest
        self._hang_limit_s = hang_limit_s
        self._health = health
        self._first_ns: int | None = None

    @property
    def record(self) -> Record:
        """What there is of the cell; complete once `step` has said so."""
        return self._intake.record

    @property
    def captures(self) -> Path:
        """The folder of the guest's captures, until `close`."""
        return self._guest.channel.path("captures")

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
            self._intake.fail(f"{silence}; it was busy with: {guest.doing}", guest.console_tail())
        elif not guest.clean:
            self._intake.fail(self._why(), guest.console_tail())
        else:
            self._intake.fail("the guest did not run it", [])
        if guest.is_program and (splat := guest.splat()):
            self._intake.discard(SPLATTED, guest.console_tail(), splat)
        if guest.usage is not None:
            self.record.cpu_s = guest.usage.cpu_s
            self.record.peak_memory_bytes = guest.usage.peak_memory_bytes
        if self._first_ns is not None:
            self.record.virtual_ns = guest.virtual_ns - self._first_ns
        return True

    def _why(self) -> str:
        guest = self._guest
        if guest.exit_status == NO_SANDBOX:
            raise UserError("the kernel's sandbox could not be made", guest.errors())
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
        elif kind in EVENTS:
            self._intake.take(event)


def _tail(guest: GuestBoot) -> list[str]:
    return guest.console_tail() or ["its console is empty"]
