"""What Ryll 2013 claims (section 4 and 5), each computed from a run of its campaign.

What counts as equal, as about so much, as none, stands with each claim; times are means as in
Table 4, and differences are of transfers with the same start phase.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import polars as pl

from rexmit.analysis.axes import groups, with_axes
from rexmit.analysis.cells import Cell, summarise
from rexmit.analysis.network import setting_of
from rexmit.analysis.runner import tick_ns
from rexmit.analysis.times import MEASURES, percent
from rexmit.errors import UserError, argument
from rexmit.statistics.estimate import Estimate, average, relative
from rexmit.statistics.interval import of_share
from rexmit.statistics.spread import NOTHING, Spread
from rexmit.statistics.verdict import LESS, Band, Verdict, about
from rexmit.store.open_run import Run
from rexmit.wording import count, signed_percent
from rexmit_papers.claim import Claim, Part, Source, claim, of_estimate
from rexmit_papers.ryll_2013 import paper
from rexmit_papers.ryll_2013.conditions import departures

PLAIN, ER, TLP = "plain", paper.BASELINE, paper.TLP
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
#: Steps are printed after so many lost segments, after 16 "probably".
STEPS, PROBABLY = (1, 2, 4, 8), 16
#: Not always: in at least this share of the transfers.
NOT_ALWAYS = 0.01

SOURCE: Final = Source(
    "2013",
    paper.SOURCE,
    f"equal, nothing: within {EQUAL_PERCENT:g}% or a timer's tick; almost, substantial: "
    f"{ALMOST_PERCENT:g}%; about: within {ABOUT * 100:g}%; percentages: within "
    f"{POINTS:g} points; a step: more than {STEP:g} round trips; worse: by more than what is "
    f"nothing; not always: not in {NOT_ALWAYS * 100:g}% of the transfers or more",
)


@dataclass(frozen=True)
class _Campaign:
    """The paper's cells of a run."""

    cells: dict[tuple[str, str, int], Cell]
    tick_s: float
    run: Run

    def spread(self, measure: str, network: str, config: str, lost: int) -> Spread:
        cell = self.cells.get((network, config, lost))
        values: Spread = getattr(cell, measure) if cell else NOTHING
        return values

    def mean(self, measure: str, network: str, config: str, lost: int) -> Estimate | None:
        return self.spread(measure, network, config, lost).estimate

    def losses(self, network: str, *configs: str) -> list[int]:
        """The numbers of lost segments that the network has with all of these configurations."""
        there = [{n for w, c, n in self.cells if (w, c) == (network, config)} for config in configs]
        return sorted(set.intersection(*there))

    def networks(self) -> list[str]:
        return list(dict.fromkeys(network for network, _, _ in self.cells))

    def overall(
        self, measure: str, network: str, config: str, losses: Iterable[int]
    ) -> Estimate | None:
        """The mean of the means over these losses."""
        means = (self.mean(measure, network, config, lost) for lost in losses)
        return average(mean for mean in means if mean is not None)

    def gain(self, measure: str, network: str, config: str, against: str) -> Estimate | None:
        """What a configuration is off another with the losses of Table 4, as a share."""
        lost = paper.TABLE_4_LOSSES
        return relative(*(self.mean(measure, network, one, lost) for one in (config, against)))

    def nothing(self, of: Estimate) -> float:
        """What counts as nothing beside such a time: a timer's tick, or a percent of it."""
        return max(self.tick_s, of.value * EQUAL_PERCENT / 100)


def claims(run: Run, *, keep_inexact: bool = False, departing: bool = False) -> tuple[Claim, ...]:
    """Raises UserError for a run without any transfer of the paper's campaign; `departing` takes
    in those of its networks' names whose settings are others.
    """
    there, other = _cells(run, keep_inexact=keep_inexact)
    if departing:
        there |= {key: cell for key, (cell, _) in other.items() if key not in there}
    if not there:
        words = "the claims are about the paper's campaign: no transfer of its networks is here"
        if not other:
            raise UserError(words, "run it: rexmit run tlp-2013")
        raise UserError(
            f"{words} as they are in the paper ({'; '.join(_words(other))})",
            f"judge it as it is: {argument('departing')}; or run it: rexmit run tlp-2013",
        )
    campaign = _Campaign(there, tick_ns(run.meta) / 1e9, run)
    judged = []
    for key, words, tell in _CLAIMS:
        parts, measured = tell(campaign)
        judged.append(claim(key, words, parts, measured, nothing="the run has no transfers for it"))
    return tuple(judged)


