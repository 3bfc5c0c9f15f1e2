"""The ladder: matching both ends, relative numbers, marks, what is left out, and how it looks."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.steps import PLAIN

from rexmit.ladder.elide import Gap, Silence, elide, silences
from rexmit.ladder.match import Passage, match
from rexmit.ladder.packets import Packet, flag_names, in_order, parse_comment
from rexmit.ladder.render import ASCII, UNICODE, Glyphs, gap_words, lines
from rexmit.ladder.steps import Step, steps

ISN_SERVER, ISN_CLIENT = 2**32 - 100, 5_000_000
DELAY = 5_000_000


def packet(
    time_ms: float,
    *,
    server: bool = True,
    seq: int = 1,
    ack: int = 1,
    length: int = 0,
    flags: str = "ACK",
    sack: tuple[tuple[int, int], ...] = (),
    dropped: bool = False,
    mechanism: str | None = None,
) -> Packet:
    """`seq`, `ack` and `sack` relative to the initial numbers, one of them just below 2^32."""
    mine, other = (ISN_SERVER, ISN_CLIENT) if server else (ISN_CLIENT, ISN_SERVER)
    return Packet(
        time_ns=round(time_ms * 1e6),
        from_server=server,
        seq=(seq + mine) % 2**32,
        ack=(ack + other) % 2**32,
        flags=frozenset(flags.split()),
        payload_bytes=length,
        window=500,
        sack=tuple(((left + other) % 2**32, (right + other) % 2**32) for left, right in sack),
        dropped=dropped,
        mechanism=mechanism,
    )


def later(sent: Packet, ns: int = DELAY) -> Packet:
    """As it arrives: another time, no comment."""
    return replace(sent, time_ns=sent.time_ns + ns, dropped=False, mechanism=None, need=None)


def handshake() -> tuple[list[Packet], list[Packet]]:
    syn = packet(0, server=False, seq=0, ack=0, flags="SYN")
    syn_ack = packet(5, seq=0, ack=1, flags="SYN ACK")
    last = packet(10, server=False, seq=1, ack=1)
    return [later(syn), syn_ack, later(last)], [syn, later(syn_ack), last]


def times(passages: list[Passage]) -> list[tuple[int | None, int | None]]:
    return [
        (
            p.sent.time_ns // 1_000_000 if p.sent else None,
            p.arrived.time_ns // 1_000_000 if p.arrived else None,
        )
        for p in passages
    ]


def test_both_directions_are_matched() -> None:
    assert times(match(*handshake())) == [(0, 5), (5, 10), (10, 15)]


def test_a_dropped_packet_and_its_retransmission() -> None:
    first = packet(20, seq=1, length=1448, dropped=True)
    again = packet(70, seq=1, length=1448, mechanism="tlp")
    found = match([first, again], [later(again)])
    assert times(found) == [(20, None), (70, 75)]
    assert found[1].packet.mechanism == "tlp"


def test_a_copy_lost_on_the_line_is_not_taken_for_its_retransmission() -> None:
    at_server, at_client = handshake()
    lost = packet(20, seq=1, length=1448)
    again = packet(70, seq=1, length=1448)
    found = match([*at_server, lost, again], [*at_client, later(again)])
    assert times(found)[3:] == [(20, None), (70, 75)]


def test_the_retransmission_that_is_lost_is_the_later_one() -> None:
    at_server, at_client = handshake()
    first = packet(20, seq=1, length=1448)
    again = packet(24, seq=1, length=1448)
    found = match([*at_server, first, again], [*at_client, later(first)])
    # the second had left when the first arrived, but cannot have got there in 1 ms
    assert times(found)[3:] == [(20, 25), (24, None)]


def test_an_arrival_without_a_sending_is_kept() -> None:
    assert times(match([], [packet(30)])) == [(None, 30)]


def test_a_packet_takes_time() -> None:
    """A copy that leaves in the very moment of an arrival is not what arrived."""
    first, lost, late = (packet(ms, seq=1, length=100) for ms in (1, 2, 6))
    found = match([first, lost, late], [later(first)])
    assert times(found) == [(1, None), (2, 6), (6, None)]


def test_an_arrival_faster_than_all_others_has_its_sending() -> None:
    at_server, at_client = handshake()
    data, again = packet(70, seq=1, length=1448), packet(80, seq=1, length=1448)
    found = match([*at_server, data, again], [*at_client, later(data, DELAY - 1)])
    assert times(found)[3:] == [(70, 74), (80, None)]


sending = st.tuples(
    st.integers(1, 40),  # ms since the one before
    st.booleans(),  # whether it arrives
    st.integers(0, 2),  # which of three packets that look alike
    st.integers(0, 9),  # ms it waits in a queue
)


@settings(max_examples=500)
@given(st.lists(sending, max_size=30))
@example([(1, True, 0, 0), *[(1, False, 0, 0)] * 5])
def test_whatever_arrives_is_matched_in_order(
    sendings: list[tuple[int, bool, int, int]],
) -> None:
    """On a line that keeps order, no packet is made up, lost or matched to a later sending."""
    now, free, sent, arrived = 0, 0, [], []
    for gap, arrives, kind, queued in sendings:
        now += gap
        one = packet(now, seq=1 + kind * 100, length=100)
        sent.append(one)
        if arrives:
            free = max(free, one.time_ns + DELAY + queued * 1_000_000)
            arrived.append(replace(later(one), time_ns=free))
    found = match(sent, arrived)
    both = [(p.sent.time_ns, p.arrived.time_ns) for p in found if p.sent and p.arrived]
    assert len(both) == len(arrived)
    assert len(found) == len(sent)
    assert all(left < right for left, right in both)
    for kind in range(3):
        seq = packet(0, seq=1 + kind * 100).seq
        mine = [p for p in found if p.packet.seq == seq and p.arrived]
        assert all(
            a.arrived and b.arrived and a.arrived.time_ns <= b.arrived.time_ns
            for a, b in pairwise(mine)
        )


def test_numbers_are_relative_across_the_wrap() -> None:
    at_server, at_client = handshake()
    data = packet(20, seq=1000, ack=201, length=1448, flags="PSH ACK")
    answer = packet(30, server=False, seq=201, ack=1, sack=((1000, 2448),))
    made = steps(
        match([*at_server, data, later(answer)], [*at_client, later(data), answer]), None, None
    )
    assert [(s.seq, s.ack) for s in made] == [(0, None), (0, 1), (1, 1), (1000, 201), (201, 1)]
    assert made[3].flags == "PSH, ACK"
    assert made[4].sack == ((1000, 2448),)
    assert made[0].sent_ns == 0
    assert made[0].arrived_ns == DELAY


def test_told_initial_numbers_serve_captures_without_a_syn() -> None:
    data = packet(20, seq=1000, ack=201, length=10)
    (told,) = steps(match([data], [later(data)]), ISN_SERVER, ISN_CLIENT)
    assert (told.seq, told.ack) == (1000, 201)


def test_duplicate_acks_and_duplicate_sacks() -> None:
    acks = [
        packet(1, server=False, ack=500),
        packet(2, server=False, ack=500, sack=((900, 1000),)),
        packet(3, server=False, ack=1000),
        packet(4, server=False, ack=1000, sack=((500, 600),)),
        packet(
            5,
            server=False,
            ack=1000,
            sack=(
                (1500, 1600),
                (1400, 1700),
            ),
        ),
        packet(6, server=False, ack=1000, seq=1, length=50),
    ]
    made = steps(match([], acks), ISN_SERVER, ISN_CLIENT)
    assert [s.duplicate_acks for s in made] == [0, 1, 0, 1, 2, 0]
    assert [s.duplicate_sack for s in made] == [False, False, False, True, True, False]


def test_a_window_update_is_no_duplicate() -> None:
    """RFC 5681 section 2: the window stays; with SACK blocks (RFC 6675) it need not."""
    acks = [packet(ms, server=False, ack=500) for ms in (1, 2, 3, 4)]
    acks[1] = replace(acks[1], window=700)
    acks[2] = replace(acks[2], window=700)
    acks[3] = replace(acks[3], window=900, sack=((ISN_SERVER + 700, ISN_SERVER + 800),))
    made = steps(match([], acks), ISN_SERVER, ISN_CLIENT)
    assert [s.duplicate_acks for s in made] == [0, 0, 1, 2]
    assert [s.window_update for s in made] == [False, True, False, False]
    assert lines(made[1], 32, UNICODE)[0].endswith("window update")


def test_what_a_side_sends_again_is_marked() -> None:
    syn = packet(0, server=False, seq=0, ack=0, flags="SYN")
    get = packet(20, server=False, seq=1, length=133)
    fin = packet(40, server=False, seq=134, flags="FIN ACK")
    sent = [syn, replace(syn, time_ns=1), get, replace(get, time_ns=30_000_000), fin]
    sent += [replace(fin, time_ns=50_000_000), packet(60, server=False, seq=135)]
    made = steps(match([], sent), ISN_SERVER, ISN_CLIENT)
    assert [s.again for s in made] == [False, True, False, True, False, True, False]
    assert [s.kind for s in made] == [
        *(None, "came twice", None, "seen before", None, "seen before", None)
    ]
    assert lines(made[3], 32, UNICODE)[0].count("seen before") == 1


def test_what_is_neither_new_nor_a_retransmission_is_named() -> None:
    get = packet(20, server=False, seq=1, length=100)
    sent = [
        packet(0, server=False, seq=0, ack=0, flags="SYN"),
        get,
        packet(21, server=False, seq=201, length=100),
        packet(22, server=False, seq=101, length=100),
        packet(500, server=False, seq=300, length=1),
        packet(600, server=False, seq=300),
        replace(packet(601, server=False, seq=301, length=10), mechanism="rto"),
    ]
    made = steps(match([], sent), ISN_SERVER, ISN_CLIENT)
    told = [None, None, None, "out of order", "keep-alive", "keep-alive", None]
    assert [s.kind for s in made] == told
    closed = replace(packet(400, server=True, seq=1), window=0)
    probed = steps(match([closed], sent), ISN_SERVER, ISN_CLIENT)
    assert [s.kind for s in probed if s.kind] == ["out of order", "window probe", "window probe"]


def test_numbers_below_the_first_are_no_high_ones() -> None:
    """A capture that begins in the middle has first what was sent second."""
    sent = [packet(n, server=False, seq=seq, length=100) for n, seq in enumerate((300, 200, 400))]
    made = steps(match([], sent), ISN_SERVER, None)
    assert [(s.seq % 2**32, s.kind) for s in made] == [
        (0, None),
        (2**32 - 100, "out of order"),
        (100, None),
    ]


def test_a_packet_that_was_recorded_twice_is_no_second_ack() -> None:
    acks = [packet(10, server=False, ack=500), packet(20, server=False, ack=500)]
    copies = [replace(one, time_ns=one.time_ns + 1000) for one in acks]
    every = sorted([*acks, *copies], key=lambda one: one.time_ns)
    for recorded_again, said, duplicates in (
        (True, [None, "recorded again"] * 2, [0, 0, 1, 0]),
        (False, [None] * 4, [0, 1, 2, 3]),
    ):
        made = steps(match([], every), ISN_SERVER, ISN_CLIENT, recorded_again=recorded_again)
        assert [one.kind for one in made] == said
        assert [one.duplicate_acks for one in made] == duplicates


def test_what_the_far_ends_capture_may_have_missed_is_not_lost() -> None:
    """The last acknowledgement was on its way when the client's capture ended."""
    data = [packet(10 * n, server=True, seq=100 * n, length=100) for n in (1, 2, 3)]
    arrived = [later(one) for one in data[:2]]
    for heard_ms, lost in ((24, False), (80, True)):
        fin = packet(heard_ms, server=False, ack=200)
        made = steps(match(data, [*arrived, fin]), ISN_SERVER, ISN_CLIENT)
        last = next(step for step in made if step.seq == 300)
        assert (last.arrived_ns, last.lost) == (None, lost)
        said = "lost on the line" if lost else "arrival not captured"
        assert lines(last, 32, UNICODE)[0].endswith(said)


