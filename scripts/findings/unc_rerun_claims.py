"""What UNC 2007 says of settings, judged by connections that were really run again with them."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
from scripts.findings.corpora import KINDS
from scripts.findings.unc_rerun import names

from rexmit.statistics.interval import Interval
from rexmit.statistics.verdict import LESS, Band
from rexmit_papers.claim import Claim, Part, claim
from rexmit_papers.unc_2007.evidence import rtts
from rexmit_papers.unc_2007.setting_claims import NOTHING_RTTS, NOTHING_SHARE


def claims(rerun: pl.DataFrame, kind: str, mix: str) -> Iterator[Claim]:
    """Of the stacks of a kind in a mix."""
    systems = names(KINDS[kind])
    rows = {
        (str(row["setting"]), systems[row["stack"]]): row
        for row in rerun.filter(pl.col("mix") == mix).iter_rows(named=True)
        if row["stack"] in systems
    }

    def tried(setting: str) -> Iterator[tuple[str, dict[str, float]]]:
        return ((system, row) for (one, system), row in rows.items() if one == setting)

    def each(setting: str, band: Band, name: str = "{}") -> list[Part]:
        return [_part(name.format(system), row, band) for system, row in tried(setting)]

    yield claim(
        "adapt", "D should adapt to the flight (section V-C): that shortens", each("d=smart", LESS)
    )
    yield claim(
        "m",
        "m = 1 is best (footnote 12: not shown): 1.25 shortens nothing, 1 lengthens nothing",
        [
            *each("m=1.25", Band(low=0.0), "{} m = 1.25"),
            *each("m=1", Band(high=0.0), "{} m = 1"),
        ],
    )
    yield claim(
        "granularity",
        "timer granularity no longer matters (sections I, VI): 10 and 100 ms",
        [
            part
            for setting in ("tick=10ms", "tick=100ms")
            for system, row in tried(setting)
            for part in _nothing(f"{system} {setting.removeprefix('tick=')}", row)
        ],
    )
    yield claim("undo", "open: undo, Eifel (section VI) shortens", each("undo", LESS))
    yield claim("frto", "open: F-RTO (section VI) shortens", each("frto", LESS))


def _part(name: str, row: dict[str, float], band: Band) -> Part:
    return Part(name, row["inner_change_rtts"], _interval(row, "rtts"), band, rtts)


def _nothing(name: str, row: dict[str, float]) -> Iterator[Part]:
    """As the study's claims have it: next to nothing in RTTs, and of the duration."""
    yield _part(name, row, Band(-NOTHING_RTTS, NOTHING_RTTS))
    most = 100 * NOTHING_SHARE
    yield Part(
        "",
        row["inner_change_percent"],
        _interval(row, "percent"),
        Band(-most, most),
        lambda change: f"{change:+.1f}% of the duration",
    )


def _interval(row: dict[str, float], unit: str) -> Interval | None:
    mean, half = row[f"inner_change_{unit}"], row[f"inner_half_{unit}"]
    return None if half is None else Interval(mean - half, mean + half)
