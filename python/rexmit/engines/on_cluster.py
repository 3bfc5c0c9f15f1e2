"""Cells on a cluster: each is run whole by some worker, with the engine that was chosen here.

A kernel goes by its hash: a worker whose cache has it uses its own, and one that has not is given
it, and keeps it.
"""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from rexmit.cluster import Call, LostError, open_cluster
from rexmit.engines.engine import Calls, Engine, Lack, Task, cores
from rexmit.engines.kernel import KernelEngine, find_kernel
from rexmit.errors import UserError
from rexmit.kernels import cache
from rexmit.store.files import scratch_folder
from rexmit.store.record import FailedCell, Record

Captures = dict[str, bytes]
"""Files of a cell by name."""


class ClusterEngine:
    """An engine whose cells run on the cluster at an address. Rows are the engine's own."""

    def __init__(self, engine: Engine, address: str) -> None:
        self._engine = engine
        self._address = address

    @property
    def name(self) -> str:
        """See Engine."""
        return self._engine.name

    @property
    def slug(self) -> str:
        """See Engine."""
        return self._engine.slug

    @property
    def words(self) -> list[str]:
        """See Engine."""
        return [*self._engine.words, "--cluster", self._address]

    def identity(self) -> dict[str, Any]:
        """See Engine."""
        return self._engine.identity()

    def hz(self, config: str) -> int:
        """See Engine."""
        return self._engine.hz(config)

    def without_patch(self, name: str) -> Lack | None:
        """See Engine."""
        return self._engine.without_patch(name)

    def without_mptcp(self, config: str) -> Lack | None:
        """See Engine."""
        return self._engine.without_mptcp(config)

    def run(self, tasks: Iterable[Task], calls: Calls, *, jobs: int) -> None:  # noqa: ARG002
        """See Engine. The cluster has as many jobs as it has workers."""
        by_name: dict[str, Task] = {}

        def each() -> Iterator[Call]:
            for task in tasks:
                by_name[str(task.cell)] = task
                yield Call(str(task.cell), run_cell, (self._engine, task))

        def answer(call: Call, given: Any) -> None:  # noqa: ANN401 - see Cluster.run
            task = by_name.pop(call.name)
            if isinstance(given, LostError):
                failed = FailedCell(task.cell, task.label, str(given), [])
                calls.on_end(Record(task.cell, failed=failed), None)
                return
            if isinstance(given, Exception):
                raise given
            record, captures = given
            calls.on_transfers(record.transfers)
            if captures is None:
                calls.on_end(record, None)
                return
            with scratch_folder() as folder:
                for name, content in captures.items():
                    (folder / name).write_bytes(content)
                calls.on_end(record, folder)

        with open_cluster(self._address) as cluster:
            shared = []
            if isinstance(self._engine, KernelEngine):
                digest = self._engine.kernel.hash
                if not all(cluster.everywhere(has_kernel, digest)):
                    shared.append(cluster.share(packed(self._engine.kernel.path.parent)))
            cluster.run(each(), answer, shared=shared)


def has_kernel(digest: str) -> bool:
    """Whether this machine's cache has the kernel with this hash."""
    return any(kernel.hash == digest for kernel in cache.kernels())


def packed(folder: Path) -> bytes:
    """A kernel's folder in an archive."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", compresslevel=1) as archive:
        archive.add(folder, folder.name)
    return made.getvalue()


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
            (found,) = (folder / "sent").iterdir()
            # Its checksums are those of the machine that sent it, and `install` looks at them.
            if cache.install(found, found.name).hash != digest:
                raise UserError(f"the kernel that was sent is not {digest}")


def run_cell(
    engine: Engine, task: Task, archives: Sequence[bytes] = ()
) -> tuple[Record, Captures | None]:
    """What a worker does: runs one cell and gives its record, and its captures where it has some.
    Raises UserError as the engine does.
    """
    if isinstance(engine, KernelEngine):
        engine = _own(engine, archives)
    found: list[tuple[Record, Captures | None]] = []

    def keep(record: Record, captures: Path | None) -> None:
        files = None if captures is None else sorted(captures.glob("*.pcapng"))
        wanted = None if files is None else {path.name: path.read_bytes() for path in files}
        found.append((record, wanted))

    with _on_a_core():
        engine.run([task], Calls(lambda _: None, keep), jobs=1)
    return found[0]


def _own(engine: KernelEngine, archives: Sequence[bytes]) -> KernelEngine:
    """The engine with this machine's own kernel and programs."""
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
def _on_a_core() -> Iterator[None]:
    """Inside, this worker has a core of its own where there are enough: kernels are pinned, and
    workers of one machine know nothing of each other.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    usable = cores()
    try:
        from distributed import get_worker

        place = int(get_worker().name)
    except ValueError:
        place = os.getpid()
    os.sched_setaffinity(0, {usable[place % len(usable)]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, usable)
