"""Small captures written packet by packet, of kinds that other people's captures have shown."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

RAW, PPPOE = 101, 51
START_S = 1_600_000_000
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16

CLIENT, SERVER = "10.0.0.2", "10.0.0.1"


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet of the client, or of the server, at `at` seconds. `padding` is counted by the IP
    header, and not by the layer around it."""

    at: float
    by_client: bool
    flags: int = ACK
    seq: int = 0
    ack: int = 0
    length: int = 0
    id: int = 0
    window: int = 64_240
    stamps: tuple[int, int] | None = None
    sack: tuple[int, int] | None = None
    port: int = 40_000
    ttl: int = 64
    options: bytes = b""
    padding: int = 0

    def bytes(self) -> bytes:
        """From the IP header on."""
        options = self.options
        if self.stamps is not None:
            options += struct.pack("!BBBBII", 1, 1, 8, 10, *self.stamps)
        if self.sack is not None:
            options += struct.pack("!BBBBII", 1, 1, 5, 10, *self.sack)
        ports = (self.port, 80) if self.by_client else (80, self.port)
        ends = (CLIENT, SERVER) if self.by_client else (SERVER, CLIENT)
        words = (20 + len(options)) // 4 << 4
        numbers = (self.seq % 2**32, self.ack % 2**32)
        tcp = struct.pack("!HHIIBBHHH", *ports, *numbers, words, self.flags, self.window, 1, 0)
        body = tcp + options + bytes(self.length + self.padding)
        head = (0x45, 0, 20 + len(body), self.id, 0x4000, self.ttl, 6, 0)
        addresses = b"".join(IPv4Address(end).packed for end in ends)
        return struct.pack("!BBHHHBBH", *head) + addresses + body


@dataclass(frozen=True, slots=True)
class TooBig:
    """A router's ICMP message that a packet is larger than the `mtu` of its next link (RFC 1191).
    It quotes the IP header and eight bytes."""

    at: float
    packet: Packet
    mtu: int = 0

    padding = 0

    def bytes(self) -> bytes:
        """From the IP header on."""
        quoted = self.packet.bytes()[:28]
        message = struct.pack("!BBHHH", 3, 4, 0, 0, self.mtu) + quoted
        head = (0x45, 0, 20 + len(message), 7, 0, 60, 1, 0)
        router = IPv4Address("10.9.9.9").packed
        return struct.pack("!BBHHHBBH", *head) + router + quoted[12:16] + message


LINUX_SYN = bytes.fromhex("020405b40402080a000000010000000001030307")
"""The options of a Linux host's SYN."""


def write(path: Path, packets: Iterable[Packet | TooBig], link: int = RAW) -> Path:
    """A capture of them in this order, in nanoseconds."""
    written = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, link)]
    for packet in packets:
        data = packet.bytes()
        if link == PPPOE:
            carried = len(data) - packet.padding + 2
            data = struct.pack("!BBHHH", 0x11, 0, 9, carried, 0x21) + data
        seconds, nanos = divmod(round(packet.at * 1e9), 10**9)
        head = struct.pack("<IIII", START_S + seconds, nanos, len(data), len(data))
        written += [head, data]
    path.write_bytes(b"".join(written))
    return path
