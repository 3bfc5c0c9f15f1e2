"""What UNC 2007 claims of settings: sections V-B to V-D. They stand on replays under these, and
`rexmit validate whatif` says how far such replays are off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import polars as pl

from rexmit.store.trace_schema import SMART_CONFIG
from rexmit_papers.claim import Claim
from rexmit_papers.unc_2007 import curves
from rexmit_papers.unc_2007.paper import SMART_10_PERCENT
from rexmit_papers.unc_2007.told import (
    Told,
    claim,
    is_around,
    median,
    number,
    of_each,
    percent,
    reduced,
    rtts,
    texts,
)

OTHERS: Final = ("Windows", "Solaris", "FreeBSD")

_NEARLY, _FEW, _NEGLIGIBLE = 0.9, 0.2, 1.0


def _k(told: Told) -> Iterator[Claim]:
    means = {
        f"k={k}": one.mean for k in (2, 3) if (one := told.reduction(f"k={k}", "Linux")) is not None
    }
    words = "Linux: k = 2 and k = 3 shorten connections"
    yield of_each("k-helps", words, means, lambda _, mean: mean > 0, rtts)
    two = told.reduction("k=2", "Linux")
    if two is not None:
        words = "Linux: k = 2 saves at least a fifth of the Best-Case"
        text = f"{two.mean:.2f} of {two.best:.2f} RTTs"
        yield claim("k-best", words, two.mean * 5 >= two.best, text)
    rivals = ("k=2", "min_rto=100ms", "a=1/2", "b=1/2", "d=2")
    means = {
        setting: one.mean
        for setting in rivals
        if (one := told.reduction(setting, "Linux")) is not None
    }
    holds = max(means, key=lambda name: means[name]) == "k=2" if len(means) > 1 else None
    words = "Linux: k is the single-most influential parameter (mean reductions)"
    yield claim("k-most", words, holds, texts(means, rtts))
    bins = told.bins("k=6", "Linux")
    if bins:
        worse = sum(one.mean <= 0 for one in bins)
        yield claim(
            "k-6",
            "Linux: k = 6 consistently lengthens them",
            worse == len(bins),
            f"{worse} of {len(bins)} bins",
        )
    frame = told.frame("k=2", "Linux")
    if frame is not None:
        longer = frame.filter(pl.col("reduction") < 0)
        share = longer.height / frame.height
        typical = median(-longer["reduction"]) if longer.height else 0.0
        text = f"{share:.1%}, by {typical:.2f} RTTs"
        words = "Linux: k = 2 makes a few longer, by about one RTT"
        yield claim("k-longer", words, share < _FEW and typical <= 1.5, text)
    means = {s: one.mean for s, one in told.of("k=2", told.systems).items()}
    linux = means.get("Linux")
    holds = None
    if linux is not None and len(means) > 1:
        holds = all(0 <= mean <= linux for s, mean in means.items() if s != "Linux")
    words = "k = 2 helps other systems likewise, but less than Linux"
    yield claim("k-others", words, holds, texts(means, rtts))


def _minimum(told: Told) -> Iterator[Claim]:
    higher = told.frame("min_rto=400ms", "Linux")
    if higher is not None:
        changed = higher.filter(pl.col("reduction") != 0)
        share = number((changed["reduction"] < 0).mean()) if changed.height else 0.0
        mean = reduced(higher).mean
        yield claim(
            "min-larger",
            "Linux: a minRTO of 400 ms hurts nearly all that it changes",
            share >= _NEARLY and mean < 0,
            f"{share:.1%} of those, {rtts(mean)}",
        )
    low, k = told.reduction("min_rto=100ms", "Solaris"), told.reduction("k=2", "Solaris")
    if low is not None and k is not None:
        yield claim(
            "min-solaris",
            "Solaris: a minRTO of 100 ms helps, but less than k = 2",
            0 < low.mean < k.mean,
            f"{rtts(low.mean)}, k = 2 {rtts(k.mean)}",
        )
    linux = told.reduction("min_rto=100ms", "Linux")
    if linux is not None:
        words = "Linux: a minRTO of 100 ms does next to nothing"
        yield claim("min-linux", words, abs(linux.mean) < _NEGLIGIBLE, rtts(linux.mean))


def _gains(told: Told) -> Iterator[Claim]:
    linux = {
        setting: one.mean
        for setting in ("a=1/2", "a=1/32")
        if (one := told.reduction(setting, "Linux")) is not None
    }
    words = "Linux: a = 1/2 shortens most connections, a = 1/32 lengthens them"
    holds = linux["a=1/2"] > 0 > linux["a=1/32"] if len(linux) == 2 else None
    yield claim("a-linux", words, holds, texts(linux, rtts))
    b = told.reduction("b=1/2", "Linux")
    if b is not None:
        yield claim(
            "b-linux", "Linux: b does next to nothing", abs(b.mean) < _NEGLIGIBLE, rtts(b.mean)
        )
    said, holding = {}, []
    for setting in ("a=1/2", "b=1/2"):
        for system, one in told.of(setting, OTHERS).items():
            said[f"{system} {setting}"] = f"{one.shorter:.0%} shorter, {one.longer:.0%} longer"
            holding.append(one.shorter > one.longer >= 0.05)
    words = "elsewhere larger a and b shorten more than they lengthen, but lengthen many"
    yield claim("gains-others", words, all(holding) if holding else None, said)


def _threshold(told: Told) -> Iterator[Claim]:
    rows = {one.system: one for one in told.tables.thresholds if one.total}
    lower = {
        s: (one.rto_to_fr / one.total, (one.spurious_caused or 0) / one.total)
        for s, one in rows.items()
        if one.first_d == 2 and one.rto_to_fr is not None
    }
    yield claim(
        "d-2-counts",
        "D = 2 turns timeouts into fast retransmits, and causes as many spurious ones (Table V)",
        all(turned > 0 and caused >= 0.5 * turned for turned, caused in lower.values())
        if lower
        else None,
        {s: f"{turned:.1%} and {caused:.1%}" for s, (turned, caused) in lower.items()},
    )
    higher = {
        s: (one.fr_to_rto / one.total, (one.spurious_avoided or 0) / one.total)
        for s, one in rows.items()
        if one.fr_to_rto is not None
    }
    yield claim(
        "d-4-counts",
        "D = 4 turns more fast retransmits into timeouts than spurious ones it avoids",
        all(turned > avoided for turned, avoided in higher.values()) if higher else None,
        {s: f"{turned:.1%} and {avoided:.1%}" for s, (turned, avoided) in higher.items()},
    )
    yield from _sizes(told)
    means = {s: one.mean for s, one in told.of("d=4", told.systems).items()}
    words = "D = 4 lengthens connections of every system"
    yield of_each("d-4", words, means, lambda _, mean: mean < 0, rtts)
    d, k = told.reduction("d=2", "Linux"), told.reduction("k=2", "Linux")
    if d is not None and k is not None:
        text = f"D = 2 {rtts(d.mean)}, k = 2 {rtts(k.mean)}"
        yield claim("d-after-k", "Linux: D comes after k", d.mean < k.mean, text)


def _sizes(told: Told) -> Iterator[Claim]:
    frame = told.frame("d=2", "Linux")
    if frame is None:
        return
    small = frame.filter(pl.col("unique_bytes") <= curves.SMALL_BYTES)
    large = frame.filter(pl.col("unique_bytes") > curves.SMALL_BYTES)
    if not small.height or not large.height:
        return
    one = reduced(small)
    words = "Linux: D = 2 shortens small connections (up to 15 kB)"
    yield claim("d-small", words, one.mean > 0, rtts(one.mean))
    text = f"{one.mean:.2f} of {one.best:.2f} RTTs"
    words = "… by less than a tenth of the Best-Case"
    yield claim("d-best", words, one.mean < one.best / 10, text)
    middle = median(large["best"])
    low = reduced(large.filter(pl.col("best") <= middle)).mean
    high = reduced(large.filter(pl.col("best") > middle)).mean
    yield claim(
        "d-large",
        "Linux: it shortens large ones only where the Best-Case is large",
        low <= 0 < high,
        f"lower half {rtts(low)}, upper half {rtts(high)}",
    )
    others = {}
    for system in ("Solaris", "FreeBSD"):
        mine = told.frame("d=2", system)
        if mine is None:
            continue
        short = mine.filter(pl.col("unique_bytes") <= curves.SMALL_BYTES)
        if short.height:
            others[system] = reduced(short).mean
    words = "D = 2 does the same in the other systems whose D is 3"
    yield of_each("d-others", words, others, lambda _, mean: (mean > 0) == (one.mean > 0), rtts)


def _smart(told: Told) -> Iterator[Claim]:
    smart = told.of(SMART_CONFIG, told.systems)
    yield of_each(
        "smart-10",
        "the Smart-Config makes nearly 40 % of Linux's connections 10 % shorter, of Windows's 7 %, "
        "of Solaris's 20 %, of FreeBSD's 10 %",
        {s: one.shorter_10 for s, one in smart.items()},
        lambda s, share: is_around(share, SMART_10_PERCENT[s] / 100),
        percent,
    )
    shares = {s: one.shorter_10 for s, one in smart.items()}
    holds = max(shares, key=lambda s: shares[s]) == "Linux" if len(shares) > 1 else None
    words = "… and thus the most of Linux's"
    yield claim("smart-linux", words, holds and "Linux" in shares, texts(shares, percent))
    yield of_each(
        "smart-longer",
        "… and less than 3 % 10 % longer",
        {s: one.longer_10 for s, one in smart.items()},
        lambda _, share: share < 0.03,
        percent,
    )
    said, added = {}, {}
    for system in ("Linux", "Windows"):
        rows = told.study.whatif("k=2", "spurious_rto_caused", "spurious_rto_avoided")
        mine = rows.filter(pl.col("system") == system)
        classes = told.classes.get(system)
        if told.study.replayed("k=2") and classes is not None and classes.rto:
            caused, avoided = mine["spurious_rto_caused"].sum(), mine["spurious_rto_avoided"].sum()
            more = number(caused) - number(avoided)
            added[system] = more / classes.rto
            said[system] = percent(added[system])
    holds = None
    if len(added) == 2:
        holds = added["Linux"] <= 0.06 and added["Windows"] >= 2 * added["Linux"]
    words = "k = 2 causes 2 to 6 % more spurious timeouts in Linux, 12 to 34 % in Windows"
    yield claim("smart-spurious", words, holds, said)
    linux = smart.get("Linux")
    if linux is not None:
        text = f"{linux.mean:.2f} of {linux.best:.2f} RTTs"
        words = "Linux: the Smart-Config saves at least half of the Best-Case (Figure 7)"
        yield claim("smart-best", words, 2 * linux.mean >= linux.best, text)


ROOMS: Final[tuple[Callable[[Told], Iterator[Claim]], ...]] = (
    _k,
    _minimum,
    _gains,
    _threshold,
    _smart,
)
"""In the paper's order."""
