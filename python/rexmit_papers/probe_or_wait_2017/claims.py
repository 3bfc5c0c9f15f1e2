"""What Probe or Wait 2017 claims (sections IV and VI), each computed from a run of its campaign.

Times are mean completions of the second burst over the start phases, and differences are of
connections with the same phase.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexmit.analysis.bursts import Case, Cases, cases
from rexmit.analysis.runner import tick_ns
from rexmit.errors import UserError
from rexmit.statistics.estimate import Estimate, known
from rexmit.statistics.interval import Interval
from rexmit.statistics.verdict import Band, Verdict
from rexmit.store.open_run import Run
from rexmit_papers.claim import Claim, Part, Source, claim, of_estimate
from rexmit_papers.probe_or_wait_2017.paper import (
    BARS_MS,
    DIAGRAMS,
    LOSSES,
    MPTCP_RTO,
    MPTCP_TLP,
    NEW,
    ONE,
    PAIRS,
    PROBE,
    TCP_RTO,
    TCP_TLP,
    TWO,
)
from rexmit_papers.probe_or_wait_2017.paper import SOURCE as PAPER

#: Equal: within so much of the smaller time, or within a tick of the timers. Of the authors' own
#: bars the closest two that the paper calls different are 0.9 % apart (Figure 2b), the farthest two
#: that it calls equal 0.3 %.
EQUAL = 0.005
#: Much: more than this share.
MUCH = 0.1

#: A bar is met: within so many ticks of the timers.
NEAR_TICKS = 2
#: Bars that are off by the shortest delay of an acknowledgement, give or take a tick or two, ms.
DELAYED_MS = (30, 62)

Pair = tuple[float, ...]


@dataclass(frozen=True)
class _Study:
    """The paper's cells of a run: networks by their pair of delays."""

    cases: Cases
    names: dict[Pair, str]
    tick_s: float
    run: Run

    def pairs(self) -> list[Pair]:
        return [pair for pair in PAIRS if pair in self.names]

    def mean(self, pair: Pair, config: str, loss: str) -> Estimate | None:
        case = self.cases.case(self.names[pair], config, loss)
        return case.completion.estimate if case else None


Compared = tuple[list[Part], str | None]
"""The parts, and what is measured in words where these are too many."""


@dataclass(frozen=True)
class _Beside:
    """Two configurations in one network, and by how much they differ that are equal."""

    pair: Pair
    first: Estimate
    other: Estimate
    most: float

    @property
    def equal(self) -> Band:
        """As fast, but for what counts as equal."""
        return Band(-self.most, self.most)

    @property
    def better(self) -> Band:
        """The first is faster by more than that."""
        return Band(high=-self.most)

    @property
    def worse(self) -> Band:
        """The first is slower."""
        return Band(low=self.most)

    @property
    def slow_first(self) -> bool:
        """The path with the losses is the slower one."""
        return self.pair[0] > self.pair[1]


Choose = Callable[[_Beside], Band | None]
"""Where the difference is to lie; None where the paper does not say."""


def _beside(study: _Study, loss: str, first: str, other: str) -> list[_Beside]:
    compared = []
    for pair in study.pairs():
        one, two = study.mean(pair, first, loss), study.mean(pair, other, loss)
        if one is not None and two is not None:
            most = max(study.tick_s, EQUAL * min(one.value, two.value))
            compared.append(_Beside(pair, one, two, most))
    return compared


def _ms(value: float) -> str:
    return f"{value * 1000:+.1f} ms"


def _where_said(compared: list[_Beside], choose: Choose, what: str) -> Compared:
    """Every network is to be where it is said; those that are not are named."""
    parts, words, off = [], [], []
    for beside in compared:
        name = "-".join(f"{delay:g}" for delay in beside.pair)
        apart, band = beside.first - beside.other, choose(beside)
        part = of_estimate(name, apart, band or Band(), _ms)
        words.append(part.words)
        if band is not None:
            parts.append(part)
            if part.verdict is not Verdict.HOLDS:
                off.append(f"{name}{'?' if part.verdict is Verdict.UNDECIDED else ''}")
    named = f"; not in {', '.join(off)}" if off and len(off) < len(compared) else ""
    return parts, f"{what}: {', '.join(words)}{named}"


def _tcp_one(study: _Study) -> Compared:
    return _where_said(_beside(study, ONE, TCP_TLP, TCP_RTO), lambda one: one.equal, "TLP less RTO")


