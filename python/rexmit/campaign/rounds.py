"""A grid under several seeds: each is a round of all its cells, and their transfers are pooled.

A round gives the rows that a run with its seed alone has. In tables its repetitions follow those of
the round before: with `repeat = 20` the third seed's are 40 to 59.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rexmit.campaign.grid import Cell, cells
from rexmit.scenario import Scenario
from rexmit.store.record import Record


@dataclass(frozen=True, slots=True)
class Round:
    """A cell under one seed."""

    number: int
    """Of its record: those of a later seed follow."""
    cell: Cell
    seed: int
    first: int
    """The number that its first repetition has in tables."""
    label: str

    def in_tables(self, record: Record) -> None:
        """Give the record's repetitions, and what failed, the numbers that they have there."""
        import polars as pl

        if record.failed is not None:
            record.failed.cell = self.cell.id
        if self.first:
            moved = pl.col("repetition") + self.first
            record.tables = {name: rows.with_columns(moved) for name, rows in record.tables.items()}


def rounds(scenario: Scenario) -> Iterator[Round]:
    """Every cell under the first seed, then under the next."""
    grid, seeds = cells(scenario), scenario.all_seeds
    for index, seed in enumerate(seeds):
        for cell in grid:
            label = cell.label if len(seeds) == 1 else f"{cell.label} seed {seed}"
            yield Round(index * len(grid) + cell.id, cell, seed, index * cell.repeat, label)
