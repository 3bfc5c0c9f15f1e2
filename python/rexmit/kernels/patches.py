"""Applies patches to the copy of a tree."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from rexmit.errors import UserError
from rexmit.kernels.recipe import Patch


def files(patches: Iterable[Patch]) -> frozenset[str]:
    """The files that the patches change: they have to be there, whatever the build needs."""
    names: list[str] = []
    for patch in patches:
        text = patch.path.read_text(encoding="utf-8", errors="replace")
        names += re.findall(r"^(?:---|\+\+\+) [^/\s]+/(\S+)", text, re.M)
    return frozenset(names)


def apply(patch: Patch, tree: Path, version: str) -> str:
    """Apply one patch to the tree. Returns what there is to say about it, mostly nothing.

    A patch that the tree has already is left out and said so. Raises UserError with the part that
    does not apply, if one does not.
    """
    if _run(patch, tree, "--reverse", "--dry-run").returncode == 0:
        return f"{patch.name}: the tree has it already"
    done = _run(patch, tree, "--no-backup-if-mismatch")
    if done.returncode == 0:
        return f"{patch.name}: applied, with other lines around it" if "fuzz" in done.stdout else ""
    rejects = sorted(tree.rglob("*.rej"))
    parts = [
        f"{path.relative_to(tree).with_suffix('')}:\n{path.read_text(errors='replace').rstrip()}"
        for path in rejects
    ]
    raise UserError(
        f"patch {patch.path} does not apply to Linux {version}",
        "\n".join(parts) or done.stdout.strip(),
    )


def _run(patch: Patch, tree: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["patch", "-p1", "--force", *options, "--input", str(patch.path)],
        cwd=tree,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"},
    )
