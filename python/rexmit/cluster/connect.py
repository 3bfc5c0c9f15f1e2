"""A cluster: workers of this machine, or those of a Dask scheduler."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Any, Final

from rexmit import interrupt, outputs
from rexmit.cluster.address import ClusterAddress, Where, address_of
from rexmit.cluster.calls import TOPIC, Call, LostError, make, program
from rexmit.errors import UserError, argument

DEATHS: Final = 10
"""Workers that may die under a call before it counts as what kills them."""

CONNECT_S: Final = 15
"""Seconds in which a scheduler answers."""

WAIT_S: Final = 60
"""Seconds in which the first worker comes."""

RETURN_S: Final = 300
"""Seconds in which another comes where none is left."""

POLL_S: Final = 0.05
"""Seconds between two looks for answers, and for interrupts."""

COUNT_S: Final = 1.0
"""Seconds between two questions how many workers there are: the scheduler is asked for all it knows
of them."""

AGAIN: Final = "then give the command again"
"""What is to be done where a cluster was lost."""

AHEAD: Final = 3
"""Calls that are given out for each worker: the next ones are there when one ends."""

Answer = Callable[[Call, Any], None]
"""Takes what a call gave: its value, or the exception that it raised."""


class Cluster:
    """Workers that make calls. See `open_cluster`."""

    # Dask says little of its types.
    def __init__(self, client: Any, address: str) -> None:  # noqa: ANN401
        self._client = client
        self.address = address

    @property
    def workers(self) -> int:
        """Workers that are there now."""
        # Nothing is known of them once the scheduler is gone.
        return len(self._client.scheduler_info(n_workers=-1).get("workers", ()))

    def everywhere(self, function: Callable[..., Any], *arguments: object) -> list[Any]:
        """What a function gives on each worker that is there now."""
        return list(self._client.run(function, *arguments).values())

    def share(self, value: object) -> object:
        """Gives workers a large value, once each; `run` hands it to all calls."""
        return self._client.scatter([value], hash=False)[0]

    def run(
        self,
        calls: Iterable[Call],
        answer: Answer,
        *,
        done: Callable[[str, int], None] | None = None,
        shared: Iterable[object] = (),
    ) -> None:
        """Makes all calls, a few for each worker at a time, and hands over each answer as it comes,
        in this thread. A call whose worker dies is made again; after ten deaths its answer is a
        LostError. `done` hears how far a call is, by its name: of what it counts, so many more
        (fewer, when it begins again). `shared` is of `share`. What `answer` raises ends the work,
        and so does an interrupt.
        """
        left = iter(calls)
        waiting: deque[Call] = deque()
        # With a worker dies what it was given besides: which call it was shows when each is alone.
        suspects: deque[Call] = deque()
        alone: set[str] = set()
        shared = tuple(shared)
        at_work: dict[Any, Call] = {}
        counts: dict[str, int] = {}
        heard: deque[tuple[str, int]] = deque()

        def hear(event: tuple[float, Any]) -> None:
            heard.append((event[1]["call"], event[1]["done"]))

        def count(call: str, now: int) -> None:
            if done is not None and call in counts and now != counts[call]:
                done(call, now - counts[call])
                counts[call] = now

        self._client.subscribe_topic(TOPIC, hear)
        try:
            seen, there, count_s = time.monotonic(), 0, 0.0
            while True:
                now = time.monotonic()
                if now >= count_s:
                    there, count_s = self.workers, now + COUNT_S
                if there:
                    seen = now
                elif now - seen > RETURN_S:
                    raise UserError(f"{self.address}: no worker is left", f"start one, {AGAIN}")
                most = AHEAD * max(there, 1)
                waiting.extend(islice(left, max(0, most - len(at_work))))
                if not waiting and not at_work:
                    if not suspects:
                        return
                    waiting.append(suspects.popleft())
                while waiting:
                    call = waiting.popleft()
                    counts[call.name] = 0
                    at_work[self._client.submit(make, call, program(), *shared, pure=False)] = call
                while heard:
                    count(*heard.popleft())
                for future in [one for one in at_work if one.done()]:
                    call = at_work.pop(future)
                    if future.status == "cancelled":
                        raise UserError(
                            f"{self.address}: the scheduler is gone", f"start it, {AGAIN}"
                        )
                    given = _given(future)
                    future.release()
                    if isinstance(given, Exception):
                        count(call.name, 0)
                    if isinstance(given, LostError) and call.name not in alone:
                        alone.add(call.name)
                        suspects.append(call)
                        continue
                    del counts[call.name]
                    answer(call, given)
                if at_work:
                    time.sleep(POLL_S)
        finally:
            self._client.unsubscribe_topic(TOPIC)
            with contextlib.suppress(Exception):
                self._client.cancel(list(at_work), force=True)


def _given(future: Any) -> object:  # noqa: ANN401
    """Its value, or why there is none."""
    from distributed.scheduler import KilledWorker

    error = future.exception()
    if isinstance(error, KilledWorker):
        return LostError(f"{DEATHS} workers died at it (was there memory enough?)")
    return future.result() if error is None else error


@contextlib.contextmanager
def open_cluster(where: Where) -> Iterator[Cluster]:
    """The cluster at an address: N processes of this machine, which end with it, or the workers of
    a Dask scheduler (see `ClusterAddress`).

    Raises UserError where there is none, or it has no worker.
    """
    address = address_of(where)
    import dask
    from distributed import Client

    settings = {
        "distributed.scheduler.allowed-failures": DEATHS,
        # Of a worker that is busy with a call for long, or dies, nothing is to be told.
        "distributed.comm.timeouts.connect": f"{CONNECT_S}s",
        "distributed.admin.tick.limit": "1h",
        # Dask looks at itself: with its usual times at 4 % of a core, and as much for each worker.
        "distributed.admin.tick.interval": "1s",
        "distributed.admin.system-monitor.interval": "5s",
        "distributed.worker.profile.enabled": False,
        "distributed.worker.memory.monitor-interval": "500ms",
    }
    with contextlib.ExitStack() as stack, dask.config.set(settings):
        stack.enter_context(interrupt.undone_by(interrupt.nothing))
        stack.enter_context(_quiet())
        if address.workers is not None:
            from rexmit.cluster import local

            started = stack.enter_context(local.started(address.workers))
            client = stack.enter_context(_client(Client, started))
        else:
            security = address.security()
            if not security.require_encryption:
                _tell_unprotected(address.text)
            try:
                asyncio.run(_asked(address.text, security))
                client = stack.enter_context(_client(Client, address.text, security=security))
                client.wait_for_workers(1, timeout=WAIT_S)
            except (OSError, TimeoutError, ValueError, RuntimeError) as error:
                why = str(error) or "what listens there says nothing"
                raise UserError(
                    f"{argument('cluster', address.text)}: no answer: {why}", _start_hint(address)
                ) from error
        yield Cluster(client, address.text)


def _start_hint(address: ClusterAddress) -> str:
    if address.scheme == "tls":
        return (
            "start one there that has certificates of the same authority: dask scheduler and dask "
            "worker, each with --tls-ca-file, --tls-cert and --tls-key"
        )
    return (
        "start one there: dask scheduler; dask worker ADDRESS --nthreads 1 "
        f"(one that speaks TLS: {argument('cluster', 'tls://HOST:PORT')})"
    )


@cache
def _tell_unprotected(address: str) -> None:
    """Once for each cluster."""
    outputs.say(
        f"rexmit: {address} is unprotected: whoever reaches it, or its workers, can read along and "
        "run commands there and as you here; use tls://HOST:PORT"
    )


async def _asked(address: str, security: Any) -> None:  # noqa: ANN401
    """Asks a scheduler who it is. Raises OSError or TimeoutError where none answers: Dask's client
    waits forever at a port where something else listens.
    """
    from distributed.core import rpc

    to: Any = rpc
    async with to(address, connection_args=security.get_connection_args("client")) as scheduler:
        # Of what takes a connection; where none is to be had Dask itself says so, and better.
        await asyncio.wait_for(scheduler.identity(), CONNECT_S + 1)


@contextlib.contextmanager
def _client(kind: Any, where: object, **more: object) -> Iterator[Any]:  # noqa: ANN401
    client = kind(where, timeout=CONNECT_S, set_as_default=False, **more)
    try:
        yield client
    finally:
        client.close(timeout=10)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Workers that die are expected here; Dask's loggers would tell of each at length."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.nanny")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
