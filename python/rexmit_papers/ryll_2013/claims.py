"""What Ryll 2013 claims (section 4 and 5), each computed from a run of its campaign.

A claim holds, does not, or cannot be told from a run that lacks the transfers for it. What counts
as equal, as about so much, as none, stands with each claim; times are means as in Table 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import polars as pl

from rexmit.analysis.axes import groups, with_axes
from rexmit.analysis.cells import Cell, Spread, summarise
from rexmit.analysis.leave_out import TLP_CONFIG
from rexmit.analysis.network import setting_of
from rexmit.analysis.runner import tick_ns
from rexmit.analysis.times import MEASURES, percent
from rexmit.errors import UserError
from rexmit.store.open_run import Run
from rexmit.wording import count, signed_percent
from rexmit_papers.claim import Claim, Source
from rexmit_papers.ryll_2013 import paper
from rexmit_papers.ryll_2013.conditions import is_papers_cell, is_papers_network

PLAIN, ER, TLP = "plain", paper.BASELINE, TLP_CONFIG
HIGH_SPEED, MOBILE, SATELLITE = "high-speed", "mobile", "satellite"

#: Equal, and no gain: within so many percent, or within a tick of the timers.
EQUAL_PERCENT = 1.0
#: Almost equal, and no substantial gain.
ALMOST_PERCENT = 5.0
#: A percentage of Table 4 is met within so many percentage points.
POINTS = 5.0
#: About so much: within this share of it.
ABOUT = 0.25
#: A step of a curve is more than this share of the round trip.
STEP = 0.5

SOURCE: Final = Source(
    "2013",
    paper.SOURCE,
    f"equal, nothing: within {EQUAL_PERCENT:g}% or a timer's tick; almost, substantial: "
    f"{ALMOST_PERCENT:g}%; about: within {ABOUT * 100:g}%; percentages: within "
    f"{POINTS:g} points",
)


@dataclass(frozen=True)
class _Campaign:
    """The paper's cells of a run."""

    cells: dict[tuple[str, str, int], Cell]
    tick_s: float
    run: Run

    def spread(self, measure: str, network: str, config: str, lost: int) -> Spread:
        cell = self.cells.get((network, config, lost))
        found: Spread = getattr(cell, measure) if cell else Spread(0, None, None)
        return found

    def mean(self, measure: str, network: str, config: str, lost: int) -> float | None:
        return self.spread(measure, network, config, lost).mean_s

    def losses(self, network: str, *configs: str) -> list[int]:
        """The numbers of lost segments that the network has with all of these configurations."""
        there = [{n for w, c, n in self.cells if (w, c) == (network, config)} for config in configs]
        return sorted(set.intersection(*there))

    def networks(self) -> list[str]:
        return list(dict.fromkeys(network for network, _, _ in self.cells))

    def overall(
        self, measure: str, network: str, config: str, losses: Iterable[int]
    ) -> float | None:
        """The mean of the means over these losses."""
        found = [self.mean(measure, network, config, lost) for lost in losses]
        known = [mean for mean in found if mean is not None]
        return math.fsum(known) / len(known) if known else None


def claims(run: Run, *, keep_inexact: bool = False) -> tuple[Claim, ...]:
    """Raises UserError for a run without any transfer of the paper's campaign."""
    frame = with_axes(run.transfers)
    cells = [
        cell
        for cell in summarise(frame, groups(frame), keep_inexact=keep_inexact)
        if is_papers_cell(cell) and cell.network in paper.NETWORKS
    ]
    there = {
        (cell.network, cell.config, cell.lost_segments): cell
        for cell in cells
        if is_papers_network(cell.network, setting_of(run.scenario, cell.network))
    }
    if not there:
        raise UserError(
            "the claims are about the paper's campaign: no transfer of its networks is here",
            "run it: rexmit run tlp-2013",
        )
    campaign = _Campaign(there, tick_ns(run.meta) / 1e9, run)
    return tuple(
        Claim(key, words, *(tell(campaign) or (None, "the run has no transfers for it")))
        for key, words, tell in _CLAIMS
    )


Told = tuple[bool, str] | None


def _no_loss(run: _Campaign) -> Told:
    facts, holds = [], []
    for network in run.networks():
        means = [run.mean("t_total", network, config, 0) for config in (PLAIN, ER, TLP)]
        known = [mean for mean in means if mean is not None]
        if len(known) < 2:
            continue
        apart = max(known) - min(known)
        holds.append(_nothing(run, apart, min(known)))
        facts.append(f"{network} {apart * 1000:.3f} ms")
    return (all(holds), f"apart by {', '.join(facts)}") if facts else None


def _single(run: _Campaign) -> Told:
    facts, holds = [], []
    for network in run.networks():
        tlp, er = (run.mean("t_recover", network, config, 1) for config in (TLP, ER))
        if tlp is None or er is None:
            continue
        holds.append(_nothing(run, max(er - tlp, 0.0), er))
        facts.append(f"{network} {signed_percent(percent(tlp, er))}")
    if not facts:
        return None
    return all(holds), f"t_recover against {ER}: {', '.join(facts)}{_fin(run)}"


