"""Kernel sources: Debian's package of a series, a tarball, or a tree of the user's own.

Whatever it is, the build works on a copy of the part that it needs, so a user's tree is only ever
read, and may be in any state: built in, configured, changed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from rexmit.errors import FaultySourceError, UserError
from rexmit.kernels import git, recipe, tarball, worktree
from rexmit.kernels.confine import Confinement
from rexmit.kernels.git import At
from rexmit.kernels.kernel import printable
from rexmit.kernels.newtree import NewTree
from rexmit.kernels.within import read_within

DEBIAN_SOURCES: Final = Path("/usr/src")

# What a user-mode kernel for x86-64 is not made of: 1.2 of 1.7 GB in 6.12. Files that the build
# system reads everywhere are kept (KEPT).
UNUSED: Final = re.compile(
    r"(arch/(?!um/|x86/)[^/]+|Documentation|sound|tools/(testing|perf)"
    r"|drivers/(gpu|media|net/ethernet|net/wireless|scsi|staging|infiniband|usb))/.*"
)
KEPT: Final = re.compile(r"(.*/)?(Kconfig|Makefile|Kbuild|Platform)[^/]*")

_VERSION: Final = re.compile(r"[0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,6}[A-Za-z0-9._+~-]{0,64}")


@dataclass(frozen=True)
class Source:
    """Where a kernel's source comes from."""

    kind: Literal["debian", "tarball", "tree"]
    path: Path
    spec: str
    """What the user called it."""
    at: At | None = None
    """A commit of the tree; None: the tree as it lies there."""

    def __str__(self) -> str:
        """As a kernel keeps it."""
        if self.at is not None:
            return f"commit {self.at.commit} {self.at.repository.absolute()}"
        return f"{self.kind} {self.path}"


def debian(series: str) -> Path:
    """Where Debian's package puts the source of a series."""
    return DEBIAN_SOURCES / f"linux-source-{series}.tar.xz"


def resolve(spec: str, *, missing: Callable[[str], None], at: At | None = None) -> Source:
    """The source that `spec` means: a series, a folder or a tarball; or a commit of a tree's.

    `missing` is called with the name of the Debian package when that is not installed; it installs
    it or raises UserError.
    """
    if recipe.is_series(spec):
        path = debian(spec)
        if not path.exists():
            missing(f"linux-source-{spec}")
        if not path.exists():
            raise UserError(
                f"{path} is not there", f"Does the package linux-source-{spec} hold it elsewhere?"
            )
        return Source("debian", path, spec)
    path = Path(spec).expanduser().absolute()
    if at is not None:
        return Source("tree", path, spec, at)
    if path.is_dir():
        if not (path / "Makefile").is_file() or not (path / "arch" / "um").is_dir():
            raise UserError(f"{spec} is not a kernel source tree (no Makefile or no arch/um)")
        return Source("tree", path, spec)
    if path.is_file():
        return Source("tarball", path, spec)
    raise UserError(
        f"kernel source {spec}: no such file or folder",
        "Give a series (6.1, 6.12), a kernel source tree or a tarball of one.",
    )


def wanted(name: str) -> bool:
    """Whether the build needs the file `name` (relative to the top of the tree)."""
    return not UNUSED.fullmatch(name) or KEPT.fullmatch(name) is not None


def unpack(
    source: Source, tree: NewTree, work: Path, confinement: Confinement, also: Set[str]
) -> str:
    """Copy what the build needs of the source into `tree`, but the files `also`, which patches
    change, into the new folder `work/patched`.

    Returns what identifies the source: a hash of the tarball or of what was copied.
    """

    with NewTree(work / "patched", source.spec) as patched:

        def sort(name: str) -> NewTree | None:
            if name in also:
                return patched
            return tree if wanted(name) else None

        if source.at is not None:
            return git.copy(source.at, sort)
        if source.kind == "tree":
            names = worktree.source_names(source.path, work, confinement)
            return worktree.copy(source.path, names, sort)
        tarball.extract(source.path, sort, source.spec, confinement)
        return tarball_digest(source.path)


def tarball_digest(path: Path) -> str:
    """What identifies a tarball: a hash of it."""
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def version(makefile: str, where: str) -> str:
    """The version that a kernel's top Makefile states, such as `6.12.117`."""
    fields: dict[str, str] = dict(
        re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION) *= *(.*)$", makefile, re.M)
    )
    if not {"VERSION", "PATCHLEVEL"} <= fields.keys():
        raise FaultySourceError(f"{where} is not a kernel source: its Makefile states no version")
    text = f"{fields['VERSION']}.{fields['PATCHLEVEL']}.{fields.get('SUBLEVEL') or '0'}"
    text += fields.get("EXTRAVERSION", "").strip()
    if not _VERSION.fullmatch(text):
        raise FaultySourceError(
            f"{where} is not a kernel source: its Makefile states the version {printable(text)}"
        )
    return text


def tree_version(folders: Iterable[Path], where: str) -> str:
    """The version of an unpacked tree, whose Makefile lies in one of the folders; `where` names it
    in an error."""
    for folder in folders:
        if (text := read_within(folder / "Makefile")) is not None:
            return version(text, where)
    raise FaultySourceError(f"{where} is not a kernel source: it has no Makefile")
