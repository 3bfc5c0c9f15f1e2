"""Random pages over two links."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Final

from rexmit_validate.agree.case import Case
from rexmit_validate.agree.lot import Lot
from rexmit_validate.dice import Dice
from rexmit_validate.networks import buffers, queue, rate_bps

RATE_BPS: Final = (500_000, 1_000_000_000)
RTT_NS: Final = (1_000_000, 800_000_000)
SEGMENTS: Final = (1, 400)

SYSCTLS: Final = frozenset(
    f"net.ipv4.{name}"
    for name in (
        "tcp_dsack",
        "tcp_early_retrans",
        "tcp_frto",
        "tcp_recovery",
        "tcp_reordering",
        "tcp_rto_min_us",
        "tcp_sack",
        "tcp_slow_start_after_idle",
        "tcp_timestamps",
    )
)
"""Settings that a case may have."""

CONGESTION_CONTROLS: Final = frozenset({"cubic", "reno"})


def draw(lot: Lot, there: Set[str]) -> Case:
    """A case with settings and algorithms that are `there`."""
    dice = lot.dice
    size = dice("size")
    segments = round(size.log_between(SEGMENTS[0] - 0.4, SEGMENTS[1] + 0.4))
    return Case(
        name=lot.name,
        seed=lot.phase_seed,
        rates_bps=_rates(dice("rate")),
        delays_ns=_delays(dice("delay")),
        queue_packets=queue(dice("queue"), 4000),
        segments=segments,
        pattern=_pattern(dice("data"), dice("resends"), dice("acks"), segments),
        congestion_control=_control(dice("control"), there),
        receive_window_bytes=_window(dice("window")),
        sysctls=_sysctls(dice("sysctls"), there) | buffers(dice("buffers")),
    )


def _rates(dice: Dice) -> tuple[int, int]:
    rate = rate_bps(dice, *RATE_BPS)
    other = min(10 * rate, RATE_BPS[1])
    return dice.pick([(2, (rate, rate)), (1, (other, rate)), (1, (rate, other))])


def _delays(dice: Dice) -> tuple[int, int]:
    one_way_us = dice.log_between(*RTT_NS) / 2000
    share = dice.between(0.02, 0.98)
    first = max(1, round(one_way_us * share))
    second = max(1, round(one_way_us - first))
    return first * 1000, second * 1000


def _window(dice: Dice) -> int | None:
    return round(dice.log_between(4096, 262_144)) if dice.chance(0.08) else None


def _pattern(data: Dice, again: Dice, acks: Dice, segments: int) -> str:
    lost = _positions(data, segments)
    items = [_range(first, last) for first, last in lost]
    if lost and again.chance(0.3):
        for _ in range(again.whole(1, 3)):
            first, last = lost[again.whole(0, len(lost) - 1)]
            position = again.whole(first, last)
            items.append(f"{position}#{again.pick([(4, '2'), (2, '2..3'), (1, '3')])}")
    if again.chance(0.08):
        # A retransmission of something that was not lost at first: only if it is sent again
        # spuriously.
        items.append(f"{again.whole(1, segments)}#2")
    if again.chance(0.1):
        items.append(again.pick([(3, "fin"), (1, "fin#1..2")]))
    clauses = [f"data {' '.join(items)}"] if items else []
    if lost_acks := _acks(acks, segments):
        clauses.append(f"ack {' '.join(lost_acks)}")
    return "; ".join(clauses) or "none"


def _positions(dice: Dice, segments: int) -> list[tuple[int, int]]:
    """Ranges of positions whose first transmission is lost."""
    kind = dice.pick(
        [(1, "none"), (4, "single"), (4, "burst"), (6, "tail"), (5, "some"), (1, "all")]
    )
    if kind == "none":
        return []
    if kind == "single":
        one = dice.whole(1, segments)
        return [(one, one)]
    if kind == "burst":
        length = min(segments, round(dice.log_between(2, 40)))
        first = dice.whole(1, segments - length + 1)
        return [(first, first + length - 1)]
    if kind == "tail":
        length = min(segments, round(dice.log_between(1, 24)))
        return [(segments - length + 1, segments)]
    if kind == "all":
        return [(1, segments)]
    share = dice.log_between(0.01, 0.5)
    lost = [at for at in range(1, segments + 1) if dice.chance(share)]
    return _runs(lost or [dice.whole(1, segments)])


def _acks(dice: Dice, segments: int) -> list[str]:
    kind = dice.pick([(13, "none"), (3, "single"), (3, "burst"), (3, "some")])
    # One acknowledgement for two segments, one for each while something is missing.
    most = max(1, segments)
    if kind == "none":
        return []
    if kind == "single":
        return [str(dice.whole(1, most))]
    if kind == "burst":
        first = dice.whole(1, most)
        return [_range(first, first + dice.whole(1, 20))]
    share = dice.between(0.05, 0.6)
    lost = [at for at in range(1, most + 1) if dice.chance(share)]
    return [_range(first, last) for first, last in _runs(lost)]


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}..{last}"


def _control(dice: Dice, there: Set[str]) -> str:
    wanted = dice.pick([(7, "cubic"), (3, "reno")])
    # Every kernel has the other.
    return wanted if wanted in there else "reno"


def _sysctls(dice: Dice, there: Set[str]) -> dict[str, str]:
    """Settings that depart from the kernel's own, most of them in a few cases only."""
    sysctls: dict[str, str] = {}

    def sometimes(share: float, name: str, values: Sequence[tuple[float, object]]) -> None:
        # Both are drawn always, so that one setting's share does not move the next one's draw.
        wanted, value = dice.chance(share), dice.pick(values)
        if wanted and (full := f"net.ipv4.{name}") in there:
            sysctls[full] = str(value)

    sometimes(0.35, "tcp_early_retrans", [(1, 0)])
    sometimes(0.3, "tcp_recovery", [(3, 0), (1, 2), (1, 3), (1, 4), (1, 5), (1, 7)])
    sometimes(0.12, "tcp_sack", [(1, 0)])
    sometimes(0.1, "tcp_dsack", [(1, 0)])
    sometimes(0.2, "tcp_timestamps", [(1, 0)])
    sometimes(0.25, "tcp_frto", [(1, 0)])
    sometimes(0.1, "tcp_reordering", [(1, 1), (1, 2), (1, 5), (1, 10)])
    sometimes(0.15, "tcp_slow_start_after_idle", [(1, 0)])
    rto_min_us = round(dice.log_between(5_000, 1_000_000))
    sometimes(0.15, "tcp_rto_min_us", [(1, rto_min_us)])
    return sysctls
