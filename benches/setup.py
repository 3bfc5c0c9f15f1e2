"""What it costs to set up: a kernel built from source, and `make run` from nothing.

`python benches/setup.py [--kernel SERIES] [--run]`. The kernel is built into an empty cache, as
`rexmit kernel build` does for a user, once: processor time in all, and for each step of its make.
Reference: taking the compression off its source, which is a fixed piece of work. With `--run` also
`make run` in a fresh clone of this commit, with an empty cache of kernels; what pip and cargo have
downloaded is used, as that is the network's time. Whatever else the machine does slows the wall
clock: "with so many cores" is what the processor time comes to where all of them had work.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from speed import ROOT, Cost, run

from rexmit.store.plain_json import read

STEPS_THEN = 1390
"""Steps of a build of 6.12 when the aim was set."""
AIM = 0.6
"""Of what those took, in processor time; and so of the steps, as far as they are alike."""
AIM_RUN_S = 600.0


def main() -> None:
    """Builds, and prints what that took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kernel", default="6.12", help="the series (default 6.12)")
    parser.add_argument("--run", action="store_true", help="`make run` from nothing, too: minutes")
    asked = parser.parse_args()
    source = f"/usr/src/linux-source-{asked.kernel}.tar.xz"
    unpacked = run(["xz", "-dc", "-T1", source]).processor_s
    print(f"xz -dc of {source}: {unpacked:.1f} s of processor time")
    with tempfile.TemporaryDirectory() as cache:
        os.environ["REXMIT_CACHE"] = cache
        built = run([sys.executable, "-m", "rexmit", "kernel", "build", asked.kernel, "--quiet"])
        (about,) = Path(cache).glob("kernels/*/kernel.json")
        steps = read(about)["steps"]
        tell(f"kernel build {asked.kernel}", built)
        print(f"  {steps:,} steps, {steps / STEPS_THEN:.2f} of {STEPS_THEN:,}; aim {AIM}")
        print(f"  {1e3 * built.processor_s / steps:.0f} ms a step")
        print(f"  {built.processor_s / unpacked:.0f} times xz")
    if asked.run:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["REXMIT_CACHE"] = f"{folder}/cache"
            clone = f"{folder}/rexmit"
            subprocess.run(["git", "clone", "--quiet", str(ROOT), clone], check=True)
            tell("make run from nothing", run(["make", "--quiet", "-C", clone, "run"]), AIM_RUN_S)


def tell(what: str, cost: Cost, aim_s: float | None = None) -> None:
    """A line for what was run."""
    cores = len(os.sched_getaffinity(0))
    least_s = cost.processor_s / cores
    words = f"{what}: {cost.processor_s:.0f} s of processor time"
    words += f", {cost.wall_s:.0f} s on the wall, {least_s:.0f} s with {cores} cores at best"
    if aim_s is not None:
        words += f"; aim {aim_s:.0f} s: {'reached' if cost.wall_s <= aim_s else 'missed'}"
    print(words, flush=True)


if __name__ == "__main__":
    main()
