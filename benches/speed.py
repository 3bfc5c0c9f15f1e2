"""How fast captures are analysed: against tcptrace and tshark, in processor time and memory.

`python benches/speed.py [--only NAME,...] [--runs N] [--json]`

All captures are made here, in `target/bench-trace`, the first time: by `rexmit validate synth`, and
the long connection by the program of `benches/trace.rs`. Each number is the least of the runs, but
for tshark, which runs once. Machines differ, so every aim is a ratio to what ran beside it, but for
packets a second, bytes, and the start.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "target" / "bench-trace"
MIXES = Path(__file__).with_name("mixes.toml")
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Cost:
    """What a program took."""

    processor_s: float
    wall_s: float
    peak_bytes: int
    output: str


@dataclass(frozen=True)
class Capture:
    """A capture to measure with: how many connections it is drawn with, and of which mix."""

    name: str
    mix: str
    connections: int
    times_tcptrace: float | None = None
    times_tshark: float | None = None
    packets_per_s: float | None = None


CAPTURES = [
    Capture("bench", "bench", 130_000, times_tcptrace=5, times_tshark=60),
    Capture("retransmitting", str(MIXES), 20_000, times_tcptrace=2),
    Capture("lossless", str(MIXES), 60_000, packets_per_s=5e6),
    Capture("long", "", 1, times_tcptrace=1 / 3),
    Capture("small", "bench", 20),
]
TWO_THREADS = 1.8
GRID = 2.0
MORE_MEMORY = 150 * MEGABYTE
SMALL_S = 0.6
IDLE_BYTES = 600 * MEGABYTE
TSHARK = ["tshark", "-n", "-Y", "tcp.analysis.retransmission", "-T", "fields"]
TSHARK += ["-e", "frame.number", "-r"]


def main() -> None:
    """Measures, and prints a line for each number."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="captures, with commas; and idle")
    parser.add_argument("--runs", type=int, default=3, help="runs of each; the best counts")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    asked = parser.parse_args()
    names = [capture.name for capture in CAPTURES] + ["idle"]
    wanted = asked.only.split(",") if asked.only else names
    for name in wanted:
        if name not in names:
            parser.error(f"there is no capture {name}; there are {', '.join(names)}")
    bench = Bench(build(), max(asked.runs, 1), asked.json)
    for capture in CAPTURES:
        if capture.name in wanted:
            bench.measure(capture)
    if "idle" in wanted:
        bench.idle()
    if asked.json:
        print(json.dumps(bench.numbers, indent=2))


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
        if name == "small":
            command = [sys.executable, "-m", "rexmit", "trace", path]
            whole = self.best(command)
            self.note(f"{name}: rexmit trace, s", whole.processor_s, most=SMALL_S)
            return
        plain = self.best([self.program, "analyse", path, "1", "off"])
        packets = int(plain.output.split()[0])
        self.say(f"{name}: {plain.output.strip()}")
        rate = packets / plain.processor_s
        self.note(f"{name}: s", plain.processor_s)
        self.note(f"{name}: packets/s", rate, least=capture.packets_per_s)
        tcptrace = self.best(["tcptrace", "-n", path])
        times = tcptrace.processor_s / plain.processor_s
        self.note(f"{name}: tcptrace, s", tcptrace.processor_s)
        self.note(f"{name}: times tcptrace", times, least=capture.times_tcptrace)
        if capture.times_tshark:
            tshark = run([*TSHARK, path])
            times = tshark.processor_s / plain.processor_s
            self.note(f"{name}: tshark, s", tshark.processor_s)
            self.note(f"{name}: times tshark", times, least=capture.times_tshark)
        if name == "bench":
            more = plain.peak_bytes - tcptrace.peak_bytes
            self.note(f"{name}: peak bytes", plain.peak_bytes)
            self.note(f"{name}: peak bytes more than tcptrace's", more, most=MORE_MEMORY)
            two = self.best([self.program, "analyse", path, "2", "off"], lambda cost: cost.wall_s)
            one = self.best([self.program, "analyse", path, "1", "off"], lambda cost: cost.wall_s)
            times = one.wall_s / two.wall_s
            self.note(
                f"{name}: times one thread on the wall, two threads", times, least=TWO_THREADS
            )
            grid = self.best([self.program, "analyse", path, "1", "grid"])
            times = grid.processor_s / plain.processor_s
            self.note(f"{name}: times the plain analysis, with the grid", times, most=GRID)

    def idle(self) -> None:
        """A million connections that have had a request and a response."""
        cost = run([self.program, "idle"])
        self.note("idle: peak bytes of a million connections", cost.peak_bytes, most=IDLE_BYTES)

    def best(
        self, command: Sequence[str], by: Callable[[Cost], float] = lambda cost: cost.processor_s
    ) -> Cost:
        """The best of the runs."""
        return min((run(command) for _ in range(self.runs)), key=by)

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


def run(command: Sequence[str]) -> Cost:
    """Runs a program to its end; what it took, by the system's account of it and its children."""
    began = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as child:
        output = child.stdout.read() if child.stdout else ""
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit status {child.returncode}")
    return Cost(
        processor_s=used.ru_utime + used.ru_stime,
        wall_s=time.perf_counter() - began,
        # Linux counts kilobytes (getrusage(2)).
        peak_bytes=used.ru_maxrss * 1024,
        output=output,
    )


if __name__ == "__main__":
    main()
