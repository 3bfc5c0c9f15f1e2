"""Sentences of a trace held against its packets, as tshark reads them, by what their words mean.

Each sentence is held against its own condition, too. A rule is a form of words and what must be so
where it is said; nothing here is shared with what makes the sentences but the rows they name.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.console import Console
from tests.real import oracle, packets
from tests.real.packets import ACK, FIN, RST, SYN, Packet

from rexmit.ladder.traced import open_several
from rexmit.library.trace import trace
from rexmit.tracing.advice import advice
from rexmit.tracing.folder import Trace
from rexmit.tracing.sections.settings import helping
from rexmit.tracing.sentences import (
    network,
    requests,
    retransmissions,
    settings,
    time,
    traffic,
    unacked,
    wrong,
)
from rexmit.tracing.sentences.value import Sentence
from rexmit.tracing.summary import summary
from rexmit.tracing.summed import Summary
from rexmit.tracing.words import span

SPACE = 1 << 32

Row = dict[str, Any]


@dataclass(frozen=True)
class Refuted:
    """A sentence that is not so, and why not."""

    sentence: Sentence
    why: str

    def __str__(self) -> str:
        label = f"{self.sentence.label.strip()}: " if self.sentence.label else ""
        return f"{label}{self.sentence.text} [{self.why}]"


@dataclass(frozen=True)
class Held:
    """A sentence with its rows, and all that the capture shows."""

    sentence: Sentence
    rows: list[Row]
    trace: Trace
    made: Summary
    flows: dict[str, list[Packet]] = field(repr=False)

    def rows_of(self, table: str) -> list[Row]:
        return self.trace.scan(table).collect().to_dicts()

    @property
    def packets(self) -> Iterator[Packet]:
        return (packet for some in self.flows.values() for packet in some)

    def from_peer(self, row: Row) -> list[Packet]:
        """What came back for a retransmission's flow after it."""
        back = " > ".join(reversed(row["flow"].split(" > ")))
        return [one for one in self.flows.get(back, []) if one.time_ns > row["time_ns"]]


def every(whole: Trace, made: Summary) -> Iterator[Sentence]:
    """All that is said of a trace, on its page and of each row."""
    yield from time.said(made.owners, made.totals.connections, made.slow_s)
    if made.requests is not None:
        yield from requests.said(made.requests)
    yield from traffic.said(made)
    yield from network.warnings(made.totals, made.half_seen)
    yield from wrong.said(made)
    yield from unacked.said(made.unacked)
    yield from (one.reason for one in made.worst)
    found = advice(whole)
    if made.mechanisms and whole.settings and not helping(found, made.totals):
        yield settings.none_helps(found, len(whole.settings), made)
    if left := settings.not_applied(made):
        yield left
    rows = whole.scan("retransmissions").collect()
    yield from map(retransmissions.row, rows.iter_rows(named=True))


def refuted(whole: Trace) -> list[Refuted]:
    """The sentences that are not so."""
    made = summary(whole)
    seen = [packet for capture in whole.captures for packet in packets.read(Path(capture))]
    flows = by_flow(seen)
    found = []
    for sentence in every(whole, made):
        rows = sentence.rows_in(whole)
        if not sentence.condition(rows):
            found.append(Refuted(sentence, "its own condition"))
        found += against(Held(sentence, rows.to_dicts(), whole, made, flows))
    return found + _ladders(whole, seen)


def print_refuted(captures: Iterable[AbstractContextManager[Path]], console: Console) -> None:
    """Of each capture, what is said and is not so."""
    number = 0
    for opened in captures:
        with opened as capture:
            for one in refuted(trace(capture)):
                number += 1
                console.print(f"{capture.name}: {one}", soft_wrap=True, markup=False)
    console.print(f"sentences refuted: {number:,}")


def by_flow(seen: list[Packet]) -> defaultdict[str, list[Packet]]:
    flows: defaultdict[str, list[Packet]] = defaultdict(list)
    for packet in seen:
        flows[_flow(packet)].append(packet)
    return flows


def against(held: Held) -> Iterator[Refuted]:
    """What the rules say against a sentence."""
    said = f"{held.sentence.label.strip()}: {held.sentence.text}"
    for pattern, rule in RULES:
        if (words := re.search(pattern, said)) and (why := rule(held, *words.groups())):
            yield Refuted(held.sentence, why)


