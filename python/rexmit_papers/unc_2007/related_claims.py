"""What UNC 2007 says of others' work (section VI): Paxson's numbers of the dupACK threshold, and a
wait that nobody had evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from rexmit.statistics.estimate import Estimate
from rexmit.statistics.verdict import MORE, about
from rexmit_papers.claim import Claim, Part, claim, of_estimate
from rexmit_papers.unc_2007.evidence import Evidence, of_column, percent, rtts, times
from rexmit_papers.unc_2007.senders import KEYS
from rexmit_papers.unc_2007.setting_claims import ABOUT
from rexmit_papers.unc_2007.systems import FR
from rexmit_papers.unc_2007.tables import threshold


def claims(study: Evidence) -> Iterator[Claim]:
    """Those of section VI."""
    higher: list[Part] = []
    lower: list[Part] = []
    for system in study.systems:
        if threshold(system) == 3:
            higher += _paxson_4(study, system)
            lower += _paxson_2(study, system)
    words = "Paxson: D = 4 makes needed by spurious fast retransmits 2.5 times, and misses 30 %"
    yield claim("paxson-4", words, higher)
    words = "Paxson: D = 2 makes 65 to 70 % more, and needed by spurious ones a third"
    yield claim("paxson-2", words, lower)
    words = "open: to wait an RTT for duplicates (RFC 4653) shortens connections"
    yield claim("ncr", words, _waited(study))


def _paxson_4(study: Evidence, system: str) -> Iterator[Part]:
    if turned := _turned(study, "d=4", system):
        needed, spurious, detected, wrong = turned
        yield from _by(system, needed + detected, spurious + wrong, needed, spurious, 2.5)
        missed = detected.times(-1) / needed
        yield of_estimate(f"{system} missed", missed, about(0.3, ABOUT), percent)


def _paxson_2(study: Evidence, system: str) -> Iterator[Part]:
    if turned := _turned(study, "d=2", system):
        needed, spurious, detected, wrong = turned
        more = (detected + wrong) / (needed + spurious)
        yield of_estimate(f"{system} more", more, about(0.675, ABOUT), percent)
        yield from _by(system, needed + detected, spurious + wrong, needed, spurious, 1 / 3)


def _turned(study: Evidence, setting: str, system: str) -> tuple[Estimate, ...] | None:
    """Fast retransmits of a connection, needed and spurious, and how many more of each a setting
    makes; None where there are none.
    """
    frame = study.changed(
        setting,
        system,
        detected=pl.col("rto_to_fr") - pl.col("fr_to_rto"),
        wrong=pl.col("spurious_fr_caused") - pl.col("spurious_fr_avoided"),
    )
    if frame is None or not frame["needed_fr"].sum():
        return None
    columns = ("needed_fr", "spurious_fr", "detected", "wrong")
    return tuple(of_column(frame, name) for name in columns)


def _by(
    system: str, one: Estimate, by: Estimate, before: Estimate, by_before: Estimate, printed: float
) -> Iterator[Part]:
    """How many times as many a needed one by a spurious one are, where there are spurious ones."""
    if by.value > 0 and by_before.value > 0:
        ratio = (one / by) / (before / by_before)
        yield of_estimate(f"{system} needed by spurious", ratio, about(printed, ABOUT), times)


def _waited(study: Evidence) -> Iterator[Part]:
    """Every needed fast retransmit comes an RTT later, every spurious one is avoided, which saves
    what equation (1) says.
    """
    first = (
        study.study.retransmissions("episode", "time_ns", "mechanism", "need", "flight_segments")
        .drop_nulls("episode")
        .sort("time_ns", maintain_order=True)
        .group_by(*KEYS, "episode", maintain_order=True)
        .first()
        .filter(pl.col("mechanism").is_in(FR))
    )
    x = pl.col("flight_segments") / 2
    saved = x + 1 - (3 * x * x - x) / (5 * x + 1)
    rtts_each = pl.when(pl.col("need") == "spurious").then(saved.fill_null(0)).otherwise(-1.0)
    of_each = first.group_by(KEYS).agg(rtts_each.sum().alias("reduction"))
    for system, counted in study.counted.items():
        frame = counted.join(of_each, on=KEYS, how="left", maintain_order="left")
        filled = frame.with_columns(pl.col("reduction").fill_null(0))
        yield of_estimate(system, of_column(filled, "reduction"), MORE, rtts)
