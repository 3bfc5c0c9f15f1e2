"""What went wrong in a trace: what touches most connections comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from rexmit.tracing.sentences import handshakes, network, resets, retransmissions, windows
from rexmit.tracing.sentences.value import Sentence

if TYPE_CHECKING:
    from rexmit.tracing.summed import Summary


def said(made: Summary, *, unread: int = 0) -> list[Sentence]:
    """Sentences with labels, those first that touch most connections, each with what belongs to it;
    `unread` is the number of packets that could not be read.
    """
    totals, wrong, every = made.totals, made.troubles, made.totals.connections
    if not every:
        label, text = ("nothing", "there is no TCP connection in the capture")
        if unread:
            label, text = ("not known", "no TCP packet could be read: see the warning above")
        return [Sentence(text, "connections", pl.DataFrame.is_empty, label=label)]
    found = [(totals.with_retransmissions, retransmissions.said(made))]
    counted = {
        "unanswered": wrong.unanswered,
        "refused": wrong.refused,
        "half-open": wrong.half_open,
    }
    for one, number in zip(
        handshakes.said(counted, wrong.failed, every), filter(None, counted.values()), strict=True
    ):
        found.append((number, [one]))
    if wrong.longest_closed is not None:
        number, length_s = wrong.with_zero_window, wrong.zero_window_s
        closed = windows.said_closed(number, length_s, wrong.longest_closed, every)
        found.append((number, [closed]))
    if wrong.longest_full is not None:
        number, length_s = wrong.with_full_window, wrong.window_full_s
        full = windows.said_full(number, length_s, wrong.longest_full, every)
        found.append((number, [full]))
    found.append((wrong.reset, resets.said(wrong.resets, wrong.reset, every)))
    if made.flood is not None:
        found.append((made.flood.connections, [network.flood(made.flood)]))
    found.sort(key=lambda one: -one[0])
    told = [sentence for _, some in found for sentence in some]
    told += network.said(totals)
    return told or [_nothing()]


def _nothing() -> Sentence:
    text = "no retransmission, no closed window, no reset, no handshake that failed"
    return Sentence(text, "retransmissions", pl.DataFrame.is_empty, label="nothing")
