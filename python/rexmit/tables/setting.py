"""What a network of the scenario is, and whether it is the paper's network of that name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rexmit.scenario.units import DURATION, RATE, UnitError
from rexmit.tables import paper


@dataclass(frozen=True)
class Setting:
    """A network as the scenario sets it; both None where it does not say."""

    rate_bps: int | None
    rtt_ms: float | None
    as_in_paper: bool  #: a network of Table 3 with its rate and round trip

    @property
    def title(self) -> str:
        """`100 Mbit/s, 10 ms RTT`, or nothing."""
        if self.rate_bps is None or self.rtt_ms is None:
            return ""
        scale, unit = next(
            (s, u)
            for s, u in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1, "bit/s"))
            if self.rate_bps >= s
        )
        return f"{self.rate_bps / scale:g} {unit}, {self.rtt_ms:g} ms RTT"


def setting_of(scenario: Mapping[str, Any], network: str) -> Setting:
    """Reads `networks.NETWORK` of an effective scenario: `rate`, `delay` of each of two links, or
    `links`.
    """
    theirs = paper.NETWORKS.get(network)
    entry = (scenario.get("networks") or {}).get(network)
    try:
        rate_bps, rtt_ms = _measure(entry)
    except (UnitError, TypeError, KeyError, ValueError):
        return Setting(None, None, theirs is not None)
    same = theirs is not None and theirs.rate_bps == rate_bps and theirs.rtt_ms == rtt_ms
    return Setting(rate_bps, rtt_ms, same)


def _measure(entry: object) -> tuple[int, float]:
    if not isinstance(entry, Mapping):
        raise TypeError("a network is a table")
    links = entry.get("links") or [entry, entry]
    rates = [RATE.parse(link.get("rate", entry.get("rate"))) for link in links]
    delays = [DURATION.parse(link.get("delay", entry.get("delay"))) for link in links]
    return min(rates), 2 * sum(delays) / 1e6
