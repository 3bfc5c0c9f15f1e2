"""What was sent again: how much of all, whether it was needed, and what each row says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rexmit.tracing import terms
from rexmit.tracing.sentences.value import Sentence, connections
from rexmit.tracing.terms import EITHER
from rexmit.tracing.words import share, size, span
from rexmit.wording import count

if TYPE_CHECKING:
    from rexmit.tracing.summed import Summary

NEEDS: Final = {"needed": "needed", "spurious": "spurious", "unknown": "not known"}
"""Whether it was needed, in words, behind a number of them."""

NEED_OF_ROW: Final = NEEDS | {"unknown": "need not known"}
"""The same, of one."""

LACKS: Final = {
    "duplicate-acks": "as many duplicate ACKs or SACKs as a threshold",
    "sack-above": "a SACK block above it",
    "sack": "SACK",
    "later-delivered": "an ACK of something sent later",
    "reorder-window": "the age of RACK's reordering window",
    "few-out": "a flight of fewer than four segments",
    "tail": "being the last that was sent",
    "ack-since-probe": "an ACK since the probe before",
    "time": "the time that a timer takes",
    "short-timer-twice": "another timer of the host as short",
    "long-timer": "a first timer that long",
    "no-acks": "an absence of ACKs that point to a loss",
    "timeout-before": "a timeout before it",
    "other-subflow": "the same data on another subflow",
    "stack": "a stack known to rexmit that does so",
    "likelihood": "an explanation that is as likely as not",
}
"""What the packets do not show of a retransmission whose mechanism is unknown."""

SURE: Final = 0.9
"""Below this confidence a row names its runner-up, too."""


@cache
def verdict() -> pl.Expr:
    """What made the sender retransmit: the mechanism, or both where the packets cannot tell, in one
    order whichever is likelier; where no loss was found, what it was sent again for.
    """
    pair = pl.col("either") & pl.col("runner_up").is_not_null()
    prompted = pl.when(pl.col("basis").is_in(list(terms.PROMPTED))).then("basis")
    one = pl.coalesce(prompted, "mechanism", pl.lit("unknown"))
    two = [pl.max_horizontal(one, "runner_up"), pl.min_horizontal(one, "runner_up")]
    both = pl.concat_str(*two, separator=EITHER)
    return pl.when(pair).then(both).otherwise(one).alias("verdict")


def verdict_of(row: Mapping[str, Any]) -> str:
    """As `verdict`, of one row."""
    basis = row.get("basis")
    one = basis if basis in terms.PROMPTED else row["mechanism"] or "unknown"
    pair = row["either"] and row["runner_up"]
    return EITHER.join(sorted((one, row["runner_up"]), reverse=True)) if pair else one


def cause(verdict: str) -> str:
    """A verdict in words, with the word that stands in the tables."""
    words = [(terms.WORDS | terms.PROMPTED).get(one, one) for one in verdict.split(EITHER)]
    return f"{EITHER.join(words)} ({verdict})"


def after(row: Mapping[str, Any], words: Callable[[float], str]) -> str:
    """How long after the copy before: between two bounds where nobody saw that copy, nothing where
    it is not known, or the capture's clock stepped back in between.
    """
    least_s, most_s = row["detection_s"], row.get("detection_most_s")
    if least_s is None or least_s < 0:
        return ""
    return f"{between(least_s, most_s, words)} after"


def between(least_s: float, most_s: float | None, words: Callable[[float], str] = span) -> str:
    """A time, or its bounds where nobody saw from when on it counts."""
    texts = [words(time_s) for time_s in (least_s, most_s) if time_s is not None]
    return " to ".join(dict.fromkeys(texts))


def said(summary: Summary) -> list[Sentence]:
    """How many there are, of what, and how long they were waited for; nothing where none is."""
    totals, volume = summary.totals, summary.volume
    if not totals.retransmissions:
        return []
    lines = [_numbers(summary)]
    if volume.data_packets:
        noun = "packet" if totals.wire_segments == totals.segments else "segment"
        part, whole = volume.data_segments, totals.wire_segments
        packets = f"{part:,} of {count(whole, noun)} ({share(part, whole)})"
        if totals.sent_bytes < totals.bytes:
            # How many of the whole are copies with data is not known.
            packets = count(part, noun)
        sent = totals.sent_bytes
        text = f"{packets}, {size(volume.bytes)} of {size(sent)} ({share(volume.bytes, sent)})"
        data = pl.col("length_bytes") > 0
        lines.append(Sentence(text, _TABLE, _height(volume.data_packets), data, "  with data"))
    if volume.other_packets:
        text = f"{count(volume.other_packets, 'packet')} (SYN or FIN)"
        bare = pl.col("length_bytes") == 0
        lines.append(Sentence(text, _TABLE, _height(volume.other_packets), bare, "  without data"))
    if summary.missing:
        lines.append(_unknown(summary.missing))
    if totals.waited_s > 0:
        lines.append(_waited(summary))
    return lines


_TABLE: Final = "retransmissions"


def _height(number: int) -> Callable[[pl.DataFrame], bool]:
    return lambda rows: rows.height == number


def _numbers(summary: Summary) -> Sentence:
    totals = summary.totals
    need = {
        words: sum(getattr(one, name) for one in summary.mechanisms)
        for name, words in NEEDS.items()
    }
    some = {what: n for what, n in need.items() if n}
    kinds = ", ".join(f"{n:,} {what}" for what, n in some.items())
    if len(some) == 1:
        (only,) = some
        every = "all " if totals.retransmissions > 1 and only != NEEDS["unknown"] else ""
        kinds = "need not known" if only == NEEDS["unknown"] else f"{every}{only}"
    where = connections(totals.with_retransmissions, totals.connections)

    def condition(rows: pl.DataFrame) -> bool:
        counted = {words: (rows["need"] == name).sum() for name, words in NEEDS.items()}
        return counted == need and rows["connection"].n_unique() == totals.with_retransmissions

    text = f"{count(totals.retransmissions, 'packet')} in {where}: {kinds}"
    return Sentence(text, _TABLE, condition, label="retransmissions")


def lacks(word: str) -> str:
    """What is missing, in words."""
    return LACKS.get(word, word.replace("-", " "))


def _unknown(missing: tuple[tuple[str, int], ...]) -> Sentence:
    """Why the cause of some is not known: what is missing, and of how many."""
    lacking = ", ".join(f"{lacks(word)} ({number:,})" for word, number in missing)
    every = sum(number for _, number in missing)
    text = f"{count(every, 'packet')}, for whose likeliest cause this is missing: {lacking}"

    def condition(rows: pl.DataFrame) -> bool:
        return all((rows["missing"] == word).sum() == number for word, number in missing)

    unknown = pl.col("mechanism") == "unknown"
    return Sentence(text, _TABLE, condition, unknown, "  unknown cause")


def _waited(summary: Summary) -> Sentence:
    totals = summary.totals
    lasted = "connection" if totals.connections == 1 else "connections"
    text = (
        f"{between(totals.waited_s, summary.waited_most_s)} of the {span(totals.duration_s)} "
        f"that the {lasted} lasted ({share(totals.waited_s, totals.duration_s)})"
    )
    unknown_s = sum(one.waited_s for one in summary.mechanisms if one.mechanism == "unknown")
    if unknown_s < totals.waited_s:
        text += ", for a timer or for ACKs that show a loss"
    if unknown_s > 0:
        some = f"but for {span(unknown_s)} " if unknown_s < totals.waited_s else ""
        text += f", {some}of unknown cause"

    def condition(rows: pl.DataFrame) -> bool:
        # Where both ends wait, a moment counts once in the sum, and twice in rows.
        each_s = float(rows["waited_s"].sum())
        return 0 < totals.waited_s <= min(each_s, totals.duration_s) + 1e-6

    return Sentence(text, _TABLE, condition, label="time waited")


def _ms(time_s: float) -> str:
    """Milliseconds, never rounded to nothing."""
    return "<0.1 ms" if 0 < time_s < 0.00005 else f"{time_s * 1000:.1f} ms"


def row(row: Mapping[str, Any]) -> Sentence:
    """What is known of one retransmission, and the row that says so."""
    mine = (
        (pl.col("connection") == row["connection"])
        & (pl.col("direction") == row["direction"])
        & (pl.col("time_ns") == row["time_ns"])
        & (pl.col("seq_start") == row["seq_start"])
    )
    return Sentence(words_of(row), _TABLE, lambda rows: rows.height >= 1, mine)


def words_of(row: Mapping[str, Any]) -> str:
    """What is known of one retransmission, in the order in which one asks."""
    parts = [verdict_of(row)]
    if missing := row.get("missing"):
        parts.append(f"without {lacks(missing)}")
    if row["need"] != "needed":
        parts.append(NEED_OF_ROW[row["need"]])
    if row.get("first_flow") is not None:
        parts.append(f"first on subflow {row['first_subflow']}, {row['first_flow']}")
    if row["evidence"] not in ("", "none"):
        parts.append(f"by {row['evidence']}")
    if earlier := after(row, _ms):
        rtts = None if " to " in earlier else row["detection_rtts"]
        parts.append(earlier + (f" ({rtts:.1f} RTT)" if rtts is not None else ""))
    if (timer := row["timer_s"]) is not None:
        parts.append(f"timer {_ms(timer)}")
    if row["confidence"] < SURE and not row["either"] and verdict_of(row) != "unknown":
        other = row["runner_up"]
        parts.append(f"confidence {row['confidence']:.2f}" + (f", or {other}" if other else ""))
    return ", ".join(parts)
