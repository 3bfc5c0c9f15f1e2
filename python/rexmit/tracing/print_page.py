"""The page of a trace on the terminal: what was captured, what went wrong, where, what would help.

A quantity is reckoned once, in `summary`, and written once, here; `words` says how.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console

from rexmit import escaping
from rexmit.present.grid import Column, Line, print_grid
from rexmit.present.terminal import say, say_facts
from rexmit.present.text import Text
from rexmit.tracing.doubts import NOT_TCP, counts, unread, warnings
from rexmit.tracing.page import Page
from rexmit.tracing.points.print_points import points, print_points
from rexmit.tracing.print_settings import print_settings
from rexmit.tracing.requests import Requests
from rexmit.tracing.sentences import requests, time, traffic, wrong
from rexmit.tracing.sentences.retransmissions import NEEDS, cause
from rexmit.tracing.source import Facts, File
from rexmit.tracing.summed import OfMechanism, Sender, Summary, Worst
from rexmit.tracing.words import period, share, span
from rexmit.wording import NONE, count

_FILES_SHOWN: Final = 10

_SENDERS_SHOWN: Final = 10


def print_page(page: Page, console: Console, *, kept: Path | None = None) -> None:
    """Everything; `kept` is the folder of the tables, or the capture where they were not asked for,
    None where there is no single one.
    """
    facts, made = page.trace.facts, page.summary
    say(console, Text(_title(page.trace.captures, facts, made), "bold"))
    if page.selected:
        say(console, Text(page.selected, "bold"))
    why = time.said(made.owners, made.totals.connections, made.slow_s)
    if why:
        say(console, Text("Why it was slow", "bold"))
        say_facts(console, ((sentence.label, sentence.text) for sentence in why))
        console.print()
    if made.requests is not None and made.requests.slowest:
        say(console, Text(_slowest(made.requests), "bold"))
        slow = requests.said(made.requests)
        say_facts(console, ((sentence.label, sentence.text) for sentence in slow))
        if cut := requests.cut(made.requests, facts.cut_packets):
            say(console, cut, "dim")
        console.print()
    say_facts(console, _captured(facts, made))
    for warning in warnings(facts, made):
        say(console, Text.assemble(("warning: ", "yellow"), warning))
    if made.points is not None:
        console.print()
        print_points(made.points, console)
    console.print()
    say(console, Text("What went wrong", "bold"))
    said = wrong.said(made, unread=sum(unread(facts).values()))
    say_facts(console, ((sentence.label, sentence.text) for sentence in said))
    if made.mechanisms:
        console.print()
        _print_mechanisms(made.mechanisms, console)
    if made.senders:
        console.print()
        _print_senders(made, console)
    if made.worst:
        console.print()
        _print_worst(made.worst, console)
        if kept is not None:
            which = "one of them" if len(made.worst) > 1 else "the same"
            told = (
                f"{which}, packet by packet: rexmit show {escaping.shell_word(str(kept))} --flow "
                f"{made.worst[0].number}"
            )
            console.print(told, soft_wrap=True)
    if made.mechanisms and facts.settings:
        console.print()
        print_settings(page.advice, made, page.checked, console, tried=len(facts.settings))


def print_unfit(
    captures: Iterable[str], selected: str, lines: Iterable[tuple[str, str]], console: Console
) -> None:
    """Instead of a page, where no connection is wanted."""
    say(console, Text(", ".join(captures), "bold"))
    say(console, Text(selected, "bold"))
    say_facts(console, lines)


def _slowest(found: Requests) -> str:
    shown = len(found.slowest)
    every = f" of {found.slow:,}" if found.slow > shown else ""
    return f"The slowest {count(shown, 'request') if shown > 1 else 'request'}{every}"


# What was captured.


def _title(captures: Iterable[str], facts: Facts, made: Summary) -> str:
    names, took = list(captures), made.captured
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
    told = f"{shown}: {count(facts.packets or made.totals.packets, 'packet')}"
    return told + _when(took.start_s, took.end_s, took.captured_s)


def _when(start_s: float | None, end_s: float | None, captured_s: float) -> str:
    """Behind a number of packets: in what time they came, and when that was."""
    if start_s is None or end_s is None:
        return ""
    when = period(start_s, end_s)
    return (f" in {span(captured_s)}" if captured_s else "") + (f", {when}" if when else "")


def _captured(facts: Facts, made: Summary) -> list[tuple[str, str]]:
    """Labels and lines."""
    others = {NOT_TCP[why]: n for why, n in facts.not_understood.items() if why in NOT_TCP}
    lines = _files(made.captured.files) if len(made.captured.files) > 1 else []
    if made.points is not None:
        lines += points(made.points)
    if facts.capture_filter:
        passing = f"that pass {facts.capture_filter}: {facts.left_out:,} others are left out"
        lines.append(("only packets", passing))
    lines += [(one.label, one.text) for one in traffic.said(made)]
    if others:
        lines.append(("not TCP", _not_tcp(others)))
    return lines


def _not_tcp(others: Mapping[str, int]) -> str:
    if len(others) == 1:
        ((why, number),) = others.items()
        return f"{count(number, 'packet')}, {'all ' if number > 1 else ''}{why}"
    return f"{count(sum(others.values()), 'packet')}: {counts(others)}"


def _files(every: Sequence[File]) -> list[tuple[str, str]]:
    lines: list[tuple[str, str]] = []
    for file in every[:_FILES_SHOWN]:
        told = f"{file.path}: {count(file.packets, 'packet')}"
        told += _when(file.first_s, file.last_s, (file.last_s or 0) - (file.first_s or 0))
        lines.append(("" if lines else "files", told))
    if len(every) > _FILES_SHOWN:
        lines.append(("", f"and {len(every) - _FILES_SHOWN:,} more"))
    return lines


# How the retransmissions came about, and whose they are.


def _print_mechanisms(mechanisms: tuple[OfMechanism, ...], console: Console) -> None:
    every = sum(one.retransmissions for one in mechanisms)
    heads = (
        "packets",
        "share",
        *NEEDS.values(),
        "time\nwaited",
        "sent again\nafter",
        "in round\ntrips",
    )
    columns = [
        Column("retransmissions, by what caused them", least=20),
        *(Column(head, right=True, before=2) for head in heads),
    ]
    lines = [
        Line(
            (
                cause(one.verdict),
                f"{one.retransmissions:,}",
                share(one.retransmissions, every),
                f"{one.needed:,}",
                f"{one.spurious:,}",
                f"{one.unknown:,}",
                span(one.waited_s),
                NONE if one.median_s is None else span(one.median_s),
                NONE if one.median_rtts is None else f"{one.median_rtts:.1f}",
            )
        )
        for one in mechanisms
    ]
    print_grid(columns, lines, console)


def _print_senders(made: Summary, console: Console) -> None:
    heads = ("connections", "retransmissions", "time waited")
    columns = [
        Column("who retransmitted", least=28),
        *(Column(h, right=True, before=2) for h in heads),
    ]
    print_grid(columns, [_sender(one) for one in made.senders[:_SENDERS_SHOWN]], console)
    more = made.senders[_SENDERS_SHOWN:]
    if more:
        again = sum(one.retransmissions for one in more)
        say(console, f"and {count(len(more), 'more kind')}, {count(again, 'retransmission')}")
    if any(one.by_syn for one in made.senders):
        say(console, _NO_SECOND_PROOF, "dim")


_NO_SECOND_PROOF: Final = (
    "What a SYN says of the system counts when its retransmissions are judged, too: where both "
    "name one system, that is no second proof of it."
)


def _sender(one: Sender) -> Line:
    return Line((one.words, f"{one.connections:,}", f"{one.retransmissions:,}", span(one.waited_s)))


def _print_worst(worst: tuple[Worst, ...], console: Console) -> None:
    head = f"the {count(len(worst), 'connection')} that waited longest"
    say(console, Text("the connection that waited" if len(worst) == 1 else head, "bold"))
    for one in worst:
        say(
            console,
            f"{one.number:>6}  {one.flow}: waited {span(one.waited_s)} of {span(one.duration_s)} "
            f"({share(one.waited_s, one.duration_s)}); {one.reason.text}",
            indent=8,
        )