KINDS = {
    "keep-alive": {"keep-alive", "bare", "probe"},
    "window probe": {"probe", "keep-alive", "new"},
    "out of order": {"hole"},
    "recorded again": {"double", "unclear", "bare", "other", "keep-alive", "probe"},
    "came twice": {"double", "unclear", "certain"},
    "seen before": {"certain", "unclear", "double", "bare"},
}
"""What a ladder says of packets that are no retransmissions, and what they are to the oracle."""

LADDERS = 30
"""So many connections are drawn."""


def _ladders(whole: Trace, seen: list[Packet]) -> list[Refuted]:
    """What ladders say of packets, held against the oracle's account of them."""
    kinds = defaultdict(set)
    for one in oracle.account(seen):
        kinds[_flow(one.packet), one.packet.time_ns].add(one.kind)
    found = []
    connections = whole.scan("connections").collect().height
    for drawn in open_several(whole, range(min(connections, LADDERS))):
        ends = drawn.row["flow"].split(" > ")
        for step in drawn.steps:
            flow = " > ".join(reversed(ends) if step.from_server else ends)
            there = kinds[flow, drawn.start_ns + step.at_ns(from_server=step.from_server)]
            if step.kind and not there & KINDS[step.kind]:
                said = Sentence(step.kind, "connections", bool, label=f"{flow} seq {step.seq}")
                found.append(Refuted(said, f"it is {there}"))
    return found


def _flow(packet: Packet) -> str:
    source, port, sink, other = packet.flow
    return f"{_address(source)}:{port} > {_address(sink)}:{other}"


def _address(text: str) -> str:
    return f"[{text}]" if ":" in text else text


def number(word: str) -> int:
    return int(word.replace(",", ""))


# Rules: each gives why a sentence is not so, or nothing.


def never(_: Held, word: str) -> str:
    return f"{word} is no time and no number"


def timeouts(held: Held, told: str) -> str | None:
    some = [row for row in held.rows if row["mechanism"] == "rto" and not row["either"]]
    return None if len(some) == number(told) == len(held.rows) else f"{len(some)} rows are timeouts"


def longest_timer(held: Held, told: str) -> str | None:
    timers = [row["timer_s"] for row in held.rows]
    if None in timers:
        return "a timer is not known"
    for row in held.rows:
        if row["detection_s"] is not None and row["timer_s"] > 1.1 * row["detection_s"] + 0.011:
            return f"a timer of {row['timer_s']} s, {row['detection_s']} s after the copy before"
    return None if told == span(max(timers)) else f"the longest timer is {max(timers)} s"


def longest_wait(held: Held, told: str) -> str | None:
    most = max(row["waited_s"] for row in held.rows)
    return None if told == span(most) else f"the longest wait is {most} s"


def in_a_row(held: Held, told: str) -> str | None:
    best = _run(held)
    if len(best) != number(told):
        return f"{len(best)} timeouts of one byte follow each other"
    first, last = best[0], best[-1]
    between = [
        one
        for one in held.from_peer(first)
        if one.time_ns < last["time_ns"] and _covers(one, first["seq_start"])
    ]
    return "it was acknowledged in between" if between else None


def doubled(held: Held) -> str | None:
    run = _run(held)
    byte = run[0]["seq_start"]
    mine = [
        one.time_ns for one in held.flows[run[0]["flow"]] if (byte - one.seq) % SPACE < one.length
    ]
    before = [at for at in mine if at < run[0]["time_ns"]]
    times = [*before[-1:], *(row["time_ns"] for row in run)]
    gaps = [after - earlier for earlier, after in pairwise(times)]
    wrong = [b / a for a, b in pairwise(gaps) if not 1.6 <= b / a <= 2.5]
    return f"one gap is {wrong[0]:.2f} times the one before" if wrong else None


def _run(held: Held) -> list[Row]:
    """The most timeouts of one byte that follow each other, of those of the connection."""
    best: list[Row] = []
    every_row = held.trace.scan("retransmissions").sort("time_ns").collect().to_dicts()
    for flow in {row["flow"] for row in held.rows}:
        run: list[Row] = []
        for row in every_row:
            if row["flow"] != flow or row["connection"] != held.rows[0]["connection"]:
                continue
            fired = row["mechanism"] == "rto" and not row["either"]
            same = not run or row["seq_start"] == run[0]["seq_start"]
            run = [*run, row] if fired and same else [row] if fired else []
            best = max(best, run, key=len)
    return best


