"""The words of pages and tables: what each means, and where it comes from."""

from __future__ import annotations

from typing import Final, NamedTuple

from rexmit.tracing.terms import OWNERS


class Word(NamedTuple):
    """A word, in plain text but for code in backticks."""

    word: str
    meaning: str
    source: str = ""


_WHOSE: Final = {
    "connecting": "until the handshake is over; a lost SYN counts",
    "client": "the client has nothing to send yet: before its first request, or within one",
    "between-requests": "the client has its answer and asks for nothing",
    "messages": "a program sends small messages, or what nobody asked for, at its own pace",
    "server": "the request has arrived, and the answer has not begun, or pauses",
    "tls-set-up": "the programs' silence from the ClientHello to the first data",
    "unanswered": "the last request arrived, and nothing was answered before the end",
    "round-trip": "the last packet of a turn and its answer are on the path",
    "receiver-window": "the receiver's window had no room for another segment",
    "nagle": "one small segment had to be acknowledged before the next left (RFC 1122, section "
    "4.2.3.4), and the acknowledgement was delayed",
    "sender": "window and congestion window had room, and the sender sent late all the same",
    "late-or-lost": "nothing came by, and then what was lost on its way here is sent again: the "
    "packets do not tell how much of the silence was the program's",
    "slow-start": "the congestion window still grows from round trip to round trip",
    "small-window": "after a loss, until as much is in flight again, or while packets arrive out "
    "of order",
    "path-rate": "packets queue: the path carries no more",
    "policer": "what is faster than a rate is dropped, after a burst that passed",
    "recovery-timer": "waiting for a repair that a retransmission timeout brought",
    "recovery-probe": "the same, which a tail loss probe brought",
    "recovery-fast": "the same, which acknowledgements brought",
    "path-mtu": "full-size packets do not arrive, smaller ones do",
    "peer-gone": "the peer answers nothing, however often something is sent again",
    "closing": "after the last byte; nobody waits",
    "unknown": "none of these can be shown",
}

GLOSSARY: Final[dict[str, tuple[Word, ...]]] = {
    "Whose the time was": tuple(Word(OWNERS[name], _WHOSE[name]) for name in OWNERS),
    "What a sender sends": (
        Word(
            "retransmission",
            "a packet with a sequence number (of a byte, SYN or FIN) that its sender has sent "
            "before; one row of `retransmissions`",
            "RFC 9293 §3.8.1",
        ),
        Word(
            "certain retransmission",
            "one whose sequence number the capture has already shown in its direction, without "
            "doubles, keep-alives and probes; all others are inferred, and `evidence` says from "
            "what",
            "`tests/real/oracle.py`",
        ),
        Word(
            "double",
            "a duplicate packet, of the capture (a mirror port, both sides of a router) or the "
            "network; no retransmission",
            "RFC 5560",
        ),
        Word("late packet", "one that was reordered; no retransmission", "RFC 4737 §3.3"),
        Word(
            "keep-alive",
            "a packet below what was acknowledged, which asks whether the peer is there; no "
            "retransmission",
            "RFC 9293 §3.8.4",
        ),
        Word(
            "window probe",
            "a packet that asks a peer whose window is shut; no retransmission",
            "RFC 9293 §3.8.6.1",
        ),
        Word(
            "re-injection",
            "data of a Multipath TCP connection sent again on another subflow",
            "RFC 8684 §3.3.6",
        ),
        Word(
            "trigger",
            "what causes a re-injection: a timeout, a probe, the beginning of a recovery, a full "
            "window (opportunistic retransmission)",
            "Raiciu and others, NSDI 2012",
        ),
        Word(
            "scheduler",
            "what chooses the subflow for the next data of a Multipath TCP connection",
            "RFC 8684 §3.3.5",
        ),
        Word(
            "original, copy",
            "the first transmission of a sequence number; any transmission of it",
        ),
        Word(
            "flight",
            "data sent and neither acknowledged nor known to have left the network",
            "RFC 5681 §2 (FlightSize)",
        ),
        Word(
            "coupled congestion control",
            "one for all subflows of a connection together",
            "RFC 6356",
        ),
        Word(
            "window",
            "the receiver's; not the congestion window, which a capture does not show",
            "RFC 9293 §3.8.6",
        ),
    ),
    "Why it sends again": (
        Word(
            "mechanism",
            "what made a sender send again; the words are those of `Mechanism` "
            "(`crates/tcp/src/words.rs`)",
        ),
        Word("timeout, `rto`", "the retransmission timer ran out", "RFC 6298 §5.4"),
        Word(
            "probe, `tlp`",
            "a tail loss probe: the last segment again, sooner than the timeout",
            "RFC 8985 §7",
        ),
        Word(
            "detection",
            "the moment at which a sender takes a packet for lost, by a timer or by "
            "acknowledgements. `detection_s` is from the copy before to the retransmission, a "
            "round-trip time included",
        ),
        Word(
            "episode",
            "from a first retransmission to the acknowledgement of all that had been sent before "
            "it",
            "RFC 6675 §2 (RecoveryPoint)",
        ),
        Word(
            "recovery",
            "the further retransmissions of an episode",
            "RFC 6675 §5, RFC 5681 §3.1 for after a timeout",
        ),
        Word("needed", "every copy before it was lost"),
        Word("spurious", "an earlier copy had arrived, or still did", "RFC 3522, RFC 5682"),
        Word("unknown", "nothing in the capture tells"),
        Word(
            "evidence",
            "what says whether it was needed; the words are those of `Evidence` "
            "(`crates/trace/src/rows.rs`)",
        ),
        Word("dropped", "by the loss rule: the segments that a scenario names"),
        Word("lost", "never arrived, whoever dropped it"),
        Word(
            "time waited",
            "time in which a sender had data that its peer's window allowed, and did not send "
            "them because it waited for a timer or a repair",
        ),
    ),
}
"""By what they are about."""
