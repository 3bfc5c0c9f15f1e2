"""The page of a trace: what was captured, what went wrong, where, what would help."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from rexmit import escaping
from rexmit.result.blocks import (
    BLANK,
    Block,
    Column,
    Facts,
    Grid,
    Paragraph,
    heading,
    note,
    table,
    warning,
)
from rexmit.result.sentence import facts as labelled
from rexmit.tracing.doubts import NOT_TCP, counts, unread, warnings
from rexmit.tracing.page import Page
from rexmit.tracing.requests import Requests
from rexmit.tracing.sections import points
from rexmit.tracing.sections.settings import settings
from rexmit.tracing.sentences import requests, time, traffic, wrong
from rexmit.tracing.sentences.retransmissions import NEEDS, cause
from rexmit.tracing.source import Facts as Captured
from rexmit.tracing.source import File
from rexmit.tracing.summed import OfMechanism, Summary, Worst
from rexmit.tracing.words import period, share, span
from rexmit.wording import count, known

_FILES_SHOWN: Final = 10

_SENDERS_SHOWN: Final = 10


def page_blocks(page: Page, *, kept: Path | None = None) -> Iterator[Block]:
    """Everything; `kept` is the folder of the tables, or the capture where they were not asked for,
    None where there is no single one.
    """
    facts, summary = page.trace.facts, page.summary
    yield heading(_title(page.trace.captures, facts, summary))
    if page.selected:
        yield heading(page.selected)
    every, troubles = summary.totals.connections, summary.troubles
    if why := time.said(summary.owners, every, summary.slow_s, troubles):
        yield from (heading("Why it was slow"), labelled(why), BLANK)
    if summary.requests is not None and summary.requests.slowest:
        yield heading(_slowest(summary.requests))
        yield labelled(requests.said(summary.requests))
        if cut := requests.cut(summary.requests, facts.cut_packets):
            yield note(cut)
        yield BLANK
    yield Facts(tuple(_captured(facts, summary)))
    yield from map(warning, warnings(facts, summary))
    if summary.points is not None:
        yield from (BLANK, points.stretches(summary.points))
    yield from (BLANK, heading("What went wrong"))
    yield labelled(wrong.said(summary, unread=sum(unread(facts).values())))
    if summary.mechanisms:
        yield from (BLANK, _mechanisms(summary.mechanisms))
    if summary.senders:
        yield from (BLANK, *_senders(summary))
    if summary.worst:
        yield from (BLANK, *_worst(summary.worst))
        if kept is not None:
            which = "one of them" if len(summary.worst) > 1 else "the same"
            text = (
                f"{which}, packet by packet: rexmit show {escaping.shell_word(str(kept))} --flow "
                f"{summary.worst[0].number}"
            )
            yield Paragraph(text, whole=True)
    if summary.mechanisms and facts.settings:
        yield BLANK
        yield from settings(page.advice, summary, page.checked, tried=len(facts.settings))


def unfit_blocks(
    captures: Iterable[str], selected: str, lines: Iterable[tuple[str, str]]
) -> Iterator[Block]:
    """Instead of a page, where no connection is wanted."""
    yield heading(", ".join(captures))
    yield heading(selected)
    yield Facts(tuple(lines))


def _slowest(asked: Requests) -> str:
    shown = len(asked.slowest)
    every = f" of {asked.slow:,}" if asked.slow > shown else ""
    return f"The slowest {count(shown, 'request') if shown > 1 else 'request'}{every}"


# What was captured.


def _title(captures: Iterable[str], facts: Captured, summary: Summary) -> str:
    names, took = list(captures), summary.captured
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
    text = f"{shown}: {count(facts.packets or summary.totals.packets, 'packet')}"
    return text + _when(took.start_s, took.end_s, took.captured_s)


def _when(start_s: float | None, end_s: float | None, captured_s: float) -> str:
    """Behind a number of packets: in what time they came, and when that was."""
    if start_s is None or end_s is None:
        return ""
    when = period(start_s, end_s)
    return (f" in {span(captured_s)}" if captured_s else "") + (f", {when}" if when else "")


def _captured(facts: Captured, summary: Summary) -> list[tuple[str, str]]:
    """Labels and lines."""
    others = {NOT_TCP[why]: n for why, n in facts.not_understood.items() if why in NOT_TCP}
    lines = _files(summary.captured.files) if len(summary.captured.files) > 1 else []
    if summary.points is not None:
        lines += points.captured(summary.points)
    if facts.capture_filter:
        passing = f"that pass {facts.capture_filter}: {facts.left_out:,} others are left out"
        lines.append(("only packets", passing))
    lines += [(one.label, one.text) for one in traffic.said(summary)]
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
        text = f"{file.path}: {count(file.packets, 'packet')}"
        text += _when(file.first_s, file.last_s, (file.last_s or 0) - (file.first_s or 0))
        lines.append(("" if lines else "files", text))
    if len(every) > _FILES_SHOWN:
        lines.append(("", f"and {len(every) - _FILES_SHOWN:,} more"))
    return lines


# How the retransmissions came about, and whose they are.


def _mechanisms(mechanisms: tuple[OfMechanism, ...]) -> Grid:
    every = sum(one.retransmissions for one in mechanisms)
    return table(
        mechanisms,
        Column(
            "retransmissions, by what caused them", least=20, cell=lambda one: cause(one.verdict)
        ),
        ("packets", lambda one: f"{one.retransmissions:,}"),
        ("share", lambda one: share(one.retransmissions, every)),
        (NEEDS["needed"], lambda one: f"{one.needed:,}"),
        (NEEDS["spurious"], lambda one: f"{one.spurious:,}"),
        (NEEDS["unknown"], lambda one: f"{one.unknown:,}"),
        ("time\nwaited", lambda one: span(one.waited_s)),
        ("sent again\nafter", lambda one: known(one.median_s, span)),
        ("in round\ntrips", lambda one: known(one.median_rtts, "{:.1f}".format)),
    )


def _senders(summary: Summary) -> Iterator[Block]:
    yield table(
        summary.senders[:_SENDERS_SHOWN],
        Column("who retransmitted", least=28, cell=lambda one: one.words),
        ("connections", lambda one: f"{one.connections:,}"),
        ("retransmissions", lambda one: f"{one.retransmissions:,}"),
        ("time waited", lambda one: span(one.waited_s)),
    )
    more = summary.senders[_SENDERS_SHOWN:]
    if more:
        again = sum(one.retransmissions for one in more)
        yield Paragraph(f"and {count(len(more), 'more kind')}, {count(again, 'retransmission')}")
    if any(one.by_syn for one in summary.senders):
        yield note(_NO_SECOND_PROOF)


_NO_SECOND_PROOF: Final = (
    "What a SYN says of the system counts when its retransmissions are judged, too: where both "
    "name one system, that is no second proof of it."
)


def _worst(worst: tuple[Worst, ...]) -> Iterator[Block]:
    head = f"the {count(len(worst), 'connection')} that waited longest"
    yield heading("the connection that waited" if len(worst) == 1 else head)
    for one in worst:
        yield Paragraph(
            f"{one.number:>6}  {one.flow}: waited {span(one.waited_s)} of {span(one.duration_s)} "
            f"({share(one.waited_s, one.duration_s)}); {one.reason.text}",
            indent=8,
        )
