"""What UNC 2007 claims (section V), each computed from a study of any traces.

Where the paper says no number, `MEANT` says what its words are taken to mean. `setting_claims` has
those about settings, from section V-B on, `related_claims` those of section VI.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Final

import polars as pl

from rexmit.statistics.interval import of_share
from rexmit.statistics.spread import Spread
from rexmit.statistics.verdict import Band, about
from rexmit_papers.claim import Claim, Source, claim
from rexmit_papers.unc_2007 import related_claims, setting_claims
from rexmit_papers.unc_2007.evidence import (
    Evidence,
    almost,
    median_of,
    of_rows,
    of_sums,
    part_of,
    percent,
    ratio_of,
    share_of,
    share_over,
    times,
)
from rexmit_papers.unc_2007.paper import SOURCE as PAPER
from rexmit_papers.unc_2007.paper import TABLE_3
from rexmit_papers.unc_2007.senders import Study
from rexmit_papers.unc_2007.setting_claims import ABOUT, MOST, NEARLY_ALL
from rexmit_papers.unc_2007.systems import FR, RTO
from rexmit_papers.unc_2007.tables import MOST_LOST, Tables

MEANT: Final = (
    f"around: within {ABOUT * 100:g} % of it; almost, nearly: from {(1 - ABOUT) * 100:g} % of it "
    "up to it; alike, independent: within a factor of 2; negligible, next to nothing: less than "
    "one RTT, as the paper has it of b, and less than 1 % of the duration, its little potential, "
    f"on average; significantly: by more than one RTT; most, nearly all: {MOST * 100:g} % and "
    f"{NEARLY_ALL * 100:g} %; helps, hurts: the mean change of durations of lossy explained "
    "connections, in RTTs; a few: less than 20 %; several: 5 %; longer the more a flight lost: "
    "half as long again; shortens recovery: by a tenth"
)
SEVERAL: Final = 0.05
FIRST_TIMEOUT_S: Final = 3.0  #: Table I: of Windows

SOURCE: Final = Source("2007", PAPER, MEANT)


def claims(study: Study, tables: Tables) -> tuple[Claim, ...]:
    """In the paper's order."""
    evidence = Evidence(study, tables)
    rooms = (_identified, _accuracy, _timeliness, _recovery, _scope)
    others = (*setting_claims.ROOMS, related_claims.claims)
    return tuple(one for room in (*rooms, *others) for one in room(evidence))


def _identified(evidence: Evidence) -> Iterator[Claim]:
    least = min(one.share for one in TABLE_3) / 100
    lossy = evidence.study.senders.filter("lossy")
    explained = pl.col("system").is_not_null()
    yield claim(
        "explained",
        "Table III: 76 to 99 % of lossy connections are explained",
        [
            part_of(totals.name, share_of(mine, explained), Band(low=least), percent)
            for number, totals in enumerate(evidence.study.totals)
            if (mine := lossy.filter(pl.col("trace") == number)).height
        ],
        counted=not evidence.made_here,
    )
    agreement = evidence.tables.agreement
    if agreement.named:
        share = agreement.agree / agreement.named
        part = part_of("", (share, of_share(share, agreement.named)), Band(low=0.999), percent)
        yield claim(
            "syn",
            "the SYN names the same system in more than 99.9 %",
            [part],
            f"{agreement.agree:,} of {agreement.named:,}: {part.words}",
            counted=not evidence.made_here,
        )


def _accuracy(evidence: Evidence) -> Iterator[Claim]:
    spurious = pl.col("spurious_rto") + pl.col("spurious_fr")
    rows = {
        system: frame.with_columns(
            spurious.alias("spurious"),
            (pl.col("needed_rto") + pl.col("spurious_rto")).alias("rto"),
        )
        for system, frame in evidence.counted.items()
    }

    def each(key: str, words: str, part: str, band: Band, whole: str = "total") -> Claim:
        by_system = [
            part_of(system, of_sums(frame, part, whole), band, percent)
            for system, frame in rows.items()
            if frame[whole].sum()
        ]
        return claim(key, words, by_system)

    yield each(
        "spurious",
        "a significant number of retransmissions are spurious (printed: 6 to 36 %)",
        "spurious",
        Band(0.06, 0.36),
    )
    words = "most of those are timeouts"
    yield each("spurious-by-rto", words, "spurious_rto", Band(low=MOST), "spurious")
    by_rto = {system: of_sums(frame, "spurious_rto", "total") for system, frame in rows.items()}
    parts = []
    if "Linux" in by_rto and "Windows" in by_rto:
        parts = [
            part_of("Linux", by_rto["Linux"], Band(high=0.04), percent),
            part_of(
                "Windows by Linux",
                ratio_of(by_rto["Windows"], by_rto["Linux"]),
                Band(low=2.0),
                times,
            ),
        ]
    shares = ", ".join(f"{system} {percent(one[0])}" for system, one in by_rto.items())
    words = "spurious timeouts: Windows 26 % of all retransmissions, Linux less than 4 %: much more"
    measured = ", ".join(part.words for part in parts)
    yield claim("spurious-windows", words, parts, f"{shares}; {measured}")
    yield each(
        "spurious-fr",
        "spurious fast retransmits are 3 to 5 %, and alike",
        "spurious_fr",
        Band(0.025, 0.055),
    )
    words = "60 to 88 % of retransmissions are by timeouts"
    yield each("by-rto", words, "rto", Band(0.6, 0.88))


