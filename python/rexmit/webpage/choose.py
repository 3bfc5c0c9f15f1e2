"""Which connections' packets a page has: those that waited longest, up to a number of packets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rexmit.wording import count

PACKETS: Final = 200_000
"""The most packets in a page where nobody says: some 4 MB, and five seconds to read them."""

MOST: Final = 500
"""The most connections where nobody names them."""


@dataclass(frozen=True)
class Choice:
    """The numbers of the connections that were chosen, and the rule in words."""

    numbers: tuple[int, ...]
    rule: str


def choose(
    ranked: Iterable[tuple[int, int]], *, every: int, limit: int, order: str, noun: str
) -> Choice:
    """Of connections with their packets, those first that matter most (`order` says how), as many
    as `limit` packets allow; one with too many of them is passed over. `every` is how many there
    are.
    """
    chosen: list[int] = []
    left, passed = limit, 0
    for number, packets in ranked:
        if len(chosen) == MOST:
            break
        if packets <= left:
            chosen.append(number)
            left -= packets
        else:
            passed += 1
    them = count(every, noun)
    if len(chosen) == every:
        whole = f"all {them}" if every != 1 else f"the only {noun}"
        return Choice(tuple(chosen), f"This file has the packets of {whole}.")
    rule = (
        f"This file has the packets of {len(chosen):,} of {them}: {order}, as far as {limit:,} "
        f"packets in all and {MOST:,} {noun}s go"
    )
    if passed:
        rule += f"; {passed:,} with more packets than were left were passed over"
    return Choice(tuple(chosen), f"{rule}. --connections chooses others, --packets how many.")


def named(numbers: Sequence[int], *, every: int, noun: str) -> Choice:
    """Those that were asked for."""
    words = ", ".join(map(str, numbers[:12])) + (" and more" if len(numbers) > 12 else "")
    return Choice(
        tuple(dict.fromkeys(numbers)),
        f"This file has the packets of {noun} {words}, of {every:,}, as --connections asked.",
    )
