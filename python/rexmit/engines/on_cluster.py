"""Cells on a cluster: each is run whole by some worker, with the engine that was chosen here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rexmit.cluster import Call, LostError, Where, address_of, open_cluster
from rexmit.engines.engine import Calls, Engine, Lack, Task
from rexmit.engines.kernel import KernelEngine
from rexmit.engines.model import ModelEngine
from rexmit.engines.on_worker import on_a_core, own, shared_kernel
from rexmit.store.files import scratch_folder, write_bytes
from rexmit.store.record import FailedCell, Record

Captures = dict[str, bytes]
"""Files of a cell by name."""


class ClusterEngine:
    """An engine whose cells run on the cluster at an address. Rows are the engine's own."""

    def __init__(self, engine: Engine, cluster: Where) -> None:
        self._engine = engine
        self._address = address_of(cluster)

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
        return [*self._engine.words, *self._address.words]

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

    def without_control(self, config: str, name: str) -> Lack | None:
        """See Engine."""
        return self._engine.without_control(config, name)

    def run(self, tasks: Iterable[Task], calls: Calls, *, jobs: int) -> None:  # noqa: ARG002
        """See Engine. The cluster has as many jobs as it has workers."""
        by_name: dict[str, Task] = {}

        def each() -> Iterator[Call]:
            for task in tasks:
                by_name[str(task.cell)] = task
                yield Call(str(task.cell), run_cell, (_for_one(self._engine, task), task))

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
                    write_bytes(folder / name, content)
                calls.on_end(record, folder)

        make_calls(self._address, self._engine, each(), answer)


def make_calls(
    address: Where, engine: Engine, calls: Iterable[Call], answer: Callable[[Call, Any], None]
) -> None:
    """Makes calls on the cluster at an address, each with the engine's kernel as its last argument
    where a worker lacks it (`on_worker.own`). See Cluster.run.
    """
    with open_cluster(address) as cluster:
        cluster.run(calls, answer, shared=shared_kernel(cluster, engine))


def run_cell(
    engine: Engine, task: Task, archives: Sequence[bytes] = ()
) -> tuple[Record, Captures | None]:
    """What a worker does: runs one cell and gives its record, and its captures where it has some.
    Raises UserError as the engine does.
    """
    if isinstance(engine, KernelEngine):
        engine = own(engine, archives)
    results: list[tuple[Record, Captures | None]] = []

    def keep(record: Record, captures: Path | None) -> None:
        files = None if captures is None else sorted(captures.glob("*.pcapng"))
        wanted = None if files is None else {path.name: path.read_bytes() for path in files}
        results.append((record, wanted))

    with on_a_core():
        engine.run([task], Calls(lambda _: None, keep), jobs=1)
    return results[0]


def _for_one(engine: Engine, task: Task) -> Engine:
    """The engine as one cell needs it, so that not all stacks of a grid travel with each."""
    if isinstance(engine, ModelEngine):
        return replace(engine, stacks={task.config: engine.stacks[task.config]})
    return engine
