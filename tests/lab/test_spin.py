"""Programs that wait in a loop: virtual time passes for them, the same at every boot."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.lab.conftest import Lab

SOURCE = Path(__file__).with_name("spin.c")
TICKS = ("coarse", "cpu", "time", "times", "usage", "yield")


@pytest.fixture(scope="module")
def spin(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A static program that waits for a second, in the way that it is told."""
    program = tmp_path_factory.mktemp("spin") / "spin"
    subprocess.run(["gcc", "-O1", "-static", "-o", program, SOURCE], check=True)
    return str(program)


@pytest.mark.parametrize("kind", TICKS)
def test_a_second_passes_for_a_program_that_spins(each: Lab, spin: str, kind: str) -> None:
    first, second = (each.exec(spin, kind).ok().text for _ in range(2))
    assert first == second, "a count repeats, real time does not"
    assert 0 < int(first) / 1e9 < 1.05
    # time(2) is told in whole seconds, and the first one has begun.
    assert int(first) / 1e9 > (0.01 if kind == "time" else 0.95)


def test_a_program_that_polls_another_one_meets_it(lab: Lab, spin: str) -> None:
    assert int(lab.exec(spin, "poll").ok().text) / 1e9 == pytest.approx(0.1, abs=0.01)


def test_work_that_looks_at_the_clock_now_and_then_still_takes_no_time(each: Lab) -> None:
    script = "import os, time; a = time.monotonic(); [os.times() for _ in range(500)]; "
    done = each.exec("/usr/bin/python3", "-ISc", script + "print(time.monotonic() - a)").ok()
    assert float(done.text) < 1e-5