@pytest.mark.parametrize(
    ("comment", "told"),
    [
        (None, (False, None, None)),
        ("rexmit: dropped", (True, None, None)),
        ("rexmit: retransmission mechanism=tlp need=needed", (False, "tlp", "needed")),
        (
            "rexmit: retransmission mechanism=rto-recovery need=unknown; rexmit: dropped",
            (True, "rto-recovery", "unknown"),
        ),
        (
            "rexmit: dropped; rexmit: retransmission mechanism=rto need=spurious",
            (True, "rto", "spurious"),
        ),
        ("rexmit: retransmission", (False, "unknown", None)),
        ("dropped by somebody else", (False, None, None)),
    ],
)
def test_comments(comment: str | None, told: tuple[bool, str | None, str | None]) -> None:
    assert parse_comment(comment) == told


@pytest.mark.parametrize(
    "comment",
    [
        f"rexmit: x{' ' * 65_000}y",
        f"rexmit:{' ' * 65_000};",
        f"rexmit: retransmission {'a' * 65_000}",
    ],
)
def test_a_long_comment_takes_no_time(comment: str) -> None:
    began_s = time.process_time()
    assert not parse_comment(comment)[0]
    assert time.process_time() - began_s < 1


def test_flags_have_wiresharks_names_and_order() -> None:
    assert in_order(flag_names(0x18)) == "PSH, ACK"
    assert in_order(flag_names(0x11)) == "FIN, ACK"
    assert in_order(flag_names(0x12)) == "SYN, ACK"
    assert in_order(flag_names(0x1C2)) == "SYN, ECE, CWR, AE"


