"""Why a connection waited, in a sentence for somebody who runs a site.

The sentence is of what was waited for longest, summed by what began the episodes. What is said
below a head is the first in a table of which the condition holds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Final

import polars as pl

from rexmit.tracing import terms
from rexmit.tracing.sentences.handshakes import NOT_OPENED
from rexmit.tracing.sentences.retransmissions import between, lacks, verdict
from rexmit.tracing.sentences.value import Sentence
from rexmit.tracing.terms import EITHER
from rexmit.tracing.words import listed, span
from rexmit.values import dataclass
from rexmit.wording import count

_FEW: Final = 4
"""With fewer packets on the way three duplicate ACKs cannot come (RFC 5681 section 3.2)."""

_SAME_S: Final = 1e-6
"""Times as numbers of seconds are that far off."""

_ROW: Final = 3
"""So many timeouts of one packet, one after the other, are a row."""

_DOUBLED: Final = (1.6, 2.5)
"""Of timers that double (RFC 6298 §5.5), how much longer one is than the one before: what ticks,
and ACKs that set the first one anew, leave of 2."""

_NOUNS: Final = {"rto": "timeout", "tlp": "tail loss probe"}
"""What a timer made, by its verdict."""


@dataclass(frozen=True)
class _Why:
    """Words for some retransmissions of which `holds` is so. `every` are all of the connection."""

    holds: Callable[[pl.DataFrame, pl.DataFrame], bool]
    words: Callable[[pl.DataFrame, pl.DataFrame], str]


def reason(
    retransmissions: pl.DataFrame, *, handshake: str | None = None, end_s: float | None = None
) -> Sentence:
    """`retransmissions` are those of one connection in order of time; `handshake` is `unanswered`
    where nothing ever came back, `refused` where a RST did, `half-open` where no ACK of the SYN-ACK
    did. `end_s` is the time of its last packet.
    """
    last_s = retransmissions["time_s"].max()
    ends = end_s is not None and isinstance(last_s, float) and last_s >= end_s - _SAME_S
    waits = retransmissions.with_columns(_cause().alias("cause"), verdict(), *_RUN)
    by_cause = waits.group_by("cause").agg(pl.col("waited_s").sum())
    if not by_cause["waited_s"].sum():
        if set(by_cause["cause"]) <= set(terms.PROMPTED):
            names = listed([terms.PROMPTED[one] for one in sorted(by_cause["cause"])])
            text = f"{count(waits.height, 'packet')} sent again though no loss was found: {names}"
            return _sentence(waits, text, _were_prompted)
        none = "which was not" if waits.height == 1 else "none of which was"
        text = f"{count(waits.height, 'retransmission')}, {none} waited for"
        return _sentence(waits, text, lambda rows: not rows["waited_s"].sum())
    cause = str(by_cause.sort("waited_s", "cause", descending=[True, False])[0, 0])
    mine = waits.filter(pl.col("cause") == cause)
    of_cause = mine.filter(pl.col("verdict") == cause)
    if of_cause.height and set(cause.split(EITHER)) <= set(_NOUNS):
        return _timers(cause, of_cause, waits, handshake, ends=ends)
    if handshake in NOT_OPENED:
        again = count(waits.height, "retransmission")
        return _sentence(waits, f"{again}{_longest(waits)}: {NOT_OPENED[handshake]}", _any)
    if cause == "unknown":
        again = f"{count(mine.height, 'retransmission')}{_longest(mine)}"
        return _sentence(mine, f"{again}: {_unknown_words(mine)}", _any)
    if cause == "mptcp-reinject":
        head = f"{count(mine.height, 'packet')} sent again on another subflow{_longest(mine)}"
        return _first(head, _REINJECTIONS, mine, waits)
    return _recoveries(mine, waits)


@cache
def _cause() -> pl.Expr:
    """What a timer made, or what nobody knows, by that; all else by what began its episode."""
    timers = verdict().str.split(EITHER).list.eval(pl.element().is_in(list(_NOUNS))).list.all()
    begun = pl.col("episode_cause").replace("rto-recovery", "rto").fill_null("unknown")
    own = verdict().is_in(["unknown", *terms.PROMPTED])
    return pl.when(timers | own).then(verdict()).otherwise(begun)


def _sentence(rows: pl.DataFrame, text: str, condition: Callable[[pl.DataFrame], bool]) -> Sentence:
    """Said of the rows of a connection that have the same causes, and verdicts, as these."""
    mine = pl.col("connection") == rows["connection"][0]
    for name, word in (("cause", _cause()), ("verdict", verdict())):
        mine &= word.is_in(rows[name].unique().to_list())
    return Sentence(text, "retransmissions", condition, mine)


def _any(rows: pl.DataFrame) -> bool:
    return rows.height > 0


def _were_prompted(rows: pl.DataFrame) -> bool:
    return rows.height > 0 and bool(rows["basis"].is_in(list(terms.PROMPTED)).all())


def _first(head: str, table: tuple[_Why, ...], rows: pl.DataFrame, every: pl.DataFrame) -> Sentence:
    """What the first of a table says that holds; the head alone where none does."""
    why = next((one for one in table if one.holds(rows, every)), None)
    if why is None:
        return _sentence(rows, head, _any)
    return _sentence(rows, f"{head}: {why.words(rows, every)}", lambda some: why.holds(some, every))


def _most(condition: pl.Expr) -> Callable[[pl.DataFrame, pl.DataFrame], bool]:
    """Of more than half of the rows."""
    return lambda rows, _: bool(rows.filter(condition).height * 2 > rows.height)


# Timers.


def _timers(
    cause: str, of_cause: pl.DataFrame, every: pl.DataFrame, handshake: str | None, *, ends: bool
) -> Sentence:
    """`ends`: no packet of the connection follows the last retransmission."""
    nouns = (count(of_cause.height, _NOUNS[one]) for one in cause.split(EITHER))
    head = EITHER.join(nouns).replace(f"{EITHER}{of_cause.height:,} ", EITHER) + _longest_timer(
        of_cause
    )
    if cause == "tlp":
        return _first(head, _PROBES, of_cause, every)
    if handshake in NOT_OPENED:
        return _sentence(of_cause, f"{head}: {NOT_OPENED[handshake]}", _any)
    if ends and _is_silence(of_cause, every):
        return _first(head, (_SILENCE,), of_cause, every)
    return _first(head, _TIMEOUTS, of_cause, every)


def _longest_timer(fired: pl.DataFrame) -> str:
    """The only timer, or the longest one, where all are known; else the wait."""
    timers = [row["timer_s"] for row in fired.iter_rows(named=True)]
    known = [one for one in timers if one is not None]
    if len(known) < len(timers):
        return _longest(fired)
    return (
        f", timer {span(max(known))}"
        if len(known) == 1
        else (f", the longest timer {span(max(known))}")
    )


_RUN: Final = (
    (pl.col("direction") != pl.col("direction").first()).alias("answers"),
    pl.struct(verdict(), "seq_start").rle_id().over("direction").alias("run"),
)
"""Timeouts of one byte that follow each other are a run: nothing else was sent again in between.
Runs are numbered in each direction; `answers` is so of the one that began later."""


def _longest_run(every: pl.DataFrame) -> pl.DataFrame:
    """The first of the longest ones."""
    fired = every.filter(pl.col("verdict") == "rto")
    place = ["answers", "run"]
    sizes = fired.group_by(place).len()
    longest = sizes.sort("len", *place, descending=[True, False, False]).head(1)
    return fired.join(longest, on=place, how="semi", maintain_order="left")


def doubled(run: pl.DataFrame) -> bool:
    """Whether each gap before a timeout of the run is twice the one before it."""
    gaps = run["detection_s"].to_list()
    low, high = _DOUBLED
    return len(gaps) > 1 and all(
        before is not None and after is not None and low * before <= after <= high * before
        for before, after in pairwise(gaps)
    )


def _is_row(_: pl.DataFrame, every: pl.DataFrame) -> bool:
    return _longest_run(every).height >= _ROW


def _row_words(_: pl.DataFrame, every: pl.DataFrame) -> str:
    return f"one packet timed out {_in_a_row(_longest_run(every))}"


def _in_a_row(run: pl.DataFrame) -> str:
    twice = ", and the timer doubled each time" if doubled(run) else ""
    return f"{run.height} times in a row{twice}"


def _is_silence(_: pl.DataFrame, every: pl.DataFrame) -> bool:
    """The last thing that its sender did, over and over, was to send it again."""
    run = _longest_run(every)
    if run.is_empty() or _spurious(run, every):
        return False
    data = bool((run["flight_segments"] > 0).all() and (run["length_bytes"] > 0).all())
    return data and every["time_ns"].max() == run["time_ns"].max()


def _silence_words(_: pl.DataFrame, every: pl.DataFrame) -> str:
    run = _longest_run(every)
    flight = int(run["flight_segments"][0])
    which = {1: "the packet", 2: "both packets"}.get(flight, f"all {flight:,} packets")
    again = f"; the first one timed out {_in_a_row(run)}" if run.height >= _ROW else ""
    text = f"{which} in flight stayed without an ACK"
    return text + (again if flight > 1 else again.replace("the first one", "it"))


def _spurious(rows: pl.DataFrame, _: pl.DataFrame) -> bool:
    return rows.filter(pl.col("need") == "spurious").height * 2 > rows.height


def _spurious_words(rows: pl.DataFrame, _: pl.DataFrame) -> str:
    """The receiver had what they repeat."""
    spurious, of = rows.filter(pl.col("need") == "spurious").height, rows.height
    some = "it was" if of == 1 else "all were" if spurious == of else f"{spurious:,} were"
    originals = "original" if spurious == 1 else "originals"
    return f"{some} spurious, the {originals} had arrived"


def _lost(words: str) -> _Why:
    """What is said of a loss, where most were needed."""
    return _Why(_most(pl.col("need") == "needed"), lambda *_: words)


_IS_SPURIOUS: Final = _Why(_spurious, _spurious_words)

_NOT_KNOWN: Final = _Why(
    _most(pl.col("need") == "unknown"),
    lambda rows, _: f"whether {'it was' if rows.height == 1 else 'they were'} needed is not known",
)

_SILENCE: Final = _Why(_is_silence, _silence_words)
"""Below timeouts of a connection that ends with them: no ACK came any more."""

_TIMEOUTS: Final = (
    _Why(
        _most(pl.col("evidence") == "not-accepted"),
        lambda *_: (
            "the server had the ACK of its SYN-ACK and did not accept it yet (deferred accept, or "
            "a full queue)"
        ),
    ),
    _IS_SPURIOUS,
    _Why(_is_row, _row_words),
    _Why(
        _most(pl.col("length_bytes") == 0),
        lambda *_: "of packets that open or close the connection (SYN, FIN), not of data",
    ),
    _Why(
        _most(pl.col("flight_segments") < _FEW),
        lambda *_: "too few packets were in flight for three duplicate ACKs to come back",
    ),
    _Why(
        _most((pl.col("lost_in_flight") > 1) & (pl.col("need") == "needed")),
        lambda rows, _: (
            f"up to {max(rows['lost_in_flight'].to_list())} packets of a flight were lost"
        ),
    ),
    _NOT_KNOWN,
)
"""Below timeouts."""

_PROBES: Final = (_IS_SPURIOUS, _lost("the last packets of what was sent were lost"), _NOT_KNOWN)
"""Below tail loss probes."""

_REINJECTIONS: Final = (
    _IS_SPURIOUS,
    _lost("the data were lost or late on the subflow that had them first"),
    _NOT_KNOWN,
)
"""Below what was sent again on another subflow."""


# What acknowledgements brought on.


def _recoveries(mine: pl.DataFrame, every: pl.DataFrame) -> Sentence:
    episodes = mine.select("direction", "episode").unique().height
    times = "1 recovery" if episodes == 1 else f"{episodes:,} recoveries"
    head = f"{count(mine.height, 'packet')} retransmitted in {times}{_longest_recovery(mine)}"
    return _first(head, (_IS_SPURIOUS, _NOT_KNOWN), mine, every)


def _longest_recovery(mine: pl.DataFrame) -> str:
    """How long the only one took, or the longest, where all came to an end."""
    lengths = mine["recovery_s"]
    if lengths.null_count():
        return ""
    only = mine.select("direction", "episode").unique().height == 1
    return f"{' of' if only else ', the longest of'} {span(float(lengths.max()))}"  # type: ignore[arg-type]


def _unknown_words(mine: pl.DataFrame) -> str:
    """That the cause is not known, and what is missing for the likeliest one of most."""
    text = "what made the sender retransmit is not known"
    if "missing" not in mine.columns or mine["missing"].drop_nulls().is_empty():
        return text
    most = mine["missing"].drop_nulls().mode().sort()[0]
    return f"{text}; the packets lack {lacks(str(most))}"


def _longest(waits: pl.DataFrame) -> str:
    """Behind a count: how long the only one was waited for, or the longest; bounds of it where
    nobody saw from when on.
    """
    least = waits["waited_s"].max()
    if not isinstance(least, int | float):
        return ""
    bound = waits["waited_most_s"].max() if "waited_most_s" in waits.columns else None
    text = between(least, bound if isinstance(bound, int | float) else None)
    return f" after a wait of {text}" if waits.height == 1 else f", the longest wait {text}"