def _covers(packet: Packet, seq: int) -> bool:
    """It acknowledges the byte."""
    above = (packet.ack - seq) % SPACE
    return bool(packet.flags & ACK) and not packet.flags & RST and 0 < above < SPACE // 2


def silence(held: Held, told: str) -> str | None:
    first = max(_run(held), key=lambda row: row["time_ns"])
    if any(_covers(one, first["seq_start"]) for one in held.from_peer(first)):
        return "an ACK of it came"
    flight = _run(held)[0]["flight_segments"]
    wanted = {"the packet": 1, "both packets": 2}.get(told) or number(told.split()[1])
    return None if wanted == flight else f"{flight} packets were in flight"


def few_in_flight(held: Held) -> str | None:
    few = sum(0 < row["flight_segments"] < 4 for row in held.rows)
    return None if few * 2 > len(held.rows) else f"of {few} of {len(held.rows)} timeouts"


def lost_in_flight(held: Held, told: str) -> str | None:
    most = max(row["lost_in_flight"] for row in held.rows)
    if not any(row["need"] == "needed" for row in held.rows):
        return "none was needed"
    return None if number(told) == most else f"{most} is the most"


def all_spurious(held: Held, told: str) -> str | None:
    spurious = sum(row["need"] == "spurious" for row in held.rows)
    wanted = len(held.rows) if told in ("it was", "all were") else number(told.split()[0])
    return None if spurious == wanted else f"{spurious} were"


def not_known(held: Held) -> str | None:
    unknown = sum(row["need"] == "unknown" for row in held.rows)
    return None if unknown * 2 > len(held.rows) else f"it is not known of {unknown}"


def not_answered(held: Held) -> str | None:
    """Of a SYN: the capture goes on until an answer could have come, and none did."""
    connection = held.rows[0]["connection"]
    row = next(one for one in held.rows_of("connections") if one["connection"] == connection)
    back = " > ".join(reversed(row["flow"].split(" > ")))
    came = [
        one
        for one in held.flows.get(back, [])
        if row["start_s"] <= one.time_ns / 1e9 <= row["end_s"]
    ]
    return "packets came back" if came else None


def handshakes(held: Held, label: str) -> str | None:
    """None was answered, and each could have been: a second went by, or it was sent again."""
    end_ns = max(one.time_ns for one in held.packets)
    flag, answer = (SYN, 0) if label == "no answer" else (SYN | ACK, ACK)
    settled = 0
    for row in held.rows:
        ends = row["flow"].split(" > ")
        if label == "half-open":
            ends.reverse()
        asked, answered = (
            [
                one.time_ns
                for one in held.flows.get(" > ".join(ends[::step]), [])
                if row["start_s"] - 1e-6 <= one.time_ns / 1e9 <= row["end_s"] + 1e-6
                and one.flags & (SYN | ACK | RST) == wanted
            ]
            for step, wanted in ((1, flag), (-1, answer or SYN | ACK))
        )
        later = [at for at in answered if asked and at > asked[0]]
        settled += bool(asked) and not later and (len(asked) > 1 or end_ns - asked[-1] >= 10**9)
    words = re.match(r"([\d,]+) of|(the only)|(both)|all ([\d,]+)", held.sentence.text)
    assert words is not None
    told = number(words[1] or words[4] or "0") or (1 if words[2] else 2)
    return None if told <= settled else f"{settled} could have been answered, and were not"


def full_window(held: Held, receiver: str, sender: str) -> str | None:
    """At some time less of the window was left than a sender may use (RFC 9293 §3.8.6.2.1)."""
    mine, theirs = held.flows[f"{sender} > {receiver}"], held.flows[f"{receiver} > {sender}"]
    shifts = [[_shift(one.options) for one in some if one.flags & SYN] for some in (mine, theirs)]
    if not all(shifts):
        return "no SYN shows how windows are shifted"
    shift = 0 if None in (shifts[0][0], shifts[1][0]) else shifts[1][0] or 0
    largest = max((one.length for one in mine), default=0)
    # An ACK reaches the sender, and what it brings about the monitor, so much later.
    delay = _answers_after(mine, theirs)
    events = [(one.time_ns, True, one) for one in mine]
    events += [(one.time_ns + delay, False, one) for one in theirs]
    top = ack = window = most = 0
    begun = False
    for _, sent, one in sorted(events, key=lambda event: event[0]):
        if sent and one.length:
            end = (one.seq + one.length) % SPACE
            top = end if not begun or (end - top) % SPACE < SPACE // 2 else top
            begun = True
        elif not sent and one.flags & ACK and not one.flags & RST:
            ack = one.ack
            window = one.window << (0 if one.flags & SYN else shift)
            most = max(most, window)
        flight = (top - ack) % SPACE
        left = window - flight
        if begun and window and 0 < flight < SPACE // 2 and left < min(largest, most / 2):
            return None
    return "it never was"


