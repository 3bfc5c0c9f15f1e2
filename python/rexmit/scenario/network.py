"""What is between the hosts of a scenario: two links that meet at a switch, or paths."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Discriminator, Field, Tag

from rexmit.scenario.part import AS_TUPLE, Kinds, Part
from rexmit.scenario.values import DelayNs, RateBps, Share, ShareAxis

MOST_PATHS: Final = 32
"""Of a network; a path's number is a byte of its addresses."""

_QUEUE = Field(ge=1, le=1_000_000, description="packets a link's queue holds, 1 to 1,000,000")
REPEAT: Final = Field(ge=1, le=1_000_000, description="transfers per cell, 1 to 1,000,000")


@dataclass(frozen=True, slots=True)
class LinkSpec:
    """One link, alike in both directions: bits per second, nanoseconds, share lost, packets."""

    rate_bps: int
    delay_ns: int
    jitter_ns: int
    loss: float
    queue_packets: int


class Link(Part):
    """One link's own values; what is left out comes from its network."""

    rate: RateBps | None = Field(default=None, description='bits per second, like "7.2Mbit"')
    delay: DelayNs | None = Field(default=None, description='one way, like "2.5ms"')
    jitter: DelayNs | None = Field(default=None, description='spread of the delay, like "1ms"')
    loss: Share | None = Field(
        default=None, description='random loss, like "1%"; leaves it out of the axis `loss`'
    )
    queue: Annotated[int, _QUEUE] | None = Field(default=None, description=_QUEUE.description)


class _Between(Part):
    """What links and paths have in common: values of each of them, one way."""

    rate: RateBps | None = Field(
        default=None,
        description='bits per second of each link, like "7.2Mbit", from "1kbit" to "1000Gbit"; '
        "must be given, here or for all links",
    )
    delay: DelayNs | None = Field(
        default=None,
        description='of each link, one way, like "2.5ms", at most "100s"; must be given, here or '
        "for all links",
    )
    jitter: DelayNs = Field(
        default=0,
        description="uniform spread of each link's delay, to both sides, at most the delay, like "
        '"1ms"; may reorder packets',
    )
    loss: ShareAxis = Field(
        default=(0.0,),
        description='random loss of each link, besides what [loss] drops, like "1%"; or a list',
    )
    queue: Annotated[int, _QUEUE] = Field(default=1000, description=_QUEUE.description)
    repeat: Annotated[int, REPEAT] | None = Field(
        default=None, description=f"{REPEAT.description}, instead of the campaign's"
    )

    @property
    @abstractmethod
    def own(self) -> tuple[Link, ...]:
        """What each link or path says of itself."""

    def link_specs(self, loss: float) -> tuple[LinkSpec, ...]:
        """Both links, or the paths, with all values, where the network's random loss is `loss`."""
        return tuple(self._spec(link, loss) for link in self.own)

    def _spec(self, link: Link, loss: float) -> LinkSpec:
        rate = self.rate if link.rate is None else link.rate
        delay = self.delay if link.delay is None else link.delay
        if rate is None or delay is None:
            raise ValueError("the scenario was not checked: a link has no rate or no delay")
        return LinkSpec(
            rate_bps=rate,
            delay_ns=delay,
            jitter_ns=self.jitter if link.jitter is None else link.jitter,
            loss=loss if link.loss is None else link.loss,
            queue_packets=self.queue if link.queue is None else link.queue,
        )


class LinkedNetwork(_Between):
    """A link from h1 to a switch and one from there to h2: one path."""

    over: ClassVar = "links"

    at: Literal["wire", "host"] = Field(
        default="wire",
        description='"wire" (rate and delay act after a packet has left its host) or "host" (in '
        "the sender's own queue, as mininet does it)",
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

    over: ClassVar = "paths"

    paths: Annotated[tuple[Link, ...], AS_TUPLE] = Field(
        min_length=1,
        max_length=MOST_PATHS,
        description='instead of `links`: a list of tables like { delay = "20ms" }, one a path, the '
        f"first path first, at most {MOST_PATHS}",
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
