"""How fast captures are analysed: against tcptrace and tshark, in processor time and memory.

`python benches/speed.py [--only NAME,...] [--runs N] [--json] [--against FILE]`

All captures are made here, in `target/bench-trace`, the first time: by `rexmit validate synth`, and
the long connection by the program of `benches/trace.rs`. "Times tcptrace" is the whole command
`rexmit trace` on one core against `tcptrace -n -l`; "the core, times tcptrace" the analysis alone
against `tcptrace -n`. Programs are run in turn, each number is the least of the runs, but for
tshark, which runs once. Machines differ, so every aim is a ratio to what ran beside it, but for
bytes. `--against` compares ratios with those that `--json` printed of another commit, as
`ratios.json` has them of one, and ends with 1 if one is a tenth worse.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "target" / "bench-trace"
MIXES = Path(__file__).with_name("mixes.toml")
MEGABYTE = 1_000_000
HEAD = 1_000
"""Bytes of an output that are kept."""


@dataclass(frozen=True)
class Cost:
    """What a program took."""

    processor_s: float
    wall_s: float
    peak_bytes: int
    output: str


@dataclass(frozen=True)
class Capture:
    """A capture to measure with: how many connections it is drawn with, of which mix, and its
    aims."""

    name: str
    mix: str
    connections: int
    times: float | None = None
    core_times: float | None = None


CAPTURES = [
    Capture("bench", "bench", 130_000, times=2.5, core_times=2.5),
    Capture("lossless", str(MIXES), 60_000, times=4),
    Capture("live", str(MIXES), 12_000, times=2),
    Capture("retransmitting", str(MIXES), 20_000),
    Capture("long", "", 1, core_times=0.5),
]
SMALL = Capture("small", "bench", 20)
TIMES_TSHARK = 40
TWO_THREADS = 1.72
GRID = 1.6
IDLE_BYTES = 565 * MEGABYTE
WORSE = 1.1
"""So many times worse is worse, and not chance."""
TSHARK = ["tshark", "-n", "-Y", "tcp.analysis.retransmission", "-T", "fields"]
TSHARK += ["-e", "frame.number", "-r"]


def main() -> int:
    """Measures, and prints a line for each number."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="captures, with commas; and idle")
    parser.add_argument("--runs", type=int, default=5, help="runs of each; the least counts")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    parser.add_argument("--against", type=Path, help="ratios of another commit, from --json")
    asked = parser.parse_args()
    names = [capture.name for capture in CAPTURES] + ["idle"]
    wanted = asked.only.split(",") if asked.only else names
    for name in wanted:
        if name not in names:
            parser.error(f"there is no capture {name}; there are {', '.join(names)}")
    before = json.loads(asked.against.read_text()) if asked.against else {}
    bench = Bench(build(), max(asked.runs, 1), asked.json)
    for capture in CAPTURES:
        if capture.name in wanted:
            bench.measure(capture)
    if "idle" in wanted:
        bench.idle()
    if asked.json:
        print(json.dumps(bench.numbers, indent=2))
    return bench.compare(before)


def build() -> str:
    """Builds the program that runs the core alone, and says where it is."""
    command = ["cargo", "bench", "--locked", "--quiet", "--package", "rexmit-benches"]
    command += ["--bench", "trace", "--no-run", "--message-format=json"]
    lines = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    made = [json.loads(line) for line in lines.splitlines() if line.startswith("{")]
    programs = [one["executable"] for one in made if one.get("executable")]
    return str(programs[-1])


