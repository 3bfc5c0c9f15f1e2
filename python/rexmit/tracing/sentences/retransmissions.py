"""What went wrong in a trace, a line a kind: what touches most connections comes first."""

from __future__ import annotations

from typing import Final

from rexmit.tracing.floods import Flood
from rexmit.tracing.summary import Summary
from rexmit.tracing.troubles import Failed, HeldUp, Resets
from rexmit.tracing.words import listed, share, size, span
from rexmit.wording import count

Lines = list[tuple[str, str]]
"""Labels and texts."""

_STATES: Final = {
    "syn-sent": "before the SYN was answered",
    "syn-received": "before the handshake was complete",
    "established": "while both ends could send",
    "half-closed": "after one FIN",
    "closed": "after both FINs",
}
"""The states in which a reset comes, in words."""


def troubles(made: Summary, *, unread: int = 0) -> Lines:
    """Labels and lines, those first that touch most connections, each with what belongs to it;
    `unread` is the number of packets that could not be read.
    """
    totals, wrong, every = made.totals, made.troubles, made.totals.connections
    if not every and unread:
        return [("not known", "no TCP packet could be read: see the warning above")]
    if not every:
        return [("nothing", "there is no TCP connection in the capture")]
    found: list[tuple[int, Lines]] = []
    if totals.retransmissions:
        found.append((totals.with_retransmissions, _retransmissions(made)))
    found += _handshakes(made)
    found += _windows(made)
    if wrong.reset:
        found.append((wrong.reset, [("reset", _resets(wrong.resets, wrong.reset, every))]))
    if made.flood is not None:
        found.append((made.flood.connections, [_flood(made.flood)]))
    found.sort(key=lambda one: -one[0])
    lines = [line for _, some in found for line in some]
    if totals.reordered or totals.network_duplicates:
        said = [
            f"{count(n, 'packet')} {what}"
            for n, what in (
                (totals.reordered, "out of order"),
                (totals.network_duplicates, "twice (if the capture did not record them twice)"),
            )
            if n
        ]
        lines.append(("network", f"delivered {listed(said)}; these are no retransmissions"))
    return lines or [
        (
            "nothing",
            "no retransmission, no closed window, no reset, no SYN without an answer",
        )
    ]


def _handshakes(made: Summary) -> list[tuple[int, Lines]]:
    wrong, every = made.troubles, made.totals.connections
    kinds = (
        ("no answer", "unanswered", wrong.unanswered, "nothing came back for the SYN", "to"),
        ("refused", "refused", wrong.refused, "a RST came back for the SYN", "to"),
        ("half-open", "half-open", wrong.half_open, "no ACK followed the SYN-ACK", "of"),
    )
    return [
        (
            number,
            [
                (
                    label,
                    _connections(number, every)
                    + f": {what}{_service(kind, number, wrong.failed, whose)}",
                )
            ],
        )
        for label, kind, number, what, whose in kinds
        if number
    ]


def _service(handshake: str, number: int, failed: tuple[Failed, ...], whose: str) -> str:
    """Which service they were for, or most of them; `whose` is the word before it."""
    mine = [one for one in failed if one.handshake == handshake]
    if not mine:
        return ""
    first = mine[0]
    if first.connections == number:
        return f" {whose} {first.service}"
    if first.connections * 2 > number:
        return f", most often {whose} {first.service} ({first.connections:,})"
    return ""


def _windows(made: Summary) -> list[tuple[int, Lines]]:
    wrong, every = made.troubles, made.totals.connections
    found: list[tuple[int, Lines]] = []
    number, told = wrong.with_zero_window, _connections(wrong.with_zero_window, every)
    if number and wrong.held_up:
        worst = max(wrong.held_up, key=lambda one: one.closed_s)
        if number > 1:
            told += f": receivers closed their windows, for {span(wrong.zero_window_s)} in all"
        told += f"{'; longest' if number > 1 else ':'} {_closed(worst)}"
        found.append((number, [("zero window", told)]))
    number, told = wrong.with_full_window, _connections(wrong.with_full_window, every)
    if number and wrong.held_up:
        worst = max(wrong.held_up, key=lambda one: one.full_s)
        if number > 1:
            told += (
                f": senders had more to send than the windows of their peers took, for "
                f"{span(wrong.window_full_s)} in all; longest {worst.sender} to {worst.receiver}, "
                f"{span(worst.full_s)}"
            )
        else:
            told += (
                f": {worst.sender} had more to send than the window of {worst.receiver} took, for "
                f"{span(worst.full_s)}"
            )
        found.append((number, [("window full", told)]))
    return found


