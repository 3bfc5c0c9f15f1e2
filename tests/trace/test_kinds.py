"""What the packets do not show is not said: captures of kinds in which more was said once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.trace.scripted import (
    ACK,
    FIN,
    LINUX_SYN,
    PPPOE,
    PSH,
    RAW,
    RST,
    SYN,
    Packet,
    TooBig,
    write,
)

from rexmit.tracing.memory import tables
from rexmit.tracing.options import Analysis
from rexmit.tracing.run import run
from rexmit.tracing.sentences.reasons import reason
from rexmit.tracing.sentences.retransmissions import row
from rexmit.tracing.summary import summary


def rows(path: Path, packets: Sequence[Packet | TooBig], link: int = RAW) -> pl.DataFrame:
    """The retransmissions of a capture of these packets."""
    return tables(write(path / "kind.pcap", packets, link)).retransmissions


def handshake(
    rtt: float = 0.02, *, near: float = 1e-4, port: int = 40_000, stamps: bool = False
) -> list[Packet]:
    """Client and server, both Linux by their SYNs, seen `near` the client; data begin at 1."""
    syn, answer, shaken = ((1, 0), (5, 1), (1, 5)) if stamps else (None, None, None)
    bare = b"" if stamps else LINUX_SYN
    return [
        Packet(0, True, SYN, id=100, stamps=syn, port=port, options=bare),
        Packet(rtt, False, SYN | ACK, ack=1, stamps=answer, port=port, options=bare),
        Packet(rtt + near, True, seq=1, ack=1, id=101, stamps=shaken, port=port),
    ]


def test_merged_packets_take_as_many_numbers_as_segments(tmp_path: Path) -> None:
    """Merged by GRO, in the middle of connections: the sizes of the others show the segments."""
    packets = []
    number, seq, at = 700, 1, 0.3
    for round_trip in range(6):
        # Another connection of the host shows that it counts each apart.
        other = Packet(at - 0.01, False, PSH | ACK, seq=1 + round_trip * 9, ack=1, length=9)
        packets.append(replace(other, port=50_000, id=(number + 0x8080) % 2**16))
        for segments in (1, 1, 7, 2, 16):
            length = 1440 * segments
            packets.append(Packet(at, False, seq=seq, ack=201, length=length, id=number))
            number, seq, at = number + segments, seq + length, at + 1e-4
        packets.append(Packet(at + 1e-4, True, seq=201, ack=seq, id=51 + round_trip))
        at += 0.3
    lost = Packet(at, False, PSH | ACK, seq=seq, ack=201, length=300, id=number)
    packets += [lost, replace(lost, at=at + 0.3, id=number + 1)]
    packets.append(Packet(at + 0.301, True, seq=201, ack=seq + 300, id=58))
    assert rows(tmp_path, packets)["length_bytes"].to_list() == [300]
    # Where all are merged, nothing tells of how many each is.
    merged = [one for one in packets if one.length != 1440]
    assert rows(tmp_path, merged)["length_bytes"].to_list() == [300]


def test_a_counter_that_goes_on_without_packets_is_not_the_connections(tmp_path: Path) -> None:
    packets = handshake(near=0.004)
    seq, number, at = 1, 102, 0.04
    for _ in range(4):
        packets += [
            Packet(at, True, PSH | ACK, seq=seq, ack=1, length=100, id=number),
            Packet(at + 0.02, False, seq=1, ack=seq + 100, id=number),
        ]
        seq, number, at = seq + 100, number + 1, at + 0.025
    later = [
        Packet(at + 0.06, True, PSH | ACK, seq=seq, ack=1, length=200, id=number + 6),
        Packet(at + 0.08, False, seq=1, ack=seq + 200, id=200),
        Packet(at + 0.5, False, PSH | ACK, seq=1, ack=seq + 200, length=50, id=201),
        Packet(at + 0.54, True, seq=seq + 200, ack=51, id=number + 30),
    ]
    assert rows(tmp_path, packets + later).is_empty()


@pytest.mark.parametrize("others", [3, 70])
def test_a_counter_that_goes_on_between_flights_is_not_the_connections(
    tmp_path: Path, others: int
) -> None:
    """Traffic outside the capture takes as many numbers in every pause; all data arrive."""
    packets = handshake(near=0.001)
    seq, number, at = 1, 102, 0.1
    for _ in range(8):
        for _ in range(4):
            packets.append(Packet(at, True, PSH | ACK, seq=seq, ack=1, length=100, id=number))
            seq, number, at = seq + 100, number + 1, at + 1e-4
        packets.append(Packet(at + 0.02, False, seq=1, ack=seq, id=number))
        number, at = number + others, at + 0.3
    assert rows(tmp_path, packets).is_empty()


def test_five_numbers_in_a_minute_are_no_timeout(tmp_path: Path) -> None:
    """An idle connection that is closed; the count was proven for 80 ms."""
    packets = handshake()
    seq = 1
    for number in range(9):
        at = 0.03 + number / 100
        packets += [
            Packet(at, False, PSH | ACK, seq=seq, ack=1, length=500, id=300 + number),
            Packet(at + 1e-4, True, seq=1, ack=seq + 500, id=102 + number),
        ]
        seq += 500
    close = Packet(61.5, False, PSH | FIN | ACK, seq=seq, ack=1, length=85, id=314)
    packets += [close, Packet(61.5001, True, seq=1, ack=seq + 86, id=111)]
    assert rows(tmp_path, packets).is_empty()


def test_a_thinned_capture_has_no_timeout(tmp_path: Path) -> None:
    """Five packets of one connection, minutes apart."""
    packets = [
        Packet(0, True, PSH | ACK, seq=1, ack=1, length=12, id=0x429C, stamps=(935592819, 1)),
        Packet(159, False, PSH | ACK, seq=2_407_936, ack=1, length=209, id=0x2ADF),
        Packet(593, False, PSH | ACK, seq=1_163_444, ack=67_153, length=209, id=0x3E96),
        Packet(1259, True, PSH | FIN | ACK, seq=139_673, ack=2_468_862, length=12, id=0xB1D8),
        Packet(1755, False, PSH | ACK, seq=3_442_773, ack=198_589, length=209, id=0x6A9A),
    ]
    assert rows(tmp_path, packets).is_empty()


@pytest.mark.parametrize("zeroed", [False, True])
def test_a_reset_answers_the_packet_before_it(tmp_path: Path, zeroed: bool) -> None:
    """The client has closed: it answers every copy, which the server does not hear."""
    packets = [Packet(0, True, FIN | ACK, seq=1, ack=1, id=7, stamps=(1000, 90))]
    copies = (0.0136, 0.0556, 0.2816, 0.7458, 1.6419)
    for number, at in enumerate(copies):
        data = Packet(at, False, PSH | ACK | FIN, seq=1, ack=2, length=31, stamps=(100, 1000))
        packets.append(replace(data, id=0 if zeroed else 40 + number))
        packets.append(Packet(at + 8e-5, True, RST, seq=2, id=0 if zeroed else 9000 - 77 * number))
    found = rows(tmp_path, packets)
    assert found["need"].to_list() == ["spurious"] * 4
    assert set(found["evidence"]) <= {"duplicate-answered", "original-seen"}


def test_a_host_beside_the_monitor_has_got_what_came_by(tmp_path: Path) -> None:
    """Of one connection nothing comes back; its twin shows that the capture ran on the host."""
    silent = [
        Packet(at, False, PSH | ACK, seq=1, ack=1, length=151, id=5 + number, port=50_000)
        for number, at in enumerate((0.5, 0.81, 1.27, 2.1, 4.0))
    ]
    alone = rows(tmp_path, silent)
    assert set(alone["need"]) == {"unknown"}
    assert set(alone["evidence"]) == {"none"}
    twin = handshake(0.2)
    both = rows(tmp_path, sorted(silent + twin, key=lambda one: one.at))
    assert both.select("need", "evidence").unique().rows() == [("spurious", "original-seen")]


def test_what_nothing_tells_of_is_counted_as_such(tmp_path: Path) -> None:
    silent = [
        Packet(at, False, PSH | ACK, seq=1, ack=1, length=151, id=5 + number)
        for number, at in enumerate((0.5, 0.81, 1.27))
    ]
    trace = run([write(tmp_path / "kind.pcap", silent)], tmp_path / "trace", Analysis(jobs=1))
    sums = trace.scan("mechanisms").select(pl.sum("needed", "spurious", "unknown")).collect()
    assert sums.row(0) == (0, 0, 2)
    made = summary(trace)
    assert [one.unknown for one in made.mechanisms] == [2]
    assert made.totals.retransmissions == 2
    assert made.totals.with_loss == 0


def test_what_the_link_layer_does_not_carry_is_no_data(tmp_path: Path) -> None:
    packets = handshake()
    packets += [
        Packet(0.03, True, PSH | ACK, seq=1, ack=1, length=100, id=102),
        Packet(0.05, False, seq=1, ack=101, id=20, padding=6),
        Packet(0.051, False, PSH | ACK, seq=1, ack=101, length=51, id=21),
        Packet(0.0511, True, seq=101, ack=52, id=103),
    ]
    assert rows(tmp_path, packets, PPPOE).is_empty()
    # Without a layer that tells, the padding of an acknowledgement is none either.
    assert rows(tmp_path, packets).is_empty()


@pytest.mark.parametrize(("later", "flags"), [(0.653, ACK), (0.3, PSH | ACK)])
def test_the_same_identification_later_is_no_double(
    tmp_path: Path, later: float, flags: int
) -> None:
    packets = handshake()
    for number in range(6):
        at = 0.03 + number / 100
        packets += [
            Packet(at, False, PSH | ACK, seq=1 + number * 100, ack=1, length=100, id=300 + number),
            Packet(at + 1e-3, True, seq=1, ack=101 + number * 100, id=102 + number),
        ]
    lost = Packet(0.1, False, PSH | ACK, seq=601, ack=1, length=100, id=306)
    again = replace(lost, at=0.1 + later, flags=flags)
    answer = Packet(0.11 + later, True, seq=1, ack=701, id=108)
    found = tables(write(tmp_path / "kind.pcap", [*packets, lost, again, answer]))
    assert found.retransmissions.height == 1
    assert found.sides["network_duplicates"].sum() == 0


def test_a_syn_behind_its_answer_was_sent_once(tmp_path: Path) -> None:
    syn, answer, shaken = handshake(stamps=True)
    lost = Packet(0.06, True, PSH | ACK, seq=101, ack=51, length=100, stamps=(4, 9))
    behind = replace(syn, at=answer.at + 2.6e-4)
    data = [
        Packet(0.03, True, PSH | ACK, seq=1, ack=1, length=100, stamps=(3, 5)),
        Packet(0.05, False, PSH | ACK, seq=1, ack=101, length=50, stamps=(9, 3)),
        Packet(0.05004, True, seq=101, ack=51, stamps=(3, 9)),
        lost,
        replace(lost, at=0.3, stamps=(5, 9)),
        Packet(0.32, False, seq=51, ack=201, stamps=(10, 5)),
    ]
    found = rows(tmp_path, [answer, behind, replace(shaken, at=0.021), *data])
    assert found["length_bytes"].to_list() == [100]


def test_copies_of_the_capture_are_not_counted(tmp_path: Path) -> None:
    """Each packet four times, the client's without identifications."""
    packets = [replace(one, id=0) if one.by_client else one for one in handshake()]
    for number in range(10):
        at, seq = 0.1 + number / 20, 1 + number * 100
        exchange = [
            Packet(at, True, PSH | ACK, seq=seq, ack=1 + number * 50, length=100),
            Packet(at + 1e-5, False, seq=1 + number * 50, ack=seq + 100, id=40 + 2 * number),
            replace(
                Packet(at + 0.01, False, PSH | ACK, seq=1 + number * 50, ack=seq + 100, length=50),
                id=41 + 2 * number,
            ),
            Packet(at + 0.0101, True, seq=seq + 100, ack=51 + number * 50),
        ]
        packets += [copy for one in exchange for copy in [one] * 4]
    found = tables(write(tmp_path / "kind.pcap", packets))
    sums = found.sides.sum()
    assert sums.select("segments", "bytes", "packets").row(0) == (20, 1500, 3 + 40)
    assert sums["capture_duplicates"].item() == 120
    assert found.retransmissions.is_empty()


