"""A page of some hosts, ports or a time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.trace.rows import (
    connection,
    mechanism,
    retransmission,
    whatif,
    whatif_total,
    write_trace,
)

from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.tracing.folder import Trace
from rexmit.tracing.pick import most_trouble
from rexmit.tracing.selection import Wanted, host, select, time_s
from rexmit.tracing.source import Facts
from rexmit.tracing.summary import summary

T = 1_700_000_000.0

FLOWS = (
    "10.0.0.1:5000 > 10.9.0.1:80",
    "10.0.0.2:80 > 10.9.0.1:443",
    "[fd00::1]:5000 > [fd00:1::9]:443",
    "10.0.0.1:5001 > 10.9.0.2:8080",
)


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    """Four connections, a minute apart; the third and fourth waited."""
    waits = (0.0, 0.0, 0.5, 0.25)
    return write_trace(
        tmp_path / "t",
        connections=[
            connection(
                connection=n,
                flow=flow,
                start_s=T + 60 * n,
                end_s=T + 60 * n + 30,
                duration_s=30.0,
                waited_s=waits[n],
            )
            for n, flow in enumerate(FLOWS)
        ],
        mechanisms=[mechanism(connection=n, needed=1, waited_s=waits[n]) for n in (2, 3)],
        retransmissions=[
            retransmission(connection=n, detection_s=waits[n], time_ns=n) for n in (2, 3)
        ],
        whatif=[whatif(connection=3, change_s=-0.2)],
        whatif_totals=[whatif_total()],
        facts=Facts(packets=9, settings=["k=2"]),
    )


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        (Wanted(hosts=[host("10.0.0.1")]), [0, 3]),
        (Wanted(hosts=[host("10.9.0.1")]), [0, 1]),
        (Wanted(hosts=[host("10.0.0.0/24")]), [0, 1, 3]),
        (Wanted(hosts=[host("fd00::/64")]), [2]),
        (Wanted(ports=[80]), [0, 1]),
        (Wanted(ports=[443, 8080]), [1, 2, 3]),
        (Wanted(hosts=[host("10.0.0.1")], ports=[443]), []),
        (Wanted(from_s=T + 90), [1, 2, 3]),
        (Wanted(to_s=T + 59), [0]),
        (Wanted(from_s=T + 31, to_s=T + 119), [1]),
    ],
)
def test_which_connections(trace: Trace, wanted: Wanted, numbers: list[int]) -> None:
    chosen = select(trace, wanted)
    assert chosen.numbered().collect()["number"].to_list() == numbers
    assert chosen.scan("connections").collect().height == len(numbers)
    left = chosen.scan("retransmissions").collect()["connection"].to_list()
    assert left == [n for n in (2, 3) if n in numbers]
    assert chosen.scan("whatif_totals").collect().is_empty()


def test_the_worst_keep_their_numbers(trace: Trace) -> None:
    chosen = select(trace, Wanted(ports=[8080]))
    made = summary(chosen)
    assert [one.number for one in made.worst] == [3]
    assert made.totals.retransmissions == 1
    assert chosen.text == "only those with port 8080: 1 of 4 connections"


def test_words() -> None:
    wanted = Wanted([host("10.0.0.1"), host("10.1.0.0/16")], [80], T, T + 1)
    assert wanted.words() == (
        "with host 10.0.0.1 or a host of 10.1.0.0/16, with port 80, from 2023-11-14 22:13:20 UTC "
        "on, up to 2023-11-14 22:13:21 UTC"
    )
    assert not Wanted()


def test_times() -> None:
    assert time_s("--from", "2023-11-14T22:13:20") == T
    assert time_s("--from", "2023-11-14 23:13:20+01:00") == T
    assert time_s("--to", "1700000000.5") == T + 0.5
    for word in ("tomorrow", "nan", "inf", "1e300", "9e18", "9" * 400):
        with pytest.raises(UserError, match=f"--to {word}: no time"):
            time_s("--to", word)
    with pytest.raises(UserError, match="`hosts` nobody: no address"):
        host("nobody")


def test_the_command_line(trace: Trace) -> None:
    argv = ["trace", str(trace.path), "--host", "10.0.0.1", "--port", "8080"]
    text = CliRunner().invoke(app, argv, catch_exceptions=False).output
    assert "only those with host 10.0.0.1, with port 8080: 1 of 4 connections\n" in text
    assert "connections      1, of 1 client to 1 server; it lasted 30 s\n" in text
    assert f"rexmit show {trace.path} --flow 3\n" in text
    done = CliRunner().invoke(app, [*argv, "--json"], catch_exceptions=False)
    assert json.loads(done.output)["totals"]["connections"] == 1


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        (
            ["--port", "9999"],
            [
                "only those with port 9999: 0 of 4 connections",
                "nothing          no connection with port 9999",
                "ports there      443 (2 connections), 80 (1 connection) and 8080 (1 connection)",
                "what to do       give what is there, or leave out --port",
            ],
        ),
        (
            ["--host", "192.0.2.1", "--to", "1000000000"],
            [
                "only those with host 192.0.2.1, up to 2001-09-09 01:46:40 UTC: 0 of 4 connections",
                (
                    "nothing          no connection with host 192.0.2.1 and none up to 2001-09-09 "
                    "01:46:40 UTC"
                ),
                (
                    "hosts there      10.0.0.1 (2 connections), 10.9.0.1 (2 connections), 10.0.0.2 "
                    "(1 connection), 10.9.0.2 (1 connection), fd00:1::9 (1 connection) and 1 more"
                ),
                "time there       from 2023-11-14 22:13:20 UTC to 2023-11-14 22:16:50 UTC",
                "what to do       give what is there, or leave out --host and --to",
            ],
        ),
        (
            ["--host", "10.0.0.1", "--port", "443"],
            [
                "only those with host 10.0.0.1, with port 443: 0 of 4 connections",
                (
                    "nothing          no connection fits all of it; of 4 connections there are 2 "
                    "with host 10.0.0.1 and 2 with port 443"
                ),
                "what to do       leave out --host or --port",
            ],
        ),
    ],
)
def test_what_fits_nothing(trace: Trace, options: list[str], lines: list[str]) -> None:
    for more in ([], ["--by", "port"]):
        argv = ["trace", str(trace.path), *options, *more]
        done = CliRunner().invoke(app, argv, env={"COLUMNS": "300"}, catch_exceptions=False)
        assert done.output.splitlines()[1:] == lines
        assert "no TCP connection" not in done.output
    argv = ["trace", str(trace.path), *options, "--json"]
    told = json.loads(CliRunner().invoke(app, argv, catch_exceptions=False).output)
    assert told["totals"]["connections"] == 0
    assert told["selected"] == lines[0]


def test_a_table_by_port(trace: Trace) -> None:
    argv = ["trace", str(trace.path), "--by", "port", "--host", "10.0.0.0/8"]
    lines = CliRunner().invoke(app, argv, catch_exceptions=False).output.splitlines()
    assert lines[0] == "only those with a host of 10.0.0.0/8: 3 of 4 connections"
    assert [line.split()[:2] for line in lines[4:7]] == [["8080", "1"], ["443", "1"], ["80", "1"]]
    assert lines[4].split()[5:7] == ["250", "ms"]
    done = CliRunner().invoke(app, [*argv, "--json"], catch_exceptions=False)
    assert [one["key"] for one in json.loads(done.output)["groups"]] == ["8080", "443", "80"]
    with pytest.raises(UserError, match="--by colour: no such table"):
        CliRunner().invoke(app, [*argv[:3], "colour"], catch_exceptions=False)


def test_the_connection_to_look_at_first(trace: Trace, tmp_path: Path) -> None:
    assert most_trouble(trace) == (
        2,
        "connection 2 of 4: it waited longest, 500 ms; others: --flow 3, --flow 0, --flow 1",
    )
    calm = select(trace, Wanted(ports=[80]))
    assert most_trouble(calm) == (
        0,
        "connection 0 of 2: none has a retransmission, and it carried most data; others: --flow 1",
    )
    with pytest.raises(UserError, match="there is no TCP connection"):
        most_trouble(write_trace(tmp_path / "none"))
