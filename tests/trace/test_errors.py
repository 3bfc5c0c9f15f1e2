"""What the two ends said was wrong: from tables by hand."""

from __future__ import annotations

from pathlib import Path

from tests.trace.rows import connection, request, write_trace

from rexmit.library.page import page
from rexmit.tracing.folder import Trace
from rexmit.tracing.sentences import wrong


def told(trace: Trace) -> list[str]:
    said = wrong.said(page(trace).summary)
    assert all(sentence.holds(trace) for sentence in said)
    return [f"{sentence.label} {sentence.text}" for sentence in said]


def test_answers_that_are_errors_are_counted_by_status(tmp_path: Path) -> None:
    made = [connection(connection=n, duration_s=10.0) for n in range(4)]
    statuses = [(0, 200), (0, 503), (1, 404), (1, 503), (1, 301), (2, None)]
    rows = [
        request(connection=n, number=number, status=status)
        for number, (n, status) in enumerate(statuses)
    ]
    (only,) = told(write_trace(tmp_path / "t", connections=made, requests=rows))
    assert only == (
        "HTTP errors 3 of 5 answers of HTTP, in 2 of 4 connections (50.0%): 503 (2), 404 (1)"
    )
    (none,) = told(write_trace(tmp_path / "none", connections=made, requests=rows[:1]))
    assert none.startswith("nothing ")


def test_alerts_say_who_ended_the_handshake(tmp_path: Path) -> None:
    alerts = [{}, *({"alert_by": by, "alert": "unknown_ca"} for by in ("client", "client"))]
    made = [connection(connection=n, **alert) for n, alert in enumerate(alerts)]
    (only,) = told(write_trace(tmp_path / "t", connections=made))
    assert only == "TLS alert 2 of 3 connections (66.7%): the client sent the alert unknown_ca"
    made.append(connection(connection=3, alert_by="server", alert="handshake_failure"))
    (only,) = told(write_trace(tmp_path / "more", connections=made))
    assert only == (
        "TLS alert 3 of 4 connections (75.0%): the client sent the alert unknown_ca (2), the "
        "server sent the alert handshake_failure (1)"
    )
