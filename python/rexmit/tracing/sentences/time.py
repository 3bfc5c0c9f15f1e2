"""Why it was slow: whose the time was, what shows it, and where to look."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import polars as pl

from rexmit.tracing.folder import LOOKUPS, SLOW_S
from rexmit.tracing.owners import DNS, PART, SMALL_WINDOW, Owned
from rexmit.tracing.sentences.value import Sentence, connections, times
from rexmit.tracing.words import span
from rexmit.wording import count

if TYPE_CHECKING:
    from rexmit.tracing.troubles import Troubles

MOST: Final = 5
"""Owners that are named; more is a list, and no answer."""

_TEXTS: Final[Mapping[str, tuple[str, str]]] = {
    "connecting": (
        "connecting from {host} to {peer} took long, as the SYN or its answer was sent again",
        "Look at the loss on the path, and whether the accept queue of {peer} was full (ss -lt).",
    ),
    "client": (
        "the client {host} sent late",
        "Look at its program; away from that host, what it sent before may have been lost.",
    ),
    "between-requests": (
        "the client {host} paused between requests",
        "It waited for nobody.",
    ),
    "messages": (
        "{host} sent messages at its own pace",
        "Nobody is known to wait for them; if {peer} did, look at the program of {host}.",
    ),
    "server": (
        "the server {host} answered late",
        "Look at its program and what stands behind it.",
    ),
    "tls-set-up": (
        "{host} was late in the TLS handshake with {peer}",
        "Look at its program (keys, certificates, look-ups), and whether its large packets arrive.",
    ),
    "unanswered": (
        "{peer} did not fully answer the last request of {host} before connection or capture ended",
        "Look at the program of {peer}, and whether its large packets arrive.",
    ),
    "round-trip": (
        "round trips from {host} to {peer} were long",
        "Look at the network: distance, a queue, a slow link.",
    ),
    "receiver-window": (
        "the receive window of {host} was full",
        "Let its program read faster, or enlarge its receive buffer.",
    ),
    "nagle": (
        "{host} held small packets back until the one before was acknowledged",
        "Set TCP_NODELAY on {host}, or let it write each message at once.",
    ),
    "sender": (
        "{host} sent late with data in flight: its program, send buffer, pacing or link",
        "Look at the sending program; a capture beside it tells more.",
    ),
    "late-or-lost": (
        "{host} was silent, or what it sent was lost before it came by here",
        "Look at its program and at the loss on the path; a capture beside {host} tells which.",
    ),
    "slow-start": (
        "slow start of {host}: the congestion window had yet to grow",
        "Keep connections open, or enlarge the initial window.",
    ),
    "small-window": (
        "losses kept the congestion window of {host} small",
        "Fix the loss on the path to {peer}, or use a congestion control that tolerates it.",
    ),
    "path-rate": (
        "the path from {host} to {peer} was full",
        "The link's rate is the limit; a shorter queue would only shorten round trips.",
    ),
    "policer": (
        "a policer on the path from {host} to {peer} dropped what was sent faster than its rate",
        "Raise that rate, or let {host} send no faster (pacing); a queue there would shape it.",
    ),
    "recovery-timer": (
        "{host} retransmitted only after a timeout",
        "See what was retransmitted, and fix the loss on the path to {peer}.",
    ),
    "recovery-probe": (
        "{host} retransmitted only after a tail loss probe",
        "See what was retransmitted, and fix the loss on the path to {peer}.",
    ),
    "recovery-fast": (
        "{host} repaired losses",
        "Fix the loss on the path to {peer}.",
    ),
    "path-mtu": (
        "no full-size packet from {host} to {peer} arrived: the path MTU is smaller",
        "Let ICMP pass, lower the MTU, or clamp the MSS; see whether {peer} answers at all.",
    ),
    "unknown": (
        "this capture does not show what {host} waited for",
        "One taken beside {host}, of both directions and from the start, shows more.",
    ),
    "peer-gone": (
        "{peer} stopped answering {host}",
        "Check whether that host, its link or a firewall on the path is down.",
    ),
}


_REPAIRS: Final = ("recovery-timer", "recovery-probe", "recovery-fast")

_NO_TIMEOUT: Final = (
    "{host} retransmitted after a silence, and whether a timeout made it is not known",
    "See what was retransmitted, and what its cause lacks; fix the loss on the path to {peer}.",
)

_NOT_NEEDED: Final = (
    "{host} waited for acknowledgements, and sent again what had arrived",
    "See whether the path there or back, or {peer}, held packets, or lost its acknowledgements.",
)

_HELD: Final = (
    _NOT_NEEDED[0],
    "See what held packets on the path from {host} to {peer}, for {there} at most; back, {back}.",
)

_HELD_BACK: Final = (
    _NOT_NEEDED[0],
    "See what held packets on the path from {peer} to {host}, for {back} at most; there, {there}.",
)

_ANSWERS_LOST: Final = (
    "{host} sent again what had arrived, as {peer} did what had not",
    "Fix the loss on the path from {peer} to {host}: it takes acknowledgements, too.",
)

_OUT_OF_TURN: Final = (
    "{host} sent again what had arrived after packets that it was sent before",
    "Nothing was lost: see what reorders packets on the path to {peer}.",
)

_NEED_NOT_KNOWN: Final = (
    "{host} waited for acknowledgements, and sent again what nothing shows to be lost or arrived",
    "See what was retransmitted; a capture beside {peer} tells more.",
)

_OUT_OF_ORDER: Final = (
    "packets that arrived out of order kept the congestion window of {host} from growing",
    "See what reorders packets on the path to {peer}: nothing shows a loss.",
)

_LOST_OR_OUT_OF_ORDER: Final = (
    "losses, or packets that arrived out of order, kept the congestion window of {host} small",
    "See what the path to {peer} loses or reorders; a capture beside {peer} tells more.",
)

_MARKED: Final = (
    "congestion marks (ECN) kept the window of {host} small: a queue before {peer} filled up",
    "See which link marks packets, and at how long a queue.",
)

_REFUSED: Final = (
    "{peer} answered the SYNs of {host} with a RST",
    "Let a program listen there, or see which firewall refuses for it.",
)

_UNREACHABLE: Final = (
    "ICMP said of the SYNs of {host} that {peer} cannot be reached",
    "See who sent that: a router has no path to {peer}, that host is off, or a firewall refuses.",
)

_RESET: Final = (
    "{peer} reset the connection before the last request of {host} was fully answered",
    "See why its program, or a firewall on the path, ended it.",
)

_ALERT: Final = (
    "the TLS handshake of {host} and {peer} failed: {alert}",
    "Compare versions, ciphers, names and certificates of both; openssl s_client shows a server's.",
)

_ANSWERED_AGAIN: Final = (
    "{peer} sent its SYN-ACK to {host} again: it or the ACK was lost, or the accept queue was full",
    "Look at the load of its program (ss -lt shows the queue), and at the loss on the path.",
)

_HALF_SCALED: Final = (
    _TEXTS["receiver-window"][0],
    "Only one of both SYNs offers window scaling: no window is above 64 kB; see what strips it.",
)

_ONE_BY_ONE: Final = (
    "{host} waited for one round trip to {peer} after the other",
    "Let its program ask for more at a time, keep connections open, or bring the two nearer.",
)

_LOOKED_UP: Final = (
    "{host} waited for the address of {name}: the name server {peer} answered late",
    "Look at that name server, the ones that it asks, and packet loss on the path to it.",
)

_NOT_LOOKED_UP: Final = (
    "{host} got no address for {name}: the name server {peer} did not answer",
    "Look whether a name server runs there, and whether a firewall drops UDP of port 53.",
)

_NO_ANSWER: Final = (
    "nothing came back for the SYNs of {host} to {peer}",
    "Look whether that host is up, and whether a firewall drops them.",
)


def _texts(one: Owned) -> tuple[str, str]:
    """What is the owner's, and the remedy: of a repair by what is known of its need, of connecting
    and of what was asked by what came back."""
    if one.owner == DNS:
        return _NOT_LOOKED_UP if one.unanswered == one.connections else _LOOKED_UP
    if one.owner == "connecting":
        for texts, number in (
            (_REFUSED, one.refused),
            (_UNREACHABLE, one.unreachable),
            (_NO_ANSWER, one.unanswered),
            (_ANSWERED_AGAIN, one.answered_again),
        ):
            if number == one.connections:
                return texts
    if one.owner == "unanswered" and one.reset == one.connections:
        return _RESET
    if one.owner == "receiver-window" and one.half_scaled == one.connections:
        return _HALF_SCALED
    if one.owner == "tls-set-up" and one.alerted == one.connections:
        return _ALERT
    if one.owner == "round-trip" and one.most_s < SLOW_S and one.stretches > 1:
        return _ONE_BY_ONE
    if one.owner == "recovery-timer" and one.needed and not one.timeouts:
        return _NO_TIMEOUT
    if one.owner not in (*_REPAIRS, SMALL_WINDOW) or one.needed:
        return _TEXTS[one.owner]
    if one.owner == SMALL_WINDOW and one.marks:
        return _MARKED
    if one.owner == SMALL_WINDOW:
        return _LOST_OR_OUT_OF_ORDER if one.not_known else _OUT_OF_ORDER
    if one.not_known:
        return _NEED_NOT_KNOWN
    # Duplicate acknowledgements made it, not their lack.
    if one.owner == "recovery-fast":
        return _OUT_OF_TURN
    if one.peers_needed * 2 >= one.stretches:
        return _ANSWERS_LOST
    if (one.there_s + one.back_s) * 2 < one.most_s:
        return _NOT_NEEDED
    return _HELD if one.there_s >= one.back_s else _HELD_BACK


def said(
    owners: Sequence[Owned] | None,
    every: int,
    slow_s: float = SLOW_S,
    wrong: Troubles | None = None,
) -> list[Sentence]:
    """A sentence for each owner, in their order; of `every` connections, in which a wait of
    `slow_s` is slow, and in which this went wrong."""
    if owners is None:
        return []
    return [_one(one, every) for one in owners[:MOST]] or [_healthy(slow_s, every, wrong)]


def _healthy(slow_s: float, every: int, wrong: Troubles | None) -> Sentence:
    wait = f"{slow_s:g} s"
    text = f"no connection waited for {wait}, or for a tenth of its time, on anything but its path"
    label = "healthy"
    if failed := _failed(every, wrong) if wrong else []:
        text += f"; but {' and '.join(failed)}: see what went wrong"
        label = "not slow"
    return Sentence(text, "connections", lambda rows: rows.height > 0, label=label)


def _failed(every: int, wrong: Troubles) -> list[str]:
    """What ended quickly, and in vain, if that is a tenth of all."""
    reset = sum(way.connections for way in wrong.resets if way.by == "server")
    errors = wrong.errors
    failed = []
    if reset >= PART * every > 0:
        failed.append(f"the server reset {connections(reset, every)}")
    if errors.answers >= PART * errors.seen > 0:
        failed.append(f"{errors.answers:,} of {count(errors.seen, 'answer')} of HTTP were errors")
    return failed


def _one(one: Owned, every: int) -> Sentence:
    what, remedy = _texts(one)
    if one.number is None:
        return _before(one, what, remedy)
    text = f"of {span(one.of_s)}"
    if every > 1:
        text += f", in {connections(one.connections, every)}"
    others = one.hosts - 1
    host, peer = one.host, one.peer
    if others:
        host, peer = f"{host} and {count(others, 'other')}", "their peers"
    text += f": {what.format(host=host, peer=peer, alert=one.alert)}"
    text += "" if what == _ALERT[0] else _often(one)
    where = f"connection {one.number}, {span(one.evidence_s)} in"
    if others:
        where = f"{span(one.host_s)} of it {one.host}; {where}"
    if one.behind:
        where += f"; {one.host} waited for {one.behind} behind it"
        remedy = f"Look at the program of {one.behind}."
    ways = {"there": span(one.there_s), "back": span(one.back_s)}
    text += f" ({where}). {remedy.format(host=one.host, peer=one.peer, **ways)}"
    # The handshake is a round trip, too.
    owners = [one.owner, "connecting"] if one.owner == "round-trip" else [one.owner]
    rows = pl.col("asked") & pl.col("owner").is_in(owners)
    return Sentence(text, "account", _lasts(one.length_s), rows, label=span(one.length_s))


def _before(one: Owned, what: str, remedy: str) -> Sentence:
    """Of what comes before connections."""
    others = one.hosts - 1
    host = f"{one.host} and {count(others, 'other')}" if others else one.host
    names = {"host": host, "peer": one.peer, "name": one.name or "a name"}
    text = f"before connections: {what.format(**names)}{_often(one)}"
    text += f" (the longest until {span(one.evidence_s)} into the capture). {remedy}"
    rows = pl.col("waited_s") >= one.least_s

    def lasts(rows: pl.DataFrame) -> bool:
        return float(rows["waited_s"].sum()) >= one.length_s - 1e-6

    return Sentence(text, LOOKUPS, lasts, rows, label=span(one.length_s))


def _often(one: Owned) -> str:
    """How often, and how long each time."""
    if not one.slow or one.least_s is None:
        most = span(one.most_s)
        return f", {most}" if one.stretches == 1 else f", {times(one.stretches)}, {most} at most"
    least, most = span(one.least_s), span(one.most_s)
    return f", {times(one.slow)}, {least}" + (f" to {most}" if most != least else "")


def _lasts(length_s: float) -> Callable[[pl.DataFrame], bool]:
    """What the rows have in all is no less."""
    return lambda rows: float(rows["length_ns"].sum()) / 1e9 >= length_s - 1e-6
