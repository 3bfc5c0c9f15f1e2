"""How a kernel image comes to the machine it runs in: its initramfs, the state it starts from.

To boot takes seconds. So an image is booted once, to where every run begins; the machine pauses
there, its whole state is kept beside the image, and every run goes on from a copy of it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from rexmit.engines.boot import BootOptions, GuestBoot
from rexmit.engines.guest import programs
from rexmit.engines.machine import Machine
from rexmit.errors import UserError
from rexmit.guest import guest_binary
from rexmit.kernels import cache
from rexmit.kernels.images import cpio
from rexmit.kernels.images import programs as files
from rexmit.kernels.kernel import Kernel
from rexmit.store.files import write_bytes
from rexmit.store.opening import inner_folder
from rexmit.store.untrusted import copy_file

PROGRAM: Final = "qemu-system-x86_64"
PACKAGE: Final = "qemu-system-x86"

BOOT_LIMIT_S: Final = 300.0
"""Real seconds that an image may take to boot."""

KEPT: Final = 4
"""States of an image that are kept: they differ in memory, QEMU, guest program."""

_POLL_S: Final = 0.02
_DISTRIBUTIONS: Final = (Path("/usr/lib/tc"), Path("/usr/share/tc"))
"""Where tc looks for the tables of netem's distributions."""

TOOLS: Final = (
    *("sh", "env", "true", "false", "cat", "ls", "sleep", "date", "head", "tail", "wc", "sort"),
    *("grep", "sed", "uname", "dmesg", "ss", "sysctl", "ping", "ethtool", "ip", "nft"),
)
"""What a command in an image finds besides itself, where this machine has it."""


def emulator() -> Path:
    """QEMU for x86-64. Raises UserError where it is not installed."""
    program = shutil.which(PROGRAM)
    if program is None:
        raise UserError(
            f"a kernel image runs in {PROGRAM}, which is not installed",
            f"install it: apt-get install --no-install-recommends {PACKAGE}",
        )
    return Path(program)


@functools.lru_cache(maxsize=32)
def machine(kernel: Kernel, memory: str, guest: Path | None = None) -> Machine:
    """The machine of an image with so much memory, booted if no state of it is kept.

    Raises UserError where QEMU is missing or the image does not boot.
    """
    qemu = emulator()
    guest = guest or guest_binary()
    initrd = kernel.modules.read_bytes() + _own_files(guest)
    digest = hashlib.blake2b(digest_size=8)
    for part in (kernel.hash, hashlib.sha256(initrd).hexdigest(), _version(qemu), memory):
        digest.update(f"{part}\n".encode())
    folder = kernel.folder / "booted" / digest.hexdigest()
    ready = Machine(qemu, folder / "initrd", folder / "state")
    with cache.building(f"booted-{digest.hexdigest()}", waiting=lambda: None):
        if not (folder / "state").is_file():
            _keep(folder, kernel, qemu, initrd, memory, guest)
    with contextlib.suppress(OSError):
        os.utime(folder)
    return ready


def _own_files(guest: Path) -> bytes:

    nginx = Path(programs(["nginx"])["nginx"] or "")
    entries = {
        **files.ACCOUNTS,
        **files.files([nginx]),
        "/init": cpio.file(guest.read_bytes(), executable=True),
        "/root": cpio.FOLDER,
        "/dev": cpio.FOLDER,
    }
    for folder in _DISTRIBUTIONS:
        for path in sorted(folder.glob("*.dist")):
            entries[str(path)] = cpio.file(path.read_bytes())
    return cpio.archive(entries)


def command_files(argv: Sequence[str]) -> bytes:
    """The archive of what a command of this machine needs in an image's guest: itself and the
    files that its arguments name, with libraries, everyday tools, and the working folder."""

    words = (shutil.which(name) for name in (*argv[:1], *TOOLS))
    paths = [Path(word) for word in words if word]
    for word in argv[1:]:
        with contextlib.suppress(OSError, ValueError):
            if Path(word).is_file():
                paths.append(Path(word))
    return cpio.archive({**files.files(paths), str(Path.cwd()): cpio.FOLDER})


def client_files(paths: Iterable[str]) -> bytes:
    """The archive of clients that are programs of this machine."""

    return cpio.archive(files.files(Path(path) for path in paths))


def _version(qemu: Path) -> str:
    done = subprocess.run([qemu, "--version"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(f"{qemu} does not run: {done.stderr.strip()}")
    return done.stdout


def _keep(
    folder: Path, kernel: Kernel, qemu: Path, initrd: bytes, memory: str, guest: Path
) -> None:
    """Boot the image and keep its state in `folder`, whole or not at all."""
    with cache.workplace() as (work, _):
        out = work / "out"
        out.mkdir()
        write_bytes(out / "initrd", initrd)
        fresh = Machine(qemu, out / "initrd", None)
        options = BootOptions(kernel=kernel.path, memory=memory, machine=fresh)
        with GuestBoot(options, {}, guest=guest) as boot:
            end = time.monotonic() + BOOT_LIMIT_S
            while not boot.ended and time.monotonic() < end:
                boot.poll()
                time.sleep(_POLL_S)
            state = boot.channel.path(".") / "state"
            if not boot.ended or boot.exit_status or not state.is_file():
                how = boot.how_it_ended() if boot.ended else f"still at it after {BOOT_LIMIT_S:g} s"
                tail = boot.console_tail() or "its console is empty"
                raise UserError(f"the kernel image {kernel.name} does not boot: {how}", tail)
            copy_file(state, out / "state")
        inner_folder(folder.parent)
        # What is there has no state, and the caller holds the lock.
        shutil.rmtree(folder, ignore_errors=True)
        out.rename(folder)
    states = sorted(folder.parent.iterdir(), key=lambda path: path.stat().st_mtime)
    for old in states[:-KEPT]:
        shutil.rmtree(old, ignore_errors=True)
