"""A connection of a capture as lines and as data: a line a packet, client left, server right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rexmit.ladder.elide import Entry, elide
from rexmit.ladder.render import arrow, glyphs, ladder, told_marks
from rexmit.ladder.steps import Step
from rexmit.ladder.traced import Traced
from rexmit.result.blocks import BLANK, Block, Paragraph, Room, heading
from rexmit.store.trace_schema import SIDES
from rexmit.tracing.sentences.retransmissions import words_of
from rexmit.tracing.sentences.senders import in_words
from rexmit.wording import count

_NEAR = 25
"""Packets shown on either side of a time that is asked for."""

_MOST_SUBFLOWS = 32
"""Subflows that the lines above a ladder name: Linux has at most eight a peer's address."""


def traced_blocks(
    traced: Traced, room: Room, *, every_packet: bool, at_s: float | None = None
) -> Iterator[Block]:
    """The ladder; with `at_s` only what is around that time of the capture's clock, all of it."""
    yield heading(title(traced))
    yield from (*map(Paragraph, about(traced)), BLANK)
    numbers = {id(step): number for number, step in enumerate(traced.steps)}
    entries = _entries(traced, every_packet=every_packet, at_s=at_s)
    shown = [step for step in entries if isinstance(step, Step)]
    time = max([9, *(len(_ms(step, 0)) for step in shown)])
    width = min(44, max(26, room.width - time - 36))
    client, server = traced.points or ("client", "server")
    middle = "flags, bytes".center(width - len(client) - len(server))
    far = f" {'ms':>{time}}" if traced.points else ""
    yield Paragraph(f"{'ms':>{time}} {client}{middle}{server}{far}", "bold", whole=True)

    def draw(step: Step) -> tuple[list[str], str]:
        retransmission = traced.retransmissions.get(numbers[id(step)])
        words = words_of(retransmission) if retransmission else None
        drawn = arrow(step, width, glyphs(room))
        placed = _between(step, drawn, time) if traced.points else f"{_ms(step, time)} {drawn}"
        marks = [f"retransmission: {words}"] if words else _marks(step)
        if step.lost:
            marks.append("lost")
        line = "  ".join([f"{placed}  {_numbers(step)}", *marks])
        return [line], _style(step, retransmission)

    yield from ladder(entries, room, time + 1, draw)


def _between(step: Step, drawn: str, width: int) -> str:
    """With the times at the client's point and at the server's."""
    sent, arrived = (
        " " * width if at is None else f"{at / 1e6:{width}.3f}"
        for at in (step.sent_ns, step.arrived_ns)
    )
    return f"{arrived} {drawn} {sent}" if step.from_server else f"{sent} {drawn} {arrived}"


def _entries(traced: Traced, *, every_packet: bool, at_s: float | None) -> list[Entry]:
    # With both times of each packet its own round trip says what is long.
    silent_ns = None if traced.points else _silent_ns(traced)
    if at_s is None:
        return elide(traced.steps, every_packet=every_packet, silent_ns=silent_ns)
    return elide(near_time(traced, at_s), every_packet=True, silent_ns=silent_ns)


def near_time(traced: Traced, at_s: float) -> tuple[Step, ...]:
    """The packets on either side of a time of the capture's clock."""
    at = at_s * 1e9 - traced.start_ns
    near = min(range(len(traced.steps)), key=lambda i: abs((traced.steps[i].sent_ns or 0) - at))
    return traced.steps[max(0, near - _NEAR) : near + _NEAR + 1]


def _silent_ns(traced: Traced) -> int:
    """Two round trips of the slower side: at one place that long nothing comes by now and then."""
    rtts = [side["rtt_avg_s"] or 0.0 for side in traced.sides.values()]
    return max(10_000_000, round(2e9 * max(rtts)))


def title(traced: Traced) -> str:
    """Which connection of which capture."""
    return f"flow {traced.number}: {traced.row['flow']} in {traced.row['capture']}"


