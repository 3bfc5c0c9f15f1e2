"""The kernels that experiments run on: which there are, and building them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

from rexmit import kernels
from rexmit.kernels import checksums, recipe
from rexmit.kernels.build import build
from rexmit.kernels.kernel import Kernel
from rexmit.progress import Hear, heard


@dataclass(frozen=True, slots=True)
class ListedKernel:
    """A kernel of the cache. `kernel` is None where only a damaged folder is left of it.

    `default`: it is used where none is named. `current`: this version of rexmit would build it in
    the same way. `fault` says what is wrong with its files; None where they are those that were
    built.
    """

    name: str
    kernel: Kernel | None
    default: bool
    current: bool
    fault: str | None

    @property
    def has_no_checksums(self) -> bool:
        """Whether its only fault is that an older version of rexmit built it."""
        return self.fault == checksums.NONE_KEPT

    def as_json(self) -> dict[str, Any]:
        """Plain data, with all that is known of the kernel."""
        known = self.kernel.as_json() if self.kernel else {"name": self.name}
        return {**known, "default": self.default, "current": self.current, "fault": self.fault}


def list_kernels() -> list[ListedKernel]:
    """The kernels that have been built, by version, HZ and patches, and then what is left of
    damaged ones. Their files are read, some 10 MB each.
    """
    default = kernels.default()
    found = [
        ListedKernel(k.name, k, k == default, k.current, checksums.fault(k))
        for k in kernels.kernels()
    ]
    remains = [
        ListedKernel(folder.name, None, default=False, current=False, fault="damaged")
        for folder in kernels.remains()
    ]
    return found + remains


def build_kernel(
    source: str | PathLike[str] = recipe.DEFAULT_SERIES,
    *,
    hz: int = recipe.DEFAULT_HZ,
    patches: Sequence[str | PathLike[str]] = (),
    jobs: int | None = None,
    unconfined: bool = False,
    progress: Hear = None,
) -> Kernel:
    """Builds a kernel, unless it has been built already. It takes some minutes.

    `source` is a series of Debian's ("6.1", "6.12"), a source tree or a tarball, which are only
    read; `patches` are files, or names of optional ones of ours. `hz` is 100, 250 or 1000. So many
    `jobs` compilers work at a time, one a core where it is None. `progress` hears of the lines of
    make that are done, and of each phase as a note.

    Building a tree or tarball runs its code, in a sandbox; `unconfined` does without. Raises
    UserError where it cannot be built.
    """
    return built(
        source, hz=hz, patches=patches, jobs=jobs, unconfined=unconfined, progress=progress
    )[0]


def built(
    source: str | PathLike[str],
    *,
    hz: int,
    patches: Sequence[str | PathLike[str]],
    jobs: int | None,
    unconfined: bool,
    progress: Hear,
) -> tuple[Kernel, bool]:
    """The kernel, and whether it was built just now; see `build_kernel`."""
    return build(
        fspath(source),
        hz=hz,
        extra=[fspath(patch) for patch in patches],
        jobs=jobs,
        unconfined=unconfined,
        progress=heard(progress, "steps"),
    )
