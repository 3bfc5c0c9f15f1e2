"""What UNC 2007 claims (section V), each computed from a study of any traces.

A claim holds, does not, or cannot be told from traces that lack what it is about; it says the
numbers it rests on, by system. Where the paper says no number, `MEANT` says what its words are
taken to mean. `setting_claims` has those about settings, from section V-B on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import polars as pl

from rexmit_papers.claim import Claim, Source
from rexmit_papers.unc_2007 import setting_claims
from rexmit_papers.unc_2007.paper import SOURCE as PAPER
from rexmit_papers.unc_2007.paper import TABLE_3
from rexmit_papers.unc_2007.senders import Study
from rexmit_papers.unc_2007.systems import FR, RTO
from rexmit_papers.unc_2007.tables import MOST_LOST, Tables
from rexmit_papers.unc_2007.told import (
    Told,
    claim,
    is_around,
    median,
    number,
    of_each,
    percent,
    texts,
)

MEANT: Final = (
    "around: within half of it more or less; alike, independent: within a factor of 2; negligible: "
    "less than one RTT on average, as the paper has it of b; most, nearly all: 50 % and 90 %; "
    "helps, hurts: the mean change of durations of lossy explained connections, in RTTs; a few: "
    "less than 20 %; several: 5 %; longer the more a flight lost: half as long again"
)
SEVERAL: Final = 0.05
FIRST_TIMEOUT_S: Final = 3.0  #: Table I: of Windows

SOURCE: Final = Source("2007", PAPER, MEANT)


def claims(study: Study, tables: Tables) -> tuple[Claim, ...]:
    """In the paper's order."""
    told = Told(study, tables)
    rooms = (_identified, _accuracy, _timeliness, _recovery, _scope, *setting_claims.ROOMS)
    return tuple(one for room in rooms for one in room(told))


def _identified(told: Told) -> Iterator[Claim]:
    shares = {
        one.name: one.explained[0] / one.lossy[0] for one in told.tables.lossy if one.lossy[0]
    }
    least = min(one.share for one in TABLE_3) / 100
    yield of_each(
        "explained",
        "Table III: 76 to 99 % of lossy connections are explained",
        shares,
        lambda _, share: share >= least,
        percent,
    )
    agreement = told.tables.agreement
    if agreement.named:
        share = agreement.agree / agreement.named
        text = f"{agreement.agree:,} of {agreement.named:,}"
        words = "the SYN names the same system in more than 99.9 %"
        yield claim("syn", words, share > 0.999, text)


def _accuracy(told: Told) -> Iterator[Claim]:
    rows = told.classes
    spurious = {s: (one.spurious_rto + one.spurious_fr) / one.total for s, one in rows.items()}
    yield of_each(
        "spurious",
        "a significant number of retransmissions are spurious (printed: 6 to 36 %)",
        spurious,
        lambda _, share: share >= 0.05,
        percent,
    )
    yield of_each(
        "spurious-by-rto",
        "most of those are timeouts",
        {
            s: one.spurious_rto / (one.spurious_rto + one.spurious_fr)
            for s, one in rows.items()
            if one.spurious_rto + one.spurious_fr
        },
        lambda _, share: share > 0.5,
        percent,
    )
    by_rto = {s: one.spurious_rto / one.total for s, one in rows.items()}
    linux, windows = by_rto.get("Linux"), by_rto.get("Windows")
    holds = None if linux is None or windows is None else windows >= 2 * linux
    words = "spurious timeouts: Windows 26 % of all retransmissions, Linux less than 4 %: much more"
    yield claim("spurious-windows", words, holds, texts(by_rto, percent))
    yield of_each(
        "spurious-fr",
        "spurious fast retransmits are 3 to 5 %, and alike",
        {s: one.spurious_fr / one.total for s, one in rows.items()},
        lambda _, share: 0.025 <= share <= 0.055,
        percent,
    )
    yield of_each(
        "by-rto",
        "60 to 88 % of retransmissions are by timeouts",
        {s: one.rto / one.total for s, one in rows.items()},
        lambda _, share: 0.6 <= share <= 0.88,
        percent,
    )


def _timeliness(told: Told) -> Iterator[Claim]:
    fr = {s: times for (s, word), times in told.detection.items() if word == "FR/R"}
    rto = {s: times for (s, word), times in told.detection.items() if word == "RTO"}
    yield of_each(
        "fr-detection",
        "most fast retransmits take 1 to 2 RTTs",
        {s: number(((times >= 0.9) & (times <= 2)).mean()) for s, times in fr.items()},
        lambda _, share: share > 0.5,
        percent,
    )
    solaris = {s: number((times > 5).mean()) for s, times in fr.items() if s == "Solaris"}
    words = "around 7 % of Solaris's fast retransmits take more than 5 RTTs"
    yield of_each("fr-solaris", words, solaris, lambda _, share: is_around(share, 0.07), percent)
    both = {s: median(rto[s]) / max(median(fr[s]), 1e-9) for s in rto if s in fr}
    words = "timeouts take much longer than fast retransmits (how many times, medians)"
    yield of_each("rto-longer", words, both, lambda _, times: times > 1.5, lambda x: f"{x:.1f}")
    printed = {"Windows": 4, "Linux": 4, "Solaris": 10, "FreeBSD": 10}
    yield of_each(
        "rto-medians",
        "timeouts take around 4 RTTs in Windows and Linux, almost 10 in Solaris and FreeBSD",
        {s: median(times) for s, times in rto.items() if s in printed},
        lambda s, median: is_around(median, printed[s]),
        lambda x: f"{x:.1f}",
    )
    tail = {s: number((rto[s] > 10).mean()) for s in rto if s in ("Windows", "Linux")}
    holds = None
    if len(tail) == 2:
        holds = is_around(tail["Linux"], 0.1) and tail["Windows"] >= 1.5 * tail["Linux"]
    words = "around 10 % of Linux's timeouts take more than 10 RTTs, of Windows's nearly 25 %"
    yield claim("rto-tail", words, holds, texts(tail, percent))
    yield from _why_timeouts(told)


