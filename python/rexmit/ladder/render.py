"""The ladder as lines and as data: client left, server right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from rexmit.ladder.elide import Entry, Gap, Silence, elide
from rexmit.ladder.flow import Flow
from rexmit.ladder.steps import Step
from rexmit.result.blocks import BLANK, Block, Paragraph, Room, heading
from rexmit.wording import count, seconds

#: Columns of a time (up to 99999.999), of an arrow, and of the numbers at the end of a line.
_TIME, _ARROW, _NUMBERS = 9, (26, 48), 32


@dataclass(frozen=True)
class Glyphs:
    """What arrows are drawn with."""

    line: str
    to_left: str
    to_right: str
    cross: str
    rest: str


UNICODE = Glyphs("─", "◀", "▶", "✗", "⋮")
ASCII = Glyphs("-", "<", ">", "X", ":")


def flow_blocks(flow: Flow, room: Room, *, every_packet: bool) -> Iterator[Block]:
    """A line a packet: time and host at both ends, the arrow with flags and length, the numbers.

    On a terminal what does not fit goes below; in a pipe or file every packet stays on one line.
    """
    time = max(_TIME, *(len(_ms(at, 0)) for s in flow.steps for at in (s.sent_ns, s.arrived_ns)))
    narrow, wide = _ARROW
    width = min(wide, max(narrow, room.width - 2 * (time + 2) - _NUMBERS))
    yield from (heading(title(flow)), Paragraph(summary(flow)), BLANK)
    port = flow.row["client_port"]
    left, middle, right = f"client h2:{port}", "flags, bytes", "server h1"
    between = width - len(left) - len(right)
    head = left + (middle if between > len(middle) + 2 else "").center(between) + right
    yield Paragraph(f"{'ms':>{time}} {head} {'ms':>{time}}", "bold", whole=True)

    def draw(step: Step) -> tuple[list[str], str]:
        most = room.width if room.wraps else None
        return lines(step, width, glyphs(room), time=time, room=most), line_style(step)

    yield from ladder(elide(flow.steps, every_packet=every_packet), room, time + 1, draw)


def ladder(
    entries: Iterable[Entry], room: Room, indent: int, draw: Callable[[Step], tuple[list[str], str]]
) -> Iterator[Block]:
    """The lines that `draw` makes of each packet, and their style; between them what is left out,
    behind so many blanks.
    """
    for entry in entries:
        if isinstance(entry, Step):
            texts, style = draw(entry)
        else:
            texts, style = [" " * indent + _between(entry, glyphs(room))], "dim"
        for text in texts:
            yield Paragraph(text, style, whole=True)


def glyphs(room: Room) -> Glyphs:
    """What can be written there."""
    return UNICODE if room.has_arrows else ASCII


def _between(entry: Gap | Silence, glyphs: Glyphs) -> str:
    return gap_words(entry, glyphs) if isinstance(entry, Gap) else silence_words(entry, glyphs)


def gap_words(gap: Gap, glyphs: Glyphs) -> str:
    """What stands for the lines left out."""
    facts = [f"{glyphs.rest} {count(gap.lines, 'packet')} without event"]
    if gap.payload_bytes:
        facts.append(f"{count(gap.payload_bytes, 'byte')} from the server")
    if gap.duplicate_acks:
        facts.append(f"{count(gap.duplicate_acks, 'further duplicate ACK')}")
    return ", ".join(facts) + " (--all)"


def silence_words(silence: Silence, glyphs: Glyphs) -> str:
    """How long nothing happens."""
    return f"{glyphs.rest} nothing for {silence.ns / 1e6:.3f} ms"


def lines(
    step: Step, width: int, glyphs: Glyphs, *, time: int = _TIME, room: int | None = None
) -> list[str]:
    """One packet; `width` is the arrow's. What is longer than `room` goes on below the numbers."""
    client, server = (
        (step.arrived_ns, step.sent_ns) if step.from_server else (step.sent_ns, step.arrived_ns)
    )
    head = f"{_ms(client, time)} {arrow(step, width, glyphs)} {_ms(server, time)}"
    numbers = f"seq {step.seq}" if step.ack is None else f"seq {step.seq} ack {step.ack}"
    sack = [f"sack {left}-{right}" for left, right in step.sack]
    texts = [f"{head}  {numbers}"]
    for part in (*sack, *_marks(step)):
        longer = f"{texts[-1]}  {part}"
        if room is None or len(longer) <= room:
            texts[-1] = longer
        else:
            texts.append(" " * (len(head) + 2) + part)
    return texts


