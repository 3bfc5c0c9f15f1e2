"""Runs the parts of a corpus, each on a kernel of its own, several at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rexmit.engines.boot import (
    BootOptions,
    Event,
    GuestBoot,
    GuestDiedError,
    NoLongerWantedError,
    watch,
)
from rexmit.engines.engine import PLAN_VERSION
from rexmit.engines.guest import programs
from rexmit.engines.kernel import HANG_LIMIT_S, HEARTBEAT_S, KernelEngine, KernelIdentity
from rexmit.errors import UserError
from rexmit_validate.truth.draw import DrawnPart

MEMORY: Final = "384M"
NO_LOG: Final = "record of why it sends a segment again"
POINTS: Final = ("sender", "switch", "receiver")


@dataclass(frozen=True, slots=True)
class Ran:
    """What a part's kernel left: captures and log are in `folder` until `on_part` returns."""

    part: DrawnPart
    folder: Path
    start: dict[str, Any]
    end: dict[str, Any]

    def capture(self, point: str) -> Path:
        """The capture at one of `POINTS`."""
        return self.folder / "captures" / f"{self.part.name}-{point}.pcapng"

    @property
    def causes(self) -> str:
        """The kernel's log."""
        return self.causes_file.read_text(encoding="utf-8")

    @property
    def causes_file(self) -> Path:
        """Where the kernel's log is."""
        return self.folder / f"{self.part.name}.causes"

    @property
    def waits_file(self) -> Path | None:
        """Where its log of waits is; None where it keeps none."""
        path = self.folder / f"{self.part.name}.waits"
        return path if path.exists() else None


def open_engine(spec: str | None) -> KernelEngine:
    """The engine for a kernel that a user names. Raises UserError where there is none."""
    from rexmit.engines.kernel import find_kernel

    return KernelEngine.open(find_kernel(spec), [], hang_limit_s=HANG_LIMIT_S)


def run(
    parts: Iterable[DrawnPart],
    engine: KernelEngine,
    *,
    cores: Sequence[int],
    on_part: Callable[[Ran], None],
) -> None:
    """Run every part; `on_part` is called for each as it ends, from several threads.

    The first error, or an interrupt, ends it with the boots under way.
    """
    waiting, lock, ended = iter(parts), threading.Lock(), threading.Event()

    def work(core: int) -> None:
        while not ended.is_set():
            with lock:
                part = next(waiting, None)
            if part is None:
                return
            run_part(part, engine, core=core, on_part=on_part, ended=ended)

    with ThreadPoolExecutor(max_workers=len(cores)) as pool:
        try:
            left = {pool.submit(work, core) for core in cores}
            while left:
                done, left = wait(left, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
        finally:
            ended.set()


def run_part(
    part: DrawnPart,
    engine: KernelEngine,
    *,
    core: int,
    on_part: Callable[[Ran], None],
    ended: threading.Event | None = None,
) -> None:
    """One part on a kernel of its own. Raises UserError where that fails.

    Once `ended` is set it ends soon, without `on_part`.
    """
    plan = {
        "version": PLAN_VERSION,
        "heartbeat_s": HEARTBEAT_S,
        "programs": programs(["tc"]),
        "parts": [part.plan],
    }
    reports: dict[str, dict[str, Any]] = {}
    options = BootOptions(
        kernel=engine.kernel.path,
        core=core,
        seed=part.seed,
        memory=MEMORY,
        machine=engine.kernel.machine(MEMORY),
    )
    with GuestBoot(options, plan, guest=engine.guest) as boot:

        def take(event: Event) -> None:
            if event["type"] in ("part-start", "part-end", "part-error"):
                reports.setdefault(event["type"], dict(event))

        try:
            watch(
                boot,
                on_event=take,
                hang_limit_s=engine.hang_limit_s,
                poll_s=0.01,
                end=ended.is_set if ended is not None else None,
            )
        except NoLongerWantedError:
            return
        except GuestDiedError as error:
            raise UserError(f"part {part.name}: {error}", error.console_tail[-6:]) from None
        if failure := reports.get("part-error"):
            raise _failed(part, engine, str(failure["message"]))
        if not {"part-start", "part-end"} <= reports.keys():
            raise UserError(f"part {part.name}: the guest did not run it")
        on_part(Ran(part, boot.channel.path("."), reports["part-start"], reports["part-end"]))


def _build(kernel: KernelIdentity) -> str:
    series = ".".join(kernel.version.split(".")[:2])
    return f"Build it with rexmit's patches: rexmit kernel build {series} --hz {kernel.hz}"


def _failed(part: DrawnPart, engine: KernelEngine, message: str) -> UserError:
    hint = None
    if NO_LOG in message:
        hint = (
            "Images have none. Name a kernel that rexmit built: rexmit kernel build 6.1"
            if engine.kernel.image
            else _build(engine.kernel)
        )
    return UserError(f"part {part.name} on {engine.kernel.name}: {message}", hint)
