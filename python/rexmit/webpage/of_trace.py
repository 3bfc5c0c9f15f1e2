"""The part of a page that is about a trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import polars as pl

from rexmit.errors import UserError
from rexmit.ladder.render_traced import about as facts_of
from rexmit.ladder.render_traced import title
from rexmit.ladder.traced import Traced, open_several
from rexmit.tracing import mechanisms, owners, sides
from rexmit.tracing.course import course
from rexmit.tracing.folder import Trace
from rexmit.tracing.groups import KEYS
from rexmit.tracing.groups import table as summed_up
from rexmit.tracing.page import page
from rexmit.tracing.requests import timed
from rexmit.tracing.sections.page import page_blocks
from rexmit.tracing.sentences.retransmissions import verdict, words_of
from rexmit.tracing.terms import OWNERS
from rexmit.webpage import choose, commands, packets
from rexmit.webpage.part import Opens, Packets, Part, Section, Table, TimeLine, meanings
from rexmit.webpage.whatif import sliders

_SIDE: Final = ("packets", "bytes", "rtt_median_s", "rtt_max_s", "rtt_samples", "stack")

_ROWS: Final = (
    *("number", "flow", "direction", "after_s", "time_s", "verdict", "need", "evidence"),
    *("detection_s", "detection_rtts", "timer_s", "waited_s", "recovery_s", "length_bytes"),
    *("copy", "flight_segments", "lost_in_flight", "mechanism", "confidence", "runner_up"),
    "episode_cause",
)

_REQUESTS: Final = (
    *("number", "flow", "after_s", "took_s", "first_s", "owner", "owner_s", "kind", "name"),
    *("method", "path", "status", "requests", "sent_bytes", "received_bytes"),
)

_MOST_REQUESTS: Final = 100_000
"""Rows of requests in a page: the slowest."""

_PLURALS: Final = {"host": "hosts", "port": "ports", "prefix": "prefixes"}

_OWN: Final = {
    "number": ("", "row of connections.parquet: --flow K of `rexmit show`"),
    "retransmissions": ("", "packets that carried anything sent before, of both sides"),
    "spurious": ("", "of them, those that were not needed"),
    "timeouts": ("", "of them, those that a retransmission timeout made"),
    "probes": ("", "of them, tail loss probes"),
    "bytes": ("bytes", "payload of both sides, retransmissions counted"),
    "packets": ("", "packets of both sides"),
    "rtt_median_s": ("s", "median round-trip time of the side with more samples"),
    "rtt_max_s": ("s", "largest round-trip time of either side"),
    "stack": ("", "the stack that explains the retransmissions of the side with more of them"),
    "after_s": ("s", "from the connection's first packet"),
    "took_s": ("s", "from its first byte to the last of the answer; without one, what owner has"),
    "first_s": ("s", "from its first byte to the first of the answer"),
    "owner_s": ("s", "how much of it is its owner's"),
    "verdict": ("", "the mechanism, or both where the packets cannot tell it from runner_up"),
}
"""Columns that no table of a trace has as they are here: unit and meaning."""


def part(trace: Trace, *, connections: Sequence[int] | None, limit: int) -> Part:
    """All that the page of a trace says, its tables, and packets of some connections: those named,
    else those that waited longest, up to `limit` packets. Raises UserError for one that there is
    not, and where packets of a named one cannot be read.
    """
    names, options = commands.place(trace), commands.chosen(trace)
    frame = _connections(trace)
    choice = _choice(trace, frame, connections, limit)
    drawn: list[Packets] = []
    rule = choice.rule
    try:
        drawn = [_packets(one, names) for one in open_several(trace, choice.numbers)]
    except UserError as error:
        if connections is not None:
            raise
        rule = f"This file has no packets: {error.what}."
    whatif = sliders(
        trace,
        commands.report(names, *options, "--table", "settings"),
        commands.command("trace", *trace.captures, *options),
    )
    return Part(
        kind="trace",
        name=", ".join(trace.captures[:3]) + (" …" if len(trace.captures) > 3 else ""),
        names=[*names, *options],
        sections=[
            Section(
                "Overview",
                list(page_blocks(page(trace))),
                commands.command("trace", *names, *options),
            )
        ],
        tables=[*_tables(trace, frame, names, options), *_settings(whatif, names, options)],
        packets=drawn,
        rule=rule,
        missing=commands.for_any([*names, *options]),
        whatif=whatif,
        time=_time_line(trace, commands.command("trace", *names, *_untimed(options))),
    )


_OWNERS: Final = 8
"""So many owners of the time have a colour of their own."""


def _time_line(trace: Trace, command: str) -> TimeLine | None:
    over_time = course(trace)
    if over_time is None:
        return None
    steps, named = over_time.steps, over_time.owners
    if rest := [f"owner_{name}" for name in named[_OWNERS:]]:
        steps = steps.with_columns(pl.sum_horizontal(rest).alias("owner_others")).drop(rest)
        named = (*named[:_OWNERS], "others")
    about = {
        "start_s": over_time.start_s,
        "width_s": over_time.width_s,
        "owners": [[f"owner_{name}", OWNERS.get(name, name)] for name in named],
    }
    return TimeLine(about, steps, command)


def _untimed(options: list[str]) -> list[str]:
    """Without the times that choose connections: the time line has its own."""
    pairs = zip(options[::2], options[1::2], strict=True)
    return [word for pair in pairs if pair[0] not in ("--from", "--to") for word in pair]


def _connections(trace: Trace) -> pl.DataFrame:
    rtt = pl.when(pl.col("forward_rtt_samples") >= pl.col("backward_rtt_samples"))
    more = pl.when(pl.col("of_client") * 2 > pl.col("retransmissions"))
    rows = mechanisms.beside(
        sides.beside(trace.numbered(), trace, *_SIDE),
        trace,
        retransmissions=mechanisms.retransmissions(),
        of_client=mechanisms.retransmissions(side="forward"),
        spurious=mechanisms.total("spurious"),
        timeouts=mechanisms.retransmissions(["rto"]),
        probes=mechanisms.retransmissions(["tlp"]),
    )
    several = ["capture"] if len(trace.captures) > 1 else []
    return rows.select(
        pl.col("number").cast(pl.Int64),
        "flow",
        "start_s",
        "duration_s",
        "waited_s",
        "retransmissions",
        "spurious",
        "timeouts",
        "probes",
        sides.both("bytes").alias("bytes"),
        sides.both("packets").alias("packets"),
        rtt.then("forward_rtt_median_s").otherwise("backward_rtt_median_s").alias("rtt_median_s"),
        pl.max_horizontal("forward_rtt_max_s", "backward_rtt_max_s").alias("rtt_max_s"),
        more.then("forward_stack").otherwise("backward_stack").alias("stack"),
        "handshake",
        "handshake_rtt_s",
        "reset_by",
        "end_s",
        *several,
    ).collect()


def _retransmissions(trace: Trace) -> pl.DataFrame:
    of = trace.numbered().select("connection", pl.col("number").cast(pl.Int64), "start_s")
    return (
        trace.scan("retransmissions")
        .join(of, on="connection", how="left", maintain_order="left")
        .with_columns((pl.col("time_s") - pl.col("start_s")).alias("after_s"), verdict())
        .select(_ROWS)
        .collect()
    )


def _requests(trace: Trace) -> pl.DataFrame:
    """The requests that took longest, no more than a browser sorts at once."""
    rows = timed(trace).top_k(_MOST_REQUESTS, by="took_s")
    rows = rows.with_columns(pl.col("row").alias("number"), pl.col("owner").replace(OWNERS))
    return rows.select(_REQUESTS).collect()


def _tables(
    trace: Trace, connections: pl.DataFrame, names: list[str], options: list[str]
) -> list[Table]:
    tables = [
        Table(
            name,
            name.capitalize(),
            frame,
            commands.report(names, *options, "--table", name),
            _about(name, frame),
            sort,
            Opens("connection", "number"),
        )
        for name, frame, sort in (
            ("connections", connections, "-waited_s"),
            ("retransmissions", _retransmissions(trace), "-waited_s"),
            ("requests", _requests(trace), "-took_s"),
        )
        if frame.height or name == "connections"
    ]
    for key in KEYS:
        # To the nanosecond: the last digits of a sum depend on the order of its parts.
        groups = summed_up(trace, key).with_columns(pl.col(pl.Float64).round(9))
        if groups.height:
            tables.append(
                Table(
                    _PLURALS[key],
                    _PLURALS[key].capitalize(),
                    groups.rename({"key": key}),
                    commands.command("trace", *names, *options, "--by", key),
                    sort="-waited_s",
                )
            )
    return tables


def _settings(
    whatif: Mapping[str, Any] | None, names: list[str], options: list[str]
) -> list[Table]:
    if whatif is None:
        return []
    rows = [{k: v for k, v in row.items() if k != "parts"} for row in whatif["settings"]]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    first = ["setting", "saved_s", "shorter", "longer"]
    return [
        Table(
            "settings",
            "Settings",
            frame.select(*first, pl.exclude(*first)),
            commands.report(names, *options, "--table", "settings"),
            _OF_SETTINGS,
            "-saved_s",
        )
    ]


_OF_SETTINGS: Final = {
    "setting": ("", "as `rexmit trace --whatif` takes it"),
    "saved_s": ("s", "what would not have been waited, over all connections"),
    "shorter": ("", "connections that last shorter by more than a tenth"),
    "longer": ("", "connections that last longer by more than a tenth"),
    "avoided": ("", "retransmissions that it would have spared"),
    "spurious": ("", "retransmissions that it would have caused for nothing"),
    "to_fr": ("", "losses found by acknowledgements or a probe, not a timeout"),
    "to_rto": ("", "losses found by a timeout, not acknowledgements or a probe"),
    "named": ("", "it was asked for by name"),
    "off_median": ("", "how far such predictions were off, in shares of the duration: median"),
    "off_p95": ("", "the same: 95th percentile"),
    "off_sign": ("", "share of them that said longer where it was shorter, or the other way round"),
    "words": ("", "what it means"),
}


def _about(table: str, frame: pl.DataFrame) -> dict[str, tuple[str, str]]:
    every = {**meanings("trace", "sides", table), **_OWN}
    return {name: every[name] for name in frame.columns if name in every}


def _choice(
    trace: Trace, frame: pl.DataFrame, connections: Sequence[int] | None, limit: int
) -> choose.Choice:
    if connections is not None:
        there = set(frame["number"].to_list())
        lost = [number for number in connections if number not in there]
        if lost:
            raise UserError(
                f"--connections {lost[0]}: there is no such connection",
                "numbers are rows of connections.parquet, from 0",
                usage=True,
            )
        return choose.named(connections, every=frame.height, noun="connection")
    slow = owners.slow_connections(trace).rename({"length_s": "slow_s"})
    ranked = frame.join(slow, on="number", how="left").with_columns(
        pl.max_horizontal("waited_s", pl.col("slow_s").fill_null(0)).alias("felt_s")
    )
    keys = ["felt_s", "retransmissions", "bytes", "number"]
    ranked = ranked.sort(keys, descending=[True, True, True, False])
    noticed = ranked.filter((pl.col("retransmissions") > 0) | (pl.col("felt_s") > 0))
    return choose.choose(
        (ranked if noticed.is_empty() else noticed).select("number", "packets").iter_rows(),
        every=frame.height,
        limit=limit,
        order="those with most bytes first"
        if noticed.is_empty()
        else "of those that were slow or retransmitted, those that waited longest first",
        noun="connection",
    )


def _packets(traced: Traced, names: list[str]) -> Packets:
    rows = traced.retransmissions
    from_server = traced.data_from_server
    at = [step.at_ns(from_server=from_server) / 1e9 for step in traced.steps]
    drawn = packets.Drawn(
        traced.steps,
        from_server,
        lambda number: words_of(rows[number]),
        [
            (at[number], timer)
            for number, row in rows.items()
            if (timer := row["timer_s"]) is not None
            and traced.steps[number].from_server == from_server
        ],
    )
    client, _, server = traced.row["flow"].partition(" > ")
    about = packets.about(
        title(traced),
        facts_of(traced),
        drawn,
        commands.command("show", *names, "--flow", traced.number, "--all"),
        number=traced.number,
        client=client,
        server=server,
        start_s=traced.start_ns / 1e9,
        ends=list(traced.points) if traced.points else None,
    )
    return Packets(str(traced.number), about, packets.tables(drawn))
