"""Same scenario, seed and kernel: the same rows, bit for bit, initial sequence numbers included."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from tests.lab.conftest import Lab, Run, User

GRID = ("network=high-speed,mobile", "config=er,tlp", "loss.segments=5", "repeat=4")
"""4 cells, 16 transfers."""


First = Callable[[Lab], Run]


@pytest.fixture(scope="module")
def first() -> First:
    """The run of a kernel that its others are compared with: two kernels at a time."""
    runs: dict[str, Run] = {}

    def run(lab: Lab) -> Run:
        if lab.kernel not in runs:
            runs[lab.kernel] = lab.run(*GRID, options=("--jobs", "2"))
        return runs[lab.kernel]

    return run


@contextmanager
def busy_machine() -> Iterator[None]:
    """Somebody else's programs use all the processor time that they can get."""
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def test_on_a_busy_machine_one_kernel_at_a_time(each: Lab, first: First) -> None:
    with busy_machine():
        again = each.run(*GRID, options=("--jobs", "1"))
    assert again.tables() == first(each).tables()
    assert again.transfers.height == 16


def test_by_another_user_with_kernel_and_guest_elsewhere(
    each: Lab, first: First, nobody: User
) -> None:
    again = Lab(nobody, each.kernel).run(*GRID, options=("--jobs", "3"))
    assert again.tables() == first(each).tables()


def test_killed_half_way_and_continued(lab: Lab, first: First) -> None:
    out = lab.user.home / "killed"
    process = lab.start(*lab.run_words(out, *GRID, options=("--jobs", "2")))
    while not list(out.glob("partial/cell-*")):
        assert process.poll() is None, "it was too quick to be killed"
        time.sleep(0.005)
    process.kill()
    process.communicate()
    assert not (out / "transfers.parquet").exists(), "half a table is none"
    done = lab.rexmit(*lab.run_words(out, *GRID, options=("--jobs", "1"))).ok()
    assert Run(out, done).tables() == first(lab).tables()
    assert not (out / "partial").exists()


def test_another_seed_gives_other_numbers(lab: Lab, first: First) -> None:
    other = lab.run(*GRID, options=("--seed", "2"))
    for name in ("isn_server", "isn_client"):
        assert not set(other.transfers[name]) & set(first(lab).transfers[name])
    assert set(other.transfers["phase_s"]) != set(first(lab).transfers["phase_s"])
    assert set(other.transfers["transfer_size_bytes"]) == {144_800}


def test_the_command_in_run_json_repeats_the_run(lab: Lab) -> None:
    settings = ("network=high-speed", "config=tlp", "loss.segments=2", "repeat=2")
    run = lab.run(*settings, options=("--seed", "77"))
    name, *words = run.meta["command"].split()
    assert name == "rexmit"
    out = lab.user.home / "repeated"
    again = Run(out, lab.rexmit(*words, "--out", str(out)).ok())
    assert again.tables() == run.tables()
    from_meta = lab.user.home / "from-meta"
    words = ["run", str(run.path / "run.json"), "--kernel", lab.kernel, "--out", str(from_meta)]
    assert Run(from_meta, lab.rexmit(*words).ok()).tables() == run.tables()


def test_captures_repeat_to_the_byte(lab: Lab) -> None:
    settings = ("network=mobile", "config=tlp", "loss.segments=5", "repeat=1")
    runs = [lab.run(*settings, options=("--capture",)) for _ in range(2)]
    one, two = (
        {path.name: path.read_bytes() for path in run.path.glob("captures/*")} for run in runs
    )
    assert sorted(one) == ["0-0.h1.pcapng", "0-0.h2.pcapng"]
    assert one == two


def test_a_line_that_loses_at_random_loses_the_same_again(lab: Lab) -> None:
    settings = (
        *("network=high-speed", "config=tlp", "loss.segments=1", "repeat=4"),
        *("networks.high-speed.loss=3%", "networks.high-speed.jitter=100us"),
    )
    one, two = (lab.run(*settings) for _ in range(2))
    assert one.tables() == two.tables()
    assert one.transfers["retransmissions"].n_unique() > 1, "and not the same in each transfer"
