"""What figures cost: `rexmit plot` of twelve figures of nine panels, each as PDF and PNG, in
processor time.

`python benches/figures.py [--runs N]`. Reference: matplotlib alone, for twelve figures of as many
panels with as many lines of as many points, laid out and written by its own `savefig`. Programs are
run in turn, each number is the least of the runs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from speed import run

AIM_S = 4.0
FIGURES = 12

GRID = ["workload.segments=40,60,80,100", "workload.receive_window=auto,64kB,128kB"]
GRID += ["repeat=5", "networks.satellite.repeat=5"]
"""Of the campaign of 2013: a figure for each page and window."""

REFERENCE = f"""
from sys import argv
from matplotlib.figure import Figure

for number in range({FIGURES}):
    figure = Figure(figsize=(12.9, 8.3), layout="constrained")
    for axes in figure.subplots(3, 3, sharex=True).flat:
        axes.set_title("a panel")
        axes.set_ylabel("seconds")
        for line in range(3):
            axes.errorbar(range(21), range(21), yerr=[1] * 21, label=str(line))
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center")
    for ending in ("pdf", "png"):
        figure.savefig(f"{{argv[1]}}/{{number}}.{{ending}}", dpi=200)
"""


def main() -> None:
    """Runs the grid on the model, draws it, and prints what that took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    rexmit = [sys.executable, "-m", "rexmit"]
    with tempfile.TemporaryDirectory() as folder:
        out, figures = str(Path(folder) / "run"), Path(folder) / "figures"
        settings = [word for setting in GRID for word in ("--set", setting)]
        run([*rexmit, "run", "tlp-2013", "--engine", "model", *settings, "--out", out, "--quiet"])
        drawing = [*rexmit, "plot", out, "--x", "lost_segments", "--facet", "network"]
        drawing += ["--out", str(figures)]
        reference = [sys.executable, "-c", REFERENCE, folder]
        took, alone = [], []
        for _ in range(max(asked.runs, 1)):
            took.append(run(drawing).processor_s)
            alone.append(run(reference).processor_s)
        made = len(list(figures.iterdir()))
    if made != 2 * FIGURES:
        raise SystemExit(f"{made} files, not {2 * FIGURES}")
    verdict = "reached" if min(took) <= AIM_S else "missed"
    print(f"{FIGURES} figures of nine panels, as PDF and PNG; processor time, least of the runs")
    print(f"rexmit plot       {min(took):6.1f} s; aim {AIM_S:g} at most: {verdict}")
    print(f"matplotlib alone  {min(alone):6.1f} s; {min(took) / min(alone):.2f} times that")


if __name__ == "__main__":
    main()
