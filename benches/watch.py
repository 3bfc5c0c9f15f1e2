"""The memory of `rexmit watch - --rotate` while a stream goes on: does it stay as it is?

`python benches/watch.py [--rounds N] [--connections N]`. A capture that is drawn once is replayed
again and again, later and of other hosts each time (`tests/watch/replay.py`). Prints the resident
memory at each tenth, and its greatest in the second half against that in the first.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import rexmit
from rexmit.store.plain_json import read
from rexmit.tracing.folder import META, pieces_of

REPLAY = Path(__file__).parents[1] / "tests/watch/replay.py"


def resident_bytes(pid: int) -> int:
    """What a process has in memory; 0 where there is none."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS")), 0)


def main() -> None:
    """Replay, look, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--connections", type=int, default=300)
    parser.add_argument("--rotate", default="2MB")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        rexmit.synth(
            out=folder / "c", connections=asked.connections, points=["sender"], format="pcap"
        )
        (capture,) = (folder / "c" / "captures").glob("*.pcap")
        out = folder / "out"
        writer = subprocess.Popen(
            [sys.executable, str(REPLAY), str(capture), "--rounds", str(asked.rounds)],
            stdout=subprocess.PIPE,
        )
        words = ["watch", "-", "--out", str(out), "--rotate", asked.rotate]
        reader = subprocess.Popen([sys.executable, "-m", "rexmit", *words], stdin=writer.stdout)
        assert writer.stdout is not None  # noqa: S101 - it is a pipe
        writer.stdout.close()
        began, seen = time.monotonic(), [0]
        while reader.poll() is None:
            seen.append(resident_bytes(reader.pid))
            time.sleep(0.2)
        took_s = time.monotonic() - began
        if writer.wait() or reader.returncode:
            sys.exit("it failed")
        pieces = pieces_of(out)
        packets = sum(read(piece / META)["facts"]["packets"] for piece in pieces)
    print(f"{packets:,} packets in {took_s:.0f} s, {len(pieces)} pieces; resident memory, MB:")
    tenths = [seen[len(seen) * tenth // 10 : len(seen) * (tenth + 1) // 10] for tenth in range(10)]
    print("  most in each tenth:", " ".join(f"{max(part, default=0) / 1e6:.0f}" for part in tenths))
    half = len(seen) // 2
    first, second = max(seen[:half]), max(seen[half:])
    print(f"  most in the first half {first / 1e6:.0f}, in the second {second / 1e6:.0f}")


if __name__ == "__main__":
    main()
