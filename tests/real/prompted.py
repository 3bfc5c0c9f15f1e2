"""What is sent again though no mechanism has found a loss, by the packets alone.

`path-mtu`: a router's ICMP message says that a packet is too large (RFC 1191 §6.4), and it is cut
up. `fast-open`: the SYN-ACK did not acknowledge the SYN's data (RFC 7413 §4.1.3). `fin-again`: BSD
and macOS acknowledge what comes behind their FIN with the FIN once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.processes import run_command
from tests.real.evidence import AT_ONCE_NS, Case, Reason
from tests.real.history import Heard
from tests.real.packets import ACK, FIN, SYN

NAMES = ("path-mtu", "fast-open", "fin-again")

FIELDS = (
    "frame.time_epoch",
    "ip.src",
    "ipv6.src",
    "tcp.srcport",
    "ip.dst",
    "ipv6.dst",
    "tcp.dstport",
)


@dataclass(frozen=True, slots=True)
class TooBig:
    """A message that a packet of this flow is too large."""

    time_ns: int
    flow: tuple[str, int, str, int]


def messages(capture: Path) -> Iterator[TooBig]:
    """Those of a capture, as tshark decodes them: of each field the last, which is quoted."""
    kind = "(icmp.type == 3 && icmp.code == 4) || icmpv6.type == 2"
    words = ["tshark", "-n", "-r", str(capture), "-Y", f"tcp && ({kind})"]
    words += ["-T", "fields", "-E", "occurrence=l"]
    for field in FIELDS:
        words += ["-e", field]
    done = run_command(words)
    for line in done.stdout.splitlines():
        time, source, source_6, port, destination, destination_6, other = line.split("\t")
        seconds, _, fraction = time.partition(".")
        at = int(seconds) * 1_000_000_000 + int(fraction[:9].ljust(9, "0"))
        flow = (source or source_6, int(port), destination or destination_6, int(other))
        yield TooBig(at, flow)


def name(case: Case, told: Iterable[TooBig]) -> str | None:
    """Which of the three it is; None: it is none."""
    if _path_mtu(case, told):
        return "path-mtu"
    if (answer := _answered(case)) is None:
        return None
    return "fast-open" if answer.packet.flags & SYN else "fin-again"


def wrong(said: str, case: Case, told: Iterable[TooBig]) -> Reason:
    """Why a row is not what it says; None: it is."""
    found = name(case, told)
    return None if found == said else f"it is said to be {said}, and the packets show {found}"


def _path_mtu(case: Case, told: Iterable[TooBig]) -> bool:
    packet, last = case.at.packet, case.last
    if last is None or not packet.length or packet.length >= last.packet.length:
        return False
    flow = case.view.flow
    return any(one.flow == flow and _soon(case, one.time_ns) for one in told)


def _answered(case: Case) -> Heard | None:
    """What came right before it and is acknowledged by it."""
    packet, last = case.at.packet, case.last
    if last is None or not packet.flags & ACK:
        return None
    for heard in case.heard(last):
        came = heard.packet
        used = came.length + bool(came.flags & SYN) + bool(came.flags & FIN)
        if not used or not _soon(case, came.time_ns):
            continue
        if came.flags & SYN:
            of_syn = last.packet.flags & SYN and last.packet.length and not packet.flags & SYN
            return heard if of_syn and heard.ack == case.at.start == last.start + 1 else None
        bare = packet.flags & last.packet.flags & FIN and not packet.length
        return heard if bare and (came.seq + used) % (1 << 32) == packet.ack else None
    return None


def _soon(case: Case, time_ns: int) -> bool:
    near = 2 * (case.view.near or 0)
    return 0 <= case.at.packet.time_ns - time_ns <= AT_ONCE_NS + near
