"""What a network of the scenario is: its rate, its round trip, and what else it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from rexmit.analysis.axes import Group
from rexmit.scenario.units import DURATION, RATE, UnitError

_LOSS = "line loss"


@dataclass(frozen=True)
class Setting:
    """A network as the scenario sets it; both None where it does not say.

    `besides` tells what a reader has to know beyond rate and round trip: `line loss 2%`.
    """

    rate_bps: int | None
    rtt_ms: float | None
    jitter: bool = False
    besides: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """`100 Mbit/s, 10 ms RTT, line loss 2%`, or nothing."""
        if self.rate_bps is None or self.rtt_ms is None:
            return ""
        scale, unit = next(
            (s, u)
            for s, u in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1, "bit/s"))
            if self.rate_bps >= s
        )
        plain = (f"{self.rate_bps / scale:g} {unit}", f"{self.rtt_ms:g} ms RTT")
        return ", ".join((*plain, *self.besides))

    def beside(self, group: Group) -> Setting:
        """Without the line loss where the group tells its own."""
        if group.value("line_loss") is None:
            return self
        return replace(self, besides=tuple(b for b in self.besides if not b.startswith(_LOSS)))


def setting_of(scenario: Mapping[str, Any], network: str) -> Setting:
    """Reads `networks.NETWORK` of an effective scenario: `rate`, `delay` of each of two links, or
    `links`.
    """
    entry = (scenario.get("networks") or {}).get(network)
    try:
        links = _links(entry)
        rate_bps = min(RATE.parse(link["rate"]) for link in links)
        rtt_ms = 2 * sum(DURATION.parse(link["delay"]) for link in links) / 1e6
    except (UnitError, TypeError, KeyError, ValueError):
        return Setting(None, None)
    jitter = _each(links, "jitter", "0s", "0ms")
    besides = (
        (_LOSS, _each(links, "loss", "0%")),
        ("jitter", jitter),
        ("queue", _each(links, "queue", "1000")),
        ("links acting at the", _each(links, "at", "wire")),
    )
    details = tuple(f"{name} {value}" for name, value in besides if value)
    return Setting(rate_bps, rtt_ms, bool(jitter), details)


def _links(entry: object) -> list[dict[str, Any]]:
    """The two links, each with what it takes over from the network."""
    if not isinstance(entry, Mapping):
        raise TypeError("a network is a table")
    own = entry.get("links") or [{}, {}]
    return [{**entry, **{k: v for k, v in link.items() if v is not None}} for link in own]


def _each(links: list[dict[str, Any]], key: str, *usual: str) -> str:
    """`5ms`, or `5ms and 0ms` where the links differ; nothing where both have the usual value, or
    several values (an axis: the cells tell theirs).
    """
    values = [link.get(key) for link in links]
    if any(isinstance(value, list | tuple) for value in values):
        return ""
    texts = [usual[0] if value is None else str(value) for value in values]
    if all(text in usual for text in texts):
        return ""
    return texts[0] if len(set(texts)) == 1 else " and ".join(texts)
