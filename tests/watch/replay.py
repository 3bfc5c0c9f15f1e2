"""A writer of a capture without an end: a capture again and again, later each time, of other hosts.

`python replay.py CAPTURE [--rounds N] [--rate PACKETS_A_SECOND] [--now]` writes to standard output.
The capture is a pcap in nanoseconds, of Ethernet or raw IPv4; each round is as long as the capture
and a second. `--now` begins at the wall clock instead of the capture's own time.
"""

from __future__ import annotations

import argparse
import struct
import sys
import time
from pathlib import Path

_ETHERNET, _RAW = 1, 101


class Replay:
    """A capture in memory, of which each round has other times and addresses."""

    def __init__(self, data: bytes) -> None:
        magic, _, _, _, _, _snap, link = struct.unpack("<IHHiIII", data[:24])
        if magic != 0xA1B23C4D:
            raise SystemExit("no pcap in nanoseconds")
        self.head = data[:24]
        self._ip = {_ETHERNET: 14, _RAW: 0}[link]
        self._records: list[tuple[int, bytes, bytes]] = []
        at = 24
        while at < len(data):
            seconds, nanos, kept, length = struct.unpack_from("<IIII", data, at)
            packet = data[at + 16 : at + 16 + kept]
            at += 16 + kept
            self._records.append(
                (seconds * 10**9 + nanos, struct.pack("<II", kept, length), packet)
            )
        self.first_ns = self._records[0][0]
        self.lasts_ns = self._records[-1][0] - self.first_ns + 10**9

    def __len__(self) -> int:
        return len(self._records)

    def round(self, number: int, begin_ns: int) -> bytes:
        """The packets of a round; the second byte of both addresses is its number, nearly."""
        later = begin_ns - self.first_ns + number * self.lasts_ns
        second, third = number % 251, number // 251 % 251
        out = []
        for time_ns, lengths, packet in self._records:
            at = self._ip
            if len(packet) >= at + 20 and packet[at] >> 4 == 4:
                moved = bytearray(packet)
                for address in (at + 12, at + 16):
                    moved[address + 1] ^= second
                    moved[address + 2] ^= third
                packet = bytes(moved)
            out.append(struct.pack("<II", *divmod(time_ns + later, 10**9)) + lengths + packet)
        return b"".join(out)


def main() -> None:
    """Write until there are no more rounds, or nobody reads."""
    parser = argparse.ArgumentParser()
    parser.add_argument("capture", type=Path)
    parser.add_argument("--rounds", type=int, default=None)
    parser.add_argument("--rate", type=float, default=None)
    parser.add_argument("--now", action="store_true")
    asked = parser.parse_args()
    replay = Replay(asked.capture.read_bytes())
    begin_ns = time.time_ns() if asked.now else replay.first_ns
    began = time.monotonic()
    number = 0
    try:
        sys.stdout.buffer.write(replay.head)
        while asked.rounds is None or number < asked.rounds:
            sys.stdout.buffer.write(replay.round(number, begin_ns))
            sys.stdout.buffer.flush()
            number += 1
            if asked.rate:
                time.sleep(max(0, began + number * len(replay) / asked.rate - time.monotonic()))
    except (BrokenPipeError, KeyboardInterrupt):
        sys.exit(1)


if __name__ == "__main__":
    main()
