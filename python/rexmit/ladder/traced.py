"""One connection of a capture, with what the analysis says of each retransmission.

A capture has one clock, that of the place where it was taken: every packet has one time, and what
was lost beyond that place cannot be told from what arrived. Captures of several points tell both:
`two_ended`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import polars as pl

from rexmit import _core
from rexmit.errors import UserError
from rexmit.ladder import two_ended
from rexmit.ladder.match import Passage
from rexmit.ladder.packets import Packet, flag_names
from rexmit.ladder.steps import Step, steps
from rexmit.ladder.two_ended import Ends
from rexmit.tracing import mechanisms, sides
from rexmit.tracing.folder import Trace

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
    found = rows.filter(_wanted(trace, which)).collect()
    if at_s is not None and found.height > 1:
        found = found.sort((pl.col("start_s") - at_s).abs()).filter(
            pl.col("start_s") <= at_s, pl.col("end_s") >= at_s
        )
    if found.is_empty():
        raise UserError(
            f"{trace.path}: no connection {which}",
            "K is a row of connections.parquet, from 0, or a flow: '10.0.0.1:80 > 10.0.0.2:40000'",
        )
    row = found.row(0, named=True)
    mine = pl.col("connection") == row["connection"]
    retransmissions = trace.scan("retransmissions").filter(mine).sort("time_ns").collect()
    counts = trace.scan("mechanisms").filter(mine).collect()
    shown = trace.scan("parameters").filter(mine).collect()
    of_sides = trace.scan("sides").filter(mine).collect()
    subflows: tuple[dict[str, Any], ...] = ()
    if row["mptcp_connection"] is not None:
        together = pl.col("mptcp_connection") == row["mptcp_connection"]
        again = mechanisms.retransmissions(["mptcp-reinject"])
        of_both = sides.beside(rows.filter(together), trace, "data_bytes")
        every = mechanisms.beside(of_both, trace, reinjections=again)
        subflows = tuple(every.sort("mptcp_subflow").collect().to_dicts())
    both = two_ended.ends(trace, row) if trace.points else None
    return replace(
        _traced(row, of_sides, retransmissions, _read(trace, row))
        if both is None
        else _between(row, of_sides, retransmissions, both),
        mechanisms=tuple(counts.to_dicts()),
        parameters=tuple(shown.to_dicts()),
        subflows=subflows,
    )


def _wanted(trace: Trace, which: str) -> pl.Expr:
    if which.isdigit():
        return pl.col("number") == int(which)
    left, arrow, right = (part.strip() for part in which.partition(">"))
    if not arrow:
        raise UserError(
            f"{trace.path}: {which} is no connection",
            "K is a row of connections.parquet, from 0, or a flow: '10.0.0.1:80 > 10.0.0.2:40000'",
            usage=True,
        )
    return pl.col("flow").is_in([f"{left} > {right}", f"{right} > {left}"])


def _read(trace: Trace, row: dict[str, Any]) -> list[_core.Packet]:
    files = [Path(name) for name in _files(trace, row["capture"])]
    missing = [str(file) for file in files if not file.is_file()]
    if missing:
        raise UserError(
            f"{trace.path}: the packets are in {', '.join(missing)}, which is not there any more",
            "put the capture back, or analyse it where it is now",
        )
    client, _, server = row["flow"].partition(" > ")
    # Seconds as a number are not exact: a microsecond more on either side.
    since, until = (
        round(row[name] * 1e9) + off for name, off in (("start_s", -1000), ("end_s", 1000))
    )
    try:
        packets = _core.read_flow(files, client, server, since, until)
    except OSError as error:
        raise UserError(f"cannot be read: {error}") from error
    if not packets:
        raise UserError(
            f"{', '.join(map(str, files))}: no packet of {row['flow']}",
            "the capture is not the one that was analysed: rexmit trace again",
        )
    return packets


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
        two_ended.told(passage, mechanism_words(made_of[i]), made_of[i]["need"])
        if i in made_of
        else passage
        for i, passage in enumerate(both.passages)
    ]
    # No rule drops packets here: what did not arrive was lost.
    made = [replace(step, dropped=False, lost=step.dropped) for step in steps(passages, None, None)]
    return Traced(
        number=row["number"],
        row=row,
        sides={one["direction"]: one for one in of_sides.to_dicts()},
        steps=tuple(made),
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
    from_servers = [
        client not in (f"{raw.src}:{raw.sport}", f"[{raw.src}]:{raw.sport}") for raw in captured
    ]
    made_of = _retransmissions(captured, from_servers, retransmissions)
    passages = []
    for i, (raw, from_server) in enumerate(zip(captured, from_servers, strict=True)):
        retransmission = made_of.get(i)
        packet = Packet(
            time_ns=raw.time_ns,
            from_server=from_server,
            seq=raw.seq,
            ack=raw.ack,
            flags=flag_names(raw.flags),
            payload_bytes=raw.payload_len,
            window=raw.window,
            sack=tuple(raw.sack),
            mechanism=mechanism_words(retransmission) if retransmission else None,
            need=retransmission["need"] if retransmission else None,
        )
        passages.append(Passage(packet, packet))
    made = steps(passages, None, None)
    # Seen once, at the monitor: that nothing is known of the far end is no loss.
    made = [replace(step, lost=False) for step in made]
    return Traced(
        number=row["number"],
        row=row,
        sides={one["direction"]: one for one in of_sides.to_dicts()},
        steps=tuple(made),
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


def mechanism_words(retransmission: dict[str, Any]) -> str:
    """The mechanism, or both where the wire cannot tell."""
    if retransmission["either"] and retransmission["runner_up"]:
        return f"{retransmission['mechanism']}|{retransmission['runner_up']}"
    return str(retransmission["mechanism"])


def retransmission_words(retransmission: dict[str, Any]) -> str:
    """What is known of a retransmission, in the order in which one asks."""
    parts = [mechanism_words(retransmission)]
    if retransmission["need"] == "spurious":
        parts.append("spurious")
    elif retransmission["need"] == "unknown":
        parts.append("need unknown")
    if retransmission.get("first_flow") is not None:
        parts.append(
            f"first on subflow {retransmission['first_subflow']}, {retransmission['first_flow']}"
        )
    if retransmission["evidence"] not in ("", "none"):
        parts.append(f"by {retransmission['evidence']}")
    if retransmission["detection_s"] is not None:
        wait = f"{retransmission['detection_s'] * 1000:.1f} ms after"
        rtts = retransmission["detection_rtts"]
        parts.append(wait + (f" ({rtts:.1f} RTT)" if rtts is not None else ""))
    if retransmission["timer_s"] is not None:
        parts.append(f"timer {retransmission['timer_s'] * 1000:.1f} ms")
    if retransmission["confidence"] < 0.9 and not retransmission["either"]:
        other = retransmission["runner_up"]
        parts.append(
            f"confidence {retransmission['confidence']:.2f}" + (f", or {other}" if other else "")
        )
    return ", ".join(parts)