DATA = replace(
    PLAIN,
    sent_ns=10_000_000,
    arrived_ns=15_000_000,
    payload_bytes=1448,
    seq=1,
    ack=201,
    window=500,
)


def line(step: Step, width: int, glyphs: Glyphs) -> str:
    (one,) = lines(step, width, glyphs)
    return one


def test_a_line_of_the_ladder() -> None:
    assert line(DATA, 32, UNICODE) == (
        "   15.000 ◀─────────── ACK 1448 ──────────    10.000  seq 1 ack 201"
    )


def test_a_drop_ends_midway() -> None:
    dropped = replace(DATA, arrived_ns=None, dropped=True)
    assert line(dropped, 32, UNICODE) == (
        "                          ✗─── ACK 1448 ──    10.000  seq 1 ack 201  dropped"
    )
    from_client = replace(dropped, from_server=False, sent_ns=10_000_000)
    assert line(from_client, 32, ASCII) == (
        "   10.000 --- ACK 1448 --X                            seq 1 ack 201  dropped"
    )


def test_a_retransmission_names_its_mechanism() -> None:
    retransmission = replace(DATA, mechanism="tlp", need="needed")
    assert line(retransmission, 32, UNICODE).endswith("retransmission: tlp")
    assert line(replace(retransmission, need="spurious"), 32, UNICODE).endswith(
        "retransmission: tlp (spurious)"
    )
    assert line(replace(retransmission, dropped=True), 32, UNICODE).endswith(
        "retransmission: tlp  dropped"
    )


