"""The settings of a what-if in words: what each part changes, what is usual instead, that none
would have helped, and to what none was applied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import polars as pl

from rexmit.tracing.advice import PATH_MTU, Advice
from rexmit.tracing.sentences.retransmissions import verdict
from rexmit.tracing.sentences.value import Sentence
from rexmit.tracing.words import listed, span
from rexmit.wording import count

if TYPE_CHECKING:
    from rexmit.tracing.summed import Summary, Totals

NOTICED: Final = 0.1
"""A setting helps where it makes more connections shorter by this share than longer, the measure of
the tables' `shorter` and `longer`, or as many and saves this share of all that was waited."""

_WHOLE: Final = {
    "tlp": "tail loss probes (RFC 8985), the last packet again after 2 round trips without an ACK",
    "no-tlp": "no tail loss probes",
    "rack": "RACK (RFC 8985), losses found by time, not by counting duplicate ACKs",
    "no-rack": "no RACK, losses found by counting duplicate ACKs",
    "undo": "undo of what spurious retransmissions did (Eifel, RFC 4015)",
    "no-undo": "no undo of what spurious retransmissions did",
    "frto": "F-RTO (RFC 5682), spurious timeouts found and undone",
    "no-frto": "no F-RTO",
    "sack": "selective ACKs (RFC 2018), several losses of a flight repaired in one round trip",
    "no-sack": "no selective ACKs, so no RACK and no tail loss probes, and each further loss of a "
    "flight takes a round trip (RFC 6582)",
    "smart": "Smart-Config of UNC 2007, timeout = smoothed RTT + 2 times the RTT variation, "
    "at least 100 ms; fast retransmit after 1 to 3 duplicate ACKs",
    "d=smart": "fast retransmit after 1 to 3 duplicate ACKs, fewer with less in flight",
}


def helps(one: Advice, totals: Totals) -> bool:
    """Whether it would have made a difference that somebody notices."""
    return one.shorter > one.longer or (
        one.shorter == one.longer and one.saved_s >= NOTICED * totals.waited_s > 0
    )


def none_helps(
    settings: Sequence[Advice], tried: int, summary: Summary, *, named: bool = False
) -> Sentence:
    """Where none of the `settings` helps, those that save most of all that were tried; `named`:
    what others do, which were asked for, is said before.
    """
    totals = summary.totals
    nothing = "nothing else" if named else "nothing"
    if is_held(summary):
        nothing = f"elsewhere {nothing}"
    little = (
        "would make more connections longer by a tenth than shorter, or save less than a tenth of "
        "the time waited"
    )
    text = (
        f"{nothing}: the other setting tried {little}"
        if tried == 1
        else f"{nothing}: of the {tried:,} other settings tried, even those that save most {little}"
    )

    def condition(_: object) -> bool:
        return not any(helps(one, totals) for one in settings)

    return Sentence(text, "connections", condition)


def is_held(summary: Summary) -> bool:
    """Whether full-size packets of somebody did not pass, which no setting changes."""
    return any(one.owner == PATH_MTU for one in summary.owners or ())


def not_applied(summary: Summary) -> Sentence | None:
    """Of how many retransmissions it is not known what another setting would have done, since it is
    not known what made them, and how long their senders waited; None where all causes are known.
    """
    for one in summary.mechanisms:
        if one.verdict == "unknown":
            number = one.retransmissions
            waited = f", waited for {span(one.waited_s)}" if one.waited_s else ""
            text = f"no setting was applied to {count(number, 'retransmission')} of unknown cause"

            def condition(rows: pl.DataFrame, number: int = number) -> bool:
                return rows.height == number

            unknown = verdict() == "unknown"
            return Sentence(text + waited, "retransmissions", condition, unknown)
    return None


def in_words(setting: str) -> str:
    """What a setting such as `k=2,min_rto=100ms` means; a part that is not known stays as it is."""
    return listed([_part(part.strip()) for part in setting.split(",")])


def _part(part: str) -> str:
    if part in _WHOLE:
        return _WHOLE[part]
    name, _, value = part.partition("=")
    match name:
        case "k":
            return f"timeout = smoothed RTT + {value} times the RTT variation (RFC 6298: 4)"
        case "m":
            return f"timeout = {value} times the smoothed RTT + RTT variation (RFC 6298: 1)"
        case "a":
            return f"RTT variation averaged with weight {value} for the newest (RFC 6298: 1/4)"
        case "b":
            return f"smoothed RTT averaged with weight {value} for the newest (RFC 6298: 1/8)"
        case "d":
            acks = "ACK" if value == "1" else "ACKs"
            return f"fast retransmit after {value} duplicate {acks} (RFC 5681: 3)"
        case "min_rto" | "rto_min":
            return f"minimum retransmission timeout of {_spaced(value)} (Linux: rto_min, 200 ms)"
        case "init_rto":
            return f"timeout of {_spaced(value)} before the first RTT sample (RFC 6298: 1 s)"
        case _:
            return part


def _spaced(time: str) -> str:
    number = time.rstrip("nµums")
    return f"{number} {time[len(number) :]}"
