"""What is between the hosts of a scenario: two links that meet at a switch, or paths."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Discriminator, Field, Tag

from rexmit.scenario.aqm import ManagedBy
from rexmit.scenario.part import AS_TUPLE, Kinds, Part, obeyed_by, unsaid
from rexmit.scenario.problem import Path
from rexmit.scenario.rate_trace import RateFrom
from rexmit.scenario.values import (
    DelayNs,
    DurationNs,
    OutageTimes,
    RateBps,
    Share,
    ShareAxis,
    SizeBytes,
)

MOST_PATHS: Final = 32
"""Of a network; a path's number is a byte of its addresses."""

_QUEUE = Field(ge=1, le=1_000_000, description="packets a link's queue holds, 1 to 1,000,000")
REPEAT: Final = Field(ge=1, le=1_000_000, description="transfers per cell, 1 to 1,000,000")


class LossBursts(Part):
    """The model of Gilbert and Elliott: a good and a bad state, each with a loss of its own."""

    to_bad: Share = Field(description='chance with each packet to turn bad, like "1%"')
    to_good: Share = Field(description='chance with each packet to turn good again, like "25%"')
    when_bad: Share = Field(default=1.0, description='loss in the bad state, like "90%"')
    when_good: Share = Field(default=0.0, description='loss in the good state, like "0.1%"')

    @property
    def mean(self) -> float:
        """The share of many packets that is lost."""
        both = self.to_bad + self.to_good
        bad = self.to_bad / both if both else 0.0
        return bad * self.when_bad + (1 - bad) * self.when_good


class Stalls(Part):
    """Times at random in which a link stands still; what would leave then leaves at their end."""

    every: DurationNs = Field(
        description='mean time from the end of one to the next (exponential), like "2s"'
    )
    least: DurationNs = Field(description='the shortest, like "50ms"')
    most: DurationNs = Field(description='the longest, like "200ms"; evenly drawn in between')


class Policer(Part):
    """A token bucket that loses what comes faster, and delays nothing."""

    rate: RateBps = Field(description='bits per second, like "5Mbit"')
    burst: SizeBytes = Field(description='what the bucket holds, like "15kB"')


class PathMtu(Part):
    """A link further on that takes smaller packets of IP, and fragments none."""

    bytes: int = Field(ge=68, le=65_535, description="bytes of the largest packet, 68 to 65,535")
    icmp: bool = Field(
        default=False,
        description='true (the sender of a larger one is told, by "fragmentation needed" or, IPv6, '
        '"packet too big") or false (a black hole)',
        json_schema_extra=obeyed_by(
            "kernel", "live", why="the model's hosts take no ICMP", harmless=False
        ),
    )


class _Way(Part):
    """What one direction does besides its rate and delay; what is not given, it does not do."""

    loss_bursts: LossBursts | None = Field(
        default=None,
        description="random loss in bursts, in place of `loss`, by Gilbert and Elliott: a table "
        'like { to_bad = "1%", to_good = "25%" }',
        exclude_if=unsaid(None),
    )
    reorder: Share | None = Field(
        default=None,
        description="packets that go on at once, past all that wait for the delay or the rate, "
        'like "2%"',
        exclude_if=unsaid(None),
    )
    duplicate: Share | None = Field(
        default=None,
        description='packets that go on twice, like "1%"',
        exclude_if=unsaid(None),
    )
    outages: OutageTimes | None = Field(
        default=None,
        description="times after the start of each transfer in which all packets that enter are "
        'lost: like "3s..4.2s", or a list in ascending order',
        exclude_if=unsaid(None),
    )
    stalls: Stalls | None = Field(
        default=None,
        description="delay spikes at random: a table like "
        '{ every = "2s", least = "50ms", most = "200ms" }',
        exclude_if=unsaid(None),
    )
    policer: Policer | None = Field(
        default=None,
        description="what comes faster is lost on entry: a table like "
        '{ rate = "5Mbit", burst = "15kB" }',
        exclude_if=unsaid(None),
    )
    path_mtu: PathMtu | None = Field(
        default=None,
        description="larger packets are lost on entry: a table like { bytes = 1400 }",
        exclude_if=unsaid(None),
    )
    rate_from: RateFrom | None = Field(
        default=None,
        description="in place of `rate` a file, in mahimahi's format: a line for each millisecond "
        "at which a packet of 1,500 bytes may leave, counted from the start of each transfer, and "
        "again after the last; its path starts at the scenario's folder",
        exclude_if=unsaid(None),
    )
    aqm: ManagedBy | None = Field(
        default=None,
        description="who manages the queue, which else takes what comes until it is full: a table "
        'like { kind = "codel" }, or its kind alone',
        exclude_if=unsaid(None),
    )
    ecn_mark: Share | None = Field(
        default=None,
        description="packets that are marked at random, of those whose ends take marks "
        '(`net.ipv4.tcp_ecn`), like "2%"',
        exclude_if=unsaid(None),
    )


