"""Which closed files root's guest reads: root's and those of who owns the working folder."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.lab.conftest import Lab
from tests.processes import run_command

from rexmit import kernels

OWNER, OTHER = 23456, 23457


@pytest.fixture
def homes() -> Iterator[Path]:
    """Two closed homes with a project each, and a closed script of root's."""
    if os.geteuid() != 0:
        pytest.skip("only root can make other users' files")
    with TemporaryDirectory(prefix="lab-homes-") as name:
        place = Path(name)
        for uid in (OWNER, OTHER, 0):
            project = place / str(uid) / "project"
            project.mkdir(parents=True)
            script = project / "run"
            script.write_text("#!/bin/sh\necho ran\n")
            script.chmod(0o700)
            (place / str(uid)).chmod(0o700)
            subprocess.run(["chown", "-R", f"{uid}:{uid}", place / str(uid)], check=True)
        place.chmod(0o755)
        yield place


def in_folder(lab: Lab, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a guest of root's."""
    return run_command(lab.command(*lab.exec_words(*command)), cwd=folder)


@pytest.mark.parametrize("uid", [OWNER, 0])
def test_the_working_folder_may_lie_in_a_closed_home(lab: Lab, homes: Path, uid: int) -> None:
    done = in_folder(lab, homes / str(uid) / "project", "./run")
    assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr


def test_the_home_of_another_stays_closed(lab: Lab, homes: Path) -> None:
    other = str(homes / str(OTHER) / "project/run")
    done = in_folder(lab, homes / str(OWNER) / "project", "cat", other)
    assert done.returncode == 1
    assert "Permission denied" in done.stderr
    assert in_folder(lab, homes / "0", "cat", other).returncode == 1


def test_what_is_hidden_in_a_home_is_empty_in_the_guest(lab: Lab, homes: Path) -> None:
    home = homes / "0"
    (home / ".ssh").mkdir()
    (home / ".ssh/id").write_text("key")
    (home / ".netrc").write_text("password")
    (home / ".gnupg").symlink_to(home / "elsewhere")
    (home / "elsewhere").mkdir()
    (home / "elsewhere/ring").write_text("key")
    script = 'cd "$1" && ls .ssh elsewhere/ && cat .netrc /etc/shadow && ls /run/systemd'
    words = lab.exec_words("sh", "-c", script, "sh", str(home))
    cache = kernels.find(lab.kernel).path.parents[2]
    done = lab.rexmit(*words, env={"HOME": str(home), "REXMIT_CACHE": str(cache)})
    assert done.text == ".ssh:\n\nelsewhere/:\n"
