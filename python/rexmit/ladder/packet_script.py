"""A connection's recovery as a script for packetdrill: the sender of its data is the stack under
test, and the script is its peer.

What came to the sender is injected, with its options; what it sent is expected, each at the time
since the event before. The script ends with the acknowledgement that ends the recovery.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Final

from rexmit.escaping import shown
from rexmit.ladder.picture import Picture
from rexmit.ladder.said import RECORDED
from rexmit.ladder.steps import Step

_FLAGS: Final = {"FIN": "F", "SYN": "S", "RST": "R", "PSH": "P", "ECE": "E", "CWR": "W", "AE": "A"}

_NAME: Final = re.compile(r"net\.ipv[46](\.[a-z0-9_-]+)+")
"""A setting that each network namespace has for itself, that of a script too."""

_VALUE: Final = re.compile(r"[\w.,:+-]+([ \t][\w.,:+-]+)*", re.ASCII)
"""What means nothing else to a shell."""

_TOGETHER_NS: Final = 1_000_000
"""What a sender sends in a row within this time is one line: packetdrill puts packets together
until they have the bytes of the line, and its tolerance is 4 ms."""

_RECEIVE: Final = "net.ipv4.tcp_rmem"

_MSS: Final = 1460
"""That of packetdrill's interface, in either family."""

_MOST_MSS: Final = 32_767
"""Of TCP_MAXSEG (`MAX_TCP_WINDOW`)."""

_STAMP: Final = 12
"""Bytes of a segment that its timestamps take (RFC 7323, appendix A)."""

_WIDTH: Final = 96


@dataclass(frozen=True)
class Conditions:
    """Under which a connection was made, as far as that is known."""

    about: Sequence[str] = ()
    """What the reader of the script is told, a paragraph each."""
    sysctls: Mapping[str, str] = field(default_factory=dict)
    """Settings of the sender's host by name."""
    congestion_control: str | None = None
    tick_ns: int | None = None
    """Of the sender's timer; None where that is not known. Times of a run are multiples of it where
    the timer made the sender act."""


def packet_script(picture: Picture, conditions: Conditions = Conditions()) -> str:
    """The script's text. Raises ValueError where the sender sent no data, or the SYN was not
    captured.
    """
    return "".join(f"{line}\n" for line in _Script(picture, conditions).lines())


def packets_of_script(picture: Picture) -> tuple[list[Step], int]:
    """The packets of a connection, and how many have lines in its script: up to the one that ends
    the recovery. Raises ValueError as `packet_script`.
    """
    return _Script(picture, Conditions()).packets()


