"""Captures whose retransmissions are labelled by the kernel that sent them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexmit import configuration
from rexmit.campaign.streams import core_streams
from rexmit.engines.engine import slots
from rexmit.options import given, takes, whole, workers
from rexmit.progress import Hear, Progress, heard
from rexmit.version import version
from rexmit_validate.score.corpus import Corpus, open_corpus
from rexmit_validate.synth.kinds import chosen as kinds_of
from rexmit_validate.synth.kinds import made as made_kinds
from rexmit_validate.truth import corpus, draw
from rexmit_validate.truth.corpus import Tally
from rexmit_validate.truth.kernel import open_engine

if TYPE_CHECKING:
    from rexmit.cluster import Where


@dataclass(frozen=True, slots=True)
class Prepared:
    """A corpus that is ready to be made."""

    folder: Path
    wanted: corpus.Wanted
    jobs: int | None
    cluster: Where | None = None

    def make(self, progress: Progress) -> Tally:
        """Makes it, whole or not at all. Raises UserError."""
        progress.start(sum(len(part.plan["connections"]) for part in self.wanted.parts))
        try:
            return corpus.make(
                self.folder,
                self.wanted,
                cores=slots(self.jobs),
                on_part=progress.advance,
                cluster=self.cluster,
            )
        finally:
            progress.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """What a corpus is made of."""

    kernel: str | None = None
    seed: int = 1
    connections: int = 1500
    kinds: Iterable[str] = ()
    jobs: int | None = None
    cluster: Where | None = None


def prepare(asked: Labelled, out: Path | None) -> Prepared:
    """Reads and checks all that a corpus needs. Raises UserError."""
    whole("connections", asked.connections, 1, 250_000)
    whole("seed", asked.seed, 0, 2**64 - 1)
    workers(asked.jobs)
    more = kinds_of(",".join(asked.kinds) or "none")
    engine = open_engine(asked.kernel)
    chosen, seed = engine.kernel, asked.seed
    folder = out or configuration.runs() / f"truth-{chosen.version}-{chosen.hz}-{seed}"
    words = ["rexmit", "validate", "truth", "--kernel", asked.kernel or chosen.name]
    words += ["--seed", str(seed)]
    if more:
        words += ["--kinds", ",".join(more)]
    about: dict[str, Any] = {
        "version": corpus.VERSION,
        "kind": "kernel",
        "seed": seed,
        "command": " ".join([*words, "--connections", str(asked.connections)]),
        "program": f"rexmit {version()}",
        "kernels": [{"name": chosen.name, **chosen.plain()}],
        "guest": engine.guest_hash,
        "kinds": list(more),
    }
    parts = draw.draw_all(core_streams(), seed, asked.connections, made_kinds(more))
    wanted = corpus.Wanted(parts, engine, about, more)
    return Prepared(folder, wanted, asked.jobs, asked.cluster)


@takes(Labelled)
def truth(
    asked: Labelled | None = None,
    *,
    out: str | PathLike[str] | None = None,
    progress: Hear = None,
    **keywords: object,
) -> Corpus:
    """Makes captures of a real kernel, which records why it sends a segment again, and opens them.

    So many `connections`, drawn from `seed`, cross networks with loss, reordering, delay and
    outages. `kinds` (see `synth_kinds`) adds parts with other hosts and captures. The new folder is
    `out`, below runs/ where it is None. `jobs` kernels run at a time, one a core where it is None;
    or as many as `cluster` has workers (`local:8`, or `tls://HOST:PORT` of a Dask scheduler).
    Raises UserError where the folder is there already, or the kernel is not to be had.
    """
    folder = None if out is None else Path(out)
    prepared = prepare(given(asked, Labelled, keywords), folder)
    prepared.make(heard(progress, "connections"))
    return open_corpus(prepared.folder)
