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
from itertools import count
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


_NUMBERS: Final = count()


def listener(
    stack: ExitStack, family: int, address: object, kind: int = socket.SOCK_STREAM
) -> socket.socket:
    """A server of the host."""
    server = stack.enter_context(socket.socket(family, kind))
    server.bind(address)  # type: ignore[arg-type]
    if kind == socket.SOCK_STREAM:
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
    # Where tests are shared out among workers, pytest may ask for one of these more than once.
    folder = user.home / f"host-{next(_NUMBERS)}"
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
        listener(stack, socket.AF_UNIX, str(folder / "datagrams"), socket.SOCK_DGRAM)
        for server in ("socket", "datagrams"):
            (folder / server).chmod(0o777)
        written = folder / "written"
        written.mkdir()
        give(written, 65534 if user.name == "nobody" else os.geteuid())
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
            "send to a socket": ("datagram", str(folder / "datagrams")),
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
            **{name: (name.split()[0], f"{name.split()[1]} {written}") for name in MODES},
            **{
                f"{name} in the share": (name.split()[0], f"{name.split()[1]} /rexmit/scratch")
                for name in MODES
            },
            **{f"call {name}": ("missing", numbers) for name, numbers in MISSING.items()},
            **{f"call {name}": ("missing", numbers) for name, numbers in TRACING.items()},
        }
        yield Host(user, folder, ways)


MODES: Final = (
    *(f"set_id {call}" for call in ("chmod", "fchmod", "fchmodat", "fchmodat2", "open", "openat")),
    *(f"set_id {call}" for call in ("openat2", "temporary", "creat", "mkdir", "mkdirat", "mknod")),
    "set_id mknodat",
    *(f"capability {call}" for call in ("setxattr", "lsetxattr", "fsetxattr")),
)
"""What gives a file more than its owner's rights, in a folder of the caller's."""
NOT_SET_ID: Final = ("set_id mkdir", "set_id mkdirat", "set_id fchmodat2")
"""Folders are made without, so far; and fchmodat2 is of Linux 6.6."""

