"""Draws the parts of a corpus: part N of a seed is the same in any corpus of that seed and size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from rexmit.campaign.streams import Streams
from rexmit_validate import networks
from rexmit_validate.dice import Dice
from rexmit_validate.synth import kinds
from rexmit_validate.truth import behave, trouble
from rexmit_validate.truth.trouble import Weather

CONNECTIONS_A_PART: Final = 25
"""Enough that booting costs little beside them, few enough that a corpus has many networks."""

RTT_S: Final = (0.002, 0.4)
RATE_BPS: Final = (1_000_000, 200_000_000)
RECORDS: Final = 200_000
"""Room of the kernel's log, more than a part can fill."""

DETECTORS: Final = (
    *("rack", "no-rack", "rack", "rack", "no-sack", "rack"),
    *("rack", "no-rack", "rack", "rack-flags", "rack"),
)
"""How losses are found, by turns: their number and that of the troubles have no common factor."""

_NS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class DrawnPart:
    """A part as the guest takes it, and what a reader of the corpus is told of it."""

    name: str
    kind: str
    seed: int
    plan: dict[str, Any]
    network: dict[str, Any]
    settings: dict[str, Any]
    behaviour: str = kinds.PLAIN
    """What its hosts do of their own accord: the column `kind` of the tables."""


def draw(
    streams: Streams, seed: int, index: int, connections: int, behaviour: str = kinds.PLAIN
) -> DrawnPart:
    """Part `index` of `seed`, with so many connections, whose hosts behave so."""

    def dice(name: str) -> Dice:
        return Dice(streams, seed, f"truth {name}", index)

    kind = trouble.KINDS[index % len(trouble.KINDS)]
    name = kinds.name_of(f"{index:03}-{kind}", behaviour)
    size = dice("network")
    rtt_s = size.log_between(*RTT_S)
    slowest = 20 * RATE_BPS[0] if kind == "quiet" else RATE_BPS[0]
    rate_bps = networks.rate_bps(size, slowest, RATE_BPS[1])
    weather = trouble.weather(kind, dice("trouble"), rtt_s=rtt_s, rate_bps=rate_bps)
    load = _Load(dice("load"), kind, rtt_s, weather.rate_bps, connections)
    if behaviour != kinds.PLAIN:
        for number, one in enumerate(load.conversations):
            behave.change(behaviour, one, dice(f"{behaviour} {number}"))
    settings = _settings(dice("settings"), DETECTORS[index % len(DETECTORS)])
    look = dice("look")
    offload = look.chance(0.25)
    snap_bytes = look.pick([(4, 96), (3, 128), (2, 256), (1, 1600)])
    mtu = look.pick([(12, 1500), (1, 9000), (1, 1280), (1, 576)])
    rto_min_ms = round(look.log_between(5, 1000)) if look.chance(0.15) else None
    if kind == "quiet":
        # A short timer makes retransmissions where there is no trouble.
        rto_min_ms = None
    plan: dict[str, Any] = {
        "name": name,
        "causes": RECORDS,
        "snap_bytes": snap_bytes,
        "mtu": mtu,
        "ways": weather.ways,
        "changes": weather.changes(load.seconds, dice("changes")),
        "tails": weather.tail_losses(load.seconds, dice("lost tails")),
        "offload": offload,
        "rto_min_ns": rto_min_ms and rto_min_ms * 1_000_000,
        "sysctls": {f"net.ipv4.{name}": value for name, value in settings.items()},
        "congestion_control": look.pick([(1, "cubic"), (1, "reno")]),
        "connections": load.conversations,
        "patience_ns": 600 * _NS,
        "settling_ns": 30 * _NS,
    }
    described = {
        **plan["sysctls"],
        "congestion_control": plan["congestion_control"],
        "offload": offload,
        "mtu": mtu,
        "rto_min_s": rto_min_ms and rto_min_ms / 1000,
    }
    return DrawnPart(
        name=name,
        kind=kind,
        seed=streams.stream_u64(seed, "truth boot", index, 1)[0],
        plan=plan,
        network=_network(weather, rtt_s),
        settings=described,
        behaviour=behaviour,
    )


def draw_all(
    streams: Streams, seed: int, connections: int, behaviours: Sequence[str] = (kinds.PLAIN,)
) -> list[DrawnPart]:
    """The parts of a corpus with so many connections, as many of each behaviour."""
    full, rest = divmod(connections, CONNECTIONS_A_PART)
    sizes = [CONNECTIONS_A_PART] * full + ([rest] if rest else [])
    return [
        draw(streams, seed, index, size, behaviour)
        for behaviour in behaviours
        for index, size in enumerate(sizes)
    ]


def _network(weather: Weather, rtt_s: float) -> dict[str, Any]:
    return {"rtt_s": round(rtt_s, 6), "rate_bps": weather.rate_bps, **weather.known}


