"""Why a connection lost time, in a sentence for somebody who runs a site.

The sentence names what cost most: the waits before the episodes' first resends, summed by what
began them.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from rexmit.tables.terminal import count

_FEW: Final = 4
"""With fewer packets on the way three duplicate ACKs cannot come (RFC 5681 section 3.2)."""


def waited_s(resends: pl.DataFrame) -> float:
    """How long one end or the other, or both, waited for the first resends of their episodes."""
    waits = _waits(resends).sort(pl.col("time_s") - pl.col("detection_s"))
    total, until = 0.0, float("-inf")
    for end, wait in waits.select("time_s", "detection_s").iter_rows():
        total += max(0.0, end - max(until, end - wait))
        until = max(until, end)
    return total


def _waits(resends: pl.DataFrame) -> pl.DataFrame:
    """The resends that were waited for, with `cause`: what a timer made, and else the first of each
    episode (what comes along in it is not waited for).
    """
    timed = resends.filter(pl.col("detection_s").is_not_null())
    first = timed.select(pl.struct("direction", "episode").is_first_distinct()).to_series()
    by_timer = timed["mechanism"].is_in(["rto", "tlp"])
    cause = pl.when(pl.col("mechanism").is_in(["rto", "tlp"])).then("mechanism")
    return timed.with_columns(
        cause.otherwise(pl.col("episode_cause").replace("rto-recovery", "rto")).alias("cause")
    ).filter(first | by_timer)


def reason(resends: pl.DataFrame, *, segments: int) -> str:
    """`resends` are those of one connection in order of time; `segments` its data packets."""
    waits = _waits(resends)
    if waits.is_empty():
        return f"{count(resends.height, 'resend')}, of which none could be timed"
    by_cause = waits.group_by("cause").agg(pl.col("detection_s").sum())
    cause = str(by_cause.sort("detection_s", "cause", descending=[True, False])[0, 0])
    if cause == "rto":
        return _timeouts(waits.filter(pl.col("cause") == "rto"))
    if cause == "tlp":
        return _probes(waits.filter(pl.col("cause") == "tlp"))
    if cause == "mptcp-reinject":
        return _reinjections(resends.filter(pl.col("mechanism") == cause))
    return _recoveries(resends.filter(pl.col("episode_cause") == cause), segments)


def _timeouts(waits: pl.DataFrame) -> str:
    fired = waits.filter(pl.col("mechanism") == "rto")
    if fired.is_empty():
        fired = waits
    longest = _seconds(fired["detection_s"].max())
    head = f"{count(fired.height, 'timeout')}, the longest {longest}"
    needless = fired.filter(pl.col("need") == "spurious").height
    if needless * 2 > fired.height:
        return f"{head}: {needless} needless, the acknowledgements were only late"
    opening = fired.filter(pl.col("length_bytes") == 0)
    if opening.height * 2 > fired.height:
        return f"{head}: the packets that open or close the connection were lost, not data"
    again = max(fired["copy"].to_list())
    if again > 2:
        return f"{head}: the same packet was lost {again} times and the timer doubled each time"
    few = fired.filter(pl.col("flight_segments") < _FEW).height
    if few * 2 > fired.height:
        return (
            f"{head}: too few packets were on the way for duplicate acknowledgements to tell of "
            "the loss"
        )
    many = fired.filter(pl.col("lost_in_flight") > 1).height
    if many * 2 > fired.height:
        most = max(fired["lost_in_flight"].to_list())
        return f"{head}: up to {most} packets of a flight were lost together"
    return f"{head}: the loss was told by no acknowledgement"


def _probes(probes: pl.DataFrame) -> str:
    longest = _seconds(probes["detection_s"].max())
    needless = probes.filter(pl.col("need") == "spurious").height
    head = f"{count(probes.height, 'tail loss probe')}, the longest wait {longest}"
    if needless * 2 > probes.height:
        return f"{head}: {needless} needless, the acknowledgements were only late"
    return f"{head}: the last packets of what was sent were lost"


def _reinjections(mine: pl.DataFrame) -> str:
    longest = _seconds(mine["detection_s"].max())
    head = f"{count(mine.height, 'packet')} re-injected, the longest wait {longest}"
    needless = mine.filter(pl.col("need") == "spurious").height
    if needless * 2 > mine.height:
        return f"{head}: {needless} needless, the data had arrived"
    return f"{head}: the data were lost or late on the subflow that had them first"


def _recoveries(mine: pl.DataFrame, segments: int) -> str:
    episodes = mine.select("direction", "episode").unique().height
    needless = mine.filter(pl.col("need") == "spurious").height
    times = "one recovery" if episodes == 1 else f"{episodes:,} recoveries"
    head = f"{count(mine.height, 'packet')} resent in {times}"
    if needless * 2 > mine.height:
        return f"{head}: {needless} needless, packets had only changed their order"
    share = mine.height / segments if segments else 0.0
    return f"{head}: {share:.1%} of the data packets were lost, each cost a round trip or more"


def _seconds(value: object) -> str:
    if not isinstance(value, int | float):
        return "of unknown length"
    return (
        f"{value:.1f} s"
        if value >= 10
        else f"{value:.2f} s"
        if value >= 1
        else f"{value * 1000:.0f} ms"
    )
