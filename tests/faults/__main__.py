"""`python -m tests.faults`: faults at random in every command that writes.

The driver works in a mount namespace; several of them share the campaigns.
"""

from __future__ import annotations

import argparse
import json
import os
import selectors
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.faults.commands import COMMANDS
from tests.faults.plan import plan, plans
from tests.faults.report import Report


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--faults", type=int, default=200, help="how many")
    parser.add_argument("--seed", default="1", help="what they are drawn from")
    parser.add_argument("--campaign", type=int, help="this one alone")
    parser.add_argument("--drivers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--commands", default="all", help="all, kernel, other, or by commas")
    # For the test of the driver itself.
    parser.add_argument("--break-results", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--place", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def _names(text: str) -> list[str]:
    if text in ("all", "kernel", "other"):
        return [n for n, c in COMMANDS.items() if text == "all" or c.kernel == (text == "kernel")]
    return text.split(",")


def _drive(given: argparse.Namespace) -> None:
    """Be one driver: a line of JSON for each campaign."""
    from tests.faults.campaign import Driver

    names = _names(given.commands)
    if given.campaign is not None:
        chosen = [plan(given.seed, given.campaign, names)]
    else:
        chosen = plans(given.seed, given.faults, names)[given.part :: given.drivers]
    driver = Driver(given.place, break_results=given.break_results)
    for each in chosen:
        print(json.dumps(driver.run(each).plain()), flush=True)


def _driver(words: list[str], part: int, place: str) -> subprocess.Popen[bytes]:
    unshare = ["unshare", "--mount", *(() if os.geteuid() == 0 else ("--map-root-user",))]
    return subprocess.Popen(
        [
            *unshare,
            sys.executable,
            "-m",
            "tests.faults",
            *words,
            "--part",
            str(part),
            "--place",
            place,
        ],
        stdout=subprocess.PIPE,
    )


def main() -> int:
    """Exit status 1 where something was wrong."""
    given = _arguments()
    if given.part is not None:
        _drive(given)
        return 0
    again = ["python", "-m", "tests.faults", "--seed", given.seed, "--commands", given.commands]
    report = Report(given.seed, given.faults, shlex.join(again))
    count = 1 if given.campaign is not None else given.drivers
    words = [*sys.argv[1:], "--drivers", str(count)]
    print(f"seed {given.seed}", flush=True)
    # A driver mounts what is its own there; with its end the folders are empty.
    places = [tempfile.mkdtemp(prefix="faults-") for _ in range(count)]
    drivers = [_driver(words, part, place) for part, place in enumerate(places)]
    try:
        with selectors.DefaultSelector() as selector:
            for one in drivers:
                selector.register(one.stdout, selectors.EVENT_READ)  # type: ignore[arg-type]
            while selector.get_map():
                for key, _ in selector.select():
                    stream = key.fileobj
                    line = stream.readline()  # type: ignore[union-attr]
                    if line:
                        told = json.loads(line)
                        report.take(told)
                        if given.campaign is not None:
                            print("\n".join(told["course"]))
                    else:
                        selector.unregister(stream)
        failed = [one for one in drivers if one.wait() != 0]
    finally:
        for one in drivers:
            one.kill()
            one.wait()
        for place in places:
            Path(place).rmdir()
    print(report.summary())
    return 1 if report.wrong or failed else 0


if __name__ == "__main__":
    sys.exit(main())
