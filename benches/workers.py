"""What `rexmit trace --cluster local:2` gains against one process on one core.

`python benches/workers.py [--files N] [--runs N]`

The capture is that of `benches/speed.py` (`bench`, five million packets) and copies with later
times and other addresses: once as a rotation of files, once as a single file. Both ways are run in
turn, each number is the least of the runs: only the ratios are of use, and that of wall times only
where nothing else runs. Processor time is that of all processes.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from speed import CAPTURES, FOLDER, Bench, Cost, build, run

WALL = 1.75
"""So many times faster two workers are, at least."""
PROCESSOR = 1.15
"""So many times the processor time they take, at most."""
HEADER, RECORD = 24, 16
"""Bytes of a file's header and of a packet's, in pcap."""
ETHERNET = 14


def main() -> int:
    """Measures, and prints a line for each number."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, default=8, help="copies of the capture")
    parser.add_argument("--runs", type=int, default=3, help="runs of each; the least counts")
    asked = parser.parse_args()
    bench = Bench(build(), max(asked.runs, 1), quiet=False)
    source = next(one for one in CAPTURES if one.name == "bench")
    folder = FOLDER / "workers"
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{number:03}.pcap" for number in range(max(asked.files, 1))]
    whole = folder / f"all-{len(files)}.pcap"
    if not all(path.exists() for path in (*files, whole)):
        make(bench.capture(source), files, whole)
    for name, captures in ((f"{len(files)} files", files), ("one file", [whole])):
        compare(bench, name, captures, folder / "trace")
    return 0


def compare(bench: Bench, name: str, captures: Sequence[Path], out: Path) -> None:
    """One process on one core and two workers, by turns."""
    words = [sys.executable, "-m", "rexmit", "trace", "--quiet", "--out", str(out)]
    words += map(str, captures)
    ways = (["taskset", "-c", "0", *words, "--jobs", "1"], [*words, "--cluster", "local:2"])
    rounds: list[list[Cost]] = []
    for _ in range(bench.runs):
        costs = []
        for way in ways:
            shutil.rmtree(out, ignore_errors=True)
            costs.append(run(way))
        rounds.append(costs)
    shutil.rmtree(out, ignore_errors=True)
    walls = [min(cost.wall_s for cost in costs) for costs in zip(*rounds, strict=True)]
    used = [min(cost.processor_s for cost in costs) for costs in zip(*rounds, strict=True)]
    for what, each in (("wall", walls), ("processor", used)):
        bench.note(f"{name}: s of {what}, one process", each[0])
        bench.note(f"{name}: s of {what}, two workers", each[1])
    bench.note(f"{name}: times one process on the wall", walls[0] / walls[1], least=WALL)
    bench.note(f"{name}: times its processor time", used[1] / used[0], most=PROCESSOR)


def make(source: Path, files: Sequence[Path], whole: Path) -> None:
    """Writes copies of a capture (pcap with little-endian headers, Ethernet, IPv4) into `files` and
    all of them into `whole`. Each begins after the one before, and has other networks.
    """
    data = np.fromfile(source, dtype=np.uint8)
    at = np.fromiter(records(data), dtype=np.int64)
    seconds = np.zeros(len(at), dtype=np.uint32)
    for n in range(4):
        seconds |= data[at + n].astype(np.uint32) << np.uint32(8 * n)
    span = int(seconds.max() - seconds.min()) + 2
    with whole.open("wb") as all_of_them:
        data[:HEADER].tofile(all_of_them)
        for number, path in enumerate(files):
            copy = data.copy()
            for n in range(4):
                copy[at + n] = (seconds + np.uint32(span * number)) >> np.uint32(8 * n) & 0xFF
            # The second byte of the source's and the destination's address (RFC 791).
            for field in (12, 16):
                copy[at + RECORD + ETHERNET + field + 1] += np.uint8(37 * number & 0xFF)
            copy.tofile(path)
            copy[HEADER:].tofile(all_of_them)


def records(data: np.ndarray) -> Iterator[int]:
    """Where each packet's header begins."""
    lengths, at = data.data, HEADER
    while at + RECORD <= len(data):
        yield at
        at += RECORD + int.from_bytes(lengths[at + 8 : at + 12], "little")


if __name__ == "__main__":
    sys.exit(main())
