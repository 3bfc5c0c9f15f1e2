"""The study's tables, each with what its words mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rexmit.result.blocks import (
    BLANK,
    Block,
    Cell,
    Column,
    Grid,
    Line,
    Paragraph,
    heading,
    note,
    table,
)
from rexmit.wording import NONE, duration, known
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


def study_blocks(tables: Tables) -> Iterator[Block]:
    """Tables I to V with the paper's values, recovery times, false alarms."""
    if tables.parameters:
        yield from (*_table_1(tables), BLANK)
    yield from (*_table_2(tables), BLANK)
    yield from (*_table_3(tables), BLANK)
    if tables.classes:
        yield from (*_table_4(tables), BLANK, *_table_5(tables))
    else:
        nothing = "no lossy explained connection: Tables IV and V have nothing to show"
        yield Paragraph(nothing, "yellow")
    if tables.recovery:
        yield from (BLANK, *_recovery(tables))
    yield from (BLANK, *_false_alarms(tables))


def _grid(first: str, heads: Iterable[str], lines: Iterable[Line]) -> Grid:
    right = (Column(head, right=True, before=2) for head in heads)
    return Grid((Column(first, least=12), *right), tuple(lines))


def _table_1(tables: Tables) -> Iterator[Block]:
    yield heading("Table I: parameters of the senders, assumed and inferred")
    systems = list(dict.fromkeys(one.system for one in tables.parameters))
    of = {(one.system, one.parameter): one for one in tables.parameters}
    lines = [
        Line((_PARAMETERS[parameter], *(_inferred(of[system, parameter]) for system in systems)))
        for parameter in PARAMETERS
    ]
    formulas = (TABLE_1[system].rto if system in TABLE_1 else NONE for system in systems)
    yield _grid("parameter", systems, [*lines, Line(("RTO", *formulas))])
    yield note(_TABLE_1)
    counts = (
        f"{system} {max(one.n for one in tables.parameters if one.system == system):,}"
        for system in systems
    )
    yield note(f"senders: {', '.join(counts)}")


def _inferred(one: Inferred) -> Cell:
    assumed = " or ".join(f"{value:g}" for value in one.assumed) or NONE
    text = f"{NONE if one.printed is None else f'{one.printed:g}'} / {assumed}"
    if one.median is None or one.low is None or one.high is None or one.low == one.high:
        return text
    return text, f"{one.median:.3g} ({one.low:.3g} to {one.high:.3g})"


def _table_2(tables: Tables) -> Iterator[Block]:
    yield heading("Table II: general characteristics of the packet traces")
    ours = (
        Line(
            (
                one.name,
                duration(one.duration_s),
                known(one.load_bps, _megabits),
                f"{one.connections:,}",
                f"{one.bytes:,}",
                f"{one.packets:,}",
            )
        )
        for one in tables.totals
    )
    theirs = (
        Line(
            (
                f"paper: {one.name}",
                duration(one.duration_s),
                _megabits(one.load_bps),
                f"{one.connections / 1e6:,.1f} M",
                f"{one.bytes / 1e9:,.1f} G",
                f"{one.packets / 1e6:,.1f} M",
            ),
            "dim",
        )
        for one in TABLE_2
    )
    heads = ("duration", "avg TCP load", "connections", "bytes", "packets")
    yield _grid("trace", heads, (*ours, *theirs))


def _table_3(tables: Tables) -> Iterator[Block]:
    yield heading("Table III: connections used in the analysis, percent")
    heads = ("lossy:\nconn", "bytes", "packets", "explained:\nconn", "bytes", "packets")
    ours = (
        Line(
            (
                one.name,
                *(_percent(share) for share in (*one.lossy, *one.explained)),
                *(_percent(one.systems.get(system, 0.0)) for system in tables.systems),
            )
        )
        for one in tables.lossy
    )
    theirs = (
        Line(
            (
                f"paper: {one.name}",
                *(f"{share:.2f}" for share in (*one.lossy, *one.explained)),
                *(known(one.systems.get(system), "{:.2f}".format) for system in tables.systems),
            ),
            "dim",
        )
        for one in TABLE_3
    )
    yield _grid("trace", (*heads, *tables.systems), (*ours, *theirs))
    yield note(_LOSSY)
    shares = [
        f"{one.name} {one.explained[0] / one.lossy[0]:.1%}" for one in tables.lossy if one.lossy[0]
    ] or ["nothing, as no connection lost any"]
    least, most = min(one.share for one in TABLE_3), max(one.share for one in TABLE_3)
    yield Paragraph(
        f"explained, of the lossy: {', '.join(shares)}; paper: {least:.0f} to {most:.0f} %"
    )
    agreement = tables.agreement
    if agreement.named:
        yield Paragraph(
            f"systems of SYNs and of retransmissions agree: {agreement.agree:,} of "
            f"{agreement.named:,} ({agreement.agree / agreement.named:.2%}); paper, by p0f: more "
            "than 99.9 %"
        )


