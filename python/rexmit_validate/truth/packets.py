"""The packets of a part's captures: the headers that a label needs, and what names a packet.

Reads what the guest writes and no other capture: pcapng, little-endian, packets from their IPv4
header on, nanoseconds.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rexmit.errors import UserError

_ENHANCED: Final = 6
_FIN, _SYN = 0x01, 0x02


@dataclass(slots=True)
class PointPacket:
    """One TCP packet at one point."""

    time_ns: int
    flow: str
    seq: int
    length: int
    """Bytes of sequence space: payload, SYN and FIN."""
    payload: int
    flags: int
    name: bytes
    """Its IP and TCP headers: the same wherever it passes, and with IP's identification and TCP's
    time stamp in it hardly ever the same for two packets of a part."""

    @property
    def syn(self) -> bool:
        """Whether it opens a connection."""
        return bool(self.flags & _SYN)

    @property
    def fin(self) -> bool:
        """Whether it ends a direction."""
        return bool(self.flags & _FIN)


def read(path: Path) -> list[PointPacket]:
    """The TCP packets of a capture, in order."""
    data = path.read_bytes()
    packets: list[PointPacket] = []
    flows: dict[bytes, str] = {}
    at, end = 0, len(data)
    while at + 12 <= end:
        kind, size = struct.unpack_from("<II", data, at)
        if size < 12 or at + size > end:
            raise UserError(f"{path}: a block at byte {at} is not whole")
        if kind == _ENHANCED:
            high, low, kept, _ = struct.unpack_from("<IIII", data, at + 12)
            packet = _packet(data[at + 28 : at + 28 + kept], high << 32 | low, flows)
            if packet is not None:
                packets.append(packet)
        at += size
    return packets


def _packet(bytes_: bytes, time_ns: int, flows: dict[bytes, str]) -> PointPacket | None:
    if len(bytes_) < 40 or bytes_[0] >> 4 != 4 or bytes_[9] != 6:
        return None
    ip = (bytes_[0] & 15) * 4
    total = int.from_bytes(bytes_[2:4])
    seq, _, offset, flags = struct.unpack_from("!IIBB", bytes_, ip + 4)
    headers = ip + (offset >> 4) * 4
    payload = total - headers
    ends = bytes_[12:20] + bytes_[ip : ip + 4]
    flow = flows.get(ends)
    if flow is None:
        flow = flows[ends] = _flow(ends)
    return PointPacket(
        time_ns=time_ns,
        flow=flow,
        seq=seq,
        length=payload + (flags & _FIN) + (flags >> 1 & 1),
        payload=payload,
        flags=flags,
        name=bytes_[:headers],
    )


def _flow(ends: bytes) -> str:
    source, target = (".".join(map(str, ends[at : at + 4])) for at in (0, 4))
    sport, dport = struct.unpack("!HH", ends[8:12])
    return f"{source}:{sport} > {target}:{dport}"
