"""A kernel that is none: tries to leave the sandbox, from where a guest kernel's process stands.

`boot --kernel` runs it in the kernel's place; `confine` runs it, too. The ways, and what on the
host they lead to, are in plan.json of the shared folder (or the file that its argument names). It
prints `{"way": "what came of it"}`: "out" where the way led out, else why not. Each way is tried in
a process of its own, so that one which is killed for trying does not keep the others from it.
"""

from __future__ import annotations

import ctypes
import errno
import json
import mmap
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long

CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
X32_BIT = 0x40000000
AT_FDCWD = -100


WAYS: dict[str, Callable[[str], None]] = {}
"""By name: each takes what on the host it leads to, and raises where it does not."""


def way(function: Callable[[str], None]) -> Callable[[str], None]:
    """Add one."""
    WAYS[function.__name__] = function
    return function


class RefusedError(Exception):
    """The way is closed."""


def call(number: int, *arguments: object) -> int:
    """A system call by its number; raises where it fails."""
    plain = [
        ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments
    ]
    result = LIBC.syscall(ctypes.c_long(number), *plain)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(result)


def buffer(size: int = 256) -> ctypes.Array[ctypes.c_char]:
    """Zeros for a call to read or write."""
    return ctypes.create_string_buffer(size)


def i386_getpid() -> None:
    """int 0x80: 20 is getpid there, and writev for 64-bit programs."""
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, 20; int 0x80; ret
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    function = ctypes.CFUNCTYPE(ctypes.c_long)(address)
    if function() != os.getpid():
        raise RefusedError("no such calls")


@way
def read(path: str) -> None:
    """Read something of it: an empty file tells nothing."""
    if not Path(path).read_bytes():
        raise RefusedError("empty")


@way
def append(path: str) -> None:
    """Write to a file."""
    with Path(path).open("ab") as file:
        file.write(b"escaped\n")


def connect(family: int, address: object) -> None:
    """Reach somebody who listens."""
    with socket.socket(family, socket.SOCK_STREAM) as caller:
        caller.settimeout(5)
        caller.connect(address)  # type: ignore[arg-type]


@way
def inet(port: str) -> None:
    """A server of the host."""
    connect(socket.AF_INET, ("127.0.0.1", int(port)))


@way
def abstract(name: str) -> None:
    """A server of the host, at no path."""
    connect(socket.AF_UNIX, f"\0{name}")


@way
def named(path: str) -> None:
    """A server of the host, at a path."""
    connect(socket.AF_UNIX, path)


@way
def datagram(path: str) -> None:
    """A server of the host, at a path, from a pair of sockets that never had one."""
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with one, other:
        one.sendmsg([b"escaped"], [], 0, path)


@way
def vsock(_: str) -> None:
    """The machine under this one."""
    with socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM):
        pass


@way
def packet(_: str) -> None:
    """The network's cards."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW):
        pass


@way
def interfaces(_: str) -> None:
    """The host's cards by name: the loopback of an empty network is not the host's."""
    lines = Path("/proc/net/dev").read_text(encoding="utf-8").splitlines()[2:]
    if not {line.split(":")[0].strip() for line in lines} - {"lo"}:
        raise RefusedError("an empty network")


@way
def device(path: str) -> None:
    """A device: opened here, or made and opened."""
    if Path(path).exists():
        os.close(os.open(path, os.O_RDONLY))
        return
    made = f"/rexmit/scratch/{os.getpid()}"
    os.mknod(made, 0o600 | 0o020000, os.makedev(1, 1))
    os.close(os.open(made, os.O_RDONLY))


@way
def node(kind: str) -> None:
    """A device's node where the host sees it."""
    kinds = {"block": 0o060000, "character": 0o020000}
    os.mknod(f"/rexmit/scratch/node-{kind}", 0o666 | kinds[kind], os.makedev(1, 3))


@way
def set_user_id(_: str) -> None:
    """A file of the host's root that runs as him: only who is root can make it."""
    made = Path("/rexmit/scratch/root")
    made.write_bytes(b"")
    os.chown(made, 0, 0)
    made.chmod(0o4755)
    if made.stat().st_uid != 0 or not made.stat().st_mode & 0o4000:
        raise RefusedError("it did not stay")


