"""A script and what the kernel did instead, side by side, around the step that failed."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rexmit.gate.attempts import Attempt

STEPS_BEFORE: Final = 2

_LEFT: Final = 72
_LONGEST_SCRIPT: Final = 1 << 20
_NUMBER: Final = r"(?:[0-9]++(?:\.[0-9]++)?|\.[0-9]++)"
_TIME: Final = rf"(?:\*|[+]?{_NUMBER}(?:~[+]?{_NUMBER})?(?:\.\.\.[0-9.]++)?)"
_STEP: Final = re.compile(rf"^\s*+[+]?{_TIME}\s+([<>]?)")
_TOLD: Final = re.compile(
    r"^(?P<way>outbound|inbound) \w+ packet: +(?P<time>-?[0-9]{1,12}\.[0-9]{1,12}) (?P<what>.*)$"
)
_TCP: Final = re.compile(
    r"^(?P<flags>\S+) (?P<seq>[0-9]{1,10}):(?P<end>[0-9]{1,10})(?P<rest>\([0-9]+\))"
    r"(?: ack (?P<ack>[0-9]{1,10}))?"
)
_NUMBERS: Final = re.compile("[0-9]{1,10} [0-9]{1,10}")
_ALL: Final = 1 << 32

CAUSES: Final = {
    "timer": "retransmission timeout",
    "window-timer": "retransmission timeout, the window is shut",
    "probe": "tail loss probe",
    "probe-new": "tail loss probe, new data",
    "queue": "marked lost, sent on an acknowledgement",
    "queue-timer": "marked lost, sent by the reordering timer",
    "synack-timer": "timer of the SYN-ACK",
    "synack-answer": "the SYN came again",
}
"""The kernel's words in its record, as a reader has them."""


@dataclass(frozen=True, slots=True)
class Step:
    """An event of a script: its first line, counted from 1, and which way a packet goes."""

    line: int
    text: str
    way: str


@dataclass(frozen=True, slots=True)
class PacketLine:
    """A packet that packetdrill saw."""

    way: str
    text: str


def beside(script: Path, attempt: Attempt) -> list[str]:
    """Lines of the script from two steps before the one that failed, and beside them the packets
    that packetdrill saw; nothing where it does not say which line failed.
    """
    failed = re.search(rf"{re.escape(script.name)}:([0-9]{{1,7}}): ", attempt.text)
    if failed is None:
        return []
    try:
        with script.open(encoding="utf-8", errors="replace") as file:
            every = steps(file.read(_LONGEST_SCRIPT).splitlines())
    except OSError:
        return []
    line = int(failed[1])
    until = [step for step in every if step.line <= line]
    first = max(0, len(until) - 1 - STEPS_BEFORE)
    left, right = f"line of {script.name}", "packet of the kernel (<: to it)"
    lines = [f"{left:<{_LEFT}}  {right}"]
    rows = _rows(until, deque(packets(attempt)), first)
    for number, (step, seen) in enumerate(rows):
        mark = ">" if step is not None and step.line == until[-1].line else " "
        text = f"{mark}{step.line:5} {step.text}" if step is not None else ""
        lines.append(f"{text[:_LEFT]:<{_LEFT}}  {seen.text if seen else ''}".rstrip())
        if number > STEPS_BEFORE + 20:
            break
    return lines


def steps(lines: Sequence[str]) -> list[Step]:
    """The events of a script, by the times that they begin with."""
    every = []
    for number, line in enumerate(lines, 1):
        if event := _STEP.match(line):
            every.append(Step(number, line.strip(), event[1]))
    return every


def _rows(
    until: Sequence[Step], seen: deque[PacketLine], first: int
) -> Iterator[tuple[Step | None, PacketLine | None]]:
    """Each step with its packet, from the one numbered `first` on, then packets without a step."""
    for number, step in enumerate(until):
        own: list[PacketLine] = []
        if step.way == "<":
            # What was seen before an injected packet belongs to the steps before it.
            while seen:
                own.append(seen.popleft())
                if own[-1].way == "<":
                    break
        elif step.way == ">" and seen and seen[0].way == ">":
            own.append(seen.popleft())
        if number >= first:
            extra, last = own[:-1], own[-1:]
            yield from ((None, one) for one in extra)
            yield step, last[0] if last else None
    yield from ((None, one) for one in seen)


def packets(attempt: Attempt) -> Iterator[PacketLine]:
    """The packets of an attempt, counted from where each side's numbers begin, and why the kernel
    sent again what it sent again.
    """
    first: dict[str, int] = {}
    record = _record(attempt)
    sent: set[int] = set()
    for line in attempt.packets:
        match = _TOLD.match(line)
        if match is None:
            continue
        way = ">" if match["way"] == "outbound" else "<"
        what, tcp = match["what"], _TCP.match(match["what"])
        why = ""
        if tcp:
            seq = int(tcp["seq"])
            if way not in first or "S" in tcp["flags"]:
                first[way] = seq
            if way == ">":
                why = _why(record, seq, again=seq in sent)
                sent.add(seq)
            what = _relative(what, tcp, first.get(way, 0), first.get("<" if way == ">" else ">", 0))
        yield PacketLine(way, f"{float(match['time']):9.6f} {way} {what}{why}")


def recorded_causes(attempt: Attempt) -> tuple[str, ...]:
    """Why the kernel sent again what it sent again, in its own words, in order."""
    return tuple(words[5] for words in _record(attempt))


def packet_times_ns(attempt: Attempt) -> tuple[int, ...]:
    """When each packet of an attempt came by, by the script's clock."""
    matches = filter(None, map(_TOLD.match, attempt.packets))
    return tuple(round(float(match["time"]) * 1e9) for match in matches)


def _record(attempt: Attempt) -> list[list[str]]:
    lines = (line.split() for line in attempt.causes.splitlines() if "=" in line)
    return [words for words in lines if _is_of_record(words)]


def _is_of_record(words: Sequence[str]) -> bool:
    return len(words) > 6 and _NUMBERS.fullmatch(" ".join(words[3:5])) is not None


def _relative(what: str, tcp: re.Match[str], own: int, other: int) -> str:
    text = f"{tcp['flags']} {(int(tcp['seq']) - own) % _ALL}:{(int(tcp['end']) - own) % _ALL}"
    text += tcp["rest"]
    if tcp["ack"] is not None:
        text += f" ack {(int(tcp['ack']) - other) % _ALL}"
    return text + what[tcp.end() :]


def _why(record: list[list[str]], seq: int, *, again: bool) -> str:
    """What the next entry of the record says of the packet that begins at `seq`."""
    if not record:
        return ""
    words = record[0]
    begin, end, cause, state = int(words[3]), int(words[4]), words[5], words[6]
    if not (seq - begin) % _ALL < max(1, (end - begin) % _ALL):
        return ""
    if not again and cause != "probe-new":
        return ""
    record.pop(0)
    return f"  ({CAUSES.get(cause, cause)}; {state})"
