"""Why a connection waited, in a sentence for somebody who runs a site.

The sentence names what was waited for longest, summed by what began the episodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl

from rexmit.tracing import words
from rexmit.wording import count

_FEW: Final = 4
"""With fewer packets on the way three duplicate ACKs cannot come (RFC 5681 section 3.2)."""

_NOT_OPENED: Final[Mapping[str | None, str]] = {
    "unanswered": "the SYN was never answered",
    "refused": "the SYN was refused by a RST",
    "half-open": "the handshake was never completed",
}
"""What became of a handshake, in words."""


def _with_cause(retransmissions: pl.DataFrame) -> pl.DataFrame:
    """With `cause`: what a timer made by that timer, all else by what began its episode."""
    timer = pl.when(pl.col("mechanism").is_in(["rto", "tlp"])).then("mechanism")
    cause = timer.otherwise(pl.col("episode_cause").replace("rto-recovery", "rto"))
    return retransmissions.with_columns(cause.alias("cause"))


def reason(retransmissions: pl.DataFrame, *, segments: int, handshake: str | None = None) -> str:
    """`retransmissions` are those of one connection in order of time; `segments` its data packets;
    `handshake` is `unanswered` where nothing ever came back, `refused` where a RST did,
    `half-open` where no ACK of the SYN-ACK did.
    """
    waits = _with_cause(retransmissions)
    by_cause = waits.group_by("cause").agg(pl.col("waited_s").sum())
    if not by_cause["waited_s"].sum():
        none = "which was not" if retransmissions.height == 1 else "none of which was"
        return f"{count(retransmissions.height, 'retransmission')}, {none} waited for"
    cause = str(by_cause.sort("waited_s", "cause", descending=[True, False])[0, 0])
    if cause == "rto":
        return _timeouts(waits.filter(pl.col("cause") == "rto"), handshake)
    if cause == "tlp":
        return _probes(waits.filter(pl.col("cause") == "tlp"))
    if cause == "mptcp-reinject":
        return _reinjections(retransmissions.filter(pl.col("mechanism") == cause))
    if handshake in _NOT_OPENED:
        again = count(retransmissions.height, "retransmission")
        return f"{again}{_longest(waits)}: {_NOT_OPENED[handshake]}"
    return _recoveries(retransmissions.filter(pl.col("episode_cause") == cause), segments)


def _made_by(mechanism: str, waits: pl.DataFrame) -> pl.DataFrame:
    """What the mechanism itself sent of what followed from it; all where that is not known."""
    found = waits.filter(pl.col("mechanism") == mechanism)
    return waits if found.is_empty() else found


def _timeouts(waits: pl.DataFrame, handshake: str | None) -> str:
    fired = _made_by("rto", waits)
    head = f"{count(fired.height, 'timeout')}{_longest(fired)}"
    if handshake in _NOT_OPENED:
        return f"{head}: {_NOT_OPENED[handshake]}"
    waiting = fired.filter(pl.col("evidence") == "not-accepted")
    if waiting.height * 2 > fired.height:
        return (
            f"{head}: the server had the ACK of its SYN-ACK and waited for data (deferred accept)"
        )
    spurious = _spurious(fired)
    if spurious is not None:
        return f"{head}: {spurious}"
    opening = fired.filter(pl.col("length_bytes") == 0)
    if opening.height * 2 > fired.height:
        return f"{head}: packets that open or close the connection (SYN, FIN) were lost, not data"
    again = max(fired["copy"].to_list())
    if again > 2:
        return (
            f"{head}: one packet was lost {again} times in a row, and the timer doubled each time"
        )
    few = fired.filter(pl.col("flight_segments") < _FEW).height
    if few * 2 > fired.height:
        return f"{head}: too few packets were in flight for three duplicate ACKs to come back"
    many = fired.filter(pl.col("lost_in_flight") > 1).height
    if many * 2 > fired.height:
        most = max(fired["lost_in_flight"].to_list())
        return f"{head}: up to {most} packets of a flight were lost together"
    return f"{head}: no acknowledgement pointed to the loss"


def _probes(waits: pl.DataFrame) -> str:
    probes = _made_by("tlp", waits)
    head = f"{count(probes.height, 'tail loss probe')}{_longest(probes)}"
    return f"{head}: {_spurious(probes) or 'the last packets of what was sent were lost'}"


def _reinjections(mine: pl.DataFrame) -> str:
    head = f"{count(mine.height, 'packet')} sent again on another subflow{_longest(mine)}"
    lost = "the data were lost or late on the subflow that had them first"
    return f"{head}: {_spurious(mine) or lost}"


def _recoveries(mine: pl.DataFrame, segments: int) -> str:
    episodes = mine.select("direction", "episode").unique().height
    times = "1 recovery" if episodes == 1 else f"{episodes:,} recoveries"
    head = f"{count(mine.height, 'packet')} retransmitted in {times}"
    spurious = _spurious(mine)
    if spurious is not None:
        return f"{head}: {spurious}"
    told = (
        f"{head}, of {count(segments, 'packet')} with data ({words.share(mine.height, segments)})"
    )
    return f"{told}: a recovery takes a round trip or more"


def _spurious(mine: pl.DataFrame) -> str | None:
    """What is known where most are spurious: the receiver had what they repeat."""
    spurious, of = mine.filter(pl.col("need") == "spurious").height, mine.height
    if spurious * 2 <= of:
        return None
    some = "it was" if of == 1 else "all were" if spurious == of else f"{spurious:,} were"
    originals = "original" if spurious == 1 else "originals"
    return f"{some} spurious, the {originals} had arrived"


def _longest(waits: pl.DataFrame) -> str:
    """Behind a count: how long the only one was waited for, or the longest."""
    most = waits["waited_s"].max()
    if not isinstance(most, int | float):
        return ""
    return (
        f" after {words.span(most)}" if waits.height == 1 else f", the longest {words.span(most)}"
    )