class Bench:
    """The program, and the numbers so far."""

    def __init__(self, program: str, runs: int, quiet: bool) -> None:
        self.program = program
        self.runs = runs
        self.quiet = quiet
        self.numbers: dict[str, float] = {}

    def measure(self, capture: Capture) -> None:
        """All that is asked of a capture."""
        name, path = capture.name, str(self.capture(capture))
        small = str(self.capture(SMALL))
        command, core = trace(path), [self.program, "analyse", path, "1", "off"]
        tcptrace = ["tcptrace", "-n"]
        whole, start, plain, long, short = self.least(
            command, trace(small), core, [*tcptrace, "-l", path], [*tcptrace, path]
        )
        self.say(f"{name}: {plain.output.strip()}")
        self.note(f"{name}: s, the whole command", whole.processor_s)
        self.note(f"{name}: s, its start", start.processor_s)
        self.note(f"{name}: s, its core", plain.processor_s)
        rest = whole.processor_s - start.processor_s - plain.processor_s
        self.note(f"{name}: s, its output", rest)
        times = long.processor_s / whole.processor_s
        self.note(f"{name}: times tcptrace", times, least=capture.times)
        times = short.processor_s / plain.processor_s
        self.note(f"{name}: the core, times tcptrace", times, least=capture.core_times)
        self.note(f"{name}: peak bytes", whole.peak_bytes)
        if name != "bench":
            return
        tshark = run([*TSHARK, path])
        times = tshark.processor_s / whole.processor_s
        self.note(f"{name}: times tshark", times, least=TIMES_TSHARK)
        two, one, grid = (
            [self.program, "analyse", path, *how]
            for how in (["2", "off"], ["1", "off"], ["1", "grid"])
        )
        walls = self.least(two, one, by=lambda cost: cost.wall_s)
        times = walls[1].wall_s / walls[0].wall_s
        self.note(f"{name}: times one thread on the wall, two threads", times, least=TWO_THREADS)
        times = self.least(grid)[0].processor_s / plain.processor_s
        self.note(f"{name}: times the plain analysis, with the grid", times, most=GRID)

    def idle(self) -> None:
        """A million connections that have had a request and a response."""
        cost = run([self.program, "idle"])
        self.note("idle: peak bytes of a million connections", cost.peak_bytes, most=IDLE_BYTES)

    def least(
        self, *commands: list[str], by: Callable[[Cost], float] = lambda cost: cost.processor_s
    ) -> list[Cost]:
        """The least of the runs of each, which are run in turn."""
        rounds = [[run(command) for command in commands] for _ in range(self.runs)]
        return [min(costs, key=by) for costs in zip(*rounds, strict=True)]

    def compare(self, before: Mapping[str, float]) -> int:
        """The ratios beside those of another commit: 1 if one of them is worse."""
        worse = 0
        for what, was in before.items():
            now = self.numbers.get(what)
            if now is None or "times" not in what:
                continue
            ratio = was / now if "with the grid" not in what else now / was
            worse |= ratio > WORSE
            self.say(f"  {what:60} {was:10,.3f} -> {now:.3f}{'  worse' * (ratio > WORSE)}")
        return worse

    def capture(self, capture: Capture) -> Path:
        """A capture, which is made if it is not there."""
        FOLDER.mkdir(parents=True, exist_ok=True)
        path = FOLDER / f"{capture.name}.pcap"
        if path.exists():
            return path
        self.say(f"{capture.name}: makes its capture")
        if not capture.mix:
            making = path.with_suffix(".making")
            run([self.program, "long", str(making)])
            making.rename(path)
            return path
        made = FOLDER / capture.name
        command = [sys.executable, "-m", "rexmit", "validate", "synth", "--mix", capture.mix]
        command += ["--connections", str(capture.connections), "--seed", "1", "--at", "switch"]
        run([*command, "--format", "pcap", "--out", str(made)])
        (made / "captures" / f"{self.mix_of(capture)}-switch.pcap").rename(path)
        return path

    @staticmethod
    def mix_of(capture: Capture) -> str:
        """The mix that it is of: its own in a file of several."""
        return capture.name if capture.mix.endswith(".toml") else capture.mix

    def note(
        self, what: str, number: float, *, least: float | None = None, most: float | None = None
    ) -> None:
        """Keeps a number, and says whether it is what it should be."""
        self.numbers[what] = number
        verdict = ""
        if least is not None:
            verdict = f"aim {least:,.4g}: {'reached' if number >= least else 'missed'}"
        if most is not None:
            verdict = f"aim {most:,.4g} at most: {'reached' if number <= most else 'missed'}"
        self.say(f"  {what:60} {number:14,.2f}  {verdict}".rstrip())

    def say(self, line: str) -> None:
        """A line for people."""
        if not self.quiet:
            print(line, flush=True)


def trace(path: str) -> list[str]:
    """The command that users give, on one core."""
    return [sys.executable, "-m", "rexmit", "trace", "--quiet", "--jobs", "1", path]


def run(command: Sequence[str], stdin: IO[bytes] | None = None) -> Cost:
    """Runs a program to its end; what it took, by the system's account of it and its children."""
    began = time.perf_counter()
    pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdin=stdin, stdout=pipe, stderr=quiet) as child:
        output = child.stdout.read(HEAD) if child.stdout else b""
        # The rest is not kept: a child's peak is at least what its parent had when it began.
        while child.stdout and child.stdout.read(MEGABYTE):
            pass
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit status {child.returncode}")
    return Cost(
        processor_s=used.ru_utime + used.ru_stime,
        wall_s=time.perf_counter() - began,
        # Linux counts kilobytes (getrusage(2)).
        peak_bytes=used.ru_maxrss * 1024,
        output=output.decode(errors="replace"),
    )


if __name__ == "__main__":
    sys.exit(main())
