"""What a packet's comment says. All words are of rexmit, so that nothing of a capture gets in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rexmit.tracing import terms
from rexmit.tracing.sentences.retransmissions import NEED_OF_ROW, after
from rexmit.tracing.words import span
from rexmit.wording import count

BEGINS: Final = "rexmit trace: "
"""How each comment begins; comments that begin so are replaced when a copy is annotated again."""

_LISTED: Final = 4
"""Frames that a comment names; of more it says how many."""

EVIDENCE: Final = {
    "none": "nothing shows that an earlier copy arrived",
    "dsack": "the receiver reported a duplicate of it (DSACK)",
    "timestamp": "an ACK echoed the time stamp of an earlier copy",
    "ack-too-early": "the ACK came too early to be for this copy",
    "frto": "ACKs went on as only an earlier copy explains (F-RTO)",
    "already-acked": "it had been acknowledged before it was sent",
    "not-accepted": "the receiver had the packet and did not accept it yet (deferred accept, or a "
    "full queue)",
    "original-seen": "an earlier copy came by next to the receiver",
    "original-unseen": "no earlier copy came by next to the receiver",
    "subflow-acked": "the subflow that had the data first delivered them without it",
    "duplicate-answered": "the receiver answered it with an ACK that says nothing new",
    "ack-lost": "the receiver had acknowledged an earlier copy, by ACKs that were lost",
    "hole-filled": "ACKs stood still at it and went on a round trip after it",
}
"""The evidence on need, in words."""

_TIMERS: Final = {"rto": "retransmission timer", "tlp": "probe timer", "rack": "reordering timer"}
"""What a timer that ran out is called."""


def retransmission(row: Mapping[str, Any], before: int | None, trigger: int | None) -> str:
    """Of a retransmission: `row` is its row, `before` the frame of the copy before it, `trigger`
    that of the acknowledgement that made its sender send it, where these are known.
    """
    mechanism = row["mechanism"]
    words = terms.PROMPTED.get(row.get("basis") or "", terms.WORDS[mechanism])
    parts = [f"{mechanism}, {NEED_OF_ROW[row['need']]}", words]
    if (timer := row["timer_s"]) is not None:
        parts.append(f"{_TIMERS.get(mechanism, 'timer')} of {span(timer)} ran out")
    if trigger is not None:
        likely = "" if row["position"] == "sender" else "most likely "
        parts.append(f"{likely}triggered by frame {trigger}")
    if mechanism not in (row["episode_cause"], "unknown"):
        parts.append(f"in a recovery that began with {row['episode_cause']}")
    parts.append(_copy(row, before))
    if row["waited_s"] > 0:
        parts.append(f"its sender had waited {span(row['waited_s'])} for it")
    why = EVIDENCE[row["evidence"]]
    sure = f" ({row['need_confidence']:.2f})" if row["need"] != "unknown" else ""
    parts.append(f"{NEED_OF_ROW[row['need']]}{sure}: {why}")
    if mechanism != "unknown":
        parts.append(f"confidence {row['confidence']:.2f}{_other(row)}")
    return _clean(f"{BEGINS}{'; '.join(part for part in parts if part)}")


def _copy(row: Mapping[str, Any], before: int | None) -> str:
    if row["first_subflow"] is not None:
        return f"first on subflow {row['first_subflow']}, {row['first_flow']}"
    earlier = after(row, span)
    nth = f"copy {row['copy'] + 1}" if row["copy"] > 1 else ""
    if before is None:
        text = "the copy before it is not in the capture"
    else:
        text = f"{earlier} frame {before}" if earlier else f"before it: frame {before}"
    return ", ".join(part for part in (nth, text) if part)


def _other(row: Mapping[str, Any]) -> str:
    if row["runner_up"] is None:
        return ""
    if row["either"]:
        return f", or {row['runner_up']}: the wire cannot tell"
    if row["confidence"] >= 0.9 or row["runner_up_confidence"] is None:
        return ""
    return f", or {row['runner_up']} ({row['runner_up_confidence']:.2f})"


def original(again: Sequence[tuple[int, str, str]]) -> str:
    """Of a packet that was sent again, as which frames, by which mechanism, and with what need."""
    return _clean(f"{BEGINS}sent again in {_frames(again)}")


def trigger(retransmissions: Sequence[tuple[int, str, str]], *, sure: bool) -> str:
    """Of an acknowledgement that made its receiver retransmit these frames."""
    likely = "" if sure else "most likely "
    return _clean(f"{BEGINS}{likely}triggered {_frames(retransmissions)}")


def _frames(of: Sequence[tuple[int, str, str]]) -> str:
    texts = [f"{n} ({mechanism}, {NEED_OF_ROW[need]})" for n, mechanism, need in of[:_LISTED]]
    more = f" and {len(of) - _LISTED:,} more" if len(of) > _LISTED else ""
    return f"frame{'s' if len(of) > 1 else ''} {', '.join(texts)}{more}"


def summary(packets: int, retransmissions: int, causes: int) -> str:
    """What was written, for a line on the terminal."""
    again = count(retransmissions, "retransmission")
    text = f"{count(packets, 'packet')}, comments on {again}"
    return f"{text} and {count(causes, 'packet')} that caused {'it' if again[0] == '1' else 'them'}"


def _clean(text: str) -> str:
    """Without control characters: a folder of a trace may have been made by anybody."""
    return "".join(c if c.isprintable() else "?" for c in text)[:4000]