def _settings(dice: Dice, detector: str) -> dict[str, str]:
    """Sysctls that depart from the kernel's own."""
    sysctls: dict[str, str] = {}
    flags = dice.pick([(1, "3"), (1, "5"), (1, "7")])
    off = dice.pick([(2, "0"), (1, "4")])
    if detector == "no-sack":
        sysctls["tcp_sack"] = "0"
    elif detector == "no-rack":
        sysctls["tcp_recovery"] = off
    elif detector == "rack-flags":
        sysctls["tcp_recovery"] = flags
    # A spurious retransmission leaves no trace where neither DSACK nor time stamps are there to
    # tell of it, and no analysis can know it: such parts are few.
    blind = 0.08 if detector == "no-sack" else 0.25
    for share, name, value in (
        (blind, "tcp_timestamps", "0"),
        (0.2, "tcp_early_retrans", "0"),
        (0.25, "tcp_frto", "0"),
        (0.04, "tcp_dsack", "0"),
        (0.2, "tcp_slow_start_after_idle", "0"),
    ):
        # Drawn always, so that one setting's share does not move the next one's draw.
        if dice.chance(share):
            sysctls[name] = value
    reordering = dice.pick([(1, "2"), (1, "5"), (1, "10")])
    if dice.chance(0.12):
        sysctls["tcp_reordering"] = reordering
    return sysctls


class _Load:
    """Who speaks with whom, and for about how long."""

    def __init__(
        self, dice: Dice, kind: str, rtt_s: float, rate_bps: int, connections: int
    ) -> None:
        self._dice, self._kind, self._rtt_s = dice, kind, rtt_s
        # Both hosts serve in some parts; what is sent in bulk comes from h1 all the same.
        self._upload = dice.chance(0.3)
        most = {"tails": 25_000, "queue": 2_000_000}.get(kind, 800_000)
        self._bytes = (400, min(most, max(20_000, round(rate_bps / 8 * 4))))
        self.conversations = [self._conversation() for _ in range(connections)]
        exchanges = [one for each in self.conversations for one in each["exchanges"]]
        spoken = sum(one["request_bytes"] + one["response_bytes"] for one in exchanges)
        silent_s = sum(one["think_ns"] + one["serve_ns"] for one in exchanges) / _NS
        rounds = 6 + 4 * len(exchanges) / connections
        each_s = rounds * rtt_s + (8 * spoken / rate_bps + silent_s) / connections
        together = dice.whole(2, 8) if kind in ("queue", "mixed") else dice.whole(1, 4)
        self.seconds = each_s * connections / together
        for one in self.conversations:
            one["start_ns"] = round(dice.between(0, self.seconds) * _NS)
        self.conversations.sort(key=lambda one: one["start_ns"])

    def _conversation(self) -> dict[str, Any]:
        dice, rtt_s = self._dice, self._rtt_s
        exchanges = []
        duplex = dice.chance(0.06)
        requests = dice.pick([(6, 1), (2, 2), (1, 3), (1, 5)])
        for number in range(2 * requests + 2 if self._kind == "tails" else requests):
            bulk, short = round(dice.log_between(*self._bytes)), dice.whole(40, 1200)
            back = round(dice.log_between(*self._bytes)) if duplex else short
            request, response = (bulk, back) if self._upload else (back, bulk)
            think_s = dice.log_between(0.001, 2.0) if number else 0.0
            exchanges.append(
                {
                    "think_ns": round(think_s * _NS),
                    "request_bytes": request,
                    "serve_ns": round(dice.log_between(0.0001, 0.1) * _NS),
                    "response_bytes": response,
                    "duplex": duplex,
                }
            )
        one: dict[str, Any] = {
            "start_ns": 0,
            "server": "h2" if self._upload else "h1",
            "exchanges": exchanges,
            "nodelay": dice.chance(0.5),
            "closer": dice.pick([(3, "server"), (2, "client")]),
            # With the last data, soon after, or long after.
            "close_ns": round(
                dice.pick([(3, 0.0), (1, dice.between(0, 2 * rtt_s)), (1, 10 * rtt_s)]) * _NS
            ),
        }
        small = round(dice.log_between(4_000, 200_000))
        pace = {
            "chunk_bytes": round(dice.log_between(200, 20_000)),
            "pause_ns": round(dice.log_between(0.0005, 2 * rtt_s) * _NS),
        }
        if self._kind == "window" or dice.chance(0.03):
            end = "server" if self._upload else "client"
            one[f"{end}_receive_buffer_bytes"] = small
        if not self._upload and (self._kind == "window" or dice.chance(0.03)):
            one["reading"] = pace
        elif not self._upload and dice.chance(0.12):
            one["writing"] = pace
        return one