@pytest.mark.parametrize("first", ["far", "in-window", "below"])
@pytest.mark.parametrize("seen", ["all", "part", "nothing"])
def test_a_challenge_and_its_reset_are_of_the_connection_before(
    tmp_path: Path, first: str, seen: str
) -> None:
    """A client that has forgotten a connection opens it anew: its first SYN meets the old state."""
    isn = {"far": 2_000_000_000, "in-window": 6_000, "below": 20}[first]
    old = handshake()
    for number in range(3):
        at, seq = 0.03 + number / 20, 1 + number * 100
        old += [
            Packet(at, True, PSH | ACK, seq=seq, ack=1, length=100, id=102 + number),
            Packet(at + 0.02, False, seq=1, ack=seq + 100, id=number + 1),
        ]
    old = {"all": old, "part": old[3:], "nothing": []}[seen]
    syn = Packet(100, True, SYN, seq=isn, id=500, options=LINUX_SYN)
    answer = Packet(101.02, False, SYN | ACK, seq=9 * 10**8, ack=isn + 1, options=LINUX_SYN)
    new = [
        syn,
        Packet(100.02, False, ACK, seq=1, ack=301, id=50),
        Packet(100.0201, True, RST, seq=301),
        replace(syn, at=101, id=501),
        answer,
        Packet(101.0201, True, seq=isn + 1, ack=answer.seq + 1, id=502),
        Packet(101.03, True, PSH | ACK, seq=isn + 1, ack=answer.seq + 1, length=100, id=503),
        Packet(101.05, False, seq=answer.seq + 1, ack=isn + 101, id=60),
    ]
    found = tables(write(tmp_path / "kind.pcap", old + new))
    last = found.connections.sort("start_s").row(-1, named=True)
    assert (found.connections.height, last["handshake"]) == (1 + bool(old), "complete")
    again = found.retransmissions.select("connection", "length_bytes", "detection_s").rows()
    assert again == [(last["connection"], 0, 1.0)]


