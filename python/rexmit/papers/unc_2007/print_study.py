"""The study's tables on the terminal, each with what its words mean."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from rexmit.papers.unc_2007.tables import MOST_LOST, Tables
from rexmit.present.grid import Column, Line, print_grid
from rexmit.present.terminal import say
from rexmit.tracing import terms
from rexmit.wording import NONE, duration

_LOSSY = (
    "lossy: at least one retransmission of the connection's main sender that was not spurious; "
    "explained: stacks of one system explain each of its retransmissions; main: of the two the one "
    "that retransmitted more"
)
_TABLE_5 = (
    "differences to what the senders did, percent of all retransmissions; first D: 2, for Windows "
    "(whose own is 2) 3; an estimate that takes round trips and losses to be what they were"
)


def print_study(tables: Tables, console: Console) -> None:
    """Tables II to V, recovery times, false alarms."""
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
    print_grid(columns, lines, console)
    say(console, _LOSSY, "dim")


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
    print_grid(columns, lines, console)
    say(console, terms.COUNTED, "dim")
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
