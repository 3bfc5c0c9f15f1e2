"""Ways out for a guest kernel that has been taken over: what its own process on the host can do.

A double (double.py) stands in the kernel's place and tries them.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from tests.lab.conftest import User

from rexmit.guest import guest_binary

DOUBLE: Final = Path(__file__).with_name("double.py")
STRANGER: Final = 12345
NAMESPACES: Final = {"user": 0x10000000, "mount": 0x20000, "network": 0x40000000}

Ways = dict[str, tuple[str, str]]
"""By name: the double's way and what it leads to."""


@dataclass(frozen=True)
class Host:
    """What there is on this machine to be reached, and a folder that the caller may write."""

    user: User
    folder: Path
    ways: Ways

    @property
    def unprivileged(self) -> bool:
        """Whether root has to become somebody else to be this user."""
        return self.user.name == "nobody" and os.geteuid() == 0

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the guest program as that user."""
        who: dict[str, Any] = {}
        if self.unprivileged:
            who = {"user": 65534, "group": 65534, "extra_groups": []}
        guest = self.user.env.get("REXMIT_GUEST", str(guest_binary()))
        return subprocess.run(
            [guest, *words],
            env={**os.environ, "HOME": str(self.folder / "home")},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            **who,
        )


def give(folder: Path, uid: int) -> None:
    """Make a folder and all in it somebody's, if it is ours to give."""
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", f"{uid}:{uid}", folder], check=True)


def listener(stack: ExitStack, family: int, address: object) -> socket.socket:
    """A server of the host."""
    server = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
    server.bind(address)  # type: ignore[arg-type]
    server.listen()
    return server


def shared_memory(stack: ExitStack) -> int:
    """System V shared memory that everybody may read."""
    libc = ctypes.CDLL(None, use_errno=True)
    identifier: int = libc.shmget(0, 4096, 0o1666)
    assert identifier >= 0
    stack.callback(libc.shmctl, identifier, 0, None)
    return identifier


@pytest.fixture(scope="module", params=["me", "nobody"])
def host(request: pytest.FixtureRequest) -> Iterator[Host]:
    """Whoever runs the tests and an unprivileged user, and a machine with something to find."""
    user: User = request.getfixturevalue(request.param)
    folder = user.home / "host"
    secrets = {".ssh/id_ed25519": "key", ".aws/credentials": "key", ".netrc": "password"}
    for name, text in {**secrets, ".bash_history": "sudo", "file": "precious"}.items():
        path = folder / "home" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o600)
    give(folder, 65534 if user.name == "nobody" else os.geteuid())
    with ExitStack() as stack:
        tcp = listener(stack, socket.AF_INET, ("127.0.0.1", 0))
        name = f"rexmit-{os.getpid()}"
        listener(stack, socket.AF_UNIX, f"\0{name}")
        listener(stack, socket.AF_UNIX, str(folder / "socket"))
        (folder / "socket").chmod(0o777)
        others = folder / "others"
        others.write_text("of another user")
        others.chmod(0o600)
        give(others, STRANGER)
        words = ["sleep", "1000"]
        who: dict[str, Any] = {"user": 65534} if os.geteuid() == 0 else {}
        neighbour = subprocess.Popen(words, **who)
        stack.callback(neighbour.wait)
        stack.callback(neighbour.kill)
        ways: Ways = {
            **{f"read ~/{name}": ("read", str(folder / "home" / name)) for name in secrets},
            "read /etc/shadow": ("read", "/etc/shadow"),
            "read another user's file": ("read", str(others)),
            "write the caller's file": ("append", str(folder / "home/file")),
            "connect to a TCP server": ("inet", str(tcp.getsockname()[1])),
            "connect to an abstract socket": ("abstract", name),
            "connect to a socket": ("named", str(folder / "socket")),
            "trace a process": ("trace", str(neighbour.pid)),
            "signal a process": ("kill", str(neighbour.pid)),
            "attach shared memory": ("shared_memory", str(shared_memory(stack))),
            "become root": ("become", "0"),
            "become another": ("become", str(STRANGER)),
            "open /dev/mem": ("device", "/dev/mem"),
            "open /dev/kmsg": ("device", "/dev/kmsg"),
            "write a sysctl": ("append", "/proc/sys/vm/swappiness"),
            "read /proc/kcore": ("read", "/proc/kcore"),
            "read the launcher's environment": ("read", "/proc/1/environ"),
            **{
                f"make a {name} namespace": ("namespaces", str(flag))
                for name, flag in NAMESPACES.items()
            },
            **{name: (name, "") for name in ALONE},
            **{f"{name} in the share": (name, "") for name in IN_SHARE},
            **{f"{kind} device in the share": ("node", kind) for kind in ("block", "character")},
        }
        yield Host(user, folder, ways)


