"""What a campaign on the model costs, transfer for transfer, all told: `rexmit run` of the 13,860
transfers of the campaign of 2013 as a real process, in processor time.

`python benches/campaign.py [--stack NAME] [--runs N]`. References: the model itself, as it counts
the time of its threads, what is beside it being the program's start and what is done with rows; and
Debian's ns-3 (`ns3.cc`), which makes one cell of the campaign. Each number is the least of the
runs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from speed import FOLDER, run

from rexmit.store.plain_json import read

AIM_US = 250
NS3 = ["core", "network", "internet", "point-to-point", "applications"]
"""The modules of ns-3 that its program is linked with."""
NS3_TRANSFERS, NS3_LOST = 500, 5


def main() -> None:
    """Runs the campaign, and prints what a transfer took and what of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--stack", default="linux-3.10")
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    rexmit = [sys.executable, "-m", "rexmit"]
    took, model, start, rate = [], [], [], []
    for _ in range(max(asked.runs, 1)):
        with tempfile.TemporaryDirectory() as folder:
            out = str(Path(folder) / "run")
            words = ["run", "tlp-2013", "--engine", "model", "--stack", asked.stack, "--out", out]
            cost = run([*rexmit, *words, "--quiet"])
            meta = read(Path(out) / "run.json")
            # What is there is not run again.
            start.append(run([*rexmit, *words, "--quiet"]).processor_s)
        transfers = meta["transfers"]
        took.append(1e6 * cost.processor_s / transfers)
        model.append(1e6 * meta["cpu_s"] / transfers)
        rate.append(transfers / cost.wall_s)
    start_us = 1e6 * min(start) / transfers
    verdict = "reached" if min(took) <= AIM_US else "missed"
    print(f"{transfers:,} transfers on the model, {asked.stack}; processor time, least of the runs")
    print(f"a transfer all told  {min(took):6.0f} µs; aim {AIM_US} at most: {verdict}")
    print(
        f"the model itself     {min(model):6.0f} µs, {min(took) / min(model):.2f} times that in all"
    )
    print(f"the program's start  {min(start):6.2f} s, {start_us:.0f} µs a transfer")
    print(f"on the wall          {max(rate):6,.0f} transfers a second, on all cores")
    if (other := ns3(max(asked.runs, 1))) is None:
        print("ns-3                 not installed (Debian: libns3-dev and g++)")
    else:
        times = f"{other / min(took):.1f} times ours all told, {other / min(model):.1f} the model"
        print(f"ns-3                 {other:6.0f} µs for one with {NS3_LOST} lost; {times}")


def ns3(runs: int) -> float | None:
    """Microseconds that a transfer takes in ns-3; None where that is not installed."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    program = FOLDER / "ns3"
    words = [
        "g++",
        "-std=c++17",
        "-O2",
        "-o",
        str(program),
        str(Path(__file__).with_name("ns3.cc")),
    ]
    words += [f"-lns3-{module}" for module in NS3]
    try:
        subprocess.run(words, check=True, stderr=subprocess.DEVNULL)
    except (FileNotFoundError, subprocess.CalledProcessError):
        return None
    command = [str(program), str(NS3_TRANSFERS), str(NS3_LOST)]
    return min(float(run(command).output) for _ in range(runs))


if __name__ == "__main__":
    main()