def _why_timeouts(told: Told) -> Iterator[Claim]:
    """What the study found behind its timeouts."""
    rows = told.study.detections("mechanism", "flight_segments", "timer_s")
    rows = rows.filter(pl.col("mechanism") == "rto")
    first = pl.col("timer_s").is_between(0.9 * FIRST_TIMEOUT_S, 1.1 * FIRST_TIMEOUT_S)
    few, early = {}, {}
    for system in told.systems:
        mine = rows.filter(pl.col("system") == system)
        flights = mine["flight_segments"].drop_nulls()
        if flights.len():
            few[system] = number((flights <= (2 if system == "Windows" else 3)).mean())
        long = mine.filter(pl.col("detected_rtts") > 10, pl.col("timer_s").is_not_null())
        if system == "Windows" and long.height:
            early[system] = number(long.select(first.mean()).item())
    words = "the first of them come mostly where too few segments fly for duplicates (at most D)"
    yield of_each("rto-few", words, few, lambda _, share: share > 0.5, percent)
    words = "several of Windows's longer than 10 RTTs are losses at the start: timeouts of 3 s"
    yield of_each("rto-first", words, early, lambda _, share: share >= SEVERAL, percent)


def _recovery(told: Told) -> Iterator[Claim]:
    of = {(one.lost, one.sack): one.median_rtts for one in told.tables.recovery}
    ratios = {}
    for lost in sorted({lost for lost, _ in of}):
        with_sack, without = of.get((lost, True)), of.get((lost, False))
        if with_sack and without:
            ratios[f"{lost} lost"] = without / with_sack
    helps = {name: ratio > 1.1 for name, ratio in ratios.items()}
    expected = {name: int(name.split()[0]) >= 3 for name in ratios}
    grows = {
        word: (one, most)
        for word, sack in (("SACK", True), ("without", False))
        if (one := of.get((1, sack))) and (most := of.get((MOST_LOST, sack)))
    }
    holds = all(most > 1.5 * one for one, most in grows.values())
    measured = {word: f"{one:.2f} and {most:.2f}" for word, (one, most) in grows.items()}
    words = "recovery takes longer the more a flight lost (RTTs of 1 and of 5 or more lost)"
    yield claim("recovery-lost", words, holds, measured)
    words = "SACK shortens recovery, but only from 3 losses a flight on (without / with)"
    yield claim("sack", words, helps == expected, texts(ratios, lambda x: f"{x:.2f}"))
    rows = (
        told.study.retransmissions(
            "episode", "time_ns", "recovery_s", "moving_rtt_s", "mechanism", "lost_in_flight"
        )
        .sort("time_ns", maintain_order=True)
        .group_by("trace", "connection", "direction", "episode", maintain_order=True)
        .first()
        .filter(pl.col("recovery_s").is_not_null(), pl.col("lost_in_flight") == 1)
        .with_columns((pl.col("recovery_s") / pl.col("moving_rtt_s")).alias("rtts"))
        .drop_nulls("rtts")
    )
    medians = {s: median(rows.filter(pl.col("system") == s)["rtts"]) for s in told.systems}
    medians = {s: median for s, median in medians.items() if median}
    words = "recovery does not depend on the system (RTTs, of one loss)"
    yield claim("recovery-system", words, _alike(medians), texts(medians, lambda x: f"{x:.2f}"))
    by = {
        word: median(rows.filter(pl.col("mechanism").is_in(mechanisms))["rtts"])
        for word, mechanisms in (("RTO", RTO), ("FR/R", FR))
    }
    by = {word: median for word, median in by.items() if median}
    words = "nor on what detected the loss"
    yield claim("recovery-mechanism", words, _alike(by), texts(by, lambda x: f"{x:.2f}"))


def _alike(values: Mapping[str, float]) -> bool | None:
    if len(values) < 2:
        return None
    return max(values.values()) <= 2 * min(values.values())


def _scope(told: Told) -> Iterator[Claim]:
    shares = {}
    for system in told.systems:
        mine = told.study.explained.filter(pl.col("system") == system, pl.col("duration_s") > 0)
        shares[system] = (mine["best_case_s"] / mine["duration_s"]).drop_nulls()
    under = {s: number((share < 0.01).mean()) for s, share in shares.items()}
    over = {s: number((share > 0.1).mean()) for s, share in shares.items()}
    words = "the Best-Case saves 45 to 75 % of connections less than 1 %"
    yield of_each("best-under", words, under, lambda _, share: 0.45 <= share <= 0.75, percent)
    words = "it saves 15 to 40 % of connections more than 10 %"
    yield of_each("best-over", words, over, lambda _, share: 0.15 <= share <= 0.4, percent)
    yield of_each(
        "best-linux",
        "more than 40 % of Linux's could be 10 % shorter, less than 15 % of others'",
        over,
        lambda s, share: share > 0.4 if s == "Linux" else share < 0.15,
        percent,
    )
