"""How fast the lab is: boots and transfers on one core, each against a reference of the same run.

`python benches/lab.py [--kernel K] [--transfers N] [--debug K]`. References: a program that does
nothing for the boot, `curl` for the client built in, real time itself, and the kernel for a debug
one.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from rexmit import scenario
from rexmit.campaign.grid import cells
from rexmit.campaign.plan import cell_plan, phase_period_ns
from rexmit.engines.boot import BootOptions, Event, GuestBoot, watch
from rexmit.engines.guest import programs
from rexmit.engines.kernel import KernelIdentity, boot_plan, find_kernel

SCENARIO = Path(__file__).parents[1] / "scenarios" / "tlp-2013.toml"
ROUNDS = 5


class Measured:
    """What one boot took, in real seconds and those of the processor, and its peak memory."""

    def __init__(self, kernel: KernelIdentity, client: str, repeat: int, network: str) -> None:
        loaded = scenario.load(
            SCENARIO,
            [
                f"network={network}",
                "config=tlp",
                "loss.segments=5",
                f"repeat={repeat}",
                f"workload.client={client}",
            ],
        )
        (cell,) = cells(loaded)
        period = phase_period_ns(kernel.hz)
        phases = [int((index + 0.5) / repeat * period) for index in range(repeat)]
        asked = boot_plan(
            cell_plan(loaded, cell, phases=phases, period_ns=period, capture=False),
            programs(("nginx", "curl")),
        )
        self.at: list[float] = []
        self.virtual_s = 0.0
        began = time.perf_counter()

        def on_event(event: Event) -> None:
            if event["type"] == "transfer":
                self.at.append(time.perf_counter() - began)
            elif event["type"] == "cell-error":
                raise SystemExit(f"the cell failed: {event['message']}")

        options = BootOptions(kernel.path, min(os.sched_getaffinity(0)), seed=1)
        with GuestBoot(options, asked) as boot:
            watch(boot, on_event=on_event, poll_s=0.002)
            self.wall_s = time.perf_counter() - began
            self.virtual_s = boot.virtual_ns / 1e9
            self.cpu_s = boot.usage.cpu_s if boot.usage else 0.0
            self.peak_bytes = boot.usage.peak_memory_bytes if boot.usage else 0

    @property
    def rate(self) -> float:
        """Transfers a second between the first and the last."""
        return (len(self.at) - 1) / (self.at[-1] - self.at[0])


def nothing_s() -> float:
    """Real seconds that starting and ending a program takes here."""
    began = time.perf_counter()
    subprocess.run(["/bin/true"], check=True)
    return time.perf_counter() - began


def main() -> None:
    """Print the figures, medians of several rounds in turn."""
    parser = argparse.ArgumentParser(description="How fast the lab is, on one core.")
    parser.add_argument("--kernel", help="as `rexmit kernel list` names it")
    parser.add_argument("--transfers", type=int, default=200, help="a round (default 200)")
    parser.add_argument("--debug", metavar="K", help="a debug kernel, such as 6.12+debug")
    arguments = parser.parse_args()
    kernel = find_kernel(arguments.kernel)
    debug = find_kernel(arguments.debug) if arguments.debug else None
    first, boots, empty, rates, curls, ratios, speedups, peaks, costs = ([] for _ in range(9))
    for round_ in range(ROUNDS):
        print(f"round {round_ + 1} of {ROUNDS}", file=sys.stderr)
        empty.append(nothing_s())
        built_in = Measured(kernel, "builtin", arguments.transfers, "high-speed")
        curl = Measured(kernel, "curl", max(2, arguments.transfers // 10), "high-speed")
        slow = Measured(kernel, "builtin", max(2, arguments.transfers // 10), "satellite")
        if debug:
            checked = Measured(debug, "builtin", arguments.transfers, "high-speed")
            costs.append(checked.cpu_s / built_in.cpu_s)
        first.append(built_in.at[0])
        boots.append(built_in.at[0] / empty[-1])
        rates.append(built_in.rate)
        curls.append(curl.rate)
        ratios.append(built_in.rate / curl.rate)
        speedups.append(slow.virtual_s / slow.wall_s)
        peaks.append(built_in.peak_bytes)
    middle = statistics.median
    print(f"Linux {kernel.version}, HZ {kernel.hz}; medians of {ROUNDS} rounds, one core")
    print(f"boot to first row    {middle(first):8.2f} s    {middle(boots):8.1f} x /bin/true")
    print(f"client built in      {middle(rates):8.1f} /s   {middle(ratios):8.1f} x curl")
    print(f"client curl          {middle(curls):8.1f} /s        1.0 x curl")
    print(f"satellite transfers  {'':8}      {middle(speedups):8.1f} x real time")
    if debug:
        print(f"{arguments.debug:20} {'':8}      {middle(costs):8.1f} x its CPU (aim: at most 4)")
    print(f"peak memory          {max(peaks) / 1e6:8.1f} MB   of the largest process")


if __name__ == "__main__":
    main()
