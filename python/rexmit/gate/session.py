"""Many tests, a kernel each, some at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from rexmit import interrupt
from rexmit.engines.engine import slots
from rexmit.gate.attempts import Attempt, Bench, Test
from rexmit.gate.verdicts import Result


def results(
    bench: Bench, tests: Sequence[Test], *, repeat: int, jobs: int | None
) -> Iterator[Result]:
    """What came of each test, in their order, as soon as it and those before it are done.

    However it ends, no kernel is left running.
    """
    free = slots(jobs)
    lock = threading.Lock()
    stopped = threading.Event()

    def attempt(test: Test) -> Attempt:
        with lock:
            core = free.pop(0)
        try:
            return bench.attempt(test, core, stopped.is_set)
        finally:
            with lock:
                free.append(core)

    pool = ThreadPoolExecutor(len(free))
    with interrupt.undone_by(interrupt.nothing):
        try:
            begun: list[list[Future[Attempt]]] = [
                [pool.submit(attempt, test) for _ in range(repeat)] for test in tests
            ]
            for test, futures in zip(tests, begun, strict=True):
                yield Result(test, [future.result() for future in futures])
        finally:
            stopped.set()
            pool.shutdown(cancel_futures=True)
