"""Rows that a real kernel left, beside what the model says of the same bench."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from rexmit.analysis.times import percent
from rexmit.errors import UserError
from rexmit_validate.sensitivity.departures import CELLS, Means, Pair, means, row
from rexmit_validate.sensitivity.measure import READINGS, means_of
from rexmit_validate.sensitivity.unknowns import Recorded

_BOOLEANS = ("complete", "stalled", "exact", "is_tlp")
_NEEDED = ("bench", "network", "config", *_BOOLEANS, *(f"{name}_s" for name in READINGS))


def recorded_means(recorded: Recorded, beside: Path) -> Means:
    """The means of the rows, which lie beside the file `beside`. Raises UserError (usage)."""
    file = beside.parent / recorded.rows
    try:
        frame = pl.read_csv(file, null_values="")
    except OSError as error:
        why = error.strerror or str(error)
        raise UserError(f"cannot read {file}: {why}", usage=True) from None
    except pl.exceptions.PolarsError as error:
        raise UserError(f"{file}: {error}", usage=True) from None
    if lacking := [name for name in _NEEDED if name not in frame.columns]:
        raise UserError(f"{file}: it has no column {', '.join(lacking)}", usage=True)
    frame = frame.filter(pl.col("bench") == recorded.bench).with_columns(
        *(pl.col(name).cast(pl.Boolean) for name in _BOOLEANS),
        *(pl.col(f"{name}_s").cast(pl.Float64) for name in READINGS),
        line_loss=pl.lit(0.0),
    )
    if frame.is_empty():
        raise UserError(
            f"{file}: there is no row of the bench {recorded.bench!r}",
            f"{beside}: recorded names it",
            usage=True,
        )
    parts = frame.partition_by(["network", "config"], maintain_order=True)
    return means([means_of(part) for part in parts], {})


def pair(recorded: Recorded, kernel: Means, model: Means) -> Pair:
    """The kernel's means and the model's, of the cells that the kernel's rows have."""
    names = {(cell.network, cell.config) for cell in kernel}
    theirs = {cell: mean for cell, mean in model.items() if (cell.network, cell.config) in names}
    return Pair(
        recorded.name,
        recorded.about,
        row(recorded.name, kernel),
        row(f"{recorded.name}, the model", theirs),
        tuple(
            percent(theirs.get(cell), kernel[cell]) if cell in kernel else None for cell in CELLS
        ),
    )
