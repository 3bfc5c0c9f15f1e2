"""What a kernel has of what may be asked of it: a boot that runs nothing tells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from rexmit.engines.boot import Event, GuestBoot, GuestDiedError, watch
from rexmit.engines.engine import PLAN_VERSION
from rexmit.engines.kernel import KernelEngine
from rexmit.errors import UserError

_HANG_LIMIT_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Has:
    """Of what was asked about, what is there."""

    sysctls: frozenset[str]
    congestion_controls: frozenset[str]


def has(
    engine: KernelEngine, sysctls: Iterable[str], congestion_controls: Iterable[str] = ()
) -> Has:
    """Which of these settings hosts of this kernel have, and which algorithms can be chosen.

    Raises UserError for a kernel that lacks what no transfer can do without.
    """
    plan = {
        "version": PLAN_VERSION,
        "programs": dict(engine.programs),
        "ask": {
            "sysctls": sorted(sysctls),
            "congestion_controls": sorted(congestion_controls),
        },
    }
    answer: dict[str, Any] = {}

    def take(event: Event) -> None:
        if event["type"] == "kernel-has":
            answer.update(event)

    try:
        with GuestBoot(engine.options(None, 0), plan, guest=engine.guest) as boot:
            watch(boot, on_event=take, hang_limit_s=_HANG_LIMIT_S)
    except GuestDiedError as error:
        raise UserError(str(error), error.console_tail[-4:]) from None
    if not answer:
        raise UserError(
            f"the kernel {engine.kernel.name} does not say what it has", "build the guest again"
        )
    if lacks := answer["lacks"]:
        raise UserError(
            f"the kernel {engine.kernel.name} has no {'; no '.join(lacks)}",
            engine.kernel.remedy,
        )
    return Has(
        sysctls=frozenset(name for name, there in answer["sysctls"].items() if there),
        congestion_controls=frozenset(
            name for name, there in answer["congestion_controls"].items() if there
        ),
    )