def _closed(worst: HeldUp) -> str:
    """Who closed its window, how often, for how long."""
    if not worst.times:
        return f"{worst.receiver}, whose window was closed for {span(worst.closed_s)}"
    told = f"{worst.receiver} closed its window {_times(worst.times)}, for {span(worst.closed_s)}"
    return f"{told}, and was probed {_times(worst.probes)}" if worst.probes else told


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")


def _resets(resets: tuple[Resets, ...], number: int, every: int) -> str:
    told = f"{_connections(number, every)}: ended by a RST"
    if not resets:
        return told
    most = resets[0]
    who, _, what = most.after.partition(" ")
    how = (
        f"of the {most.by} {_STATES.get(most.state, most.state)}; the packet before was the "
        f"{who}'s {what}"
    )
    if most.connections == number:
        return f"{told} {how}"
    if most.connections == 1:
        return f"{told}, each in another way; one {how}"
    return f"{told}; most often ({most.connections:,}) {how}"


def _retransmissions(made: Summary) -> Lines:
    totals, volume = made.totals, made.volume
    need = {
        what: sum(getattr(one, name) for one in made.mechanisms)
        for what, name in (("needed", "needed"), ("spurious", "spurious"), ("unclear", "unknown"))
    }
    some = {what: n for what, n in need.items() if n}
    told = ", ".join(f"{n:,} {what}" for what, n in some.items())
    if len(some) == 1:
        told = ("all " if totals.retransmissions > 1 else "") + next(iter(some))
    where = _connections(totals.with_retransmissions, totals.connections)
    lines = [("retransmissions", f"{count(totals.retransmissions, 'packet')} in {where}: {told}")]
    if volume.data_packets:
        packets = f"{volume.data_packets:,} of {count(totals.segments, 'packet')}"
        sizes = f"{size(volume.bytes)} of {size(totals.bytes)}"
        told = (
            f"{packets} ({share(volume.data_packets, totals.segments)}), {sizes} "
            f"({share(volume.bytes, totals.bytes)})"
        )
        lines.append(("  with data", told))
    if volume.other_packets:
        lines.append(("  without data", f"{count(volume.other_packets, 'packet')} (SYN or FIN)"))
    if totals.waited_s > 0:
        lasted = "connection" if totals.connections == 1 else "connections"
        told = (
            f"{span(totals.waited_s)} of the {span(totals.duration_s)} that the {lasted} lasted "
            f"({share(totals.waited_s, totals.duration_s)}), for a timer or for ACKs that show a "
            "loss"
        )
        lines.append(("time waited", told))
    return lines


def _connections(number: int, every: int) -> str:
    """`2 of 8 connections (25.0%)`, or that it is all of them."""
    if number == every:
        return {1: "the only connection", 2: "both connections"}.get(
            every, f"all {every:,} connections"
        )
    return f"{number:,} of {every:,} connections ({share(number, every)})"


def _flood(made: Flood) -> tuple[str, str]:
    """What it is called, and the line that says so."""
    over = f"from {_addresses(made.sources)} in {span(made.duration_s)}"
    told = f"{count(made.connections, 'connection')} ({share(made.share, 1)} of all)"
    host = f"of {made.hosts:,} hosts" if made.hosts > 1 else f"of {made.service.rpartition(':')[0]}"
    ports = f"{made.services:,} ports {host}"
    most = f"{made.for_service:,} of them"
    few = made.for_service * 2 <= made.connections
    if made.kind == "backscatter":
        return "backscatter", (
            f"of {told} only the answer to a SYN was seen, as when others flood a host under "
            f"forged addresses; {f'from {ports}' if few else f'{most} from {made.service}'}, in "
            f"{span(made.duration_s)}"
        )
    never = f"{told} never got beyond the handshake, {over}"
    if made.kind == "syn-flood":
        return "SYN flood", f"{never}{f', to {ports}' if few else f'; {most} to {made.service}'}"
    return "scan", f"{never}, to {ports}"


def _addresses(number: int) -> str:
    return "1 address" if number == 1 else f"{number:,} addresses"
