"""How far what is unknown of a bench moves Table 4 of Ryll 2013, and which bench gives it."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from rexmit import scenario as scenarios
from rexmit.errors import UserError, argument, closest
from rexmit.library.scenario import Settings, texts
from rexmit.options import whole
from rexmit.progress import Hear, Progress, heard
from rexmit.scenario import unknowns as files
from rexmit.scenario.unknowns import Recorded, Unknowns
from rexmit_validate.sensitivity.departures import (
    CELLS,
    Departure,
    Means,
    Row,
    Sensitivity,
    means,
    row,
)
from rexmit_validate.sensitivity.measure import Benches
from rexmit_validate.sensitivity.recorded import pair, recorded_means
from rexmit_validate.sensitivity.search import WIDTH, Search, Start, search

if TYPE_CHECKING:
    from rexmit.cluster import Where

MOST_TOGETHER = 12
"""Departures of a combination."""

QUICK_REPEAT = 4
"""Transfers a cell while benches are searched."""

NEAREST = 10
"""Benches that a search names."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A scenario whose bench has unknowns."""

    base: Path
    file: Path
    known: Unknowns
    folder: Path
    always: tuple[str, ...]
    progress: Progress
    cluster: Where | None

    def benches(self, repeat: int | None, name: str = "") -> Benches:
        always = self.always if repeat is None else (*self.always, f"repeat={repeat}")
        made = Benches(self.base, always, self.folder / name, self.progress, self.cluster)
        made.open()
        return made

    def recorded(self, name: str) -> Recorded:
        for one in self.known.recorded:
            if one.name == name:
                return one
        names = [one.name for one in self.known.recorded]
        near = closest(name, names)
        said = f"did you mean {near!r}? " if near else ""
        raise UserError(
            f"{self.file}: no kernel left rows on a bench {name!r}",
            f"{said}those it has: {', '.join(names) or 'none'}",
            usage=True,
        )


def _asked(
    scenario: str | PathLike[str],
    unknowns: str | PathLike[str] | None,
    losses: int,
    settings: Settings,
    out: str | PathLike[str] | None,
    cluster: Where | None,
    progress: Hear,
) -> _Asked:
    base = scenarios.find(str(scenario))
    beside = base.parent / "unknowns" / base.name
    if unknowns is None and not beside.is_file():
        raise UserError(
            f"{base}: nobody has written down what is unknown of it: there is no {beside}",
            f"write one as for tlp-2013-bench, or name a file with {argument('unknowns')}",
            usage=True,
        )
    file = beside if unknowns is None else Path(unknowns)
    whole("losses", losses, 1, 10**6)
    return _Asked(
        base,
        file,
        files.load(file),
        Path("runs") / f"sensitivity-{base.stem}" if out is None else Path(out),
        (f"loss.segments={losses}", *texts(settings)),
        heard(progress, "benches"),
        cluster,
    )


def sensitivity(
    scenario: str | PathLike[str],
    *,
    unknowns: str | PathLike[str] | None = None,
    losses: int = 5,
    repeat: int | None = None,
    settings: Settings = (),
    out: str | PathLike[str] | None = None,
    cluster: Where | None = None,
    progress: Hear = None,
) -> Sensitivity:
    """Runs a scenario on the model as it is and with each unknown of its bench changed.

    `unknowns` is the file that says what is unknown; where it is None that of the scenario's name
    in the folder unknowns beside it. With so many `losses`, lost segments, and `repeat` transfers a
    cell, or as many as the scenario has; `settings` change the scenario before that. What was
    measured is kept in `out`, below runs/ where it is None, and not measured again. `progress`
    counts benches. Cells run on this machine, or on `cluster` (`local:8`, or `tls://HOST:PORT` of a
    Dask scheduler).

    The answer says of each cell of the table how far it is off the paper's, percent, as written
    down and with each change; and the same of what a real kernel left, where the file names such
    rows, with the model on that bench beside it. Raises UserError.
    """
    asked = _asked(scenario, unknowns, losses, settings, out, cluster, progress)
    rows = [Departure(()), *(Departure((unknown,)) for unknown in asked.known.unknown)]
    kernels = [(one, recorded_means(one, asked.file)) for one in asked.known.recorded]
    benches = asked.benches(repeat)
    asked.progress.start(len(rows) + len(kernels))
    try:
        for one in asked.known.unknown:
            asked.progress.note(f"{one.name}: {one.about}")
        benches.wholes([*(one.settings for one in rows), *(one.set for one, _ in kernels)])
    finally:
        asked.progress.close()
    modelled = [means(benches.measured[one.set].cells, {}) for one, _ in kernels]
    return Sensitivity(
        CELLS,
        tuple(_row(benches, one) for one in rows),
        tuple(
            pair(one, kernel, model) for (one, kernel), model in zip(kernels, modelled, strict=True)
        ),
    )


def _row(benches: Benches, departure: Departure) -> Row:
    found: Means = means(benches.measured[departure.settings].cells, departure.read)
    return row(departure.name, found)


def nearest_benches(
    scenario: str | PathLike[str],
    *,
    together: int = 5,
    start: str | None = None,
    nearest: int = NEAREST,
    width: int = WIDTH,
    unknowns: str | PathLike[str] | None = None,
    losses: int = 5,
    repeat: int | None = None,
    settings: Settings = (),
    out: str | PathLike[str] | None = None,
    cluster: Where | None = None,
    progress: Hear = None,
) -> Search:
    """Searches combinations of the unknowns of a bench for those that give the paper's means.

    At most so many are changed `together`. Of each number of departures the best `width` benches
    are taken further. The `nearest` are named, measured with `repeat` transfers a cell or as many
    as the scenario has; the others are measured with four. With `start`, the name of a bench of the
    file on which a real kernel left rows, means are the kernel's and the model only says what the
    departures change. The rest as for `sensitivity`.
    """
    whole("together", together, 1, MOST_TOGETHER)
    whole("nearest", nearest, 1, 1000)
    whole("width", width, 1, 10_000)
    asked = _asked(scenario, unknowns, losses, settings, out, cluster, progress)
    begin = None
    if start is not None:
        one = asked.recorded(start)
        begin = Start(one.name, one.set, recorded_means(one, asked.file))
    quick, full = asked.benches(QUICK_REPEAT, "search"), asked.benches(repeat)
    changes = asked.known.unknown
    asked.progress.start(1 + len(changes) * (1 + width * (together - 1)) + 1 + nearest)
    try:
        return search(
            quick,
            full,
            changes,
            together=together,
            keep=nearest,
            repeat=repeat,
            start=begin,
            width=width,
        )
    finally:
        asked.progress.close()
