"""Captures of both ends of a transfer, written by hand: 30 segments with the tail lost."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

SERVER, CLIENT = (0x0A000001, 80), (0x0A000002, 40000)
ISN_SERVER, ISN_CLIENT = 2**32 - 5000, 77
MSS, DELAY_MS = 1448, 5.0
FIN, SYN, PSH, ACK = 1, 2, 8, 16


@dataclass(frozen=True)
class Sent:
    """A packet as its own end captures it; numbers relative."""

    ms: float
    server: bool
    flags: int
    seq: int
    ack: int = 0
    length: int = 0
    sack: tuple[tuple[int, int], ...] = ()
    comment: str = ""

    @property
    def arrives(self) -> bool:
        return "dropped" not in self.comment


def transfer() -> list[Sent]:
    """Handshake, request, 30 segments, the last three lost; probe, SACK, RACK; both FINs."""
    c, s = False, True
    end = 30 * MSS + 1
    sent = [
        Sent(0, c, SYN, 0),
        Sent(5, s, SYN | ACK, 0, 1),
        Sent(10, c, ACK, 1, 1),
        Sent(10.1, c, PSH | ACK, 1, 1, 200),
        Sent(15.2, s, ACK, 1, 201),
    ]
    for i in range(30):
        at = 16 + i * 0.12 + 10 * (i // 10)
        fin = FIN | PSH if i == 29 else 0
        lost = "rexmit: dropped" if i >= 27 else ""
        sent.append(Sent(at, s, fin | ACK, 1 + i * MSS, 201, MSS, comment=lost))
        if i % 2 == 1 and i < 27:
            sent.append(Sent(at + 5.05, c, ACK, 201, 1 + (i + 1) * MSS))
    hole = 1 + 27 * MSS
    retransmission = "rexmit: retransmission mechanism={} need=needed"
    sent += [
        Sent(45, c, ACK, 201, hole),
        Sent(84, s, FIN | PSH | ACK, end - MSS, 201, MSS, comment=retransmission.format("tlp")),
        Sent(89.1, c, ACK, 201, hole, sack=((end - MSS, end),)),
        Sent(94.2, s, ACK, hole, 201, MSS, comment=retransmission.format("rack")),
        Sent(94.3, s, ACK, hole + MSS, 201, MSS, comment=retransmission.format("rack")),
        Sent(99.4, c, ACK, 201, hole + MSS, sack=((end - MSS, end),)),
        Sent(99.5, c, FIN | ACK, 201, end + 1),
        Sent(104.6, s, ACK, end + 1, 202),
    ]
    return sorted(sent, key=lambda packet: packet.ms)


def pcapng(path: Path, packets: Iterable[tuple[float, Sent, str]], name: str | None = None) -> None:
    """A capture of raw IP with nanoseconds and comments (draft-ietf-opsawg-pcapng). `name` is a
    comment on the whole, and what the interface and the programs are called.
    """

    def block(kind: int, body: bytes) -> bytes:
        size = 12 + len(body)
        return struct.pack("<II", kind, size) + body + struct.pack("<I", size)

    def option(code: int, value: bytes) -> bytes:
        return struct.pack("<HH", code, len(value)) + value + b"\0" * (-len(value) % 4)

    def named(*codes: int) -> bytes:
        return b"".join(option(code, name.encode()) for code in codes) if name else b""

    section = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)
    # Comment, hardware, operating system, program; comment, name, description, filter, system.
    out = block(0x0A0D0D0A, section + named(1, 2, 3, 4) + option(0, b""))
    interface = struct.pack("<HHI", 101, 0, 0) + option(9, b"\x09") + named(1, 2, 3, 12)
    out += block(1, interface + option(0, b""))
    for ms, sent, comment in packets:
        data = ip_packet(sent)
        ns = 1_000_000_000_000 + round(ms * 1e6)
        body = struct.pack("<IIIII", 0, ns >> 32, ns & 0xFFFFFFFF, len(data), len(data))
        body += data + b"\0" * (-len(data) % 4)
        if comment:
            body += option(1, comment.encode()) + option(0, b"")
        out += block(6, body)
    path.write_bytes(out)


def ip_packet(sent: Sent) -> bytes:
    """IPv4 and TCP headers without checksums, and a payload of zeros."""
    mine, other = (ISN_SERVER, ISN_CLIENT) if sent.server else (ISN_CLIENT, ISN_SERVER)
    (src, sport), (dst, dport) = (SERVER, CLIENT) if sent.server else (CLIENT, SERVER)
    options = b""
    if sent.sack:
        edges = [(edge + other) % 2**32 for pair in sent.sack for edge in pair]
        options = struct.pack(f">BBBB{len(edges)}I", 1, 1, 5, 2 + 4 * len(edges), *edges)
    ack = (sent.ack + other) % 2**32 if sent.flags & ACK else 0
    offset = (20 + len(options)) // 4 << 4
    tcp = struct.pack(
        ">HHIIBBHHH",
        *(sport, dport, (sent.seq + mine) % 2**32, ack, offset, sent.flags, 502, 0, 0),
    )
    total = 20 + len(tcp) + len(options) + sent.length
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, total, 1, 0, 64, 6, 0, src, dst)
    return ip + tcp + options + bytes(sent.length)


def write_captures(run: Path, packets: list[Sent], name: str = "0-0") -> None:
    """Both ends' files: comments only where the server sent it."""
    folder = run / "captures"
    folder.mkdir(exist_ok=True)
    for host, at_server in (("h1", True), ("h2", False)):
        seen = []
        for packet in packets:
            if packet.server == at_server:
                seen.append((packet.ms, packet, packet.comment))
            elif packet.arrives:
                seen.append((packet.ms + DELAY_MS, packet, ""))
        pcapng(folder / f"{name}.{host}.pcapng", sorted(seen, key=lambda entry: entry[0]))
