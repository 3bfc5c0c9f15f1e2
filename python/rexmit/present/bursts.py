"""Completion times of bursts: a table for each loss, a row for each network."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

from rexmit.analysis.bursts import Case, Cases
from rexmit.analysis.runner import Runner, column_heads
from rexmit.result.blocks import BLANK, Block, Column, Grid, Line, Paragraph, heading, note, table
from rexmit.statistics.spread import P99_FROM, Spread
from rexmit.statistics.words import LEGEND, SECONDS, Unit, fitting, width
from rexmit.wording import NONE, count


def case_blocks(cases: Cases, losses: Mapping[str, str] = MappingProxyType({})) -> Iterator[Block]:
    """Mean of the last burst's completion and its interval, below them what repaired it;
    `losses` says of a pattern in words what it loses.
    """
    every = list(cases.cases.values())
    unit = fitting(case.completion.mean_s for case in every)
    # All bursts, where a connection has many.
    many = all(case.every is None or case.every.n >= P99_FROM for case in every)
    share = 0.99 if many else 0.95
    for loss in cases.losses:
        name = losses.get(loss)
        title = f"{loss}: {name}" if name else loss
        yield heading(f"Completion of the last burst in {unit.words}; {title}")
        means = _by_config(cases, loss, "mean  ±95 %", partial(_times, unit=unit), _repair)
        yield from (means, BLANK)
        if any(case.every is not None for case in every if case.loss == loss):
            what = "mean, median, percentile, longest"
            yield heading(f"Completion of every burst in {unit.words}, {what}; {loss}")
            cell = partial(_quantiles, share=share, unit=unit)
            head = f"mean ±95 % median {100 * share:.0f}% most"
            yield _by_config(cases, loss, head, cell)
            yield BLANK
    yield note(_sizes(every))
    yield note(LEGEND[0])
    yield from _left_out(cases)
    yield from _extra(cases)


def _by_config(cases: Cases, loss: str, what: str, *cells: Callable[[Case | None], str]) -> Grid:
    """A row for each network, a column for each configuration; rows below one are dim."""

    def delays(row: tuple[str, int]) -> str:
        network, below = row
        return "" if below else "-".join(f"{delay:g}" for delay in cases.delays_ms[network])

    def column(config: str) -> Column:
        return Column(
            (config, what),
            before=3,
            cell=lambda row: cells[row[1]](cases.case(row[0], config, loss)),
        )

    return table(
        [(network, below) for network in cases.networks for below in range(len(cells))],
        Column("one-way\ndelays, ms", cell=delays),
        *map(column, cases.configs),
        style=lambda row: "dim" if row[1] else "",
    )


def case_blocks_beside(
    every: Sequence[Cases], runs: Sequence[tuple[Runner, Path]]
) -> Iterator[Block]:
    """Mean completions of the last burst of several runs, with half their intervals: a table for
    each loss, a row for each network and configuration, a column a run.
    """
    for loss in dict.fromkeys(loss for one in every for loss in one.losses):
        yield heading(f"Completion of the last burst in seconds; {loss}")
        columns = [Column("network"), Column("configuration", before=2)]
        for head in column_heads(runs):
            columns += [Column(head, right=True, least=8, before=3), Column(right=True)]
        places = dict.fromkeys(
            (network, config) for one in every for network, config, of in one.cases if of == loss
        )
        lines = []
        for network, config in places:
            means = []
            for one in every:
                case = one.case(network, config, loss)
                mean = None if case is None else case.completion.estimate
                means += [SECONDS.text(None if mean is None else mean.value), width(mean)]
            lines.append(Line((network, config, *means)))
        yield from (Grid(tuple(columns), tuple(lines)), BLANK)


def _quantiles(case: Case | None, share: float, unit: Unit) -> str:
    """The mean, and each percentile with its interval, which connections bound: bursts of one hang
    together. One that never ended is the longest.
    """
    if case is None or case.every is None:
        return NONE
    texts = [
        f"{unit.text(case.every.percentile(one))} "
        f"({unit.between(case.every.percentile_interval(one))})"
        for one in (0.5, share)
    ]
    longest = math.inf if case.every.endless else max(case.every.values, default=None)
    return " ".join([_mean(case.every, unit), *texts, unit.text(longest)])


def _times(case: Case | None, unit: Unit) -> str:
    if case is None or case.completion.mean_s is None:
        return NONE
    return _mean(case.completion, unit)


def _mean(times: Spread, unit: Unit) -> str:
    half = unit.half(times.estimate)
    return unit.text(times.mean_s) + ("" if half == NONE else f" {half}")


def _sizes(every: Sequence[Case]) -> str:
    """`n: 20 connections a mean, 4,000 bursts of which 180 never ended`."""
    sizes = [case.completion.n for case in every]
    low, high = min(sizes), max(sizes)
    of = count(high, "connection") if low == high else f"{low:,} to {high:,} connections"
    words = [f"n: {of} a mean"]
    bursts = [case.every for case in every if case.every is not None]
    if bursts:
        words.append(f"{sum(one.n + one.endless for one in bursts):,} bursts in all")
        if never := sum(one.endless for one in bursts):
            words.append(f"of which {never:,} never ended: in percentiles they are the longest")
    return ", ".join(words)


def _repair(case: Case | None) -> str:
    """The first retransmission of what was lost, of most connections."""
    if case is None or not case.first_retransmission:
        return ""
    (retransmission, n), *others = case.first_retransmission
    return f"{retransmission.words}{f' ({n} of {n + sum(m for _, m in others)})' if others else ''}"


def _left_out(cases: Cases) -> Iterator[Block]:
    incomplete = sum(case.incomplete for case in cases.cases.values())
    inexact = sum(case.inexact for case in cases.cases.values())
    if incomplete:
        yield Paragraph(f"left out: {incomplete:,} connections that did not deliver every byte")
    if inexact:
        yield Paragraph(
            f"left out: {inexact:,} connections that lost other packets than those named "
            "(--inexact takes them in)",
        )


def _extra(cases: Cases) -> Iterator[Block]:
    """What went twice, by configuration: a mean over all connections. The kernel's counts are of
    whole connections, bursts without loss included.
    """
    for config in cases.configs:
        mine = [case for case in cases.cases.values() if case.config == config]
        facts = []
        for name, values in (
            ("packets re-injected after the loss", [case.reinjected for case in mine]),
            ("of them spuriously", [case.reinjected_spuriously for case in mine]),
            ("retransmissions by MPTCP's own count", [c.mptcp_retransmissions for c in mine]),
            ("re-injections that probes caused", [case.probe_reinjections for case in mine]),
        ):
            known = [value for value in values if value is not None]
            if any(known):
                facts.append(f"{sum(known) / len(known):.2f} {name}")
        if facts:
            yield note(f"{config}, a connection: {', '.join(facts)}")
