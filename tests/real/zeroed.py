"""A copy of a capture in which all IPv4 identifications are zero: what the analyser knows from
anything else.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.processes import run_command

ENHANCED, SIMPLE, OLD = 6, 3, 2
"""Blocks of a pcapng file that hold a packet, and where their packet begins."""

BODY = {ENHANCED: 28, SIMPLE: 12, OLD: 28}

SECTION = 0x0A0D0D0A


@contextmanager
def zeroed(capture: Path) -> Iterator[Path]:
    """A copy as pcapng, for as long as the context lasts; frames keep their numbers and times."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / f"{capture.name.removesuffix('.gz')}.pcapng"
        # A capture that is cut short is copied up to the cut.
        words = ["editcap", "-F", "pcapng", str(capture), str(copy)]
        subprocess.run(words, capture_output=True, check=False)
        if copy.exists():
            copy.write_bytes(without_identifications(copy.read_bytes(), _headers(copy)))
        yield copy if copy.exists() else capture


def without_identifications(data: bytes, headers: dict[int, list[bytes]]) -> bytes:
    """A pcapng file with identifications set to zero. `headers`: by frame, the parts of its IPv4
    headers from the time to live on that do not change, as `pattern` makes them."""
    changed = bytearray(data)
    at, frame, order = 0, 0, "little"
    while at + 12 <= len(data):
        kind = int.from_bytes(data[at : at + 4], "little")
        if kind == SECTION:
            order = "little" if data[at + 8 : at + 12] == bytes.fromhex("4d3c2b1a") else "big"
        kind = int.from_bytes(data[at : at + 4], order)  # type: ignore[arg-type]
        size = int.from_bytes(data[at + 4 : at + 8], order)  # type: ignore[arg-type]
        if size < 12:
            break
        if kind in BODY:
            frame += 1
            for addresses in headers[frame]:
                _zero(changed, at + BODY[kind], at + size - 4, addresses)
        at += size
    return bytes(changed)


def _zero(data: bytearray, start: int, end: int, addresses: bytes) -> None:
    """Every IPv4 header between two places that has these addresses."""
    at = data.find(addresses, start, end)
    while at >= 0:
        head = at - 12
        length = (data[head] & 15) * 4 if head >= start else 0
        if head >= start and data[head] >> 4 == 4 and length >= 20 and head + length <= end:
            right = _checksum(data[head : head + length]) == 0
            data[head + 4 : head + 6] = b"\0\0"
            if right:
                data[head + 10 : head + 12] = b"\0\0"
                value = _checksum(data[head : head + length])
                data[head + 10 : head + 12] = value.to_bytes(2, "big")
        at = data.find(addresses, at + 1, end)


def _checksum(header: bytes | bytearray) -> int:
    total = sum(int.from_bytes(header[at : at + 2], "big") for at in range(0, len(header), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _headers(capture: Path) -> dict[int, list[bytes]]:
    """Both addresses of each IPv4 header of each frame, as they stand there."""
    words = ["tshark", "-n", "-r", str(capture), "-Y", "ip", "-T", "fields", "-E", "occurrence=a"]
    words += ["-e", "frame.number", "-e", "ip.src", "-e", "ip.dst"]
    done = run_command(words)
    found: defaultdict[int, list[bytes]] = defaultdict(list)
    for line in done.stdout.splitlines():
        number, sources, sinks = line.split("\t")
        for source, sink in zip(sources.split(","), sinks.split(","), strict=True):
            found[int(number)].append(_address(source) + _address(sink))
    return found


def _address(text: str) -> bytes:
    return bytes(int(part) for part in text.split("."))