def test_ascii_is_ascii() -> None:
    for step in (DATA, replace(DATA, from_server=False), replace(DATA, lost=True)):
        line(step, 32, ASCII).encode("ascii")
    gap_words(Gap(9, 100), ASCII).encode("ascii")


def test_arrows_are_as_long_as_each_other() -> None:
    arrows = {len(line(replace(DATA, flags=f), 40, UNICODE)) for f in ("ACK", "FIN, PSH, ACK")}
    assert len(arrows) == 1


def test_the_uneventful_middle_is_left_out() -> None:
    plain = [replace(DATA, seq=1 + i * 1448) for i in range(100)]
    plain[60] = replace(plain[60], dropped=True)
    shown = elide(plain)
    assert [s for s in shown if isinstance(s, Gap)] == [Gap(50, 50 * 1448), Gap(35, 35 * 1448)]
    assert shown[:8] == plain[:8]
    assert shown[9:14] == plain[58:63]
    assert shown[-2:] == plain[-2:]


def test_a_row_of_duplicate_acks_shows_three() -> None:
    ack = replace(DATA, from_server=False, payload_bytes=0, seq=201, sack=((10, 20),))
    row = [DATA, *(replace(ack, duplicate_acks=n) for n in range(1, 31)), DATA, DATA]
    shown = elide(row, opening=1)
    assert [s.duplicate_acks for s in shown if isinstance(s, Step)] == [0, 1, 2, 3, 4, 5, 0, 0]
    assert [s for s in shown if isinstance(s, Gap)] == [Gap(25, 0, 25)]
    # what is lost or reports a duplicate stays
    for event in (replace(row[20], lost=True), replace(row[20], duplicate_sack=True)):
        row[20] = event
        assert event in elide(row, opening=1)


