"""The program as a user starts it, and disks that are full."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.processes import run_command

REXMIT = (sys.executable, "-m", "rexmit")

Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def on_full_disk(tmp_path: Path) -> Call:
    """Calls rexmit in a folder `full` on a disk of its own that has no room left, or `room`.

    The disk is a tmpfs in a mount namespace that goes with the call, which says at its end what is
    on it.
    """

    def call(*words: str, room: str = "0", prepare: str = "") -> subprocess.CompletedProcess[str]:
        place = tmp_path / "full"
        place.mkdir(exist_ok=True)
        script = f"""
            mount -t tmpfs -o size=16m none {shlex.quote(str(place))}
            cd {shlex.quote(str(place))}
            {prepare}
            head -c {room} /dev/zero > room
            cat /dev/zero > filling 2>/dev/null
            rm room
            {shlex.join([*REXMIT, *words])}
            status=$?
            rm filling
            echo "left: $(find . -mindepth 1 -name '.*' | sort | tr '\\n' ' ')" >&2
            exit $status
        """
        unshare = ["unshare", "--mount"]
        if os.geteuid() != 0:
            unshare += ["--map-root-user"]
        return run_command(
            [*unshare, "sh", "-c", script],
            env={**os.environ, "XDG_CACHE_HOME": str(place / "cache")},
        )

    return call