def _tcp_two(study: _Study) -> Compared:
    return _where_said(
        _beside(study, TWO, TCP_TLP, TCP_RTO),
        lambda one: one.worse if one.pair[0] >= 120 else one.better,
        "TLP less RTO",
    )


def _tcp_probe(study: _Study) -> Compared:
    return _where_said(
        _beside(study, PROBE, TCP_TLP, TCP_RTO), lambda one: one.better, "TLP less RTO"
    )


def _mptcp_one(study: _Study) -> Compared:
    return _where_said(
        _beside(study, ONE, MPTCP_TLP, MPTCP_RTO),
        lambda one: one.worse if one.slow_first else one.equal,
        "TLP less RTO",
    )


def _mptcp_two(study: _Study) -> Compared:
    """Of 30-20 the paper's words say nothing: TLP is better "in all scenarios except when packets
    are lost on a high delay interface", and there by "large enough" a difference of delays.
    """

    def choose(one: _Beside) -> Band | None:
        if one.pair[0] >= 120:
            return Band(low=-one.most)
        return None if one.slow_first else one.better

    return _where_said(_beside(study, TWO, MPTCP_TLP, MPTCP_RTO), choose, "TLP less RTO")


def _mptcp_probe(study: _Study) -> Compared:
    return _where_said(
        _beside(study, PROBE, MPTCP_TLP, MPTCP_RTO),
        lambda one: Band(low=MUCH * one.first.value),
        "TLP less RTO",
    )


def _new_tcp(study: _Study) -> Compared:
    every: list[Part] = []
    facts = []
    for loss, words in LOSSES.items():
        what = f"New less TCP, {words}"
        parts, measured = _where_said(
            _beside(study, loss, NEW, TCP_TLP), lambda one: one.better, what
        )
        if parts:
            every += parts
            facts.append(measured)
    return every, "; ".join(map(str, facts))


def _new_one(study: _Study) -> Compared:
    return _where_said(
        _beside(study, ONE, NEW, MPTCP_TLP),
        lambda one: one.better if one.slow_first else one.equal,
        "New less MPTCP",
    )


def _new_two(study: _Study) -> Compared:
    return _where_said(
        _beside(study, TWO, NEW, MPTCP_TLP),
        lambda one: one.equal if one.pair == (20, 120) else one.better,
        "New less MPTCP",
    )


def _new_probe(study: _Study) -> Compared:
    return _where_said(
        _beside(study, PROBE, NEW, MPTCP_TLP), lambda one: one.better, "New less MPTCP"
    )


def _diagrams(*configs: str) -> Callable[[_Study], Compared]:
    """Whether what goes again, where the paths are alike, is what the timing diagrams draw."""

    def tell(study: _Study) -> Compared:
        network = study.names.get((20.0, 20.0))
        drops = study.run.transfers.select("cell", "repetition", "loss_pattern", "t_drop_s")
        rows = study.run.retransmissions().join(drops, on=["cell", "repetition"])
        rows = rows.filter(
            # A run without that network has none of these.
            pl.col("network").eq_missing(pl.lit(network, dtype=pl.String))
            & (pl.col("repetition") == 0)
            & (pl.col("time_s") >= pl.col("t_drop_s"))
        )
        wrong, looked_at = [], 0
        for (config, loss), drawn in DIAGRAMS.items():
            mine = (pl.col("config") == config) & (pl.col("loss_pattern") == loss)
            again = rows.filter(mine) if config in configs else rows.clear()
            if again.is_empty():
                continue
            looked_at += 1
            order = sorted(again["data_seq"].unique().to_list())
            seen = sorted(
                f"{row['path']} {'xyz'[min(order.index(row['data_seq']), 2)]}"
                f"{' lost' if row['dropped'] else ''}"
                for row in again.iter_rows(named=True)
            )
            if seen != sorted(drawn):
                words = LOSSES[loss]
                wrong.append(f"{config}, {words}: {', '.join(seen)} for {', '.join(drawn)}")
        if not looked_at:
            return [], None
        # A packet goes or does not: what is counted has no chance in it.
        same = looked_at - len(wrong)
        part = Part("", same, Interval(same, same), Band(low=looked_at), lambda n: f"{n:.0f}")
        return [part], f"{same} of {looked_at}" + "".join(f"; {one}" for one in wrong)

    return tell


