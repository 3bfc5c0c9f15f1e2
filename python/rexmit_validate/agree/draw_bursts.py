"""Random bursts over two paths."""

from __future__ import annotations

from collections.abc import Set
from typing import Final

from rexmit_validate.agree.case import Case
from rexmit_validate.agree.lot import Lot
from rexmit_validate.dice import Dice
from rexmit_validate.networks import buffers, delay_ns, queue, rate_bps

RATE_BPS: Final = (5_000_000, 200_000_000)
DELAY_NS: Final = (5_000_000, 150_000_000)
"""One way, of a path."""
SEGMENTS: Final = (10, 150)
"""Of a burst."""
QUEUE_PACKETS: Final = 1000
"""More than there are."""
GAP_NS: Final = (1_000_000_000, 3_000_000_000)

EARLY_RETRANS: Final = "net.ipv4.tcp_early_retrans"
SYSCTLS: Final = frozenset({EARLY_RETRANS})
"""Settings that a case may have."""


def draw(lot: Lot, there: Set[str]) -> Case:
    """A case with settings that are `there`."""
    dice = lot.dice
    connection, bursts, settings = dice("connection"), dice("bursts"), dice("settings")
    protocol = connection.pick([(2, "mptcp"), (1, "tcp")])
    first_path = connection.whole(1, 2)
    count = bursts.pick([(2, 1), (6, 2), (2, 3)])
    return Case(
        name=lot.name,
        over="paths",
        seed=lot.phase_seed,
        protocol=protocol,
        first_path=first_path,
        rates_bps=_rates(dice("rate")),
        delays_ns=_delays(dice("delay")),
        bursts=count,
        segments=round(bursts.log_between(*SEGMENTS)),
        # Whole milliseconds, as one would write them.
        gap_ns=round(bursts.between(*GAP_NS) / 1e6) * 1_000_000,
        pattern=_pattern(dice("pattern"), count, first_path if protocol == "tcp" else None),
        queue_packets=queue(dice("queue"), QUEUE_PACKETS),
        sysctls=_settings(settings, there) | buffers(dice("buffers")),
    )


def _settings(dice: Dice, there: Set[str]) -> dict[str, str]:
    value = dice.pick([(1, "0"), (2, "3")])
    return {EARLY_RETRANS: value} if EARLY_RETRANS in there else {}


def _rates(dice: Dice) -> tuple[int, int]:
    first, second = (rate_bps(dice, *RATE_BPS) for _ in range(2))
    return dice.pick([(1, (first, first)), (1, (first, second))])


def _delays(dice: Dice) -> tuple[int, int]:
    first, second = (delay_ns(dice, *DELAY_NS) for _ in range(2))
    return dice.pick([(1, (first, first)), (4, (first, second))])


def _pattern(dice: Dice, bursts: int, only: int | None) -> str:
    """Losses at the end of a burst on a path; of TCP (`only`) on the one that it has."""
    path = dice.whole(1, 2) if only is None else only
    # The last burst mostly: no later one repairs it.
    burst = dice.pick([(4, bursts), (1, dice.whole(1, bursts))])
    lost, both = _tail(dice), dice.chance(0.15)
    clauses = [f"path {path} burst {burst} data {lost}"]
    if both and only is None:
        clauses.append(f"path {3 - path} burst {burst} data -1")
    return "; ".join(sorted(clauses))


def _tail(dice: Dice) -> str:
    """Positions from the back."""
    several, place = dice.whole(3, 6), dice.whole(2, 8)
    return dice.pick(
        [
            (5, "-1"),
            (4, "-2..-1"),
            (3, "-1#1..2"),
            (1, "-1#1..3"),
            (1, "-2..-1 -1#2"),
            (3, f"-{several}..-1"),
            (2, f"-{place}"),
        ]
    )
