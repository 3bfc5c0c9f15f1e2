"""The counts as OpenMetrics over HTTP, for Prometheus and its kin."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from socketserver import ThreadingMixIn
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, ProcessCollector, make_wsgi_app
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from rexmit.errors import UserError, argument
from rexmit.tracing.watch.tally import Tally

LOOPBACK: Final = "127.0.0.1"

MOST_CLIENTS: Final = 16
"""Connections at a time; others are closed. The monitor needs open files and threads itself."""


def address(word: str) -> tuple[str, int]:
    """`ADDRESS:PORT`, or a port on loopback. Raises UserError (usage)."""
    host, colon, port = word.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if (
        (colon and not host)
        or not (port.isascii() and port.isdecimal())
        or not 0 < int(port) < 65_536
    ):
        raise UserError(
            f"{argument('metrics_address')} {word}: no address and port",
            "as in 127.0.0.1:9100, or 9100 for that",
            usage=True,
        )
    return host or LOOPBACK, int(port)


class _Counts(Collector):
    def __init__(self, tally: Callable[[], Tally]) -> None:
        self._tally = tally

    def collect(self) -> Iterable[Metric]:
        """Everything, as it is now."""
        now = self._tally()
        yield _counter("packets", "Packets read.", now.packets)
        yield _counter("tcp_packets", "TCP packets read.", now.tcp_packets)
        yield _counter("bytes", "Bytes of the packets read, on the wire.", now.bytes)
        yield _counter("connections", "Connections whose rows were written.", now.connections)
        retransmissions = CounterMetricFamily(
            "rexmit_retransmissions",
            "Retransmissions whose rows were written.",
            labels=("mechanism", "need"),
        )
        for (mechanism, need), n in sorted(now.retransmissions.items()):
            retransmissions.add_metric((mechanism, need), n)
        yield retransmissions
        waited = CounterMetricFamily(
            "rexmit_waited_seconds",
            "Time waited for a timer, or for ACKs that show a loss.",
            labels=("mechanism",),
            unit="seconds",
        )
        for mechanism, waited_s in sorted(now.waited_s.items()):
            waited.add_metric((mechanism,), waited_s)
        yield waited
        skipped = CounterMetricFamily(
            "rexmit_skipped_packets",
            "Packets that are not TCP, or cannot be read.",
            labels=("why",),
        )
        for why, n in sorted(now.skipped.items()):
            skipped.add_metric((why,), n)
        yield skipped
        yield _counter("evicted_connections", "Connections that made room.", now.evicted)
        yield _counter("failed_connections", "Connections whose analysis failed.", now.failed)
        dropped = CounterMetricFamily(
            "rexmit_dropped_packets",
            "Packets that were dropped before they reached the capture.",
            labels=("told_by",),
        )
        dropped.add_metric(("interface",), now.interface_drops)
        dropped.add_metric(("system",), now.system_drops)
        dropped.add_metric(("tcpdump",), now.tcpdump_drops)
        yield dropped
        yield _counter("clock_steps_back", "Time stamps before the one before.", now.steps_back)
        yield _counter("pieces", "Folders of tables written.", now.pieces)
        yield _counter("deleted_pieces", "Folders of tables deleted.", now.pieces_deleted)
        if (lag_s := now.lag_s()) is not None:
            assert now.clock_s is not None  # noqa: S101 - there is a lag
            yield GaugeMetricFamily(
                "rexmit_capture_clock_seconds",
                "Time stamp of the last packet, since 1970.",
                now.clock_s,
                unit="seconds",
            )
            yield GaugeMetricFamily(
                "rexmit_lag_seconds",
                "How far the capture's clock is behind the wall clock.",
                lag_s,
                unit="seconds",
            )


def _counter(name: str, about: str, value: float) -> CounterMetricFamily:
    return CounterMetricFamily(f"rexmit_{name}", about, value=value)


class _Handler(WSGIRequestHandler):
    """What answers a client, which need not be a friend: one that says nothing is left."""

    timeout = 5.0

    def log_message(self, *_: object) -> None:
        """Says nothing."""


class _Server(ThreadingMixIn, WSGIServer):
    """A server of a few clients, which says nothing of those that go away or ask for nonsense."""

    daemon_threads = True

    def __init__(self, where: tuple[str, int], app: Any) -> None:  # noqa: ANN401 - of WSGI
        """Raises OSError."""
        addresses = socket.getaddrinfo(*where, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        self.address_family = addresses[0][0]
        self._room = threading.BoundedSemaphore(MOST_CLIENTS)
        super().__init__(where, _Handler)
        self.set_app(app)

    def verify_request(self, *_: object) -> bool:
        return self._room.acquire(blocking=False)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._room.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, *_: object) -> None:
        """Says nothing."""


@contextlib.contextmanager
def served(where: tuple[str, int] | None, tally: Callable[[], Tally]) -> Iterator[None]:
    """Inside, what `tally` gives is told at http://ADDRESS:PORT/metrics, with this process's memory
    and CPU. Raises UserError where that address cannot be had.
    """
    if where is None:
        yield
        return
    registry = CollectorRegistry()
    registry.register(_Counts(tally))
    ProcessCollector(registry=registry)
    host, port = where
    try:
        server = _Server((host, port), make_wsgi_app(registry))
    except OSError as error:
        raise UserError(
            f"{argument('metrics_address')} {host}:{port}: {error.strerror or error}",
            "name another address or port",
        ) from error
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
