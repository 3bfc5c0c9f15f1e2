"""How far each departure from a bench moves the cells of the paper's Table 4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rexmit.papers.ryll_2013 import paper
from rexmit.papers.ryll_2013.beside import NEAR_PERCENT
from rexmit.papers.ryll_2013.table4 import MEASURES, Entry, Table4, percent


@dataclass(frozen=True)
class Cell:
    """A mean of the paper's table."""

    network: str
    config: str
    measure: str


@dataclass(frozen=True)
class Row:
    """One bench: by cell, percent off the paper; None where it has no transfer for the cell."""

    name: str
    off_paper: tuple[float | None, ...]

    def near(self, cells: Sequence[Cell], measure: str) -> int:
        """How many cells of a measure are the paper's."""
        return sum(
            off is not None and abs(off) <= NEAR_PERCENT[measure]
            for cell, off in zip(cells, self.off_paper, strict=True)
            if cell.measure == measure
        )


@dataclass(frozen=True)
class Sensitivity:
    """The bench and its departures, in order; the first row is the bench as it is."""

    cells: tuple[Cell, ...]
    rows: tuple[Row, ...]

    def moved(self, row: Row) -> tuple[float | None, ...]:
        """Percentage points (of the paper's figure) between the row and the bench as it is."""
        return tuple(
            None if a is None or b is None else a - b
            for a, b in zip(row.off_paper, self.rows[0].off_paper, strict=True)
        )


def sensitivity(names: Sequence[str], tables: Sequence[Table4]) -> Sensitivity:
    """Of as many tables as names. They are set against the paper whatever was changed."""
    every = [_means(table) for table in tables]
    cells = [
        Cell(network, config, measure)
        for measure in reversed(MEASURES)
        for network, config in paper.TABLE_4
        if any(Cell(network, config, measure) in means for means in every)
    ]
    rows = tuple(
        Row(name, tuple(percent(means.get(cell), _printed(cell)) for cell in cells))
        for name, means in zip(names, every, strict=True)
    )
    return Sensitivity(tuple(cells), rows)


def _means(table: Table4) -> dict[Cell, float]:
    found = {}
    for block in table.blocks:
        for measure in MEASURES:
            entries: tuple[Entry, ...] = getattr(block, measure)
            for entry in entries:
                if entry.spread.mean_s is not None:
                    found[Cell(block.network, entry.config, measure)] = entry.spread.mean_s
    return found


def _printed(cell: Cell) -> float | None:
    printed = paper.table_4(cell.network, cell.config)
    return getattr(printed, f"{cell.measure}_s") if printed else None