def _fin(run: _Campaign) -> str:
    """Whether the lost tail had a FIN of its own: then a single segment is not all that is out."""
    rows = run.run.transfers.filter((pl.col("config") == TLP) & (pl.col("lost_segments") == 1))
    bare = int((~rows["fin_on_data"].fill_null(True)).sum())
    if not bare:
        return "; the FIN is on the data"
    return f"; a FIN of its own in {bare:,} of {count(rows.height, 'transfer')}"


def _twice(run: _Campaign) -> Told:
    one, two = (run.mean("t_total", HIGH_SPEED, TLP, lost) for lost in (1, 2))
    if one is None or two is None:
        return None
    ratio = one / two
    return _about(ratio, 2.0), f"t_total {one:.3f} s against {two:.3f} s: factor {ratio:.2f}"


def _factor(run: _Campaign) -> Told:
    losses = [n for n in run.losses(HIGH_SPEED, TLP, ER) if n > 1]
    er, tlp = (run.overall("t_recover", HIGH_SPEED, config, losses) for config in (ER, TLP))
    if not er or not tlp:
        return None
    ratio = er / tlp
    return _about(ratio, 4.5), f"factor {ratio:.2f} ({er:.4f} s against {tlp:.4f} s)"


def _plain_and_er(run: _Campaign) -> Told:
    facts, holds = [], []
    for measure in MEASURES:
        worst: float | None = None
        for lost in run.losses(HIGH_SPEED, PLAIN, ER):
            means = (run.mean(measure, HIGH_SPEED, config, lost) for config in (PLAIN, ER))
            apart = percent(*means)
            if apart is not None and abs(apart) >= abs(worst or 0.0):
                worst = apart
        if worst is not None:
            holds.append(abs(worst) <= ALMOST_PERCENT)
            facts.append(f"{measure} {signed_percent(worst)} at most")
    return (all(holds), ", ".join(facts)) if facts else None


def _anomaly(run: _Campaign) -> Told:
    plain, er = (
        run.mean("t_recover", MOBILE, config, paper.TABLE_4_LOSSES) for config in (PLAIN, ER)
    )
    apart = percent(plain, er)
    if apart is None:
        return None
    return apart > EQUAL_PERCENT, f"{signed_percent(apart)} (2013: +7.8%)"


def _steps(run: _Campaign) -> Told:
    facts, holds = [], []
    for network in (MOBILE, SATELLITE):
        for config in (PLAIN, ER, TLP):
            after = step_places(run, network, config)
            if after is None:
                continue
            # With the probe the first hides behind the longer timer of a single segment.
            holds.append(_at_powers(after) or (config == TLP and _at_powers([1, *after])))
            facts.append(f"{network} {config} after {', '.join(map(str, after)) or 'none'}")
    return (all(holds), "; ".join(facts)) if facts else None


def step_places(run: _Campaign, network: str, config: str) -> list[int] | None:
    """After how many lost segments one more costs a step of time; None for a curve with gaps."""
    losses = [n for n in run.losses(network, config) if n > 0]
    if losses != list(range(1, len(losses) + 1)) or len(losses) < 9:
        return None
    times = [run.mean("t_total", network, config, n) for n in losses]
    if any(time is None for time in times):
        return None
    known = [time for time in times if time is not None]
    least = STEP * paper.NETWORKS[network].rtt_ms / 1000
    return [n for n, (a, b) in enumerate(pairwise(known), 1) if b - a > least]


def _at_powers(after: list[int]) -> bool:
    """One step at each power of two, read off a figure to a segment: between it and the one before,
    or the one after. At 16 there may be none (probably, as printed), at 1 and 2 several.
    """
    steps = set(after)
    at = {power: steps & {power - 1, power} for power in (4, 8, 16)}
    first = steps & {1, 2}
    once = len(at[4]) == len(at[8]) == 1 and len(at[16]) <= 1
    return bool(first) and once and steps == first.union(*at.values())


def _satellite(run: _Campaign) -> Told:
    facts, holds = [], []
    losses = [n for n in run.losses(SATELLITE, TLP, ER) if n > 0]
    for measure in MEASURES:
        tlp, er = (run.overall(measure, SATELLITE, config, losses) for config in (TLP, ER))
        gain = percent(tlp, er)
        if gain is not None:
            holds.append(gain >= -ALMOST_PERCENT)
            facts.append(f"{measure} {signed_percent(gain)}")
    return (all(holds), ", ".join(facts)) if facts else None


def _never_worse(run: _Campaign) -> Told:
    compared, worse = 0, []
    for measure, network, lost in _points(run):
        tlp = run.spread(measure, network, TLP, lost)
        for config in (PLAIN, ER):
            other = run.spread(measure, network, config, lost)
            if tlp.mean_s is None or other.mean_s is None:
                continue
            compared += 1
            apart = tlp.mean_s - other.mean_s
            if apart > max(run.tick_s, 2 * _error(tlp, other)):
                share = percent(tlp.mean_s, other.mean_s) or 0.0
                worse.append((share, f"{measure}, {network}, {lost} lost, against {config}"))
    if not compared:
        return None
    text = f"worse in {len(worse)} of {count(compared, 'comparison')}"
    if worse:
        share, where = max(worse)
        text += f", most {signed_percent(share)} ({where})"
    return not worse, text


