"""What compression and pcapng cost: the analysis of a capture against taking its compression off.

`python benches/packed.py [--runs N] [CAPTURE]`. The capture is packed by gzip, zstd, lz4 and xz as
they pack by default, and written as pcapng by editcap, where those are. For each form, in processor
time on one core: the decompressor alone, the same library with nothing after it; reading of all
packets; the core's analysis; and how large the decompressor's share is of both. References: the
plain capture, and the program (`zcat`, `zstd -dc`, …) that takes the compression off. Programs are
run in turn, each number is the least of the runs.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from speed import CAPTURES, Bench, build, run


@dataclass(frozen=True)
class Form:
    """How a capture is packed, what its name ends in then, and what takes it off."""

    ending: str
    pack: list[str]
    unpack: list[str]


FORMS = [
    Form("gz", ["gzip", "-c"], ["zcat"]),
    Form("zst", ["zstd", "-qc"], ["zstd", "-dc"]),
    Form("lz4", ["lz4", "-qc"], ["lz4", "-dc"]),
    Form("xz", ["xz", "-c", "-T1"], ["xz", "-dc", "-T1"]),
]


def main() -> None:
    """Packs, measures, and prints a line for each form."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("capture", nargs="?", type=Path, help="default: that of a live mix")
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    bench = Bench(build(), max(asked.runs, 1), quiet=False)
    (drawn,) = (capture for capture in CAPTURES if capture.name == "live")
    capture = asked.capture or bench.capture(drawn)
    with tempfile.TemporaryDirectory() as folder:
        print(f"{capture}: {capture.stat().st_size:,} bytes; processor time, s")
        read, analysed = (cost.processor_s for cost in bench.least(*ways(bench, capture)))
        print(f"{'plain':6} {'':30} read {read:6.2f}          analysed {analysed:6.2f}")
        if shutil.which("editcap"):
            other = Path(folder) / "capture.pcapng"
            run(["editcap", "-F", "pcapng", str(capture), str(other)])
            ng, analysed_ng = (cost.processor_s for cost in bench.least(*ways(bench, other)))
            times = f"{ng / read:.2f} and {analysed_ng / analysed:.2f} times the plain one"
            print(f"pcapng {'':30} read {ng:6.2f}          analysed {analysed_ng:6.2f}; {times}")
        for form in FORMS:
            if shutil.which(form.pack[0]) is None:
                print(f"{form.ending:6} {form.pack[0]} is not installed")
                continue
            packed = Path(folder) / f"capture.{form.ending}"
            with packed.open("wb") as file:
                subprocess.run([*form.pack, str(capture)], check=True, stdout=file)
            measure(bench, form, packed)
            packed.unlink()


def ways(bench: Bench, capture: Path) -> tuple[list[str], list[str]]:
    """Reads a capture; analyses it on one thread."""
    path = str(capture)
    return [bench.program, "read", path], [bench.program, "analyse", path, "1", "off"]


def measure(bench: Bench, form: Form, packed: Path) -> None:
    """A line for a form."""
    unpacking = [bench.program, "unpack", str(packed)]
    costs = bench.least(unpacking, *ways(bench, packed), [*form.unpack, str(packed)])
    alone, read, analysed, program = (cost.processor_s for cost in costs)
    print(
        f"{form.ending:6} alone {alone:6.2f} ({' '.join(form.unpack[:2]):8} {program:6.2f}) "
        f"read {read:6.2f}, {alone / read:4.0%} of it"
        f"   analysed {analysed:6.2f}, {alone / analysed:4.0%} of it"
    )


if __name__ == "__main__":
    main()
