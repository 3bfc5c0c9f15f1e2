"""A check of predictions on several stacks, kept for the pages that print how far they are off."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import polars as pl

from rexmit.engines.engine import cores
from rexmit.progress import Progress
from rexmit.store.files import new_folder, scratch_folder, whole_file
from rexmit.version import version
from rexmit.whatif.calibration import Calibration, save
from rexmit.whatif.settings import expanded
from rexmit_validate.whatif.check import check, errors
from rexmit_validate.whatif.transfers import Base

EVERY: Final = "every stack"
"""The base of a row that is of all senders."""


def calibrate(
    bases: Sequence[Base],
    *,
    seed: int,
    jobs: int | None,
    out: Path | None,
    kernel: str | None,
    keep: bool,
    progress: Progress,
) -> Calibration:
    """Runs the check, and with `keep` keeps its errors for `rexmit trace`. `kernel` is None for the
    model; `out` keeps the runs. `progress` counts senders. Of UNC 2007's grid the errors are those
    of all senders together, where there are several.
    """
    with scratch_folder() if out is None else new_folder(out) as root:
        measured = []
        progress.start(len(bases))
        try:
            for number, base in enumerate(bases):
                place = root / f"{number}"
                measured.append(
                    check(base, place, seed=seed, kernel=kernel, jobs=jobs or len(cores()))
                )
                progress.advance(1)
        finally:
            progress.close()
        rows = pl.concat(measured)
        pooled = pl.col("setting").is_in(expanded(["grid"])) & (len(bases) > 1)
        if out is not None:
            with whole_file(root / "check.parquet") as file:
                rows.write_parquet(file)
    calibration = Calibration(
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        program=version(),
        engine="model" if kernel is None else "kernel",
        seed=seed,
        rows=[
            *errors(rows.filter(~pooled)),
            *errors(rows.filter(pooled).with_columns(pl.lit(EVERY).alias("base"))),
        ],
    )
    if keep:
        save(calibration)
    return calibration
