"""The programs that building a kernel takes, and getting Debian's package of its source."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from typing import Final

from rexmit.errors import UserError

# Program: the Debian package that has it.
PROGRAMS: Final = {
    "gcc": "gcc",
    "make": "make",
    "ld": "binutils",
    "objcopy": "binutils",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "xz": "xz-utils",
    "patch": "patch",
}
_WAIT_S: Final = 600


def require() -> None:
    """Raise UserError if a program that every build needs is missing."""
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing:
        packages = sorted({PROGRAMS[program] for program in missing})
        raise UserError(
            f"to build a kernel these programs are missing: {', '.join(missing)}",
            f"Install them: sudo apt-get install --no-install-recommends {' '.join(packages)}",
        )


def compiler() -> str:
    """The first line of what the C compiler says of itself."""
    done = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=False)
    first = done.stdout.partition("\n")[0]
    if done.returncode or not first:
        raise UserError(
            f"gcc --version failed (status {done.returncode})", done.stderr.splitlines()
        )
    return first


def name_package(package: str) -> None:
    """Raise UserError that says how to install a missing Debian package."""
    ours = ["or let this command do it: --install"] if _may_install() else []
    raise UserError(
        f"the Debian package {package} is not installed",
        [f"Install it: sudo apt-get install --no-install-recommends {package}", *ours],
    )


def install_package(package: str, *, tell: Callable[[str], object]) -> None:
    """Install a Debian package if this process may, and `tell` that; else raise UserError that says
    how to.
    """
    if not _may_install():
        name_package(package)
    tell(f"Installing the Debian package {package}")
    # Another apt is waited for.
    install = ["apt-get", "-qq", "-o", f"DPkg::Lock::Timeout={_WAIT_S}", "install", "--yes"]
    install += ["--no-install-recommends", package]
    if _quiet(install).returncode:
        _quiet(["apt-get", "-qq", "update"])
        done = _quiet(install)
        if done.returncode:
            raise UserError(
                f"the Debian package {package} cannot be installed",
                [
                    "apt-get says:",
                    *done.stdout.strip().split("\n"),
                    "Any kernel source will do as well: rexmit kernel build FOLDER|TARBALL",
                ],
            )


def _may_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def _quiet(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"},
    )
