"""The study's tables on the terminal, each with what its words mean."""

from __future__ import annotations

from typing import Final

from rich.console import Console

from rexmit.present.grid import Cell, Column, Line, print_grid
from rexmit.present.terminal import say
from rexmit.present.text import Text
from rexmit.wording import NONE, duration
from rexmit_papers.unc_2007.paper import TABLE_1, TABLE_2, TABLE_3, TABLE_4, TABLE_5
from rexmit_papers.unc_2007.parameters import PARAMETERS, Inferred
from rexmit_papers.unc_2007.systems import COUNTED
from rexmit_papers.unc_2007.tables import MOST_LOST, Tables

_PARAMETERS: Final = {
    "granularity_s": "granularity, s",
    "initial_rto_s": "initial RTO, s",
    "min_rto_s": "minRTO, s",
    **{name: name for name in "abmk"},
    "d": "D",
}

_LOSSY = (
    "lossy: at least one retransmission of the connection's main sender that was not spurious; "
    "explained: stacks of one system explain each of its retransmissions; main: of the two the one "
    "that retransmitted more"
)
_TABLE_5 = (
    "differences to what the senders did, percent of all retransmissions; first D: 2, for Windows "
    "(whose own is 2) 3; an estimate that takes round trips and losses to be what they were"
)


_TABLE_1 = (
    "paper / of the emulated stack; then what captures show where they show more: the median, and "
    "between what 90 % of the senders lie"
)


def print_study(tables: Tables, console: Console) -> None:
    """Tables I to V with the paper's values, recovery times, false alarms."""
    if tables.parameters:
        _table_1(tables, console)
        console.print()
    _table_2(tables, console)
    console.print()
    _table_3(tables, console)
    if not tables.classes:
        console.print()
        say(
            console, "no lossy explained connection: Tables IV and V have nothing to show", "yellow"
        )
    else:
        console.print()
        _table_4(tables, console)
        console.print()
        _table_5(tables, console)
    if tables.recovery:
        console.print()
        _recovery(tables, console)
    console.print()
    _false_alarms(tables, console)


def _title(console: Console, text: str) -> None:
    say(console, Text(text, "bold"))


def _right(*heads: str) -> list[Column]:
    return [Column(head, right=True, before=2) for head in heads]


def _table_1(tables: Tables, console: Console) -> None:
    _title(console, "Table I: parameters of the senders, assumed and inferred")
    systems = list(dict.fromkeys(one.system for one in tables.parameters))
    of = {(one.system, one.parameter): one for one in tables.parameters}
    columns = [Column("parameter", least=12), *_right(*systems)]
    lines = [
        Line((_PARAMETERS[parameter], *(_inferred(of[system, parameter]) for system in systems)))
        for parameter in PARAMETERS
    ]
    formulas = (TABLE_1[system].rto if system in TABLE_1 else NONE for system in systems)
    lines.append(Line(("RTO", *formulas)))
    print_grid(columns, lines, console)
    say(console, _TABLE_1, "dim")
    counts = (
        f"{system} {max(one.n for one in tables.parameters if one.system == system):,}"
        for system in systems
    )
    say(console, f"senders: {', '.join(counts)}", "dim")


def _inferred(one: Inferred) -> Cell:
    assumed = " or ".join(f"{value:g}" for value in one.assumed) or NONE
    text = f"{NONE if one.printed is None else f'{one.printed:g}'} / {assumed}"
    if one.median is None or one.low is None or one.high is None or one.low == one.high:
        return text
    return text, f"{one.median:.3g} ({one.low:.3g} to {one.high:.3g})"


def _table_2(tables: Tables, console: Console) -> None:
    _title(console, "Table II: general characteristics of the packet traces")
    columns = [
        Column("trace", least=12),
        *_right("duration", "avg TCP load", "connections", "bytes", "packets"),
    ]
    lines = [
        Line(
            (
                one.name,
                duration(one.duration_s),
                NONE if one.load_bps is None else f"{one.load_bps / 1e6:.2f} Mbit/s",
                f"{one.connections:,}",
                f"{one.bytes:,}",
                f"{one.packets:,}",
            )
        )
        for one in tables.totals
    ]
    lines += [
        Line(
            (
                f"paper: {one.name}",
                duration(one.duration_s),
                f"{one.load_bps / 1e6:.2f} Mbit/s",
                *(f"{count / 1e6:,.1f} M" for count in (one.connections,)),
                f"{one.bytes / 1e9:,.1f} G",
                f"{one.packets / 1e6:,.1f} M",
            ),
            "dim",
        )
        for one in TABLE_2
    ]
    print_grid(columns, lines, console)