def _timeliness(evidence: Evidence) -> Iterator[Claim]:
    fr = {s: detected for (s, word), detected in evidence.detection.items() if word == "FR/R"}
    rto = {s: detected for (s, word), detected in evidence.detection.items() if word == "RTO"}

    def between(detected: Spread, low: float, high: float) -> Spread:
        """1 for a value between the two, 0 for others."""
        inside = tuple(float(low <= one <= high) for one in detected.values)
        return Spread(inside, detected.units, detected.source)

    yield claim(
        "fr-detection",
        "most fast retransmits take 1 to 2 RTTs",
        [
            part_of(s, share_over(between(detected, 0.9, 2), 0.5), Band(low=MOST), percent)
            for s, detected in fr.items()
        ],
    )
    yield claim(
        "fr-solaris",
        "around 7 % of Solaris's fast retransmits take more than 5 RTTs",
        [
            part_of(s, share_over(detected, 5), about(0.07, ABOUT), percent)
            for s, detected in fr.items()
            if s == "Solaris"
        ],
    )
    medians = {s: median_of(detected) for s, detected in rto.items()}
    yield claim(
        "rto-longer",
        "timeouts take much longer than fast retransmits (how many times, medians)",
        [
            part_of(s, ratio_of(medians[s], median_of(fr[s])), Band(low=1.5), times)
            for s in medians
            if s in fr
        ],
    )
    printed = {"Windows": about(4, ABOUT), "Linux": about(4, ABOUT)}
    printed |= {"Solaris": almost(10), "FreeBSD": almost(10)}
    yield claim(
        "rto-medians",
        "timeouts take around 4 RTTs in Windows and Linux, almost 10 in Solaris and FreeBSD",
        [part_of(s, one, printed[s], times) for s, one in medians.items() if s in printed],
    )
    tails = {"Linux": about(0.1, ABOUT), "Windows": almost(0.25)}
    yield claim(
        "rto-tail",
        "around 10 % of Linux's timeouts take more than 10 RTTs, of Windows's nearly 25 %",
        [
            part_of(s, share_over(rto[s], 10), band, percent)
            for s, band in tails.items()
            if s in rto
        ],
    )
    yield from _why_timeouts(evidence)
    early = {s: of_sums(frame, "spurious_rto", "total") for s, frame in evidence.counted.items()}
    yield claim(
        "estimator",
        "Linux's estimator is the most efficient: others' timeouts take longer, and more of them "
        "are spurious (sections I, VII; how many times)",
        [
            part_of(f"{s} {what}", ratio_of(of[s], of["Linux"]), Band(low=1.0), times)
            for what, of in (("time", medians), ("spurious", early))
            if "Linux" in of
            for s in of
            if s != "Linux"
        ],
    )


def _why_timeouts(evidence: Evidence) -> Iterator[Claim]:
    """What the study found behind its timeouts."""
    rows = evidence.study.detections("mechanism", "flight_segments", "timer_s")
    rows = rows.filter(pl.col("mechanism") == "rto")
    first = pl.col("timer_s").is_between(0.9 * FIRST_TIMEOUT_S, 1.1 * FIRST_TIMEOUT_S)
    few, early = [], []
    for system in evidence.systems:
        mine = rows.filter(pl.col("system") == system)
        flights = mine.drop_nulls("flight_segments")
        if flights.height:
            d = 2 if system == "Windows" else 3
            small = flights.with_columns(
                (pl.col("flight_segments") <= d).cast(pl.Float64).alias("is")
            )
            share = share_over(of_rows(small, "is"), 0.5)
            few.append(part_of(system, share, Band(low=MOST), percent))
        long = mine.filter(pl.col("detected_rtts") > 10, pl.col("timer_s").is_not_null())
        if system == "Windows" and long.height:
            is_first = long.with_columns(first.cast(pl.Float64).alias("is"))
            share = share_over(of_rows(is_first, "is"), 0.5)
            early.append(part_of(system, share, Band(low=SEVERAL), percent))
    words = "the first of them come mostly where too few segments fly for duplicates (at most D)"
    yield claim("rto-few", words, few)
    words = "several of Windows's longer than 10 RTTs are losses at the start: timeouts of 3 s"
    yield claim("rto-first", words, early)


