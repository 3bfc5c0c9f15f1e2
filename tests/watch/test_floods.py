"""A flood that lasts: the monitor's disk is not filled by it."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

import rexmit
from rexmit.tracing.watch.rotation import MOST_ATTEMPTS


def flood(count: int) -> bytes:
    """So many SYNs, each of another address and port, and nothing else."""
    parts = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65_535, 101)]
    for number in range(count):
        source = 0x1400_0000 + number * 977
        ip = struct.pack(">BBHHHBBHII", 0x45, 0, 40, 0, 0x4000, 64, 6, 0, source, 0x0A00_0001)
        tcp = struct.pack(">HHIIBBHHH", 1024 + number % 60_000, 80, number, 0, 0x50, 2, 1000, 0, 0)
        times = divmod(1_700_000_000 * 10**9 + number * 1000, 10**9)
        parts.append(struct.pack("<IIII", *times, 40, 40) + ip + tcp)
    return b"".join(parts)


def test_of_a_flood_so_many_rows_are_kept_and_the_others_counted(tmp_path: Path) -> None:
    more = 20_000
    words = ["watch", "-", "--rotate", "1d", "--out", str(tmp_path / "out")]
    subprocess.run(
        [sys.executable, "-m", "rexmit", *words],
        input=flood(MOST_ATTEMPTS + more),
        check=True,
        capture_output=True,
        timeout=300,
    )
    (piece,) = (tmp_path / "out").iterdir()
    trace = rexmit.trace(piece)
    assert trace.scan("connections").collect().height == MOST_ATTEMPTS
    assert any(f"{more:,} connections" in told for told in trace.facts.warnings)
    assert sum(path.stat().st_size for path in piece.rglob("*")) < 30_000_000
