"""What UNC 2007 claims of settings: sections V-B to V-D. They stand on replays under these, and
`rexmit validate whatif` says how far such replays are off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import polars as pl

from rexmit.statistics.verdict import LESS, MORE, Band, Verdict, about
from rexmit.store.trace_schema import SMART_CONFIG
from rexmit_papers.claim import Claim, Part, claim, of_estimate
from rexmit_papers.unc_2007 import curves
from rexmit_papers.unc_2007.evidence import (
    Evidence,
    almost,
    median_of,
    of_column,
    of_rows,
    of_sums,
    part_of,
    percent,
    rtts,
    share_of,
    times,
)
from rexmit_papers.unc_2007.paper import SMART_10_PERCENT
from rexmit_papers.unc_2007.senders import KEYS

OTHERS: Final = ("Windows", "Solaris", "FreeBSD")

ABOUT: Final = 0.25
"""Around so much: within this share of it."""

MOST, NEARLY_ALL, FEW = 0.5, 0.9, 0.2

NOTHING_RTTS, NOTHING_SHARE = 1.0, 0.01
"""Next to nothing, on average: less than one RTT (section V-B, of b), and less than 1 % of the
duration, which the paper calls little (section V-A)."""

SIGNIFICANTLY: Final = Band(low=NOTHING_RTTS)

_LEAST_BIN: Final = 5
"""Connections of a bin whose mean says something."""


def _reductions(evidence: Evidence, setting: str, band: Band, *systems: str) -> Iterator[Part]:
    """The mean reduction of each system is to lie in the band."""
    for system, frame in evidence.frames(setting, *systems):
        yield of_estimate(system, of_column(frame, "reduction"), band, rtts)


def _negligible(evidence: Evidence, setting: str, system: str) -> Iterator[Part]:
    for _, frame in evidence.frames(setting, system):
        most = Band(-NOTHING_RTTS, NOTHING_RTTS)
        yield of_estimate("", of_column(frame, "reduction"), most, rtts)
        small = Band(-NOTHING_SHARE, NOTHING_SHARE)
        change = of_column(frame, "relative")
        yield of_estimate("", change, small, lambda share: f"{share:+.2%} of the duration")


def _saved(evidence: Evidence, setting: str, system: str, band: Band) -> Iterator[Part]:
    """The share of the Best-Case that a setting saves."""
    for _, frame in evidence.frames(setting, system):
        best = of_column(frame, "best")
        if best.value:
            yield of_estimate("", of_column(frame, "reduction") / best, band, percent)


def _most_of(evidence: Evidence, first: str, others: tuple[str, ...]) -> Iterator[Part]:
    """What Linux's connections gain by the first setting more than by each of the others."""
    for setting in others:
        yield from _more(evidence, first, setting, "Linux", f"than {setting}")


def _more(study: Evidence, first: str, other: str, system: str, name: str) -> Iterator[Part]:
    """What a system's connections gain by the first setting more than by the other."""
    mine, theirs = (study.reduction(setting, system) for setting in (first, other))
    if mine is not None and theirs is not None:
        yield of_estimate(name, mine - theirs, MORE, rtts)


def _k(evidence: Evidence) -> Iterator[Claim]:
    parts = [
        of_estimate(setting, mean, SIGNIFICANTLY, rtts)
        for setting in ("k=2", "k=3")
        if (mean := evidence.reduction(setting, "Linux")) is not None
    ]
    yield claim("k-helps", "Linux: k = 2 and k = 3 significantly shorten connections", parts)
    words = "Linux: k = 2 saves at least a fifth of the Best-Case"
    yield claim("k-best", words, _saved(evidence, "k=2", "Linux", Band(low=0.2)))
    rivals = ("min_rto=100ms", "a=1/2", "b=1/2", "d=2")
    words = "Linux: k is the single-most influential parameter (mean reductions, k = 2's more)"
    yield claim("k-most", words, _most_of(evidence, "k=2", rivals))
    yield _k_6(evidence)
    frame = evidence.frame("k=2", "Linux")
    if frame is not None:
        longer = frame.filter(pl.col("reduction") < 0).with_columns(-pl.col("reduction"))
        share = share_of(frame, pl.col("reduction") < 0)
        parts = [part_of("", share, Band(high=FEW), percent)]
        if longer.height:
            typical = median_of(of_rows(longer, "reduction"))
            slight = Band(high=1 + ABOUT)
            parts.append(part_of("by", typical, slight, lambda x: f"{x:.2f} RTTs"))
        words = "Linux: k = 2 makes a few longer, slightly: by one RTT"
        yield claim("k-longer", words, parts)
    words = "k = 2 helps other systems likewise, but less than Linux"
    yield claim("k-others", words, _less_than_linux(evidence))


def _less_than_linux(evidence: Evidence) -> Iterator[Part]:
    linux = evidence.reduction("k=2", "Linux")
    if linux is None:
        return
    for system, frame in evidence.frames("k=2"):
        if system != "Linux":
            mean = of_column(frame, "reduction")
            yield of_estimate(system, mean, MORE, rtts)
            yield of_estimate(f"Linux less {system}", linux - mean, MORE, rtts)


