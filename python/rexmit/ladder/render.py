"""The ladder on the terminal and as data: client left, server right, as in the paper's Figure 1."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.text import Text

from rexmit.ladder.elide import Gap, elide
from rexmit.ladder.flow import Flow
from rexmit.ladder.steps import Step
from rexmit.tables.terminal import count, is_unicode, seconds

_TIME = 10
_NOTES = 40


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


def print_flow(flow: Flow, console: Console, *, every_packet: bool) -> None:
    """A line a packet: time and host at both ends, the arrow with flags and length, the numbers."""
    glyphs = UNICODE if is_unicode(console.encoding) else ASCII
    width = min(48, max(32, console.width - 2 * _TIME - _NOTES))
    console.print(Text(_title(flow), "bold"), soft_wrap=True)
    console.print(_summary(flow), soft_wrap=True)
    console.print()
    port = flow.row["client_port"]
    left, middle, right = f"client h2:{port}", "flags, bytes", "server h1"
    room = width - len(left) - len(right)
    head = left + (middle if room > len(middle) + 2 else "").center(room) + right
    console.print(Text(f"{'ms':>{_TIME}} {head} {'ms':>{_TIME}}", "bold"), soft_wrap=True)
    for entry in flow.steps if every_packet else elide(flow.steps):
        if isinstance(entry, Gap):
            text = Text(" " * (_TIME + 1) + gap_words(entry, glyphs), "dim")
        else:
            text = Text(line(entry, width, glyphs), _style(entry))
        console.print(text, soft_wrap=True)


def gap_words(gap: Gap, glyphs: Glyphs) -> str:
    """What stands for the lines left out."""
    return (
        f"{glyphs.rest} {gap.lines} packets without event, "
        f"{count(gap.payload_bytes, 'byte')} from the server (--all shows them)"
    )


def line(step: Step, width: int, glyphs: Glyphs) -> str:
    """One packet; `width` is the arrow's."""
    client, server = (
        (step.arrived_ns, step.sent_ns) if step.from_server else (step.sent_ns, step.arrived_ns)
    )
    numbers = f"seq {step.seq}" if step.ack is None else f"seq {step.seq} ack {step.ack}"
    sack = [f"sack {left}-{right}" for left, right in step.sack]
    told = "  ".join([numbers, *sack, *_marks(step)])
    return f"{_ms(client)} {arrow(step, width, glyphs)} {_ms(server)}  {told}"


def arrow(step: Step, width: int, glyphs: Glyphs) -> str:
    """The arrow of `width` characters, labelled; one that never arrives ends in a cross midway."""
    label = f" {step.flags} {step.payload_bytes} " if step.payload_bytes else f" {step.flags} "
    ends = step.dropped or step.lost
    head = glyphs.cross if ends else glyphs.to_left if step.from_server else glyphs.to_right
    length = max(width // 2, len(label) + 4) if ends else width
    shaft = label.center(length - 1, glyphs.line)
    drawn = head + shaft if step.from_server else shaft + head
    return drawn.rjust(width) if step.from_server else drawn.ljust(width)


def _marks(step: Step) -> list[str]:
    marks = []
    if step.mechanism:
        needless = " (needless)" if step.need == "spurious" else ""
        marks.append(f"resend: {step.mechanism}{needless}")
    if step.dropped:
        marks.append("dropped")
    if step.lost:
        marks.append("lost on the line")
    if step.duplicate_sack:
        marks.append("DSACK")
    elif step.duplicate_ack:
        marks.append("duplicate ACK")
    if step.sent_ns is None:
        marks.append("sending not captured")
    return marks


def _style(step: Step) -> str:
    if step.dropped or step.lost:
        return "red"
    if step.mechanism:
        return "yellow"
    return "green" if step.sack or step.duplicate_ack else ""


def _ms(time_ns: int | None) -> str:
    return " " * _TIME if time_ns is None else f"{time_ns / 1e6:{_TIME}.3f}"


def _title(flow: Flow) -> str:
    row = flow.row
    lost = count(row["lost_segments"], "lost segment")
    return (
        f"flow {flow.number}: {row['network']}, {row['config']}, {lost}, "
        f"repetition {row['repetition']}"
    )


def _summary(flow: Flow) -> str:
    row = flow.row
    facts = [
        f"{row['transfer_size_bytes']:,} bytes in {count(row['transfer_segments'], 'segment')}",
        f"t_total {seconds(row['t_total_s'])} s",
        f"t_recover {seconds(row['t_recover_s'])} s",
        f"first resend {row['mechanism'] or 'none'}",
    ]
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
