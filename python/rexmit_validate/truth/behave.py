"""Hosts of a part that behave in another way.

`rexmit validate synth` does it with the same kinds; here programs on a real kernel do. The numbers
are those of `validate/synth/behaviours.toml`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist
from typing import Any, Final

from rexmit_validate.dice import Dice
from rexmit_validate.synth import behaviours

Conversation = dict[str, Any]

_NS: Final = 1_000_000_000
_MOST_STOPS: Final = 20


def change(kind: str, conversation: Conversation, dice: Dice) -> None:
    """Make the ends of a conversation behave as `kind` says."""
    workload = behaviours.known()[kind]["workload"]
    if stops := workload.get("stops"):
        _stop(conversation, stops, dice)
    if defers := workload.get("defers"):
        _defer(conversation, defers, dice)
    if cuts := workload.get("cuts"):
        _cut(conversation, cuts, dice)
    if thinks := workload.get("think_s"):
        for exchange in conversation["exchanges"][1:]:
            exchange["think_ns"] = _lognormal_ns(thinks, dice)
    if linger := workload.get("linger_s"):
        conversation["close_ns"] = _lognormal_ns(linger, dice)


def _stop(conversation: Conversation, stops: Mapping[str, Any], dice: Dice) -> None:
    """The end that receives most stops reading now and again."""
    sizes = {
        end: sum(one[f"{what}_bytes"] for one in conversation["exchanges"])
        for end, what in (("client", "response"), ("server", "request"))
    }
    end = max(sizes, key=lambda end: sizes[end])
    count = min(_geometric(stops["count"], dice), _MOST_STOPS)
    exchanges = [
        {
            "after_bytes": dice.whole(0, sizes[end] - 1),
            "pause_ns": _range_ns(stops["pause_s"], dice),
        }
        for _ in range(count)
    ]
    buffer = round(dice.log_between(*_ends(stops["buffer_bytes"])))
    if dice.chance(stops["share"]) and not _is_duplex(conversation):
        conversation[f"{end}_stops"] = sorted(exchanges, key=lambda stop: stop["after_bytes"])
        if dice.chance(stops["buffer_share"]):
            conversation[f"{end}_receive_buffer_bytes"] = buffer


def _defer(conversation: Conversation, defers: Mapping[str, Any], dice: Dice) -> None:
    seconds = dice.pick([(one["weight"], one["value"]) for one in defers["defer_s"]])
    think_ns = _range_ns(defers["first_think_s"], dice)
    if dice.chance(defers["share"]):
        conversation["defer_accept_s"] = seconds
        conversation["exchanges"][0]["think_ns"] = think_ns


def _cut(conversation: Conversation, cuts: Mapping[str, Any], dice: Dice) -> None:
    length = sum(one["request_bytes"] + one["response_bytes"] for one in conversation["exchanges"])
    cut = {
        "by": "server" if dice.chance(cuts["server_share"]) else "client",
        "after_bytes": dice.whole(1, length),
        "wait_ns": _range_ns(cuts["wait_s"], dice),
        "resets": dice.chance(cuts["reset_share"]),
    }
    if dice.chance(cuts["share"]) and not _is_duplex(conversation):
        conversation["cut"] = cut


def _is_duplex(conversation: Conversation) -> bool:
    """Its programs have two threads, which can neither stop nor be cut."""
    return any(one["duplex"] for one in conversation["exchanges"])


def _ends(between: Mapping[str, float]) -> tuple[float, float]:
    return between["least"], between["most"]


def _range_ns(between: Mapping[str, float], dice: Dice) -> int:
    return round(dice.log_between(*_ends(between)) * _NS)


def _lognormal_ns(of: Mapping[str, float], dice: Dice) -> int:
    # Not 0, which has no quantile.
    deviate = NormalDist().inv_cdf(max(dice.uniform(), 1e-12))
    drawn = of["median"] * math.exp(of["sigma"] * deviate)
    return round(min(max(drawn, of["least"]), of["most"]) * _NS)


def _geometric(mean: float, dice: Dice) -> int:
    """How many there are when each but the first comes with the same probability."""
    more = math.log(1 - dice.uniform()) / math.log(1 - 1 / mean)
    return 1 + int(more)
