"""What Probe or Wait 2017 claims (sections IV and VI), each computed from a run of its campaign.

Times are mean completions of the second burst over the start phases. A claim holds, does not, or
cannot be told from a run that lacks the connections for it; it says the times it rests on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexmit.analysis.bursts import Case, Cases, cases
from rexmit.analysis.cells import Spread
from rexmit.analysis.runner import tick_ns
from rexmit.errors import UserError
from rexmit.store.open_run import Run
from rexmit_papers.claim import Claim, Source
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
#: Or within so many standard errors of the difference.
ERRORS = 2.0
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

    def spread(self, pair: Pair, config: str, loss: str) -> Spread:
        case = self.cases.of(self.names[pair], config, loss)
        return case.completion if case else Spread(0, None, None)

    def equal(self, one: Spread, other: Spread) -> bool:
        one_s, other_s = one.mean_s or 0.0, other.mean_s or 0.0
        apart = abs(one_s - other_s)
        error = math.sqrt(sum((s.sd_s or 0.0) ** 2 / s.n for s in (one, other)))
        return apart <= max(self.tick_s, EQUAL * min(one_s, other_s), ERRORS * error)


@dataclass(frozen=True)
class _Beside:
    """Two configurations in one network: means in seconds."""

    pair: Pair
    first_s: float
    other_s: float
    equal: bool

    @property
    def better(self) -> bool:
        """The first is faster by more than what counts as equal."""
        return self.first_s < self.other_s and not self.equal

    @property
    def worse(self) -> bool:
        """The first is slower."""
        return self.first_s > self.other_s and not self.equal

    @property
    def words(self) -> str:
        """`20-30 -62.5 ms`: what the first takes more."""
        apart = (self.first_s - self.other_s) * 1000
        return f"{'-'.join(f'{delay:g}' for delay in self.pair)} {apart:+.1f} ms"


Told = tuple[bool, str] | None


def _beside(study: _Study, loss: str, first: str, other: str) -> list[_Beside]:
    found = []
    for pair in study.pairs():
        one, two = study.spread(pair, first, loss), study.spread(pair, other, loss)
        if one.mean_s is not None and two.mean_s is not None:
            found.append(_Beside(pair, one.mean_s, two.mean_s, study.equal(one, two)))
    return found


def _told(found: list[_Beside], right: Callable[[_Beside], bool], what: str) -> Told:
    """All must be right; those that are not are named."""
    if not found:
        return None
    wrong = [beside for beside in found if not right(beside)]
    words = ", ".join(beside.words for beside in found)
    off = "" if not wrong or len(wrong) == len(found) else f"; not in {_networks(wrong)}"
    return not wrong, f"{what}: {words}{off}"


def _networks(found: Iterable[_Beside]) -> str:
    return ", ".join("-".join(f"{delay:g}" for delay in beside.pair) for beside in found)


def _slow_first(beside: _Beside) -> bool:
    return beside.pair[0] > beside.pair[1]


def _tcp_one(study: _Study) -> Told:
    return _told(_beside(study, ONE, TCP_TLP, TCP_RTO), lambda beside: beside.equal, "TLP less RTO")


def _tcp_two(study: _Study) -> Told:
    return _told(
        _beside(study, TWO, TCP_TLP, TCP_RTO),
        lambda beside: beside.worse if beside.pair[0] >= 120 else beside.better,
        "TLP less RTO",
    )


def _tcp_probe(study: _Study) -> Told:
    return _told(
        _beside(study, PROBE, TCP_TLP, TCP_RTO), lambda beside: beside.better, "TLP less RTO"
    )


def _mptcp_one(study: _Study) -> Told:
    return _told(
        _beside(study, ONE, MPTCP_TLP, MPTCP_RTO),
        lambda beside: beside.worse if _slow_first(beside) else beside.equal,
        "TLP less RTO",
    )


def _mptcp_two(study: _Study) -> Told:
    """Of 30-20 the paper's words say nothing: TLP is better "in all scenarios except when packets
    are lost on a high delay interface", and there by "large enough" a difference of delays.
    """
    found = _beside(study, TWO, MPTCP_TLP, MPTCP_RTO)

    def right(beside: _Beside) -> bool:
        if beside.pair[0] >= 120:
            return not beside.better
        return _slow_first(beside) or beside.better

    return _told(found, right, "TLP less RTO")


def _mptcp_probe(study: _Study) -> Told:
    return _told(
        _beside(study, PROBE, MPTCP_TLP, MPTCP_RTO),
        lambda beside: beside.other_s < (1 - MUCH) * beside.first_s,
        "TLP less RTO",
    )


def _new_tcp(study: _Study) -> Told:
    facts, holds = [], []
    for loss, words in LOSSES.items():
        told = _told(
            _beside(study, loss, NEW, TCP_TLP),
            lambda beside: beside.better,
            f"New less TCP, {words}",
        )
        if told is not None:
            holds.append(told[0])
            facts.append(told[1])
    return (all(holds), "; ".join(facts)) if facts else None


def _new_one(study: _Study) -> Told:
    return _told(
        _beside(study, ONE, NEW, MPTCP_TLP),
        lambda beside: beside.better if _slow_first(beside) else beside.equal,
        "New less MPTCP",
    )


def _new_two(study: _Study) -> Told:
    return _told(
        _beside(study, TWO, NEW, MPTCP_TLP),
        lambda beside: beside.equal if beside.pair == (20, 120) else beside.better,
        "New less MPTCP",
    )


def _new_probe(study: _Study) -> Told:
    return _told(
        _beside(study, PROBE, NEW, MPTCP_TLP), lambda beside: beside.better, "New less MPTCP"
    )


def _diagrams(*configs: str) -> Callable[[_Study], Told]:
    """Whether what goes again, where the paths are alike, is what the timing diagrams draw."""

    def tell(study: _Study) -> Told:
        network = study.names.get((20.0, 20.0))
        drops = study.run.transfers.select("cell", "repetition", "loss_pattern", "t_drop_s")
        rows = study.run.retransmissions().join(drops, on=["cell", "repetition"])
        rows = rows.filter(
            # A run without that network has none of these.
            pl.col("network").eq_missing(pl.lit(network, dtype=pl.String))
            & (pl.col("repetition") == 0)
            & (pl.col("time_s") >= pl.col("t_drop_s"))
        )
        wrong, told = [], 0
        for (config, loss), drawn in DIAGRAMS.items():
            mine = (pl.col("config") == config) & (pl.col("loss_pattern") == loss)
            again = rows.filter(mine) if config in configs else rows.clear()
            if again.is_empty():
                continue
            told += 1
            order = sorted(again["data_seq"].unique().to_list())
            seen = sorted(
                f"{row['path']} {'xyz'[min(order.index(row['data_seq']), 2)]}"
                f"{' lost' if row['dropped'] else ''}"
                for row in again.iter_rows(named=True)
            )
            if seen != sorted(drawn):
                words = LOSSES[loss]
                wrong.append(f"{config}, {words}: {', '.join(seen)} for {', '.join(drawn)}")
        if not told:
            return None
        return not wrong, f"{told - len(wrong)} of {told}" + "".join(f"; {one}" for one in wrong)

    return tell


def _bars(*configs: str) -> Callable[[_Study], Told]:
    """How many of the authors' bars of these configurations are met."""

    def tell(study: _Study) -> Told:
        apart: dict[str, float] = {}
        for (config, loss), bars in BARS_MS.items():
            for pair, bar_ms in bars.items() if config in configs else ():
                # TCP knows of one path: its bars of 20-30 and 20-120 are those of 20-20.
                again = config in (TCP_RTO, TCP_TLP) and pair in ((20, 30), (20, 120))
                if pair not in study.names or again:
                    continue
                mean_s = study.spread(pair, config, loss).mean_s
                if mean_s is not None:
                    where = f"{config} {pair[0]}-{pair[1]} {loss.removeprefix('path 1 burst 2 ')}"
                    apart[where] = mean_s * 1000 - bar_ms
        if not apart:
            return None
        near = [off for off in apart.values() if abs(off) <= NEAR_TICKS * study.tick_s * 1000]
        least, most = DELAYED_MS
        delayed = [off for off in apart.values() if least <= abs(off) <= most]
        farthest = max(apart, key=lambda where: abs(apart[where]))
        words = (
            f"{len(near)} of {len(apart)} within {NEAR_TICKS} ticks, {len(delayed)} more off by "
            f"{least} to {most} ms, an acknowledgement's delay; farthest {farthest} "
            f"{apart[farthest]:+.0f} ms"
        )
        return len(near) == len(apart), words

    return tell


