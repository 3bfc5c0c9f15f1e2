"""The version of the installed package, which runs, traces and corpora are signed with, and the
commit that it was made of.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parent


def version() -> str:
    """As its distribution says; `0+unknown` for a source tree that is not installed."""
    # `importlib.metadata` takes four times as long to import as Python to start.
    for folder in filter(os.path.isdir, sys.path):
        for name in os.listdir(folder):  # noqa: PTH208 - pathlib takes longer
            if name.startswith("rexmit-") and name.endswith(".dist-info"):
                return name.removeprefix("rexmit-").removesuffix(".dist-info")
    return "0+unknown"


def commit() -> str | None:
    """The first digits of the commit, with `+dirty` where files differed from it: in a checkout as
    git says now, elsewhere as when the package was made. None where neither is known.
    """
    if (checkout := _checkout()) is not None:
        return _of_checkout(checkout)
    try:
        return (_PACKAGE / "commit").read_text(encoding="utf-8").strip() or None
    except OSError:
        return None


def mended_by() -> str:
    """The command that brings what the package should have and has not."""
    if (checkout := _checkout()) is not None:
        return f"make -C {checkout} setup"
    return "python3 -m pip install --force-reinstall rexmit"


def _checkout() -> Path | None:
    """The checkout that this package is used in, if it is one."""
    folder = _PACKAGE.parents[1]
    return folder if (folder / ".git").exists() and (folder / "crates/python").is_dir() else None


def _of_checkout(checkout: Path) -> str | None:
    import subprocess

    command = ["git", "--no-optional-locks", "-C", str(checkout)]
    command += ["status", "--porcelain=v2", "--branch"]
    try:
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    lines = output.splitlines()
    head = lines[0].rpartition(" ")[2]
    if not head.isalnum():
        return None  # There is no commit yet.
    return head[:12] + ("+dirty" if any(not one.startswith("#") for one in lines) else "")
