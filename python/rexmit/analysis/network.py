"""What a network of the scenario is: its rate, its round trip, and what else it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from rexmit.analysis.axes import AxisGroup
from rexmit.scenario.network import OF_WAY
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

    def beside(self, group: AxisGroup) -> Setting:
        """Without the line loss where the group tells its own."""
        if group.value("line_loss") is None:
            return self
        return replace(self, besides=tuple(b for b in self.besides if not b.startswith(_LOSS)))


def setting_of(scenario: Mapping[str, Any], network: str) -> Setting:
    """Reads `networks.NETWORK` of an effective scenario: `rate`, `delay` of each of two links, or
    `links`; the rate is that on the way to the client.
    """
    entry = (scenario.get("networks") or {}).get(network)
    try:
        links, back = _ways(entry)
        rate_bps = min(RATE.parse(_rate(link)) for link in links)
        rtt_ms = sum(DURATION.parse(link["delay"]) for link in links + back) / 1e6
    except (UnitError, TypeError, KeyError, ValueError):
        return Setting(None, None)
    usual = {"loss": ("0%",), "jitter": ("0s", "0ms"), "queue": ("1000",), "at": ("wire",)}
    names = {"loss": _LOSS, "at": "links acting at the"}
    details = []
    for key in (*usual, *OF_WAY):
        name = names.get(key, key.replace("_", " "))
        there, up = (_each(way, key, *usual.get(key, ("",))) for way in (links, back))
        details += [f"{name} {there}".rstrip()] * bool(there)
        # Without a trace there is a rate.
        differs = up != there and bool(up or key != "rate_from")
        details += [f"{name} {up or 'none'} on the way up"] * differs
    back = [{**link, "rate": _rate(link)} for link in back]
    rates = _each(back, "rate", *map(_rate, links))
    details += [f"{rates} on the way up"] * bool(rates)
    jitter = any(detail.startswith("jitter") for detail in details)
    return Setting(rate_bps, rtt_ms, jitter, tuple(details))


def _rate(link: Mapping[str, Any]) -> str:
    """As it is written; of a trace its mean."""
    trace = link.get("rate_from")
    return str(link["rate"] if trace is None else trace["mean"])


def _ways(entry: object) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The two links, each with what it takes over from the network: as they are on the way to the
    client, and on the way back.
    """
    if not isinstance(entry, Mapping):
        raise TypeError("a network is a table")
    own = entry.get("links") or [{}, {}]
    up = entry.get("up")
    return (
        [_over(entry, link) for link in own],
        [_over(entry, link, up, link.get("up")) for link in own],
    )


def _over(*tables: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the last of these tables that says something of a key says."""
    whole: dict[str, Any] = {}
    for table in (table for table in tables if table is not None):
        given = {key: value for key, value in table.items() if value is not None}
        if "rate" in given:
            # In place of a trace.
            whole.pop("rate_from", None)
        whole |= given
    return whole


def _each(links: list[dict[str, Any]], key: str, *usual: str) -> str:
    """`5ms`, or `5ms and 0ms` where the links differ; nothing where both have the usual value, or
    several values (an axis: the cells tell theirs).
    """
    values = [link.get(key) for link in links]
    if key == "loss" and any(isinstance(value, list | tuple) for value in values):
        return ""
    texts = [usual[0] if value is None else _text(value) for value in values]
    if all(text in usual for text in texts):
        return ""
    return " and ".join(dict.fromkeys(text for text in texts if text))


def _text(value: object) -> str:
    """`rate 5Mbit burst 15kB` of a table."""
    match value:
        case {"lasts": lasts, "opportunities": _}:
            return f"a file of {lasts}"
        case {"kind": kind, **more}:
            return " ".join((str(kind), _text(more)) if more else (str(kind),))
        case Mapping():
            return " ".join(f"{str(key).replace('_', ' ')} {one}" for key, one in value.items())
        case list() | tuple():
            return " and ".join(map(str, value))
    return str(value)
