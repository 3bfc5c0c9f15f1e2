"""`rexmit watch - --rotate` while a stream goes on: how many packets does a core take, and does the
memory stay as it is?

`python benches/watch.py [--rounds N] [--connections N] [--runs N]`. A capture that is drawn once is
replayed again and again, later and of other hosts each time (`tests/watch/replay.py`). Prints the
packets a second of one core's time that go through, from a pipe, which loses none: what three times
as many packets take more. Reference: `rexmit trace --jobs 1` of the same packets. Then the resident
memory at each tenth, and its greatest in the second half against that in the first.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from speed import run, trace

import rexmit
from rexmit.store.plain_json import read
from rexmit.tracing.folder import META, pieces_of

ROUNDS = 20
"""Of the shorter of two streams: the longer has three times as many."""

REPLAY = Path(__file__).parents[1] / "tests/watch/replay.py"


def resident_bytes(pid: int) -> int:
    """What a process has in memory; 0 where there is none."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS")), 0)


def packets_of(out: Path) -> int:
    """The packets of all pieces that were watched into a folder."""
    return sum(read(piece / META)["facts"]["packets"] for piece in pieces_of(out))


def rates(capture: Path, folder: Path, rotate: str, runs: int) -> tuple[float, float]:
    """Packets for each second of a core: of `rexmit watch`, and of `rexmit trace`."""
    packets: list[int] = []
    costs: list[list[float]] = []
    for rounds in (ROUNDS, 3 * ROUNDS):
        stream, out = folder / f"{rounds}.pcap", folder / "watched"
        words = [sys.executable, str(REPLAY), str(capture), "--rounds", str(rounds)]
        with stream.open("wb") as file:
            subprocess.run(words, check=True, stdout=file)
        words = ["watch", "-", "--out", str(out), "--rotate", rotate, "--jobs", "1", "--quiet"]
        watched, traced = [], []
        for _ in range(runs):
            shutil.rmtree(out, ignore_errors=True)
            with subprocess.Popen(["cat", str(stream)], stdout=subprocess.PIPE) as cat:
                command = [sys.executable, "-m", "rexmit", *words]
                watched.append(run(command, cat.stdout).processor_s)
            traced.append(run(trace(str(stream))).processor_s)
        packets.append(packets_of(out))
        costs.append([min(watched), min(traced)])
        shutil.rmtree(out)
    more = packets[1] - packets[0]
    watch, reference = (more / (long - short) for short, long in zip(*costs, strict=True))
    return watch, reference


def main() -> None:
    """Replay, look, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--connections", type=int, default=300)
    parser.add_argument("--rotate", default="2MB")
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        rexmit.synth(
            out=folder / "c", connections=asked.connections, points=["sender"], format="pcap"
        )
        (capture,) = (folder / "c" / "captures").glob("*.pcap")
        watch, reference = rates(capture, folder, "1h", max(asked.runs, 1))
        print(f"packets a second of one core, from a pipe: {watch:,.0f}")
        print(f"rexmit trace --jobs 1 of the same packets: {reference:,.0f}")
        print(f"  watch has {watch / reference:.2f} of that", flush=True)
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
        packets, pieces = packets_of(out), pieces_of(out)
    print(f"{packets:,} packets in {took_s:.0f} s, {len(pieces)} pieces; resident memory, MB:")
    tenths = [seen[len(seen) * tenth // 10 : len(seen) * (tenth + 1) // 10] for tenth in range(10)]
    print("  most in each tenth:", " ".join(f"{max(part, default=0) / 1e6:.0f}" for part in tenths))
    half = len(seen) // 2
    first, second = max(seen[:half]), max(seen[half:])
    print(f"  most in the first half {first / 1e6:.0f}, in the second {second / 1e6:.0f}")


if __name__ == "__main__":
    main()
