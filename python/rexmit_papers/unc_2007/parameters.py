"""Table I of UNC 2007 for any traces: what explains the senders, and what their timeouts showed.

A sender's parameters are those of the stacks whose emulation explains all its retransmissions; its
smallest timeout is moved by what timeouts proved. A parameter is *assumed* where every sender has
the value of its stack's page, with no interval, and *inferred* where captures moved it. Timer
granularity and first timeout are always assumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexmit import stacks
from rexmit.tracing.systems import system
from rexmit_papers.unc_2007.paper import TABLE_1
from rexmit_papers.unc_2007.senders import Study

PARAMETERS: Final = ("granularity_s", "initial_rto_s", "min_rto_s", "a", "b", "m", "k", "d")
"""In the order of Table I."""

_LOW, _HIGH = 0.05, 0.95


@dataclass(frozen=True)
class Inferred:
    """A parameter of one system's senders. `assumed` are the values of the pages that were
    emulated; `median`, `low` and `high` what was inferred of the `n` senders: the median of their
    values, and the 5th and 95th percentile of the ends of their intervals. None where nothing is.
    """

    system: str
    parameter: str
    printed: float | None
    assumed: tuple[float, ...]
    n: int
    median: float | None
    low: float | None
    high: float | None


def parameters(study: Study) -> tuple[Inferred, ...]:
    """A row for each system and parameter."""
    emulated = sorted({page for trace in study.traces for page in trace.facts.stacks})
    rows = study.parameters()
    inferred = []
    for name in study.systems:
        pages = [page for page in emulated if system(page) == name]
        for parameter in PARAMETERS:
            mine = rows.filter(pl.col("system") == name, pl.col("parameter") == parameter)
            printed = TABLE_1.get(name)
            inferred.append(
                Inferred(
                    system=name,
                    parameter=parameter,
                    printed=None if printed is None else float(getattr(printed, parameter)),
                    assumed=_assumed(pages, parameter),
                    n=mine.height,
                    median=_number(mine["value"].median()),
                    low=_number(mine["low"].quantile(_LOW, "linear")),
                    high=_number(mine["high"].quantile(_HIGH, "linear")),
                )
            )
    return tuple(inferred)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _assumed(pages: Sequence[str], parameter: str) -> tuple[float, ...]:
    return tuple(sorted({_of_page(stacks.stack(page, {}).settings, parameter) for page in pages}))


def _of_page(settings: object, parameter: str) -> float:
    own: dict[str, str] = dict(settings)  # type: ignore[call-overload]
    match parameter:
        case "granularity_s":
            return 1 / int(own["hz"])
        case "initial_rto_s":
            return _seconds(own["initial_rto"])
        case "min_rto_s":
            return _seconds(own["min_rto"]) + _seconds(own["rto_slop"])
        case "a":
            return float(0.5 ** int(own["rttvar_shift"]))
        case "b":
            return float(0.5 ** int(own["srtt_shift"]))
        case "m":
            return float(own["srtt_factor"])
        case "k":
            return float(own["rttvar_factor"])
        case _:
            return float(own["dupack_threshold"])


def _seconds(text: str) -> float:
    for unit, seconds in (("us", 1e-6), ("ms", 1e-3), ("s", 1.0)):
        if text.endswith(unit):
            return round(float(text.removesuffix(unit)) * seconds, 9)
    return float(text)