def arrow(step: Step, width: int, glyphs: Glyphs) -> str:
    """The arrow of `width` characters, labelled; one that never arrives ends in a cross midway."""
    label = f" {step.flags} {step.payload_bytes} " if step.payload_bytes else f" {step.flags} "
    ends = step.dropped or step.lost
    head = glyphs.cross if ends else glyphs.to_left if step.from_server else glyphs.to_right
    length = max(width // 2, len(label) + 4) if ends else width
    shaft = label.center(length - 1, glyphs.line)
    drawn = head + shaft if step.from_server else shaft + head
    return drawn.rjust(width) if step.from_server else drawn.ljust(width)


def told_marks(step: Step) -> list[str]:
    """What a packet tells its peer, in words."""
    marks = []
    if step.duplicate_sack:
        marks.append("DSACK")
    elif step.duplicate_acks:
        marks.append(f"duplicate ACK {step.duplicate_acks}")
    if step.window_update:
        marks.append("window update")
    if is_shut(step):
        marks.append("window 0")
    return marks


def is_shut(step: Step) -> bool:
    """It takes nothing more for now."""
    return step.window == 0 and "RST" not in step.flags


def _marks(step: Step) -> list[str]:
    marks = []
    if step.mechanism:
        spurious = " (spurious)" if step.need == "spurious" else ""
        marks.append(f"retransmission: {step.mechanism}{spurious}")
    elif step.kind:
        marks.append(step.kind)
    if step.dropped:
        marks.append("dropped")
    if step.lost:
        marks.append("lost on the line")
    elif step.arrived_ns is None and not step.dropped:
        marks.append("arrival not captured")
    marks += told_marks(step)
    if step.sent_ns is None:
        marks.append("sending not captured")
    return marks


def line_style(step: Step) -> str:
    """How the line of a packet is written."""
    if step.dropped or step.lost:
        return "red"
    if step.mechanism or step.again:
        return "yellow"
    return "green" if step.sack or step.duplicate_acks else ""


def _ms(time_ns: int | None, width: int) -> str:
    return " " * width if time_ns is None else f"{time_ns / 1e6:{width}.3f}"


def title(flow: Flow) -> str:
    """Which transfer it is, and what it is of."""
    row = flow.row
    pattern = row["loss_pattern"]
    lost = f"lost: {pattern}" if pattern else count(row["lost_segments"], "lost segment")
    facts = [
        row["network"],
        row["config"],
        lost,
        # Where patterns vary, the group names this one.
        flow.group.words.removeprefix(lost).removeprefix(", "),
        f"repetition {row['repetition']}",
    ]
    return f"flow {flow.number}: {', '.join(fact for fact in facts if fact)}"


def summary(flow: Flow) -> str:
    """What it carried, how long it took, what repaired it."""
    row = flow.row
    facts = [
        f"{row['transfer_size_bytes']:,} bytes in {count(row['transfer_segments'], 'segment')}"
    ]
    if row["t_total_s"] is not None:
        facts.append(f"t_total {seconds(row['t_total_s'])} s")
    if row["t_recover_s"] is not None:
        facts.append(f"t_recover {seconds(row['t_recover_s'])} s")
    if not row["dropped_packets"]:
        facts.append("nothing dropped at the end")
    of = " of what was dropped" if row["dropped_packets"] and row["line_loss"] else ""
    facts.append(
        f"first retransmission{of}: {row['mechanism']}" if row["mechanism"] else "no retransmission"
    )
    if not row["complete"]:
        ended = f" ({row['ended']})" if row["ended"] else ""
        facts.append(f"incomplete{ended}: the client did not get every byte")
    if row["note"]:
        facts.append(row["note"])
    return "; ".join(facts)


def flow_data(flow: Flow) -> dict[str, Any]:
    """The row and every packet; times in ns since the first packet."""
    return {
        "flow": flow.number,
        "transfer": flow.row,
        "packets": [asdict(step) for step in flow.steps],
    }
