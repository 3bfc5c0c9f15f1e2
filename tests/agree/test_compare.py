"""How two logs are held against each other."""

from __future__ import annotations

from operator import eq

from rexmit_validate.agree import compare as comparing
from rexmit_validate.agree.classes import of_packets
from rexmit_validate.agree.compare import Alike, Verdict, by_counters
from rexmit_validate.agree.packet import Log, LoggedPacket
from rexmit_validate.agree.show import side_by_side

TICK = 4_000_000
ACK, FIN_ACK, SYN_ACK = 16, 17, 18


def data(
    at_ms: float, place: int, mechanism: str | None = None, *, dropped: bool = False
) -> LoggedPacket:
    at = round(at_ms * 1e6)
    return LoggedPacket(at, 0, 1 + 1000 * place, 1000, ACK, 134, 509, dropped, mechanism, [])


def ack(at_ms: float, place: int) -> LoggedPacket:
    return LoggedPacket(round(at_ms * 1e6), 1, 134, 0, ACK, 1 + 1000 * place, 500, 0, None, [])


KERNEL = [
    LoggedPacket(0, 1, 0, 0, 2, 0, 64240, 0, None, []),
    LoggedPacket(10_000_000, 0, 0, 0, SYN_ACK, 1, 65160, 0, None, []),
    data(20, 0),
    data(20, 1, dropped=True),
    data(20, 2, dropped=True),
    ack(30, 1),
    data(250, 1, "rto"),
    data(270, 2, "rto-recovery"),
]


def changed(place: int, packet: LoggedPacket | None) -> list[LoggedPacket]:
    model = list(KERNEL)
    model[place : place + 1] = [] if packet is None else [packet]
    return model


def compare(kernel: list[LoggedPacket], model: list[LoggedPacket], alike: Alike = eq) -> Verdict:
    ours, theirs = (Log.read(log, own=False) for log in (kernel, model))
    return comparing.compare(ours, theirs, TICK, alike)


def test_logs_that_agree() -> None:
    verdict = compare(KERNEL, KERNEL)
    assert verdict.exact
    assert verdict.recovery
    assert verdict.difference is None
    assert not any(">>" in line for line in side_by_side(KERNEL, KERNEL, None))


def test_a_tick_is_allowed_and_no_more() -> None:
    assert compare(KERNEL, changed(6, data(254, 1, "rto"))).exact
    late = compare(KERNEL, changed(6, data(254.001, 1, "rto")))
    assert late.packets
    assert late.mechanisms
    assert not late.times
    assert not late.recovery
    assert of_packets(late, TICK) == "rto: model later by 1 to 2 ticks"


def test_another_mechanism() -> None:
    verdict = compare(KERNEL, changed(6, data(250, 1, "tlp")))
    assert verdict.packets
    assert not verdict.mechanisms
    assert not verdict.recovery
    assert of_packets(verdict, TICK) == "kernel rto / model tlp"


def test_what_counters_do_not_tell_apart() -> None:
    for told, model, alike in [
        ("unknown", "rto", True),
        ("fast-retransmit", "fack", True),
        ("fast-retransmit", "rto", False),
        ("rto", "tlp", False),
    ]:
        log = changed(6, data(250, 1, told))
        made = changed(6, data(250, 1, model))
        counted = compare(log, made, by_counters)
        assert (counted.exact, counted.recovery) == (alike, alike)
        # A kernel that records its causes is held to its word.
        assert not compare(log, made).mechanisms
    none = compare(changed(6, data(250, 1, "unknown")), changed(6, data(250, 1)), by_counters)
    assert not none.mechanisms


def test_other_bytes_and_missing_packets() -> None:
    other = compare(KERNEL, changed(7, data(270, 3)))
    assert not other.packets
    assert other.recovery
    assert of_packets(other, TICK) == "kernel rto-recovery / model new data"
    missing = compare(KERNEL, changed(7, None))
    assert of_packets(missing, TICK) == "kernel rto-recovery / model nothing"
    fin = KERNEL[7]._replace(flags=FIN_ACK)
    assert not compare(KERNEL, changed(7, fin)).packets


def test_acknowledgements_do_not_count() -> None:
    assert compare(KERNEL, changed(5, None)).exact


def test_both_stand_beside_each_other_and_the_first_difference_is_marked() -> None:
    model = changed(6, data(262, 1, "tlp"))
    ours, theirs = (Log.read(log, own=False) for log in (KERNEL, model))
    difference = comparing.compare(ours, theirs, TICK).difference
    lines = list(side_by_side(ours.packets, theirs.packets, difference))
    (marked,) = (line for line in lines if line.startswith(">>"))
    left, right = marked.split("|")
    assert "250.000 -> 2 rto" in left
    assert "262.000 -> 2 tlp +12.000" in right
    assert sum("lost" in line for line in lines) == 2
    assert any("<- ack 1 win 500" in line for line in lines)