def test_a_fin_that_came_once_was_sent_once(tmp_path: Path) -> None:
    """Beside the receiver: what was lost on the way there were the sender's keep-alives."""
    packets = handshake()
    for number in range(20):
        at, seq = 0.03 + number / 10, 1 + number * 100
        packets += [
            Packet(at, False, PSH | ACK, seq=seq, ack=1, length=100, id=300 + number),
            Packet(at + 1e-4, True, seq=1, ack=seq + 100, id=102 + number),
        ]
    fin = Packet(2.8, False, FIN | ACK, seq=2001, ack=1, id=323)
    assert rows(tmp_path, [*packets, fin, Packet(2.8001, True, seq=1, ack=2002, id=130)]).is_empty()


@pytest.mark.parametrize("late", [0.0, 0.05])
def test_a_direction_that_is_recorded_late_leaves_need_unclear(tmp_path: Path, late: float) -> None:
    """The server's data are lost once, and sent again; its packets stand `late` behind."""
    packets = handshake(near=0.001)
    seq = 1
    for number in range(12):
        at = 0.05 + number / 20
        data = Packet(at + late, False, PSH | ACK, seq=seq, ack=1, length=500, id=300 + number)
        packets.append(data)
        if number == 6:
            at += 0.04
            packets.append(replace(data, at=at + late, id=400))
        seq += 500
        packets.append(Packet(at + 0.001, True, seq=1, ack=seq, id=102 + number))
    packets.sort(key=lambda one: one.at)
    trace = run([write(tmp_path / "kind.pcap", packets)], tmp_path / "trace", Analysis(jobs=1))
    found = trace.scan("retransmissions").collect()
    warned = any("one direction is recorded late" in one for one in trace.facts.warnings)
    assert (found["need"].to_list(), warned) == (["unknown" if late else "needed"], late > 0)
    assert (found["need_confidence"][0] == 0) == (late > 0)


