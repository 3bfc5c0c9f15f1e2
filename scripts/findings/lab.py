"""Runs of scenarios for findings, and what is asked of them again and again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import polars as pl
from scripts.findings.finding import Work

import rexmit
from rexmit.analysis.units import units_of
from rexmit.statistics.estimate import Estimate
from rexmit.statistics.spread import Spread, spread
from rexmit_papers.claim import Claim

PATCHED: Final = "mptcp-reinject-on-tlp"
"""The patch that is the proposal of Probe or Wait 2017."""


def on_model(
    work: Work,
    name: str,
    scenario: str,
    stack: str | None,
    settings: Mapping[str, object] | None = None,
) -> rexmit.Run:
    """A run on a stack of the model; what is there of the same code is not run again."""
    work.say(f"{scenario} on the model{f' of {stack}' if stack else ''}: {name}")
    return rexmit.run(
        scenario,
        engine="model",
        stack=stack,
        settings=settings or {},
        out=work.folder / name,
    )


def on_kernel(
    work: Work,
    name: str,
    scenario: str,
    kernel: str,
    settings: Mapping[str, object] | None = None,
) -> rexmit.Run:
    """A run on a kernel ("6.12", "6.12+PATCH"), which is built where it is not there."""
    series, _, patch = kernel.partition("+")
    patches = [patch] if patch else []
    known = [one.kernel for one in rexmit.list_kernels() if one.current]
    if not any(one and one.series == series and list(one.patches) == patches for one in known):
        work.say(f"building Linux {kernel}")
        rexmit.build_kernel(series, patches=patches)
    work.say(f"{scenario} on Linux {kernel}: {name}")
    run = rexmit.run(scenario, kernel=kernel, settings=settings or {}, out=work.folder / name)
    ran = run.meta["kernel"]
    words = ["Linux", ran["version"], f"HZ {ran['hz']}", *ran["patches"], ran["hash"][:12]]
    work.kernels.add(" ".join(words))
    return run


def digest(runs: Mapping[str, rexmit.Run], columns: Sequence[str]) -> dict[str, str]:
    """A short digest of each run's transfers."""
    return digests({name: run.transfers.select(*columns).rows() for name, run in runs.items()})


def digests(found: Mapping[str, object]) -> dict[str, str]:
    """A short digest of what each run gave."""
    return {
        name: hashlib.sha256(repr(one).encode()).hexdigest()[:16] for name, one in found.items()
    }


def spread_of(run: rexmit.Run, rows: pl.DataFrame, time: str) -> Spread:
    """A time of transfers of one network of a run, with the unit of each. Raises ValueError of
    none.
    """
    known = rows.drop_nulls(time)
    if known.is_empty():
        raise ValueError(f"{run.path}: no {time} of these transfers")
    units = units_of(run)
    return spread(known[time], units.column(known), units.source(known["network"][0]))


def estimate(run: rexmit.Run, rows: pl.DataFrame, time: str) -> Estimate:
    """Its mean, with what each repetition does to it. Raises ValueError of none."""
    found = spread_of(run, rows, time).estimate
    assert found is not None  # noqa: S101 - there are rows
    return found


def by_chance(claims: Iterable[Claim]) -> dict[str, float]:
    """How many of them are decided, and how many of these verdicts at most are expected to be wrong
    by chance.
    """
    decided = [one for one in claims if one.decided]
    return {
        "decided": len(decided),
        "false_by_chance": sum(one.false_by_chance for one in decided),
    }


def mean(frame: pl.DataFrame, column: str) -> float | None:
    """The mean of a column; None where it has no value."""
    found = frame[column].mean()
    return found if isinstance(found, int | float) else None
