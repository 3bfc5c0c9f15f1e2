"""What the network did with packets, floods and scans, and what the capture lacks of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import polars as pl

from rexmit.tracing.floods import Flood
from rexmit.tracing.sentences.value import Sentence
from rexmit.tracing.words import listed, share, span
from rexmit.wording import count

if TYPE_CHECKING:
    from rexmit.tracing.summed import Totals


def said(totals: Totals) -> list[Sentence]:
    """What is no retransmission, though it looks like one."""
    delivered = [
        f"{count(n, 'packet')} {what}"
        for n, what in (
            (totals.reordered, "out of order"),
            (totals.network_duplicates, "twice (if the capture did not record them twice)"),
        )
        if n
    ]
    if not delivered:
        return []
    text = f"delivered {listed(delivered)}; these are not retransmissions"
    both = {name: getattr(totals, name) for name in ("reordered", "network_duplicates")}
    return [Sentence(text, "sides", _sums(both), label="network")]


def warnings(totals: Totals, half_seen: int) -> list[Sentence]:
    """What to know of the capture before its page is trusted."""
    sentences = []
    if half_seen:
        text = (
            f"of {count(half_seen, 'connection')} only one direction is in the capture "
            f"({share(half_seen, totals.connections)} of all): little can be told of "
            f"{'it' if half_seen == 1 else 'them'}"
        )
        sentences.append(_connections(text, "one_sided", lambda rows: rows.height >= half_seen))
    if totals.mid_stream:
        its = "its" if totals.mid_stream == 1 else "their"
        text = (
            f"{count(totals.mid_stream, 'connection')} began before the capture: what the two ends "
            f"agreed on in {its} handshake is not known"
        )
        number = totals.mid_stream
        sentences.append(_connections(text, "mid_stream", lambda rows: rows.height == number))
    if totals.capture_losses:
        they, were = ("it", "was") if totals.capture_losses == 1 else ("they", "were")
        text = (
            f"the capture lacks at least {count(totals.capture_losses, 'packet')} of "
            f"{count(totals.with_capture_losses, 'connection')}: {they} arrived, but {were} not "
            "recorded"
        )
        sentences.append(Sentence(text, "sides", _sums({"capture_losses": totals.capture_losses})))
    if totals.capture_duplicates:
        copies = (
            "1 copy" if totals.capture_duplicates == 1 else f"{totals.capture_duplicates:,} copies"
        )
        text = f"the capture recorded packets again that it had recorded before: {copies}"
        duplicates = {"capture_duplicates": totals.capture_duplicates}
        sentences.append(Sentence(text, "sides", _sums(duplicates)))
    return sentences


def _connections(text: str, column: str, condition: Callable[[pl.DataFrame], bool]) -> Sentence:
    return Sentence(text, "connections", condition, pl.col(column))


def _sums(wanted: dict[str, int]) -> Callable[[pl.DataFrame], bool]:
    return lambda rows: all(rows[name].sum() == number for name, number in wanted.items())


def flood(seen: Flood) -> Sentence:
    """What it is called, and of whom it is."""
    label, text = _flood(seen)

    def condition(rows: pl.DataFrame) -> bool:
        return round(seen.share * rows.height) == seen.connections

    return Sentence(text, "connections", condition, label=label)


def _flood(seen: Flood) -> tuple[str, str]:
    """What it is called, and the line that says so."""
    over = f"from {_addresses(seen.sources)} in {span(seen.duration_s)}"
    text = f"{count(seen.connections, 'connection')} ({share(seen.share, 1)} of all)"
    host = f"of {seen.hosts:,} hosts" if seen.hosts > 1 else f"of {seen.service.rpartition(':')[0]}"
    ports = f"{seen.services:,} ports {host}"
    most = f"{seen.for_service:,} of them"
    few = seen.for_service * 2 <= seen.connections
    if seen.kind == "backscatter":
        return "backscatter", (
            f"of {text} only the answer to a SYN was seen, as when others flood a host under "
            f"forged addresses; {f'from {ports}' if few else f'{most} from {seen.service}'}, in "
            f"{span(seen.duration_s)}"
        )
    never = f"{text} never got beyond the handshake, {over}"
    if seen.kind == "syn-flood":
        return "SYN flood", f"{never}{f', to {ports}' if few else f'; {most} to {seen.service}'}"
    return "scan", f"{never}, to {ports}"


def _addresses(number: int) -> str:
    return "1 address" if number == 1 else f"{number:,} addresses"
