"""A whole campaign: the folder, what is done already, the cells that are left, the tables."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from rexmit import interrupt
from rexmit.campaign import grid
from rexmit.campaign.grid import Cell, cells
from rexmit.campaign.identity import differences, identity
from rexmit.campaign.rounds import Round, rounds
from rexmit.campaign.streams import Streams
from rexmit.campaign.tasks import task
from rexmit.engines.engine import Calls, Engine, Task
from rexmit.errors import UserError, argument
from rexmit.interrupt import Interrupted
from rexmit.progress import Progress
from rexmit.scenario import Scenario
from rexmit.store import digests, formats
from rexmit.store.folder import RunFolder
from rexmit.store.record import FailedCell, Record
from rexmit.store.tables import write_tables

if TYPE_CHECKING:
    import polars as pl

UNFINISHED: Final = "unfinished"
"""State of a run that was interrupted, or is at work."""
FAILED: Final = "failed"
"""State of a run whose every cell was tried and some failed; running it again tries those."""
COMPLETE: Final = "complete"
"""State of a run with every row."""


class Precision(Protocol):
    """How narrow what was measured is to be."""

    @property
    def least_seeds(self) -> int:
        """So many are run at any rate."""
        ...

    @property
    def reached(self) -> bool:
        """Whether it is as narrow."""
        ...

    def add(self, part: Round, transfers: pl.DataFrame) -> None:
        """The transfers of a cell under one seed."""
        ...

    def missed(self, seeds: int) -> str:
        """What is to be said where so many seeds, all there are, did not reach it."""
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """What to run, where to, and how."""

    name: str
    scenario: Scenario
    out: Path
    command: str
    version: str
    jobs: int
    capture: bool
    warnings: tuple[str, ...] = ()
    """What a reader of the run should know beforehand."""


@dataclass(slots=True)
class Totals:
    """What run.json says about all cells together; the order they ended in makes no difference."""

    transfers: int = 0
    virtual_ns: int = 0
    cpu_s: float = 0.0
    peak_memory_bytes: int = 0
    late: dict[str, int] = field(default_factory=dict)
    ignored: list[dict[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    failed: list[FailedCell] = field(default_factory=list)

    def add(self, record: Record) -> list[str]:
        """Take one more cell in; gives what has not been said before, in words."""
        self.transfers += record.transfers
        self.virtual_ns += record.virtual_ns
        self.cpu_s += record.cpu_s
        self.peak_memory_bytes = max(self.peak_memory_bytes, record.peak_memory_bytes)
        for name, value in record.late.items():
            before = self.late.get(name, 0)
            self.late[name] = before + value if name == "packets" else max(before, value)
        if record.failed is not None:
            self.failed.append(record.failed)
        notes: list[str] = []
        for entry in record.ignored:
            if entry not in self.ignored:
                self.ignored.append(entry)
                notes.append(f"config {entry['config']}: {entry['setting']}: {entry['why']}")
        for warning in record.warnings:
            if warning not in self.warnings:
                self.warnings.append(warning)
                notes.append(f"warning: {warning}")
        return notes


@dataclass(slots=True)
class CampaignRun:
    """One call of `rexmit run`."""

    request: Request
    engine: Engine
    streams: Streams
    progress: Progress
    totals: Totals = field(default_factory=Totals)
    was_complete: bool = False
    """There was nothing left to do: the folder holds the whole run already."""
    precision: Precision | None = None
    """Seed after seed is run until it is reached."""
    fault: str | None = None
    """What is wrong with the tables of a run that was complete: then it is made again."""

    def run(self) -> dict[str, Any]:
        """Run what is left and give back run.json as it stands then.

        Raises UserError where the folder holds another run or nothing can run, OSError where the
        folder cannot be written. Cells that ended before stay in the folder, interrupted or not.
        """
        request = self.request
        folder = RunFolder(request.out)
        asked = identity(self.engine, request.scenario, capture=request.capture)
        finished = self._finished(folder, asked)
        # A program that was killed at its very end may have left what only an unfinished run needs.
        if finished is not None and not folder.partial.exists():
            return finished
        with interrupt.undone_by(interrupt.nothing), folder.locked():
            # Another may have been at work here since, until just now.
            finished = self._finished(folder, asked)
            if finished is not None:
                folder.drop_partial()
                return finished
            before = folder.read_meta()
            try:
                return self._run(folder, asked, before or {})
            except (UserError, OSError):
                if before is None and not folder.has_records:
                    folder.clear()
                raise

    def _finished(self, folder: RunFolder, asked: Mapping[str, Any]) -> dict[str, Any] | None:
        """run.json if the folder holds the whole run already. Raises UserError for another run."""
        there = folder.read_meta()
        if there is None:
            return None
        _refuse_to_mix(folder, there, asked)
        done = there["state"] == COMPLETE
        self.fault = folder.tables_fault(there) if done else None
        self.was_complete = done and self.fault is None
        return there if self.was_complete else None

    def _run(
        self,
        folder: RunFolder,
        asked: Mapping[str, Any],
        before: Mapping[str, Any],
    ) -> dict[str, Any]:
        request = self.request
        parts = {part.number: part for part in rounds(request.scenario)}
        began = time.monotonic()
        wall_before = float(before.get("wall_s", 0.0))

        def save(state: str, tables: Mapping[str, Any] | None) -> dict[str, Any]:
            meta = self._meta(
                asked,
                state=state,
                created=before.get("created"),
                wall_s=wall_before + time.monotonic() - began,
            )
            if tables is not None:
                meta[digests.KEY] = tables
            folder.write_meta(meta)
            return meta

        def keep(record: Record, captures: Path | None) -> None:
            part = parts[record.cell]
            part.in_tables(record)
            if record.failed is None:
                self._weigh(part, record)
                if captures is not None:
                    folder.take_captures(captures, part.cell.id, part.first)
                folder.add(record)
            else:
                self.progress.failed(record.failed.label, record.failed.message)
            for text in self.totals.add(record):
                self.progress.note(text)

        left = dict(parts)
        for record in folder.records(damaged=self.progress.note):
            self._weigh(left.pop(record.cell), record)
            self.totals.add(record)
        if self.fault is not None:
            self.progress.note(f"{self.fault}: the run is made again")
        # Tables that are there are those of an earlier try.
        earlier = before.get(digests.KEY)
        save(UNFINISHED, earlier)
        transfers = grid.transfers(part.cell for part in parts.values())
        self.progress.start(transfers, self.totals.transfers)
        try:
            calls = Calls(on_transfers=self.progress.advance, on_end=keep)
            for batch in self._batches(list(left.values())):
                self.engine.run(map(self._task, batch), calls, jobs=request.jobs)
        except Interrupted:
            save(UNFINISHED, earlier)
            raise
        finally:
            self.progress.close()
        if earlier is not None:
            # A program that is killed while it writes leaves no digests of other tables.
            save(UNFINISHED, None)
        write_tables(
            folder.path,
            folder.records(),
            lambda number: _knowledge(request.scenario, parts[number].cell),
        )
        digests_of_tables = folder.table_digests()
        if self.totals.failed:
            return save(FAILED, digests_of_tables)
        # What is whole has nothing beside it: a signal between these two comes too late.
        with interrupt.spared(lambda _number: True):
            meta = save(COMPLETE, digests_of_tables)
            folder.drop_partial()
        return meta

    def _weigh(self, part: Round, record: Record) -> None:
        if self.precision is not None:
            self.precision.add(part, record.tables["transfers"])

    def _batches(self, left: list[Round]) -> Iterator[list[Round]]:
        """All that is left; with a precision first what is left of the least number of seeds, then
        seed after seed until it is reached. What was begun of a seed is ended: which rows there are
        does not depend on interruptions.
        """
        if self.precision is None:
            yield left
            return
        seeds = self.request.scenario.all_seeds
        whole = len(cells(self.request.scenario))
        at_once = set(seeds[: self.precision.least_seeds])
        for _, parts in groupby(left, lambda part: "first" if part.seed in at_once else part.seed):
            batch = list(parts)
            if batch[0].seed not in at_once and len(batch) == whole and self.precision.reached:
                return
            yield batch
        if not self.precision.reached:
            self._say(self.precision.missed(len(seeds)))

    def _say(self, warning: str) -> None:
        self.totals.warnings.append(warning)
        self.progress.note(f"warning: {warning}")

    def _task(self, part: Round) -> Task:
        work = task(
            self.request.scenario,
            part.cell,
            self.streams,
            hz=self.engine.hz(part.cell.config),
            capture=self.request.capture,
            seed=part.seed,
        )
        return replace(work, cell=part.number, label=part.label)

    def _meta(
        self, asked: Mapping[str, Any], *, state: str, created: str | None, wall_s: float
    ) -> dict[str, Any]:
        request, totals = self.request, self.totals
        configs = request.scenario.config_names
        return {
            "format": formats.RUN,
            "state": state,
            "name": request.name,
            "rexmit": request.version,
            "created": created or datetime.now(UTC).isoformat(timespec="seconds"),
            "command": request.command,
            **asked,
            "jobs": request.jobs,
            "wall_s": round(wall_s, 3),
            "virtual_s": totals.virtual_ns / 1e9,
            "cpu_s": round(totals.cpu_s, 3),
            "peak_memory_bytes": totals.peak_memory_bytes,
            **({"lateness": totals.late} if totals.late else {}),
            "transfers": totals.transfers,
            "failed_cells": [
                asdict(failed) for failed in sorted(totals.failed, key=lambda one: one.cell)
            ],
            "ignored_settings": sorted(
                totals.ignored, key=lambda one: (configs.index(one["config"]), one["setting"])
            ),
            "warnings": sorted({*totals.warnings, *request.warnings}),
        }


def _knowledge(scenario: Scenario, cell: Cell) -> dict[str, Any]:
    network = scenario.networks[cell.network]
    links = network.link_specs(cell.line_loss)
    return {
        "network": cell.network,
        "config": cell.config,
        "congestion_control": cell.congestion_control,
        "client": cell.client,
        "page_segments": cell.page.segments,
        "receive_window_bytes": cell.receive_window_bytes,
        "line_loss": max(link.mean_loss for link in links),
        "cell": cell.id,
    }


def _refuse_to_mix(folder: RunFolder, before: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    differing = differences(before, asked)
    if differing:
        raise UserError(
            f"{folder.path} holds another run, and runs are not mixed",
            [*differing, f"name another folder with {argument('out')}, or remove this one"],
        )
