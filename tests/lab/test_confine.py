"""`rexmit-guest confine`, what it gives and what it says, and kernels that are none."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.lab.conftest import Lab
from tests.processes import run_command

from rexmit.guest import guest_binary

Done = subprocess.CompletedProcess[str]
Confine = Callable[..., Done]
NO_SANDBOX = 125


@pytest.fixture
def folder(anyone: Lab, tmp_path: Path) -> Path:
    """A folder of the caller's."""
    place = anyone.user.home / f"confine-{tmp_path.name}"
    place.mkdir()
    if anyone.user.name == "nobody" and os.geteuid() == 0:
        os.chown(place, 65534, 65534)
    return place


@pytest.fixture
def confine(anyone: Lab) -> Confine:
    """Runs `rexmit-guest confine` as each user."""
    who: dict[str, Any] = {}
    if anyone.user.name == "nobody" and os.geteuid() == 0:
        who = {"user": 65534, "group": 65534, "extra_groups": []}

    def run(*words: str | Path, prefix: tuple[str, ...] = (), **options: Any) -> Done:  # noqa: ANN401
        guest = anyone.user.env.get("REXMIT_GUEST", str(guest_binary()))
        return subprocess.run(
            [*prefix, guest, "confine", *map(str, words)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd="/",
            **who,
            **options,
        )

    return run


def test_what_it_writes_there_is_the_callers(confine: Confine, folder: Path) -> None:
    script = 'cd "$1" && mkdir d && echo x > d/f && echo out && echo err >&2; touch /usr/x; exit 7'
    done = confine("--write", folder, "--", "sh", "-c", script, "sh", str(folder))
    assert (done.returncode, done.stdout) == (7, "out\n")
    assert done.stderr.startswith("err\n")
    assert (folder / "d/f").read_text() == "x\n"
    assert (folder / "d/f").stat().st_uid == folder.stat().st_uid
    assert not Path("/usr/x").exists()


ORDINARY = """\
set -e
cd "$1"
echo 'int main(void) { return 0; }' > main.c
gcc -o main main.c && ./main
mkdir -p a/b && mkfifo a/pipe && ln -s b a/link && chmod 700 a/b && install -m 755 main a/b/
cp -a a copy && tar -cf a.tar a && mkdir out && tar -xpf a.tar -C out && rm -r a && mv out/a a
touch -d 2020-01-01 main && find . -newer main -name 'c*' | sort | head -n 1
nice -n 5 timeout 60 python3 -c "$2"
"""
POOL = """\
import multiprocessing, os, socket, tempfile
one, other = socket.socketpair()
one.sendall(b"x") or other.recv(1)
with multiprocessing.Pool(2) as pool:
    assert pool.map(abs, [1, -2]) == [1, 2]
with tempfile.TemporaryFile() as file:
    file.write(b"x")
# What stands in the place of a mode where no file is made is none.
import ctypes
assert ctypes.CDLL(None).syscall(2, b"main.c", os.O_RDONLY, 0o6777) >= 0
print("done")
"""


def test_ordinary_programs_miss_no_call(confine: Confine, folder: Path) -> None:
    words = ("sh", "-c", ORDINARY, "sh", str(folder), POOL)
    done = confine("--write", folder, "--", *words)
    assert (done.returncode, done.stdout, done.stderr) == (0, "./copy\ndone\n", "")


def test_home_and_tmp_are_its_own_and_empty(confine: Confine, folder: Path) -> None:
    (folder / "seen").write_text("seen\n")
    script = 'ls -A "$HOME" /tmp/; touch "$HOME/a" /tmp/a && ls -A "$HOME"; echo "$TMPDIR"'
    assert confine("--", "sh", "-c", script).stdout.split() == [
        *("/.rexmit-home:", "/tmp/:", "a", "/tmp"),  # noqa: S108
    ]
    done = confine("--show", folder / "seen", "--", "cat", str(folder / "seen"))
    assert done.stdout == "seen\n"
    done = confine("--show", folder, "--", "touch", str(folder / "new"))
    assert done.returncode == 1, "shown is not writable"


def test_a_hidden_path_can_be_shown(confine: Confine, folder: Path) -> None:
    keys = folder / "home/.ssh"
    keys.mkdir(parents=True)
    for name in ("id", "known_hosts"):
        (keys / name).write_text("x")
    env = {**os.environ, "HOME": str(folder / "home")}
    words = ("--", "ls", str(keys))
    assert confine("--write", folder / "home", *words, env=env).stdout == ""
    done = confine("--write", folder / "home", "--show", keys / "known_hosts", *words, env=env)
    assert done.stdout == "known_hosts\n"


def test_devices_and_processes_are_few(confine: Confine) -> None:
    done = confine("--", "ls", "/dev")
    expected = "fd full null random shm stderr stdin stdout urandom zero"
    assert done.stdout.split() == expected.split()
    assert confine("--", "sh", "-c", "echo $$ /proc/[0-9]*").stdout == "2 /proc/1 /proc/2\n"


def test_a_signal_is_128_and_its_number(confine: Confine) -> None:
    assert confine("--", "sh", "-c", "kill -TERM $$").returncode == 128 + signal.SIGTERM


def test_what_cannot_be_run_is_told(confine: Confine, folder: Path) -> None:
    done = confine("--", "no-such-program", env={"PATH": "/usr/bin:/bin"})
    assert (done.returncode, "no such file" in done.stderr) == (127, True)
    done = confine("--write", folder / "none", "--", "true")
    assert (done.returncode, str(folder / "none") in done.stderr) == (NO_SANDBOX, True)
    assert confine("--", "/etc/passwd").returncode == 126
    assert confine().returncode == NO_SANDBOX
    assert confine("--write", "/proc/self", "--", "true").returncode == NO_SANDBOX


def test_it_ends_with_its_parent(folder: Path) -> None:
    """A lock shows when all of it is gone: every process inside has it open."""
    import fcntl

    lock = (folder / "lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    program = "import os, subprocess, sys; subprocess.run(sys.argv[1:], pass_fds=[{}])"
    words = [str(guest_binary()), "confine", "--", "sh", "-c", "echo on; sleep 1000 & sleep 1000"]
    code = program.format(lock.fileno())
    parent = subprocess.Popen(
        [sys.executable, "-c", code, *words], stdout=subprocess.PIPE, pass_fds=[lock.fileno()]
    )
    assert parent.stdout is not None
    with parent:
        assert parent.stdout.readline() == b"on\n"
        lock.close()
        parent.kill()
    deadline = time.monotonic() + 30
    with (folder / "lock").open("w") as again:
        while True:
            try:
                fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                assert time.monotonic() < deadline, "something of it still runs"
                time.sleep(0.05)


def test_root_without_the_right_to_mount_takes_a_user_namespace(confine: Confine) -> None:
    if os.geteuid() != 0:
        pytest.skip("root can give the right away")
    prefix = ("setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin")
    done = confine("--", "sh", "-c", "cat /etc/shadow; echo in", prefix=prefix)
    assert (done.returncode, done.stdout) == (0, "in\n"), done.stderr


FORBID = "echo 0 > /proc/sys/user/max_user_namespaces"


def test_what_keeps_root_from_it_is_named() -> None:
    """In a user namespace that allows no further ones; there root is root and may even mount."""
    guest = str(guest_binary())
    tries = {
        "": "user.max_user_namespaces is 0",
        "setpriv --bounding-set -sys_admin": "user.max_user_namespaces is 0",
    }
    for prefix, reason in tries.items():
        script = f"{FORBID} && exec {prefix} {guest} confine -- true"
        done = run_command(["unshare", "-r", "sh", "-c", script])
        assert done.returncode == NO_SANDBOX
        assert reason in done.stderr
        assert "without root" not in done.stderr


@pytest.mark.parametrize("content", [b"\x8f\x02\x91 random", b"echo ran\n"])
def test_a_kernel_that_is_none_is_not_handed_to_a_shell(tmp_path: Path, content: bytes) -> None:
    """execvp(3) runs what the kernel calls no program as a script of the shell."""
    kernel, share = tmp_path / "linux", tmp_path / "share"
    kernel.write_bytes(content)
    kernel.chmod(0o755)
    share.mkdir()
    (share / "plan.json").write_text("{}")
    done = run_command([guest_binary(), "boot", "--kernel", kernel, "--share", share])
    assert done.returncode == 126
    assert done.stderr == f"rexmit-guest: cannot run {kernel}: exec format error\n"
    assert done.stdout == ""
