"""Which other setting would have helped most in this capture, and what it would have cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import polars as pl

from rexmit.store.trace_schema import SMART_CONFIG
from rexmit.tracing.folder import Trace
from rexmit.tracing.selection import Selection
from rexmit.values import dataclass

SHOWN: Final = 6

LEAST_SAVED_S: Final = 0.01
LEAST_SAVED: Final = 0.001
"""The least that the page shows, in seconds and as a share of the time waited."""

PATH_MTU: Final = "path-mtu"
"""The owner of time in which full-size packets did not pass."""

_SUMS: Final = {
    "saved_s": -pl.col("waited_change_s"),
    "avoided": pl.col("avoided"),
    "spurious": pl.col("spurious_rto_caused") + pl.col("spurious_fr_caused"),
    "to_fr": pl.col("rto_to_fr"),
    "to_rto": pl.col("fr_to_rto"),
}


@dataclass(frozen=True)
class Advice:
    """One setting over all connections.

    `saved_s` is what would not have been waited, summed over connections, less than nothing where
    more would have been; `shorter` and `longer`
    count the connections that last shorter, because less was waited, or longer by more than a
    tenth; `spurious` the retransmissions that it would have caused for nothing, `avoided` those
    that it would have spared; `alone`: it changes one thing; `named`: it was asked for by name.
    """

    setting: str
    alone: bool
    saved_s: float
    shorter: int
    longer: int
    avoided: int
    spurious: int
    to_fr: int
    to_rto: int
    named: bool = False


def advice(trace: Trace, shown: int = SHOWN) -> tuple[Advice, ...]:
    """The settings that save most, the best first: those that save what the page can show, a
    hundredth of a second and a thousandth of the time waited, and all that were asked for by name.

    Of those that change several things only the best stands among the others.
    """
    waited = trace.scan("connections").select(pl.col("waited_s").sum()).collect().item()
    least_s = max(LEAST_SAVED_S, LEAST_SAVED * waited)
    named = trace.facts.named
    changing = totals(trace).select("setting").collect()["setting"]
    rows = (
        of_settings(trace, dict.fromkeys([*changing, *named]))
        .with_columns(pl.col("setting").is_in(list(named)).alias("named"))
        .filter((pl.col("saved_s") >= least_s) | pl.col("named"))
        .with_columns(
            (~pl.col("setting").str.contains(",") & (pl.col("setting") != SMART_CONFIG)).alias(
                "alone"
            )
        )
        .sort("saved_s", "setting", descending=[True, False])
    )
    tried = [Advice(**row) for row in rows.to_dicts()]
    asked = [one for one in tried if one.named]
    every = [one for one in tried if not one.named]
    together = [one for one in every if not one.alone][:1]
    alone = [one for one in every if one.alone][: shown - len(together)]
    return tuple(sorted([*asked, *together, *alone], key=lambda one: -one.saved_s))


def of_settings(trace: Trace, settings: Iterable[str]) -> pl.DataFrame:
    """Of these settings, what `Advice` has of them: zeros where one changes nothing."""
    changed = totals(trace).collect()
    rows = pl.DataFrame({"setting": list(settings)}, schema={"setting": pl.String})
    # To the nanosecond: the last digits of a sum depend on the order of its parts.
    return rows.join(changed, on="setting", how="left", maintain_order="left").with_columns(
        pl.col("saved_s").round(9).fill_null(0.0), pl.exclude("setting", "saved_s").fill_null(0)
    )


def known(trace: Trace) -> list[str]:
    """The settings of which it is known what they would have changed. A grid's sums are of all
    connections: of some of them only what changed nothing for all is known.
    """
    if not isinstance(trace, Selection) or trace.whole is None:
        return list(trace.settings)
    summed = trace.whole.scan("whatif_totals").select("setting").unique().collect()
    return [setting for setting in trace.settings if setting not in set(summed["setting"])]


def totals(trace: Trace) -> pl.LazyFrame:
    """Of every setting that would have changed something, what `Advice` has of it."""
    both = pl.concat([_of_connections(trace), _of_grid(trace)], how="vertical_relaxed")
    return both.group_by("setting").sum()


def _of_connections(trace: Trace) -> pl.LazyFrame:
    """Settings with a row for each connection, but for those whose full-size packets did not pass:
    what is sent again sooner is lost as well.
    """
    tenth = pl.col("duration_s") / 10
    held = trace.scan("account").filter(pl.col("owner") == PATH_MTU)
    return (
        trace.scan("whatif")
        .join(held, on=["connection", "direction"], how="anti")
        .join(trace.scan("connections").select("connection", "duration_s"), on="connection")
        .group_by("setting")
        .agg(
            ((-pl.col("change_s") > tenth) & (pl.col("waited_change_s") < 0))
            .sum()
            .alias("shorter"),
            (pl.col("change_s") > tenth).sum().alias("longer"),
            *(expression.sum().alias(name) for name, expression in _SUMS.items()),
        )
    )


def _of_grid(trace: Trace) -> pl.LazyFrame:
    """Settings that are only summed up."""
    return trace.scan("whatif_totals").select(
        "setting",
        "shorter",
        "longer",
        *(expression.alias(name) for name, expression in _SUMS.items()),
    )