SET_ID: dict[str, Callable[[bytes, int], None]] = {
    "chmod": lambda path, mode: chmod(path, 90, path, mode),
    "fchmod": lambda path, mode: chmod(path, 91, os.open(path, os.O_CREAT), mode),
    "fchmodat": lambda path, mode: chmod(path, 268, AT_FDCWD, path, mode),
    "fchmodat2": lambda path, mode: chmod(path, 452, AT_FDCWD, path, mode, 0),
    "open": lambda path, mode: close(call(2, path, os.O_CREAT | os.O_RDWR, mode)),
    "openat": lambda path, mode: close(call(257, AT_FDCWD, path, os.O_CREAT, mode)),
    "openat2": lambda path, mode: openat2(path, mode),
    "temporary": lambda path, mode: temporary(path, mode),
    "creat": lambda path, mode: close(call(85, path, mode)),
    "mkdir": lambda path, mode: none(call(83, path, mode)),
    "mkdirat": lambda path, mode: none(call(258, AT_FDCWD, path, mode)),
    "mknod": lambda path, mode: none(call(133, path, 0o100000 | mode, 0)),
    "mknodat": lambda path, mode: none(call(259, AT_FDCWD, path, 0o100000 | mode, 0)),
}
"""The calls that give a file its mode."""


def none(_: int) -> None:
    """It was made."""


def close(descriptor: int) -> None:
    """It was made and is open."""
    os.close(descriptor)


def chmod(path: bytes, number: int, *arguments: object) -> None:
    """The mode of a file that is there."""
    os.close(os.open(path, os.O_CREAT))
    call(number, *arguments)


def openat2(path: bytes, mode: int) -> None:
    """The mode lies in memory."""
    how = (ctypes.c_uint64 * 3)(os.O_CREAT | os.O_RDWR, mode, 0)
    close(call(437, AT_FDCWD, path, ctypes.byref(how), ctypes.sizeof(how)))


def temporary(path: bytes, mode: int) -> None:
    """A file without a name, which gets one."""
    descriptor = call(257, AT_FDCWD, os.path.dirname(path), os.O_TMPFILE | os.O_RDWR, mode)  # noqa: PTH120
    call(265, AT_FDCWD, f"/proc/self/fd/{descriptor}".encode(), AT_FDCWD, path, 0x400)


@way
def set_id(target: str) -> None:
    """A file, or a folder, that acts for its owner or group: `CALL FOLDER`."""
    name, folder = target.split(" ", 1)
    os.umask(0)
    failed: OSError | None = None
    for mode in (0o4755, 0o2755, 0o6000):
        made = Path(folder) / f"{name}-{mode:o}"
        try:
            SET_ID[name](bytes(made), mode)
            if made.stat().st_mode & 0o6000:
                return
        except OSError as error:
            failed = error
    raise failed or RefusedError("it did not stay")


@way
def capability(target: str) -> None:
    """A file that gives rights to who runs it: `CALL FOLDER`."""
    name, folder = target.split(" ", 1)
    path = bytes(Path(folder) / f"capability-{name}")
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o755)
    rights = (ctypes.c_uint32 * 5)(0x02000001, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0)
    value = (b"security.capability", ctypes.byref(rights), ctypes.sizeof(rights), 0)
    if name == "fsetxattr":
        call(190, descriptor, *value)
    else:
        call({"setxattr": 188, "lsetxattr": 189}[name], path, *value)


@way
def missing(numbers: str) -> None:
    """A call that no list has: there is none such. `NUMBER [ARGUMENT...]`"""
    number, *arguments = (int(word, 0) for word in numbers.split())
    try:
        call(number, *(arguments or [-1] * 6))
    except OSError as error:
        if error.errno == errno.ENOSYS:
            raise
    # The host's kernel looked at it.


@way
def give_away(_: str) -> None:
    """A file that belongs to another user of the host."""
    made = Path("/rexmit/scratch/given")
    made.write_bytes(b"")
    os.chown(made, 12345, 12345)


@way
def become(uid: str) -> None:
    """Another user."""
    if os.getuid() == int(uid):
        raise RefusedError("already")
    os.setuid(int(uid))


@way
def be_root(_: str) -> None:
    """Root of the host: user 0 of a namespace in which 0 is the host's 0."""
    for line in Path("/proc/self/uid_map").read_text(encoding="utf-8").splitlines():
        inside, outside, count = map(int, line.split())
        if inside <= os.getuid() < inside + count and outside + os.getuid() - inside == 0:
            return
    raise RefusedError("another")


@way
def capabilities(_: str) -> None:
    """Rights over more than files (CAP_DAC_OVERRIDE, bit 1), now or after an exec."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    sets = {line[:6]: int(line.split()[1], 16) for line in lines if line.startswith("Cap")}
    if not any(held & ~2 for held in sets.values()) and sets["CapBnd"] == 0:
        raise RefusedError("none")


@way
def privileges(_: str) -> None:
    """New ones by a set-user-ID program."""
    if "NoNewPrivs:\t1" in Path("/proc/self/status").read_text(encoding="utf-8"):
        raise RefusedError("no_new_privs")


@way
def mount(_: str) -> None:
    """Something else in a file's place."""
    if LIBC.mount(b"none", b"/rexmit/scratch", b"tmpfs", 0, b"") != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


