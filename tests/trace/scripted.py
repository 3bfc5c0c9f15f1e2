"""Small captures written packet by packet, of kinds that other people's captures have shown."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, replace
from ipaddress import IPv4Address
from pathlib import Path

RAW, PPPOE = 101, 51
START_S = 1_600_000_000
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16

CLIENT, SERVER = "10.0.0.2", "10.0.0.1"


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet of the client, or of the `server`, at `at` seconds. Its payload begins with `data`,
    and has zeros behind it. `padding` is counted by the IP header, and not by the layer around it.
    """

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
    data: bytes = b""
    server: str = SERVER

    def bytes(self) -> bytes:
        """From the IP header on."""
        options = self.options
        if self.stamps is not None:
            options += struct.pack("!BBBBII", 1, 1, 8, 10, *self.stamps)
        if self.sack is not None:
            options += struct.pack("!BBBBII", 1, 1, 5, 10, *self.sack)
        ports = (self.port, 80) if self.by_client else (80, self.port)
        ends = (CLIENT, self.server) if self.by_client else (self.server, CLIENT)
        words = (20 + len(options)) // 4 << 4
        numbers = (self.seq % 2**32, self.ack % 2**32)
        tcp = struct.pack("!HHIIBBHHH", *ports, *numbers, words, self.flags, self.window, 1, 0)
        payload = self.data.ljust(self.length, b"\0")
        body = tcp + options + payload + bytes(self.padding)
        head = (0x45, 0, 20 + len(body), self.id, 0x4000, self.ttl, 6, 0)
        addresses = b"".join(IPv4Address(end).packed for end in ends)
        return struct.pack("!BBHHHBBH", *head) + addresses + body


@dataclass(frozen=True, slots=True)
class TooBig:
    """A router's ICMP message that a packet is larger than the `mtu` of its next link (RFC 1191),
    or with another `code` why it cannot be delivered. It quotes the IP header and eight bytes."""

    at: float
    packet: Packet
    mtu: int = 0
    code: int = 4

    padding = 0

    def bytes(self) -> bytes:
        """From the IP header on."""
        quoted = self.packet.bytes()[:28]
        message = struct.pack("!BBHHH", 3, self.code, 0, 0, self.mtu) + quoted
        head = (0x45, 0, 20 + len(message), 7, 0, 60, 1, 0)
        router = IPv4Address("10.9.9.9").packed
        return struct.pack("!BBHHHBBH", *head) + router + quoted[12:16] + message


@dataclass(frozen=True, slots=True)
class Named:
    """The client's question for the address of a.org over UDP, or the `answered` one, an error."""

    at: float
    answered: bool = False
    kind: int = 1

    padding = 0

    def bytes(self) -> bytes:
        """From the IP header on."""
        flags = 0x8183 if self.answered else 0x0100
        message = struct.pack("!6H", 7, flags, 1, 0, 0, 0) + b"\1a\3org\0"
        message += struct.pack("!HH", self.kind, 1)
        ports, ends = (5_353, 53), (CLIENT, "10.0.0.53")
        if self.answered:
            ports, ends = ports[::-1], ends[::-1]
        udp = struct.pack("!4H", *ports, 8 + len(message), 0) + message
        head = (0x45, 0, 20 + len(udp), 7, 0, 64, 17, 0)
        addresses = b"".join(IPv4Address(end).packed for end in ends)
        return struct.pack("!BBHHHBBH", *head) + addresses + udp


LINUX_SYN = bytes.fromhex("020405b40402080a000000010000000001030307")
"""The options of a Linux host's SYN."""


def stamped(
    rtt: float = 0.03,
    *,
    far: float = 0.01,
    lost: int = 20,
    timer: float = 0.25,
    requests: int = 0,
) -> list[Packet]:
    """A server's 40 packets of data, each 50 ms, and their ACKs, with stamps of 1 ms, seen `far`
    from the client and back. One is sent again after `timer`. The first ACKs are requests."""

    def stamps(at: float, echo: float, by_client: bool) -> tuple[int, int]:
        mine, its = (1_000, 5_000) if by_client else (5_000, 1_000)
        return int(at * 1e3) + mine, int(echo * 1e3) + its

    near, half = rtt - far, far / 2
    packets = [
        Packet(0, True, SYN, id=100, stamps=(1_000, 0)),
        Packet(near, False, SYN | ACK, ack=1, stamps=stamps(near / 2, -half, by_client=False)),
        Packet(
            rtt, True, seq=1, ack=1, id=101, stamps=stamps(rtt - half, near / 2, by_client=True)
        ),
    ]
    seq, at, number = 1, 0.05, 300
    for index in range(40):
        asked = 1 + 10 * min(index, requests)
        for sent in (at, at + timer) if index == lost else (at,):
            told = stamps(sent - near / 2, at - rtt + half, by_client=False)
            data = Packet(sent, False, PSH | ACK, seq=seq, ack=asked, length=500, id=number)
            packets.append(replace(data, stamps=told))
            number += 1
        seq, at = seq + 500, packets[-1].at
        answer = stamps(at + half, at - near / 2, by_client=True)
        ack = Packet(at + far, True, seq=asked, ack=seq, id=102 + index, stamps=answer)
        packets.append(replace(ack, length=10 if index < requests else 0))
        at += 0.05
    return packets


def write(path: Path, packets: Iterable[Packet | TooBig | Named], link: int = RAW) -> Path:
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


def write_interfaces(path: Path, packets: Iterable[Packet]) -> Path:
    """A pcapng of them in this order, each side's from an interface of its own."""

    def block(kind: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        length = struct.pack("<I", len(body) + 12)
        return struct.pack("<I", kind) + length + body + length

    nanos = struct.pack("<HHB3xI", 9, 1, 9, 0)
    written = [block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))]
    written += [block(1, struct.pack("<HHI", RAW, 0, 0) + nanos)] * 2
    for packet in packets:
        data = packet.bytes()
        time = START_S * 10**9 + round(packet.at * 1e9)
        head = (int(not packet.by_client), time >> 32, time % 2**32, len(data), len(data))
        written.append(block(6, struct.pack("<IIIII", *head) + data))
    path.write_bytes(b"".join(written))
    return path
