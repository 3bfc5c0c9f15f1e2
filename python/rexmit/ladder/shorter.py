"""The shortest script that still shows a connection's recovery, looked for by trying.

What is tried leaves something out: data before and behind what was lost, the request, the FIN,
writes of the program, and acknowledgements, whose packets then leave on the next one. Whoever runs
it says whether a kernel does what the script then says, and sends again for the same causes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rexmit.ladder.packet_script import Conditions, packet_script, packets_of_script
from rexmit.ladder.picture import Picture
from rexmit.ladder.steps import Step

_TOGETHER_NS: Final = 1_000_000
"""What leaves so soon after a packet came is due to it."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a kernel did with a script."""

    good: bool
    causes: tuple[str, ...] = ()
    """Of what it sent again, in order."""
    late: bool = False
    """It was not good for a packet's time."""
    at_ns: tuple[int, ...] = ()
    """When each packet of the script came by; empty where that is not known."""


Run = Callable[[str, bool], Ran]
"""Runs a script; with True whatever its packets' times are."""


def lines_of(text: str) -> int:
    """How many lines of a script are no comments."""
    return sum(not line.startswith("//") for line in text.splitlines())


class Search:
    """Of one connection. `run` runs scripts until `is_over`."""

    def __init__(
        self, picture: Picture, conditions: Conditions, run: Run, is_over: Callable[[], bool]
    ) -> None:
        self._picture, self._conditions = picture, conditions
        self._run, self._is_over = run, is_over
        self._steps: Sequence[Step] = packets_of_script(picture)[0]
        self.text = packet_script(picture, conditions)
        """The shortest script so far."""
        self.causes: tuple[str, ...] = ()
        """Of what is sent again in it."""

    def whole(self) -> bool:
        """Whether the whole script passes; without that there is nothing to look for."""
        ran = self._run(self.text, False)
        self.causes = ran.causes
        return ran.good

    def shorten(self) -> None:
        """Leave out what can be, until nothing more can be or time is over."""
        before = ""
        while self.text != before and not self._is_over():
            before = self.text
            for steps in self._cuts():
                self._try(steps)
            self._leave_out(self._answers, self._without_answers)
            self._leave_out(self._pushes, self._without_pushes)

    def telling(self, *paragraphs: str) -> str:
        """The shortest script, with these paragraphs at the end of its head."""
        self._conditions = replace(self._conditions, about=(*self._conditions.about, *paragraphs))
        return self._script(self._steps)

    # What is tried.

    def _try(self, steps: Sequence[Step] | None) -> bool:
        """Take these packets if their script is shorter and the kernel does what it says."""
        if steps is None or self._is_over():
            return False
        steps = self._echoing(steps)
        text = self._script(steps)
        if _size(text) >= _size(self.text):
            return False
        ran = self._run(text, False)
        if not ran.good and ran.late:
            # A timer goes by round trips that are no longer there.
            ran = self._run(text, True)
            count = self._shown(steps)
            if ran.good and ran.causes == self.causes and len(ran.at_ns) == count:
                start = self._picture.at_ns(steps[0]) - ran.at_ns[0]
                pairs = zip(steps, ran.at_ns, strict=False)
                timed = [self._at(step, start + at) for step, at in pairs]
                behind = start + ran.at_ns[-1] - self._picture.at_ns(steps[count - 1])
                later = (self._at(one, self._picture.at_ns(one) + behind) for one in steps[count:])
                steps = [*timed, *later]
                text = self._script(steps)
                ran = self._run(text, False)
        if not ran.good or ran.causes != self.causes:
            return False
        self._steps, self.text = steps, text
        return True

    def _script(self, steps: Sequence[Step]) -> str:
        return packet_script(self._picture_of(steps), self._conditions)

    def _shown(self, steps: Sequence[Step]) -> int:
        return packets_of_script(self._picture_of(steps))[1]

    def _picture_of(self, steps: Sequence[Step]) -> Picture:
        return replace(self._picture, steps=tuple(steps))

    def _leave_out(
        self,
        which: Callable[[], list[int]],
        without: Callable[[frozenset[int]], list[Step]],
    ) -> None:
        """Delta debugging (Zeller, Hildebrandt 2002): halves, quarters, … one."""
        size = len(which())
        while size:
            size = (size + 1) // 2
            start = 0
            while start < len(places := which()) and not self._is_over():
                if not self._try(without(frozenset(places[start : start + size]))):
                    start += size
            size = 0 if size == 1 else size

    def _answers(self) -> list[int]:
        """Packets of the peer that may be missing: no SYN, data, D-SACK, the answer to a SYN-ACK,
        and not the end.
        """
        shown = self._steps[: self._shown(self._steps)]
        theirs = [at for at, one in enumerate(shown) if not self._ours(one)][:-1]
        first = [at for at in theirs if "SYN" not in self._steps[at].flags][:1]
        return [
            at
            for at in theirs
            if at not in first and not self._steps[at].used and not self._steps[at].duplicate_sack
        ]

    def _pushes(self) -> list[int]:
        """New data that end a write, but the last."""
        new = [at for at, one in enumerate(self._steps) if self._is_new(one)]
        return [at for at in new[:-1] if "PSH" in self._steps[at].flags]

    def _cuts(self) -> Iterator[list[Step] | None]:
        """Without the FIN, data behind and before what is sent again, most of it first, and the
        request."""
        yield self._without_fin()
        if sent := self._sent_again():
            end = max(map(_end, sent))
            ends = [_end(one) for one in self._steps if self._is_new(one) and _end(one) >= end]
            yield from map(self._until, _some(ends[:-1]))
        if sent := self._sent_again():
            until = min(one.seq for one in sent)
            starts = [one.seq for one in self._steps if self._is_new(one) and 1 < one.seq <= until]
            yield from map(self._from, _some(starts[::-1]))
        yield self._without_request()

    def _sent_again(self) -> list[Step]:
        return [one for one in self._steps if self._ours(one) and one.again and one.used]

    def _without_fin(self) -> list[Step] | None:
        """As if the sender's program left its socket open."""
        fins = [one for one in self._steps if self._ours(one) and "FIN" in one.flags]
        if not fins or any(one.again and not one.payload_bytes for one in fins):
            return None
        end = max(_end(one) for one in fins)
        kept = []
        for one in self._steps:
            if not self._ours(one):
                one = self._acks(one, end)
            elif one in fins:
                one = replace(one, flags=_without("FIN", one.flags))
            if one.payload_bytes or not (self._ours(one) and one.seq == end):
                kept.append(one)
        return kept

    def _from(self, start: int) -> list[Step] | None:
        """Without the data before that byte, where what is left fits into the first flight."""
        steps = self._steps
        first = next(at for at, one in enumerate(steps) if self._is_new(one))
        behind = [at for at in range(first, len(steps)) if not self._ours(steps[at])]
        flight = behind[0] - first if behind else len(steps) - first
        if not 1 < start <= max(one.seq for one in steps if self._is_new(one)):
            return None
        new = [one for one in steps if self._is_new(one) and one.seq >= start]
        if len(new) > flight:
            return None
        begin = self._picture.at_ns(steps[first])
        kept = [*steps[:first], *(self._at(self._less(one, start), begin) for one in new)]
        shift: int | None = None
        for one in steps[first:]:
            if self._is_new(one) or not self._concerns(one, start):
                continue
            at = self._picture.at_ns(one)
            if shift is None:
                # One round trip after what it acknowledges, or so long after all as before.
                sent = (step for step in new if not self._ours(one) and _end(step) >= _told(one))
                shift = begin - self._picture.at_ns(next(sent, new[-1]))
            kept.append(self._at(self._less(one, start), max(begin, at + shift)))
        return kept

    def _until(self, end: int) -> list[Step]:
        """Without the data from that byte on."""
        steps = self._steps
        last = next(one for one in reversed(steps) if self._is_new(one))
        total = _end(last)
        fin = "FIN" in last.flags
        kept = []
        for one in steps:
            if self._is_new(one) and one.seq >= end:
                continue
            if self._ours(one):
                if one.payload_bytes and _end(one) == end:
                    one = replace(one, flags=last.flags)
                elif one.seq == total:
                    one = replace(one, seq=end)
            else:
                one = self._acks(one, end + (fin and total < _told(one)))
            kept.append(one)
        return kept

    def _without_request(self) -> list[Step] | None:
        """Without what the peer sent before it got data."""
        steps = self._steps
        first = next(at for at, one in enumerate(steps) if self._is_new(one))
        asked = [one for one in steps if not self._ours(one) and one.payload_bytes]
        if not asked or any(
            self._picture.at_ns(one) > self._picture.at_ns(steps[first]) for one in asked
        ):
            return None
        length = sum(one.payload_bytes for one in asked)
        kept = []
        for at, one in enumerate(steps):
            if one in asked or (at < first and self._ours(one) and not one.used):
                continue
            if self._ours(one) and (one.ack or 0) > 1:
                one = replace(one, ack=(one.ack or 0) - length)
            elif not self._ours(one) and one.seq > 1:
                one = replace(one, seq=one.seq - length)
            kept.append(one)
        return kept

    def _without_answers(self, places: frozenset[int]) -> list[Step]:
        """What a packet let out leaves on the next one."""
        kept: list[Step] = []
        held: list[Step] = []
        missing: int | None = None
        for at, one in enumerate(self._steps):
            now = self._picture.at_ns(one)
            if at in places:
                missing = now
            elif self._ours(one) and missing is not None and now - missing <= _TOGETHER_NS:
                held.append(one)
            else:
                kept.append(one)
                if not self._ours(one):
                    kept += (self._at(each, now) for each in held)
                    held, missing = [], None
        return kept + held

    def _without_pushes(self, places: frozenset[int]) -> list[Step]:
        """Writes that are one with the next."""
        return [
            replace(one, flags=_without("PSH", one.flags)) if at in places else one
            for at, one in enumerate(self._steps)
        ]

    # Packets as they then are.

    def _acks(self, step: Step, most: int) -> Step:
        """The same of the peer, which did not get more than the bytes before `most`."""
        if "SYN" in step.flags or step.ack is None:
            return step
        sack = tuple((left, min(right, most)) for left, right in step.sack if left < most)
        return replace(step, ack=min(step.ack, most), sack=sack)

    def _ours(self, step: Step) -> bool:
        return self._picture.is_data(step)

    def _is_new(self, step: Step) -> bool:
        return self._ours(step) and step.payload_bytes > 0 and not step.again

    def _concerns(self, step: Step, start: int) -> bool:
        """Whether a packet is about data from that byte on."""
        return self._ours(step) or (step.ack or 0) > start or bool(step.sack)

    def _less(self, step: Step, start: int) -> Step:
        """The same with the bytes before `start` left out."""
        less = start - 1
        if self._ours(step):
            return replace(step, seq=step.seq - less)
        sack = tuple((left - less, right - less) for left, right in step.sack)
        return replace(step, ack=(step.ack or 0) - less, sack=sack)

    def _at(self, step: Step, at_ns: int) -> Step:
        if self._ours(step):
            return replace(step, sent_ns=at_ns)
        return replace(step, arrived_ns=at_ns)

    def _echoing(self, steps: Sequence[Step]) -> list[Step]:
        """With timestamps that the script has: one for all that leaves together, which is a name in
        a script, and of those in the peer's echoes that it has before."""
        kept: list[Step] = []
        values: list[int] = []
        theirs = 0
        for at, one in enumerate(steps):
            if one.timestamps is not None:
                value, echo = one.timestamps
                if self._ours(one):
                    value, echo = self._value(steps, at), theirs
                    values.append(value)
                else:
                    theirs = value
                    if values and echo not in values:
                        echo = min((v for v in values if v > echo), default=max(values))
                one = replace(one, timestamps=(value, echo))
            kept.append(one)
        return kept

    def _value(self, steps: Sequence[Step], at: int) -> int:
        began = self._picture.at_ns(steps[at])
        value = 0
        for one in steps[at:]:
            if not self._ours(one) or self._picture.at_ns(one) - began > _TOGETHER_NS:
                break
            value = one.timestamps[0] if one.timestamps else value
        return value


def _without(flag: str, flags: str) -> str:
    return ", ".join(name for name in flags.split(", ") if name != flag)


def _told(step: Step) -> int:
    """The end of what an acknowledgement says came."""
    return max([step.ack or 0, *(right for _, right in step.sack)])


def _end(step: Step) -> int:
    return step.seq + step.payload_bytes


def _some(places: Sequence[int]) -> Iterator[int]:
    """The first, and others at twice the distance each."""
    at = 0
    while at < len(places):
        yield places[at]
        at = 2 * at + 1


def _size(text: str) -> tuple[int, int]:
    return lines_of(text), len(text)