def test_a_silence_is_longer_than_a_round_trip() -> None:
    """5 ms each way: nothing is under way for so long."""

    def at(ms: float, **more: object) -> Step:
        sent = round(ms * 1e6)
        whole = replace(DATA, sent_ns=sent, arrived_ns=sent + DELAY)
        return replace(whole, **more)  # type: ignore[arg-type]

    ack = at(5, from_server=False, payload_bytes=0)
    assert silences([at(0), ack, at(15), at(20.1)]) == {}
    assert silences([at(0), ack, at(20.1)]) == {2: 10_100_000}
    # an arrival whose sending is unknown, and a packet that never arrives, are something too
    assert silences([at(0), ack, at(19.9, arrived_ns=None), at(29.8)]) == {}
    assert silences([at(0), ack, at(30, sent_ns=None)]) == {2: 25_000_000}
    shown = elide([at(0), ack, *(at(6 + i) for i in range(40)), at(100), at(101)], opening=1)
    assert [s for s in shown if isinstance(s, Silence)] == [Silence(50_000_000)]
    assert [type(s) for s in shown[-5:]] == [Step, Step, Silence, Step, Step]


def test_what_does_not_fit_goes_below() -> None:
    sacked = replace(DATA, sack=((14_481, 144_801),), duplicate_acks=1)
    (whole,) = lines(sacked, 26, UNICODE)
    folded = lines(sacked, 26, UNICODE, room=80)
    assert len(whole) > 80
    assert len(folded) > 1
    assert all(len(part) <= 80 for part in folded)
    assert " ".join(" ".join(folded).split()) == " ".join(whole.split())
    column = whole.index("seq 1")
    assert all(part[:column].isspace() and part[column] != " " for part in folded[1:])


@given(st.lists(st.booleans(), max_size=60))
def test_events_are_never_left_out(events: list[bool]) -> None:
    all_steps = [replace(DATA, seq=i, dropped=e) for i, e in enumerate(events)]
    shown = elide(all_steps)
    kept = [s for s in shown if isinstance(s, Step)]
    assert [s for s in kept if s.is_event] == [s for s in all_steps if s.is_event]
    assert len(kept) + sum(s.lines for s in shown if isinstance(s, Gap)) == len(all_steps)
    assert all(s.lines >= 4 for s in shown if isinstance(s, Gap))