def _points(run: _Campaign) -> Iterator[tuple[str, str, int]]:
    for measure in MEASURES:
        for network in run.networks():
            for lost in run.losses(network, TLP):
                yield measure, network, lost


def _percentages(run: _Campaign) -> Told:
    facts, holds = [], []
    for measure in MEASURES:
        for network in (HIGH_SPEED, MOBILE):
            tlp, er = (
                run.mean(measure, network, config, paper.TABLE_4_LOSSES) for config in (TLP, ER)
            )
            here = percent(tlp, er)
            theirs = _printed(measure, network)
            if here is not None:
                holds.append(abs(here - theirs) <= POINTS)
                facts.append(f"{measure} {network} {signed_percent(here)}")
    return (all(holds), ", ".join(facts)) if facts else None


def _printed(measure: str, network: str) -> float:
    tlp, er = (paper.TABLE_4[network, config] for config in (TLP, ER))
    return percent(getattr(tlp, f"{measure}_s"), getattr(er, f"{measure}_s")) or 0.0


def _low_delay_best(run: _Campaign) -> Told:
    facts, holds = [], []
    for measure in MEASURES:
        gains = []
        for network in (HIGH_SPEED, MOBILE, SATELLITE):
            lost = paper.TABLE_4_LOSSES
            gain = percent(*(run.mean(measure, network, config, lost) for config in (TLP, ER)))
            if gain is not None:
                gains.append(gain)
        if len(gains) > 1:
            holds.append(gains == sorted(gains))
            facts.append(f"{measure} {', '.join(signed_percent(gain) for gain in gains)}")
    return (all(holds), "; ".join(facts)) if facts else None


def _timer(run: _Campaign) -> Told:
    facts, holds = [], []
    for network in run.networks():
        losses = [n for n in run.losses(network, TLP) if n > 1]
        mean = run.overall("t_recover", network, TLP, losses)
        if mean is None:
            continue
        asked = 2 * paper.NETWORKS[network].rtt_ms / 1000
        holds.append(mean > asked)
        facts.append(f"{network} {mean:.4g} s against {asked:g} s{_smoothed(run, network)}")
    return (all(holds), ", ".join(facts)) if facts else None


def _smoothed(run: _Campaign, network: str) -> str:
    """The same with the sender's own smoothed round-trip time, where the run has it."""
    rows = run.run.transfers.filter(
        (pl.col("config") == TLP)
        & (pl.col("network") == network)
        & (pl.col("lost_segments") > 1)
        & pl.col("srtt_s").is_not_null()
    )
    known = [float(value) for value in rows["srtt_s"]]
    return f" (2 SRTT {2 * math.fsum(known) / len(known):.4g} s)" if known else ""


def _not_always(run: _Campaign) -> Told:
    cells = [cell for (_, config, lost), cell in run.cells.items() if config == TLP and lost > 1]
    transfers = sum(cell.transfers for cell in cells)
    if not transfers:
        return None
    others = transfers - sum(cell.first_retransmission.get("tlp", 0) for cell in cells)
    return (
        others > 0,
        f"another first retransmission in {others:,} of {count(transfers, 'transfer')}",
    )


def _nothing(run: _Campaign, apart: float, of: float) -> bool:
    return apart <= run.tick_s or apart <= of * EQUAL_PERCENT / 100


def _about(value: float, so_much: float) -> bool:
    return abs(value - so_much) <= ABOUT * so_much


def _error(*spreads: Spread) -> float:
    return math.sqrt(sum((s.sd_s or 0.0) ** 2 / s.n for s in spreads))


_CLAIMS: tuple[tuple[str, str, Callable[[_Campaign], Told]], ...] = (
    ("no-loss", "Without loss all are equally fast (Figure 5)", _no_loss),
    ("single", "The probe gains nothing for a single lost segment", _single),
    (
        "single-twice",
        "A single lost segment takes about twice the time of several (high-speed)",
        _twice,
    ),
    (
        "factor",
        "The probe's first retransmission is faster by a factor of about 4.5 (Figure 4)",
        _factor,
    ),
    (
        "percentages",
        "Against er: t_total -38% high-speed, -11% mobile; t_recover -81%, -19%",
        _percentages,
    ),
    ("plain-er", "plain and er perform almost equally (high-speed)", _plain_and_er),
    ("anomaly", "plain recovers later than er in the mobile network", _anomaly),
    (
        "steps",
        "t_total steps up after 1, 2, 4, 8, probably 16 lost segments (Figure 5)",
        _steps,
    ),
    ("low-delay", "The probe gains most where the round trip is short", _low_delay_best),
    ("satellite", "The probe gains nothing substantial by satellite", _satellite),
    ("timer", "The probe comes later than two round trips", _timer),
    ("not-always", "The probe is not always selected", _not_always),
    ("never-worse", "There is no case in which the probe is worse", _never_worse),
)
