"""A line of a ladder, of which a test says what matters to it: `replace(PLAIN, seq=1)`."""

from __future__ import annotations

from typing import Final

from rexmit.ladder.steps import Step

PLAIN: Final = Step(
    from_server=True,
    sent_ns=None,
    arrived_ns=None,
    flags="ACK",
    payload_bytes=0,
    seq=0,
    ack=0,
    sack=(),
    window=1,
    dropped=False,
    lost=False,
    mechanism=None,
    need=None,
    again=False,
    duplicate_sack=False,
    duplicate_acks=0,
    window_scale=None,
    window_update=False,
)
