"""The slowest requests: from tables by hand."""

from __future__ import annotations

import dataclasses
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from tests.show.planted import STRANGE, plant, valued
from tests.trace.rows import connection, request, share, write_trace

from rexmit import trace
from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.tracing.folder import Trace, open_trace
from rexmit.tracing.owners import owners
from rexmit.tracing.requests import requests
from rexmit.tracing.sentences import requests as sentences
from rexmit.tracing.source import Facts

MS = 1_000_000
PROXY = "10.0.0.1:40001 > 10.0.0.9:9000"


def took(ms: int, **values: Any) -> dict[str, Any]:  # noqa: ANN401 - any column
    """A request whose server took so long."""
    start_ns = values.pop("start_ns", 0)
    times = {"first_ns": start_ns + ms * MS, "last_ns": start_ns + ms * MS}
    return request(
        **{"start_ns": start_ns, "owner": "server", "owner_ns": ms * MS, **times, **values}
    )


def made(path: Path, *rows: dict[str, Any], **flows: str) -> Trace:
    connections = [connection(connection=n, duration_s=10.0) for n in range(3)]
    connections[1] |= flows
    return write_trace(path, connections=connections, requests=rows)


def told(of: Trace) -> list[str]:
    said = sentences.said(requests(of))
    assert all(sentence.holds(of) for sentence in said)
    return [f"{sentence.label} {sentence.text}" for sentence in said]


def test_the_slowest_come_first_with_what_was_asked_and_whose_the_time_was(tmp_path: Path) -> None:
    named = {"name": "a.org", "path": "/x", "status": 200}
    rows = [
        took(150),
        took(2_500, start_ns=100 * MS, **named),
        took(300, kind="tls", method=None, name="b.org"),
        took(400, requests=3, path="/y"),
        took(900, first_ns=None, last_ns=None, owner="unanswered", kind="turn", method=None),
    ]
    where = "into connection 0 (10.0.0.2:40000 > 10.0.0.1:80): "
    of = made(tmp_path / "t", *rows)
    answered = where + "the answer began after {0}; {0} of it: the server's program"
    assert told(of) == [
        "2.50 s GET a.org/x (200), 100 ms " + answered.format("2.50 s"),
        f"900 ms a request, 0 s {where}no answer came; 900 ms of it: last request unanswered",
        "400 ms GET /y and 2 more at once, 0 s " + answered.format("400 ms"),
        "300 ms a request over TLS to b.org, 0 s " + answered.format("300 ms"),
    ]
    found = requests(of)
    assert (found.rows, found.slow) == (5, 4)


FRONT = {"connection": 0, "path": "/x"}
BACK = {"connection": 1, "flow": PROXY, "path": "/y", "start_ns": 20 * MS}


@pytest.mark.parametrize(
    ("rows", "is_known"),
    [
        ([took(900, **BACK)], True),
        # It begins before the wait, or ends behind it.
        ([took(900, **{**BACK, "start_ns": -5 * MS})], False),
        ([took(999, **{**BACK, "start_ns": 20 * MS})], False),
        # It explains less than half.
        ([took(400, **BACK)], False),
        # Two connections behind it; another request at the same time.
        ([took(900, **BACK), took(100, **{**BACK, "connection": 2})], False),
        ([took(900, **BACK), took(10, connection=2, start_ns=500 * MS)], False),
        # The second one on its connection, and one long after.
        ([took(900, **BACK), took(20, **{**BACK, "start_ns": 950 * MS})], True),
        ([took(900, **BACK), took(900, **{**BACK, "start_ns": 5_000 * MS})], True),
        # Of another host.
        ([took(900, **{**BACK, "flow": "10.0.0.3:5 > 10.0.0.9:9"})], False),
    ],
)
def test_what_a_proxy_waited_for_is_told_where_nothing_else_may_be(
    rows: list[dict[str, Any]], is_known: bool, tmp_path: Path
) -> None:
    of = made(tmp_path / "t", took(1_000, **FRONT), *rows, flow=PROXY)
    behind = requests(of).slowest[0].behind
    front = next(one for one in requests(of).slowest if one.path == "/x")
    assert (front.behind is not None) == is_known
    if front.behind is not None:
        assert (front.behind.flow, front.behind.path) == (PROXY, "/y")
        line = next(one for one in told(of) if one.startswith("1.00 s"))
        assert ", which waited for GET /y, " in line
    assert behind is None or behind.flow == PROXY


