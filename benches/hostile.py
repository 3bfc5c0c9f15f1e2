"""What captures cost that somebody made to be slow: does twice as many packets take twice as long?

`python benches/hostile.py [--only KIND,...] [--ways WAY,...] [--packets N] [--runs N]`

Each kind of `hostile_kinds.py` is analysed at N, 2N and 4N packets: by the core on one thread
(`core`), by the core with the grid of what-if (`grid`), by `rexmit trace --html` (`page`), and, if
asked for, by `rexmit trace` of two points that packets pass a second apart (`points`), or by
`rexmit diff` with itself (`diff`). Each number
is processor time, the least of the runs. Aims: twice the packets take 2.3 times as long at most,
and a packet ten times as long at most as one of the mix `retransmitting`, whose page stands for
that of two points and for half a comparison. What a start takes counts on neither side. A kind
that takes a minute is given up, and missed. In the core a further packet takes up 2,000 bytes of
memory at most.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

import hostile_kinds
import speed

DOUBLED: Final = 2.3
TIMES_MIX: Final = 10.0

MOST_A_PACKET: Final = 2_000
"""Bytes of memory."""

LEAST_S: Final = 0.05
"""Of less, chance is too large a part to tell how it grows."""

GIVEN_UP_S: Final = 60
MOST_BYTES: Final = 8 * 10**9

MIX: Final = next(one for one in speed.CAPTURES if one.name == "retransmitting")


@dataclasses.dataclass(frozen=True)
class Way:
    """A way to analyse a capture, and what its start takes."""

    name: str
    program: str
    scratch: Path

    def make(self, kind: str, packets: int, path: Path) -> int:
        """Writes what is analysed; how many packets it has."""
        made = hostile_kinds.write(kind, packets, path)
        if self.name == "points":
            made += hostile_kinds.write(kind, packets, self.there(path), later_ns=10**9)
        return 2 * made if self.name == "diff" else made

    def there(self, path: Path) -> Path:
        """The capture of the other point."""
        return path.with_suffix(".there.pcap")

    def command(self, path: Path) -> list[str]:
        """What analyses a capture."""
        if self.name == "points":
            both = [str(path), str(self.there(path)), "--points", "here,there"]
            return [sys.executable, "-m", "rexmit", "trace", *both]
        if self.name == "diff":
            return [sys.executable, "-m", "rexmit", "diff", str(path), str(path)]
        if self.name == "page":
            page = str(self.scratch / "page.html")
            return [sys.executable, "-m", "rexmit", "trace", str(path), "--html", page]
        return [self.program, "analyse", str(path), "1", "grid" if self.name == "grid" else "off"]

    def cost(self, path: Path, runs: int) -> tuple[float, int] | None:
        """The least processor time and memory of the runs; None where it was given up."""
        costs = [run(self.command(path)) for _ in range(runs)]
        known = [cost for cost in costs if cost is not None]
        if len(known) < runs:
            return None
        return min(cost_s for cost_s, _ in known), min(size for _, size in known)


def main() -> None:
    """Measures, and prints a line for each kind and way."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default=",".join(hostile_kinds.KINDS), help="kinds, with commas")
    parser.add_argument(
        "--ways", default="core,grid,page", help="of core, grid, page, points and diff"
    )
    parser.add_argument("--packets", type=int, default=40_000, help="of the smallest; then twice")
    parser.add_argument("--runs", type=int, default=3, help="runs of each; the least counts")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    asked = parser.parse_args()
    kinds = asked.only.split(",")
    for kind in kinds:
        if kind not in hostile_kinds.KINDS:
            parser.error(f"there is no kind {kind}; there are {', '.join(hostile_kinds.KINDS)}")
    bench = speed.Bench(speed.build(), max(asked.runs, 1), asked.json)
    mix = bench.capture(MIX)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name in asked.ways.split(","):
            measure(bench, Way(name, bench.program, folder), mix, kinds, asked.packets)
    if asked.json:
        print(json.dumps(bench.numbers, indent=2))


def measure(bench: speed.Bench, way: Way, mix: Path, kinds: Sequence[str], packets: int) -> None:
    """All kinds in one way."""
    empty = way.scratch / "empty.pcap"
    way.make("window-probes", 10, empty)
    start = way.cost(empty, bench.runs)
    of_mix = dataclasses.replace(way, name="page") if way.name in ("points", "diff") else way
    usual = of_mix.cost(mix, bench.runs)
    if start is None or usual is None:
        raise SystemExit(f"{mix}: took longer than {GIVEN_UP_S} s")
    (start_s, _), (mix_s, _) = start, usual
    read = int(run_output([bench.program, "analyse", str(mix), "1", "off"]).split()[0])
    of_mix_s = (mix_s - start_s) / read
    bench.note(f"{way.name}: microseconds a packet of the mix", of_mix_s * 1e6)
    for kind in kinds:
        costs: list[float] = []
        sizes: list[tuple[int, int]] = []
        for times in (1, 2, 4):
            path = way.scratch / f"{kind}.pcap"
            made = way.make(kind, packets * times, path)
            cost = way.cost(path, bench.runs)
            path.unlink()
            if cost is None:
                bench.note(f"{way.name}: {kind}: given up", packets * times, most=0)
                break
            costs.append(max(cost[0] - start_s, 0.0))
            sizes.append((made, cost[1]))
            a_packet = costs[-1] / made
        doubled = [later / before for before, later in pairwise(costs) if before >= LEAST_S]
        for number, growth in enumerate(doubled):
            bench.note(f"{way.name}: {kind}: doubled, {number + 1}", growth, most=DOUBLED)
        if len(costs) == 3 and way.name == "core":
            (few, least), (many, most) = sizes[0], sizes[-1]
            growth = (most - least) / (many - few)
            bench.note(f"core: {kind}: bytes a packet", growth, most=MOST_A_PACKET)
        if len(costs) == 3:
            bench.note(f"{way.name}: {kind}: times the mix", a_packet / of_mix_s, most=TIMES_MIX)


def limit() -> None:
    """Ends what takes too long, or too much."""
    resource.setrlimit(resource.RLIMIT_CPU, (GIVEN_UP_S, GIVEN_UP_S))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))


def run(command: Sequence[str]) -> tuple[float, int] | None:
    """The processor time and the memory of a program; None where it came to a limit."""
    null = subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=null, stderr=null, preexec_fn=limit)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        return None
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def run_output(command: Sequence[str]) -> str:
    """What a program says."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