_Key = tuple[str, str, int]
"""Network, configuration, number of lost segments."""


def departs(run: Run) -> list[str]:
    """What the cells of a run that have the names of the paper's networks have otherwise."""
    _, other = _cells(run, keep_inexact=True)
    return _words(other)


def _cells(
    run: Run, *, keep_inexact: bool
) -> tuple[dict[_Key, Cell], dict[_Key, tuple[Cell, list[str]]]]:
    """The paper's, and those of its networks' names that depart from it, with what does."""
    frame = with_axes(run.transfers)
    there: dict[_Key, Cell] = {}
    other: dict[_Key, tuple[Cell, list[str]]] = {}
    for cell in summarise(run, frame, groups(frame), keep_inexact=keep_inexact):
        if cell.network not in paper.NETWORKS:
            continue
        key = (cell.network, cell.config, cell.lost_segments)
        if words := departures(cell, setting_of(run.scenario, cell.network)):
            other[key] = cell, words
        else:
            there[key] = cell
    return there, other


def _words(other: Mapping[_Key, tuple[Cell, list[str]]]) -> list[str]:
    return list(dict.fromkeys(word for _, words in other.values() for word in words))


Compared = tuple[list[Part], str | None]
"""The parts, and what is measured in words where these are too many."""


def _said(parts: Iterable[Part]) -> Compared:
    return list(parts), None


def _ms(value: float) -> str:
    return f"{value * 1000:.3f} ms"


def _seconds(value: float) -> str:
    return f"{value:.4g} s"


def _percent(value: float) -> str:
    return signed_percent(value * 100)


def _factor_words(value: float) -> str:
    return f"{value:.2f}"


def _no_loss(run: _Campaign) -> Compared:
    def parts() -> Iterator[Part]:
        for network in run.networks():
            er = run.mean("t_total", network, ER, 0)
            for config in (PLAIN, TLP):
                other = run.mean("t_total", network, config, 0)
                if er is not None and other is not None:
                    most = run.nothing(er)
                    yield of_estimate(f"{network} {config}", other - er, Band(-most, most), _ms)

    compared = list(parts())
    return compared, f"apart from {ER}: {', '.join(part.words for part in compared)}"


def _single(run: _Campaign) -> Compared:
    def parts() -> Iterator[Part]:
        for network in run.networks():
            tlp, er = (run.mean("t_recover", network, config, 1) for config in (TLP, ER))
            if tlp is not None and er is not None and er.value:
                gained = relative(tlp, er)
                least = run.nothing(er) / er.value
                if gained is not None:
                    yield of_estimate(network, gained, Band(low=-least), _percent)

    compared = list(parts())
    return (
        compared,
        f"t_recover against {ER}: {', '.join(part.words for part in compared)}{_fin(run)}",
    )


def _fin(run: _Campaign) -> str:
    """Whether the lost tail had a FIN of its own: then a single segment is not all that is out."""
    rows = run.run.transfers.filter((pl.col("config") == TLP) & (pl.col("lost_segments") == 1))
    bare = int((~rows["fin_on_data"].fill_null(True)).sum())
    if not bare:
        return "; the FIN is on the data"
    return f"; a FIN of its own in {bare:,} of {count(rows.height, 'transfer')}"


def _twice(run: _Campaign) -> Compared:
    one, two = (run.mean("t_total", HIGH_SPEED, TLP, lost) for lost in (1, 2))
    return _ratio(one, two, 2.0, "t_total")