def _bars(*configs: str) -> Callable[[_Study], Compared]:
    """How many of the authors' bars of these configurations are met."""

    def tell(study: _Study) -> Compared:
        parts: list[Part] = []
        near = NEAR_TICKS * study.tick_s
        for (config, loss), bars in BARS_MS.items():
            for pair, bar_ms in bars.items() if config in configs else ():
                # TCP knows of one path: its bars of 20-30 and 20-120 are those of 20-20.
                again = config in (TCP_RTO, TCP_TLP) and pair in ((20, 30), (20, 120))
                if pair not in study.names or again:
                    continue
                mean = study.mean(pair, config, loss)
                if mean is not None:
                    where = f"{config} {pair[0]}-{pair[1]} {loss.removeprefix('path 1 burst 2 ')}"
                    apart = mean - known(bar_ms / 1000)
                    parts.append(of_estimate(where, apart, Band(-near, near), _ms))
        if not parts:
            return [], None
        met = sum(abs(part.value) <= near for part in parts)
        undecided = sum(part.verdict is Verdict.UNDECIDED for part in parts)
        least, most = DELAYED_MS
        delayed = sum(least <= abs(part.value) * 1000 <= most for part in parts)
        farthest = max(parts, key=lambda part: abs(part.value))
        words = (
            f"{met} of {len(parts)} within {NEAR_TICKS} ticks, {delayed} more off by "
            f"{least} to {most} ms, an acknowledgement's delay; farthest {farthest.name} "
            f"{farthest.value * 1000:+.0f} ms"
        )
        return parts, words + (f"; undecided {undecided}" if undecided else "")

    return tell


_CLAIMS: Final[tuple[tuple[str, str, Callable[[_Study], Compared]], ...]] = (
    ("a", "TCP, one lost: no difference between RTO and TLP", _tcp_one),
    ("b", "TCP, two lost: TLP better at short delays, RTO slightly at 120 ms", _tcp_two),
    ("c", "TCP, probe lost too: TLP better", _tcp_probe),
    ("d", "MPTCP, one lost: RTO better where the first path is the slower, else equal", _mptcp_one),
    ("e", "MPTCP, two lost: TLP better unless the loss is on the slow path (120-20)", _mptcp_two),
    ("f", "MPTCP, probe lost too: RTO much better", _mptcp_probe),
    ("g1", "New always beats TCP", _new_tcp),
    ("g2", "New, one lost: beats MPTCP where the loss is on the slower path, else equal", _new_one),
    ("g3", "New, two lost: beats MPTCP everywhere but 20-120, where it is equal", _new_two),
    ("g4", "New, probe lost too: beats MPTCP everywhere", _new_probe),
    (
        "h2",
        "the bars of Figure 2 (TCP), as the authors' script draws them",
        _bars(TCP_RTO, TCP_TLP),
    ),
    ("h3", "what goes again is what Figure 3 draws", _diagrams(MPTCP_RTO, MPTCP_TLP)),
    (
        "h4",
        "the bars of Figure 4 (MPTCP), as the authors' script draws them",
        _bars(MPTCP_RTO, MPTCP_TLP),
    ),
    ("h5", "what goes again is what Figure 5 draws", _diagrams(NEW)),
    ("h6", "the bars of New in Figure 6, as the authors' script draws them", _bars(NEW)),
)


SOURCE: Final = Source(
    "2017",
    PAPER,
    f"equal: within {EQUAL * 100:g}% or a timer's tick; better, beats: by more than that; much: by "
    f"more than {MUCH * 100:g}%; differences of mean completion times, a network by its paths' "
    "delays in ms",
)
"""Whose claims they are."""


def claims(run: Run, *, keep_inexact: bool = False) -> tuple[Claim, ...]:
    """Raises UserError for a run without any connection of the paper's study."""
    burst_cases = cases(run, keep_inexact=keep_inexact)
    names = {delays: name for name, delays in burst_cases.delays_ms.items() if delays in PAIRS}
    study = _Study(burst_cases, names, tick_ns(run.meta) / 1e9, run)
    if not any(_of_paper(study, case) for case in burst_cases.cases.values()):
        raise UserError(
            "the claims are about the paper's study: no connection of its networks, "
            "configurations and losses is here",
            "run it: rexmit run mptcp-2017",
        )
    judged = []
    for key, words, tell in _CLAIMS:
        parts, measured = tell(study)
        nothing = "the run has none for it"
        judged.append(claim(key, f"({key[0]}) {words}", parts, measured, nothing=nothing))
    return tuple(judged)


def _of_paper(study: _Study, case: Case) -> bool:
    configs = (TCP_RTO, TCP_TLP, MPTCP_RTO, MPTCP_TLP, NEW)
    return case.network in study.names.values() and case.config in configs and case.loss in LOSSES
