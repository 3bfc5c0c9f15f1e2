"""Whose the time was: from tables by hand, and of transfers that the model ran."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from tests.real.rebuilt import a_flow, acked, data, opened, write
from tests.trace.rows import connection, retransmission, share, write_trace
from tests.trace.scripted import ACK, SYN, Named, Packet, TooBig
from tests.trace.scripted import write as write_packets

from rexmit import _core, trace
from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.library.page import page
from rexmit.tracing.folder import Trace
from rexmit.tracing.memory import tables
from rexmit.tracing.owners import NOBODY, owners
from rexmit.tracing.sentences import time
from rexmit.tracing.troubles import troubles

S = 1_000_000_000


def told(trace: Trace) -> list[str]:
    said = time.said(owners(trace), trace.scan("connections").collect().height)
    assert all(sentence.holds(trace) for sentence in said)
    return [f"{sentence.label} {sentence.text}" for sentence in said]


def of(tmp_path: Path, *shares: dict[str, object]) -> list[str]:
    made = [connection(duration_s=10.0)]
    return told(write_trace(tmp_path / "t", connections=made, account=shares))


def test_the_longest_comes_first_with_owner_evidence_and_remedy(tmp_path: Path) -> None:
    thought = share(length_ns=7 * S, stretches=5, slow=3, slow_least_ns=2 * S, longest_ns=3 * S)
    idle = share(owner="between-requests", length_ns=8 * S)
    connecting = share(owner="connecting", length_ns=S)
    first, second, last = of(tmp_path, idle, connecting, thought)
    assert first == (
        "7.00 s of 10 s: the server 10.0.0.1 answered late, 3 times, 2.00 s to 3.00 s (connection "
        "0, 7.00 s in). Look at its program and what stands behind it."
    )
    # Nothing was sent twice to connect: that is the way there and back.
    assert second.startswith("1.00 s of 10 s: round trips from 10.0.0.2 to 10.0.0.1 were long")
    assert last.startswith("8.00 s of 10 s: the client 10.0.0.2 paused between requests")


def test_connecting_says_what_came_back(tmp_path: Path) -> None:
    share_of = share(owner="connecting", length_ns=4 * S)
    for handshake, words in (
        ("refused", "10.0.0.1 answered the SYNs of 10.0.0.2 with a RST, once, 4.00 s"),
        ("unanswered", "nothing came back for the SYNs of 10.0.0.2 to 10.0.0.1, once, 4.00 s"),
        (
            "complete",
            "from 10.0.0.2 to 10.0.0.1 took long, as the SYN or its answer was sent again, once",
        ),
    ):
        made = [connection(duration_s=10.0, handshake=handshake, forward_syns=3)]
        (only,) = told(write_trace(tmp_path / handshake, connections=made, account=[share_of]))
        assert words in only
    made = [connection(duration_s=10.0, forward_syns=1, backward_syns=3)]
    (only,) = told(write_trace(tmp_path / "again", connections=made, account=[share_of]))
    assert "10.0.0.1 sent its SYN-ACK to 10.0.0.2 again" in only


def test_round_trips_one_after_the_other_are_slow_together(tmp_path: Path) -> None:
    each = {"owner": "round-trip", "stretches": 2, "slow": 0, "longest_ns": S // 20}
    ends = [{"start_s": at / 5, "duration_s": 0.2} for at in range(10)]
    spread = [{**end, "start_s": end["start_s"] * 3} for end in ends]
    at_once = [{**end, "start_s": 0.0} for end in ends]
    words = "2.00 s of 2.00 s, in all 10 connections: 10.0.0.2 waited for one round trip to"
    for name, times, said in (
        ("turns", ends, words),
        ("spread", spread, "healthy "),
        ("at-once", at_once, "healthy "),
    ):
        made = [connection(connection=n, **one) for n, one in enumerate(times)]
        account = [share(connection=n, length_ns=S // 5, **each) for n in range(10)]
        (only,) = told(write_trace(tmp_path / name, connections=made, account=account))
        assert only.startswith(said), name
    (only,) = of(tmp_path, share(length_ns=6 * S, **each))
    assert only.startswith("6.00 s of 10 s: 10.0.0.2 waited for one round trip to 10.0.0.1 after")


def test_what_was_in_vain_is_not_healthy(tmp_path: Path) -> None:
    for handshake, reset, owner, words in (
        ("refused", {}, "connecting", "10.0.0.1 answered the SYNs of 10.0.0.2 with a RST, 1.0 ms"),
        ("unreachable", {}, "connecting", "ICMP said of the SYNs of 10.0.0.2 that 10.0.0.1 cannot"),
        (
            "complete",
            {"reset_by": "server", "reset_state": "established"},
            "unanswered",
            "10.0.0.1 reset the connection before the last request of 10.0.0.2 was fully answered",
        ),
        (
            "complete",
            {"alert_by": "client", "alert": "unknown_ca"},
            "tls-set-up",
            "the TLS handshake of 10.0.0.1 and 10.0.0.2 failed: the client sent the alert unknown",
        ),
    ):
        made = [connection(duration_s=10.0, handshake=handshake, **reset)]
        short = share(owner=owner, length_ns=1_000_000, slow=0, longest_ns=1_000_000)
        (only,) = told(
            write_trace(tmp_path / f"{handshake}-{owner}", connections=made, account=[short])
        )
        assert words in only
    (only,) = of(tmp_path, short)
    assert only.startswith("healthy ")


def test_what_ended_quickly_and_in_vain_is_not_healthy(tmp_path: Path) -> None:
    for by, label in (("server", "not slow"), ("client", "healthy")):
        made = [connection(duration_s=10.0, reset_by=by, reset_state="established")]
        kept = write_trace(tmp_path / by, connections=made, account=[share(longest_ns=1)])
        (only,) = time.said((), 1, wrong=troubles(kept))
        assert only.label == label
        assert ("but the server reset the only connection" in only.text) == (by == "server")


def test_a_window_that_only_one_syn_scales_is_small(tmp_path: Path) -> None:
    for scale, words in (("-", "Only one of both SYNs offers window scaling"), ("7", "Let its")):
        signatures = {
            "forward_syn_signature": "64:1460:mss*44,7:mss,sok,ts,nop,ws:df,id+:0",
            "backward_syn_signature": f"64:1460:mss*44,{scale}:mss:df:0",
        }
        full = share(owner="receiver-window", length_ns=8 * S)
        made = [connection(duration_s=10.0, **signatures)]
        (only,) = told(write_trace(tmp_path / scale, connections=made, account=[full]))
        assert words in only


def test_a_refusal_that_takes_no_time_is_one(tmp_path: Path) -> None:
    made = [connection(duration_s=0.0, handshake="refused")]
    (only,) = told(write_trace(tmp_path / "t", connections=made))
    assert only.startswith("0 s of 0 s: 10.0.0.1 answered the SYNs of 10.0.0.2 with a RST, 0 s")


def test_a_host_that_icmp_says_is_unreachable_is_no_silent_one(tmp_path: Path) -> None:
    syns = [Packet(at, True, SYN, id=at) for at in (0, 1)]
    captured = write_packets(tmp_path / "c.pcap", [*syns, TooBig(1.5, syns[1], code=1)])
    (only,) = told(trace(captured))
    assert only.startswith(
        "1.50 s of 1.50 s: ICMP said of the SYNs of 10.0.0.2 that 10.0.0.1 cannot be reached"
    )


def test_a_name_that_is_looked_up_slowly_comes_first(tmp_path: Path) -> None:
    twice = [Named(at, kind=kind) for at in (0, 2) for kind in (1, 28)]
    answers = [Named(2.5, answered=True), Named(2.6, answered=True, kind=28)]
    sent = [Packet(3, True, SYN), Packet(3.01, False, SYN | ACK, ack=1), Packet(3.02, True, ack=1)]
    slow = trace(write_packets(tmp_path / "slow.pcap", [*twice, *answers, *sent]))
    first, *_ = told(slow)
    assert first == (
        "2.60 s before connections: 10.0.0.2 waited for the address of a.org: the name server "
        "10.0.0.53 answered late, once, 2.60 s (the longest until 2.60 s into the capture). Look "
        "at that name server, the ones that it asks, and packet loss on the path to it."
    )
    hidden, *_ = told(replace(slow, names=False))
    assert "waited for the address of a name: the" in hidden
    (only,) = told(trace(write_packets(tmp_path / "none.pcap", twice)))
    assert (
        "got no address for a.org: the name server 10.0.0.53 did not answer, once, 2.00 s" in only
    )


def test_short_stretches_are_slow_together(tmp_path: Path) -> None:
    (only,) = of(
        tmp_path, share(owner="nagle", length_ns=2 * S, stretches=50, longest_ns=44_000_000, slow=0)
    )
    assert "held small packets back until the one before was acknowledged, 50 times" in only


def test_what_every_transfer_takes_is_healthy(tmp_path: Path) -> None:
    shares = [
        share(owner=owner, length_ns=S, slow=0, longest_ns=100_000_000)
        for owner in ("round-trip", "sender", "slow-start", "path-rate")
    ]
    shares += [share(owner="closing", length_ns=4 * S), share(length_ns=50_000_000)]
    (only,) = of(tmp_path, *shares)
    assert only.startswith("healthy ")


def test_what_was_not_answered_is_told_from_the_client_on(tmp_path: Path) -> None:
    (only,) = of(tmp_path, share(owner="unanswered", length_ns=4 * S))
    assert only.startswith(
        "4.00 s of 10 s: 10.0.0.1 did not fully answer the last request of 10.0.0.2 "
        "before connection or"
    )


def test_the_sender_that_was_held_up_is_named(tmp_path: Path) -> None:
    held = share(owner="nagle", length_ns=4 * S, other_ns=3 * S)
    (only,) = of(tmp_path, held)
    assert "4.00 s of 10 s: 10.0.0.2 held small packets back" in only
    (only,) = of(tmp_path / "w", held | {"owner": "receiver-window"})
    assert "the receive window of 10.0.0.1 was full" in only


def test_what_is_not_known_is_not_healthy(tmp_path: Path) -> None:
    server = share(length_ns=S)
    first, last = of(tmp_path, share(owner="unknown", length_ns=S), server)
    assert first.startswith("1.00 s of 10 s: the server")
    assert last.startswith("1.00 s of 10 s: this capture does not show what 10.0.0.1 waited for")
    # Longer than all that is known.
    idle = share(owner="between-requests", length_ns=5 * S)
    most = share(owner="unknown", length_ns=2 * S)
    first, second, last = of(tmp_path / "most", most, server, idle)
    assert first.startswith("2.00 s of 10 s: this capture does not show what 10.0.0.1 waited for")
    assert second.startswith("1.00 s of 10 s: the server")
    assert last.startswith("5.00 s of 10 s: the client 10.0.0.2 paused between requests")


def test_the_other_direction_is_not_asked_for(tmp_path: Path) -> None:
    (only,) = of(tmp_path, share(length_ns=5 * S, asked=False))
    assert only.startswith("healthy ")


def test_of_several_connections_it_is_said_how_many(tmp_path: Path) -> None:
    shares = [share(connection=n, length_ns=(n + 1) * S, owner="sender") for n in range(2)]
    made = [connection(connection=n, duration_s=10.0) for n in range(3)]
    made[0]["flow"] = "10.0.0.2:40000 > 10.0.0.3:80"
    (only,) = told(write_trace(tmp_path / "t", connections=made, account=shares))
    assert only.startswith("3.00 s of 20 s, in 2 of 3 connections (66.7%): 10.0.0.1 and 1 other")
    assert "(2.00 s of it 10.0.0.1; connection 1, 2.00 s in)" in only


def test_another_wait_may_be_slow(tmp_path: Path) -> None:
    waited = share(length_ns=90_000_000, stretches=3, slow=0, longest_ns=60_000_000)
    made = write_trace(tmp_path / "t", connections=[connection(duration_s=10.0)], account=[waited])
    assert page(made).summary.owners == ()
    shown = page(made, slow_ms=60).summary
    (only,) = time.said(shown.owners, 1, shown.slow_s)
    assert only.holds(made)
    assert "the server 10.0.0.1 answered late, 3 times, 60 ms at most" in only.text
    shown = page(made, slow_ms=61).summary
    (none,) = time.said(shown.owners, 1, shown.slow_s)
    assert none.text.startswith("no connection waited for 0.061 s, ")
    with pytest.raises(UserError, match="no length of a wait"):
        page(made, slow_ms=0)


@pytest.mark.parametrize(
    ("needs", "mechanism", "of_client", "said"),
    [
        (("needed", "spurious"), "rto", "needed", "10.0.0.1 retransmitted only after a timeout"),
        (("needed",), "unknown", "needed", "whether a timeout made it is not known"),
        (("spurious", "unknown"), "rto", "needed", "what nothing shows to be lost or arrived"),
        (("spurious",) * 2, "rto", "needed", "what had arrived, as 10.0.0.2 did what had not"),
        (("spurious",) * 2, "rto", "spurious", "10.0.0.1 waited for acknowledgements, and sent"),
        (("spurious",) * 2, "rack", "needed", "see what reorders packets on the path to 10.0.0.2"),
    ],
)
def test_a_loss_is_said_where_one_is_known(
    needs: tuple[str, ...], mechanism: str, of_client: str, said: str, tmp_path: Path
) -> None:
    again = [retransmission(need=need, mechanism=mechanism) for need in needs]
    owner = "recovery-fast" if mechanism == "rack" else "recovery-timer"
    # Those of the client show whether answers, which acknowledge, were lost.
    again.append(retransmission(direction="forward", need=of_client))
    made = write_trace(
        tmp_path / "t",
        connections=[connection(duration_s=10.0)],
        account=[share(owner=owner, length_ns=4 * S)],
        retransmissions=again,
    )
    (only,) = told(made)
    assert said in only


def test_a_silence_is_none_where_packets_are_missing(tmp_path: Path) -> None:
    """388 segments were acknowledged that nobody captured."""
    for number, said in (
        (12, "the client 10.0.0.2 sent late"),
        (400, "this capture does not show"),
    ):
        sent = [*opened(), *a_flow(), data(5000, number), acked(5020, number + 1)]
        (first, *_) = told(trace([write(tmp_path / f"{number}.pcap", sent)]))
        assert said in first


def test_a_trace_without_an_account_says_nothing(tmp_path: Path) -> None:
    assert told(write_trace(tmp_path / "t", connections=[connection(duration_s=10.0)])) == []


def test_every_owner_has_its_sentence(tmp_path: Path) -> None:
    for owner in set(_core.owners()) - set(NOBODY):
        (only,) = of(tmp_path / owner, share(owner=owner, length_ns=9 * S))
        assert only.startswith("9.00 s of 10 s: "), owner


CASES = {
    "path-rate": ('rate = "5Mbit"\ndelay = "20ms"', 'size = "2MB"'),
    "slow-start": ('rate = "100Mbit"\ndelay = "60ms"', 'size = "1MB"'),
    "small-window": ('rate = "100Mbit"\ndelay = "60ms"\nloss = "1%"', 'size = "2MB"'),
    "receiver-window": (
        'rate = "100Mbit"\ndelay = "30ms"',
        'size = "2MB"\nreceive_window = "32kB"',
    ),
    "server": (
        'rate = "100Mbit"\ndelay = "20ms"',
        'server = "burst"\nbursts = 5\nburst_size = "30kB"\ngap = "2s"',
    ),
}
"""The owner of most of the time, by the network and the work."""


@pytest.mark.parametrize("end", ["h1", "h2"])
@pytest.mark.parametrize("owner", CASES)
def test_what_the_model_was_slowed_by_owns_its_time(owner: str, end: str, tmp_path: Path) -> None:
    network, work = CASES[owner]
    text = f"format = 1\n[networks.n]\n{network}\n[configs.c]\n[workload]\n{work}\n"
    (tmp_path / "s.toml").write_text(f"{text}[loss]\nsegments = 0\n")
    words = ["run", str(tmp_path / "s.toml"), "--engine", "model", "--capture"]
    result = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "run")])
    assert result.exit_code == 0, result.output
    made = tables(tmp_path / "run" / "captures" / f"0-0.{end}.pcapng")
    asked = made.account.filter(pl.col("asked"))
    assert asked["length_ns"].sum() == pytest.approx(made.connections["duration_s"][0] * S, abs=9)
    most = asked.sort("length_ns", descending=True)
    assert most["owner"][0] == owner, most
    assert most["length_ns"][0] > 0.5 * int(asked["length_ns"].sum())