OF_WAY: Final = tuple(_Way.model_fields)
"""What a direction may do besides its rate and delay."""

BEYOND_NETEM: Final = (
    "duplicate",
    "stalls",
    "policer",
    "path_mtu",
    "rate_from",
    "aqm",
    "ecn_mark",
)
"""What no queueing discipline of Linux does below another: with these, links of a kernel are a
program between two TUN devices, as live links always are.
"""


@dataclass(frozen=True, slots=True)
class LinkSpec:
    """A link, as it is on the way to the client: bits per second (of a trace in the mean),
    nanoseconds, share lost, packets; and what it does besides. `up` is the way back, where that is
    not the same.
    """

    rate_bps: int
    delay_ns: int
    jitter_ns: int
    loss: float
    queue_packets: int
    besides: tuple[tuple[str, Any], ...] = ()
    up: LinkSpec | None = None

    @property
    def ways(self) -> tuple[LinkSpec, LinkSpec]:
        """Both directions, that to the client first."""
        return (self, self.up or self)

    def does(self, key: str) -> Any:  # noqa: ANN401 - whatever the key holds
        """What a key of `OF_WAY` has on the way to the client; None where it is not given."""
        return dict(self.besides).get(key)

    @property
    def mean_loss(self) -> float:
        """The share of many packets that either direction loses by chance, the larger."""
        bursts = ((way, way.does("loss_bursts")) for way in self.ways)
        return max(model.mean if model else way.loss for way, model in bursts)


class Up(_Way):
    """The way from the client; what is left out is as on the way to it."""

    rate: RateBps | None = Field(default=None, description='bits per second, like "7.2Mbit"')
    delay: DelayNs | None = Field(default=None, description='one way, like "2.5ms"')
    jitter: DelayNs | None = Field(default=None, description='spread of the delay, like "1ms"')
    loss: Share | None = Field(
        default=None, description='random loss, like "1%"; leaves it out of the axis `loss`'
    )
    queue: Annotated[int, _QUEUE] | None = Field(default=None, description=_QUEUE.description)


class Link(Up):
    """One link's own values; what is left out comes from its network."""

    up: Up | None = Field(
        default=None,
        description='what is not alike on the way from the client: a table like { rate = "1Mbit" }',
        exclude_if=unsaid(None),
    )


