"""Runs the parts of a corpus on a cluster, each on a kernel of its own on some worker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rexmit.cluster import Call, LostError, Where
from rexmit.engines.kernel import KernelEngine
from rexmit.engines.on_cluster import make_calls
from rexmit.engines.on_worker import on_a_core, own
from rexmit.errors import UserError
from rexmit.store.files import scratch_folder, write_bytes
from rexmit.store.opening import inner_folder
from rexmit_validate.truth.draw import DrawnPart
from rexmit_validate.truth.kernel import POINTS, Ran, run_part


@dataclass(frozen=True, slots=True)
class PartFiles:
    """What a part's kernel left, as it comes from a worker: files by their path in the folder."""

    part: DrawnPart
    files: dict[str, bytes]
    start: dict[str, Any]
    end: dict[str, Any]


def run(
    parts: Iterable[DrawnPart],
    engine: KernelEngine,
    cluster: Where,
    *,
    on_part: Callable[[Ran], None],
) -> None:
    """Run every part on the cluster at an address; `on_part` is called for each as it ends, one at
    a time. The first error, or an interrupt, ends it. Raises UserError.
    """

    def answer(call: Call, given: Any) -> None:  # noqa: ANN401 - see Cluster.run
        if isinstance(given, LostError):
            raise UserError(f"part {call.name}: {given}")
        if isinstance(given, Exception):
            raise given
        with scratch_folder() as folder:
            for name, content in given.files.items():
                inner_folder((folder / name).parent)
                write_bytes(folder / name, content)
            on_part(Ran(given.part, folder, given.start, given.end))

    calls = (Call(part.name, run_one, (part, engine)) for part in parts)
    make_calls(cluster, engine, calls, answer)


def run_one(part: DrawnPart, engine: KernelEngine, archives: Sequence[bytes] = ()) -> PartFiles:
    """What a worker does: runs one part. Raises UserError where that fails."""
    here = own(engine, archives)
    parts: list[PartFiles] = []

    def keep(ran: Ran) -> None:
        files: list[Path] = [ran.capture(point) for point in POINTS]
        if ran.part.plan["causes"]:
            files.append(ran.causes_file)
        if ran.waits_file is not None:
            files.append(ran.waits_file)
        by_name = {str(path.relative_to(ran.folder)): path.read_bytes() for path in files}
        parts.append(PartFiles(ran.part, by_name, ran.start, ran.end))

    with on_a_core() as core:
        run_part(part, here, core=core, on_part=keep)
    return parts[0]
