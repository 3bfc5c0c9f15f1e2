"""Transfers of the model, many in one call: as the sender is, with captures, and under settings.

A transfer takes the model a tenth of a millisecond; the folder that a campaign writes would take
fifty times as long.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rexmit import scenario as scenarios
from rexmit.campaign import grid
from rexmit.campaign.plan import phases_ns
from rexmit.campaign.streams import core_streams
from rexmit.campaign.tasks import task
from rexmit.engines.engine import PLAN_VERSION
from rexmit.errors import UserError
from rexmit.stacks import core, stack
from rexmit.whatif.settings import as_stack, as_texts
from rexmit_validate.whatif.transfers import OWN, Base, scenario

if TYPE_CHECKING:
    from rexmit.stacks import Stack

_FAILED: Final = '"type":"cell-error"'


def run(base: Base, folder: Path, *, seed: int, jobs: int) -> pl.DataFrame:
    """A row for each transfer and `setting`, `OWN` as the sender is: `network`, `page_segments`,
    `loss_pattern`, `client_s`, `complete`, and its `capture` in `folder` as it is.

    All transfers begin at another moment between two ticks of the sender's clock, each at the same
    under all settings. Raises UserError where the model cannot run them.
    """
    loaded = scenarios.from_plain(
        scenario(Base(base.stack, (), base.changes), seed=seed, kernel=False),
        where="what-if check",
    )
    cells = grid.cells(loaded)
    keys = pl.DataFrame(
        {
            "network": [cell.network for cell in cells],
            "page_segments": [cell.page.segments for cell in cells],
            "loss_pattern": [cell.loss_pattern for cell in cells],
            "capture": [str(folder / "captures" / f"{cell.id}-0.h1.pcapng") for cell in cells],
        }
    )
    own = stack(base.stack, as_texts(base.changes))
    plans = list(_plans(loaded, cells, own))
    (folder / "captures").mkdir(parents=True)

    def under(setting: str) -> pl.DataFrame:
        if setting == OWN:
            runs = _run(plans, own, folder)
        else:
            changes = as_texts({**base.changes, **as_stack(setting, base.stack)})
            runs = _run(plans, stack(base.stack, changes), None)
        return keys.with_columns(*runs, pl.lit(setting).alias("setting"))

    with ThreadPoolExecutor(jobs) as threads:
        return pl.concat(threads.map(under, [OWN, *base.settings]))


def _plans(
    loaded: scenarios.Scenario, cells: tuple[grid.Cell, ...], own: Stack
) -> Iterator[Mapping[str, Any]]:
    streams = core_streams()
    for cell in cells:
        work = task(loaded, cell, streams, hz=own.hz, capture=False)
        period_ns = work.plan["phase_period_ns"]
        phase_ns = phases_ns(streams, loaded.seed, len(cells), period_ns)[cell.id]
        starts = [{"repetition": 0, "phase_ns": phase_ns}]
        yield {**work.plan, "id": cell.id, "seed": work.seed, "starts": starts}


def _run(plans: list[Mapping[str, Any]], sender: Stack, share: Path | None) -> pl.DataFrame:
    """How each transfer went, in the order of the plans."""
    different = {"stack": sender.plan(), "capture": share is not None}
    cells = [{**plan, **different} for plan in plans]
    text, tables = core().run_model(
        json.dumps({"version": PLAN_VERSION, "cells": cells}), None if share is None else str(share)
    )
    rows = pl.DataFrame(tables["transfers"]).select("client_s", "complete")
    if _FAILED in text or rows.height != len(plans):
        failed = [line for line in text.splitlines() if _FAILED in line]
        raise UserError(f"the model could not run the transfers: {' '.join(failed[:1])}")
    return rows
