"""What a worker of a cluster needs to run an engine: the kernel that is meant, a core of its own.

A kernel goes by its hash: a worker whose cache has it uses its own, and one that has not is given
it, and keeps it.
"""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from rexmit.cluster import Cluster
from rexmit.engines.engine import Engine, cores
from rexmit.engines.kernel import KernelEngine, find_kernel
from rexmit.errors import UserError
from rexmit.kernels import cache


def shared_kernel(cluster: Cluster, engine: Engine) -> list[object]:
    """The engine's kernel, for `Cluster.run` to hand to all calls; nothing where no worker lacks
    it, and for engines without one.
    """
    if not isinstance(engine, KernelEngine):
        return []
    if all(cluster.everywhere(has_kernel, engine.kernel.hash)):
        return []
    return [cluster.share(packed(engine.kernel.path.parent))]


def has_kernel(digest: str) -> bool:
    """Whether this machine's cache has the kernel with this hash."""
    return any(kernel.hash == digest for kernel in cache.kernels())


def packed(folder: Path) -> bytes:
    """A kernel's folder in an archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
        archive.add(folder, folder.name)
    return buffer.getvalue()


def unpack(archive: bytes, digest: str) -> None:
    """Puts the kernel with this hash out of an archive into this machine's cache, if it is not
    there. Raises UserError where it is damaged.
    """
    with cache.building(digest, waiting=lambda: None) as there:
        if there is not None:
            return
        with cache.workplace() as (folder, _):
            with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
                opened.extractall(folder / "sent", filter="data")
            (sent,) = (folder / "sent").iterdir()
            # Its checksums are those of the machine that sent it, and `install` looks at them.
            if cache.install(sent, sent.name).hash != digest:
                raise UserError(f"the kernel that was sent is not {digest}")


def own(engine: KernelEngine, archives: Sequence[bytes]) -> KernelEngine:
    """The engine with this machine's own kernel and programs. `archives` has the kernel, where some
    worker lacks it. Raises UserError where this machine has another guest program.
    """
    digest = engine.kernel.hash
    if not has_kernel(digest):
        for archive in archives:
            unpack(archive, digest)
    here = KernelEngine.open(find_kernel(digest), [], engine.hang_limit_s)
    if here.guest_hash != engine.guest_hash:
        raise UserError(
            "a worker has another guest program", "install the same rexmit on all machines"
        )
    return replace(here, files=engine.files)


@contextmanager
def on_a_core() -> Iterator[int]:
    """Inside, this worker has a core of its own where there are enough: kernels are pinned, and
    workers of one machine know nothing of each other. Gives the core.
    """
    usable = cores()
    if not hasattr(os, "sched_setaffinity"):
        yield usable[0]
        return
    try:
        from distributed import get_worker

        place = int(get_worker().name)
    except ValueError:
        place = os.getpid()
    core = usable[place % len(usable)]
    os.sched_setaffinity(0, {core})
    try:
        yield core
    finally:
        os.sched_setaffinity(0, usable)
