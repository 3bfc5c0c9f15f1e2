"""The requests that took longest: what was asked of whom, how long it took, and whose that was."""

from __future__ import annotations

from typing import Final

import polars as pl

from rexmit.tracing.requests import Asked, Requests, Slow
from rexmit.tracing.sentences.value import Sentence
from rexmit.tracing.terms import OWNERS
from rexmit.tracing.words import span
from rexmit.wording import count

_WHAT: Final = {
    "turn": "a request",
    "http": "a request",
    "tls": "a request over TLS",
    "dns": "a DNS query",
    "greeting": "the server's greeting",
    "tls-set-up": "the TLS handshake",
}


def said(requests: Requests) -> list[Sentence]:
    """A sentence for each of the slowest, behind how long it took."""
    return [_one(one) for one in requests.slowest]


def cut(requests: Requests, packets: int) -> str:
    """What is not known of these requests, as so many packets are not whole in the capture; empty
    where all of them have their names."""
    if not packets or all(one.kind != "turn" for one in requests.slowest):
        return ""
    return (
        f"The capture has not all of {count(packets, 'packet')} (tcpdump -s 0 has): of requests "
        "whose beginning it lacks, only times are known"
    )


def _one(one: Slow) -> Sentence:
    text = f"{_where(one)}: "
    if one.first_s is None:
        text += "no answer came"
    else:
        text += f"the answer began after {span(one.first_s)}"
    text += f"; {_owned(one)}"
    if one.behind is not None:
        text += f", which waited for {_where(one.behind)}: {span(one.behind.took_s)}"
        text += f", {_owned(one.behind)}"
    rows = pl.col("flow") == one.flow
    least_ns = round(one.owner_s * 1e9) - 1

    def condition(all_of_flow: pl.DataFrame) -> bool:
        return bool((all_of_flow["owner_ns"] >= least_ns).any())

    return Sentence(text, "requests", condition, rows, span(one.took_s))


def _owned(one: Asked) -> str:
    """Whose most of the time was."""
    return f"{span(one.owner_s)} of it: {OWNERS[one.owner]}"


def _where(one: Asked) -> str:
    return f"{_asked(one)}, {span(one.after_s)} into connection {one.number} ({one.flow})"


def _asked(one: Asked) -> str:
    """What was asked for, as far as it is known."""
    at = f"{one.name or ''}{one.path or ''}" if one.kind == "http" else one.path or one.name
    kind = _WHAT.get(one.kind, _WHAT["turn"])
    what = " ".join(filter(None, (one.method, at))) or kind
    if not one.method and at:
        what = f"{kind} {'with' if one.kind == 'tls-set-up' else 'to'} {at}"
    if one.status is not None:
        what += f" ({one.status})"
    more = one.requests - 1
    return f"{what} and {more:,} more at once" if more else what
