"""Applies patches to the copy of a tree."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from rexmit.errors import FaultySourceError, UserError
from rexmit.kernels.confine import Confinement, Result
from rexmit.kernels.recipe import Patch
from rexmit.kernels.within import files_within, read_within

_MOST_SHOWN: Final = 10_000
_CHANGE: Final = re.compile(
    rb"^(@@ -|(new file|deleted file|old) mode |(rename|copy) from )", re.MULTILINE
)


def files(patches: Iterable[Patch]) -> frozenset[str]:
    """The files that the patches change: they have to be there, whatever the build needs."""
    names: list[str] = []
    for patch in patches:
        text = patch.path.read_text(encoding="utf-8", errors="replace")
        names += re.findall(r"^(?:---|\+\+\+) [^/\s]+/(\S+)", text, re.M)
        names += re.findall(r"^(?:rename|copy) (?:from|to) (\S+)$", text, re.M)
    return frozenset(names)


def applies(patch: Patch, tree: Path, confinement: Confinement) -> bool:
    """Whether the tree can be given the patch, or has it already."""
    return any(
        _run(patch, tree, confinement, "--dry-run", *options).status == 0
        for options in ((), ("--reverse",))
    )


def apply(patch: Patch, tree: Path, version: str, confinement: Confinement) -> str:
    """Apply one patch to the tree. Returns what there is to say about it, mostly nothing.

    A patch that the tree has already is left out and said so. Raises UserError with the part that
    does not apply, if one does not.
    """
    if not _CHANGE.search(patch.path.read_bytes()):
        raise UserError(f"patch {patch.path} holds no change in diff's unified format")
    if _run(patch, tree, confinement, "--reverse", "--dry-run").status == 0:
        return f"{patch.name}: the tree has it already"
    done = _run(patch, tree, confinement, "--no-backup-if-mismatch")
    if done.status == 0:
        return f"{patch.name}: applied, with other lines around it" if "fuzz" in done.text else ""
    parts = [
        line
        for name in sorted(files_within(tree))
        if name.endswith(".rej") and (text := read_within(tree / name, _MOST_SHOWN))
        for line in (f"{name.removesuffix('.rej')}:", *text.rstrip().split("\n"))
    ]
    raise FaultySourceError(
        f"patch {patch.path} does not apply to Linux {version}",
        parts or done.text.strip().split("\n"),
    )


def _run(patch: Patch, tree: Path, confinement: Confinement, *options: str) -> Result:
    # A patch in another format may be a program (ed's).
    command = ["patch", "-p1", "--force", "--unified", "-d", str(tree), *options]
    return confinement.run(
        command,
        write=[tree],
        stdin=patch.path.read_bytes(),
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"},
    )
