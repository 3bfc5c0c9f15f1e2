"""Whoever reaches the counts may ask for them, and do nothing else to the monitor."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import urllib.request

import pytest
from tests.sources.servers import free_port

from rexmit.tracing.watch import metrics
from rexmit.tracing.watch.tally import Tally


def test_clients_that_say_nothing_cost_little(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(metrics._Handler, "timeout", 2.0)
    port = free_port()
    before = threading.active_count()
    with metrics.served(("127.0.0.1", port), Tally), contextlib.ExitStack() as clients:
        silent = [
            clients.enter_context(socket.create_connection(("127.0.0.1", port), 30))
            for _ in range(3 * metrics.MOST_CLIENTS)
        ]
        # All are closed: those too many at once, the others as they say nothing.
        assert all(one.recv(1) == b"" for one in silent)
        assert threading.active_count() <= before + 1 + metrics.MOST_CLIENTS
        # One that goes away in the middle.
        with socket.create_connection(("127.0.0.1", port)) as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            one.sendall(b"GET /metrics HTTP/1.1\r\n")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
            assert b"rexmit_packets_total 0.0" in answer.read()
    assert capfd.readouterr().err == ""
