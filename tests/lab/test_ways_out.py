"""Ways out of the read-only view other than remounting it."""
# ruff: noqa: E501

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.lab.conftest import KERNELS, Lab
from tests.lab.test_read_only import TOOLS, snapshot, treasure
from tests.processes import run_command

__all__ = ["treasure"]


@pytest.fixture
def neighbour(anyone: Lab, treasure: Path) -> Iterator[int]:
    """A process of the same user outside the sandbox, in the treasure's folder, with its file open."""
    nobody: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": []}
    if anyone.user.name != "nobody" or os.geteuid() != 0:
        nobody = {}
    command = ["sh", "-c", "exec 5>>file; sleep 1000"]
    process = subprocess.Popen(command, cwd=treasure, **nobody)
    time.sleep(0.1)
    yield process.pid
    process.kill()
    process.wait()


WAYS_THROUGH_PROC = {
    "its root": 'mount -t hostfs none /tmp/way -o "/proc/$2/root$1" && echo x >> /tmp/way/file && echo out',
    "its folder": 'mount -t hostfs none /tmp/way -o "/proc/$2/cwd" && echo x >> /tmp/way/file && echo out',
}


@pytest.mark.parametrize("way", WAYS_THROUGH_PROC)
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_process_of_the_host_is_no_way_out(
    anyone: Lab, treasure: Path, neighbour: int, way: str, kernel: str
) -> None:
    """hostfs takes any host path as its source, and /proc/PID/root leads back to the host's own,
    writable mounts: the sandbox binds the host's /proc, and root may follow that link."""
    before = snapshot(treasure)
    script = f"{TOOLS}\nmkdir /tmp/way\n{WAYS_THROUGH_PROC[way]}"
    done = Lab(anyone.user, kernel).sh(script, str(treasure), str(neighbour))
    assert "out" not in done.lines
    assert snapshot(treasure) == before


SWAP = """
    mkdir /tmp/way; mount -t hostfs none /tmp/way -o /rexmit/scratch
    echo x > "$REXMIT_SCRATCH/f"
    exec 3< "$REXMIT_SCRATCH/f"     # This mount knows f as a regular file
    rm /tmp/way/f                   # and does not see that it becomes something else.
"""


def test_a_link_put_in_a_files_place_is_no_way_out(
    anyone: Lab, treasure: Path, neighbour: int
) -> None:
    before = snapshot(treasure)
    script = f"""{TOOLS}{SWAP}
        ln -s "/proc/$2/root$1/file" /tmp/way/f
        echo escaped >> /proc/self/fd/3 && echo out
    """
    done = anyone.sh(script, str(treasure), str(neighbour))
    assert "out" not in done.lines
    assert snapshot(treasure) == before


@pytest.fixture
def loop_device(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """A block device of the host, and the file that shows what was written to it."""
    if os.geteuid() != 0:
        pytest.fail("needs root")
    image = tmp_path / "image"
    image.write_bytes(b"precious" * 4096)
    done = run_command(["losetup", "-f", "--show", image])
    if done.returncode != 0:
        pytest.skip(f"this machine lends no loop device: {done.stderr.strip()}")
    device = Path(done.stdout.strip())
    yield device, image
    subprocess.run(["losetup", "-d", device], check=True)


@pytest.mark.parametrize("how", ["link", "node"])
def test_a_block_device_of_the_host_cannot_be_written(
    lab: Lab, loop_device: tuple[Path, Path], how: str
) -> None:
    """A read-only mount does not keep anybody from opening a device for writing; nodev does."""
    device, image = loop_device
    number = device.stat().st_rdev
    make = {
        "link": f"ln -s {device} /tmp/way/f",
        "node": f"mknod /tmp/way/f b {os.major(number)} {os.minor(number)}",
    }
    script = (
        f"{TOOLS}{SWAP}{make[how]}\nprintf escaped | dd of=/proc/self/fd/3 conv=notrunc && echo out"
    )
    done = lab.sh(script)
    os.sync()
    assert "out" not in done.lines
    assert image.read_bytes() == b"precious" * 4096
    assert device.read_bytes()[:8] == b"precious"


def test_keep_brings_no_block_device_of_the_host(
    lab: Lab, loop_device: tuple[Path, Path], tmp_path: Path
) -> None:
    """mknod in the scratch folder makes a node on the host, and --keep copies what it reads from it;
    with `c 1 5` (/dev/zero) it copies until the disk is full."""
    number = loop_device[0].stat().st_rdev
    keep = tmp_path / "keep"
    script = f'mknod "$REXMIT_SCRATCH/disk" b {os.major(number)} {os.minor(number)}; echo > "$REXMIT_SCRATCH/f"'
    lab.sh(script, options=("--keep", str(keep)))
    assert not (keep / "disk").exists() or (keep / "disk").is_block_device()


def test_set_user_id_programs_are_roots_in_everybodys_guest(anyone: Lab) -> None:
    """For an unprivileged caller the host's root-owned files belong to 65534 in the guest, so a
    set-user-ID program gives root's rights up: mount(8), su. (hostfs root without nosuid.)"""
    anyone.sh("mkdir /tmp/way; mount -t tmpfs none /tmp/way && umount /tmp/way").ok()
