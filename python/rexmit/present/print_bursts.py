"""Completion times of bursts on the terminal: a table for each loss, a row for each network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from rich.console import Console

from rexmit.analysis.bursts import Case, Cases
from rexmit.analysis.runner import Runner, column_heads
from rexmit.escaping import shown
from rexmit.present.grid import Column, Line, print_grid
from rexmit.present.terminal import say
from rexmit.present.text import Text
from rexmit.statistics.spread import P99_FROM
from rexmit.statistics.words import LEGEND, SECONDS, Unit, fitting, width
from rexmit.wording import NONE


def print_cases(
    found: Cases, console: Console, losses: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Mean of the last burst's completion and its interval, below them what repaired it;
    `losses` says of a pattern in words what it loses.
    """
    every = list(found.cases.values())
    unit = fitting(case.completion.mean_s for case in every)
    for loss in found.losses:
        name = losses.get(loss)
        title = f"{loss}: {name}" if name else loss
        say(console, Text(f"Completion of the last burst in {unit.words}; {title}", "bold"))
        columns = [Column("one-way\ndelays, ms")]
        columns += [Column(f"{shown(config)}\nmean  ±95 %", before=3) for config in found.configs]
        lines = []
        for network in found.networks:
            delays = "-".join(f"{delay:g}" for delay in found.delays_ms[network])
            row = [found.of(network, config, loss) for config in found.configs]
            lines.append(Line((delays, *(_times(case, unit) for case in row))))
            lines.append(Line(("", *map(_repair, row)), "dim"))
        print_grid(columns, lines, console)
        console.print()
        _print_every(found, loss, unit, console)
    say(console, LEGEND[0], "dim")
    _print_left_out(found, console)
    _print_extra(found, console)


def print_cases_beside(
    found: Sequence[Cases], runs: Sequence[tuple[Runner, Path]], console: Console
) -> None:
    """Mean completions of the last burst of several runs, with half their intervals: a table for
    each loss, a row for each network and configuration, a column a run.
    """
    for loss in dict.fromkeys(loss for one in found for loss in one.losses):
        say(console, Text(f"Completion of the last burst in seconds; {loss}", "bold"))
        columns = [Column("network"), Column("configuration", before=2)]
        for head in column_heads(runs):
            columns += [Column(head, right=True, least=8, before=3), Column(right=True)]
        places = dict.fromkeys(
            (network, config) for one in found for network, config, of in one.cases if of == loss
        )
        lines = []
        for network, config in places:
            means = []
            for one in found:
                case = one.of(network, config, loss)
                mean = None if case is None else case.completion.estimate
                means += [SECONDS.text(None if mean is None else mean.value), width(mean)]
            lines.append(Line((network, config, *means)))
        print_grid(columns, lines, console)
        console.print()


def _print_every(found: Cases, loss: str, unit: Unit, console: Console) -> None:
    """All bursts, where a connection has many."""
    if all(case.every is None for case in found.cases.values() if case.loss == loss):
        return
    title = f"Completion of every burst in {unit.words}, median, percentile, longest; {loss}"
    say(console, Text(title, "bold"))
    many = all(case.every is None or case.every.n >= P99_FROM for case in found.cases.values())
    share = 0.99 if many else 0.95
    columns = [Column("one-way\ndelays, ms")]
    head = f"median {100 * share:.0f}% most"
    columns += [Column(f"{shown(config)}\n{head}", before=3) for config in found.configs]
    lines = []
    for network in found.networks:
        delays = "-".join(f"{delay:g}" for delay in found.delays_ms[network])
        row = [found.of(network, config, loss) for config in found.configs]
        lines.append(Line((delays, *(_quantiles(case, share, unit) for case in row))))
    print_grid(columns, lines, console)
    console.print()


def _quantiles(case: Case | None, share: float, unit: Unit) -> str:
    """Each percentile with its interval, which connections bound: bursts of one hang together."""
    if case is None or case.every is None:
        return NONE
    texts = [
        f"{unit.text(case.every.percentile(one))} "
        f"({unit.between(case.every.percentile_interval(one))})"
        for one in (0.5, share)
    ]
    return " ".join([*texts, unit.text(max(case.every.values, default=None))])


def _times(case: Case | None, unit: Unit) -> str:
    if case is None or case.completion.mean_s is None:
        return NONE
    half = unit.half(case.completion.estimate)
    return unit.text(case.completion.mean_s) + ("" if half == NONE else f" {half}")


def _repair(case: Case | None) -> str:
    """The first retransmission of what was lost, of most connections."""
    if case is None or not case.first_retransmission:
        return ""
    (retransmission, n), *others = case.first_retransmission
    return f"{retransmission.words}{f' ({n} of {n + sum(m for _, m in others)})' if others else ''}"


def _print_left_out(found: Cases, console: Console) -> None:
    incomplete = sum(case.incomplete for case in found.cases.values())
    inexact = sum(case.inexact for case in found.cases.values())
    if incomplete:
        say(console, f"left out: {incomplete:,} connections that did not deliver every byte")
    if inexact:
        say(
            console,
            f"left out: {inexact:,} connections that lost other packets than those named "
            "(--inexact takes them in)",
        )


def _print_extra(found: Cases, console: Console) -> None:
    """What went twice, by configuration: a mean over all connections. The kernel's counts are of
    whole connections, bursts without loss included.
    """
    for config in found.configs:
        mine = [case for case in found.cases.values() if case.config == config]
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
            say(console, f"{config}, a connection: {', '.join(facts)}", "dim")