ALONE: Final = (
    *("vsock", "packet", "interfaces", "be_root", "capabilities", "privileges", "remount"),
    *("clone_user", "clone3_user", "processes", "launcher", "descriptors", "x32", "i386", "bpf"),
    *("keys", "userfaultfd", "io_uring", "perf", "kernel_log", "set_time", "host_name"),
    *("root_folder", "by_handle", "type_into"),
)
IN_SHARE: Final = ("mount", "set_user_id", "give_away")
NAMES: Final = (
    *("read ~/.ssh/id_ed25519", "read ~/.aws/credentials", "read ~/.netrc", "read /etc/shadow"),
    *("read another user's file", "write the caller's file", "connect to a TCP server"),
    *("connect to an abstract socket", "connect to a socket", "trace a process"),
    *("signal a process", "attach shared memory", "become root", "become another"),
    *("open /dev/mem", "open /dev/kmsg", "write a sysctl", "read /proc/kcore"),
    "read the launcher's environment",
    *(f"make a {name} namespace" for name in NAMESPACES),
    *ALONE,
)
SHARED_NAMES: Final = (
    *(f"{name} in the share" for name in IN_SHARE),
    *("block device in the share", "character device in the share"),
)


@pytest.fixture(scope="module")
def double(host: Host) -> Path:
    """The double as a program."""
    python = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
    path = host.folder / "double"
    path.write_text(f"#!{python} -I\n" + DOUBLE.read_text(encoding="utf-8"), encoding="utf-8")
    path.chmod(0o755)
    return path


def share(host: Host, name: str) -> Path:
    """A shared folder for a boot."""
    folder = host.folder / name
    (folder / "scratch").mkdir(parents=True)
    (folder / "plan.json").write_text(json.dumps(host.ways), encoding="utf-8")
    give(folder, 65534 if host.user.name == "nobody" else os.geteuid())
    return folder


@pytest.fixture(scope="module")
def booted(host: Host, double: Path) -> dict[str, str]:
    """What came of every way in the kernel's place."""
    done = host.run("boot", "--kernel", str(double), "--share", str(share(host, "share")))
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.fixture(scope="module")
def confined(host: Host, double: Path) -> dict[str, str]:
    """What came of every way in a confined program."""
    plan = share(host, "plans") / "plan.json"
    seen = [double, plan, host.folder / "socket", host.folder / "others"]
    words = [word for path in seen for word in ("--show", str(path))]
    done = host.run("confine", *words, "--", str(double), str(plan))
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("name", [*NAMES, *SHARED_NAMES])
def test_the_kernels_process_does_not_get_out(booted: dict[str, str], name: str) -> None:
    assert booted[name] != "out"


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("be_root",)])
def test_a_confined_program_does_not_get_out(
    host: Host, confined: dict[str, str], name: str
) -> None:
    if name == "become root" and host.user.name == "me" and os.geteuid() == 0:
        assert confined[name] == "already", "its files are to be the caller's"
        return
    assert confined[name] != "out"


def test_it_was_the_sandbox_that_refused(host: Host, double: Path) -> None:
    """Without it the same ways lead out, or the tests above would show nothing."""
    plan = share(host, "free") / "plan.json"
    who: dict[str, Any] = {}
    if host.unprivileged:
        who = {"user": 65534, "group": 65534, "extra_groups": []}
    done = subprocess.run([double, plan], capture_output=True, text=True, check=True, **who)
    found = json.loads(done.stdout)
    expected = {
        *("read ~/.ssh/id_ed25519", "read ~/.aws/credentials", "read ~/.netrc"),
        *("connect to a TCP server", "connect to an abstract socket", "connect to a socket"),
        *("signal a process", "attach shared memory", "write the caller's file", "type_into"),
        *("processes", "privileges"),
    }
    if not host.unprivileged and os.geteuid() == 0:
        expected |= {"read another user's file", "become another", "read /etc/shadow"}
    assert {name for name in expected if found[name] != "out"} == set()
