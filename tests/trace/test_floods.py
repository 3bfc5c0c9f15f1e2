"""What is named a flood or a scan, and what is not."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console
from tests.trace.rows import batch, connection
from tests.trace.test_core import capture

from rexmit.cli import app
from rexmit.present.show import show
from rexmit.tracing.floods import LEAST, Flood, flood
from rexmit.tracing.folder import Trace, Writer
from rexmit.tracing.page import Page
from rexmit.tracing.sections.page import page_blocks
from rexmit.tracing.source import Facts
from rexmit.tracing.summary import summary

runner = CliRunner()

SERVICE = "192.168.0.1:80"


def attempt(n: int, to: str = SERVICE, *, address: str | None = None, **values: Any) -> Any:  # noqa: ANN401 - any column
    """SYN number `n`, a millisecond after the one before, without an answer."""
    source = address or f"11.0.{n // 250}.{n % 250}"
    usual = {
        "connection": n,
        "flow": f"{source}:{1024 + n} > {to}",
        "closed": "open",
        "start_s": 100 + n / 1000,
        "end_s": 100 + n / 1000,
        "forward_packets": 1,
        "one_sided": True,
    }
    return connection(**{**usual, **values})


def whole(n: int) -> Any:  # noqa: ANN401 - any column
    """A connection with a request and an answer."""
    return connection(
        connection=n,
        forward_packets=5,
        backward_packets=4,
        forward_segments=1,
        backward_segments=2,
        handshake_rtt_s=0.02,
        start_s=100.0,
        end_s=101.0,
    )


def made(folder: Path, rows: Iterable[Any], facts: Facts | None = None) -> Trace:
    with Writer(folder / "t") as writer:
        writer.add(batch(connections=rows))
        return writer.finish(facts or Facts(), {"captures": ["x.pcap"]})


def test_a_syn_flood_is_named(tmp_path: Path) -> None:
    rows = [attempt(n) for n in range(1000)] + [whole(n) for n in range(2000, 2250)]
    trace = made(tmp_path, rows)
    found = flood(trace)
    assert found is not None
    assert found.duration_s == pytest.approx(0.999)
    assert found == Flood(
        kind="syn-flood",
        connections=1000,
        share=0.8,
        unanswered=1000,
        service=SERVICE,
        for_service=1000,
        services=1,
        hosts=1,
        sources=1000,
        start_s=100.0,
        duration_s=found.duration_s,
    )
    written = io.StringIO()
    shown = summary(trace)
    show(page_blocks(Page(trace, shown, (), None)), Console(file=written, width=200))
    assert (
        "SYN flood        1,000 connections (80.0% of all) never got beyond the handshake, "
        "from 1,000 addresses in 999 ms; 1,000 of them to 192.168.0.1:80"
    ) in written.getvalue()
    told = json.loads(json.dumps(Page(trace, shown, (), None).as_json()))
    assert told["flood"]["kind"] == "syn-flood"
    assert told["flood"]["service"] == SERVICE


def test_a_scan_is_named(tmp_path: Path) -> None:
    refused: dict[str, Any] = {"closed": "rst", "backward_packets": 1, "one_sided": False}
    ports = [attempt(n, f"192.168.0.1:{n}", address="11.0.0.1", **refused) for n in range(200)]
    trace = made(tmp_path, ports)
    found = flood(trace)
    assert found is not None
    assert (found.kind, found.services, found.hosts, found.sources) == ("scan", 200, 1, 1)
    assert found.unanswered == 0
    written = io.StringIO()
    show(page_blocks(Page(trace, summary(trace), (), None)), Console(file=written, width=200))
    assert "from 1 address in 199 ms, to 200 ports of 192.168.0.1\n" in written.getvalue()


def test_forged_addresses_are_a_flood_wherever_it_goes(tmp_path: Path) -> None:
    found = flood(made(tmp_path, [attempt(n, f"192.168.0.1:{n}") for n in range(200)]))
    assert found is not None
    assert found.kind == "syn-flood"


def test_backscatter_is_named(tmp_path: Path) -> None:
    answers: dict[str, Any] = {"forward_packets": 0, "backward_packets": 1}
    trace = made(tmp_path, [attempt(n, **answers) for n in range(200)])
    found = flood(trace)
    assert found is not None
    assert found.kind == "backscatter"
    written = io.StringIO()
    show(page_blocks(Page(trace, summary(trace), (), None)), Console(file=written, width=200))
    assert "backscatter      of 200 connections" in written.getvalue()


def test_syns_with_data_are_a_flood(tmp_path: Path) -> None:
    found = flood(made(tmp_path, [attempt(n, forward_segments=1) for n in range(200)]))
    assert found is not None
    assert found.kind == "syn-flood"


@pytest.mark.parametrize(
    "rows",
    [
        [attempt(n) for n in range(LEAST - 1)],
        [attempt(n) for n in range(200)] + [whole(n) for n in range(1000, 1200)],
        [attempt(n, start_s=100.0 + 2 * n) for n in range(200)],
        [attempt(n, mid_stream=True) for n in range(200)],
        [attempt(n, forward_segments=3, forward_packets=5) for n in range(200)],
        [attempt(n, handshake_rtt_s=0.1, backward_packets=1) for n in range(200)],
        [],
    ],
    ids=["few", "no majority", "slow", "mid-stream", "one direction", "whole handshakes", "empty"],
)
def test_anything_else_is_not(rows: list[Any], tmp_path: Path) -> None:
    assert flood(made(tmp_path, rows)) is None


def test_what_made_room_says_which_option_there_is(tmp_path: Path) -> None:
    warning = "9 connections were ended early"
    trace = made(tmp_path, [whole(1)], Facts(evicted=9, evicted_openings=7, warnings=[warning]))
    told = Page(trace, summary(trace), (), None).as_json()
    assert told["facts"]["evicted_openings"] == 7
    assert warning in told["warnings"]
    assert any("--connections-limit" in one for one in told["warnings"])


def test_the_limit_is_an_option(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(capture(100))
    limited = runner.invoke(app, ["trace", str(path), "--connections-limit", "16", "--json"])
    told = json.loads(limited.stdout)
    assert told["totals"]["connections"] == 100
    assert told["facts"]["evicted"] == told["totals"]["evicted"] == 84
    assert told["facts"]["evicted_openings"] == 0
    assert any("84 connections were ended early" in one for one in told["warnings"])
    usual = json.loads(runner.invoke(app, ["trace", str(path), "--json"]).stdout)
    assert usual["facts"]["evicted"] == 0
