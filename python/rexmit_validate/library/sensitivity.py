"""How far what is unknown of a bench moves Table 4 of Ryll 2013, and which bench gives it."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from rexmit import configuration
from rexmit import scenario as scenarios
from rexmit.analysis.leave_out import to_be_probed
from rexmit.analysis.times import MEASURES
from rexmit.errors import UserError, argument, choice
from rexmit.library.scenario import Settings, texts
from rexmit.options import given, takes, whole
from rexmit.progress import Hear, Progress, heard
from rexmit.scenario import effective
from rexmit_validate.sensitivity import unknowns as files
from rexmit_validate.sensitivity.departures import (
    CELLS,
    BenchRow,
    Departure,
    Means,
    Sensitivity,
    means,
    row,
)
from rexmit_validate.sensitivity.measure import Benches
from rexmit_validate.sensitivity.recorded import pair, recorded_means
from rexmit_validate.sensitivity.search import WIDTH, Limits, Search, Start, search
from rexmit_validate.sensitivity.unknowns import Recorded, Unknowns

if TYPE_CHECKING:
    from rexmit.cluster import Where

MOST_TOGETHER = 12
"""Departures of a combination."""

QUICK_REPEAT = 4
"""Transfers a cell while benches are searched."""

NEAREST = 10
"""Benches that a search names."""

HELD_OUT = (*dict.fromkeys(one.network for one in CELLS), *MEASURES)
"""What a search can be made blind to."""


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
        benches = Benches(self.base, always, self.folder / name, self.progress, self.cluster)
        benches.open()
        return benches

    def means_of_kernel(self, one: Recorded) -> Means:
        """What a kernel left, as the scenario counts it."""
        scenario = scenarios.load(self.base, self.always)
        return recorded_means(one, self.file, to_be_probed(effective(scenario)))

    def recorded(self, name: str) -> Recorded:
        for one in self.known.recorded:
            if one.name == name:
                return one
        names = [one.name for one in self.known.recorded]
        raise UserError(
            f"{self.file}: no kernel left rows on a bench {name!r}",
            choice(name, names, "those it has"),
            usage=True,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Benching:
    """How a bench, and what is unknown of it, is measured."""

    unknowns: str | PathLike[str] | None = None
    losses: int = 5
    repeat: int | None = None
    settings: Settings = ()
    cluster: Where | None = None

    def __post_init__(self) -> None:
        whole("losses", self.losses, 1, 10**6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest(Benching):
    """How far combinations are searched."""

    together: int = 5
    start: str | None = None
    nearest: int = NEAREST
    width: int = WIDTH
    hold_out: str | None = None

    def __post_init__(self) -> None:
        Benching.__post_init__(self)
        whole("together", self.together, 1, MOST_TOGETHER)
        whole("nearest", self.nearest, 1, 1000)
        whole("width", self.width, 1, 10_000)
        if self.hold_out is not None and self.hold_out not in HELD_OUT:
            raise UserError(
                f"{argument('hold_out')}: there is no network or time {self.hold_out!r}",
                f"those there are: {', '.join(HELD_OUT)}",
                usage=True,
            )


def _asked(
    scenario: str | PathLike[str],
    how: Benching,
    out: str | PathLike[str] | None,
    progress: Hear,
) -> _Asked:
    base = scenarios.find(str(scenario))
    beside = base.parent / "unknowns" / base.name
    if how.unknowns is None and not beside.is_file():
        raise UserError(
            f"{base}: nobody has written down what is unknown of it: there is no {beside}",
            f"write one as for tlp-2013-bench, or name a file with {argument('unknowns')}",
            usage=True,
        )
    file = beside if how.unknowns is None else Path(how.unknowns)
    return _Asked(
        base,
        file,
        files.load(file),
        configuration.runs() / f"sensitivity-{base.stem}" if out is None else Path(out),
        (f"loss.segments={how.losses}", *texts(how.settings)),
        heard(progress, "benches"),
        how.cluster,
    )


@takes(Benching)
def sensitivity(
    scenario: str | PathLike[str],
    how: Benching | None = None,
    *,
    out: str | PathLike[str] | None = None,
    progress: Hear = None,
    **keywords: object,
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
    how = given(how, Benching, keywords)
    asked = _asked(scenario, how, out, progress)
    rows = [Departure(()), *(Departure((unknown,)) for unknown in asked.known.unknown)]
    kernels = [(one, asked.means_of_kernel(one)) for one in asked.known.recorded]
    benches = asked.benches(how.repeat)
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


def _row(benches: Benches, departure: Departure) -> BenchRow:
    measured: Means = means(benches.measured[departure.settings].cells, departure.read)
    return row(departure.name, measured)


@takes(Nearest)
def nearest_benches(
    scenario: str | PathLike[str],
    how: Nearest | None = None,
    *,
    out: str | PathLike[str] | None = None,
    progress: Hear = None,
    **keywords: object,
) -> Search:
    """Searches combinations of the unknowns of a bench for those that give the paper's means.

    At most so many are changed `together`. Of each number of departures the best `width` benches
    are taken further. The `nearest` are named, measured with `repeat` transfers a cell or as many
    as the scenario has; the others are measured with four. With `start`, the name of a bench of the
    file on which a real kernel left rows, means are the kernel's and the model only says what the
    departures change. `hold_out` is a network or a time of the table: the search does not see its
    means, and each bench has its distance from them as `held_out`. The rest as for `sensitivity`.
    """
    how = given(how, Nearest, keywords)
    asked = _asked(scenario, how, out, progress)
    begin = None
    if how.start is not None:
        one = asked.recorded(how.start)
        begin = Start(one.name, one.set, asked.means_of_kernel(one))
    quick, full = asked.benches(QUICK_REPEAT, "search"), asked.benches(how.repeat)
    changes = asked.known.unknown
    limits = Limits(how.together, how.nearest, how.width, how.hold_out)
    asked.progress.start(
        1 + len(changes) * (1 + limits.width * (limits.together - 1)) + 1 + limits.keep
    )
    try:
        return search(quick, full, changes, limits, repeat=how.repeat, start=begin)
    finally:
        asked.progress.close()