def test_a_proxy_may_have_another_address_behind(tmp_path: Path) -> None:
    back = took(950, **{**BACK, "flow": "10.0.0.7:5 > 10.0.0.9:9"})
    for delay_s in (0.0002, 0.03):
        beside = [
            connection(duration_s=10.0, backward_position="sender"),
            connection(
                connection=1,
                flow="10.0.0.7:5 > 10.0.0.9:9",
                duration_s=10.0,
                forward_monitor_delay_s=delay_s,
            ),
        ]
        times = [
            share(length_ns=1_000 * MS),
            share(connection=1, flow="10.0.0.9:9 > 10.0.0.7:5", length_ns=950 * MS),
        ]
        of = write_trace(
            tmp_path / f"{delay_s}",
            connections=beside,
            requests=[took(1_000, **FRONT), back],
            account=times,
        )
        there = owners(of)
        assert there is not None
        assert [one.hosts for one in there] == [1 if delay_s < 0.001 else 2]


def test_foreign_text_is_escaped_where_it_is_shown(tmp_path: Path) -> None:
    evil = "\x1b]0;x\x07\u202e<script>evil"
    made(tmp_path / "t", took(2_000, name=evil, path=f"/{evil}"))
    shown = CliRunner().invoke(app, ["trace", str(tmp_path / "t")])
    assert shown.exit_code == 0, shown.output
    assert "\\u001b]0;x\\u0007\\u202e<script>evil" in shown.output
    assert not set("\x1b\x07\u202e") & set(shown.output)
    report = tmp_path / "page.html"
    done = CliRunner().invoke(app, ["report", str(tmp_path / "t"), "-o", str(report)])
    assert done.exit_code == 0, done.output
    assert "<script>evil" not in report.read_text()


def test_requests_that_somebody_else_wrote_are_refused_or_read(tmp_path: Path) -> None:
    rows = [
        took(2_000, **FRONT),
        took(1_900, **BACK),
        took(1_500, kind="turn", method=None, path=None),
        took(1_000, first_ns=None, last_ns=None),
    ]
    folder = made(tmp_path / "t", *rows, flow=PROXY).path
    file = folder / "requests.parquet"
    good = pl.read_parquet(file)
    for name, kind in good.schema.items():
        for place, value in enumerate([None, *STRANGE[kind.base_type()]]):
            # Everywhere, and in the row that has no names.
            row = 2 if place % 2 else None
            plant(folder, file, valued(name, value, row)(good))
            with suppress(UserError):
                sentences.said(requests(open_trace(folder)))


def test_a_trace_that_is_there_is_shown_without_names(tmp_path: Path) -> None:
    made(tmp_path / "t", took(2_000, name="a.org", path="/x"))
    for options, there in ((), True), (("--no-names",), False):
        for more in (), ("--json",):
            done = CliRunner().invoke(app, ["trace", str(tmp_path / "t"), *options, *more])
            assert done.exit_code == 0, done.output
            assert ("a.org" in done.output) == there
    opened = trace(tmp_path / "t", names=False)
    assert requests(opened).slowest[0].name is None


def test_the_table_of_the_page_is_sorted_by_how_long_requests_took(tmp_path: Path) -> None:
    made(tmp_path / "t", took(100, path="/b"), took(2_000, path="/a"))
    done = CliRunner().invoke(app, ["report", str(tmp_path / "t"), "--table", "requests"])
    assert done.exit_code == 0, done.output
    head, *lines = done.output.splitlines()
    paths = [line.split(",")[head.split(",").index("path")] for line in lines]
    assert paths == ["/a", "/b"]


def test_packets_that_are_not_whole_are_said_where_requests_lack_names(tmp_path: Path) -> None:
    for kind, is_said in ("turn", True), ("http", False):
        of = write_trace(
            tmp_path / kind,
            connections=[connection()],
            requests=[took(1_000, kind=kind)],
            facts=dataclasses.replace(Facts(), cut_packets=7),
        )
        shown = CliRunner().invoke(app, ["trace", str(of.path)])
        assert ("The capture has not all of 7 packets" in shown.output) == is_said