def names(found: pl.DataFrame) -> list[str]:
    """What each row says first."""
    return [row(one).text.partition(",")[0] for one in found.iter_rows(named=True)]


@pytest.mark.parametrize("mtu", [1350, 0])
@pytest.mark.parametrize("told", [True, False])
def test_what_a_router_returned_is_sent_again_smaller(tmp_path: Path, mtu: int, told: bool) -> None:
    """RFC 1191: no mechanism has found a loss, and nothing but ICMP says why."""
    packets: list[Packet | TooBig] = [*handshake(near=0.001)]
    small = Packet(0.03, False, PSH | ACK, seq=1, ack=1, length=200, id=300)
    packets += [small, Packet(0.0305, True, seq=1, ack=201, id=102)]
    large = [
        Packet(0.1 + n / 1e4, False, seq=201 + n * 1460, ack=1, length=1460, id=301 + n)
        for n in range(2)
    ]
    packets += large
    if told:
        packets.append(TooBig(0.102, large[0], mtu))
    at = 0.1025
    for n, seq in enumerate((201, 1511, 1661, 2971)):
        length = 150 if n % 2 else 1310
        packets.append(Packet(at, False, seq=seq, ack=1, length=length, id=303 + n))
        at += 1e-5
    packets.append(Packet(0.14, True, seq=1, ack=201 + 2920, id=103))
    found = rows(tmp_path, packets)
    assert found["mechanism"].to_list() == ["unknown"] * 4
    assert names(found) == ["path-mtu" if told else "unknown"] * 4
    assert found["missing"].is_null().to_list() == [told] * 4
    assert set(found["basis_ns"]) == ({1_600_000_000_102_000_000} if told else {None})
    assert (found["waited_s"].sum() == 0) == told
    assert reason(found).condition(found)
    assert ("no loss was found: too large for the path" in reason(found).text) == told


