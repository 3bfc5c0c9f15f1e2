"""Each mechanism's necessary evidence, by packets written by hand."""

from __future__ import annotations

import pytest
from tests.real.evidence import (
    early_retransmit,
    fack,
    fast_retransmit,
    rack,
    rto,
    rto_recovery,
    sack_recovery,
    tlp,
)
from tests.real.script import Script, stamps

MILLISECOND = 1_000_000


def flight(*, sack: bool = True, segments: int = 5, near: float = 0.01) -> Script:
    """A connection with segments out, sent at 100 ms; round trips take 40 ms."""
    script = Script(sack=sack, near=near).handshake()
    script.data(50, 1, 1).ack(90, 2)
    for nth in range(segments):
        script.data(100 + nth / 100, 2 + 1000 * nth)
    return script


def test_fast_retransmit_needs_a_duplicate_ack() -> None:
    assert fast_retransmit(flight(sack=False).data(141, 2).case()) == "no duplicate ACK"
    assert fast_retransmit(flight(sack=False).ack(140, 2).data(141, 2).case()) is None


def test_an_ack_with_another_window_or_before_the_last_transmission_is_no_duplicate() -> None:
    update = flight(sack=False).ack(140, 2, window=9000).data(141, 2)
    assert fast_retransmit(update.case()) == "no duplicate ACK"
    before = flight(sack=False).ack(140, 2).data(141, 2).data(400, 2)
    assert fast_retransmit(before.case()) == "no ACK since the recovery began"


def test_fast_retransmit_goes_on_at_a_partial_ack() -> None:
    begun = flight(sack=False).ack(140, 2).data(141, 2)
    assert fast_retransmit(begun.ack(181, 1002).data(182, 1002).case()) is None
    begun = flight(sack=False).ack(140, 2).data(141, 2)
    assert fast_retransmit(begun.data(142, 1002).case()) == "no ACK since the recovery began"


def test_a_recorded_double_of_an_ack_is_no_duplicate_ack() -> None:
    script = flight(sack=False)
    script.packets[-1:] = [script.packets[-1]]
    script.ack(140, 1002)
    script.packets.append(script.packets[-1])
    assert fast_retransmit(script.data(141, 1002).case()) == "no duplicate ACK"


def test_sack_recovery_needs_a_block_above_the_hole() -> None:
    assert sack_recovery(flight().ack(140, 2, (1002, 2002)).data(141, 2).case()) is None
    below = flight().ack(140, 2, (1002, 2002)).data(141, 3002)
    assert sack_recovery(below.case()) == "no SACK block above the hole"
    refused = flight(sack=False).ack(140, 2).data(141, 2)
    assert sack_recovery(refused.case()) == "SACK was not agreed on"


def test_sack_recovery_rescues_the_tail_once() -> None:
    rescued = flight().ack(140, 2, (1002, 2002)).data(141, 2).data(142, 4002)
    assert sack_recovery(rescued.case()) is None
    again = rescued.data(183, 4002)
    assert sack_recovery(again.case()) == "a second rescue in one recovery"


def test_fack_needs_a_block_more_than_a_segment_above() -> None:
    assert fack(flight().ack(140, 2, (3002, 4002)).data(141, 2).case()) is None
    assert fack(flight().ack(140, 2).data(141, 2).case()) == "no SACK block above the hole"
    near = flight().ack(140, 2, (502, 1002)).data(141, 2)
    assert fack(near.case()) == "the highest SACK block ends within a segment of the hole"


def test_rack_needs_the_delivery_of_something_sent_later() -> None:
    assert rack(flight().ack(140, 2, (1002, 2002)).data(150, 2).case()) is None
    assert rack(flight().data(150, 2).case()) == "nothing sent later had been delivered"
    earlier = flight().ack(140, 2, (1002, 2002)).data(150, 2).data(200, 2)
    assert rack(earlier.case()) == "nothing sent later had been delivered"
    assert rack(flight(sack=False).ack(140, 2).data(150, 2).case()) == "SACK was not agreed on"


def test_rack_takes_an_ack_or_a_d_sack_of_a_later_copy() -> None:
    twice = flight().ack(140, 2, (1002, 2002)).data(150, 2002).data(150.1, 1002)
    assert rack(twice.ack(190, 2, (1002, 2002), (1002, 2002)).data(191, 2002).case()) is None


def test_early_retransmit_needs_a_duplicate_and_few_segments() -> None:
    assert early_retransmit(flight(segments=3).ack(140, 2).data(150, 2).case()) is None
    assert early_retransmit(flight(segments=3).data(150, 2).case()) == "no duplicate ACK"
    many = flight(segments=4).ack(140, 2).data(150, 2)
    assert early_retransmit(many.case()) == "four segments or more out"


def test_a_probe_carries_the_last_byte() -> None:
    assert tlp(flight().data(190, 4002).case()) is None
    assert tlp(flight().data(190, 3002).case()) == "not the last byte sent"
    assert tlp(flight(sack=False).data(190, 4002).case()) == "SACK was not agreed on"


