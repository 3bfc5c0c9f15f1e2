"""Kernels that panic, run out of memory or hang: told at once, with their last words."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.lab.conftest import Lab, Run

CODE = (
    "from mmap import *; flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE\n"
    "kept = [mmap(-1, 2**25, flags) for _ in range(100)]"
)
EAT = f"{sys.executable} -I -S -c '{CODE}'"
"""Takes all memory that there is."""
LITTLE = ("--memory", "96")
"""MiB, so that it does not take long. With 80, 6.1.192 throws out and reads again the pages of
programs for ever, and never panics (docs/limitations.md)."""
PANIC = f"echo 1 > /proc/sys/vm/panic_on_oom; {EAT}"
SPIN = "while :; do :; done"


def test_a_panic_is_told_with_the_consoles_last_lines(each: Lab) -> None:
    done = each.sh(f"echo before; sleep 1; {PANIC}", options=LITTLE)
    assert done.status == 125
    assert done.seconds < 30
    assert done.text == "before\n", "what was written before is not lost"
    assert done.err.startswith("rexmit: the kernel died")
    assert "the kernel's last lines:" in done.err
    assert "Kernel panic - not syncing" in done.err, "above a stack that fills the screen"
    assert "Traceback" not in done.err


def test_out_of_memory_with_nobody_left_to_kill_is_told(each: Lab) -> None:
    done = each.sh(f"echo -1000 > /proc/self/oom_score_adj; {EAT}", options=LITTLE)
    assert done.status == 125
    assert done.err.startswith("rexmit: the kernel died")
    assert done.seconds < 30


def test_a_command_that_eats_all_memory_is_killed_alone(each: Lab) -> None:
    done = each.sh(f"{EAT}; echo $?; uname -s", options=LITTLE).ok()
    assert done.lines == ["137", "Linux"]
    assert "Out of memory: Killed process" in done.err
    assert "--memory" in done.err


def test_more_memory_can_be_had(lab: Lab) -> None:
    script = "grep MemTotal /proc/meminfo | tr -dc 0-9"
    small, large = (
        int(lab.sh(script, options=("--memory", str(size))).ok().text) for size in (96, 512)
    )
    assert small < 96 * 1024
    assert 480 * 1024 < large < 512 * 1024


def test_what_was_in_the_scratch_folder_comes_back_from_the_dead(lab: Lab, tmp_path: Path) -> None:
    keep = tmp_path / "keep"
    script = f'echo evidence > "$REXMIT_SCRATCH/log"; {PANIC}'
    assert lab.sh(script, options=(*LITTLE, "--keep", str(keep))).status == 125
    assert (keep / "log").read_text() == "evidence\n"


def test_a_command_that_switches_the_machine_off_has_failed(lab: Lab) -> None:
    done = lab.sh(
        "echo before; sleep 1; reboot=$(command -v poweroff || command -v halt); "
        "$reboot -f; sleep 60; echo after"
    )
    assert done.status == 125
    assert done.text == "before\n"
    assert "rexmit: the kernel" in done.err


@pytest.fixture
def with_client(lab: Lab, tmp_path: Path) -> Callable[[str], Run]:
    """Runs two cells, the second with a `curl` of ours that is a shell script."""

    def run(script: str) -> Run:
        curl = tmp_path / "bin" / "curl"
        curl.parent.mkdir()
        curl.write_text(f"#!/bin/sh\n{script}\n")
        curl.chmod(0o755)
        # Below /tmp the guest shows what lies there on the host.
        path = f"{curl.parent}{os.pathsep}{os.environ['PATH']}"
        settings = ("network=high-speed", "config=tlp", "loss.segments=2", "repeat=2")
        return lab.try_run(
            *settings,
            "workload.client=builtin,curl",
            options=("--hang-limit", "3"),
            env={"PATH": path},
        )

    return run


@pytest.mark.parametrize(
    ("script", "message", "console"),
    [
        (PANIC, "the kernel died", True),
        (SPIN, "no sign of life for 3 s", True),
        (f"exec {EAT}", "SIGKILL", False),
        ("echo sorry >&2; exit 3", "sorry", False),
    ],
    ids=["panic", "hang", "out of memory", "exit status"],
)
def test_a_cell_that_dies_takes_no_other_with_it(
    with_client: Callable[[str], Run], script: str, message: str, console: bool
) -> None:
    run = with_client(script)
    assert run.done.status == 1
    assert run.done.seconds < 30
    assert [row["client"] for row in run.rows()] == ["builtin", "builtin"]
    assert all(row["complete"] and row["exact"] for row in run.rows())
    assert run.meta["transfers"] == 2
    (failed,) = run.meta["failed_cells"]
    assert failed["label"] == "high-speed tlp client=curl 2"
    assert message in failed["message"]
    assert bool(failed["console_tail"]) == console
    said = any("Kernel panic - not syncing" in line for line in failed["console_tail"])
    assert said == (script == PANIC)
    assert message in run.done.text, "on the screen, too"