def _table_4(tables: Tables) -> Iterator[Block]:
    yield heading("Table IV: classification of retransmissions of lossy explained connections")
    heads = ("total", "non-spurious\nRTO", "FR/R", "spurious\nRTO", "FR/R", "other")
    names = ("needed_rto", "needed_fr", "spurious_rto", "spurious_fr")
    lines = []
    for one in tables.classes:
        texts = (_counted(getattr(one, name), one.total) for name in (*names, "other"))
        lines.append(Line((one.system, f"{one.total:,}", *texts)))
        if printed := TABLE_4.get(one.system):
            percents = (f"{getattr(printed, name):.1f}%" for name in names)
            lines.append(Line(("  paper", f"{printed.total:,}", *percents, NONE), "dim"))
    yield _grid("system", heads, lines)
    yield note(COUNTED)
    if unknown := sum(one.unknown_need for one in tables.classes):
        yield note(f"{unknown:,} whose need is unknown are counted as non-spurious")


def _table_5(tables: Tables) -> Iterator[Block]:
    yield heading("Table V: impact of the threshold of duplicate ACKs")
    of_first = ("FR/R", "RTO", "first D", "RTO\nto FR/R", "spurious\ncaused")
    names = ("rto_to_fr", "spurious_caused", "fr_to_rto", "spurious_avoided")
    lines = []
    for one in tables.thresholds:
        parts = (getattr(one, name) for name in names)
        texts = (NONE if part is None else _counted(part, one.total) for part in parts)
        counts = (f"{one.fr:,}", f"{one.rto:,}", f"D={one.first_d}")
        lines.append(Line((one.system, *counts, *texts)))
        if printed := TABLE_5.get(one.system):
            counts = (f"{printed.fr:,}", f"{printed.rto:,}", f"D={one.first_d}")
            percents = (f"{getattr(printed, name):.1f}%" for name in names)
            lines.append(Line(("  paper", *counts, *percents), "dim"))
    yield _grid("system", (*of_first, "D=4: FR/R\nto RTO", "spurious\navoided"), lines)
    yield note(_TABLE_5)


def _recovery(tables: Tables) -> Iterator[Block]:
    yield heading("Recovery times by segments lost of a flight, in RTTs")
    heads = ("SACK:\nepisodes", "median", "95 %", "without:\nepisodes", "median", "95 %")
    of = {(one.lost, one.sack): one for one in tables.recovery}
    lines = []
    for lost in sorted({one.lost for one in tables.recovery}):
        texts = [f"{lost} or more" if lost == MOST_LOST else str(lost)]
        for sack in (True, False):
            one = of.get((lost, sack))
            if one is None:
                texts += [NONE] * 3
            else:
                rtts = (one.median_rtts, one.p95_rtts)
                texts += [f"{one.episodes:,}", *(known(rtt, "{:.2f}".format) for rtt in rtts)]
        lines.append(Line(tuple(texts)))
    yield _grid("lost", heads, lines)
    yield note("from an episode's first retransmission to the ACK of all that was sent before it")


def _false_alarms(tables: Tables) -> Iterator[Block]:
    yield heading("False alarms: spurious retransmissions of connections without loss")
    yield table(
        tables.false_alarms,
        Column(
            "system", least=12, cell=lambda one: "not told" if one.system == "-" else one.system
        ),
        ("connections", lambda one: f"{one.connections:,}"),
        ("with retransmissions", lambda one: _counted(one.with_retransmissions, one.connections)),
        ("by RTO", lambda one: f"{one.spurious_rto:,}"),
        ("by FR/R", lambda one: f"{one.spurious_fr:,}"),
    )
    yield note("a system can be told only of connections that retransmitted anything")


def _megabits(load_bps: float) -> str:
    return f"{load_bps / 1e6:.2f} Mbit/s"


def _counted(part: int, whole: int) -> str:
    return f"{part:,} ({part / whole:.1%})" if whole else f"{part:,}"


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"
