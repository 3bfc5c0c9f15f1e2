"""Captures of the model, with the truth of every retransmission."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from rexmit import _core, configuration, escaping
from rexmit.errors import UserError, argument, by_caller
from rexmit.options import given, part, takes, whole, workers
from rexmit.progress import Hear, Progress, heard
from rexmit.stacks import known
from rexmit_validate.score.corpus import Corpus, open_corpus
from rexmit_validate.synth import kinds as of_kinds
from rexmit_validate.synth import make as maker
from rexmit_validate.synth import mixes


@dataclass(frozen=True, slots=True)
class Prepared:
    """A corpus that is ready to be made."""

    order: maker.Order
    folder: Path
    command: str

    @property
    def connections(self) -> int:
        """Of all parts together."""
        return len(self.order.mixes) * len(of_kinds.made(self.order.kinds)) * self.order.connections

    def make(self, progress: Progress) -> maker.Made:
        """Makes it. Raises UserError where the folder is there already or cannot be written."""
        there: dict[str, int] = {}

        def report(part: str, connections: int, _packets: int) -> None:
            # Connections on ports that served before come on top.
            now = min(connections, self.order.connections)
            more = now - there.get(part, 0)
            there[part] = now
            progress.advance(more)

        progress.start(self.connections)
        try:
            return maker.make(self.order, self.folder, self.command, report)
        finally:
            progress.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthetic:
    """What a corpus is made of. Raises UserError (usage) for what there is not, or is out of its
    range.
    """

    connections: int = 1000
    mix: str = "campus"
    """Names with commas, or a TOML file."""
    stacks: Iterable[str] | None = None
    receivers: Iterable[str] | None = None
    """The stacks where it is None."""
    settings: Mapping[str, str] | None = None
    seed: int = 1
    perturb: float = 0.05
    points: Iterable[str] = maker.POINTS
    snaplen: int = 96
    format: str = "pcapng"
    kinds: Iterable[str] = ()
    jobs: int | None = None

    def order(self) -> maker.Order:
        """All that it needs, read and checked."""
        if self.format not in maker.FORMATS:
            raise UserError(
                f"{argument('format')} {self.format}", "there are pcapng and pcap", usage=True
            )
        whole("connections", self.connections, 1, 2**24)
        whole("seed", self.seed, 0, 2**63)
        whole("snaplen", self.snaplen, 54, 65_535)
        part("perturb", self.perturb, 0.5)
        workers(self.jobs)
        named: dict[str, mixes.Mix] = {}
        for name in comma_names(self.mix, argument("mix")):
            named.update(mixes.find(name))
        senders = maker.STACKS if self.stacks is None else _known(self.stacks)
        return maker.Order(
            mixes=named,
            connections=self.connections,
            stacks=senders,
            receivers=senders if self.receivers is None else _known(self.receivers),
            changes=_checked(self.settings or {}),
            seed=self.seed,
            perturb=self.perturb,
            points=_points(self.points),
            snaplen=self.snaplen,
            format=self.format,
            kinds=of_kinds.chosen(",".join(self.kinds) or "none"),
            jobs=self.jobs or len(os.sched_getaffinity(0)),
        )


def prepare(asked: Synthetic, out: Path | None) -> Prepared:
    """Reads and checks all that a corpus needs. Raises UserError."""
    order = asked.order()
    folder = out or configuration.runs() / f"synth-{'-'.join(order.mixes)}-{asked.seed}"
    return Prepared(order, folder, _command(order, asked.mix))


@takes(Synthetic)
def synth(
    asked: Synthetic | None = None,
    *,
    out: str | PathLike[str] | None = None,
    progress: Hear = None,
    **keywords: object,
) -> Corpus:
    """Makes captures of the model's stacks, with the truth of every retransmission, and opens them.

    `connections` of each `mix` (names with commas, or a TOML file) between `stacks` that send and
    `receivers`, captured at `points` (sender, switch, receiver) with `snaplen` bytes of a packet.
    Constants of stacks are off by up to the share `perturb`. `kinds` adds parts with other
    hosts and captures (`synth_kinds`). The same `seed` makes the same bytes.

    Raises UserError for wrong input, or where the folder `out` is there already.
    """
    folder = None if out is None else Path(out)
    prepared = prepare(given(asked, Synthetic, keywords), folder)
    prepared.make(heard(progress, "connections"))
    return open_corpus(prepared.folder)


def synth_mixes() -> dict[str, str]:
    """The mixes that come with rexmit, by name: what each is."""
    return {name: str(mix["about"]) for name, mix in mixes.known().items()}


def synth_kinds() -> dict[str, str]:
    """The kinds of hosts and captures that corpora may have, by name: what each is."""
    return of_kinds.known()


def comma_names(text: str, where: str) -> list[str]:
    """The names between commas. Raises UserError (usage), which begins with `where`, for none."""
    words = [word.strip() for word in text.split(",")]
    if not all(words):
        raise UserError(f"{where} {text}", "give names with commas between them", usage=True)
    return words


def _points(asked: Iterable[str]) -> tuple[str, ...]:
    wanted = list(asked)
    for point in wanted:
        if point not in maker.POINTS:
            there = f"there are {', '.join(maker.POINTS)}, and none"
            at = by_caller(called="`points`", typed="--at")
            raise UserError(f"{at} {point}", there, usage=True)
    return tuple(point for point in maker.POINTS if point in wanted)


def _known(names: Iterable[str]) -> tuple[str, ...]:
    chosen = tuple(names)
    if not chosen:
        raise UserError("no stack is named", "name one, or leave the argument out", usage=True)
    for name in chosen:
        known(name)
    return chosen


def _checked(changes: Mapping[str, str]) -> dict[str, str]:
    for key, value in changes.items():
        try:
            _core.check_setting(key, value)
        except ValueError as error:
            raise UserError(
                f"{argument('settings')} {key}={value}: {error}",
                "see rexmit stacks NAME",
                usage=True,
            ) from error
    return dict(changes)


def _command(order: maker.Order, mix: str) -> str:
    words = [
        *("rexmit", "validate", "synth", "--mix", mix, "--connections", str(order.connections)),
        *("--stacks", ",".join(order.stacks), "--receivers", ",".join(order.receivers)),
        *("--seed", str(order.seed)),
        *(word for key, value in order.changes.items() for word in ("--set", f"{key}={value}")),
        *("--perturb", str(order.perturb), "--at", ",".join(order.points) or "none"),
        *("--snaplen", str(order.snaplen), "--format", order.format),
        *(("--kinds", ",".join(order.kinds)) if order.kinds else ()),
    ]
    return escaping.shell(words)
