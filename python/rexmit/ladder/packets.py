"""Packets of one connection out of a capture, whichever end took it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

from rexmit import _core
from rexmit.errors import UserError, argument

#: Flag bits from the low end, in the order and with the names that Wireshark prints (RFC 9293
#: section 3.1; ECN: RFC 3168, accurate ECN's AE: RFC 9768).
_FLAGS = ("FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR", "AE")

Key: TypeAlias = tuple[object, ...]
"""What stays the same of a packet on the way from one end to the other."""


@dataclass(frozen=True)
class Packet:
    """One TCP packet as captured. `seq`, `ack` and `sack` are as on the wire, not relative."""

    time_ns: int
    from_server: bool
    seq: int
    ack: int
    flags: frozenset[str]
    payload_bytes: int
    window: int
    sack: tuple[tuple[int, int], ...] = ()
    dropped: bool = False
    mechanism: str | None = None  #: what made the sender retransmit, None for no retransmission
    need: str | None = None
    window_scale: int | None = None  #: what a SYN offers, as sent
    mss: int | None = None  #: the same
    sack_permitted: bool = False  #: the same
    timestamps: tuple[int, int] | None = None  #: value and echo

    @property
    def key(self) -> Key:
        """What stays the same on the way from one end to the other."""
        return (
            self.from_server,
            self.seq,
            self.ack,
            self.flags,
            self.payload_bytes,
            self.window,
            self.sack,
        )


@cache
def flag_names(bits: int) -> frozenset[str]:
    """The names of the bits that are set."""
    return frozenset(name for place, name in enumerate(_FLAGS) if bits >> place & 1)


def in_order(flags: Iterable[str]) -> str:
    """`PSH, ACK`, as Wireshark lists them."""
    present = set(flags)
    return ", ".join(name for name in _FLAGS if name in present)


def read(path: Path, client_port: int) -> list[Packet]:
    """The packets between the client's port and any other, in the file's order.

    Raises UserError when the file is damaged or no capture.
    """
    return [
        _packet(raw, from_server=raw.dport == client_port)
        for raw in _captured(path)
        if client_port in (raw.sport, raw.dport)
    ]


def read_subflows(path: Path, client_ports: Iterable[int]) -> dict[tuple[str, int], list[Packet]]:
    """The packets of every address that uses one of the client's ports, by both, in the file's
    order.

    Raises UserError when the file is damaged or no capture.
    """
    ports = set(client_ports)
    by_flow: dict[tuple[str, int], list[Packet]] = {}
    for raw in _captured(path):
        from_server = raw.dport in ports
        if from_server or raw.sport in ports:
            client = (raw.dst, raw.dport) if from_server else (raw.src, raw.sport)
            by_flow.setdefault(client, []).append(_packet(raw, from_server=from_server))
    return by_flow


def _captured(path: Path) -> list[_core.Packet]:
    try:
        return _core.read_pcapng(path)
    except (OSError, ValueError) as error:
        what = f"{path}: cannot be read: {error}"
        raise UserError(what, f"repeat the run with {argument('capture')}") from error


def packet_of(
    raw: _core.Packet,
    *,
    from_server: bool,
    time_ns: int | None = None,
    dropped: bool = False,
    mechanism: str | None = None,
    need: str | None = None,
) -> Packet:
    """A packet as it was captured, at `time_ns` where another clock has its time."""
    return Packet(
        time_ns=raw.time_ns if time_ns is None else time_ns,
        from_server=from_server,
        seq=raw.seq,
        ack=raw.ack,
        flags=flag_names(raw.flags),
        payload_bytes=raw.payload_len,
        window=raw.window,
        sack=tuple(raw.sack),
        dropped=dropped,
        mechanism=mechanism,
        need=need,
        window_scale=raw.window_scale,
        mss=raw.mss,
        sack_permitted=raw.sack_permitted,
        timestamps=raw.timestamps,
    )


def _packet(raw: _core.Packet, *, from_server: bool) -> Packet:
    dropped, mechanism, need = parse_comment(raw.comment)
    return packet_of(raw, from_server=from_server, dropped=dropped, mechanism=mechanism, need=need)


def parse_comment(comment: str | None) -> tuple[bool, str | None, str | None]:
    """(dropped, mechanism, need) of a packet's comment.

    The lab writes `rexmit: dropped` and `rexmit: retransmission mechanism=tlp need=needed`, joined
    by `; `. Anything else is somebody else's comment and says nothing here.
    """
    dropped, mechanism, need = False, None, None
    for part in (comment or "").split(";"):
        words = re.fullmatch(r"rexmit:\s++(\w++)(.*)", part.strip(), re.DOTALL)
        if words is None:
            continue
        if words[1] == "dropped":
            dropped = True
        elif words[1] == "retransmission":
            values = dict(re.findall(r"(?<!\w)(\w++)=(\S+)", words[2]))
            mechanism = values.get("mechanism", "unknown")
            need = values.get("need")
    return dropped, mechanism, need
