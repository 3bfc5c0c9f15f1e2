"""The kernels that experiments run on: which there are, and building them."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Unpack

from rexmit import kernels
from rexmit.engines.boot import MEMORY
from rexmit.engines.image import emulator, machine
from rexmit.kernels import cache, checksums, objects, recipe
from rexmit.kernels.build import Build, BuildKeywords, build
from rexmit.kernels.images.add import add
from rexmit.kernels.kernel import Kernel
from rexmit.options import takes
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

    def as_json(self) -> dict[str, Any]:
        """Plain data, with all that is known of the kernel."""
        known = self.kernel.as_json() if self.kernel else {"name": self.name}
        return {**known, "default": self.default, "current": self.current, "fault": self.fault}


def list_kernels() -> list[ListedKernel]:
    """The kernels that have been built, by version, HZ and patches, and then what is left of
    damaged ones. Their files are read, some 10 MB each.
    """
    default = kernels.default()
    listed = [
        ListedKernel(k.name, k, k == default, k.current, checksums.fault(k))
        for k in kernels.kernels()
    ]
    remains = [
        ListedKernel(folder.name, None, default=False, current=False, fault="damaged")
        for folder in kernels.remains()
    ]
    return listed + remains


@takes(Build)
def build_kernel(
    source: str | PathLike[str] = recipe.DEFAULT_SERIES,
    *,
    progress: Hear = None,
    **keywords: Unpack[BuildKeywords],
) -> Kernel:
    """Builds a kernel, unless it has been built already. It takes some minutes.

    `source` is a series of Debian's ("6.1", "6.12"), a source tree or a tarball, which are only
    read; `patches` are files, or names of optional ones of ours, `configs` fragments of
    configuration, files or names (selftests). `hz` is 100, 250 or 1000. So many
    `jobs` compilers work at a time, one a core where it is None. `progress` hears of the files
    that are compiled, and of each phase as a note.

    Building a tree or tarball runs its code, in a sandbox; `unconfined` does without. With
    `install`, as root, apt-get installs Debian's package of a series where it is missing. Raises
    UserError where it cannot be built.
    """
    return built(source, progress=progress, **keywords)[0]


def add_kernel(
    image: str | PathLike[str],
    *,
    modules: str | PathLike[str] | None = None,
    config: str | PathLike[str] | None = None,
    name: str | None = None,
) -> Kernel:
    """Takes an unmodified kernel image, a bzImage for x86, into the cache, and boots it once.

    `modules` is the folder of its modules (`/lib/modules/VERSION`), where it has any; `config` what
    it was configured with, if that does not lie beside it as `config-VERSION`; `name` what it is
    called from here on, its version where it is None. It runs in QEMU, without a change to it and
    without rights. Raises UserError for what is no image, and where it does not boot.
    """
    return added(image, modules=modules, config=config, name=name)[0]


def remove_kernel(spec: str) -> int:
    """Removes a kernel from the cache: `6.12`, `6.12+NAME`, or the beginning of a name or hash.
    Returns how many bytes that gives back. Raises UserError for what names none.
    """
    kernel = kernels.find(spec)
    cache.discard(kernel)
    return kernel.size


def remove_objects() -> int:
    """Removes the objects that builds of trees have left for the next one, but those of a build
    that runs. Returns how many bytes that gives back.
    """
    return objects.remove_all()


def objects_bytes() -> int:
    """How many bytes such objects take."""
    return objects.size()


def added(
    image: str | PathLike[str],
    *,
    modules: str | PathLike[str] | None,
    config: str | PathLike[str] | None,
    name: str | None,
) -> tuple[Kernel, bool]:
    """The kernel, and whether it was added just now; see `add_kernel`."""
    emulator()
    path = Path(image)
    kernel, new = add(
        path,
        module_folder=None if modules is None else Path(modules),
        config=None if config is None else Path(config),
        name=name,
    )
    try:
        machine(kernel, MEMORY)
    except BaseException:
        if new:
            cache.discard(kernel)
        raise
    return kernel, new


def built(
    source: str | PathLike[str], *, progress: Hear, **keywords: Unpack[BuildKeywords]
) -> tuple[Kernel, bool]:
    """The kernel, and whether it was built just now; see `build_kernel`."""
    return build(fspath(source), progress=heard(progress, "steps"), **keywords)
