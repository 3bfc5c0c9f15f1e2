"""The kinds of trouble that the links of a part make, as netem's arguments.

A way is a direction of a link: `h1_out` from h1, where most data come from, to the switch, `h2_in`
on from there to h2; `h2_out` and `h1_in` are the way back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from rexmit_validate.dice import Dice

KINDS: Final = (
    "quiet",
    "random",
    "bursts",
    "acks",
    "tails",
    "spikes",
    "queue",
    "reordering",
    "outages",
    "window",
    "duplicates",
    "mixed",
)

_FORTH: Final = ("h1_out", "h2_in")
_BACK: Final = ("h2_out", "h1_in")
_NS: Final = 1_000_000_000
_MOST_TAILS: Final = 60
_FAST_BPS: Final = 1_000_000_000
"""Of a link beside the slow one, where it must keep its packets in order."""


@dataclass(slots=True)
class Way:
    """One direction of a link."""

    delay_s: float
    rate_bps: int | None = None
    limit: int = 5000
    jitter_s: float = 0.0
    loss: str = ""
    reorder: str = ""

    def netem(self, *, more_delay_s: float = 0.0, loss: str | None = None) -> str:
        """netem's arguments, with some of them changed."""
        delay_us = max(2, round((self.delay_s + more_delay_s) * 1e6))
        words = [f"limit {self.limit} delay {delay_us}us"]
        if self.jitter_s:
            words[0] += f" {round(self.jitter_s * 1e6)}us"
        if chance := self.loss if loss is None else loss:
            words.append(f"loss {chance}")
        if self.reorder:
            words.append(f"reorder {self.reorder}")
        if self.rate_bps:
            words.append(f"rate {self.rate_bps}bit")
        return " ".join(words)


@dataclass(slots=True)
class Weather:
    """What all four ways do, and when that changes."""

    all_ways: dict[str, Way]
    rate_bps: int
    known: dict[str, Any] = field(default_factory=dict)
    spikes: bool = False
    outages: bool = False
    tails: bool = False
    duplicate: str = ""
    """The share of packets that the switch sends twice, both ways."""
    rtt_s: float = 0.0

    @property
    def ways(self) -> dict[str, str]:
        """netem's arguments by way."""
        links = {name: way.netem() for name, way in self.all_ways.items()}
        if self.duplicate:
            twice = f"limit 5000 duplicate {self.duplicate}"
            links |= {"port_to_h1": twice, "port_to_h2": twice}
        return links

    def tail_losses(self, seconds: float, dice: Dice) -> list[dict[str, Any]]:
        """When the ends of bursts are lost, in a part that lasts about so long: some quarter of the
        time, now and again long enough for the probe too."""
        tails: list[dict[str, Any]] = []
        if not self.tails:
            return tails
        at_s = 0.0
        while True:
            at_s += 3 * dice.log_between(0.01, 0.6) + self.rtt_s
            until_s = at_s + dice.log_between(0.01, 0.6) + self.rtt_s / 4
            if until_s > seconds or len(tails) == _MOST_TAILS:
                return tails
            one = {"from_ns": round(at_s * _NS), "until_ns": round(until_s * _NS)}
            side = dice.pick([(4, "h1"), (1, "h2")])
            tails.append({**one, "side": side, "fin": dice.chance(0.15)})
            at_s = until_s + 0.001

    def changes(self, seconds: float, dice: Dice) -> list[dict[str, Any]]:
        """Delay spikes and outages of a part that lasts about so long, in the order of time."""
        spikes: list[dict[str, Any]] = []
        if self.spikes:
            for _ in range(dice.whole(12, 40)):
                name = dice.pick([(1, way) for way in (*_FORTH, *_BACK)])
                way = self.all_ways[name]
                spike_s = dice.log_between(0.05, 1.5) + self.rtt_s
                length_s = dice.log_between(0.02, 1.0) + self.rtt_s
                start_s = dice.between(0, seconds)
                if not way.rate_bps:
                    continue
                more = way.netem(more_delay_s=spike_s)
                spikes += _for_a_while(name, way, more, start_s, length_s)
        if self.outages:
            for _ in range(dice.whole(6, 24)):
                name = dice.pick([(1, way) for way in (*_FORTH, *_BACK)])
                way = self.all_ways[name]
                length_s = dice.log_between(0.01, 2.0) + self.rtt_s
                gone = way.netem(loss="100%")
                spikes += _for_a_while(name, way, gone, dice.between(0, seconds), length_s)
        return sorted(spikes, key=lambda change: change["at_ns"])