@pytest.mark.parametrize(
    ("at", "why"),
    [
        (100.5, "sooner than 1 ms after the last transmission"),
        (130, "sooner than a round trip after the last transmission"),
        (141, None),
    ],
)
def test_a_probe_waits(at: float, why: str | None) -> None:
    assert tlp(flight().data(at, 4002).case()) == why


def test_a_probe_may_be_as_soon_as_the_timeout_would_be() -> None:
    script = Script().handshake().data(50, 1, 1).ack(90, 2)
    script.data(100, 2).data(280, 1002).data(301, 1002)
    assert tlp(script.case()) is None


def test_only_one_probe_without_an_ack_between() -> None:
    script = flight().data(190, 4002)
    first = frozenset([len(script.packets) - 1])
    assert tlp(script.data(280, 4002).case(probes=first)) is not None
    script = flight().data(190, 4002).ack(230, 1002)
    assert tlp(script.data(320, 4002).case(probes=first)) is None


def test_a_timeout_waits_for_a_round_trip_and_for_no_more_than_two_minutes() -> None:
    sooner = "sooner than a round trip after the last transmission"
    assert rto(flight().data(130, 2).case()) == sooner
    assert rto(flight().data(330, 2).case()) is None
    assert rto(flight().data(200_000, 2).case()) == "later than any timeout"


def test_three_duplicates_are_no_timeout() -> None:
    acks = flight(sack=False).ack(140, 2).ack(140.1, 2).ack(140.2, 2)
    assert rto(acks.data(140.4, 2).case()) == "three duplicate ACKs just before it"
    blocks = flight().ack(140, 2, (1002, 4002))
    assert rto(blocks.data(140.4, 2).case()) == "three duplicate ACKs just before it"


def test_a_timeout_after_an_earlier_retransmission_may_follow_duplicates() -> None:
    lost = flight(sack=False).ack(140, 2).ack(140.1, 2).ack(140.2, 2).data(140.4, 2)
    assert rto(lost.data(400, 2).case()) is None


def test_three_duplicates_and_an_original_that_nobody_saw_are_no_timeout() -> None:
    script = Script().data(0, 1001).ack(0.1, 1, (1001, 4001)).data(0.3, 1)
    assert rto(script.case()) == "three duplicate ACKs before it, and no wait is seen"


def test_stamps_give_the_time_away_from_the_sender() -> None:
    def late(stamp: int) -> Script:
        script = Script(near=30, trip=0.1).handshake().data(50, 1, 1).ack(50.1, 2)
        script.data(100, 2, stamp=stamps(1000, 1))
        return script.data(100.1, 2, stamp=stamps(stamp, 1))

    tick = 4 * MILLISECOND
    assert rto(late(1002).case(tick=tick)) == "sooner than a round trip after the last transmission"
    assert rto(late(1060).case(tick=tick)) is None
    assert rto(late(1002).case()) is None, "without the length of a tick nothing is judged"


def test_what_follows_a_timeout_needs_one_before_and_a_byte_sent_by_then() -> None:
    assert rto_recovery(flight().data(330, 2).ack(370, 1002).data(371, 1002).case()) is None
    assert rto_recovery(flight().ack(141, 1002).data(142, 1002).case()) == "no timeout before it"
    new = flight().data(330, 2).ack(370, 1002).data(371, 5002).data(372, 5002)
    assert rto_recovery(new.case()) == "no timeout before it"


def test_an_ack_that_passed_the_monitor_may_not_have_reached_the_sender() -> None:
    away = flight(near=40).data(330, 2).ack(330.1, 5002).data(331, 1002)
    assert rto_recovery(away.case()) is None
    beside = flight().data(330, 2).ack(330.1, 5002).data(331, 1002)
    assert rto_recovery(beside.case()) == "no timeout before it"


def test_rack_on_new_data_needs_something_sent_again() -> None:
    away = Script(near=30).handshake().data(50, 1, 1).ack(90, 2).data(150, 2)
    assert rack(away.case()) == "nothing sent later had been delivered"
    away = flight(near=30, segments=3).ack(140, 2, (1002, 3002)).data(190, 2).ack(230, 3002)
    assert rack(away.data(300, 3002).case()) is None


def test_what_came_first_may_be_a_copy_away_from_the_sender() -> None:
    def late(near: float) -> Script:
        return flight(near=near, segments=1).ack(140, 1002).data(700, 1002).ack(740, 2002)

    assert rto_recovery(late(30).data(800, 2002).case()) is None
    assert rto_recovery(late(0.01).data(800, 2002).case()) == "no timeout before it"


def test_a_partial_ack_goes_on_with_a_recovery_by_sack() -> None:
    script = flight().ack(140, 2, (1002, 2002)).data(141, 2).ack(181, 2002).data(182, 2002)
    assert sack_recovery(script.case()) is None