@pytest.mark.parametrize("taken", [0, 100])
def test_data_of_a_syn_that_were_not_taken_are_sent_again(tmp_path: Path, taken: int) -> None:
    """RFC 7413 §4.1.3, beside the client: at once, and again when that is lost."""
    syn = Packet(0, True, SYN, length=100, id=100, options=LINUX_SYN)
    answer = Packet(0.02, False, SYN | ACK, ack=1 + taken, options=LINUX_SYN)
    packets = [syn, answer, Packet(0.0201, True, seq=1, ack=1, id=101)]
    if not taken:
        data = Packet(0.0202, True, PSH | ACK, seq=1, ack=1, length=100, id=102)
        packets += [data, replace(data, at=0.25, id=103)]
        packets.append(Packet(0.27, False, seq=1, ack=101, id=1))
    found = rows(tmp_path, packets)
    assert names(found) == ([] if taken else ["fast-open", "tlp or rto"])


@pytest.mark.parametrize("answers", [True, False])
def test_a_fin_on_an_ack_is_named(tmp_path: Path, answers: bool) -> None:
    """BSD and macOS: what comes in CLOSING is acknowledged with the FIN once more."""
    packets = handshake(stamps=True)
    data = Packet(0.03, True, PSH | ACK, seq=1, ack=1, length=100, id=102)
    fin = Packet(0.06, True, FIN | ACK, seq=101, ack=1, id=103)
    theirs = Packet(0.065, False, FIN | ACK, seq=1, ack=101, id=7)
    again = replace(fin, at=0.0651 if answers else 0.29, ack=2, id=104)
    last = Packet(again.at + 0.02, False, seq=2, ack=102, id=8)
    found = rows(
        tmp_path, [*packets, data, replace(theirs, at=0.05, flags=ACK), fin, theirs, again, last]
    )
    assert names(found) == ["fin-again" if answers else "rto"]
    assert set(found["packet"]) == {"fin"}


def quick(port: int, start: float, wait: float) -> list[Packet]:
    """A connection without SACK, and so without probes, whose client sends again after `wait`."""
    shaken = [
        replace(one, at=one.at + start, options=one.options[:4])
        for one in handshake(0.01, port=port)
    ]
    data = Packet(start + 0.02, True, PSH | ACK, seq=1, ack=1, length=100, id=102, port=port)
    again = replace(data, at=data.at + wait, id=103)
    answer = Packet(again.at + 0.01, False, seq=1, ack=101, id=9, port=port)
    return [*shaken, data, again, answer]


