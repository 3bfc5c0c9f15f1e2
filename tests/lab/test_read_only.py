"""The guest sees this machine's files and can write none of them, whoever runs it."""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.lab.conftest import KERNELS, Lab

TOOLS = """
    # Copies are not set-user-ID: they keep the guest's root what he is.
    mkdir -p /run/bin; cp "$(command -v mount)" "$(command -v umount)" /run/bin; PATH=/run/bin:$PATH
"""
OPERATIONS = """
    try() {
        name=$1; shift
        if "$@" >/dev/null 2>&1; then echo "done $name"; else echo "refused $name"; fi
    }
    operations() {
        try write    sh -c 'echo x >> "$1/file"' sh "$1"
        try truncate sh -c ': > "$1/file"' sh "$1"
        try create   sh -c ': > "$1/new"' sh "$1"
        try chmod    chmod 777 "$1/file"
        try chown    chown 12345 "$1/file"
        try touch    touch -d 2001-01-01 "$1/file"
        try link     ln "$1/file" "$1/second"
        try symlink  ln -s file "$1/symlink"
        try mkdir    mkdir "$1/newdir"
        try fifo     mknod "$1/fifo" p
        try rename   mv "$1/file" "$1/renamed"
        try unlink   rm -f "$1/other"
        try rmdir    rmdir "$1/empty"
        try script   dd if=/dev/zero of="$1/tool" bs=4 count=1 conv=notrunc
    }
"""
COUNT = OPERATIONS.count("        try ")

ROUTES = {
    "another mount of hostfs": """
        mount -t hostfs none /tmp/way -o "$1"
        operations /tmp/way
    """,
    "hostfs mounted read-write from its root": """
        mount -t hostfs -o rw,/ none /tmp/way || mount -t hostfs none /tmp/way -o /
        operations "/tmp/way$1"
    """,
    "the root remounted, below the layer over /tmp": """
        mount -o remount,rw /
        mkdir /run/way; mount --bind / /run/way; mount -o remount,rw,bind /run/way
        operations "/run/way$1"
    """,
    "the layer over /tmp taken away": """
        mount -o remount,rw /
        umount -l /tmp
        operations "$1"
    """,
    "the working folder of a process": """
        mount -t hostfs none /tmp/way -o "$1"
        cd /tmp/way
        operations /proc/self/cwd
    """,
    "the layer's own lower folder": """
        mount -o remount,rw /
        mkdir -p /run/upper /run/work
        mount --bind "$1" /run/upper 2>/dev/null
        umount -l /tmp
        mount --bind "$1" /run/work; mount -o remount,rw,bind /run/work
        operations /run/work
    """,
}


@dataclass(frozen=True)
class Seen:
    """All of a file that could change."""

    mode: int
    owner: tuple[int, int]
    links: int
    mtime_ns: int
    ctime_ns: int
    content: bytes | str


def snapshot(folder: Path) -> dict[str, Seen]:
    """Everything in a folder."""

    def seen(path: Path) -> Seen:
        found = path.lstat()
        content: bytes | str = ""
        if stat.S_ISREG(found.st_mode):
            content = path.read_bytes()
        elif stat.S_ISLNK(found.st_mode):
            content = str(path.readlink())
        owner = (found.st_uid, found.st_gid)
        return Seen(
            found.st_mode, owner, found.st_nlink, found.st_mtime_ns, found.st_ctime_ns, content
        )

    return {str(path): seen(path) for path in [folder, *folder.rglob("*")]}


@pytest.fixture
def treasure(anyone: Lab, tmp_path: Path) -> Path:
    """A folder on the host that its owner, who runs the guest, may write."""
    folder = anyone.user.home / f"treasure-{tmp_path.name}"
    (folder / "empty").mkdir(parents=True)
    (folder / "file").write_text("precious\n")
    (folder / "other").write_text("precious, too\n")
    (folder / "tool").write_text("#!/bin/sh\nexit 0\n")
    (folder / "tool").chmod(0o755)
    owner = anyone.user.home.stat()
    if anyone.user.name == "nobody" and os.geteuid() == 0:
        subprocess.run(["chown", "-R", "65534:65534", folder], check=True)
    else:
        assert owner.st_uid == os.geteuid()
    return folder


def outcomes(text: str) -> dict[str, str]:
    return {name: outcome for outcome, name in (line.split() for line in text.splitlines())}


