"""What the options of a TCP packet say, from their bytes as hexadecimal text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

MSS, SACK_PERMITTED, SACK, STAMPS = 2, 4, 5, 8


@dataclass(frozen=True, slots=True)
class Options:
    """The options that the rules need. `blocks` are the numbers of SACK blocks, as on the wire;
    `stamp` is TSval, `echo` TSecr."""

    mss: int | None = None
    sack_permitted: bool = False
    blocks: tuple[tuple[int, int], ...] = ()
    stamp: int | None = None
    echo: int | None = None


def parse(text: str) -> Options:
    """Reads options. What follows one that is cut short is left out."""
    try:
        data = bytes.fromhex(text)
    except ValueError:
        return Options()
    mss, permitted, blocks, stamp, echo = None, False, [], None, None
    for kind, body in _each(data):
        if kind == MSS and len(body) == 2:
            mss = _number(body)
        elif kind == SACK_PERMITTED and not body:
            permitted = True
        elif kind == SACK:
            blocks += [
                (_number(body[at : at + 4]), _number(body[at + 4 : at + 8]))
                for at in range(0, len(body) - 7, 8)
            ]
        elif kind == STAMPS and len(body) == 8:
            stamp, echo = _number(body[:4]), _number(body[4:])
    return Options(mss, permitted, tuple(blocks), stamp, echo)


def _each(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(data) and data[at] != 0:
        if data[at] == 1:
            at += 1
            continue
        length = data[at + 1] if at + 1 < len(data) else 0
        if length < 2 or at + length > len(data):
            return
        yield data[at], data[at + 2 : at + length]
        at += length


def _number(data: bytes) -> int:
    return int.from_bytes(data, "big")