def about(traced: Traced) -> list[str]:
    """How long it lasted, what it carried, its sides, its subflows: lines."""
    up, down = (traced.sides[side]["bytes"] for side in SIDES)
    again = count(len(traced.retransmissions), "retransmission")
    lines = [f"{traced.row['duration_s']:.3f} s; {up:,} bytes up, {down:,} down; {again}"]
    for side, name in zip(SIDES, ("client", "server"), strict=True):
        row, facts = traced.sides[side], []
        if row["stack"] is not None:
            known = (row[column] for column in ("stack", "stacks", "syn_system"))
            facts.append(in_words(*known, syn_seen=row["syn_signature"] is not None))
            sure = row["stack_confidence"]
            if sure is not None and row["stack"] not in ("several", "none"):
                facts[-1] += f", confidence {sure:.2f}"
            if row["stack"] == "several" and row["stacks"]:
                facts.append(f"possible stacks {row['stacks'].replace(',', ', ')}")
        if row["position"] not in (None, "unknown"):
            facts.append(f"monitor {_place(row['position'])}")
        if row["monitor_delay_s"] is not None:
            facts.append(f"{row['monitor_delay_s'] * 1000:.2f} ms there and back")
        least, average, most = (row[f"rtt_{which}_s"] for which in ("min", "avg", "max"))
        if None not in (least, average, most):
            facts.append(
                f"RTT {least * 1000:.1f} to {most * 1000:.1f} ms, on average {average * 1000:.1f}"
            )
        if facts:
            lines.append(f"{name} as a sender: {'; '.join(facts)}")
    return lines + _subflows(traced)


def _subflows(traced: Traced) -> list[str]:
    """The Multipath TCP connection that it belongs to, a line a subflow."""
    if not traced.subflows:
        return []
    here = traced.row["mptcp_subflow"]
    lines = [f"subflow {here} of {len(traced.subflows)} of a Multipath TCP connection:"]
    for row in traced.subflows[:_MOST_SUBFLOWS]:
        role = {"initial": "opened it", "join": "joined"}.get(row["mptcp_role"], "began before")
        up, down = row["forward_data_bytes"] or 0, row["backward_data_bytes"] or 0
        size = f"{up:,} bytes of data up, {down:,} down"
        again = row["reinjections"]
        more = f"; {count(again, 'packet')} re-injected" if again else ""
        number, mark = row["mptcp_subflow"], ", this one" if row["mptcp_subflow"] == here else ""
        lines.append(f"  {number}: flow {row['number']}, {row['flow']}, {role}; {size}{more}{mark}")
    if len(traced.subflows) > _MOST_SUBFLOWS:
        lines.append(f"  … and {len(traced.subflows) - _MOST_SUBFLOWS:,} more")
    return lines


def _place(position: str) -> str:
    return {"sender": "at it", "receiver": "at its peer"}.get(position, position)


def _ms(step: Step, width: int) -> str:
    return f"{(step.sent_ns or 0) / 1e6:{width}.3f}"


def _numbers(step: Step) -> str:
    text = f"seq {step.seq}" + ("" if step.ack is None else f" ack {step.ack}")
    return "  ".join([text, *(f"sack {left}-{right}" for left, right in step.sack)])


def _marks(step: Step) -> list[str]:
    return [step.kind, *told_marks(step)] if step.kind else told_marks(step)


def _style(step: Step, retransmission: dict[str, Any] | None) -> str:
    if step.lost:
        return "red"
    if retransmission:
        return "magenta" if retransmission["need"] == "spurious" else "yellow"
    return "green" if step.sack or step.duplicate_acks else ""


def traced_data(traced: Traced) -> dict[str, Any]:
    """The connection's row, its sides, mechanisms and parameters, and every packet with its
    retransmission's row; times in ns since the first.
    """
    return {
        "flow": traced.number,
        "connection": traced.row,
        "sides": list(traced.sides.values()),
        "mechanisms": list(traced.mechanisms),
        "parameters": list(traced.parameters),
        "start_ns": traced.start_ns,
        "points": traced.points,
        "packets": [
            {**asdict(step), "retransmission": traced.retransmissions.get(number)}
            for number, step in enumerate(traced.steps)
        ],
    }
