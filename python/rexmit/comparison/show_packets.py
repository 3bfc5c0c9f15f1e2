"""Two ladders beside each other, around the place where the senders part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rexmit.analysis.runner import runner
from rexmit.comparison.beside import Row, parting_row, window
from rexmit.comparison.packets import Compared, Parting, at_server
from rexmit.ladder.steps import Step
from rexmit.result.blocks import BLANK, Block, Column, Grid, Line, Paragraph, Room, heading, note
from rexmit.store.open_run import Run
from rexmit.wording import count

#: More SACK blocks than this are counted, not written.
_BLOCKS = 2


def packets_blocks(
    compared: Compared, a: Run, b: Run, room: Room, *, every_packet: bool
) -> Iterator[Block]:
    """What both are, where they part, and the packets there."""
    yield heading(f"{compared.label}, repetition {compared.repetition}")
    for letter, run in (("A", a), ("B", b)):
        yield Paragraph(f"{letter}: {run.path}: {runner(run.meta).words}")
    yield from map(heading, partings(compared))
    yield BLANK
    shown = window(compared, every_packet=every_packet)
    if shown.before:
        yield note(f"{count(shown.before, 'packet')} before these (--all)")
    here = parting_row(shown.rows, compared.first)
    yield Grid(
        (
            Column("A: ms", right=True),
            Column("from h1 < > from h2", least=30),
            Column("", before=2),
            Column("B: ms", right=True, before=2),
            Column("", least=30),
        ),
        tuple(_line(row, place == here, room) for place, row in enumerate(shown.rows)),
    )
    if shown.after:
        yield note(f"{count(shown.after, 'packet')} after these (--all)")
    yield note(
        "times at the server, from the first packet; = alike, t alike but for the time "
        f"(by more than {compared.tolerance_ns / 1e6:g} ms)"
    )


def partings(compared: Compared) -> list[str]:
    """Where the two part, in sentences."""
    read = count(compared.looked_at, "repetition")
    if compared.first is None:
        return [f"no packet differs in {read} (times within {compared.tolerance_ns / 1e6:g} ms)"]
    texts = []
    if compared.clients is not None:
        texts.append(_sentence("clients", compared.clients))
    if compared.senders is not None:
        texts.append(_sentence("senders", compared.senders))
    else:
        texts.append(f"the senders do not part ({read} read)")
    return texts


def parting_blocks(compared: Compared) -> Iterator[Block]:
    """The same beside cells, and how to see the packets."""
    yield BLANK
    yield heading(f"{compared.label}, repetition {compared.repetition}:")
    yield from (Paragraph(f"  {line}") for line in partings(compared))
    cell = compared.a.row["cell"]
    yield note(f"the packets there: rexmit diff A B --packets {cell}/{compared.repetition}")


def parting_data(compared: Compared) -> dict[str, Any]:
    """Where the two part, for `--json`; times in ns."""
    senders, clients = (
        None if parting is None else asdict(parting)
        for parting in (compared.senders, compared.clients)
    )
    return {
        "label": compared.label,
        "repetition": compared.repetition,
        "repetitions_read": compared.looked_at,
        "tolerance_ns": compared.tolerance_ns,
        "senders_part": senders,
        "clients_part": clients,
    }


def packets_data(compared: Compared) -> dict[str, Any]:
    """Both rows of packets besides."""
    return {
        **parting_data(compared),
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


def _line(row: Row, here: bool, room: Room) -> Line:
    texts = []
    for step in (row.a, row.b):
        if step is None:
            texts += ["", ""]
            continue
        to_h2, to_h1 = "◀▶" if room.has_arrows else "<>"
        way = to_h2 if step.from_server else to_h1
        texts += [f"{at_server(step) / 1e6:.3f}", f"{way} {packet_words(step)}"]
    both = row.a is not None and row.b is not None
    mark = ("t" if row.late else "=") if both else ""
    style = "bold red" if here else "yellow" if not both or row.late else ""
    if here:
        mark += "*"
    return Line((texts[0], texts[1], mark, texts[2], texts[3]), style)
