"""The kernel's side of the cases: several cells a boot, several boots at a time, logs kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any, Final

from rexmit.campaign.streams import Streams
from rexmit.engines.boot import BootOptions, GuestBoot, GuestDiedError, NoLongerWantedError, watch
from rexmit.engines.engine import cores
from rexmit.engines.kernel import KernelEngine
from rexmit.errors import SPLATTED, UserError
from rexmit_validate.agree.case import Case, plan
from rexmit_validate.agree.outcome import Outcome, note

CASES_A_BOOT: Final = 80
"""Enough that booting costs little beside them, few enough that both cores end together."""

HANG_LIMIT_S: Final = 60.0

_SELDOM: Final = frozenset({"net.ipv4.tcp_reordering", "net.ipv4.tcp_rto_min_us"})


def run(
    cases: Mapping[int, Case],
    engine: KernelEngine,
    streams: Streams,
    *,
    cores: Sequence[int],
    on_outcome: Callable[[int, Outcome], None],
) -> None:
    """Run the cases by number; `on_outcome` is called for each, one at a time.

    An interrupt ends the boots under way.
    """
    lock, stop = threading.Lock(), threading.Event()
    waiting = batches(cases)

    def report(number: int, outcome: Outcome) -> None:
        with lock:
            on_outcome(number, outcome)

    def work(core: int) -> None:
        while not stop.is_set():
            with lock:
                batch = next(waiting, None)
            if batch is None:
                return
            run_batch(batch, engine, streams, core=core, report=report, end=stop.is_set)

    with ThreadPoolExecutor(max_workers=len(cores)) as pool:
        try:
            for future in [pool.submit(work, core) for core in cores]:
                future.result()
        except BaseException:
            stop.set()
            raise


def likeness(numbered: tuple[int, Case]) -> tuple[bool, list[tuple[str, str]], int]:
    """Sorts cases so that a bench serves for many: a bound window needs its own, a setting that
    is seldom varied a server of its own (crates/guest/src/bench.rs)."""
    number, case = numbered
    seldom = [(name, value) for name, value in case.sysctls.items() if name in _SELDOM]
    return case.receive_window_bytes is not None, seldom, number


def batches(cases: Mapping[int, Case]) -> Iterator[dict[int, Case]]:
    """The cases that share a boot. What ran before in a boot moves times by microseconds, so they
    are the same wherever they run.
    """
    left = iter(sorted(cases.items(), key=likeness))
    while batch := dict(islice(left, CASES_A_BOOT)):
        yield batch


def run_batch(
    batch: Mapping[int, Case],
    engine: KernelEngine,
    streams: Streams,
    *,
    core: int,
    report: Callable[[int, Outcome], None],
    end: Callable[[], bool],
) -> None:
    """Run a batch in one boot; where that dies, the case at fault fails and the rest go on.

    Raises UserError where the kernel warns of a defect of its own: which case it was nobody knows,
    so that none of the batch has run.
    """
    left = dict(batch)
    while left:
        outcome: Outcome = {}

        def take(event: Mapping[str, Any], outcome: Outcome = outcome) -> None:
            note(outcome, event)
            if event["type"] in ("cell-end", "cell-error"):
                number = int(event["cell"])
                report(number, dict(outcome))
                left.pop(number, None)
                outcome.clear()

        seed = streams.stream_u64(next(iter(left.values())).seed, "agree boot", 0, 1)[0]
        whole = plan(left, streams, hz=engine.kernel.hz, programs=engine.programs)
        options = BootOptions(
            kernel=engine.kernel.path, core=core, seed=seed, machine=engine.kernel.machine()
        )
        with GuestBoot(options, whole, guest=engine.guest) as boot:
            try:
                watch(boot, on_event=take, hang_limit_s=HANG_LIMIT_S, poll_s=0.01, end=end)
                _refuse_splat(batch, boot, report)
                return
            except NoLongerWantedError:
                return
            except GuestDiedError as error:
                _refuse_splat(batch, boot, report)
                if not left:
                    return
                number = next(iter(left))
                report(number, {"error": f"{error} {' | '.join(error.console_tail[-4:])}"})
                del left[number]


def _refuse_splat(
    batch: Iterable[int], boot: GuestBoot, report: Callable[[int, Outcome], None]
) -> None:
    if boot.is_program and (splat := boot.splat()):
        for number in batch:
            report(number, {"error": SPLATTED, "splat": splat})
        raise UserError(SPLATTED, splat, splat=splat)


def run_alone(case: Case, engine: KernelEngine, streams: Streams) -> Outcome:
    """One case in a boot of its own."""
    outcomes: list[Outcome] = []
    run(
        {0: case},
        engine,
        streams,
        cores=cores()[:1],
        on_outcome=lambda _, outcome: outcomes.append(outcome),
    )
    return outcomes[0]