def _answers_after(mine: list[Packet], theirs: list[Packet]) -> int:
    """How long the sender takes to answer its peer's SYN, or SYN-ACK, as the monitor sees it."""
    asked = [one.time_ns for one in theirs if one.flags & SYN]
    answers = [one.time_ns for one in mine if one.flags & ACK and one.time_ns > asked[-1]]
    return answers[0] - asked[-1] if answers else 0


def _shift(options: str) -> int | None:
    """The window scale of a SYN's options."""
    data = bytes.fromhex(options)
    at = 0
    while at < len(data) and data[at]:
        if data[at] == 1:
            at += 1
            continue
        if data[at] == 3:
            return min(data[at + 2], 14)
        at += max(data[at + 1], 2) if at + 1 < len(data) else 2
    return None


def closed_window(held: Held, receiver: str) -> str | None:
    shut = [
        one
        for flow, some in held.flows.items()
        if flow.startswith(f"{receiver} > ")
        for one in some
        if one.window == 0 and not one.flags & RST
    ]
    return None if shut else "no packet of it says so"


def throughput(held: Held) -> str | None:
    """Somebody sent ten different segments in more than a round trip."""
    for row in held.rows_of("sides"):
        different = row["wire_segments"] * row["unique_bytes"] / max(row["bytes"], 1)
        if different >= 10 and (row["data_s"] or 0) > (row["rtt_median_s"] or 0):
            return None
    return "of less than ten segments, or less than a round trip"


def one_unit(held: Held, part: str, whole: str, unit: str) -> str | None:
    """As many segments on the wire as packets bear, above the line and below."""
    rows = held.rows
    sides = held.rows_of("sides")
    merged = any(row["wire_segments"] > row["segments"] for row in sides)
    if merged != (unit == "segment"):
        return f"packets are cut on the wire: {merged}"
    if number(whole) != sum(row["wire_segments"] for row in sides):
        return "the whole has another unit"
    if not merged:
        return None if number(part) == len(rows) else f"{len(rows)} packets"
    return None if len(rows) <= number(part) <= number(whole) else "a packet is less than one"


def ended_by_reset(held: Held) -> str | None:
    resets = [one for one in held.packets if one.flags & RST]
    return None if resets else "there is no RST"


def out_of_order(held: Held, told: str) -> str | None:
    """So many packets with data came below what their sender had sent before."""
    late = 0
    for some in held.flows.values():
        top: int | None = None
        for one in some:
            if one.flags & SYN or not (one.length or one.flags & FIN):
                continue
            below = top is not None and (one.seq - top) % SPACE > SPACE // 2
            late += below
            if not below:
                top = (one.seq + one.length) % SPACE
    return None if number(told) <= late else f"{late} packets came below others"


def row_after(held: Held, told: str) -> str | None:
    rows = [row for row in held.rows if row["detection_s"] is not None]
    if not rows or any(row["detection_s"] < 0 for row in rows):
        return "no time from the copy before is known"
    ends = [row[name] for row in rows for name in ("detection_s", "detection_most_s")]
    near = [end is not None and abs(end * 1000 - float(told)) <= 0.1 for end in ends]
    return None if any(near) else f"it was {rows[0]['detection_s']} s"


def row_timer(held: Held, told: str) -> str | None:
    row = next((one for one in held.rows if one["timer_s"] is not None), None)
    if row is None:
        return "no timer is known"
    if row["detection_s"] is not None and row["timer_s"] > 1.1 * row["detection_s"] + 0.011:
        return "it cannot have been set after the copy before"
    return None if f"{row['timer_s'] * 1000:.1f}" == told else "another timer"


