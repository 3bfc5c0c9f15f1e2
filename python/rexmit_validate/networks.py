"""What random networks and hosts have in common, whatever runs over them.

Between which bounds and how often stands with who draws: cases are wide, corpora are like the
world.
"""

from __future__ import annotations

from typing import Final

from rexmit_validate.dice import Dice

QUEUE_PACKETS: Final = (5, 200)
"""Of a queue that may overflow."""
BUFFER_BYTES: Final = (16_384, 1_048_576)
"""The largest that a host's buffer may become, where it is not as usual."""


def rate_bps(dice: Dice, least: float, most: float) -> int:
    """Of a link, in whole kilobits: tc and the guest agree on them to the byte."""
    return round(dice.log_between(least, most) / 8000) * 8000


def delay_ns(dice: Dice, least: float, most: float) -> int:
    """Of a link one way, in whole microseconds, as netem counts."""
    return round(dice.log_between(least, most) / 1000) * 1000


def queue(dice: Dice, ample: int) -> int:
    """Packets that the queues hold: mostly more than there are."""
    few = round(dice.log_between(*QUEUE_PACKETS))
    return few if dice.chance(0.15) else ample


def buffers(dice: Dice) -> dict[str, str]:
    """Receive and send buffers of both hosts: mostly the kernel's own."""
    sysctls: dict[str, str] = {}
    for name in ("tcp_rmem", "tcp_wmem"):
        wanted, most = dice.chance(0.15), round(dice.log_between(*BUFFER_BYTES))
        first = round(dice.log_between(8192, most))
        if wanted:
            sysctls[f"net.ipv4.{name}"] = f"4096 {first} {most}"
    return sysctls
