"""Predictions held against transfers really run: capture a sender as it is, predict what a setting
changes, run the same transfers with that setting, compare durations.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import polars as pl

from rexmit.errors import UserError
from rexmit.version import version
from rexmit_validate.whatif import model_runs
from rexmit_validate.whatif.transfers import OWN, Base, scenario

LEAST_S: Final = 0.001
"""A change of less is none."""

_KEYS: Final = ("network", "page_segments", "loss_pattern")


def check(base: Base, folder: Path, *, seed: int, kernel: str | None, jobs: int) -> pl.DataFrame:
    """A row for each transfer and setting: `base`, `setting`, the transfer, `duration_s` as it is,
    `predicted_s` and `actual_s` change, and the `stack` that the analysis took the sender for.
    `predicted_s` is null where the cause of a retransmission is not known: no setting was applied
    to that one.

    Raises UserError where the transfers cannot be run, or where one is not complete.
    """
    if kernel is None:
        transfers = model_runs.run(base, folder, seed=seed, jobs=jobs)
    else:
        transfers = _run_kernel(base, folder, seed=seed, kernel=kernel, jobs=jobs)
    transfers = transfers.with_columns(pl.col("loss_pattern").fill_null("none"))
    own = transfers.filter(pl.col("setting") == OWN)
    predictions = _predictions(own, base, jobs)
    keys = list(_KEYS)
    actual = transfers.filter(pl.col("setting") != OWN, "complete").select(
        *keys, "setting", pl.col("client_s").alias("after_s")
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
        .with_columns(pl.col(pl.String).cast(pl.Categorical))
    )


def _run_kernel(base: Base, folder: Path, *, seed: int, kernel: str, jobs: int) -> pl.DataFrame:
    """As `model_runs.run`."""
    from rexmit import scenario as scenarios
    from rexmit.campaign.runner import CampaignRun, Request
    from rexmit.campaign.streams import core_streams
    from rexmit.engines import kernel as kernels
    from rexmit.progress import Silent

    data = scenario(base, seed=seed, kernel=True)
    loaded = scenarios.from_plain(data, where="what-if check", engine="kernel")
    built = kernels.find_kernel(kernel or None)
    engine = kernels.KernelEngine.open(built, loaded.programs, kernels.HANG_LIMIT_S)
    request = Request(
        name="whatif",
        scenario=loaded,
        out=folder,
        command="rexmit validate whatif",
        version=version(),
        jobs=jobs,
        capture=True,
    )
    meta = CampaignRun(request, engine, core_streams(), Silent()).run()
    for cell in meta["failed_cells"]:
        raise UserError(f"{cell['label']}: {cell['message']}")
    captures = pl.format(f"{folder}/captures/{{}}-{{}}.h1.pcapng", "cell", "repetition")
    return pl.read_parquet(folder / "transfers.parquet", glob=False).with_columns(
        pl.col("config").alias("setting"), captures.alias("capture")
    )


def _predictions(own: pl.DataFrame, base: Base, jobs: int) -> pl.DataFrame:
    settings = list(base.settings)

    def of_one(capture: str) -> pl.DataFrame:
        stack, changes = _analysed(Path(capture), settings)
        predicted = [None if changes is None else changes.get(setting, 0.0) for setting in settings]
        columns = {
            "capture": capture,
            "setting": settings,
            "predicted_s": predicted,
            "stack": stack,
        }
        types = {"stack": pl.String, "predicted_s": pl.Float64}
        return pl.DataFrame(columns, schema_overrides=types)

    with ThreadPoolExecutor(jobs) as threads:
        predictions = pl.concat(threads.map(of_one, own["capture"]))
    return own.select(*_KEYS, "capture").join(predictions, on="capture").drop("capture")


def _analysed(capture: Path, settings: list[str]) -> tuple[str | None, dict[str, float] | None]:
    """The stack of the server in a capture of one connection, and each setting's change; None in
    place of the changes where the packets do not show the cause of each retransmission.
    """
    from rexmit.tracing.options import Analysis
    from rexmit.tracing.source import Core, batches

    stack: str | None = None
    changes: dict[str, float] = {}
    explained = True
    for batch in batches(Core([capture], Analysis(whatif=settings, jobs=1))):
        server = pl.col("direction") == "backward"
        for named in batch["sides"].filter(server)["stack"]:
            stack = named
        rows = batch["whatif"].filter(server)
        changes |= dict(rows.select("setting", "change_s").iter_rows())
        missing = batch["retransmissions"].filter(server)["missing"]
        explained = explained and missing.is_null().all()
    return stack, changes if explained else None


def errors(rows: pl.DataFrame) -> list[dict[str, Any]]:
    """How far predictions were off, by base and setting, over transfers that the setting changes or
    was predicted to: `n` of `transfers`, mean `predicted_s` and `actual_s`, and of predicted less
    actual relative to the duration the median, the median of its size, and its 95th percentile;
    `wrong` is the share of which the prediction says that they get longer, and they get shorter,
    or the other way round. `not_predicted` counts transfers that the setting changes and of which
    nothing was predicted; they are in no other number. There is no row where none was predicted.
    """
    predicted, actual = pl.col("predicted_s"), pl.col("actual_s")
    large = (predicted.abs() >= LEAST_S, actual.abs() >= LEAST_S)
    group = ("base", "setting")
    there = rows.with_columns(
        pl.len().over(group).alias("transfers"),
        (predicted.is_null() & large[1]).sum().over(group).alias("not_predicted"),
    ).filter(predicted.is_not_null() & (large[0] | large[1]))
    off = (predicted - actual) / pl.col("duration_s")
    wrong = large[0] & large[1] & (predicted.sign() != actual.sign())
    return (
        there.with_columns(off.alias("off"))
        .group_by(group, maintain_order=True)
        .agg(
            pl.col("transfers").first(),
            pl.len().alias("n"),
            pl.col("not_predicted").first(),
            pl.col("predicted_s").mean(),
            pl.col("actual_s").mean(),
            pl.col("off").median().alias("bias"),
            pl.col("off").abs().median().alias("median"),
            pl.col("off").abs().quantile(0.95, "linear").alias("p95"),
            wrong.mean().alias("wrong"),
        )
        .to_dicts()
    )