def _recovery(evidence: Evidence) -> Iterator[Claim]:
    rows = (
        evidence.study.retransmissions(
            "episode", "time_ns", "recovery_s", "moving_rtt_s", "mechanism", "lost_in_flight"
        )
        .sort("time_ns", maintain_order=True)
        .group_by("trace", "connection", "direction", "episode", maintain_order=True)
        .first()
        .filter(pl.col("recovery_s").is_not_null(), pl.col("lost_in_flight") > 0)
        .with_columns(
            pl.col("lost_in_flight").clip(upper_bound=MOST_LOST).alias("lost"),
            (pl.col("recovery_s") / pl.col("moving_rtt_s")).alias("rtts"),
        )
        .drop_nulls("rtts")
    )

    def median(*wanted: pl.Expr) -> Spread:
        return of_rows(rows.filter(*wanted), "rtts")

    of = {
        (lost, sack): median(pl.col("lost") == lost, pl.col("sack") == sack)
        for lost in range(1, MOST_LOST + 1)
        for sack in (True, False)
    }
    of = {key: rtts for key, rtts in of.items() if rtts.percentile(0.5)}
    grows = [
        part_of(
            word,
            ratio_of(median_of(of[MOST_LOST, sack]), median_of(of[1, sack])),
            Band(low=1.5),
            times,
        )
        for word, sack in (("SACK", True), ("without", False))
        if (1, sack) in of and (MOST_LOST, sack) in of
    ]
    words = "recovery takes longer the more a flight lost (of 5 or more, how many times that of 1)"
    yield claim("recovery-lost", words, grows)
    words = "SACK shortens recovery, but only from 3 losses a flight on (without / with)"
    shortens, does_not = Band(low=1.1), Band(high=1.1)
    yield claim(
        "sack",
        words,
        [
            part_of(
                f"{lost} lost",
                ratio_of(median_of(of[lost, False]), median_of(of[lost, True])),
                shortens if lost >= 3 else does_not,
                times,
            )
            for lost in range(1, MOST_LOST + 1)
            if (lost, True) in of and (lost, False) in of
        ],
    )
    one = pl.col("lost_in_flight") == 1
    by_system = {s: median(one, pl.col("system") == s) for s in evidence.systems}
    words = "recovery does not depend on the system (RTTs, of one loss)"
    yield _alike("recovery-system", words, by_system)
    by = {
        word: median(one, pl.col("mechanism").is_in(mechanisms))
        for word, mechanisms in (("RTO", RTO), ("FR/R", FR))
    }
    yield _alike("recovery-mechanism", "nor on what detected the loss", by)


def _alike(key: str, words: str, by_name: dict[str, Spread]) -> Claim:
    """Any two within a factor of 2."""
    medians = {name: median_of(one) for name, one in by_name.items() if one.percentile(0.5)}
    parts = [
        part_of(f"{one} by {other}", ratio_of(medians[one], medians[other]), Band(0.5, 2.0), times)
        for one, other in combinations(medians, 2)
    ]
    return claim(key, words, parts, ", ".join(f"{n} {times(one[0])}" for n, one in medians.items()))


def _scope(evidence: Evidence) -> Iterator[Claim]:
    share = pl.col("best_case_s") / pl.col("duration_s")
    rows = evidence.study.explained.filter(pl.col("duration_s") > 0).with_columns(
        share.alias("best")
    )
    mine = {
        system: frame
        for system in evidence.systems
        if (frame := rows.filter(pl.col("system") == system).drop_nulls("best")).height
    }
    under = {s: share_of(frame, pl.col("best") < 0.01) for s, frame in mine.items()}
    over = {s: share_of(frame, pl.col("best") > 0.1) for s, frame in mine.items()}
    words = "the Best-Case saves 45 to 75 % of connections less than 1 %"
    band = Band(0.45, 0.75)
    yield claim("best-under", words, [part_of(s, one, band, percent) for s, one in under.items()])
    words = "it saves 15 to 40 % of connections more than 10 %"
    band = Band(0.15, 0.4)
    yield claim("best-over", words, [part_of(s, one, band, percent) for s, one in over.items()])
    bands = {"Linux": Band(low=0.4)}
    yield claim(
        "best-linux",
        "more than 40 % of Linux's could be 10 % shorter, less than 15 % of others'",
        [part_of(s, one, bands.get(s, Band(high=0.15)), percent) for s, one in over.items()],
    )
