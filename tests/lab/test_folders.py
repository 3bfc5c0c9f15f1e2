"""Where a kernel's files lie on the host: a full disk is named, nobody else is in the way."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.lab.conftest import SECONDS, Lab
from tests.processes import run_command


def on_small_shm(
    lab: Lab, prepare: str, *words: str, size: str = "4m", **env: str
) -> subprocess.CompletedProcess[str]:
    """Run rexmit where /dev/shm is a small file system, after a shell script has been at work."""
    own = ("unshare", "--mount") if os.geteuid() == 0 else ("unshare", "--mount", "--map-root-user")
    mount = f"mount -t tmpfs -o size={size},mode=1777 none /dev/shm"
    script = f'{mount} && {prepare} && exec "$@"'
    return run_command(
        [*own, "sh", "-c", script, "sh", *lab.command(*words)],
        env={**lab.user.env, **env},
        cwd=lab.user.home,
        timeout=SECONDS,
    )


@pytest.mark.parametrize("who", ["exec", "run"])
def test_a_full_file_system_is_named(lab: Lab, tmp_path: Path, who: str) -> None:
    words = (
        lab.exec_words("true")
        if who == "exec"
        else lab.run_words(tmp_path / "run", "network=high-speed", "config=tlp", "repeat=1")
    )
    fill = "{ head -c 9000000 /dev/zero > /dev/shm/junk || :; } 2>/dev/null"
    done = on_small_shm(lab, fill, *words, TMPDIR="/dev/shm")  # noqa: S108
    assert done.returncode == (125 if who == "exec" else 1)
    said = done.stderr + done.stdout
    assert "the file system of the kernel's shared folder is full: /dev/shm (it has 4 MiB)" in said
    assert "Traceback" not in said


def test_a_campaign_runs_on_when_shared_memory_is_full(lab: Lab, tmp_path: Path) -> None:
    settings = ("network=high-speed", "config=tlp", "loss.segments=1", "repeat=1")
    words = lab.run_words(tmp_path / "run", *settings, options=("--capture",))
    fill = "{ head -c 9000000 /dev/zero > /dev/shm/junk || :; } 2>/dev/null"
    done = on_small_shm(lab, fill, *words, TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "run" / "captures").iterdir())) == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="it takes another user to be in the way")
def test_names_that_others_have_taken_block_nobody(lab: Lab) -> None:
    squat = (
        'for d in rexmit-x rexmit-$(id -u) rexmit-$(id -u)-x; do mkdir "/dev/shm/$d"; '
        'mkdir "/dev/shm/$d/boot-x"; mkfifo "/dev/shm/$d/lock" "/dev/shm/$d/boot-x/lock"; '
        'chown -R 65534:65534 "/dev/shm/$d"; done'
    )
    done = on_small_shm(lab, squat, *lab.exec_words("echo", "went"))
    assert (done.returncode, done.stdout) == (0, "went\n")


def test_a_folder_of_ones_own_is_used_where_there_is_one(lab: Lab, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    words = lab.exec_words("true")
    assert lab.rexmit(*words, env={"XDG_RUNTIME_DIR": str(tmp_path)}).status == 0
    (folder,) = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert list(folder.iterdir()) == []