MISSING: Final = {
    # Other processes, and what the kernel does on a program's behalf.
    "process_vm_readv": "310",
    "process_vm_writev": "311",
    "pidfd_getfd": "438",
    "process_madvise": "440",
    "kcmp": "312",
    "memfd_secret": "447",
    "userfaultfd": "323",
    "io_uring_setup": "425",
    "io_uring_enter": "426",
    "io_uring_register": "427",
    "io_setup": "206",
    "vmsplice": "278",
    "bpf": "321",
    "perf_event_open": "298",
    "keyctl": "250",
    "add_key": "248",
    "request_key": "249",
    "lookup_dcookie": "212",
    "mbind": "237",
    "lsm_set_self_attr": "460",
    # Namespaces and mounts.
    "clone3": "435",
    "unshare": "272",
    "setns": "308",
    "chroot": "161",
    "pivot_root": "155",
    "mount": "165",
    "umount2": "166",
    "open_tree": "428",
    "open_tree_attr": "467",
    "move_mount": "429",
    "fsopen": "430",
    "fsconfig": "431",
    "fsmount": "432",
    "fspick": "433",
    "mount_setattr": "442",
    "statmount": "457",
    "listmount": "458",
    # Files.
    "openat2": "437",
    "setxattr": "188",
    "lsetxattr": "189",
    "fsetxattr": "190",
    "setxattrat": "463",
    "file_setattr": "469",
    "name_to_handle_at": "303",
    "open_by_handle_at": "304",
    "fanotify_init": "300",
    "quotactl": "179",
    "quotactl_fd": "443",
    # Sockets, queues and shared memory.
    "socket": "41",
    "connect": "42",
    "bind": "49",
    "listen": "50",
    "accept": "43",
    "accept4": "288",
    "setsockopt": "54",
    "socketpair of AF_TIPC": "53 30 1 0 0",
    "shmget": "29",
    "shmat": "30",
    "semget": "64",
    "msgget": "68",
    "mq_open": "240",
    # The machine.
    "reboot": "169",
    "kexec_load": "246",
    "kexec_file_load": "320",
    "init_module": "175",
    "finit_module": "313",
    "delete_module": "176",
    "swapon": "167",
    "swapoff": "168",
    "acct": "163",
    "syslog": "103",
    "iopl": "172",
    "ioperm": "173",
    "settimeofday": "164",
    "clock_settime": "227",
    "clock_adjtime": "305",
    "adjtimex": "159",
    "sethostname": "170",
    "setdomainname": "171",
    "vhangup": "153",
    # By their arguments.
    "ioctl TIOCLINUX": "16 1 0x541c -1",
    "ioctl TIOCSETD": "16 1 0x5423 -1",
    "ioctl TIOCCONS": "16 1 0x541d -1",
    "ioctl FS_IOC_SETFLAGS": "16 1 0x40086602 -1",
    "ioctl FIFREEZE": "16 1 0xc0045877 -1",
    "prctl PR_SET_PTRACER": "157 0x59616d61 -1 0 0 0",
    "prctl PR_SET_MM": "157 35 1 0 0 0",
    "personality READ_IMPLIES_EXEC": "135 0x0400000",
    # What later kernels will have.
    **{f"number {number}": str(number) for number in (*range(470, 530), 1000, 0x3FFFFFFF)},
}
"""Calls that are on no list, by number; what is an argument of theirs follows."""
TRACING: Final = {"ptrace": "101", "modify_ldt": "154"}
"""What only a kernel needs."""

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
    *("connect to an abstract socket", "connect to a socket", "send to a socket"),
    *("trace a process", "signal a process", "attach shared memory", "become root"),
    *("become another", "open /dev/mem", "open /dev/kmsg", "write a sysctl", "read /proc/kcore"),
    "read the launcher's environment",
    *(f"make a {name} namespace" for name in NAMESPACES),
    *ALONE,
)
SHARED_NAMES: Final = (
    *(f"{name} in the share" for name in IN_SHARE),
    *("block device in the share", "character device in the share"),
    *(f"{name} in the share" for name in MODES),
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
    seen = [double, plan, *(host.folder / name for name in ("socket", "datagrams", "others"))]
    words = [word for path in seen for word in ("--show", str(path))]
    words += ["--write", str(host.folder / "written")]
    done = host.run("confine", *words, "--", str(double), str(plan))
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("name", [*NAMES, *SHARED_NAMES])
def test_the_kernels_process_does_not_get_out(booted: dict[str, str], name: str) -> None:
    assert booted[name] != "out"


@pytest.mark.parametrize("name", [*(name for name in NAMES if name != "be_root"), *MODES])
def test_a_confined_program_does_not_get_out(
    host: Host, confined: dict[str, str], name: str
) -> None:
    if name == "become root" and host.user.name == "me" and os.geteuid() == 0:
        assert confined[name] == "already", "its files are to be the caller's"
        return
    assert confined[name] != "out"


def test_calls_on_no_list_are_missing(booted: dict[str, str], confined: dict[str, str]) -> None:
    there = {name for name in MISSING if booted[f"call {name}"] == "out"}
    assert there == set(), "for the kernel's process"
    there = {name for name in {**MISSING, **TRACING} if confined[f"call {name}"] == "out"}
    assert there == set(), "for a confined program"


@pytest.mark.usefixtures("confined")
def test_what_a_confined_program_wrote_has_its_owners_rights_only(host: Host) -> None:
    written = [path.lstat().st_mode for path in (host.folder / "written").iterdir()]
    assert written, "nothing was written"
    assert [mode for mode in written if mode & 0o6000] == []


def test_it_was_the_sandbox_that_refused(host: Host, double: Path) -> None:
    """Without it the same ways lead out, or the tests above would show nothing."""
    expected = {
        *("read ~/.ssh/id_ed25519", "read ~/.aws/credentials", "read ~/.netrc"),
        *("connect to a TCP server", "connect to an abstract socket", "connect to a socket"),
        *("signal a process", "attach shared memory", "write the caller's file", "type_into"),
        *("processes", "privileges", "send to a socket"),
        *(name for name in MODES if name.startswith("set_id") and name not in NOT_SET_ID),
        *("call process_vm_readv", "call openat2", "call unshare", "call ptrace"),
        *("call ioctl TIOCSETD", "call personality READ_IMPLIES_EXEC"),
    }
    who: dict[str, Any] = {}
    if host.unprivileged:
        who = {"user": 65534, "group": 65534, "extra_groups": []}
    elif os.geteuid() == 0:
        expected |= {"read another user's file", "become another", "read /etc/shadow"}
    plan = share(host, "free") / "plan.json"
    # Nothing else is tried: no sandbox keeps it from this machine.
    ways = {name: host.ways[name] for name in expected}
    text = json.dumps(ways).replace(str(host.folder / "written"), str(plan.parent))
    plan.write_text(text, encoding="utf-8")
    done = subprocess.run([double, plan], capture_output=True, text=True, check=True, **who)
    found = json.loads(done.stdout)
    assert {name for name in expected if found[name] != "out"} == set()
