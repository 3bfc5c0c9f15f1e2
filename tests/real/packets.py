"""The TCP packets of a capture as tshark decodes them: a reader that shares nothing with ours."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.processes import run_command

FIELDS = (
    "frame.number",
    "frame.time_epoch",
    "ip.src",
    "ipv6.src",
    "ip.dst",
    "ipv6.dst",
    "tcp.srcport",
    "tcp.dstport",
    "tcp.seq_raw",
    "tcp.ack_raw",
    "tcp.len",
    "tcp.flags",
    "tcp.window_size_value",
    "ip.id",
    "tcp.options",
    "ip.ttl",
    "ipv6.hlim",
)

FIN, SYN, RST, ACK = 1, 2, 4, 16


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet. `flow` is (source, port, destination, port), `length` its payload in bytes, `ip_id`
    the IP identification (None in IPv6), `options` those of TCP as hexadecimal text, `number` its
    frame, as Wireshark counts, `hops` the time to live or hop limit."""

    time_ns: int
    flow: tuple[str, int, str, int]
    seq: int
    ack: int
    length: int
    flags: int
    window: int
    ip_id: int | None
    options: str
    number: int = 0
    hops: int = 0

    @property
    def reverse(self) -> tuple[str, int, str, int]:
        """The flow of the other direction."""
        source, port, destination, other = self.flow
        return destination, other, source, port


def read(capture: Path) -> Iterator[Packet]:
    """The packets of a capture, in its order; of a packet within an ICMP message, none."""
    words = ["tshark", "-n", "-r", str(capture), "-Y", "tcp && !icmp && !icmpv6"]
    words += ["-T", "fields", "-E", "occurrence=l", "-o", "tcp.desegment_tcp_streams:FALSE"]
    words += ["-o", "ip.defragment:FALSE", "-o", "tcp.analyze_sequence_numbers:FALSE"]
    for field in FIELDS:
        words += ["-e", field]
    with tempfile.TemporaryDirectory() as settings:
        environment = {**os.environ, "LC_ALL": "C", "WIRESHARK_CONFIG_DIR": settings}
        # A capture that is cut short gives status 2 and all packets before the cut.
        done = run_command(words, env=environment)
    for line in done.stdout.splitlines():
        values = dict(zip(FIELDS, line.split("\t"), strict=False))
        if not values.get("tcp.seq_raw") or not values.get("tcp.len"):
            continue
        seconds, _, fraction = values["frame.time_epoch"].partition(".")
        source = values["ip.src"] or values["ipv6.src"]
        destination = values["ip.dst"] or values["ipv6.dst"]
        yield Packet(
            time_ns=int(seconds) * 1_000_000_000 + int(fraction[:9].ljust(9, "0")),
            flow=(source, int(values["tcp.srcport"]), destination, int(values["tcp.dstport"])),
            seq=int(values["tcp.seq_raw"]),
            ack=int(values["tcp.ack_raw"] or 0),
            length=int(values["tcp.len"]),
            flags=int(values["tcp.flags"], 0),
            window=int(values["tcp.window_size_value"] or 0),
            ip_id=int(values["ip.id"], 0) if values["ip.id"] else None,
            options=values["tcp.options"],
            number=int(values["frame.number"]),
            hops=int(values["ip.ttl"] or values["ipv6.hlim"] or 0),
        )