@pytest.mark.parametrize("kernel", KERNELS)
def test_no_way_leads_to_a_host_file_that_can_be_written(
    anyone: Lab, treasure: Path, kernel: str
) -> None:
    before = snapshot(treasure)
    # Each way in a mount namespace of its own: none finds what the one before has done.
    ways = [
        f"unshare -m sh -c {shlex.quote(OPERATIONS + way)} sh \"$1\" | sed 's/$/ way-{number}/'"
        for number, way in enumerate(ROUTES.values())
    ]
    script = "\n".join([TOOLS, "mkdir -p /tmp/way", *ways])
    done = Lab(anyone.user, kernel).sh(script, str(treasure))
    for number, route in enumerate(ROUTES):
        own = [line for line in done.lines if line.endswith(f" way-{number}")]
        assert len(own) == COUNT, (route, done.err)
        assert [line for line in own if not line.startswith("refused ")] == [], route
    assert snapshot(treasure) == before


def test_the_same_operations_succeed_where_they_may(anyone: Lab) -> None:
    # Without this the tests above could pass because the operations are wrong.
    prepare = 'cd "$REXMIT_SCRATCH"; echo a >file; echo a >other; echo a >tool; mkdir empty; '
    found = outcomes(anyone.sh(f'{OPERATIONS}\n{prepare} operations "$REXMIT_SCRATCH"').text)
    # No guest can give files of the host away, not even root's.
    may_not = {"chown"}
    assert {name for name, outcome in found.items() if outcome == "refused"} <= may_not
    assert len(found) == COUNT


def test_what_is_written_below_tmp_and_var_stays_in_the_guest(anyone: Lab, treasure: Path) -> None:
    before = snapshot(treasure)
    found = outcomes(anyone.sh(f'{OPERATIONS}\noperations "$1"', str(treasure)).ok().text)
    refused = {name for name, outcome in found.items() if outcome == "refused"}
    assert refused <= {"chown"}, "there is room to write"
    assert snapshot(treasure) == before
    done = anyone.sh("mkdir -p /var/lab-test && echo x > /var/lab-test/f && cat /var/lab-test/f")
    assert done.ok().text == "x\n"
    assert not Path("/var/lab-test").exists()


def test_the_hosts_own_proc_lies_beneath_and_cannot_be_written(anyone: Lab) -> None:
    # Its own value is written, so that nothing comes of it if it is not refused.
    script = f"""{TOOLS}
        guest=$(cat /proc/version)
        umount -l /proc
        [ "$(cat /proc/version)" != "$guest" ] && echo host
        value=$(cat "$1") && echo "$value" > "$1" && echo written
    """
    done = anyone.sh(script, "/proc/sys/vm/swappiness")
    assert "written" not in done.lines
    if done.lines:
        assert done.lines == ["host"]
        assert "Read-only" in done.err or "Permission denied" in done.err
    else:
        assert "No such file" in done.err, "or it is not there at all"


def test_the_hosts_sys_and_dev_cannot_be_written(anyone: Lab) -> None:
    script = f"""{TOOLS}
        umount -l /sys && umount -l /dev/shm && umount -l /dev && echo beneath
        for place in /sys /sys/kernel /dev /dev/shm; do
            touch "$place/lab-test" 2>/dev/null && echo "$place: created"
            mknod "$place/lab-null" c 1 3 2>/dev/null && echo "$place: made a device"
        done
        true
    """
    assert anyone.sh(script).ok().lines == ["beneath"]
    for place in ("/sys", "/sys/kernel", "/dev", "/dev/shm"):  # noqa: S108
        assert not list(Path(place).glob("lab-*"))


def test_a_block_device_of_the_host_is_none_of_the_guests(anyone: Lab) -> None:
    device = Path("/").stat().st_dev
    script = f"""{TOOLS}
        mknod /tmp/disk b "$1" "$2" && echo made
        head -c 512 /tmp/disk > /tmp/sector && echo read
        umount -l /dev/shm && umount -l /dev && echo beneath
        for disk in $(find /dev -type b 2>/dev/null | head -n 8); do
            head -c 512 "$disk" > /tmp/sector && echo "read $disk"
        done
        true
    """
    done = anyone.sh(script, str(os.major(device)), str(os.minor(device))).ok()
    assert done.lines == ["made", "beneath"], "only the node itself, in the guest's memory"


def test_nothing_is_added_to_the_hosts_root(anyone: Lab) -> None:
    before = sorted(Path("/").iterdir())
    script = f"""{TOOLS}
        mount -o remount,rw / && echo remounted
        mkdir /lab-test; touch /lab-file; touch /rexmit/../lab-up; ls /
    """
    done = anyone.sh(script)
    assert sorted(Path("/").iterdir()) == before
    assert {"remounted", "rexmit"} <= set(done.lines)
    assert not [line for line in done.lines if line.startswith("lab-")]


def test_the_guest_has_processes_of_its_own(anyone: Lab) -> None:
    names = anyone.sh("cat /proc/[0-9]*/comm").ok().lines
    assert names[0] == ".rexmit-init"
    assert "pytest" not in names
    assert not [name for name in names if name.startswith("linux")]