def _for_a_while(
    name: str, way: Way, netem: str, start_s: float, length_s: float
) -> list[dict[str, Any]]:
    return [
        {"at_ns": round(start_s * _NS), "way": name, "netem": netem},
        {"at_ns": round((start_s + length_s) * _NS), "way": name, "netem": way.netem()},
    ]


def weather(kind: str, dice: Dice, *, rtt_s: float, rate_bps: int) -> Weather:
    """Draws what the links of a part of this kind do."""
    share = dice.between(0.1, 0.9)
    delays = (rtt_s / 2 * share, rtt_s / 2 * (1 - share))
    ways = {
        "h1_out": Way(delays[0]),
        "h2_in": Way(delays[1]),
        "h2_out": Way(delays[1]),
        "h1_in": Way(delays[0]),
    }
    # One link is the slow one, both directions.
    slow = dice.pick([(1, ("h1_out", "h1_in")), (1, ("h2_in", "h2_out"))])
    for name in slow:
        ways[name].rate_bps = rate_bps
    drawn = Weather(ways, rate_bps, {"kind": kind}, rtt_s=rtt_s)
    forth = dice.pick([(1, name) for name in _FORTH])
    back = dice.pick([(1, name) for name in _BACK])

    def lose(name: str, least: float, most: float) -> None:
        ways[name].loss = _percent(dice.log_between(least, most))
        drawn.known[f"loss_{name}"] = ways[name].loss

    def burst(name: str) -> None:
        begin, end = dice.log_between(0.003, 0.03), dice.between(0.15, 0.6)
        ways[name].loss = f"gemodel {_percent(begin)} {_percent(end)}"
        drawn.known[f"loss_{name}"] = ways[name].loss

    def disorder(name: str) -> None:
        way = ways[name]
        if dice.chance(0.5):
            # A way with a rate keeps what waits for it in order.
            way.rate_bps = None
            way.delay_s = max(way.delay_s, 0.001)
            way.jitter_s = dice.log_between(0.05, 0.9) * way.delay_s
            drawn.known["jitter_s"] = round(way.jitter_s, 6)
        else:
            # This share of the packets does not wait at all. (With a correlation netem would
            # hardly ever choose one where the share is small.)
            way.delay_s += dice.log_between(0.001, 0.03)
            way.reorder = _percent(dice.log_between(0.005, 0.2))
            drawn.known["reorder"] = way.reorder

    match kind:
        case "random":
            lose(forth, 0.005, 0.08)
        case "bursts":
            burst(forth)
        case "acks":
            lose(back, 0.05, 0.5)
            lose(forth, 0.002, 0.02)
        case "tails":
            drawn.tails = True
            lose(forth, 0.005, 0.1)
            if dice.chance(0.5):
                lose(back, 0.01, 0.1)
        case "spikes":
            drawn.spikes = True
            if dice.chance(0.5):
                lose(forth, 0.001, 0.01)
        case "queue":
            way = ways["h1_out" if "h1_out" in slow else "h2_in"]
            # netem's limit counts what is under way as well as what waits.
            a_second = rate_bps / 8 / 1500
            room = max(6, round(a_second * rtt_s * dice.log_between(0.2, 1.5)))
            way.limit = round(a_second * way.delay_s) + room
            drawn.known["queue_packets"] = room
        case "reordering":
            disorder(dice.pick([(3, forth), (1, back)]))
            if dice.chance(0.5):
                lose(forth, 0.002, 0.02)
        case "outages":
            drawn.outages = True
        case "window":
            lose(forth, 0.005, 0.05)
        case "duplicates":
            drawn.duplicate = _percent(dice.log_between(0.01, 0.2))
            drawn.known["duplicate"] = drawn.duplicate
            lose(forth, 0.002, 0.03)
        case "mixed":
            burst(forth)
            lose(back, 0.005, 0.1)
            disorder(forth)
            drawn.spikes = drawn.outages = drawn.tails = True
    if drawn.spikes:
        _keep_order(ways.values())
    return drawn


def _keep_order(ways: Iterable[Way]) -> None:
    """What waits for a radio link or a handover is passed on in its order when the wait is over.
    netem lets what comes after a spike overtake what came in it, but not where a way has a rate.
    A way that disorders packets has no spikes."""
    for way in ways:
        if not (way.rate_bps or way.jitter_s or way.reorder):
            way.rate_bps = _FAST_BPS


def _percent(share: float) -> str:
    return f"{100 * share:.3f}%"
