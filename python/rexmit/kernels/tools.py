"""The programs that building a kernel takes, and getting Debian's package of its source."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
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


# What `make LLVM=1` takes in place of GNU's.
LLVM: Final = {"clang": "clang", "ld.lld": "lld", "llvm-ar": "llvm"}
_COMPILING: Final = ("as", "ar", "nm", "objcopy", "strip")
# What compilers read of the surroundings.
_VARIABLES: Final = re.compile(
    r"CPATH|C_INCLUDE_PATH|COMPILER_PATH|GCC_EXEC_PREFIX|L(IBRARY|D_LIBRARY|D_RUN)_PATH|LD_PRELOAD"
    r"|(K|KBUILD_|USER|HOST).*FLAGS"
)


def require(*, llvm: bool = False) -> None:
    """Raise UserError if a program that every build needs is missing, or that one by LLVM does."""
    programs = {**PROGRAMS, **LLVM} if llvm else PROGRAMS
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        packages = sorted({programs[program] for program in missing})
        raise UserError(
            f"to build a kernel these programs are missing: {', '.join(missing)}",
            f"Install them: sudo apt-get install --no-install-recommends {' '.join(packages)}",
        )


def compiler(*, llvm: bool = False) -> str:
    """The first line of what the C compiler says of itself."""
    name = "clang" if llvm else "gcc"
    done = subprocess.run([name, "--version"], capture_output=True, text=True, check=False)
    first = done.stdout.partition("\n")[0]
    if done.returncode or not first:
        raise UserError(
            f"{name} --version failed (status {done.returncode})", done.stderr.splitlines()
        )
    return first


def compilers(*, llvm: bool = False) -> str:
    """A hash that changes with the programs that compile, whatever they say of themselves."""
    text = [f"{k}={v}" for k, v in sorted(os.environ.items()) if _VARIABLES.fullmatch(k)]
    programs = [*_COMPILING, "gcc", "ld", *(LLVM if llvm else ())]
    inner = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, check=False)
    for program in [*programs, os.fsdecode(inner.stdout.strip())]:
        if path := shutil.which(program):
            status = Path(path).stat()
            text.append(f"{Path(path).resolve()} {status.st_size} {status.st_mtime_ns}")
    text.append(compiler(llvm=llvm))
    return hashlib.blake2b(os.fsencode("\n".join(text)), digest_size=16).hexdigest()


_ANY_SOURCE = "Any kernel source will do as well: rexmit kernel build FOLDER|TARBALL"


def name_package(package: str) -> None:
    """Raise UserError that says how to install a missing Debian package, or that apt has none."""
    if (there := _alike(package)) is not None:
        raise UserError(
            f"apt knows no Debian package {package}",
            [f"it has {', '.join(there)}", _ANY_SOURCE],
        )
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
                    _ANY_SOURCE,
                ],
            )


def _alike(package: str) -> list[str] | None:
    """Packages of its name but for the version; None where apt has it, or knows of none."""
    if shutil.which("apt-cache") is None:
        return None
    stem = package.rstrip("0123456789.")
    there = _quiet(["apt-cache", "pkgnames", stem]).stdout.split()
    names = sorted(name for name in there if name != package and name.rstrip("0123456789.") == stem)
    return None if package in there else names or None


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