@way
def remount(_: str) -> None:
    """The read-only view, read-write."""
    if LIBC.mount(b"none", b"/usr", b"", 0x20 | 0x1000, b"") != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


@way
def namespaces(flags: str) -> None:
    """New namespaces: rights in them open the kernel's seldom used doors."""
    call(272, int(flags))


@way
def clone_user(_: str) -> None:
    """The same by clone(2)."""
    pid = call(56, CLONE_NEWUSER | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


@way
def clone3_user(_: str) -> None:
    """The same by clone3(2)."""
    words = (ctypes.c_uint64 * 8)(CLONE_NEWUSER, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    pid = call(435, ctypes.byref(words), ctypes.sizeof(words))
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


@way
def trace(pid: str) -> None:
    """Into a process of the host."""
    if LIBC.ptrace(16, int(pid), None, None) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


@way
def kill(pid: str) -> None:
    """End a process of the host."""
    os.kill(int(pid), 0)


@way
def processes(_: str) -> None:
    """See processes of the host: here are the launcher, this one and its parent."""
    found = [path for path in Path("/proc").iterdir() if path.name.isdigit()]
    if len(found) <= 3:
        raise RefusedError("its own")


@way
def launcher(_: str) -> None:
    """Into process 1 of the sandbox, which has stayed what it was."""
    trace("1")


@way
def descriptors(_: str) -> None:
    """Files that the launcher has open, besides the outputs."""
    for path in Path("/proc/self/fd").iterdir():
        try:
            target = str(path.readlink())
        except FileNotFoundError:
            continue
        if int(path.name) > 2 and not target.startswith(("/proc/", "pipe:")):
            return
    raise RefusedError("none")


@way
def x32(_: str) -> None:
    """getpid of x32."""
    if call(39 | X32_BIT) != os.getpid():
        raise RefusedError("another call")


@way
def i386(_: str) -> None:
    """getpid of 32-bit programs."""
    i386_getpid()


@way
def bpf(_: str) -> None:
    """A map: what a program for the kernel begins with."""
    attributes = (ctypes.c_uint32 * 18)(2, 4, 4, 1)
    call(321, 0, ctypes.byref(attributes), ctypes.sizeof(attributes))


@way
def keys(_: str) -> None:
    """The session's keys."""
    call(250, 0, -3, 1)


@way
def userfaultfd(_: str) -> None:
    """The kernel, stopped where one likes."""
    call(323, os.O_CLOEXEC | 1)


@way
def io_uring(_: str) -> None:
    """Calls past the filter."""
    call(425, 4, buffer())


@way
def perf(_: str) -> None:
    """What the processor counts."""
    attributes = buffer(128)
    attributes[4:5] = [b"\x80"]
    call(298, attributes, 0, -1, -1, 0)


@way
def kernel_log(_: str) -> None:
    """What the host's kernel said."""
    call(103, 3, buffer(), 256)


@way
def set_time(_: str) -> None:
    """The host's clock, set to what it shows."""
    now = buffer(16)
    call(228, 0, now)
    call(227, 0, now)


@way
def host_name(_: str) -> None:
    """The host's name, set to what it is."""
    name = os.uname().nodename.encode()
    call(170, name, len(name))


@way
def shared_memory(identifier: str) -> None:
    """System V shared memory of the host."""
    call(30, int(identifier), 0, 0)


@way
def root_folder(_: str) -> None:
    """Files at the root that were not there."""
    append("/escaped")


@way
def by_handle(_: str) -> None:
    """Any file of a file system by its number, past every mount."""
    handle = (ctypes.c_uint32 * 34)(128)
    number = ctypes.c_int()
    call(303, AT_FDCWD, b"/usr", ctypes.byref(handle), ctypes.byref(number), 0)
    folder = os.open("/usr", os.O_RDONLY)
    os.close(call(304, folder, ctypes.byref(handle), os.O_RDONLY))


@way
def type_into(_: str) -> None:
    """A terminal: the call alone, on what is none, fails otherwise where it is let through."""
    try:
        call(16, 1, 0x5412, b"x")
    except OSError as error:
        if error.strerror != "Inappropriate ioctl for device":
            raise
    # The filter lets it through.


def attempt(name: str, target: str) -> str:
    """Try one way in a process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            WAYS[name](target)
            said = "out"
        except RefusedError as refused:
            said = str(refused)
        except OSError as error:
            said = error.strerror or str(error)
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    return said or f"ended by {signal.Signals(os.WTERMSIG(status)).name}"


def main() -> None:
    """Try all that the plan names: [way, target] under a name of its own."""
    where = sys.argv[1] if "=" not in sys.argv[1] else "/rexmit/plan.json"
    plan = json.loads(Path(where).read_text(encoding="utf-8"))
    found = {name: attempt(how, target) for name, (how, target) in plan.items()}
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
