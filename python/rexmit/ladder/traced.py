"""One connection of a capture, with what the analysis says of each retransmission.

A capture has one clock, that of the place where it was taken: every packet has one time, and what
was lost beyond that place cannot be told from what arrived. Captures of several points tell both:
`two_ended`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import polars as pl

from rexmit import _core
from rexmit.errors import UserError
from rexmit.ladder import two_ended
from rexmit.ladder.match import Passage
from rexmit.ladder.packets import packet_of
from rexmit.ladder.steps import Step, steps
from rexmit.ladder.two_ended import Ends
from rexmit.tracing import mechanisms, sides
from rexmit.tracing.folder import Trace
from rexmit.tracing.sentences.retransmissions import verdict_of

_SPACE: Final = 1 << 32


@dataclass(frozen=True)
class Traced:
    """`row` is the connection's row, `sides` those of its sides by direction; `retransmissions` the
    rows of its retransmissions by the number of their step, `mechanisms` and `parameters` its rows
    of these tables. Of steps the server is the sender of `backward` data. `subflows` are the rows
    of all subflows of its Multipath TCP connection, this one among them, in their order, each with
    its `reinjections` and the sides' `data_bytes`. `points` are those next to the client and the
    server, where packets have their times at both: then what was lost is known.
    """

    number: int
    row: dict[str, Any]
    sides: Mapping[str, dict[str, Any]]
    steps: tuple[Step, ...]
    retransmissions: dict[int, dict[str, Any]]
    start_ns: int
    mechanisms: tuple[dict[str, Any], ...] = ()
    parameters: tuple[dict[str, Any], ...] = ()
    subflows: tuple[dict[str, Any], ...] = ()
    points: tuple[str, str] | None = None

    @property
    def data_from_server(self) -> bool:
        """The direction that retransmitted more; of equals, that carried more bytes."""
        backward = sum(1 for row in self.retransmissions.values() if row["direction"] == "backward")
        forward = len(self.retransmissions) - backward
        if forward != backward:
            return backward > forward
        return bool(self.sides["backward"]["bytes"] >= self.sides["forward"]["bytes"])


def open_traced(trace: Trace, which: str, at_s: float | None = None) -> Traced:
    """The connection by the number of its row in connections.parquet, or by its flow either way
    round (of several the one at the time `at_s`, else the first).

    Raises UserError for one that there is not, and captures that cannot be read any more.
    """
    rows = trace.scan("connections").with_row_index("number")
    fitting = rows.filter(_wanted(trace, which)).collect()
    if at_s is not None and fitting.height > 1:
        fitting = fitting.sort((pl.col("start_s") - at_s).abs()).filter(
            pl.col("start_s") <= at_s, pl.col("end_s") >= at_s
        )
    if fitting.is_empty():
        raise UserError(
            f"{trace.path}: no connection {which}",
            "K is a row of connections.parquet, from 0, or a flow: '10.0.0.1:80 > 10.0.0.2:40000'",
        )
    return _opened(trace, [fitting.row(0, named=True)])[0]


def open_several(trace: Trace, numbers: Iterable[int]) -> list[Traced]:
    """The connections of these rows of connections.parquet, in their order; those captured at one
    point are read in one pass. Raises UserError as `open_traced`.
    """
    wanted = list(numbers)
    opened = trace.numbered().filter(pl.col("number").is_in(wanted)).collect()
    rows = {row["number"]: row for row in opened.to_dicts()}
    return _opened(trace, [rows[number] for number in wanted if number in rows])


def _opened(trace: Trace, rows: Sequence[dict[str, Any]]) -> list[Traced]:
    tables = {
        name: _by_connection(trace, name, rows)
        for name in ("retransmissions", "mechanisms", "parameters", "sides")
    }
    subflows = _subflows(trace, {row["mptcp_connection"] for row in rows} - {None})
    ends = [two_ended.ends(trace, row) if trace.points else None for row in rows]
    alone = [row for row, both in zip(rows, ends, strict=True) if both is None]
    captured = iter(_read(trace, alone))
    traced = []
    for row, both in zip(rows, ends, strict=True):
        mine = {name: table(row["connection"]) for name, table in tables.items()}
        opened = (
            _traced(row, mine["sides"], mine["retransmissions"], next(captured))
            if both is None
            else _between(row, mine["sides"], mine["retransmissions"], both)
        )
        traced.append(
            replace(
                opened,
                mechanisms=tuple(mine["mechanisms"].to_dicts()),
                parameters=tuple(mine["parameters"].to_dicts()),
                subflows=subflows.get(row["mptcp_connection"], ()),
            )
        )
    return traced


def _by_connection(
    trace: Trace, table: str, rows: Sequence[dict[str, Any]]
) -> Callable[[int], pl.DataFrame]:
    """The rows of a table by the number of their connection; retransmissions in order of time."""
    numbers = [row["connection"] for row in rows]
    frame = trace.scan(table).filter(pl.col("connection").is_in(numbers)).collect()
    if table == "retransmissions":
        frame = frame.sort("time_ns")
    parts = frame.partition_by("connection", as_dict=True, maintain_order=True)
    return lambda number: parts.get((number,), frame.clear())


def _subflows(trace: Trace, numbers: Collection[int]) -> dict[int, tuple[dict[str, Any], ...]]:
    """Those of the Multipath TCP connections of these numbers, in their order."""
    if not numbers:
        return {}
    together = pl.col("mptcp_connection").is_in(numbers)
    again = mechanisms.retransmissions(["mptcp-reinject"])
    of_both = sides.beside(trace.numbered().filter(together), trace, "data_bytes")
    every = mechanisms.beside(of_both, trace, reinjections=again).sort("mptcp_subflow").collect()
    parts = every.partition_by("mptcp_connection", as_dict=True, maintain_order=True)
    return {number: tuple(part.to_dicts()) for (number,), part in parts.items()}


def is_row(which: str) -> bool:
    """Whether a word is the number of a row, and no flow."""
    return re.fullmatch("[0-9]{1,18}", which) is not None


def _wanted(trace: Trace, which: str) -> pl.Expr:
    if is_row(which):
        return pl.col("number") == int(which)
    left, arrow, right = (part.strip() for part in which.partition(">"))
    if not arrow:
        raise UserError(
            f"{trace.path}: {which} is no connection",
            "K is a row of connections.parquet, from 0, or a flow: '10.0.0.1:80 > 10.0.0.2:40000'",
            usage=True,
        )
    return pl.col("flow").is_in([f"{left} > {right}", f"{right} > {left}"])


def _read(trace: Trace, rows: Sequence[dict[str, Any]]) -> list[list[_core.Packet]]:
    """The packets of each; every capture is read once."""
    places: dict[tuple[str, ...], list[int]] = {}
    for place, row in enumerate(rows):
        places.setdefault(tuple(_files(trace, row["capture"])), []).append(place)
    packets: dict[int, list[_core.Packet]] = {}
    for names, mine in places.items():
        some = [rows[place] for place in mine]
        packets |= zip(mine, _read_files(trace, [Path(name) for name in names], some), strict=True)
    return [packets[place] for place in range(len(rows))]


def _read_files(
    trace: Trace, files: Sequence[Path], rows: Sequence[dict[str, Any]]
) -> list[list[_core.Packet]]:
    wanted = []
    for row in rows:
        client, _, server = row["flow"].partition(" > ")
        # Seconds as a number are not exact: a microsecond more on either side.
        since, until = (
            round(row[name] * 1e9) + off for name, off in (("start_s", -1000), ("end_s", 1000))
        )
        wanted.append((client, server, since, until))
    flows = two_ended.read_flows(trace, files, wanted)
    for row, packets in zip(rows, flows, strict=True):
        if not packets:
            raise UserError(
                f"{', '.join(map(str, files))}: no packet of {row['flow']}",
                "the capture is not the one that was analysed: rexmit trace again",
            )
    return flows


def _files(trace: Trace, capture: str) -> list[str]:
    """The captures of the point whose first one it is."""
    for point in trace.meta.get("points", []):
        if point["captures"][0] == capture:
            return list(point["files"])
    return list(trace.meta.get("files", trace.captures))


def _between(
    row: dict[str, Any], of_sides: pl.DataFrame, retransmissions: pl.DataFrame, both: Ends
) -> Traced:
    """With the times at both ends."""
    from_servers = [passage.packet.from_server for passage in both.passages]
    made_of = _retransmissions(both.captured, from_servers, retransmissions)
    passages = [
        two_ended.told(passage, verdict_of(made_of[i]), made_of[i]["need"])
        if i in made_of
        else passage
        for i, passage in enumerate(both.passages)
    ]
    # No rule drops packets here: what did not arrive was lost.
    drawn = [
        replace(step, dropped=False, lost=step.dropped) for step in steps(passages, None, None)
    ]
    return Traced(
        number=row["number"],
        row=row,
        sides={one["direction"]: one for one in of_sides.to_dicts()},
        steps=tuple(drawn),
        retransmissions=made_of,
        start_ns=min(passage.order_ns for passage in passages),
        points=(both.client, both.server),
    )


def _traced(
    row: dict[str, Any],
    of_sides: pl.DataFrame,
    retransmissions: pl.DataFrame,
    captured: list[_core.Packet],
) -> Traced:
    client, _, _ = row["flow"].partition(" > ")
    from_servers = [not two_ended.is_from(raw, client) for raw in captured]
    made_of = _retransmissions(captured, from_servers, retransmissions)
    passages = []
    for i, (raw, from_server) in enumerate(zip(captured, from_servers, strict=True)):
        retransmission = made_of.get(i)
        packet = packet_of(
            raw,
            from_server=from_server,
            mechanism=verdict_of(retransmission) if retransmission else None,
            need=retransmission["need"] if retransmission else None,
        )
        passages.append(Passage(packet, packet))
    copies = bool(of_sides["capture_duplicates"].sum())
    drawn = steps(passages, None, None, recorded_again=copies)
    return Traced(
        number=row["number"],
        row=row,
        sides={one["direction"]: one for one in of_sides.to_dicts()},
        steps=tuple(drawn),
        retransmissions=made_of,
        start_ns=min(raw.time_ns for raw in captured),
    )


def _retransmissions(
    captured: list[_core.Packet], from_servers: list[bool], rows: pl.DataFrame
) -> dict[int, dict[str, Any]]:
    """Rows by the number of their packet: the last of the row's direction and capture time that the
    row's range begins in, since a clock may give a packet the time of the one before it.
    """
    captured_at: dict[tuple[int, bool], list[int]] = {}
    for i, (raw, from_server) in enumerate(zip(captured, from_servers, strict=True)):
        captured_at.setdefault((raw.time_ns, from_server), []).append(i)
    made_of: dict[int, dict[str, Any]] = {}
    for row in rows.reverse().iter_rows(named=True):
        together = captured_at.get((row["time_ns"], row["direction"] == "backward"), [])
        for i in reversed(together):
            if i not in made_of and _begins_in(row, captured[i]):
                made_of[i] = row
                break
    return dict(sorted(made_of.items()))


def _begins_in(row: dict[str, Any], raw: _core.Packet) -> bool:
    length = raw.payload_len + bin(raw.flags & 3).count("1")
    return bool((row["seq_start"] - raw.seq) % _SPACE < max(length, 1))