def _k_6(evidence: Evidence) -> Claim:
    """In every bin of the figure that has some connections."""
    parts = []
    frame = evidence.frame("k=6", "Linux")
    if frame is not None:
        binned = frame.filter(pl.col("best") > 0).with_columns(
            pl.col("best").log(2).floor().alias("bin")
        )
        for part in binned.sort("bin", *KEYS).partition_by("bin", maintain_order=True):
            if part.height >= _LEAST_BIN:
                low = 2 ** float(part["bin"][0])
                mean = of_column(part, "reduction")
                # A few connections that nothing happens to do not speak against it.
                parts.append(of_estimate(f"from {low:g} RTT", mean, Band(high=0.0), rtts))
    longer = sum(part.value <= 0 for part in parts)
    undecided = sum(part.verdict is Verdict.UNDECIDED for part in parts)
    text = f"{longer} of {len(parts)} bins, {undecided} undecided"
    return claim("k-6", "Linux: k = 6 consistently lengthens them", parts, text)


def _minimum(evidence: Evidence) -> Iterator[Claim]:
    higher = evidence.frame("min_rto=400ms", "Linux")
    if higher is not None:
        changed = higher.filter(pl.col("reduction") != 0)
        parts = [of_estimate("", of_column(higher, "reduction"), LESS, rtts)]
        if changed.height:
            share = share_of(changed, pl.col("reduction") < 0)
            parts.append(part_of("of those", share, Band(low=NEARLY_ALL), percent))
        words = "Linux: a minRTO of 400 ms hurts nearly all that it changes"
        yield claim("min-larger", words, parts)
    low, k = evidence.reduction("min_rto=100ms", "Solaris"), evidence.reduction("k=2", "Solaris")
    if low is not None and k is not None:
        words = "Solaris: a minRTO of 100 ms helps, but less than k = 2"
        less = of_estimate("k = 2 less that", k - low, MORE, rtts)
        yield claim("min-solaris", words, [of_estimate("", low, MORE, rtts), less])
    words = "Linux: a minRTO of 100 ms does next to nothing"
    yield claim("min-linux", words, _negligible(evidence, "min_rto=100ms", "Linux"))
    yield claim(
        "min-most",
        "minRTO is not the most influential parameter: k = 2 shortens more than a minRTO of 100 ms "
        "(sections I, VI, VII)",
        [part for s in evidence.systems for part in _more(evidence, "k=2", "min_rto=100ms", s, s)],
    )


def _gains(evidence: Evidence) -> Iterator[Claim]:
    parts = [
        of_estimate(setting, mean, band, rtts)
        for setting, band in (("a=1/2", MORE), ("a=1/32", LESS))
        if (mean := evidence.reduction(setting, "Linux")) is not None
    ]
    words = "Linux: a = 1/2 shortens most connections, a = 1/32 lengthens them"
    yield claim("a-linux", words, parts)
    words = "Linux: b does next to nothing"
    yield claim("b-linux", words, _negligible(evidence, "b=1/2", "Linux"))
    words = "elsewhere larger a and b shorten more than they lengthen, but lengthen many"
    yield claim("gains-others", words, _both_ways(evidence))


def _both_ways(evidence: Evidence) -> Iterator[Part]:
    for setting in ("a=1/2", "b=1/2"):
        for system, frame in evidence.frames(setting, *OTHERS):
            shorter, longer = pl.col("change_s") < 0, pl.col("change_s") > 0
            frame = frame.with_columns(
                (shorter.cast(pl.Float64) - longer.cast(pl.Float64)).alias("more")
            )
            name = f"{system} {setting}"
            yield of_estimate(
                f"{name} shorter less longer", of_column(frame, "more"), MORE, percent
            )
            yield part_of(f"{name} longer", share_of(frame, longer), Band(low=0.05), percent)


def _threshold(evidence: Evidence) -> Iterator[Claim]:
    turned = pl.col("rto_to_fr") - pl.col("fr_to_rto")
    caused = pl.col("spurious_fr_caused") - pl.col("spurious_fr_avoided")
    lower, higher = [], []
    for system in evidence.systems:
        frame = evidence.changed("d=2", system, turned=turned, caused=caused)
        if system != "Windows" and frame is not None:
            lower.append(part_of(system, of_sums(frame, "turned", "total"), MORE, percent))
            if frame["turned"].sum():
                ratio = of_column(frame, "caused") / of_column(frame, "turned")
                lower.append(of_estimate(f"{system} spurious by turned", ratio, _AS_MANY, times))
        frame = evidence.changed("d=4", system, turned=-turned, avoided=-caused)
        if frame is not None:
            whole = of_column(frame, "total")
            more = (of_column(frame, "turned") - of_column(frame, "avoided")) / whole
            higher.append(of_estimate(system, more, MORE, percent))
    yield claim(
        "d-2-counts",
        "D = 2 turns timeouts into fast retransmits, and causes as many spurious ones (Table V)",
        lower,
    )
    words = "D = 4 turns more fast retransmits into timeouts than spurious ones it avoids"
    yield claim("d-4-counts", words, higher)
    yield from _sizes(evidence)
    words = "D = 4 lengthens connections of every system"
    yield claim("d-4", words, _reductions(evidence, "d=4", LESS))
    words = "Linux: D comes after k (mean reductions, k = 2's more)"
    yield claim("d-after-k", words, _most_of(evidence, "k=2", ("d=2",)))


