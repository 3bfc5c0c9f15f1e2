"""A connection as qlog, for qvis and what else reads it.

The version is 0.3 (draft-ietf-quic-qlog-main-schema-02 and draft-ietf-quic-qlog-quic-events-01),
one JSON document: the latest that qvis, the viewer of qlog's authors, reads. Later drafts have no
events for TCP either, so what TCP has in common with QUIC takes the events of QUIC:

- a packet is `transport:packet_sent` where the sender of the data sent it, else `packet_received`.
  TCP numbers bytes, QUIC packets: each has the number that it is of its direction, and what is sent
  again has another, as in QUIC;
- payload is a `stream` frame, the acknowledgement an `ack` frame of the packets that it is the
  first to acknowledge, SACK blocks included, the receiver's window `max_stream_data`;
- what is sent again by a loss detection or a timer is `recovery:packet_lost` of the copy before,
  then `packet_sent`; a probe is sent without.

What has no place there stands in `tcp` of each packet. `raw` counts payload without headers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from rexmit.ladder.picture import Picture
from rexmit.ladder.steps import Step

_TRIGGERS: Final = {
    "rto": "pto_expired",
    "rto-recovery": "pto_expired",
    "rack": "time_threshold",
    "fast-retransmit": "reordering_threshold",
    "sack-recovery": "reordering_threshold",
    "fack": "reordering_threshold",
    "early-retransmit": "reordering_threshold",
}
"""What QUIC calls that by which a loss was found; of others it has no word."""

_ABOUT: Final = (
    "A TCP connection by the events of QUIC. Packet numbers are counted by direction; lengths are "
    "of payload, without headers; packet_lost is what the sender took for lost. Numbers of TCP, "
    "mechanisms and whether a retransmission was needed are in data.tcp."
)


def qlog(picture: Picture) -> str:
    """The file's text. Times are ms since its reference time, that of the first packet."""
    flow = "server" if picture.data_from_server else "client"
    trace = {
        "title": picture.title,
        "description": _ABOUT,
        "vantage_point": {"type": "network", "flow": flow},
        "common_fields": {
            "protocol_type": ["TCP"],
            "time_format": "relative",
            "reference_time": picture.start_ns / 1e6,
        },
        "events": list(_events(picture)),
    }
    whole = {
        "qlog_version": "0.3",
        "qlog_format": "JSON",
        "title": picture.title,
        "traces": [trace],
    }
    return json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _events(picture: Picture) -> Iterator[dict[str, Any]]:
    sent = {True: _Sent(), False: _Sent()}
    shift = picture.shift()
    for step in picture.in_order():
        time = picture.at_ns(step) / 1e6
        mine, theirs = sent[step.from_server], sent[not step.from_server]
        is_data = picture.is_data(step)
        before = mine.latest(step) if is_data and _is_loss(step) else None
        if before is not None:
            lost: dict[str, Any] = {"header": _header(before)}
            if trigger := _TRIGGERS.get(str(step.mechanism)):
                lost["trigger"] = trigger
            yield {"time": time, "name": "recovery:packet_lost", "data": lost}
        number = mine.add(step)
        frames = list(_frames(step, theirs, None if is_data else shift))
        yield {
            "time": time,
            "name": f"transport:packet_{'sent' if is_data else 'received'}",
            "data": {
                "header": _header(number),
                "raw": {"length": step.payload_bytes, "payload_length": step.payload_bytes},
                "frames": frames,
                "tcp": _of_tcp(step),
            },
        }


def _is_loss(step: Step) -> bool:
    return step.mechanism is not None and step.mechanism != "tlp"


def _header(number: int) -> dict[str, Any]:
    # What of QUIC has keys that both ends know, as all of a TCP connection is of one kind.
    return {"packet_type": "1RTT", "packet_number": number}


def _frames(step: Step, theirs: _Sent, shift: int | None) -> Iterator[dict[str, Any]]:
    if step.payload_bytes:
        offset = step.seq + ("SYN" in step.flags) - 1
        yield {
            "frame_type": "stream",
            "stream_id": 0,
            "offset": offset,
            "length": step.payload_bytes,
            "fin": "FIN" in step.flags,
        }
    if step.ack is None:
        return
    if ranges := theirs.acknowledged([(0, step.ack), *step.sack]):
        yield {"frame_type": "ack", "acked_ranges": ranges}
    if shift is not None and "SYN" not in step.flags and step.ack:
        # Sequence number 1 is the first byte.
        maximum = step.ack - 1 + (step.window << shift)
        yield {"frame_type": "max_stream_data", "stream_id": 0, "maximum": maximum}


def _of_tcp(step: Step) -> dict[str, Any]:
    said = {
        "flags": step.flags,
        "seq": step.seq,
        "ack": step.ack,
        "sack": [list(block) for block in step.sack],
        "window": step.window,
        "window_scale": step.window_scale,
        "mechanism": step.mechanism,
        "need": step.need,
    }
    return {name: value for name, value in said.items() if value not in (None, [])}


class _Sent:
    """The packets of one direction by their numbers, from 0."""

    def __init__(self) -> None:
        self._number = -1
        self._open: dict[int, tuple[int, int]] = {}
        """Those that are not acknowledged: where each begins and ends."""
        self._latest: dict[int, int] = {}
        """Of each place at which a packet began, the last one that did."""

    def add(self, step: Step) -> int:
        """A packet; its number."""
        self._number += 1
        if step.used:
            self._open[self._number] = (step.seq, step.seq + step.used)
            self._latest[step.seq] = self._number
        return self._number

    def latest(self, step: Step) -> int | None:
        """The last packet before with the first byte of this one."""
        if step.seq in self._latest:
            return self._latest[step.seq]
        holds = (n for n, (start, end) in self._open.items() if start <= step.seq < end)
        return max(holds, default=None)

    def acknowledged(self, blocks: list[tuple[int, int]]) -> list[list[int]]:
        """Takes out the packets that lie in blocks of sequence numbers; their numbers as ranges."""
        found = [
            number
            for number, (start, end) in self._open.items()
            if any(left <= start and end <= right for left, right in blocks)
        ]
        ranges: list[list[int]] = []
        for number in found:
            del self._open[number]
            if ranges and ranges[-1][1] == number - 1:
                ranges[-1][1] = number
            else:
                ranges.append([number, number])
        return ranges