_CLAIMS: Final[tuple[tuple[str, str, Callable[[_Study], Told]], ...]] = (
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
    f"equal: within {EQUAL * 100:g}%, a timer's tick or {ERRORS:g} standard errors; better, "
    f"beats: by more than that; much: more than {MUCH * 100:g}%; differences of mean "
    f"completion times, a network by its paths' delays in ms",
)
"""Whose claims they are."""


def claims(run: Run, *, keep_inexact: bool = False) -> tuple[Claim, ...]:
    """Raises UserError for a run without any connection of the paper's study."""
    found = cases(run, keep_inexact=keep_inexact)
    names = {delays: name for name, delays in found.delays_ms.items() if delays in PAIRS}
    study = _Study(found, names, tick_ns(run.meta) / 1e9, run)
    if not any(_of_paper(study, case) for case in found.cases.values()):
        raise UserError(
            "the claims are about the paper's study: no connection of its networks, "
            "configurations and losses is here",
            "run it: rexmit run mptcp-2017",
        )
    return tuple(
        Claim(key, f"({key[0]}) {words}", *(tell(study) or (None, "the run has none for it")))
        for key, words, tell in _CLAIMS
    )


def _of_paper(study: _Study, case: Case) -> bool:
    configs = (TCP_RTO, TCP_TLP, MPTCP_RTO, MPTCP_TLP, NEW)
    return case.network in study.names.values() and case.config in configs and case.loss in LOSSES
