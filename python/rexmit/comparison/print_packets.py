"""Two ladders beside each other on the terminal, around the place where the senders part."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.console import Console

from rexmit.analysis.runner import runner
from rexmit.comparison.beside import Row, parting_row, window
from rexmit.comparison.packets import Compared, Parting, at_server
from rexmit.ladder.steps import Step
from rexmit.present.grid import Column, Line, print_grid
from rexmit.present.terminal import is_unicode, say
from rexmit.present.text import Text
from rexmit.store.open_run import Run
from rexmit.wording import count

#: More SACK blocks than this are counted, not written.
_BLOCKS = 2


def print_packets(
    compared: Compared, a: Run, b: Run, console: Console, *, every_packet: bool
) -> None:
    """What both are, where they part, and the packets there."""
    say(console, Text(f"{compared.label}, repetition {compared.repetition}", "bold"))
    for letter, run in (("A", a), ("B", b)):
        say(console, f"{letter}: {run.path}: {runner(run.meta).words}")
    for text in told(compared):
        say(console, Text(text, "bold"))
    console.print()
    shown = window(compared, every_packet=every_packet)
    if shown.before:
        say(console, f"{count(shown.before, 'packet')} before these (--all)", "dim")
    here = parting_row(shown.rows, compared.first)
    lines = [_line(row, place == here, console) for place, row in enumerate(shown.rows)]
    print_grid(
        [
            Column("A: ms", right=True),
            Column("from h1 < > from h2", least=30),
            Column("", before=2),
            Column("B: ms", right=True, before=2),
            Column("", least=30),
        ],
        lines,
        console,
    )
    if shown.after:
        say(console, f"{count(shown.after, 'packet')} after these (--all)", "dim")
    note = "times at the server, from the first packet; = alike, t alike but for the time"
    say(console, f"{note} (by more than {compared.tolerance_ns / 1e6:g} ms)", "dim")


def told(compared: Compared) -> list[str]:
    """Where the two part, in sentences."""
    if compared.first is None:
        read = count(compared.looked_at, "repetition")
        within = f"{compared.tolerance_ns / 1e6:g} ms"
        return [f"no packet differs in {read} (times within {within})"]
    found = []
    if compared.clients is not None:
        found.append(_sentence("clients", compared.clients))
    if compared.senders is not None:
        found.append(_sentence("senders", compared.senders))
    else:
        read = count(compared.looked_at, "repetition")
        found.append(f"the senders do not part ({read} read)")
    return found


def packets_data(compared: Compared) -> dict[str, Any]:
    """Both rows of packets and where they part, for `--json`; times in ns."""

    def told_of(parting: Parting | None) -> dict[str, Any] | None:
        return None if parting is None else asdict(parting)

    return {
        "label": compared.label,
        "repetition": compared.repetition,
        "repetitions_read": compared.looked_at,
        "tolerance_ns": compared.tolerance_ns,
        "senders_part": told_of(compared.senders),
        "clients_part": told_of(compared.clients),
        "a": {"flow": compared.a.number, "packets": [asdict(step) for step in compared.a.steps]},
        "b": {"flow": compared.b.number, "packets": [asdict(step) for step in compared.b.steps]},
    }


def _sentence(who: str, parting: Parting) -> str:
    sides = [
        f"{letter} {'sends no more' if step is None else _moment(step)}"
        for letter, step in (("A", parting.a), ("B", parting.b))
    ]
    what = ", ".join(parting.what)
    return f"the {who} part at packet {parting.place} ({what}): {'; '.join(sides)}"


def _moment(step: Step) -> str:
    return f"at {at_server(step) / 1e6:.3f} ms {packet_words(step)}"


def packet_words(step: Step) -> str:
    """`14481-15929 PSH, ACK tlp dropped`, `ack 15929 sack 17377-18825`."""
    parts = []
    if step.payload_bytes or step.from_server or step.ack is None:
        parts.append(f"{step.seq}-{step.seq + step.payload_bytes}")
        if step.flags != "ACK":
            parts.append(step.flags)
    else:
        parts.append(f"ack {step.ack}")
        blocks = [f"{left}-{right}" for left, right in step.sack[:_BLOCKS]]
        if blocks:
            more = len(step.sack) - len(blocks)
            parts.append(f"sack {' '.join(blocks)}" + (f" +{more}" if more else ""))
        if step.flags != "ACK":
            parts.append(step.flags)
    if step.mechanism:
        parts.append(step.mechanism)
    elif step.again:
        parts.append("again")
    if step.dropped:
        parts.append("dropped")
    if step.lost:
        parts.append("lost")
    return " ".join(parts)


def _line(row: Row, here: bool, console: Console) -> Line:
    texts = []
    for step in (row.a, row.b):
        if step is None:
            texts += ["", ""]
            continue
        way = ("<" if step.from_server else ">") + " "
        if is_unicode(console.encoding):
            way = ("◀" if step.from_server else "▶") + " "
        texts += [f"{at_server(step) / 1e6:.3f}", way + packet_words(step)]
    both = row.a is not None and row.b is not None
    mark = ("t" if row.late else "=") if both else ""
    style = "bold red" if here else "yellow" if not both or row.late else ""
    if here:
        mark += "*"
    return Line((texts[0], texts[1], mark, texts[2], texts[3]), style)
