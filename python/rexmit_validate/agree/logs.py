"""Random cases run on a kernel, whose packet logs are kept in a folder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rexmit import configuration
from rexmit.campaign.streams import core_streams
from rexmit.engines.engine import cores
from rexmit.engines.has import has
from rexmit.engines.kernel import KernelEngine, find_kernel
from rexmit.errors import UserError
from rexmit.kernels.kernel import Kernel
from rexmit.kernels.room import room
from rexmit.progress import Progress
from rexmit_validate.agree import kernel as side
from rexmit_validate.agree import on_cluster
from rexmit_validate.agree.draw import CONGESTION_CONTROLS, SYSCTLS, draw
from rexmit_validate.agree.folder import About, Folder
from rexmit_validate.agree.outcome import Outcome

if TYPE_CHECKING:
    from rexmit.cluster import Where

_MULTIPATH: Final = "net.mptcp.enabled"
"""A setting that kernels with Multipath TCP have."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """So many cases of a seed, over one path or two, on a kernel by its name (None: the newest)."""

    kernel: str | None
    cases: int
    paths: int
    seed: int
    control: str | None = None
    """The congestion control of all; None where it is drawn."""


def kernel_logs(
    wanted: Wanted,
    keep: Path | None,
    jobs: int | None,
    progress: Progress,
    cluster: Where | None = None,
) -> tuple[Folder, About]:
    """Runs what was not run yet, on this machine or on a cluster, into `keep` or a folder below
    runs/. Raises UserError where there is no such kernel, or it has no Multipath TCP for two paths.
    """
    engine = KernelEngine.open(find_kernel(wanted.kernel), [])
    if wanted.paths > 1 and (lack := engine.without_mptcp()) is not None:
        raise UserError(
            f"most cases of two paths are of Multipath TCP, and {lack.why}", lack.remedy
        )
    about = About(
        kernel=engine.kernel.name,
        version=engine.kernel.version,
        hz=engine.kernel.hz,
        kernel_hash=engine.kernel.hash,
        guest_hash=engine.guest_hash,
        seed=wanted.seed,
        paths=wanted.paths,
        room=room_of(engine.kernel.image),
    )
    streams = core_streams()
    there = _there(engine, wanted.paths, wanted.control)
    cases = {
        index: draw(streams, wanted.seed, index, there, paths=wanted.paths)
        for index in range(wanted.cases)
    }
    if wanted.control is not None:
        cases = {
            index: replace(case, congestion_control=wanted.control) for index, case in cases.items()
        }
    paths = f"-paths-{wanted.paths}" if wanted.paths > 1 else ""
    control = f"-{wanted.control}" if wanted.control else ""
    name = f"agree-{about.version}-{about.hz}-{wanted.seed}{paths}{control}"
    folder = Folder.begin(keep or configuration.runs() / name, about, cases)
    done = folder.done()
    left = {number: case for number, case in cases.items() if number not in done}
    progress.start(len(cases), len(cases) - len(left))

    def take(number: int, outcome: Outcome) -> None:
        folder.add(number, outcome)
        progress.advance(1)
        if "error" in outcome:
            progress.failed(cases[number].name, str(outcome["error"]))

    try:
        if cluster is None:
            chosen = cores()[: jobs or len(cores())]
            side.run(left, engine, streams, cores=chosen, on_outcome=take)
        else:
            on_cluster.run(left, engine, cluster, on_outcome=take)
    finally:
        progress.close()
    return folder, about


def room_of(image: Kernel | None) -> dict[str, str]:
    """See `About.room`."""
    if image is None:
        return {}
    major, minor = image.series.split(".")
    return room(image.config, (int(major), int(minor)))


def _there(engine: KernelEngine, paths: int, control: str | None) -> frozenset[str]:
    """What the kernel has of what cases draw. Raises UserError for two paths without Multipath
    TCP, and for a congestion control that it does not have.
    """
    controls = CONGESTION_CONTROLS | ({control} if control else set())
    available = has(engine, SYSCTLS | {_MULTIPATH}, controls)
    if control is not None and control not in available.congestion_controls:
        raise UserError(f"{engine.slug} has no congestion control {control}", "name one it has")
    if paths > 1 and _MULTIPATH not in available.sysctls:
        raise UserError(
            f"most cases of two paths are of Multipath TCP, and {engine.slug} has none",
            "name a kernel that has it, or draw cases of one path",
        )
    return available.sysctls | available.congestion_controls
