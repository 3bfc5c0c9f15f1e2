"""What a trace says on one page, as values: what `summary` makes and printers read."""

from __future__ import annotations

from rexmit.tracing.files import Captured
from rexmit.tracing.floods import Flood
from rexmit.tracing.folder import SLOW_S
from rexmit.tracing.groups import Group, Queued
from rexmit.tracing.owners import Owned
from rexmit.tracing.points.summary import Points
from rexmit.tracing.requests import Requests
from rexmit.tracing.sentences.unacked import Unacked
from rexmit.tracing.sentences.value import Sentence
from rexmit.tracing.terms import EITHER
from rexmit.tracing.troubles import Troubles
from rexmit.values import dataclass


@dataclass(frozen=True)
class Totals:
    """Of all connections. `with_loss` have at least one retransmission that was not spurious;
    `waited_s` is the time waited, summed over connections as `duration_s` is. `segments` are
    packets with data, `wire_segments` as many as they were on the wire, where a network card cut
    them.
    """

    connections: int
    with_retransmissions: int
    with_loss: int
    packets: int
    bytes: int
    unique_bytes: int
    bytes_retransmitted: int
    segments: int
    wire_segments: int
    retransmissions: int
    start_s: float | None
    end_s: float | None
    duration_s: float
    waited_s: float
    mid_stream: int
    one_sided: int
    evicted: int
    capture_losses: int
    with_capture_losses: int
    reordered: int
    network_duplicates: int
    capture_duplicates: int

    @property
    def sent_bytes(self) -> int:
        """Payload that was sent: `bytes` without what the capture or the network doubled."""
        doubled = self.network_duplicates + self.capture_duplicates > 0
        once = self.unique_bytes + self.bytes_retransmitted
        return min(once, self.bytes) if doubled else self.bytes


@dataclass(frozen=True)
class Volume:
    """What was retransmitted: packets with data, and as many as they were on the wire; other
    packets (SYN, FIN); bytes of data.
    """

    data_packets: int
    data_segments: int
    other_packets: int
    bytes: int


@dataclass(frozen=True)
class OfMechanism:
    """Retransmissions of one mechanism, or of two where the packets cannot tell which of them:
    `runner_up` is the other one, None for one alone. `waited_s` is the time waited for them;
    `median_s` and `median_rtts` are from the original to the retransmission.
    """

    mechanism: str
    runner_up: str | None
    needed: int
    spurious: int
    unknown: int
    waited_s: float
    median_s: float | None
    median_rtts: float | None

    @property
    def retransmissions(self) -> int:
        """All of them."""
        return self.needed + self.spurious + self.unknown

    @property
    def verdict(self) -> str:
        """The mechanism, or both."""
        return EITHER.join(filter(None, (self.mechanism, self.runner_up)))


@dataclass(frozen=True)
class Worst:
    """One of the connections that waited longest; `number` is its row in connections.parquet."""

    number: int
    flow: str
    capture: str
    stack: str | None
    duration_s: float
    waited_s: float
    retransmissions: int
    reason: Sentence


@dataclass(frozen=True)
class Sender:
    """Connections by what is known of a sender: `words` says what its SYN and its retransmissions
    name, `stack` is the latter's word in the tables; `by_syn` that the SYN names a system.
    """

    words: str
    stack: str
    by_syn: bool
    connections: int
    retransmissions: int
    waited_s: float


@dataclass(frozen=True)
class Multipath:
    """Multipath TCP: its connections, and their subflows, which are counted as connections, too.
    `reinjections` are packets with data that had gone on another subflow before, `joined` the
    connections of which more than one subflow was seen.
    """

    connections: int
    joined: int
    subflows: int
    reinjections: int
    spurious: int
    reinjected_bytes: int


@dataclass(frozen=True)
class Summary:
    """Everything but what other settings would have done. `multipath` is None where there is no
    Multipath TCP, `flood` where the capture is no flood or scan. `hosts` are how many addresses
    opened connections, and to how many; `half_seen` counts connections of which one direction is in
    the capture although there were two. `missing` says of how many retransmissions the packets lack
    what for the likeliest cause; `waited_most_s` is the most that was waited, where from when on is
    not known of some. `points` is None where packets were captured at one point; `owners` says
    whose the time was, where a wait of `slow_s` is slow; `requests` which took as long; `queued` is
    None where no round trip grew under load.
    """

    captured: Captured
    totals: Totals
    hosts: tuple[int, int]
    volume: Volume
    overall: Group
    half_seen: int
    troubles: Troubles
    flood: Flood | None
    multipath: Multipath | None
    mechanisms: tuple[OfMechanism, ...]
    senders: tuple[Sender, ...]
    worst: tuple[Worst, ...]
    missing: tuple[tuple[str, int], ...] = ()
    waited_most_s: float | None = None
    unacked: tuple[Unacked, ...] = ()
    points: Points | None = None
    owners: tuple[Owned, ...] | None = None
    slow_s: float = SLOW_S
    requests: Requests | None = None
    queued: Queued | None = None
