"""Benches measured on the model, thousands of them: means by cell, kept in a file.

A bench is a scenario with settings. Its transfers are those of `rexmit run` with these settings;
only their means are kept.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rexmit import scenario as scenarios
from rexmit import stacks
from rexmit.analysis.leave_out import reason, to_be_probed
from rexmit.analysis.times import MEASURES
from rexmit.campaign import grid
from rexmit.campaign.identity import digest, identity
from rexmit.campaign.streams import core_streams
from rexmit.campaign.tasks import task
from rexmit.engines.engine import Calls, Engine, Task, cores
from rexmit.engines.model import ModelEngine
from rexmit.engines.on_cluster import ClusterEngine
from rexmit.errors import UserError
from rexmit.progress import Progress
from rexmit.scenario import Scenario, effective
from rexmit.scenario.stacks import of_scenario
from rexmit.statistics.spread import spread
from rexmit.store.files import write_text
from rexmit.store.opening import named_folder
from rexmit.store.plain_json import read
from rexmit.store.record import Record
from rexmit.version import version
from rexmit_validate.sensitivity.unknowns import AS_PRINTED

if TYPE_CHECKING:
    from rexmit.cluster import Where

FILE: Final = "benches.json"
FORMAT: Final = 1

_SAVED_SHARE: Final = 16
"""The file is written anew when of this many benches one is not in it."""

READINGS: Final = (*MEASURES, *(f"{measure}_{AS_PRINTED}" for measure in MEASURES))
"""The times that are kept of each cell, `_s` left out."""

Settings = tuple[str, ...]
"""A bench: what is set beyond the scenario, as `rexmit run --set` takes it."""


@dataclass(frozen=True, slots=True)
class CellMeans:
    """A cell: its transfers, those that count, and their mean times by reading, in seconds."""

    network: str
    config: str
    transfers: int
    used: int
    means: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Measured:
    """A bench; `failed` says of each cell without rows why it has none."""

    cells: tuple[CellMeans, ...]
    failed: tuple[str, ...] = ()


def means_of(transfers: pl.DataFrame, to_be_probed: Collection[str]) -> CellMeans:
    """Of the rows of one cell, with the columns that tell which rows count; `to_be_probed` are the
    configurations that leave out what was not."""
    frame = transfers.with_columns(reason(to_be_probed))
    used = frame.filter(pl.col("left_out").is_null())
    return CellMeans(
        network=transfers["network"][0],
        config=transfers["config"][0],
        transfers=frame.height,
        used=used.height,
        means={name: spread(used[f"{name}_s"]).mean_s for name in READINGS},
    )


@dataclass(slots=True)
class Benches:
    """Benches of a scenario, measured when they are asked for, on this machine or on a cluster;
    those in `folder` are not again.
    """

    base: Path
    always: Settings
    folder: Path
    progress: Progress
    cluster: Where | None = None
    measured: dict[Settings, Measured] = field(default_factory=dict)
    _mark: str = ""
    _unsaved: int = 0

    def open(self) -> None:
        """Read what the folder has. What another model or scenario gave is not used."""
        loaded = self._load(())
        engine = ModelEngine.open(version(), of_scenario(loaded, _stack(loaded), None), [])
        self._mark = digest(identity(engine, loaded, capture=False))
        try:
            there = read(self.folder / FILE)
            if (there["format"], there["mark"]) == (FORMAT, self._mark):
                self.measured = dict(map(_read, there["benches"]))
            else:
                self.progress.note(
                    f"{self.folder / FILE}: of another model or scenario, measured anew"
                )
        except FileNotFoundError:
            pass
        except (ValueError, KeyError, TypeError):
            self.progress.note(f"{self.folder / FILE}: it cannot be read, all is measured anew")

    def command(self, settings: Settings) -> str:
        """The command that makes the bench's transfers, to be looked at."""
        from rexmit import escaping

        words = ["rexmit", "run", self.base.stem, "--engine", "model"]
        for setting in (*self.always, *settings):
            words += ["--set", setting]
        return escaping.shell(words)

    def measure(self, wanted: Iterable[Settings]) -> None:
        """Measure those that are not measured. `progress` hears of each that is done.

        Raises UserError where a bench is none.
        """
        benches = list(dict.fromkeys(wanted))
        new = [settings for settings in benches if settings not in self.measured]
        if len(new) < len(benches):
            self.progress.advance(len(benches) - len(new))
        if not new:
            return
        try:
            self._run(new)
        finally:
            self.save()

    def whole(self, settings: Settings) -> Measured:
        """A bench that others are held against. Raises UserError where a cell of it failed."""
        self.wholes([settings])
        return self.measured[settings]

    def wholes(self, wanted: Iterable[Settings]) -> None:
        """Have several such benches measured. Raises UserError where a cell of one failed."""
        benches = list(wanted)
        self.measure(benches)
        for settings in benches:
            if failed := self.measured[settings].failed:
                raise UserError(failed[0], f"to see it: {self.command(settings)}")

    def save(self) -> None:
        """Write the file, if anything is new."""
        if not self._unsaved:
            return
        named_folder(self.folder)
        text = json.dumps(
            {
                "format": FORMAT,
                "mark": self._mark,
                "benches": [
                    {"settings": settings, **asdict(one)} for settings, one in self.measured.items()
                ],
            },
            separators=(",", ":"),
        )
        write_text(self.folder / FILE, text)
        self._unsaved = 0

    def _load(self, settings: Settings) -> Scenario:
        return scenarios.load(self.base, [*self.always, *settings])

    def _run(self, new: list[Settings]) -> None:
        """All cells of all benches through one engine, a few at a time."""
        streams = core_streams()
        chosen: dict[str, stacks.Stack] = {}
        engine: Engine = ModelEngine.open(version(), chosen, [])
        if self.cluster is not None:
            engine = ClusterEngine(engine, self.cluster)
        under_way: dict[int, _Bench] = {}

        def tasks() -> Iterator[Task]:
            number = 0
            for settings in new:
                loaded = self._load(settings)
                own = of_scenario(loaded, _stack(loaded), None)
                cells = list(grid.cells(loaded))
                bench = _Bench(settings, len(cells), to_be_probed(effective(loaded)))
                for cell in cells:
                    one = task(loaded, cell, streams, hz=own[cell.config].hz, capture=False)
                    # Benches have stacks of their own for configurations of the same names.
                    name = f"{number} {cell.config}"
                    chosen[name] = own[cell.config]
                    under_way[number] = bench
                    bench.known[number] = _knowledge(cell)
                    yield Task(number, one.label, name, one.repeat, one.seed, one.plan)
                    number += 1

        def keep(record: Record, _captures: Path | None) -> None:
            bench = under_way.pop(record.cell)
            bench.take(record)
            if bench.left:
                return
            self.measured[bench.settings] = bench.result()
            self._unsaved += 1
            self.progress.advance(1)
            if self._unsaved * _SAVED_SHARE >= len(self.measured):
                self.save()

        engine.run(tasks(), Calls(on_transfers=lambda _more: None, on_end=keep), jobs=len(cores()))


