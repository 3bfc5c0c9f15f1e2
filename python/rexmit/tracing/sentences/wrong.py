"""What went wrong in a trace: what touches most connections comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from rexmit.tracing.sentences import errors, handshakes, network, resets, retransmissions, windows
from rexmit.tracing.sentences.value import Sentence

if TYPE_CHECKING:
    from rexmit.tracing.summed import Summary


def said(summary: Summary, *, unread: int = 0) -> list[Sentence]:
    """Sentences with labels, those first that touch most connections, each with what belongs to it;
    `unread` is the number of packets that could not be read.
    """
    totals, wrong, every = summary.totals, summary.troubles, summary.totals.connections
    if not every:
        label, text = ("nothing", "there is no TCP connection in the capture")
        if unread:
            label, text = ("not known", "no TCP packet could be read: see the warning above")
        return [Sentence(text, "connections", pl.DataFrame.is_empty, label=label)]
    groups = [(totals.with_retransmissions, retransmissions.said(summary))]
    counted = {
        "unanswered": wrong.unanswered,
        "refused": wrong.refused,
        "unreachable": wrong.unreachable,
        "half-open": wrong.half_open,
    }
    for one, number in zip(
        handshakes.said(counted, wrong.failed, every), filter(None, counted.values()), strict=True
    ):
        groups.append((number, [one]))
    if wrong.longest_closed is not None:
        number, length_s = wrong.with_zero_window, wrong.zero_window_s
        closed = windows.said_closed(number, length_s, wrong.longest_closed, every)
        groups.append((number, [closed]))
    if wrong.longest_full is not None:
        number, length_s = wrong.with_full_window, wrong.window_full_s
        full = windows.said_full(number, length_s, wrong.longest_full, every)
        groups.append((number, [full]))
    groups.append((wrong.reset, resets.said(wrong.resets, wrong.reset, every)))
    touched = max(wrong.errors.connections, wrong.errors.alerted)
    groups.append((touched, errors.said(wrong.errors, every)))
    if summary.flood is not None:
        groups.append((summary.flood.connections, [network.flood(summary.flood)]))
    groups.sort(key=lambda one: -one[0])
    sentences = [sentence for _, some in groups for sentence in some]
    sentences += network.said(totals)
    return sentences or [_nothing()]


def _nothing() -> Sentence:
    text = "no retransmission, closed window, reset, failed handshake or error of HTTP"
    return Sentence(text, "retransmissions", pl.DataFrame.is_empty, label="nothing")
