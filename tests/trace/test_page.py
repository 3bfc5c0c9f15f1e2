"""The page of a trace, from tables by hand."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.trace.rows import (
    batch,
    connection,
    mechanism,
    retransmission,
    whatif,
    whatif_total,
    write_trace,
)
from typer.testing import CliRunner

from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.tracing.advice import advice
from rexmit.tracing.as_json import page_data
from rexmit.tracing.folder import Trace
from rexmit.tracing.print_page import print_page
from rexmit.tracing.print_settings import helping
from rexmit.tracing.reasons import reason
from rexmit.tracing.source import Facts, File
from rexmit.tracing.summary import summary
from rexmit.whatif.calibration import Calibration

runner = CliRunner()


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    """Three connections: one with two timeouts, one with a spurious probe, one without trouble."""
    lossy = connection(
        connection=0,
        duration_s=4.0,
        start_s=100.0,
        end_s=104.0,
        backward_packets=100,
        backward_bytes=144_800,
        backward_segments=100,
        backward_bytes_retransmitted=2 * 1448,
        waited_s=1.5,
        backward_stack="linux-6",
        backward_capture_losses=3,
    )
    probed = connection(
        connection=1,
        flow="10.0.0.3:5 > 10.0.0.1:80",
        duration_s=1.0,
        start_s=101.0,
        end_s=102.0,
        forward_packets=10,
        forward_segments=10,
        forward_bytes=1000,
        forward_bytes_retransmitted=1448,
        waited_s=0.25,
        mid_stream=True,
    )
    plain = connection(connection=2, duration_s=5.0, start_s=102.0, end_s=107.0, one_sided=True)
    retransmissions = [
        retransmission(
            connection=0, detection_s=0.5, waited_s=0.5, detection_rtts=5.0, flight_segments=1
        ),
        retransmission(
            connection=0,
            detection_s=1.25,
            waited_s=1.0,
            detection_rtts=10.0,
            time_s=2.0,
            time_ns=2_000_000_000,
            need="unknown",
            episode=1,
            flight_segments=2,
        ),
        retransmission(
            connection=1,
            direction="forward",
            mechanism="tlp",
            episode_cause="tlp",
            need="spurious",
            detection_s=0.25,
            waited_s=0.25,
            detection_rtts=2.5,
        ),
    ]
    settings = [
        whatif(connection=0, setting="k=2", change_s=-0.5, waited_change_s=-0.3, rto_to_fr=1),
        whatif(connection=1, setting="k=2", waited_change_s=0.1, spurious_rto_caused=4),
        whatif(connection=0, setting="k=2,a=1/2", change_s=-0.7, waited_change_s=-0.6),
        whatif(connection=0, setting="k=8", waited_change_s=0.6),
        whatif(connection=0, setting="k=2,a=1/4", waited_change_s=-0.55),
    ]
    facts = Facts(
        packets=120,
        not_understood={"arp": 4, "udp": 7, "fragment": 5, "cut-short": 6},
        warnings=["x.pcap ends within a packet"],
        settings=["k=2", "k=8", "k=2,a=1/2", "k=2,a=1/4"],
    )
    return write_trace(
        tmp_path / "t",
        connections=[lossy, probed, plain],
        mechanisms=[
            mechanism(connection=0, needed=2, waited_s=1.5),
            mechanism(
                connection=1, direction="forward", mechanism="tlp", spurious=1, waited_s=0.25
            ),
        ],
        retransmissions=retransmissions,
        whatif=settings,
        facts=facts,
    )


def test_totals(trace: Trace) -> None:
    totals = summary(trace).totals
    assert (totals.connections, totals.with_retransmissions, totals.with_loss) == (3, 2, 1)
    assert (totals.retransmissions, totals.segments, totals.bytes) == (3, 110, 145_800)
    assert (totals.waited_s, totals.duration_s) == (1.75, 10.0)
    assert (totals.start_s, totals.end_s) == (100.0, 107.0)
    assert (totals.capture_losses, totals.with_capture_losses) == (3, 1)


def test_mechanisms_by_what_they_cost(trace: Trace) -> None:
    rto, tlp = summary(trace).mechanisms
    assert (rto.mechanism, rto.needed, rto.spurious, rto.unknown) == ("rto", 1, 0, 1)
    assert (rto.waited_s, rto.median_s, rto.median_rtts) == (1.5, 0.875, 7.5)
    assert (tlp.mechanism, tlp.spurious, tlp.waited_s) == ("tlp", 1, 0.25)


def test_the_worst_come_first_with_their_row(trace: Trace) -> None:
    first, second = summary(trace).worst
    assert (first.number, first.waited_s, first.stack, first.retransmissions) == (
        0,
        1.5,
        "linux-6",
        2,
    )
    assert first.reason.startswith("2 timeouts, the longest 1.00 s: too few packets were in flight")
    assert (second.number, second.stack) == (1, None)
    assert second.reason == (
        "1 tail loss probe after 250 ms: it was spurious, the original had arrived"
    )


def test_multipath_connections(tmp_path: Path) -> None:
    def subflow(number: int, of: int, **values: Any) -> dict[str, Any]:  # noqa: ANN401
        return connection(connection=number, mptcp_connection=of, **values)

    again = {"mechanism": "mptcp-reinject", "episode_cause": "mptcp-reinject", "connection": 4}
    rows = [
        retransmission(**again, detection_s=0.25, waited_s=0.05, episode=-1),
        retransmission(**again, detection_s=0.3, waited_s=0.25, episode=-1, need="spurious"),
    ]
    trace = write_trace(
        tmp_path / "t",
        connections=[
            subflow(3, 3),
            subflow(
                4,
                3,
                waited_s=0.3,
            ),
            subflow(7, 7),
            connection(connection=9),
        ],
        mechanisms=[
            mechanism(connection=4, mechanism="mptcp-reinject", needed=1, waited_s=0.3),
        ],
        retransmissions=rows,
    )
    made = summary(trace)
    multipath = made.multipath
    assert multipath is not None
    assert (multipath.connections, multipath.joined, multipath.subflows) == (2, 1, 3)
    assert (multipath.reinjections, multipath.spurious) == (2, 1)
    assert multipath.reinjected_bytes == 2 * 1448
    (told,) = [line for line in printed(trace) if line.startswith("Multipath TCP")]
    assert told == (
        "Multipath TCP 2 connections of 3 subflows, 1 with more than one; 2 packets sent again on "
        "another subflow (2.9 kB), 1 of them spurious"
    )
    assert made.worst[0].reason == (
        "2 packets sent again on another subflow, the longest 250 ms: the data were lost or late "
        "on the subflow that had them first"
    )
    assert page_data(trace, made, ())["multipath"]["joined"] == 1
    # That no stack is named for them says nothing.
    assert made.senders == ()


def test_without_multipath_nothing_is_said_of_it(trace: Trace) -> None:
    assert summary(trace).multipath is None
    assert not any("Multipath" in line for line in printed(trace))


def test_senders(trace: Trace) -> None:
    assert [(one.stack, one.connections) for one in summary(trace).senders] == [
        ("linux-6", 1),
        ("none", 1),
    ]


def test_advice(trace: Trace) -> None:
    best, single = advice(trace)
    assert (best.setting, best.saved_s, best.alone) == ("k=2,a=1/2", 0.6, False)
    assert (single.setting, single.shorter, single.longer) == ("k=2", 1, 0)
    assert single.saved_s == pytest.approx(0.2)
    assert (single.spurious, single.to_fr) == (4, 1)


def test_a_connection_is_shorter_only_where_less_is_waited(tmp_path: Path) -> None:
    rows = [
        whatif(connection=0, change_s=-0.5, waited_change_s=-0.02),
        whatif(connection=1, change_s=-0.5),
    ]
    ends = [connection(connection=n, duration_s=1.0, waited_s=0.1) for n in (0, 1)]
    (one,) = advice(write_trace(tmp_path / "t", connections=ends, whatif=rows))
    assert one.shorter == 1
    assert one.saved_s == pytest.approx(0.02)


def test_a_setting_that_makes_more_connections_longer_is_no_help(tmp_path: Path) -> None:
    rows = [whatif(connection=0, change_s=change_s, waited_change_s=-0.5) for change_s in (0.2, 0)]
    rows[1]["setting"] = "k=1"
    ends = [connection(connection=0, duration_s=1.0, waited_s=1.0)]
    again = [retransmission(connection=0, detection_s=1.0)]
    made = write_trace(tmp_path / "t", connections=ends, retransmissions=again, whatif=rows)
    told = [one.setting for one in helping(advice(made), summary(made).totals)]
    assert told == ["k=1"]


def test_a_grid_is_summed_up_already(tmp_path: Path) -> None:
    rows = [
        whatif_total(
            setting="k=2,b=1", stack=stack, shorter=2, waited_change_s=-3.0, spurious_fr_caused=5
        )
        for stack in ("linux-6.12", "rfc")
    ]
    (one,) = advice(write_trace(tmp_path / "t", whatif_totals=rows))
    assert (one.setting, one.alone, one.saved_s) == ("k=2,b=1", False, 6.0)
    assert (one.shorter, one.longer, one.spurious) == (4, 0, 10)


def printed(trace: Trace, checked: Calibration | None = None) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=120, color_system=None)
    made = summary(trace)
    settings = advice(trace)
    print_page(
        trace.captures, trace.facts, made, settings, console, kept=trace.path, checked=checked
    )
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def test_printed(trace: Trace) -> None:
    lines = printed(trace)
    assert lines[0] == "x.pcap: 120 packets in 7.00 s"
    assert "connections 3, of 2 clients to 1 server; together they lasted 10 s" in lines
    assert (
        "retransmissions 3 packets in 2 of 3 connections (66.7%): 1 needed, 1 spurious, 1 unclear"
    ) in lines
    assert "with data 3 of 110 packets (2.7%), 4.3 kB of 145.8 kB (3.0%)" in lines
    assert "warning: x.pcap ends within a packet" in lines
    assert (
        "warning: 11 packets could not be read: 6 cut off before the TCP header ends, 5 IP "
        "fragments without a TCP header"
    ) in lines
    assert "not TCP 11 packets: 7 UDP, 4 ARP" in lines
    assert "retransmission timeout (rto) 2 66.7% 1 0 1 1.50 s 875 ms 7.5" in lines
    assert f"one of them, packet by packet: rexmit show {trace.path} --flow 0" in lines
    assert (
        "k=2 200 ms 1 0 0 1 0 4 timeout = smoothed RTT + 2 times the RTT variation (RFC 6298: 4)"
    ) in lines
    assert any("only one direction is in the capture" in line for line in lines)
    (best,) = [line for line in lines if "would have saved" in line]
    assert best.startswith("k=2,a=1/2: timeout = smoothed RTT + 2 times the RTT variation")
    assert best.endswith(
        ". It would have saved 600 ms of the 1.75 s waited (34.3%), made 1 connection shorter by "
        "more than a tenth and caused no spurious retransmissions"
    )


def test_predictions_say_how_far_they_were_off(trace: Trace) -> None:
    row = {"setting": "k=2", "n": 40, "median": 0.012, "p95": 0.2, "wrong": 0.05}
    checked = Calibration("2026-01-01", "0.1.0", "model", 1, [row])
    lines = printed(trace, checked)
    assert any(line.startswith("k=2 200 ms 1 0 0 1 0 4 1.2% 20.0% 5.0% timeout") for line in lines)
    assert any(line.startswith("k=2,a=1/2 600 ms 1 0 0 0 0 0 - - - timeout") for line in lines)
    (told,) = [line for line in lines if line.startswith("off by:")]
    assert "(model, 2026-01-01)" in told
    data = page_data(trace, summary(trace), advice(trace), checked)["settings"]
    assert [one["off_by"] and one["off_by"]["p95"] for one in data] == [None, 0.2]
    assert any("has not been measured here" in line for line in printed(trace))


def test_without_retransmissions(tmp_path: Path) -> None:
    lines = printed(write_trace(tmp_path / "t", connections=[connection()]))
    assert (
        "nothing no retransmission, no closed window, no reset, no SYN without an answer"
    ) in lines
    assert not any("setting" in line for line in lines)


def test_without_anything(tmp_path: Path) -> None:
    facts = Facts(packets=3, not_understood={"malformed": 3})
    lines = printed(write_trace(tmp_path / "t", facts=facts))
    assert lines[0] == "x.pcap: 3 packets"
    assert (
        "warning: 3 packets could not be read: with lengths that contradict each other"
    ) in lines
    assert lines[-1] == "not known no TCP packet could be read: see the warning above"


def test_what_was_asked_for_by_name_is_printed_whatever_it_does(tmp_path: Path) -> None:
    rows = [
        whatif(setting="d=4", waited_change_s=0.5, change_s=3.0, spurious_rto_caused=2),
        whatif(setting="min_rto=400ms", avoided=2),
        whatif(setting="k=6", avoided=2),
    ]
    asked = ("min_rto=400ms", "d=4", "d=3")
    made = write_trace(
        tmp_path / "t",
        connections=[connection(duration_s=10.0, waited_s=1.0)],
        mechanisms=[mechanism(spurious=2)],
        retransmissions=[retransmission(need="spurious"), retransmission(need="spurious")],
        whatif=rows,
        facts=Facts(settings=(*asked, "k=6"), named=asked),
    )
    assert [one.setting for one in advice(made)] == ["d=3", "min_rto=400ms", "d=4"]
    lines = " ".join(printed(made))
    assert (
        "(Linux: rto_min, 200 ms). It would have saved nothing of the time waited, avoided all 2 "
        "retransmissions and caused no spurious retransmissions"
    ) in lines
    assert (
        "It would have added 500 ms to the 1.00 s waited (50.0%), made 0 connections shorter by "
        "more than a tenth and 1 longer and caused 2 spurious retransmissions"
    ) in lines
    assert "d=4 -500 ms 0 1 0 0 0 2" in lines
    assert "nothing else: the other setting tried would not have saved a tenth" in lines
    assert "k=6" not in lines


def test_what_nothing_acknowledged_is_told_and_no_setting_helps(tmp_path: Path) -> None:
    hole = {
        "backward_unacked_sends": 9,
        "backward_unanswered_sends": 8,
        "backward_unanswered_s": 63.7,
        "backward_unacked_size_bytes": 1148,
        "backward_acked_size_bytes": 216,
    }
    gone = hole | {"backward_unanswered_sends": 9, "backward_acked_size_bytes": 1448}
    either = hole | {"backward_unanswered_sends": 9, "backward_unanswered_s": 90.0}
    once = gone | {"backward_unacked_sends": 2, "backward_unanswered_sends": 1}
    beside = hole | {"backward_position": "receiver", "backward_unanswered_sends": 1}

    def told(*which: Mapping[str, object]) -> list[str]:
        name = str(len(list(tmp_path.iterdir())))
        ends = [connection(connection=n, **one) for n, one in enumerate(which)]
        lines = printed(
            write_trace(
                tmp_path / name,
                connections=ends,
                mechanisms=[mechanism(connection=0, needed=1)],
                retransmissions=[retransmission(connection=0)],
                facts=Facts(settings=("k=2",)),
            )
        )
        return [line for line in lines if line.startswith(("path MTU", "no answer", "no setting"))]

    why = "no setting saves what was waited for data that were never acknowledged"
    (mtu, said) = told(hole)
    assert said == why
    assert "nothing larger than 216 bytes arrives: at least 1,148 bytes were sent 9 times" in mtu
    (silent, _) = told(gone)
    assert silent.startswith("no answer")
    assert "the peer stopped answering: what was next was sent 9 times" in silent
    assert "MTU" not in silent
    (silent, _) = told(either, gone)
    assert "2 connections; longest" in silent
    assert silent.endswith("it may be the path's MTU, too")
    assert len(told(hole, gone)) == 3
    assert told(once) == told(beside) == told({}) == []


def test_a_setting_that_saves_less_than_the_page_shows_is_no_advice(tmp_path: Path) -> None:
    rows = [
        whatif(setting="k=2", waited_change_s=-0.02),
        whatif(setting="d=2", waited_change_s=-0.004),
        whatif(setting="smart", waited_change_s=0.0, change_s=-3.0, spurious_fr_avoided=9),
    ]

    def settings(waited_s: float) -> list[str]:
        lossy = connection(waited_s=waited_s, duration_s=100.0)
        made = write_trace(tmp_path / f"{waited_s}", connections=[lossy], whatif=rows)
        return [one.setting for one in advice(made)]

    assert settings(1.0) == ["k=2"]
    assert settings(50.0) == []


# Reasons.


def why(*rows: dict[str, Any], segments: int = 100) -> str:
    return reason(batch(retransmissions=rows)["retransmissions"], segments=segments)


def test_the_reason_is_what_cost_most() -> None:
    slow = retransmission(detection_s=1.5, waited_s=1.0, episode=0, copy=1, flight_segments=20)
    quick = [
        retransmission(
            detection_s=2.0, waited_s=0.1, episode=n, mechanism="rack", episode_cause="rack"
        )
        for n in range(1, 4)
    ]
    assert why(slow, *quick).startswith("1 timeout after 1.00 s: ")
    assert why(*quick) == (
        "3 packets retransmitted in 3 recoveries, of 100 packets with data (3.0%): a recovery "
        "takes a round trip or more"
    )


def test_a_second_timeout_is_a_wait_of_its_own() -> None:
    rows = [
        retransmission(time_s=2.0, detection_s=1.5, waited_s=1.0, flight_segments=9),
        retransmission(time_s=4.0, detection_s=3.0, waited_s=2.0, flight_segments=9, copy=2),
        retransmission(time_s=4.1, detection_s=3.0, waited_s=0.1, mechanism="rto-recovery"),
        retransmission(
            time_s=4.5, detection_s=0.1, mechanism="rto-recovery", episode_cause="rto-recovery"
        ),
    ]
    assert why(*rows).startswith("2 timeouts, the longest 2.00 s")


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"length_bytes": 0}, "open or close the connection (SYN, FIN)"),
        ({"need": "spurious"}, "it was spurious, the original had arrived"),
        ({"copy": 4}, "lost 4 times in a row, and the timer doubled"),
        ({"flight_segments": 2}, "too few packets were in flight"),
        ({"lost_in_flight": 7, "flight_segments": 9}, "up to 7 packets of a flight"),
        ({"flight_segments": 9}, "no acknowledgement pointed to the loss"),
    ],
)
def test_why_a_timeout(values: dict[str, Any], told: str) -> None:
    assert told in why(retransmission(waited_s=0.2, **values))


def test_what_cannot_be_timed() -> None:
    assert why(retransmission()) == "1 retransmission, which was not waited for"


# The command line.


def test_a_trace_is_shown_again(trace: Trace) -> None:
    words = ["trace", str(trace.path)]
    told = runner.invoke(app, words, catch_exceptions=False).output
    assert "k=2,a=1/2: timeout = smoothed RTT + 2 times" in told
    data = json.loads(runner.invoke(app, [*words, "--json"], catch_exceptions=False).output)
    assert data["totals"]["retransmissions"] == 3
    assert data["settings"][0]["setting"] == "k=2,a=1/2"
    assert data["worst"][0]["number"] == 0
    assert len(data["warnings"]) == 6


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["x.pcap", "--csv"], "--csv writes files"),
        (["-", "x.pcap"], "- is read alone"),
        (["nowhere.pcap"], "there is no such file"),
        (["{empty}"], "is a folder"),
    ],
)
def test_wrong_usage(words: list[str], told: str, tmp_path: Path) -> None:
    argv = [word.format(empty=tmp_path) for word in words]
    with pytest.raises(UserError, match=told):
        runner.invoke(app, ["trace", *argv], catch_exceptions=False)


def test_times_and_packets_that_are_no_tcp(tmp_path: Path) -> None:
    start_s = 1_700_000_000.0
    for last_s, told in ((0.2, "in 200 ms, 2023-11-14 22:13:20 UTC"), (2.0, " to 22:13:22 UTC")):
        file = File("x.pcap", 3, start_s, start_s + last_s)
        facts = Facts(packets=3, not_understood={"other-protocol": 1}, files=(file,))
        lines = printed(write_trace(tmp_path / told[-6:-4], facts=facts))
        assert lines[0].endswith(told)
        assert lines[1] == "not TCP 1 packet, of another IP protocol"
        assert lines[-1] == "nothing there is no TCP connection in the capture"


def test_packets_that_are_cut_short_say_what_to_do(tmp_path: Path) -> None:
    facts = Facts(packets=3, not_understood={"cut-short": 3})
    lines = printed(write_trace(tmp_path / "t", facts=facts))
    assert lines[1:3] == [
        "warning: 3 packets could not be read: cut off before the TCP header ends",
        "warning: capture more of each packet: tcpdump -s 128 or more",
    ]
    assert lines[-1] == "not known no TCP packet could be read: see the warning above"
