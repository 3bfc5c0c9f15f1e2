"""The part of a page that is about how often the model and a kernel agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import polars as pl

from rexmit.ladder.match import Passage
from rexmit.ladder.packets import Packet as Captured
from rexmit.ladder.packets import flag_names
from rexmit.ladder.steps import Step, steps
from rexmit.result.blocks import Paragraph
from rexmit.webpage import commands, packets
from rexmit.webpage.part import Opens, Packets, Part, Section, Table
from rexmit_validate.agree.judge import Judged
from rexmit_validate.agree.packet import SERVER, LoggedPacket

MOST: Final = 200
"""So many cases have their packets in a page."""


@dataclass(frozen=True)
class Held:
    """What is shown: the folder, the words of the terminal, both names, the cases."""

    folder: Path
    lines: Sequence[str]
    ours: str
    theirs: str
    command: str
    cases: Sequence[Judged]


def part(held: Held, place: int) -> Part:
    """`place` is its own among the parts of the page. Packets are those of the cases that do not
    agree, then of the others.
    """
    ordered = sorted(
        range(len(held.cases)), key=lambda i: (held.cases[i].agrees, held.cases[i].exact)
    )
    shown = [i for i in ordered if _is_drawn(held.cases[i])][:MOST]
    return Part(
        kind="agreement",
        name=str(held.folder),
        names=[str(held.folder)],
        sections=[
            Section("Overview", [Paragraph(line) for line in held.lines if line], held.command)
        ],
        tables=[
            Table(
                "cases",
                "Cases",
                _frame(held.cases),
                commands.report([str(held.folder)], "--table", "cases"),
                _ABOUT,
                "agrees",
                Opens("pair", "pair"),
            )
        ],
        view="pair",
        packets=[one for i in shown for one in _both(i, held)],
        rule=f"This file has the packets of {len(shown):,} of {len(held.cases):,} cases, those "
        "that do not agree first.",
        pairs=[_pair(i, held, place) for i in shown],
    )


def _is_drawn(one: Judged) -> bool:
    return bool(one.kernel.packets and one.model.packets)


_ABOUT: Final = {
    "pair": ("", "number of the case; a row opens both logs beside each other"),
    "case": ("", "its name: seed and number"),
    "agrees": ("", "in what is counted"),
    "exact": ("", "every packet agrees: its place, bytes, mechanism, time"),
    "words": ("", "how it went, or the class of the disagreement"),
    "late_ms": ("ms", "how much later the model's packet left, where the two part in a packet"),
}


def _frame(cases: Iterable[Judged]) -> pl.DataFrame:
    rows = []
    for number, one in enumerate(cases):
        difference = one.verdict.difference if one.verdict else None
        rows.append(
            {
                "pair": number,
                "case": one.case.name,
                "agrees": one.agrees if one.counts else None,
                "exact": one.exact if one.counts else None,
                "words": one.words if one.counts else f"not run: {one.kernel_error}",
                "retransmitted": one.retransmitted,
                "packets": len(one.kernel.packets),
                "parts_in": difference.what if difference else None,
                "late_ms": difference.late_ns / 1e6 if difference else None,
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def _both(number: int, held: Held) -> Iterator[Packets]:
    one = held.cases[number]
    logs = (("a", held.ours, one.kernel.packets), ("b", held.theirs, one.model.packets))
    for letter, name, log in logs:
        drawn_steps = _steps(log)
        drawn = packets.Drawn(
            drawn_steps,
            data_from_server=True,
            words=partial(_words, drawn_steps),
            has_options=False,
        )
        command = commands.command(
            "validate", "agree", "--case", held.folder / one.case.name, "--show"
        )
        about = packets.about(
            f"{one.case.name}: {name}",
            [
                one.words,
                "Packets as their host sent them, before any loss: when one arrived is not logged.",
            ],
            drawn,
            command,
            client="client",
            server="server",
            start_s=None,
            ends=None,
        )
        yield Packets(f"{number}{letter}", about, packets.tables(drawn))


def _steps(log: Sequence[LoggedPacket]) -> tuple[Step, ...]:
    """In the log's own time; nothing is said of arrivals."""
    passages = []
    for one in log:
        packet = Captured(
            time_ns=one.at_ns,
            from_server=one.direction == SERVER,
            seq=one.seq,
            ack=one.ack,
            flags=flag_names(one.flags),
            payload_bytes=one.length,
            window=one.window,
            sack=tuple((block[0], block[1]) for block in one.sack),
            dropped=bool(one.dropped),
            mechanism=one.mechanism,
        )
        passages.append(Passage(packet, None))
    # Numbers of a log count from the initial ones already.
    drawn = steps(passages, 0, 0, start_ns=0)
    return tuple(replace(step, lost=False) for step in drawn)


def _words(every: Sequence[Step], number: int) -> str:
    return str(every[number].mechanism)


def _pair(number: int, held: Held, place: int) -> dict[str, Any]:
    one = held.cases[number]
    return {
        "number": number,
        "title": f"{one.case.name}: {held.ours} and {held.theirs}",
        "left": {"part": place, "key": f"{number}a", "name": held.ours},
        "right": {"part": place, "key": f"{number}b", "name": held.theirs},
        "parting": _parting(one, held),
        "same": "every packet agrees",
        "command": commands.command(
            "validate", "agree", "--case", held.folder / one.case.name, "--show"
        ),
    }


def _parting(one: Judged, held: Held) -> dict[str, Any] | None:
    difference = one.verdict.difference if one.verdict else None
    if difference is None:
        return None
    ours, theirs = difference.ours, difference.theirs
    return {
        "words": f"They part at the server's data packet {difference.place + 1:,}, in "
        f"{difference.what}: {held.ours} {_told(ours)}; {held.theirs} {_told(theirs)}",
        "left_s": None if ours is None else ours.at_ns / 1e9,
        "right_s": None if theirs is None else theirs.at_ns / 1e9,
    }


def _told(packet: LoggedPacket | None) -> str:
    if packet is None:
        return "sends no more"
    at = f"at {packet.at_ns / 1e6:.3f} ms"
    return f"sequence number {packet.seq:,}, {packet.length:,} bytes, {packet.act}, {at}"