def _factor(run: _Campaign) -> Compared:
    losses = [n for n in run.losses(HIGH_SPEED, TLP, ER) if n > 1]
    er, tlp = (run.overall("t_recover", HIGH_SPEED, config, losses) for config in (ER, TLP))
    return _ratio(er, tlp, 4.5, "t_recover")


def _ratio(one: Estimate | None, other: Estimate | None, printed: float, measure: str) -> Compared:
    if one is None or other is None or not other.value:
        return [], None
    part = of_estimate("factor", one / other, about(printed, ABOUT), _factor_words)
    return [part], f"{part.words}: {measure} {one.value:.4f} s against {other.value:.4f} s"


def _plain_and_er(run: _Campaign) -> Compared:
    compared: list[Part] = []
    facts = []
    almost = ALMOST_PERCENT / 100
    for measure in MEASURES:
        parts = []
        for lost in run.losses(HIGH_SPEED, PLAIN, ER):
            means = (run.mean(measure, HIGH_SPEED, config, lost) for config in (PLAIN, ER))
            apart = relative(*means)
            if apart is not None:
                parts.append(of_estimate(measure, apart, Band(-almost, almost), _percent))
        if parts:
            facts.append(f"{max(parts, key=lambda part: abs(part.value)).words} at most")
        compared += parts
    return compared, ", ".join(facts)


def _anomaly(run: _Campaign) -> Compared:
    apart = run.gain("t_recover", MOBILE, PLAIN, ER)
    if apart is None:
        return [], None
    part = of_estimate("", apart, Band(low=EQUAL_PERCENT / 100), _percent)
    return [part], f"{part.words} (2013: +7.8%)"


def _steps(run: _Campaign) -> Compared:
    """A step after each of STEPS and nowhere else; after PROBABLY there may be one. With the probe
    the first hides behind the longer timer of a single segment.
    """
    compared, facts = [], []
    for network in (MOBILE, SATELLITE):
        least = STEP * paper.NETWORKS[network].rtt_ms / 1000
        for config in (PLAIN, ER, TLP):
            rises = _rises(run, network, config)
            if rises is None:
                continue
            after = []
            for lost, rise in rises:
                name = f"{network} {config} after {lost}"
                part = of_estimate(name, rise, Band(low=least), _seconds)
                if part.verdict is not Verdict.DOES_NOT:
                    after.append(f"{lost}{'?' if part.verdict is Verdict.UNDECIDED else ''}")
                if lost == PROBABLY or (config == TLP and lost == STEPS[0]):
                    continue
                if lost not in STEPS:
                    part = of_estimate(name, rise, Band(high=least), _seconds)
                compared.append(part)
            facts.append(f"{network} {config} after {', '.join(after) or 'none'}")
    return compared, "; ".join(facts)


def _rises(run: _Campaign, network: str, config: str) -> list[tuple[int, Estimate]] | None:
    """By how much t_total rises after so many lost segments; None for a curve with gaps."""
    losses = [n for n in run.losses(network, config) if n > 0]
    if losses != list(range(1, len(losses) + 1)) or len(losses) < 9:
        return None
    times = [run.mean("t_total", network, config, n) for n in losses]
    known = [time for time in times if time is not None]
    if len(known) < len(times):
        return None
    return [(n, b - a) for n, (a, b) in enumerate(pairwise(known), 1)]


def _satellite(run: _Campaign) -> Compared:
    losses = [n for n in run.losses(SATELLITE, TLP, ER) if n > 0]

    def parts() -> Iterator[Part]:
        for measure in MEASURES:
            tlp, er = (run.overall(measure, SATELLITE, config, losses) for config in (TLP, ER))
            gain = relative(tlp, er)
            if gain is not None:
                yield of_estimate(measure, gain, Band(low=-ALMOST_PERCENT / 100), _percent)

    return _said(parts())


