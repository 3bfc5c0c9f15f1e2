"""What somebody waits for who has nothing yet: a kernel built from source, and `make run`.

`python benches/from_nothing.py [--only kernel,run]`

References: for the kernel the same source as arch/um is configured where nobody says how
(`make ARCH=um defconfig linux`), in processor time; for `make run`, in a clone of the last commit
with a cache of its own, the ten minutes that its aim gives it. Debian's packages and Cargo's
downloads count as there. Needs 6 GB below `target`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from speed import FOLDER, ROOT, Bench, run

SOURCE = Path("/usr/src/linux-source-6.12.tar.xz")
TIMES_DEFCONFIG = 0.6
"""Of the processor time of the usual configuration, at most."""
RUN_S = 600


def main() -> int:
    """Measures, and prints a line for each number."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="kernel,run", help="kernel or run")
    asked = parser.parse_args()
    bench = Bench("", 1, quiet=False)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        if "kernel" in asked.only:
            kernel(bench, Path(folder))
        if "run" in asked.only:
            first_run(bench, Path(folder))
    return 0


def kernel(bench: Bench, folder: Path) -> None:
    """The lab's kernel, and the usual one of the same source."""
    build = [sys.executable, "-m", "rexmit", "kernel", "build", "6.12", "--quiet"]
    ours = run(["env", f"REXMIT_CACHE={folder / 'cache'}", *build])
    tree = folder / "tree"
    tree.mkdir()
    subprocess.run(["tar", "xf", SOURCE, "-C", tree, "--strip-components", "1"], check=True)
    make = ["make", "-C", str(tree), "ARCH=um", "-s", f"-j{len(os.sched_getaffinity(0))}"]
    run([*make, "defconfig"])
    usual = run([*make, "linux"])
    shutil.rmtree(tree)
    bench.note("kernel: s, from source", ours.wall_s)
    bench.note("kernel: s of processor", ours.processor_s)
    bench.note("kernel: s of processor, the usual configuration", usual.processor_s)
    times = ours.processor_s / usual.processor_s
    bench.note("kernel: times the usual configuration", times, most=TIMES_DEFCONFIG)


def first_run(bench: Bench, folder: Path) -> None:
    """`make run` in a clone."""
    clone = folder / "clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    cost = run(["env", f"REXMIT_CACHE={folder / 'run-cache'}", "make", "-C", str(clone), "run"])
    bench.note("make run: s, from nothing", cost.wall_s, most=RUN_S)


if __name__ == "__main__":
    sys.exit(main())