def none_helps(held: Held, tried: str) -> str | None:
    """None of the six that save most makes more connections shorter than longer, or as many and
    saves a tenth of the time waited; less than 10 ms, or a thousandth, is no saving. Where
    full-size packets did not pass, none is applied.
    """
    held_up = {
        (row["connection"], row["direction"])
        for row in held.rows_of("account")
        if row["owner"] == "path-mtu"
    }
    lasted = {row["connection"]: row["duration_s"] for row in held.rows_of("connections")}
    waited_s = sum(row["waited_s"] for row in held.rows_of("connections"))
    effects: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0, 0])
    for row in held.rows_of("whatif"):
        if (row["connection"], row["direction"]) in held_up:
            continue
        effect, tenth = effects[row["setting"]], lasted[row["connection"]] / 10
        effect[0] -= row["waited_change_s"]
        effect[1] += -row["change_s"] > tenth and row["waited_change_s"] < 0
        effect[2] += row["change_s"] > tenth
    most = sorted(effects.items(), key=lambda one: -one[1][0])[:6]
    for setting, (saved_s, shorter, longer) in most:
        helps = shorter > longer or (shorter == longer and saved_s >= waited_s / 10)
        if helps and saved_s >= max(0.01, waited_s / 1000):
            return f"{setting} saves {saved_s} s and makes {shorter} shorter, {longer} longer"
    return None if number(tried) == len(held.trace.settings) else f"{held.trace.settings} tried"


def pair(held: Held, first: str, second: str) -> str | None:
    known = [{row["mechanism"], row["runner_up"]} for row in held.rows if row["either"]]
    return None if {first, second} in known else "no row says either"


def stopped_answering(held: Held, told: str) -> str | None:
    """Since the peer's last packet its sender went on for so long; a RST that comes after that is
    none."""
    silent = []
    for row in held.rows:
        back = held.flows.get(" > ".join(reversed(row["flow"].split(" > "))), [])
        sent_ns = max(one.time_ns for one in held.flows[row["flow"]] if one.length)
        ended = [one for one in back if one.flags & RST]
        late = bool(ended) and ended[0].time_ns > sent_ns
        heard_ns = max(one.time_ns for one in back if not (late and one.flags & RST))
        silent.append(span((sent_ns - heard_ns) / 1e9))
    return None if told in silent else f"it was {silent}"


TIME = r"(<?[\d.,]+ (?:ms|s|min(?: \d+ s)?|h(?: \d+ min)?|days))"

RULES: tuple[tuple[str, Callable[..., str | None]], ...] = (
    (r"((?<![\w.:\]])-\d|\b(?:inf|nan|None|null)\b)", never),
    (r"^: ([\d,]+) timeouts?\b(?! or)", timeouts),
    (rf"(?:the longest timer|timeouts?, timer) {TIME}", longest_timer),
    (rf"(?:the longest wait|after a wait of) {TIME}", longest_wait),
    (r"timed out (\d+) times in a row", in_a_row),
    (r"the timer doubled each time", doubled),
    (r"(the packet|both packets|all [\d,]+ packets) in flight stayed without an ACK", silence),
    (r"too few packets were in flight", few_in_flight),
    (r"up to ([\d,]+) packets of a flight were lost", lost_in_flight),
    (r"(it was|all were|[\d,]+ were) spurious, the original", all_spurious),
    (r"needed is not known", not_known),
    (r": the SYN was never answered", not_answered),
    (r"^(no answer|half-open): (?!.*the peer stopped answering)", handshakes),
    (rf"^no answer: .*nothing came from the peer for {TIME}", stopped_answering),
    (r"^window full: .*(?:window|that) of (\S+?),? (?:was full, and|to which) (\S+) ", full_window),
    (r"^zero window: .*?(\S+) closed its window", closed_window),
    (r"^throughput: ", throughput),
    (r"^with data: ([\d,]+) of ([\d,]+) (packet|segment)", one_unit),
    (r"^reset: ", ended_by_reset),
    (r"([\d,]+) packets? out of order", out_of_order),
    (r"^: (?:elsewhere )?nothing: of the ([\d,]+) other settings tried, even", none_helps),
    (r"^: [a-z -]+,.* <?([-\d.]+) ms(?: to [\d.]+ ms)? after", row_after),
    (r"^: [a-z -]+,.* timer ([\d.]+) ms(?:,|$)", row_timer),
    (r"^: ([a-z-]+) or ([a-z-]+)(?:,|$)", pair),
)