def _never_worse(run: _Campaign) -> Compared:
    compared = []
    for measure, network, lost in _points(run):
        tlp = run.mean(measure, network, TLP, lost)
        for config in (PLAIN, ER):
            other = run.mean(measure, network, config, lost)
            if tlp is None or other is None or not other.value:
                continue
            apart = relative(tlp, other)
            most = run.nothing(other) / other.value
            if apart is not None:
                name = f"{measure}, {network}, {lost} lost, against {config}"
                compared.append(of_estimate(name, apart, Band(high=most), _percent))
    worse = [part for part in compared if part.verdict is Verdict.DOES_NOT]
    text = f"worse in {len(worse)} of {count(len(compared), 'comparison')}"
    undecided = sum(part.verdict is Verdict.UNDECIDED for part in compared)
    if undecided:
        text += f", undecided in {undecided}"
    if worse:
        most_worse = max(worse, key=lambda part: part.value)
        text += f", most {_percent(most_worse.value)} ({most_worse.name})"
    return compared, text


def _points(run: _Campaign) -> Iterator[tuple[str, str, int]]:
    for measure in MEASURES:
        for network in run.networks():
            for lost in run.losses(network, TLP):
                yield measure, network, lost


def _percentages(run: _Campaign) -> Compared:
    def parts() -> Iterator[Part]:
        for measure in MEASURES:
            for network in (HIGH_SPEED, MOBILE):
                here = run.gain(measure, network, TLP, ER)
                theirs = _printed(measure, network)
                band = Band((theirs - POINTS) / 100, (theirs + POINTS) / 100)
                if here is not None:
                    yield of_estimate(f"{measure} {network}", here, band, _percent)

    return _said(parts())


def _printed(measure: str, network: str) -> float:
    tlp, er = (paper.TABLE_4[network, config] for config in (TLP, ER))
    return percent(getattr(tlp, f"{measure}_s"), getattr(er, f"{measure}_s")) or 0.0


def _low_delay_best(run: _Campaign) -> Compared:
    """Each network gains more than the next one, whose round trip is longer."""
    compared, facts = [], []
    for measure in MEASURES:
        gains = {
            network: gain
            for network in (HIGH_SPEED, MOBILE, SATELLITE)
            if (gain := run.gain(measure, network, TLP, ER)) is not None
        }
        for one, other in pairwise(gains):
            name = f"{measure} {one} less {other}"
            compared.append(of_estimate(name, gains[one] - gains[other], LESS, _percent))
        if len(gains) > 1:
            facts.append(f"{measure} {', '.join(_percent(g.value) for g in gains.values())}")
    return compared, "; ".join(facts)


def _timer(run: _Campaign) -> Compared:
    compared, facts = [], []
    for network in run.networks():
        losses = [n for n in run.losses(network, TLP) if n > 1]
        mean = run.overall("t_recover", network, TLP, losses)
        if mean is None:
            continue
        asked = 2 * paper.NETWORKS[network].rtt_ms / 1000
        part = of_estimate(network, mean, Band(low=asked), _seconds)
        compared.append(part)
        facts.append(f"{part.words} against {asked:g} s{_smoothed(run, network)}")
    return compared, ", ".join(facts)


def _smoothed(run: _Campaign, network: str) -> str:
    """The same with the sender's own smoothed round-trip time, where the run has it."""
    rows = run.run.transfers.filter(
        (pl.col("config") == TLP)
        & (pl.col("network") == network)
        & (pl.col("lost_segments") > 1)
        & pl.col("srtt_s").is_not_null()
    )
    mean = rows["srtt_s"].mean()
    return f" (2 SRTT {2 * mean:.4g} s)" if isinstance(mean, float) else ""


def _not_always(run: _Campaign) -> Compared:
    cells = [cell for (_, config, lost), cell in run.cells.items() if config == TLP and lost > 1]
    transfers = sum(cell.transfers for cell in cells)
    if not transfers:
        return [], None
    others = transfers - sum(cell.first_retransmission.get("tlp", 0) for cell in cells)
    share = others / transfers
    part = Part("", share, of_share(share, transfers), Band(low=NOT_ALWAYS), lambda x: f"{x:.1%}")
    text = f"another first retransmission in {others:,} of {count(transfers, 'transfer')}"
    return [part], f"{text}, {part.words}"


_CLAIMS: tuple[tuple[str, str, Callable[[_Campaign], Compared]], ...] = (
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
