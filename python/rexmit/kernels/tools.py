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
    "strip": "binutils",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "xz": "xz-utils",
    "patch": "patch",
}


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
    said = done.stdout.partition("\n")[0]
    if done.returncode or not said:
        raise UserError(f"gcc --version failed (status {done.returncode})", done.stderr or None)
    return said


def install_package(package: str, *, tell: Callable[[str], object]) -> None:
    """Install a Debian package if this process may, and `tell` that; else raise UserError that says
    how to.
    """
    command = f"apt-get install --no-install-recommends {package}"
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise UserError(
            f"the Debian package {package} is not installed", f"Install it: sudo {command}"
        )
    tell(f"Installing the Debian package {package}")
    install = ["apt-get", "-qq", "install", "--yes", "--no-install-recommends", package]
    if _quiet(install).returncode:
        _quiet(["apt-get", "-qq", "update"])
        done = _quiet(install)
        if done.returncode:
            raise UserError(
                f"the Debian package {package} cannot be installed",
                f"apt-get says:\n{done.stdout.strip()}\nAny kernel source will do as well: "
                "rexmit kernel build FOLDER|TARBALL",
            )


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