@pytest.mark.parametrize(
    ("waits", "named"), [((0.1,), 0), ((0.1, 0.15), 0), ((0.1, 0.101), 2), ((0.1, 0.15, 0.102), 2)]
)
def test_a_host_shows_its_least_timer_twice(
    tmp_path: Path, waits: tuple[float, ...], named: int
) -> None:
    """Less than 200 ms: no timeout is said of one alone, whichever connection it is of."""
    packets = [one for n, wait in enumerate(waits) for one in quick(40_000 + n, n, wait)]
    found = rows(tmp_path, packets)
    said = found.select(pl.col("mechanism").is_in(["rto", "tlp"])).sum().item()
    assert (found.height, said) == (len(waits), named)


def test_reports_of_duplicates_are_no_duplicate_acks(tmp_path: Path) -> None:
    """Beside the receiver: what it reported stands at the edge, before data that lie there."""
    packets = handshake(0.41, near=1e-4)
    data = [
        Packet(0.5 + n / 1e5, False, seq=1 + n * 1000, ack=1, length=1000, id=300 + n)
        for n in range(3)
    ]
    packets += [*data, Packet(0.5005, True, seq=1, ack=3001, id=102)]
    for n, (one, at) in enumerate(zip(data, (0.81, 1.0, 1.0001), strict=True)):
        told = (one.seq, one.seq + 1000)
        packets += [
            replace(one, at=at, id=303 + n),
            Packet(at + 5e-5, True, seq=1, ack=3001, id=103 + n, sack=told),
        ]
    last = Packet(1.05, False, PSH | ACK, seq=3001, ack=1, length=51, id=306)
    packets += [last, Packet(1.0501, True, seq=1, ack=3052, id=106), replace(last, at=1.23, id=307)]
    packets.append(Packet(1.2301, True, seq=1, ack=3052, id=107, sack=(3001, 3052)))
    found = rows(tmp_path, packets)
    assert found.height == 4
    assert "fast-retransmit" not in names(found)[-1]


@pytest.mark.parametrize("beside", [True, False])
def test_the_monitor_tells_when_a_syn_beside_it_left(tmp_path: Path, beside: bool) -> None:
    """As a host with macOS sends it, whose stamps stand still while its TCP has nothing to do."""
    syns = [
        Packet(1 + 1.03 * n, True, SYN, id=0, stamps=(7000 + 1000 * n, 0), port=50_000)
        for n in range(4)
    ]
    found = rows(tmp_path, [*(handshake() if beside else []), *syns])
    assert set(found["timed_by"]) == {"sender" if beside else "stamps"}
    assert found["detection_s"].round(2).to_list()[1:] == [1.03 if beside else 1.0] * 2


def test_a_fin_on_data_is_no_segment_more(tmp_path: Path) -> None:
    """Of the last three segments the first is lost; two that are SACKed, with the FIN, send nothing
    again: the timer does, and is named.
    """
    size, old = 1460, bytes.fromhex("020405b404020000")
    packets = [
        replace(one, options=old, stamps=None) if one.flags & SYN else one for one in handshake(0.1)
    ]
    last = [Packet(0.2001, True, PSH | ACK, seq=1, ack=1, length=100, id=102)]
    last.append(Packet(0.3, False, seq=1, ack=101, id=1))
    for n in range(6):
        sent = Packet(0.31 + n / 1e3, False, seq=1 + n * size, ack=101, length=size, id=2 + n)
        last.append(replace(sent, flags=FIN | PSH | ACK) if n == 5 else sent)
    edge, end = 1 + 3 * size, 2 + 6 * size
    last += [Packet(0.32 + n / 1e3, True, seq=101, ack=1 + n * size, id=103 + n) for n in (1, 2, 3)]
    for n, top in ((4, edge + 2 * size), (5, end)):
        sack = (edge + size, top)
        last.append(Packet(0.32 + n / 1e3, True, seq=101, ack=edge, id=103 + n, sack=sack))
    last.append(Packet(0.95, False, seq=edge, ack=101, length=size, id=8))
    last.append(Packet(0.9501, True, seq=101, ack=end, id=109))
    (name,) = rows(tmp_path, packets + last)["mechanism"]
    assert name == "rto"