class _Script:
    """The events of one script, in order."""

    def __init__(self, picture: Picture, conditions: Conditions) -> None:
        self._picture, self._conditions = picture, conditions
        self._is_beside = any(
            self._ours(step) and step.sent_ns is not None for step in picture.steps
        )
        self._steps = [
            step
            for step in picture.in_order()
            if step.kind != RECORDED and step.flags != "none" and not self._is_copy(step)
        ]
        self._data = [step for step in self._steps if self._is_new(step)]
        if not self._data:
            raise ValueError("its sender sent no data")
        if "SYN" not in self._steps[0].flags:
            raise ValueError("its SYN is not there: what its ends agreed on is not known")
        self._syns = [step for step in self._steps if "SYN" in step.flags]
        if any(step.payload_bytes for step in self._syns):
            raise ValueError(
                "its SYN has data (Fast Open), and a script's kernel knows no cookie of the peer's"
            )
        self._mss = min((step.mss for step in self._syns if step.mss), default=536)
        self._offer = next((step.mss for step in self._syns if self._ours(step)), None) or _MSS
        if self._offer > _MOST_MSS:
            raise ValueError(f"its SYN offers an MSS of {self._offer}: TCP_MAXSEG ends at 32767")
        self._stamps = self._first_stamps()
        self._passive = not self._ours(self._steps[0])
        self._ends = self._writes()
        self._reached, self._acked_before = self._acked_by_data()
        self._gone = self._lost_on_the_way()
        fins = (one for one in self._steps if not self._ours(one) and "FIN" in one.flags)
        self._no_delay = self._has_no_delay()
        self._fin_on_data = any("FIN" in one.flags for one in self._data)
        self._fin = next((one.seq + one.payload_bytes for one in fins), None)
        self._written = 0
        self._read = 0
        self._open = False
        self._closed = False
        self._acked = self._sent_to = 0
        self._now = 0

    def lines(self) -> Iterator[str]:
        """Comments, what is set, the socket, the packets."""
        last = self._last()
        yield from self._head()
        yield from self._settings()
        yield from self._socket()
        at = 0
        while at <= last:
            step = self._steps[at]
            yield from self._before(step)
            if not self._ours(step):
                if self._sent_to > max(self._acked, 1) and not step.payload_bytes:
                    # What the acknowledgement lets out is there when it comes; what answers a
                    # request is not.
                    yield from self._program(step, at + 1, "+0")
                yield f"{self._wait(step)} < {self._packet(step)}"
                self._acked = max(self._acked, step.ack or 0)
                yield from self._accept(step)
                at += 1
                continue
            row = self._row(at, last)
            wait = self._wait(step)
            for line in self._program(step, at, wait):
                yield line
                wait = "+0"
            yield from _remarks(row)
            joined = replace(
                row[-1], seq=step.seq, payload_bytes=sum(one.payload_bytes for one in row)
            )
            yield f"{wait} > {self._packet(joined)}"
            self._sent_to = max(self._sent_to, joined.seq + joined.payload_bytes)
            at += len(row)

    def packets(self) -> tuple[list[Step], int]:
        """All, and how many have lines."""
        return self._steps, self._last() + 1

    def _ours(self, step: Step) -> bool:
        return self._picture.is_data(step)

    def _is_copy(self, step: Step) -> bool:
        """Whether the network made it: the sender did not send it, and others were seen there."""
        return self._ours(step) and step.sent_ns is None and self._is_beside

    def _is_new(self, step: Step) -> bool:
        return self._ours(step) and step.payload_bytes > 0 and not step.again

    def _last(self) -> int:
        """The number of the last step: the first ACK of what was sent again last (one with a D-SACK
        where that was spurious), or without any the last ACK of all.
        """
        again = [
            at
            for at, step in enumerate(self._steps)
            if self._ours(step) and step.used and (step.again or step.mechanism)
        ]
        new = (at for at, step in enumerate(self._steps) if self._is_new(step))
        sent = again[-1] if again else max(new)
        end = self._steps[sent].seq + self._steps[sent].used
        acks = [
            at
            for at, step in enumerate(self._steps)
            if at > sent and not self._ours(step) and (step.ack or 0) >= end
        ]
        if not acks:
            return sent if again else len(self._steps) - 1
        reports = [at for at in acks if self._steps[at].duplicate_sack]
        spurious = self._steps[sent].need == "spurious"
        return (reports if spurious and reports else acks)[0] if again else acks[-1]

    def _row(self, at: int, last: int) -> list[Step]:
        """What the sender sent together, from that step on."""
        row = [self._steps[at]]
        while at + len(row) <= last and self._follows(row, self._steps[at + len(row)]):
            row.append(self._steps[at + len(row)])
        return row

    def _follows(self, row: Sequence[Step], step: Step) -> bool:
        first, before = row[0], row[-1]
        alike = all(
            getattr(before, name) == getattr(step, name)
            for name in ("from_server", "ack", "sack", "mechanism", "dropped", "lost", "again")
        )
        even = len(row) < 2 or before.payload_bytes == first.payload_bytes
        return (
            alike
            and even
            and 0 < step.payload_bytes <= before.payload_bytes
            and step.seq == before.seq + before.used
            and {"ECE", "CWR"}.isdisjoint(before.flags.split(", "))
            and "PSH" not in before.flags
            and _value(before) == _value(step)
            and self._picture.at_ns(step) - self._picture.at_ns(first) <= _TOGETHER_NS
        )

    def _wait(self, step: Step) -> str:
        at = max(self._picture.at_ns(step), self._now)
        waited, self._now = at - self._now, at
        return _seconds(waited)

    # What the sender's program does.

    def _writes(self) -> list[int]:
        """Where the sender's writes end, as far as PSH tells (`tcp_push`)."""
        end = max(step.seq + step.payload_bytes for step in self._data)
        pushed = {s.seq + s.payload_bytes for s in self._data if "PSH" in s.flags}
        return sorted(pushed | {end})

    def _socket(self) -> Iterator[str]:
        yield "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3"
        if self._passive:
            yield "+0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0"
        if (name := self._conditions.congestion_control) and _VALUE.fullmatch(name):
            yield f'+0 setsockopt(3, SOL_TCP, TCP_CONGESTION, "{name}", {len(name)}) = 0'
        if self._offer != _MSS:
            # In either family, whatever the MTU would give.
            yield f"+0 setsockopt(3, SOL_TCP, TCP_MAXSEG, [{self._offer}], 4) = 0"
        if self._no_delay:
            yield "+0 setsockopt(3, SOL_TCP, TCP_NODELAY, [1], 4) = 0"
        if self._passive:
            yield "+0 bind(3, ..., ...) = 0"
            yield "+0 listen(3, 1) = 0"
        else:
            yield "+0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0"
        tick = self._conditions.tick_ns
        start = self._picture.start_ns + self._picture.at_ns(self._steps[0])
        wait = _seconds(start % tick) if tick else "+0"
        self._now = self._picture.at_ns(self._steps[0])
        if not self._passive:
            yield f"{wait} connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)"
        elif wait != "+0":
            yield f"{wait} `true`"

    def _accept(self, step: Step) -> Iterator[str]:
        if not self._open and step.ack == 1 and self._passive != ("SYN" in step.flags):
            self._open = True
            if self._passive:
                yield "+0 accept(3, ..., ...) = 4"

    def _program(self, since: Step, at: int, wait: str) -> Iterator[str]:
        """What it writes for the packets that are sent from step `at` on, soon after `since`: the
        writes that they are of, and the one behind, but where the sender was idle before that.
        """
        if not self._open:
            return
        until = self._picture.at_ns(since) + _TOGETHER_NS
        burst = list(
            takewhile(
                lambda step: self._ours(step) and self._picture.at_ns(step) <= until,
                (self._steps[place] for place in range(at, len(self._steps))),
            )
        )
        reach = max((s.seq + s.payload_bytes for s in burst if self._is_new(s)), default=0)
        descriptor = 4 if self._passive else 3
        calls = []
        while self._written < len(self._ends):
            start = self._ends[self._written - 1] if self._written else 1
            alone = self._no_delay or self._idle_before(start)
            if start > reach or (start == reach and alone):
                break
            length = self._ends[self._written] - start
            calls.append(f"write({descriptor}, ..., {length}) = {length}")
            self._written += 1
        if not self._closed and self._closes(burst):
            self._closed = True
            calls.append(f"close({descriptor}) = 0")
        came = self._came(burst[0]) if calls and burst else 0
        if came > self._read:
            # What is not read when the socket is closed makes a reset (RFC 2525, section 2.17).
            calls.insert(0, f"read({descriptor}, ..., {came - self._read}) = {came - self._read}")
            self._read = came
        for number, call in enumerate(calls):
            yield f"{'+0' if number else wait} {call}"

    def _closes(self, burst: Sequence[Step]) -> bool:
        """Whether it closes the socket then: with its last write, where data have the FIN."""
        fin = any("FIN" in one.flags for one in burst)
        return fin or (self._fin_on_data and self._written == len(self._ends))

    def _came(self, step: Step) -> int:
        """Bytes of the peer that the sender has when it sends that packet."""
        ack = step.ack or 1
        return ack - 1 - (self._fin is not None and ack > self._fin)

    def _idle_before(self, seq: int) -> bool:
        """Whether all before that byte was acknowledged when it was sent."""
        place = bisect_left(self._reached, seq)
        return place < len(self._reached) and self._acked_before[place] >= seq

    def _has_no_delay(self) -> bool:
        """Whether a small segment left while another was not acknowledged (`tcp_minshall_check`):
        TCP_NODELAY lets it."""
        stamp = _STAMP if any(one.timestamps for one in self._data) else 0
        full = max(self._mss - stamp, 1)
        acked = small_end = 0
        for step in self._steps:
            if not self._ours(step):
                acked = max(acked, step.ack or 0)
            elif self._is_new(step) and step.payload_bytes % full and "FIN" not in step.flags:
                if small_end > acked:
                    return True
                small_end = step.seq + step.payload_bytes
        return False

    def _acked_by_data(self) -> tuple[list[int], list[int]]:
        """The furthest byte that each packet of new data or one before it begins with, and what was
        acknowledged when it was sent."""
        reached, before = [0], [0]
        acked = 0
        for step in self._steps:
            if not self._ours(step):
                acked = max(acked, step.ack or 0)
            elif self._is_new(step):
                reached.append(max(reached[-1], step.seq))
                before.append(acked)
        return reached, before

    # Comments, and what is set.

    def _head(self) -> Iterator[str]:
        for paragraph in self._conditions.about:
            yield from _comment(shown(paragraph))

    def _settings(self) -> Iterator[str]:
        own = {
            name: value
            for name, value in self._conditions.sysctls.items()
            if _NAME.fullmatch(name) and _VALUE.fullmatch(value)
        }
        if others := sorted(set(self._conditions.sysctls) - set(own)):
            yield from _comment(
                shown(f"Not set, only net.ipv4 and net.ipv6 are: {', '.join(others)}.")
            )
        # All that is written has room: the program never waits.
        room = 4 * self._ends[-1] + 65_536
        own["net.ipv4.tcp_wmem"] = f"4096 {room} {room}"
        scale = next((step.window_scale for step in self._syns if self._ours(step)), None)
        if scale is not None and _RECEIVE not in own:
            # The shift of its windows (`tcp_select_initial_window`).
            own[_RECEIVE] = f"4096 131072 {1 << (scale + 15)}"
        commands = [
            f"echo {value} > /proc/sys/{name.replace('.', '/')}" for name, value in own.items()
        ]
        if all(step.payload_bytes <= self._mss for step in self._steps if self._ours(step)):
            commands.append("ip link set dev tun0 gso_max_segs 1")
        if self._offer > _MSS:
            commands.append(f"ip link set dev tun0 mtu {self._offer + 60}")
        if commands:
            yield "`" + "\n ".join(commands) + "`"

    def _before(self, step: Step) -> Iterator[str]:
        """What did not come to the sender before that step is only told."""
        while self._gone and self._picture.at_ns(self._gone[0]) <= self._picture.at_ns(step):
            one = self._gone.popleft()
            if self._now < self._picture.at_ns(one):
                what = f"the ACK of {one.ack}" if one.ack and not one.used else "a packet"
                yield f"// Lost on its way to the sender: {what}."

    def _lost_on_the_way(self) -> deque[Step]:
        """What the peer sent and the sender did not get, by time."""
        gone = [
            one for one in self._picture.steps if (one.dropped or one.lost) and not self._ours(one)
        ]
        return deque(sorted(gone, key=self._picture.at_ns))

    # Packets.

    def _packet(self, step: Step) -> str:
        flags = "".join(_FLAGS.get(name, "") for name in step.flags.split(", "))
        flags += "." if step.ack is not None else ""
        # Relative to the initial sequence number, as packetdrill has them.
        text = f"{flags} {step.seq}:{step.seq + step.payload_bytes}({step.payload_bytes})"
        if step.ack is not None:
            text += f" ack {step.ack}"
        if not self._ours(step):
            text += f" win {step.window}"
        options = self._options(step)
        return f"{text} <{options}>" if options else text

    def _options(self, step: Step) -> str:
        options = self._offers(step) if "SYN" in step.flags else []
        if step.timestamps is not None:
            # In a SYN that permits SACK the two stand together (`tcp_options_write`).
            options += [] if step.sack_permitted else ["nop", "nop"]
            options.append(self._stamp(step))
        elif step.sack_permitted:
            options[-1:] = ["nop", "nop", "sackOK"]
        if step.window_scale is not None:
            options += ["nop", f"wscale {step.window_scale}"]
        if step.sack:
            blocks = " ".join(f"{left}:{right}" for left, right in step.sack)
            options += ["nop", "nop", f"sack {blocks}"]
        return ",".join(options)

    def _offers(self, step: Step) -> list[str]:
        """What a SYN begins with. No segment is longer than either end takes."""
        mss = step.mss if self._ours(step) else self._mss
        return [] if mss is None else [f"mss {mss}"] + ["sackOK"] * step.sack_permitted

    def _stamp(self, step: Step) -> str:
        sender, peer = self._stamps
        value, echo = step.timestamps or (0, 0)
        first, answered = (sender, peer) if self._ours(step) else (peer, sender)
        # Without ACK there is nothing to echo (RFC 7323, section 3.2).
        echoed = (echo - answered) % (1 << 32) + 1000 if step.ack is not None else 0
        return f"TS val {(value - first) % (1 << 32) + 1000} ecr {echoed}"

    def _first_stamps(self) -> tuple[int, int]:
        """The first value of the sender's timestamps, and of its peer's."""
        first = {True: 0, False: 0}
        for step in reversed(self._steps):
            if step.timestamps is not None:
                first[self._ours(step)] = step.timestamps[0]
        return first[True], first[False]


def _remarks(row: Sequence[Step]) -> Iterator[str]:
    """What happened to packets that are expected."""
    first = row[0]
    if first.mechanism:
        need = f", {first.need}" if first.need in ("needed", "spurious") else ""
        yield f"// Retransmission: {shown(first.mechanism)}{need}."
    elif first.again and first.used:
        yield "// Sent again."
    if first.dropped or first.lost:
        count = f"these {len(row)} packets" if len(row) > 1 else "this packet"
        yield f"// Lost on the way: {count}."


def _value(step: Step) -> int | None:
    return None if step.timestamps is None else step.timestamps[0]


def _seconds(ns: int) -> str:
    text = f"{ns / 1e9:.6f}".rstrip("0").rstrip(".")
    return f"+{text}"


def _comment(text: str) -> Iterator[str]:
    line = "//"
    for word in text.split():
        if len(line) + len(word) + 1 > _WIDTH:
            yield line
            line = "//  "
        line += f" {word}"
    yield line
