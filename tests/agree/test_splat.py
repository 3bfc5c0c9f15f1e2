"""A kernel that warns of a defect of its own while it runs cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import pytest

from rexmit import _core
from rexmit.engines.boot import GuestDiedError
from rexmit.engines.kernel import KernelEngine, KernelIdentity
from rexmit.errors import SPLATTED, UserError, failed
from rexmit_validate.agree import kernel
from rexmit_validate.agree.draw import draw
from rexmit_validate.agree.outcome import Outcome

SPLAT = ("BUG: KASAN: slab-use-after-free in tcp_ack+0x1/0x2", "Call Trace:")


class Boot:
    """Of a kernel that runs two cases."""

    is_program = True
    lines: tuple[str, ...] = SPLAT

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def splat(self) -> tuple[str, ...]:
        return self.lines


@pytest.mark.usefixtures("judging")
@pytest.mark.parametrize("dies", [False, True])
def test_no_case_of_its_boot_has_run(monkeypatch: pytest.MonkeyPatch, dies: bool) -> None:
    def watch(_: Boot, *, on_event: Callable[[Mapping[str, Any]], None], **__: object) -> None:
        for number in range(2):
            on_event({"type": "cell-end", "cell": number})
        if dies:
            raise GuestDiedError("it died", [], SPLAT)

    monkeypatch.setattr(kernel, "GuestBoot", Boot)
    monkeypatch.setattr(kernel, "watch", watch)
    identity = KernelIdentity("k", Path("/k"), "6.12.0", 250, (), "k")
    engine = KernelEngine(identity, Path("/g"), "g", {})
    outcomes: dict[int, Outcome] = {}

    def run() -> None:
        kernel.run(
            {number: draw(_core, 5, number) for number in range(2)},
            engine,
            _core,
            cores=[0],
            on_outcome=outcomes.__setitem__,
        )

    with pytest.raises(UserError, match=SPLATTED) as told:
        run()
    assert failed(told.value.exit_status) == 3
    assert told.value.splat == SPLAT
    assert (told.value.hint or "").splitlines() == list(SPLAT)
    assert outcomes == {number: {"error": SPLATTED, "splat": SPLAT} for number in range(2)}
    monkeypatch.setattr(Boot, "lines", ())
    outcomes.clear()
    run()
    assert all("error" not in outcome for outcome in outcomes.values())
