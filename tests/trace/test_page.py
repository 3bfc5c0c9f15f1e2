"""The page of a trace, from tables by hand."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
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

from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.present.show import show
from rexmit.store.trace_schema import SIDES
from rexmit.tracing.advice import advice
from rexmit.tracing.folder import Trace
from rexmit.tracing.page import Page
from rexmit.tracing.sections.page import page_blocks
from rexmit.tracing.sections.settings import helping
from rexmit.tracing.sentences import wrong
from rexmit.tracing.sentences.reasons import reason
from rexmit.tracing.sentences.settings import not_applied
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
        backward_wire_segments=100,
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
        forward_wire_segments=10,
        forward_bytes=1000,
        forward_bytes_retransmitted=1448,
        waited_s=0.25,
        mid_stream=True,
    )
    plain = connection(connection=2, duration_s=5.0, start_s=102.0, end_s=107.0, one_sided=True)
    retransmissions = [
        retransmission(
            connection=0,
            detection_s=0.5,
            waited_s=0.5,
            detection_rtts=5.0,
            flight_segments=1,
            recovery_s=0.1,
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
            recovery_s=0.1,
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
    assert first.reason.text.startswith(
        "2 timeouts, the longest wait 1.00 s: too few packets were in flight"
    )
    assert (second.number, second.stack) == (1, None)
    assert second.reason.text == (
        "1 tail loss probe after a wait of 250 ms: it was spurious, the original had arrived"
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
    assert made.worst[0].reason.text == (
        "2 packets sent again on another subflow, the longest wait 250 ms"
    )
    assert Page(trace, made, (), None).as_json()["multipath"]["joined"] == 1
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


def test_that_none_helps_is_said_of_none_that_does(tmp_path: Path) -> None:
    """One saves half of what was waited, and makes more connections longer than shorter."""
    rows = [whatif(connection=n, change_s=0.2 * n, waited_change_s=-0.25) for n in (0, 1)]
    ends = [connection(connection=n, duration_s=1.0, waited_s=0.5) for n in (0, 1)]
    again = [retransmission(connection=0, detection_s=1.0)]
    facts = Facts(settings=["k=2", "k=8"])
    made = write_trace(
        tmp_path / "t", connections=ends, retransmissions=again, whatif=rows, facts=facts
    )
    told = (
        "nothing: of the 2 other settings tried, even those that save most would make more "
        "connections longer by a tenth than shorter, or save less than a tenth of the time waited"
    )
    assert told in printed(made)


def test_to_what_no_setting_was_applied(tmp_path: Path) -> None:
    """The cause is known of what was sent again for another reason than a loss."""
    rows = [
        retransmission(mechanism="unknown", missing="short-timer-twice"),
        retransmission(mechanism="unknown", basis="path-mtu"),
        retransmission(),
    ]
    counted = [mechanism(mechanism="unknown", waited_s=0.25), mechanism(waited_s=0.5)]
    made = write_trace(
        tmp_path / "t",
        connections=[connection(duration_s=2.0, waited_s=0.75)],
        mechanisms=counted,
        retransmissions=[row | {"waited_s": 0.25} for row in rows],
        facts=Facts(settings=["k=2"]),
    )
    told = "no setting was applied to 1 retransmission of unknown cause, waited for 125 ms"
    assert told in printed(made)
    sentence = not_applied(summary(made))
    assert sentence is not None
    assert sentence.text == told
    assert sentence.holds(made)
    known = [retransmission()]
    assert not_applied(summary(write_trace(tmp_path / "known", retransmissions=known))) is None


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
    show(page_blocks(Page(trace, summary(trace), advice(trace), checked), kept=trace.path), console)
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def test_printed(trace: Trace) -> None:
    lines = printed(trace)
    assert lines[0] == "x.pcap: 120 packets in 7.00 s"
    assert "connections 3, of 2 clients to 1 server; together they lasted 10 s" in lines
    assert (
        "retransmissions 3 packets in 2 of 3 connections (66.7%): 1 needed, 1 spurious, 1 not known"
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
    data = Page(trace, summary(trace), advice(trace), checked).as_json()["settings"]
    assert [one["off_by"] and one["off_by"]["p95"] for one in data] == [None, 0.2]
    assert any("has not been measured here" in line for line in printed(trace))


def test_copies_are_no_part_of_what_was_sent(tmp_path: Path) -> None:
    """Each packet was recorded twice: a share of all that was recorded would be half of it."""
    doubled = connection(
        backward_bytes=40_000,
        backward_unique_bytes=18_000,
        backward_bytes_retransmitted=2_000,
        backward_segments=40,
        backward_wire_segments=40,
        backward_capture_duplicates=20,
    )
    again = [retransmission(length_bytes=1_000, time_ns=n) for n in (1, 2)]
    counts = [mechanism(needed=2)]
    folder = tmp_path / "doubled"
    lines = printed(
        write_trace(folder, connections=[doubled], retransmissions=again, mechanisms=counts)
    )
    assert "data 20.0 kB; with copies, 40.0 kB in 40 packets" in lines
    assert "with data 2 packets, 2.0 kB of 20.0 kB (10.0%)" in lines
    assert "warning: the capture recorded packets again that it had recorded before: 20 copies" in (
        lines
    )


@pytest.mark.parametrize(
    ("stamps", "told"),
    [(False, "with data 5 of 41 segments (12.2%)"), (True, "with data 6 of 41 segments (14.6%)")],
)
def test_a_share_counts_what_the_wire_carried_above_and_below(
    stamps: bool, told: str, tmp_path: Path
) -> None:
    """4,380 bytes are 3 segments of 1,460 bytes, or 4 of 1,448; a card cut 5 packets up."""
    offers = {f"{side}_mss_bytes": 1_460 for side in ("forward", "backward")}
    offers |= {f"{side}_timestamps": stamps for side in ("forward", "backward")}
    both = connection(
        **offers,
        backward_segments=11,
        backward_wire_segments=30,
        forward_wire_segments=11,
        forward_segments=11,
        backward_bytes=40_000,
    )
    again = [
        retransmission(length_bytes=4_380, time_ns=1),
        retransmission(length_bytes=100, time_ns=2),
        retransmission(length_bytes=5_000, direction="forward", time_ns=3),
    ]
    counts = [mechanism(needed=2), mechanism(needed=1, direction="forward")]
    folder = tmp_path / "t"
    lines = printed(
        write_trace(folder, connections=[both], retransmissions=again, mechanisms=counts)
    )
    assert any(line.startswith(told) for line in lines), lines


def test_verdicts_of_two_mechanisms_are_a_line_of_their_own(tmp_path: Path) -> None:
    either = {"mechanism": "tlp", "runner_up": "rto", "either": True, "waited_s": 0.1}
    rows = [
        retransmission(mechanism="tlp", waited_s=0.3),
        retransmission(**either, time_ns=2),
        retransmission(
            **{**either, "mechanism": "rto", "runner_up": "tlp"}, time_ns=3, need="unknown"
        ),
    ]
    # Of 0.4 s of rows of probes the other end waited for 0.1 s, too.
    counts = [mechanism(mechanism="tlp", needed=2, waited_s=0.3), mechanism(needed=1, waited_s=0.1)]
    ends = [connection(duration_s=9.0, waited_s=0.4)]
    trace = write_trace(tmp_path / "t", connections=ends, mechanisms=counts, retransmissions=rows)
    lines = printed(trace)
    assert "tail loss probe (tlp) 1 33.3% 1 0 0 225 ms - -" in lines
    words = "tail loss probe or retransmission timeout (tlp or rto)"
    assert f"{words} 2 66.7% 1 0 1 175 ms - -" in lines
    told = Page(trace, summary(trace), (), None).as_json()["mechanisms"]
    assert [(one["mechanism"], one["runner_up"]) for one in told] == [("tlp", None), ("tlp", "rto")]


def test_without_retransmissions(tmp_path: Path) -> None:
    lines = printed(write_trace(tmp_path / "t", connections=[connection()]))
    assert (
        "nothing no retransmission, closed window, reset, failed handshake or error of HTTP"
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
    assert "nothing else: the other setting tried would make more connections longer" in lines
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


def why(*rows: dict[str, Any], **of_connection: Any) -> str:  # noqa: ANN401
    return reason(batch(retransmissions=rows)["retransmissions"], **of_connection).text


def test_the_reason_is_what_cost_most() -> None:
    slow = retransmission(detection_s=1.5, waited_s=1.0, episode=0, copy=1, flight_segments=20)
    quick = [
        retransmission(
            detection_s=2.0, waited_s=0.1, episode=n, mechanism="rack", episode_cause="rack"
        )
        for n in range(1, 4)
    ]
    assert why(slow, *quick).startswith("1 timeout after a wait of 1.00 s")
    assert why(*quick) == "3 packets retransmitted in 3 recoveries"
    ended = [{**one, "recovery_s": 0.1 * (n + 1)} for n, one in enumerate(quick)]
    assert why(*ended) == "3 packets retransmitted in 3 recoveries, the longest of 300 ms"
    nobody = retransmission(waited_s=9.0, mechanism="unknown", episode_cause="unknown")
    told = "what made the sender retransmit is not known"
    assert why(nobody, *quick) == f"1 retransmission after a wait of 9.00 s: {told}"
    refused = why(nobody, handshake="refused")
    assert refused == "1 retransmission after a wait of 9.00 s: the SYN was refused by a RST"


def test_a_second_timeout_is_a_wait_of_its_own() -> None:
    rows = [
        retransmission(time_s=2.0, detection_s=1.5, waited_s=1.0, flight_segments=9),
        retransmission(time_s=4.0, detection_s=3.0, waited_s=2.0, flight_segments=9, copy=2),
        retransmission(time_s=4.1, detection_s=3.0, waited_s=0.1, mechanism="rto-recovery"),
        retransmission(
            time_s=4.5, detection_s=0.1, mechanism="rto-recovery", episode_cause="rto-recovery"
        ),
    ]
    assert why(*rows).startswith("2 timeouts, the longest wait 2.00 s")


def backing_off(*gaps_s: float, **values: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    """Timeouts of one packet, each so long after the copy before it."""
    rows, at_ns = [], 1_000_000_000
    for copy, gap_s in enumerate(gaps_s, 1):
        at_ns += round(gap_s * 1e9)
        of = {"time_ns": at_ns, "time_s": at_ns / 1e9, "copy": copy, "detection_s": gap_s}
        usual = {"waited_s": gap_s, "flight_segments": 9, "recovery_s": 20.0}
        rows.append(retransmission(**{**usual, **of, **values}))
    return rows


def test_a_row_of_timeouts_is_one_of_the_same_packet() -> None:
    rows = backing_off(0.3, 0.6, 1.2)
    doubled = "one packet timed out 3 times in a row, and the timer doubled each time"
    assert why(*rows).endswith(doubled)
    assert why(*backing_off(0.3, 0.3, 0.3)).endswith("one packet timed out 3 times in a row")
    apart = [{**row, "seq_start": 1000 + n} for n, row in enumerate(rows)]
    assert "in a row" not in why(*apart)
    # A copy that something else made is no timeout, and one of another packet ends the row.
    assert "in a row" not in why(rows[0], {**rows[1], "mechanism": "rack"}, rows[2])
    other = {**rows[1], "seq_start": 5000, "mechanism": "rto-recovery", "waited_s": 0.0}
    assert "in a row" not in why(*rows[:2], other, rows[2])
    # Two timeouts of each end are no four.
    both = [{**row, "direction": side} for side in SIDES for row in backing_off(0.3, 0.6)]
    assert "in a row" not in why(*both)
    # That it was sent before, and again and again, does not make timeouts of it.
    assert "in a row" not in why(retransmission(waited_s=2.0, copy=40, flight_segments=9))


def test_a_flight_without_an_answer_is_no_packet_lost_many_times() -> None:
    lost = backing_off(0.3, 0.6, 1.2, flight_segments=31)
    told = (
        "all 31 packets in flight stayed without an ACK; the first one timed out 3 times in a row"
    )
    assert f": {told}, and the timer doubled each time" in why(*lost, end_s=lost[-1]["time_s"])
    # What came after the last copy may have been an ACK.
    assert "without an ACK" not in why(*lost, end_s=lost[-1]["time_s"] + 0.01)
    (once,) = backing_off(0.3, flight_segments=1)
    alone = why(once, end_s=once["time_s"])
    assert alone.endswith(": the packet in flight stayed without an ACK")
    went_on = retransmission(time_ns=9_000_000_000, time_s=9.0, seq_start=9000, mechanism="rack")
    assert "without an ACK" not in why(*lost, went_on, end_s=9.0)


def test_the_longest_is_the_timer_where_it_is_known() -> None:
    rows = backing_off(0.3, 0.6, 1.2)
    known = [{**row, "timer_s": row["detection_s"]} for row in rows]
    assert why(*known).startswith("3 timeouts, the longest timer 1.20 s")
    assert why(*known[:2], rows[2]).startswith("3 timeouts, the longest wait 1.20 s")
    assert why(known[0]).startswith("1 timeout, timer 300 ms")


def test_a_verdict_of_two_mechanisms_is_said_as_both() -> None:
    either = {"mechanism": "tlp", "runner_up": "rto", "either": True, "flight_segments": 9}
    rows = [
        retransmission(**either, waited_s=0.2, need="unknown"),
        retransmission(**either, waited_s=0.3, time_ns=2, need="unknown"),
        retransmission(waited_s=0.1),
    ]
    told = "2 tail loss probes or timeouts, the longest wait 300 ms: whether they were needed is "
    assert why(*rows) == f"{told}not known"


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"length_bytes": 0}, "open or close the connection (SYN, FIN)"),
        ({"need": "spurious"}, "it was spurious, the original had arrived"),
        ({"flight_segments": 2}, "too few packets were in flight"),
        ({"lost_in_flight": 7, "flight_segments": 9}, "up to 7 packets of a flight"),
        ({"need": "unknown", "flight_segments": 9}, "whether it was needed is not known"),
        ({"evidence": "not-accepted"}, "did not accept it yet"),
    ],
)
def test_why_a_timeout(values: dict[str, Any], told: str) -> None:
    assert told in why(retransmission(**{"waited_s": 0.2, "recovery_s": 0.1, **values}))


def test_where_nothing_more_is_known_nothing_more_is_said() -> None:
    usual = {"waited_s": 0.2, "recovery_s": 0.1, "flight_segments": 9}
    assert why(retransmission(**usual)) == "1 timeout after a wait of 200 ms"


def test_a_wait_that_nobody_saw_begin_is_said_by_its_bounds() -> None:
    rows = batch(retransmissions=[retransmission(waited_s=0.2, flight_segments=9)])
    seen = rows["retransmissions"].with_columns(waited_most_s=pl.lit(61.0), recovery_s=pl.lit(0.1))
    assert reason(seen).text == "1 timeout after a wait of 200 ms to 1 min 1 s"
    seen = seen.with_columns(waited_most_s=pl.lit(0.2))
    assert reason(seen).text == "1 timeout after a wait of 200 ms"


def test_what_is_missing_for_the_likeliest_cause_is_said(trace: Trace) -> None:
    unknown = retransmission(waited_s=0.2, mechanism="unknown", episode_cause="unknown")
    rows = batch(retransmissions=[unknown])["retransmissions"]
    told = "1 retransmission after a wait of 200 ms: what made the sender retransmit is not known"
    assert reason(rows).text == told
    rows = rows.with_columns(missing=pl.lit("later-delivered"))
    assert reason(rows).text == f"{told}; the packets lack an ACK of something sent later"
    made = replace(summary(trace), missing=(("stack", 2), ("time", 1)), waited_most_s=2.5)
    lines = {one.label.strip(): one for one in wrong.said(made)}
    assert lines["unknown cause"].text == (
        "3 packets, for whose likeliest cause this is missing: a stack known to rexmit that does "
        "so (2), the time that a timer takes (1)"
    )
    words = pl.DataFrame({"missing": ["stack", "time", "stack"]})
    assert lines["unknown cause"].condition(words)
    assert not lines["unknown cause"].condition(words[1:])
    assert lines["time waited"].text.startswith("1.75 s to 2.50 s of the 10 s that")


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
        (["x.pcap", "--csv"], "--csv needs --out"),
        (["-", "x.pcap"], "cannot be combined with files"),
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