def _table_3(tables: Tables, console: Console) -> None:
    _title(console, "Table III: connections used in the analysis, percent")
    columns = [
        Column("trace", least=12),
        *_right("lossy:\nconn", "bytes", "packets", "explained:\nconn", "bytes", "packets"),
        *_right(*tables.systems),
    ]
    lines = [
        Line(
            (
                one.name,
                *(_percent(share) for share in (*one.lossy, *one.explained)),
                *(_percent(one.systems.get(system, 0.0)) for system in tables.systems),
            )
        )
        for one in tables.lossy
    ]
    lines += [
        Line(
            (
                f"paper: {one.name}",
                *(f"{share:.2f}" for share in (*one.lossy, *one.explained)),
                *(
                    f"{one.systems[system]:.2f}" if system in one.systems else NONE
                    for system in tables.systems
                ),
            ),
            "dim",
        )
        for one in TABLE_3
    ]
    print_grid(columns, lines, console)
    say(console, _LOSSY, "dim")
    shares = [
        f"{one.name} {one.explained[0] / one.lossy[0]:.1%}" for one in tables.lossy if one.lossy[0]
    ] or ["nothing, as no connection lost any"]
    least, most = min(one.share for one in TABLE_3), max(one.share for one in TABLE_3)
    say(
        console, f"explained, of the lossy: {', '.join(shares)}; paper: {least:.0f} to {most:.0f} %"
    )
    agreement = tables.agreement
    if agreement.named:
        say(
            console,
            f"systems of SYNs and of retransmissions agree: {agreement.agree:,} of "
            f"{agreement.named:,} ({agreement.agree / agreement.named:.2%}); paper, by p0f: more "
            "than 99.9 %",
        )


def _table_4(tables: Tables, console: Console) -> None:
    _title(console, "Table IV: classification of retransmissions of lossy explained connections")
    columns = [
        Column("system", least=12),
        *_right("total", "non-spurious\nRTO", "FR/R", "spurious\nRTO", "FR/R", "other"),
    ]
    lines = []
    for one in tables.classes:
        parts = (one.needed_rto, one.needed_fr, one.spurious_rto, one.spurious_fr, one.other)
        texts = (_counted(part, one.total) for part in parts)
        lines.append(Line((one.system, f"{one.total:,}", *texts)))
        if printed := TABLE_4.get(one.system):
            shares = (
                printed.needed_rto,
                printed.needed_fr,
                printed.spurious_rto,
                printed.spurious_fr,
            )
            percents = (f"{share:.1f}%" for share in shares)
            lines.append(Line(("  paper", f"{printed.total:,}", *percents, NONE), "dim"))
    print_grid(columns, lines, console)
    say(console, COUNTED, "dim")
    unknown = sum(one.unknown_need for one in tables.classes)
    if unknown:
        say(console, f"{unknown:,} whose need is unknown are counted as non-spurious", "dim")


def _table_5(tables: Tables, console: Console) -> None:
    _title(console, "Table V: impact of the threshold of duplicate ACKs")
    columns = [
        Column("system", least=12),
        *_right(
            "FR/R",
            "RTO",
            "first D",
            "RTO\nto FR/R",
            "spurious\ncaused",
            "D=4: FR/R\nto RTO",
            "spurious\navoided",
        ),
    ]
    lines = []
    for one in tables.thresholds:
        changes = (one.rto_to_fr, one.spurious_caused, one.fr_to_rto, one.spurious_avoided)
        texts = (NONE if part is None else _counted(part, one.total) for part in changes)
        counts = (f"{one.fr:,}", f"{one.rto:,}", f"D={one.first_d}")
        lines.append(Line((one.system, *counts, *texts)))
        if printed := TABLE_5.get(one.system):
            shares = (
                printed.rto_to_fr,
                printed.spurious_caused,
                printed.fr_to_rto,
                printed.spurious_avoided,
            )
            counts = (f"{printed.fr:,}", f"{printed.rto:,}", f"D={one.first_d}")
            lines.append(Line(("  paper", *counts, *(f"{share:.1f}%" for share in shares)), "dim"))
    print_grid(columns, lines, console)
    say(console, _TABLE_5, "dim")


def _recovery(tables: Tables, console: Console) -> None:
    _title(console, "Recovery times by segments lost of a flight, in RTTs")
    columns = [
        Column("lost", least=12),
        *_right("SACK:\nepisodes", "median", "95 %", "without:\nepisodes", "median", "95 %"),
    ]
    of = {(one.lost, one.sack): one for one in tables.recovery}
    lines = []
    for lost in sorted({one.lost for one in tables.recovery}):
        texts = [f"{lost} or more" if lost == MOST_LOST else str(lost)]
        for sack in (True, False):
            one = of.get((lost, sack))
            if one is None:
                texts += [NONE] * 3
            else:
                texts += [f"{one.episodes:,}", _number(one.median_rtts), _number(one.p95_rtts)]
        lines.append(Line(tuple(texts)))
    print_grid(columns, lines, console)
    say(
        console,
        "from an episode's first retransmission to the ACK of all that was sent before it",
        "dim",
    )


def _false_alarms(tables: Tables, console: Console) -> None:
    _title(console, "False alarms: spurious retransmissions of connections without loss")
    columns = [
        Column("system", least=12),
        *_right("connections", "with retransmissions", "by RTO", "by FR/R"),
    ]
    lines = [
        Line(
            (
                "not told" if one.system == "-" else one.system,
                f"{one.connections:,}",
                _counted(one.with_retransmissions, one.connections),
                f"{one.spurious_rto:,}",
                f"{one.spurious_fr:,}",
            )
        )
        for one in tables.false_alarms
    ]
    print_grid(columns, lines, console)
    say(console, "a system can be told only of connections that retransmitted anything", "dim")


def _counted(part: int, whole: int) -> str:
    return f"{part:,} ({part / whole:.1%})" if whole else f"{part:,}"


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}"