_AS_MANY: Final = Band(0.5, 2.0)


def _sizes(evidence: Evidence) -> Iterator[Claim]:
    frame = evidence.frame("d=2", "Linux")
    if frame is None:
        return
    small = frame.filter(pl.col("unique_bytes") <= curves.SMALL_BYTES)
    large = frame.filter(pl.col("unique_bytes") > curves.SMALL_BYTES)
    if not small.height or not large.height:
        return
    saved, best = of_column(small, "reduction"), of_column(small, "best")
    words = "Linux: D = 2 shortens small connections (up to 15 kB)"
    yield claim("d-small", words, [of_estimate("", saved, MORE, rtts)])
    if best.value:
        part = of_estimate("", saved / best, Band(high=0.1), percent)
        yield claim("d-best", "… by less than a tenth of the Best-Case", [part])
    middle = large["best"].median()
    halves = {
        "lower half": (large.filter(pl.col("best") <= middle), LESS),
        "upper half": (large.filter(pl.col("best") > middle), MORE),
    }
    yield claim(
        "d-large",
        "Linux: it shortens large ones only where the Best-Case is large",
        [
            of_estimate(name, of_column(half, "reduction"), band, rtts)
            for name, (half, band) in halves.items()
            if half.height
        ],
    )
    others = []
    for system, mine in evidence.frames("d=2", "Solaris", "FreeBSD"):
        short = mine.filter(pl.col("unique_bytes") <= curves.SMALL_BYTES)
        if short.height:
            others.append(of_estimate(system, of_column(short, "reduction"), MORE, rtts))
    words = "D = 2 does the same to small ones in the other systems whose D is 3"
    yield claim("d-others", words, others)


def _smart(evidence: Evidence) -> Iterator[Claim]:
    frames = dict(evidence.frames(SMART_CONFIG))
    shorter = {s: share_of(one, pl.col("relative") <= -0.1) for s, one in frames.items()}
    bands = {s: about(share / 100, ABOUT) for s, share in SMART_10_PERCENT.items()}
    bands["Linux"] = almost(SMART_10_PERCENT["Linux"] / 100)
    yield claim(
        "smart-10",
        "the Smart-Config makes nearly 40 % of Linux's connections 10 % shorter, of Windows's 7 %, "
        "of Solaris's 20 %, of FreeBSD's 10 %",
        [part_of(s, share, bands[s], percent) for s, share in shorter.items()],
    )
    yield claim("smart-linux", "… and thus the most of Linux's", _most_shorter(frames))
    yield claim(
        "smart-longer",
        "… and less than 3 % 10 % longer",
        [
            part_of(s, share_of(one, pl.col("relative") >= 0.1), Band(high=0.03), percent)
            for s, one in frames.items()
        ],
    )
    more = pl.col("spurious_rto_caused") - pl.col("spurious_rto_avoided")
    parts = []
    for system, band in (("Linux", Band(0.02, 0.06)), ("Windows", Band(0.12, 0.34))):
        frame = evidence.changed("k=2", system, more=more)
        if frame is not None:
            frame = frame.with_columns((pl.col("needed_rto") + pl.col("spurious_rto")).alias("rto"))
            if frame["rto"].sum():
                parts.append(part_of(system, of_sums(frame, "more", "rto"), band, percent))
    words = "k = 2 causes 2 to 6 % more spurious timeouts in Linux, 12 to 34 % in Windows"
    yield claim("smart-spurious", words, parts)
    words = "Linux: the Smart-Config saves at least half of the Best-Case (Figure 7)"
    yield claim("smart-best", words, _saved(evidence, SMART_CONFIG, "Linux", Band(low=0.5)))


def _most_shorter(frames: dict[str, pl.DataFrame]) -> Iterator[Part]:
    shares = {
        system: of_column(
            frame.with_columns((pl.col("relative") <= -0.1).cast(pl.Float64).alias("is")), "is"
        )
        for system, frame in frames.items()
    }
    for system, share in shares.items():
        if system != "Linux" and "Linux" in shares:
            yield of_estimate(f"Linux less {system}", shares["Linux"] - share, MORE, percent)


ROOMS: Final[tuple[Callable[[Evidence], Iterator[Claim]], ...]] = (
    _k,
    _minimum,
    _gains,
    _threshold,
    _smart,
)
"""In the paper's order."""
