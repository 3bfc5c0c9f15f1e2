"""The page of a trace on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from rexmit.tables.grid import Column, Line, print_grid
from rexmit.tables.terminal import NONE, count, duration, say
from rexmit.trace import terms
from rexmit.trace.advice import Advice
from rexmit.trace.floods import Flood
from rexmit.trace.source import Facts
from rexmit.trace.summary import Multipath, OfMechanism, Sender, Summary, Totals, Worst

if TYPE_CHECKING:
    from rexmit.whatif.calibration import Calibration

_NOT_TCP = ("arp", "udp", "icmp", "other-protocol", "link-control")
"""What a capture has besides TCP and is no reason to doubt it."""

_ESTIMATE = (
    "an estimate: round trips and losses are taken to be what they were (seed 002, section IV.C)"
)


def print_page(
    captures: Iterable[str],
    facts: Facts,
    made: Summary,
    settings: tuple[Advice, ...],
    console: Console,
    *,
    kept: Path | None = None,
    checked: Calibration | None = None,
) -> None:
    """Everything; `kept` is the folder of the tables, None where they were not asked for, `checked`
    says how far predictions were off when they were held against transfers really run.
    """
    totals = made.totals
    say(console, Text(_title(captures, facts, totals), "bold"))
    _print_totals(facts, made, console)
    for warning in warnings(facts, totals):
        say(console, Text.assemble(("warning: ", "yellow"), warning))
    if made.mechanisms:
        console.print()
        _print_mechanisms(made.mechanisms, console)
    if made.senders:
        console.print()
        _print_senders(made.senders, console)
        same, compared = made.agreement
        if compared:
            told = f"{same:,} of the {compared:,} whose SYN names a system, too"
            say(console, f"resends and SYN name the same for {told} ({_share(same, compared)})")
    if made.worst:
        console.print()
        _print_worst(made.worst, console)
        if kept is not None:
            told = f"to look at one: rexmit show {kept} --flow {made.worst[0].number}"
            console.print(told, soft_wrap=True)
    if made.mechanisms and facts.settings:
        console.print()
        _print_settings(settings, totals, checked, console)


def _title(captures: Iterable[str], facts: Facts, totals: Totals) -> str:
    names = list(captures)
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
    told = f"{shown}: {count(facts.packets or totals.packets, 'packet')}"
    if totals.start_s is None or totals.end_s is None:
        return told
    began = datetime.fromtimestamp(totals.start_s, tz=UTC)
    # The clock of a lab's host counts from its start, not from 1970.
    when = f" from {began:%Y-%m-%d %H:%M:%S} UTC on" if totals.start_s > 1e8 else ""
    return f"{told} in {duration(totals.end_s - totals.start_s)}{when}"


def _print_totals(facts: Facts, made: Summary, console: Console) -> None:
    totals, multipath = made.totals, made.multipath
    every = totals.connections
    waited = f"{_waited(totals.lost_s)} for resends, in connections that lasted "
    waited += f"{_waited(totals.duration_s)} altogether"
    others = {why: n for why, n in facts.not_understood.items() if why in _NOT_TCP}
    lines = [
        ("connections", f"{every:,}"),
        ("  with resends", f"{totals.with_resends:,} ({_share(totals.with_resends, every)})"),
        ("  with losses", f"{totals.with_loss:,} ({_share(totals.with_loss, every)})"),
        ("data", f"{_bytes(totals.bytes)} in {count(totals.segments, 'packet')}"),
        ("resends", f"{totals.resends:,} ({_share(totals.resends, totals.segments)} of those)"),
        ("time waited", f"{waited} ({_share(totals.lost_s, totals.duration_s)})"),
    ]
    if totals.reordered or totals.network_duplicates:
        late = f"{count(totals.reordered, 'packet')} came late"
        twice = f"{totals.network_duplicates:,} twice"
        lines.append(("network", f"{late}, {twice}; these are no resends"))
    if others:
        lines.append(("not TCP", f"{count(sum(others.values()), 'packet')}: {_counts(others)}"))
    if multipath is not None:
        lines.append(("Multipath TCP", _multipath(multipath)))
    if made.flood is not None:
        lines.append(_flood(made.flood))
    for label, text in lines:
        say(console, f"{label:<16} {text}")


def _flood(made: Flood) -> tuple[str, str]:
    """What it is called, and the line that says so."""
    addresses = "address" if made.sources == 1 else "addresses"
    over = f"from {made.sources:,} {addresses} in {_waited(made.duration_s)}"
    told = f"{count(made.connections, 'connection')} ({_share(made.share, 1)} of all)"
    most = f"{made.for_service:,} of them"
    if made.kind == "backscatter":
        return "backscatter", (
            f"of {told} only the answer to a SYN came by, as when others flood a host under forged "
            f"addresses; {most} from {made.service}, in {_waited(made.duration_s)}"
        )
    never = f"{told} never got beyond the handshake, {over}"
    if made.kind == "syn-flood":
        return "SYN flood", f"{never}; {most} to {made.service}"
    host = f"of {made.hosts:,} hosts" if made.hosts > 1 else f"of {made.service.rpartition(':')[0]}"
    ports = f"{made.services:,} ports {host}"
    return "scan", f"{never}, to {ports}; most, {made.for_service:,}, to {made.service}"


def _multipath(made: Multipath) -> str:
    several = f", {made.joined:,} with more than one" if made.joined else ""
    told = f"{count(made.connections, 'connection')} of {count(made.subflows, 'subflow')}{several}"
    if not made.reinjections:
        return f"{told}; nothing re-injected"
    again = f"{count(made.reinjections, 'packet')} re-injected ({_bytes(made.reinjected_bytes)})"
    return f"{told}; {again}, {made.needless:,} needless"


def warnings(facts: Facts, totals: Totals) -> list[str]:
    """What to know before the page is trusted."""
    told = [*facts.warnings]
    if facts.evicted:
        told.append("--connections-limit says how many connections are remembered at a time")
    strange = {why: n for why, n in facts.not_understood.items() if why not in _NOT_TCP}
    if strange:
        every = sum(strange.values())
        told.append(f"{count(every, 'packet')} not understood: {_counts(strange)}")
    if totals.one_sided:
        told.append(
            f"{count(totals.one_sided, 'connection')} seen in one direction only "
            f"({_share(totals.one_sided, totals.connections)}): little can be told of them"
        )
    if totals.mid_stream:
        told.append(
            f"{count(totals.mid_stream, 'connection')} began before the capture: what was agreed "
            "at their start is not known"
        )
    if totals.capture_losses:
        told.append(
            f"the capture missed at least {count(totals.capture_losses, 'packet')} of "
            f"{count(totals.with_capture_losses, 'connection')}: they arrived without being seen"
        )
    if totals.capture_duplicates:
        told.append(f"the capture has {count(totals.capture_duplicates, 'packet')} twice")
    return told


def _print_mechanisms(mechanisms: tuple[OfMechanism, ...], console: Console) -> None:
    every = sum(one.resends for one in mechanisms)
    columns = [
        Column("resends by", least=16),
        Column("", before=2),
        *(
            Column(head, right=True, before=2)
            for head in (
                "resends",
                "share",
                "needed",
                "needless",
                "not known",
                "time\nwaited",
                "usual\nwait",
                "in round\ntrips",
            )
        ),
    ]
    lines = [
        Line(
            (
                one.mechanism,
                terms.WORDS.get(one.mechanism, ""),
                f"{one.resends:,}",
                _share(one.resends, every),
                f"{one.needed:,}",
                f"{one.spurious:,}",
                f"{one.unknown:,}",
                _waited(one.lost_s),
                NONE if one.median_s is None else _wait(one.median_s),
                NONE if one.median_rtts is None else f"{one.median_rtts:.1f}",
            )
        )
        for one in mechanisms
    ]
    print_grid(columns, lines, console)


def _print_senders(senders: tuple[Sender, ...], console: Console) -> None:
    columns = [
        Column("senders, by how they resend", least=28),
        *(Column(h, right=True, before=2) for h in ("connections", "resends", "time waited")),
    ]
    words = {"several": "several would explain it", "none": "none explains it"}
    lines = [
        Line(
            (
                words.get(one.stack, one.stack),
                f"{one.connections:,}",
                f"{one.resends:,}",
                _waited(one.lost_s),
            )
        )
        for one in senders
    ]
    print_grid(columns, lines, console)


def _print_worst(worst: tuple[Worst, ...], console: Console) -> None:
    head = f"the {count(len(worst), 'connection')} that waited longest"
    say(console, Text("the connection that waited" if len(worst) == 1 else head, "bold"))
    for one in worst:
        share = _share(one.lost_s, one.duration_s)
        stack = f", {one.stack}" if one.stack not in (None, "none", "several") else ""
        say(
            console,
            f"{one.number:>6}  {one.flow}{stack}: {_waited(one.lost_s)} of "
            f"{_waited(one.duration_s)} ({share}); {one.reason}",
            indent=8,
        )


def _print_settings(
    settings: tuple[Advice, ...], totals: Totals, checked: Calibration | None, console: Console
) -> None:
    if not settings:
        say(console, "no other setting that was tried would have made the connections shorter")
        return
    best = settings[0]
    cost = f"{best.needless:,} needless resends more"
    more = f" and {best.longer:,} longer" if best.longer else ""
    say(
        console,
        Text.assemble(
            ("most would help: ", "bold"),
            f"{best.setting}. It would have saved {_waited(best.saved_s)} "
            f"({_share(best.saved_s, totals.lost_s)} of the time waited), made "
            f"{count(best.shorter, 'connection')} shorter{more} by more than a tenth, "
            f"and cost {cost}",
        ),
    )
    columns = [
        Column("setting", least=24),
        *(
            Column(head, right=True, before=2)
            for head in (
                "saves",
                "a tenth\nshorter",
                "a tenth\nlonger",
                "resends\nspared",
                "needless\nmore",
                "timeouts to\nfast resends",
                "and back",
                *(("off by", "95 %") if checked else ()),
            )
        ),
    ]
    lines = [
        Line(
            (
                one.setting,
                _waited(one.saved_s),
                f"{one.shorter:,}",
                f"{one.longer:,}",
                f"{one.avoided:,}",
                f"{one.needless:,}",
                f"{one.to_fr:,}",
                f"{one.to_rto:,}",
                *(_off_by(one.setting, checked) if checked else ()),
            )
        )
        for one in settings
    ]
    print_grid(columns, lines, console)
    say(console, _ESTIMATE, "dim")
    if checked:
        told = (
            "off by: predicted less actual change, share of the duration, of transfers really run "
            f"with the setting ({checked.engine}, {checked.made}); median and 95th percentile"
        )
    else:
        told = "how far it is off was not checked here: `rexmit whatif` checks and keeps it"
    say(console, told, "dim")


def _off_by(setting: str, checked: Calibration) -> tuple[str, str]:
    error = checked.error_of(setting)
    return (f"{error.median:.1%}", f"{error.p95:.1%}") if error else (NONE, NONE)


def _counts(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return ", ".join(f"{n:,} {why}" for why, n in ordered if n)


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.1%}" if whole else NONE


def _waited(value_s: float) -> str:
    return duration(value_s) if value_s >= 10 else f"{value_s:.2f} s"


def _wait(value_s: float) -> str:
    return f"{value_s:.2f} s" if value_s >= 1 else f"{value_s * 1000:.1f} ms"


def _bytes(value: int) -> str:
    number = float(value)
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:.0f} B" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} TB"
