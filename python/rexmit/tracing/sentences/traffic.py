"""What was captured of TCP: connections, data, round trips, throughput, subflows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import polars as pl

from rexmit.tracing.groups import GREW, Group, Queued
from rexmit.tracing.sentences.value import Sentence, connections
from rexmit.tracing.words import rate, size, span
from rexmit.wording import count

if TYPE_CHECKING:
    from rexmit.tracing.summed import Multipath, Summary, Totals


def said(summary: Summary) -> list[Sentence]:
    """Sentences with labels; nothing where there is no connection."""
    totals = summary.totals
    sentences = []
    if totals.connections:
        sentences = [_hosts(totals, *summary.hosts), _data(totals), *_speed(summary.overall)]
        sentences += (
            [_queue(summary.queued, totals.connections)] if summary.queued is not None else []
        )
    return sentences + ([_multipath(summary.multipath)] if summary.multipath is not None else [])


def _sums(wanted: Mapping[str, float]) -> Callable[[pl.DataFrame], bool]:
    return lambda rows: all(
        abs(float(rows[name].sum()) - value) <= 1e-6 * max(value, 1)
        for name, value in wanted.items()
    )


def _hosts(totals: Totals, clients: int, servers: int) -> Sentence:
    hosts = f"of {count(clients, 'client')} to {count(servers, 'server')}"
    lasted = "it lasted" if totals.connections == 1 else "together they lasted"
    text = f"{totals.connections:,}, {hosts}; {lasted} {span(totals.duration_s)}"
    same = _sums({"duration_s": totals.duration_s})

    def condition(rows: pl.DataFrame) -> bool:
        return rows.height == totals.connections and same(rows)

    return Sentence(text, "connections", condition, label="connections")


def _data(totals: Totals) -> Sentence:
    text = f"{size(totals.bytes)} in {count(totals.segments, 'packet')}"
    if totals.sent_bytes < totals.bytes:
        text = f"{size(totals.sent_bytes)}; with copies, {text}"
    names = ("bytes", "unique_bytes", "bytes_retransmitted", "segments")
    wanted = {name: getattr(totals, name) for name in names}
    return Sentence(text if totals.segments else "none", "sides", _sums(wanted), label="data")


def _speed(every: Group) -> list[Sentence]:
    """Round trips and throughput of all connections together."""
    sentences = []
    if every.rtt_median_s is not None and every.rtt_p95_s is not None:
        text = f"median {span(every.rtt_median_s)}, 95th percentile {span(every.rtt_p95_s)}"
        if not every.rtt_p95_s:
            text = "shorter than the step of the capture's clock"
        sampled = pl.col("rtt_samples") > 0
        sentences.append(Sentence(text, "sides", _some, sampled, "round trip"))
    median, most = every.throughput_median_bps, every.throughput_p95_bps
    if median is not None and most is not None:
        number = every.throughput_connections
        of = connections(number, every.connections)
        text = f"of {of}: median {rate(median)}, 95th percentile {rate(most)}"
        if number == 1:
            text = rate(median) if every.connections == 1 else f"{rate(median)}, of {of}"
        sent = pl.col("data_s") > 0
        sentences.append(Sentence(text, "sides", _some, sent, "throughput"))
    return sentences


def _queue(queued: Queued, every: int) -> Sentence:
    """Round trips at rest and under load."""
    of = connections(queued.connections, every)
    text = f"in {of} round trips grew as data queued: {span(queued.rest_s)} at rest, "
    text += f"{span(queued.load_s)} under load"
    if queued.connections > 1:
        text = f"{text} (medians); most in connection {queued.number}, to {span(queued.most_s)}"
    grown = pl.col("rtt_p95_s") >= pl.col("rtt_min_s") * GREW[0] + GREW[1]

    def condition(rows: pl.DataFrame) -> bool:
        return rows["connection"].n_unique() >= queued.connections

    return Sentence(text, "sides", condition, grown, "queue")


def _some(rows: pl.DataFrame) -> bool:
    return rows.height > 0


def _multipath(multipath: Multipath) -> Sentence:
    several = f", {multipath.joined:,} with more than one" if multipath.joined else ""
    subflows = count(multipath.subflows, "subflow")
    text = f"{count(multipath.connections, 'connection')} of {subflows}{several}"
    again = "nothing sent again on another subflow"
    if multipath.reinjections:
        again = (
            f"{count(multipath.reinjections, 'packet')} sent again on another subflow "
            f"({size(multipath.reinjected_bytes)}), {multipath.spurious:,} of them spurious"
        )

    def condition(rows: pl.DataFrame) -> bool:
        return rows.height == multipath.reinjections and (rows["need"] == "spurious").sum() == (
            multipath.spurious
        )

    mine = pl.col("mechanism") == "mptcp-reinject"
    return Sentence(f"{text}; {again}", "retransmissions", condition, mine, "Multipath TCP")
