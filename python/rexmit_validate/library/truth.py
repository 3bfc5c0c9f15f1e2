"""Captures whose retransmissions are labelled by the kernel that sent them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexmit.campaign.streams import core_streams
from rexmit.engines.engine import cores
from rexmit.engines.kernel import KernelEngine
from rexmit.options import whole, workers
from rexmit.progress import Hear, Progress, heard
from rexmit.version import version
from rexmit_validate.score.corpus import Corpus, open_corpus
from rexmit_validate.synth.kinds import chosen as kinds_of
from rexmit_validate.synth.kinds import made as made_kinds
from rexmit_validate.truth import corpus, draw
from rexmit_validate.truth.corpus import Tally
from rexmit_validate.truth.draw import Part
from rexmit_validate.truth.kernel import open_engine

if TYPE_CHECKING:
    from rexmit.cluster import Where


@dataclass(frozen=True, slots=True)
class Prepared:
    """A corpus that is ready to be made."""

    folder: Path
    parts: list[Part]
    engine: KernelEngine
    about: dict[str, Any]
    kinds: tuple[str, ...]
    jobs: int | None
    cluster: Where | None = None

    def make(self, progress: Progress) -> Tally:
        """Makes it, whole or not at all. Raises UserError."""
        usable = cores()
        slots = [usable[slot % len(usable)] for slot in range(self.jobs or len(usable))]
        progress.start(sum(len(part.plan["connections"]) for part in self.parts))
        try:
            return corpus.make(
                self.folder,
                self.parts,
                self.engine,
                self.about,
                cores=slots,
                on_part=progress.advance,
                more=self.kinds,
                cluster=self.cluster,
            )
        finally:
            progress.close()


def prepare(
    *,
    kernel: str | None,
    seed: int,
    connections: int,
    out: Path | None,
    kinds: Iterable[str],
    jobs: int | None,
    cluster: Where | None = None,
) -> Prepared:
    """Reads and checks all that a corpus needs. Raises UserError."""
    whole("connections", connections, 1, 250_000)
    whole("seed", seed, 0, 2**64 - 1)
    workers(jobs)
    more = kinds_of(",".join(kinds) or "none")
    engine = open_engine(kernel)
    chosen = engine.kernel
    folder = out or Path("runs") / f"truth-{chosen.version}-{chosen.hz}-{seed}"
    words = ["rexmit", "validate", "truth", "--kernel", kernel or chosen.name, "--seed", str(seed)]
    if more:
        words += ["--kinds", ",".join(more)]
    about: dict[str, Any] = {
        "version": corpus.VERSION,
        "kind": "kernel",
        "seed": seed,
        "command": " ".join([*words, "--connections", str(connections)]),
        "program": f"rexmit {version()}",
        "kernels": [{"name": chosen.name, **chosen.plain()}],
        "guest": engine.guest_hash,
        "kinds": list(more),
    }
    parts = draw.draw_all(core_streams(), seed, connections, made_kinds(more))
    return Prepared(folder, parts, engine, about, more, jobs, cluster)


def truth(
    *,
    kernel: str | None = None,
    seed: int = 1,
    connections: int = 1500,
    out: str | PathLike[str] | None = None,
    kinds: Iterable[str] = (),
    jobs: int | None = None,
    cluster: Where | None = None,
    progress: Hear = None,
) -> Corpus:
    """Makes captures of a real kernel, which records why it sends a segment again, and opens them.

    So many `connections`, drawn from `seed`, cross networks with loss, reordering, delay and
    outages. `kinds` (see `synth_kinds`) adds parts with other hosts and captures. The new folder is
    `out`, below runs/ where it is None. `jobs` kernels run at a time, one a core where it is None;
    or as many as `cluster` has workers (`local:8`, or `tls://HOST:PORT` of a Dask scheduler).
    Raises UserError where the folder is there already, or the kernel is not to be had.
    """
    prepared = prepare(
        kernel=kernel,
        seed=seed,
        connections=connections,
        out=None if out is None else Path(out),
        kinds=kinds,
        jobs=jobs,
        cluster=cluster,
    )
    prepared.make(heard(progress, "connections"))
    return open_corpus(prepared.folder)