class _Between(_Way):
    """What links and paths have in common: values of each of them, one way."""

    over: ClassVar[str]

    rate: RateBps | None = Field(
        default=None,
        description='bits per second of each link, like "7.2Mbit", from "1kbit" to "1000Gbit"; '
        "must be given, or `rate_from`, here or for all links",
    )
    delay: DelayNs | None = Field(
        default=None,
        description='of each link, one way, like "2.5ms", at most "100s"; must be given, here or '
        "for all links",
    )
    jitter: DelayNs = Field(
        default=0,
        description="uniform spread of each link's delay, to both sides, at most the delay, like "
        '"1ms"; packets stay in order, as behind any rate: see `reorder`',
    )
    loss: ShareAxis = Field(
        default=(0.0,),
        description='random loss of each link, besides what [loss] drops, like "1%"; or a list',
    )
    queue: Annotated[int, _QUEUE] = Field(default=1000, description=_QUEUE.description)
    up: Up | None = Field(
        default=None,
        description="what is not alike on the way from the client, of every link or path: a table "
        'like { rate = "1Mbit" }',
        exclude_if=unsaid(None),
    )
    repeat: Annotated[int, REPEAT] | None = Field(
        default=None, description=f"{REPEAT.description}, instead of the campaign's"
    )

    @property
    @abstractmethod
    def own(self) -> tuple[Link, ...]:
        """What each link or path says of itself."""

    def beyond_netem(self) -> Iterator[Path]:
        """The keys that ask for links that are a program, on a kernel."""
        tables: list[tuple[Path, Part | None]] = [((), self), (("up",), self.up)]
        for number, link in enumerate(self.own):
            tables += [((self.over, number), link), ((self.over, number, "up"), link.up)]
        for at, table in tables:
            for key in BEYOND_NETEM:
                if getattr(table, key, None) is not None:
                    yield (*at, key)

    def link_specs(self, loss: float) -> tuple[LinkSpec, ...]:
        """Both links, or the paths, with all values, where the network's random loss is `loss`."""
        return tuple(self._spec(link, loss) for link in self.own)

    def _spec(self, link: Link, loss: float) -> LinkSpec:
        given: list[Part | None] = [link, self]
        down = self._way(given, loss)
        up = self._way([link.up, self.up, *given], loss)
        return down if up == down else replace(down, up=up)

    def _way(self, given: list[Part | None], loss: float) -> LinkSpec:
        """One direction by tables of which earlier ones go first; `loss` is the network's own."""

        def value(key: str) -> Any:  # noqa: ANN401 - whatever the key holds
            own = (
                loss if key == "loss" and one is self else getattr(one, key, None) for one in given
            )
            return next((one for one in own if one is not None), None)

        timed = next((one for one in given if _is_timed(one)), None)
        rate, delay = getattr(timed, "rate", None), value("delay")
        trace = None if rate is not None else getattr(timed, "rate_from", None)
        rate = trace.mean_bps if trace is not None else rate
        if rate is None or delay is None:
            raise ValueError("the scenario was not checked: a link has no rate or no delay")
        besides = ((key, trace if key == "rate_from" else value(key)) for key in OF_WAY)
        return LinkSpec(
            rate_bps=rate,
            delay_ns=delay,
            jitter_ns=value("jitter"),
            loss=value("loss"),
            queue_packets=value("queue"),
            besides=tuple((key, one) for key, one in besides if one is not None),
        )


def _is_timed(table: Part | None) -> bool:
    """Whether a table says how fast its link is."""
    return any(getattr(table, key, None) is not None for key in ("rate", "rate_from"))


class LinkedNetwork(_Between):
    """A link from h1 to a switch and one from there to h2: one path."""

    over: ClassVar[str] = "links"

    at: Literal["wire", "host"] = Field(
        default="wire",
        description='"wire" (rate and delay act after a packet has left its host) or "host" (in '
        "the sender's own queue, as mininet does it)",
        json_schema_extra=obeyed_by("kernel", "model", why="live links lie behind their hosts"),
    )
    links: Annotated[tuple[Link, Link], AS_TUPLE] | None = Field(
        default=None,
        description="a list of two tables, the link of h1 and the link of h2, with values of their "
        "own",
    )

    @property
    def own(self) -> tuple[Link, ...]:
        """What each link says of itself."""
        return self.links or (Link(), Link())

    @property
    def path_count(self) -> int:
        """Both links are one path."""
        return 1


class PathNetwork(_Between):
    """Paths, one to each address of h2."""

    over: ClassVar[str] = "paths"

    paths: Annotated[tuple[Link, ...], AS_TUPLE] = Field(
        min_length=1,
        max_length=MOST_PATHS,
        description='instead of `links`: a list of tables like { delay = "20ms" }, one a path, the '
        f"first path first, at most {MOST_PATHS}",
        json_schema_extra=obeyed_by("kernel", "model", why="live links are one path"),
    )

    @property
    def own(self) -> tuple[Link, ...]:
        """What each path says of itself."""
        return self.paths

    @property
    def path_count(self) -> int:
        """How many ways there are from one host to the other."""
        return len(self.paths)

    @property
    def at(self) -> Literal["wire"]:
        """A path's rate and delay act behind the hosts."""
        return "wire"


LAYOUTS: Final = Kinds(
    key="paths",
    default="links",
    tables={"links": LinkedNetwork, "paths": PathNetwork},
    of="of a network with {}",
    by_presence="paths",
)

Network = Annotated[
    Annotated[LinkedNetwork, Tag("links")] | Annotated[PathNetwork, Tag("paths")],
    Discriminator(LAYOUTS.kind),
]
"""What is between the hosts, each link or path with its values one way."""
