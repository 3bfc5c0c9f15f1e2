"""Predictions held against transfers really run: capture a sender as it is, predict what a setting
changes, run the same transfers with that setting, compare durations.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import polars as pl

from rexmit.errors import UserError
from rexmit.validate.whatif.transfers import OWN, Base, scenario
from rexmit.version import version

LEAST_S: Final = 0.001
"""A change of less is none."""

_KEYS: Final = ("network", "page_segments", "loss_pattern", "repetition")


def check(base: Base, folder: Path, *, seed: int, kernel: str | None, jobs: int) -> pl.DataFrame:
    """A row for each transfer and setting: `base`, `setting`, the transfer, `duration_s` as it is,
    `predicted_s` and `actual_s` change, and the `stack` that the analysis took the sender for.

    Raises UserError where the transfers cannot be run, or where one is not complete.
    """
    _run(base, folder, seed=seed, kernel=kernel, jobs=jobs)
    transfers = pl.read_parquet(folder / "transfers.parquet", glob=False).with_columns(
        pl.col("loss_pattern").fill_null("none")
    )
    own = transfers.filter(pl.col("config") == OWN)
    predictions = _predictions(own, base, folder)
    keys = list(_KEYS)
    actual = transfers.filter(pl.col("config") != OWN, "complete").select(
        *keys, pl.col("config").alias("setting"), pl.col("client_s").alias("after_s")
    )
    return (
        actual.join(predictions, on=[*keys, "setting"])
        .join(own.filter("complete").select(*keys, pl.col("client_s").alias("duration_s")), on=keys)
        .with_columns(
            (pl.col("after_s") - pl.col("duration_s")).alias("actual_s"),
            pl.lit(base.name).alias("base"),
        )
        .drop("after_s")
        .sort("setting", *keys)
    )


def _run(base: Base, folder: Path, *, seed: int, kernel: str | None, jobs: int) -> None:
    from rexmit import scenario as scenarios
    from rexmit.campaign.runner import Campaign, Request
    from rexmit.campaign.streams import core_streams
    from rexmit.engines import kernel as kernels
    from rexmit.engines.engine import Engine
    from rexmit.engines.model import ModelEngine
    from rexmit.progress import Silent
    from rexmit.scenario.stacks import of_scenario

    data = scenario(base, seed=seed, kernel=kernel is not None)
    loaded = scenarios.from_plain(data, where="what-if check", stacks=kernel is None)
    engine: Engine
    if kernel is not None:
        found = kernels.find_kernel(kernel or None)
        engine = kernels.KernelEngine.open(found, loaded.workload.client, kernels.HANG_LIMIT_S)
    else:
        chosen = of_scenario(loaded, base.stack, None)
        engine = ModelEngine.open(version(), chosen, ["--stack", base.stack])
    request = Request(
        name="whatif",
        scenario=loaded,
        out=folder,
        command="rexmit validate whatif",
        version=version(),
        jobs=jobs,
        capture=True,
    )
    meta = Campaign(request, engine, core_streams(), Silent()).run()
    for cell in meta["failed_cells"]:
        raise UserError(f"{cell['label']}: {cell['message']}")


def _predictions(own: pl.DataFrame, base: Base, folder: Path) -> pl.DataFrame:
    rows = []
    for transfer in own.select(*_KEYS, "cell").iter_rows(named=True):
        cell = transfer.pop("cell")
        capture = folder / "captures" / f"{cell}-{transfer['repetition']}.h1.pcapng"
        stack, changes = _analysed(capture, list(base.settings))
        rows += [
            {
                **transfer,
                "setting": setting,
                "predicted_s": changes.get(setting, 0.0),
                "stack": stack,
            }
            for setting in base.settings
        ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _analysed(capture: Path, settings: list[str]) -> tuple[str | None, dict[str, float]]:
    """The stack of the server in a capture of one connection, and each setting's change."""
    from rexmit.tracing.source import open_source

    stack: str | None = None
    changes: dict[str, float] = {}
    for batch in open_source([capture], whatif=settings, jobs=1).batches():
        server = pl.col("direction") == "backward"
        for named in batch["sides"].filter(server)["stack"]:
            stack = named
        rows = batch["whatif"].filter(server)
        changes |= dict(rows.select("setting", "change_s").iter_rows())
    return stack, changes


def errors(rows: pl.DataFrame) -> list[dict[str, Any]]:
    """How far predictions were off, by base and setting, over transfers that the setting changes or
    was predicted to: `n`, mean `predicted_s` and `actual_s`, and of predicted less actual relative
    to the duration the median, the median of its size, and its 95th percentile.
    """
    there = rows.filter(
        (pl.col("predicted_s").abs() >= LEAST_S) | (pl.col("actual_s").abs() >= LEAST_S)
    )
    off = (pl.col("predicted_s") - pl.col("actual_s")) / pl.col("duration_s")
    return (
        there.with_columns(off.alias("off"))
        .group_by("base", "setting", maintain_order=True)
        .agg(
            pl.len().alias("n"),
            pl.col("predicted_s").mean(),
            pl.col("actual_s").mean(),
            pl.col("off").median().alias("bias"),
            pl.col("off").abs().median().alias("median"),
            pl.col("off").abs().quantile(0.95, "linear").alias("p95"),
        )
        .to_dicts()
    )