class _Bench:
    """A bench under way."""

    def __init__(self, settings: Settings, cells: int, to_be_probed: Collection[str]) -> None:
        self.settings = settings
        self.to_be_probed = to_be_probed
        self.left = cells
        self.known: dict[int, dict[str, Any]] = {}
        self._means: dict[int, CellMeans] = {}
        self._failed: dict[int, str] = {}

    def take(self, record: Record) -> None:
        """A cell has ended."""
        self.left -= 1
        if record.failed is not None:
            self._failed[record.cell] = f"{record.failed.label}: {record.failed.message}"
            return
        known = self.known[record.cell]
        rows = record.tables["transfers"]
        self._means[record.cell] = means_of(
            rows.with_columns(pl.lit(value).alias(name) for name, value in known.items()),
            self.to_be_probed,
        )

    def result(self) -> Measured:
        """All of them, when none is left."""
        return Measured(
            tuple(self._means[number] for number in sorted(self._means)),
            tuple(self._failed[number] for number in sorted(self._failed)),
        )


def _knowledge(cell: grid.Cell) -> dict[str, Any]:
    """What rows lack that tell which of them count."""
    return {"network": cell.network, "config": cell.config, "line_loss": cell.line_loss}


def _stack(scenario: Scenario) -> str:
    return scenario.stack.get("name", stacks.DEFAULT)


def _read(plain: dict[str, Any]) -> tuple[Settings, Measured]:
    cells = tuple(CellMeans(**cell) for cell in plain["cells"])
    return tuple(plain["settings"]), Measured(cells, tuple(plain["failed"]))
