"""What runs beside a connection's packets: bytes in flight, the window, round trips, the RTO."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rexmit.ladder.steps import Step

Series = Iterable[tuple[float, float]]
"""Times and values."""

_FACTOR: Final = 4
_ALPHA: Final = 1 / 8
_BETA: Final = 1 / 4
"""RFC 6298 §2.3."""


def series(
    steps: Sequence[Step], at: Sequence[float], *, data_from_server: bool, scale: int | None
) -> Mapping[str, Series]:
    """Of the data's sender, in order of the times `at` (seconds):

    - `flight`: bytes sent and not acknowledged;
    - `window`: what its peer was ready to take, bytes; as in the header where `scale` is None;
    - `rtt`: round trips of what was sent once (Karn's algorithm, RFC 6298 §3), seconds;
    - `rto`: the timeout that RFC 6298 makes of these, without a least value, seconds.
    """
    sender = _Sender()
    # An acknowledgement of what was never sent is none (RFC 9293 §3.10.7.4).
    most = max(
        (step.seq + step.used for step in steps if step.from_server == data_from_server), default=0
    )
    flight: list[tuple[float, float]] = []
    window: list[tuple[float, float]] = []
    for step, now in zip(steps, at, strict=True):
        mine = step.from_server == data_from_server
        if mine:
            if not sender.send(step, now):
                continue
        elif step.ack is not None and not step.lost and not step.dropped:
            if most and step.ack > most:
                continue
            if "RST" not in step.flags:
                # The window of a SYN is never scaled (RFC 7323 §2.2).
                shift = 0 if "SYN" in step.flags else scale or 0
                window.append((now, step.window << shift))
            sender.acknowledge(step.ack, now)
        else:
            continue
        flight.append((now, sender.in_flight))
    return {
        "flight": flight,
        "window": window,
        "rtt": sender.samples,
        "rto": sender.timeouts,
    }


@dataclass
class _Sender:
    """What follows from what it sent and what came back."""

    sent_to: int = 0
    acknowledged: int = 0
    samples: list[tuple[float, float]] = field(default_factory=list)
    timeouts: list[tuple[float, float]] = field(default_factory=list)
    _out: deque[tuple[int, float]] = field(default_factory=deque)
    """The ends of what was sent once, and when."""
    _again: deque[tuple[int, int]] = field(default_factory=deque)
    """Of retransmissions with what had been sent above them: the place where each began, and the
    end of the newest."""
    _srtt: float = 0.0
    _rttvar: float = 0.0

    @property
    def in_flight(self) -> int:
        return max(self.sent_to - self.acknowledged, 0)

    def send(self, step: Step, now: float) -> bool:
        """Whether it carried sequence numbers."""
        length = step.used
        if not length:
            return False
        end = step.seq + length
        if step.again or step.mechanism:
            # Karn: what was sent twice is no sample, and what waits behind it is none either.
            while self._again and self._again[-1][0] >= step.seq:
                self._again.pop()
            self._again.append((step.seq, self.sent_to))
        else:
            self._out.append((end, now))
        self.sent_to = max(self.sent_to, end)
        return True

    def acknowledge(self, ack: int, now: float) -> None:
        """Take a sample of the newest segment that it covers, if none of them was sent again."""
        if ack <= self.acknowledged:
            return
        self.acknowledged = ack
        newest, clean = None, True
        while self._out and self._out[0][0] <= ack:
            newest = self._out.popleft()
            clean = clean and not self._is_behind_a_retransmission(newest[0])
        if newest is not None and clean:
            self._sample(now - newest[1], now)

    def _is_behind_a_retransmission(self, end: int) -> bool:
        """Asked of ends in order."""
        while self._again and self._again[0][1] < end:
            self._again.popleft()
        return bool(self._again) and self._again[0][0] < end

    def _sample(self, rtt: float, now: float) -> None:
        if not self.samples:
            self._srtt, self._rttvar = rtt, rtt / 2
        else:
            self._rttvar += _BETA * (abs(self._srtt - rtt) - self._rttvar)
            self._srtt += _ALPHA * (rtt - self._srtt)
        self.samples.append((now, rtt))
        self.timeouts.append((now, self._srtt + _FACTOR * self._rttvar))
