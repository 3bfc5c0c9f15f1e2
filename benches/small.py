"""What it costs to start: `rexmit --version` and `rexmit trace` of a small capture, as real
processes, user and system time of each.

`python benches/small.py [--runs N] [CAPTURE]`. References, each run in turn with them: the
interpreter that does nothing, of which all are multiples, the interpreter that imports Polars, and
`tshark -r` where there is one. Bytecode is cached, as in a package that was installed.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CAPTURE = Path(__file__).parents[1] / "tests/real/captures/dcerpc.pcap"

NOTHING = "python -c pass"
AIMS = {"rexmit --version": 4, "rexmit trace": 12}
"""So many times what the interpreter takes that does nothing, at most."""


def cpu_s(command: list[str], environment: dict[str, str]) -> float:
    """Seconds of CPU that a process takes. Raises where it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure, and print a line for each program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("capture", nargs="?", type=Path, default=CAPTURE)
    parser.add_argument("--runs", type=int, default=20)
    asked = parser.parse_args()
    capture = str(asked.capture)
    programs = {
        NOTHING: [sys.executable, "-c", "pass"],
        "rexmit --version": [sys.executable, "-m", "rexmit", "--version"],
        "rexmit trace": [sys.executable, "-m", "rexmit", "trace", capture],
        "python, polars": [sys.executable, "-c", "import polars"],
    }
    if tshark := shutil.which("tshark"):
        programs["tshark -r"] = [tshark, "-r", capture]
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for command in programs.values():
            cpu_s(command, environment)
        took: dict[str, list[float]] = {name: [] for name in programs}
        for _ in range(asked.runs):
            for name, command in programs.items():
                took[name].append(cpu_s(command, environment))
    nothing = statistics.median(took[NOTHING])
    print(f"{capture}, {asked.runs} runs: CPU, s")
    for name, each in took.items():
        median = statistics.median(each)
        spread = f"median {median:.3f}, from {min(each):.3f} to {max(each):.3f}"
        aim = f", aim {AIMS[name]}" if name in AIMS else ""
        print(f"{name:16} {spread}; {median / nothing:.1f} times python{aim}")


if __name__ == "__main__":
    main()
