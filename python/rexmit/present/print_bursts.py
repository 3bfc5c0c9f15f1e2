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
from rexmit.wording import NONE, seconds


def print_cases(
    found: Cases, console: Console, losses: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Mean and standard deviation of the last burst's completion, below them what repaired it;
    `losses` says of a pattern in words what it loses.
    """
    for loss in found.losses:
        name = losses.get(loss)
        title = f"{loss}: {name}" if name else loss
        say(console, Text(f"Completion of the last burst in seconds; {title}", "bold"))
        columns = [Column("one-way\ndelays, ms")]
        columns += [Column(f"{shown(config)}\nmean  +- sd", before=3) for config in found.configs]
        lines = []
        for network in found.networks:
            delays = "-".join(f"{delay:g}" for delay in found.delays_ms[network])
            row = [found.of(network, config, loss) for config in found.configs]
            lines.append(Line((delays, *map(_times, row))))
            lines.append(Line(("", *map(_repair, row)), "dim"))
        print_grid(columns, lines, console)
        console.print()
        _print_every(found, loss, console)
    _print_left_out(found, console)
    _print_extra(found, console)


def print_cases_beside(
    found: Sequence[Cases], runs: Sequence[tuple[Runner, Path]], console: Console
) -> None:
    """Mean completions of the last burst of several runs: a table for each loss, a row for each
    network and configuration, a column a run.
    """
    for loss in dict.fromkeys(loss for one in found for loss in one.losses):
        say(console, Text(f"Completion of the last burst in seconds; {loss}", "bold"))
        columns = [Column("network"), Column("configuration", before=2)]
        columns += [Column(head, right=True, least=8, before=3) for head in column_heads(runs)]
        places = dict.fromkeys(
            (network, config) for one in found for network, config, of in one.cases if of == loss
        )
        lines = []
        for network, config in places:
            means = [
                case.completion.mean_s if (case := one.of(network, config, loss)) else None
                for one in found
            ]
            lines.append(Line((network, config, *map(seconds, means))))
        print_grid(columns, lines, console)
        console.print()


def _print_every(found: Cases, loss: str, console: Console) -> None:
    """All bursts, where a connection has many."""
    if all(case.every is None for case in found.cases.values() if case.loss == loss):
        return
    title = f"Completion of every burst in seconds, median, 99th percentile, longest; {loss}"
    say(console, Text(title, "bold"))
    columns = [Column("one-way\ndelays, ms")]
    columns += [Column(f"{shown(config)}\nmedian 99% most", before=3) for config in found.configs]
    lines = []
    for network in found.networks:
        delays = "-".join(f"{delay:g}" for delay in found.delays_ms[network])
        row = [found.of(network, config, loss) for config in found.configs]
        lines.append(Line((delays, *map(_quantiles, row))))
    print_grid(columns, lines, console)
    console.print()


def _quantiles(case: Case | None) -> str:
    if case is None or case.every is None:
        return NONE
    return f"{case.every.median_s:.3f} {case.every.p99_s:.3f} {case.every.most_s:.3f}"


def _times(case: Case | None) -> str:
    if case is None or case.completion.mean_s is None:
        return NONE
    sd = case.completion.sd_s
    return f"{case.completion.mean_s:.4f}" + ("" if sd is None else f" {sd:.4f}")


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
