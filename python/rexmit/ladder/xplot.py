"""A connection for xplot (xplot.org) and jPlot: the time-sequence graph of tcptrace.

Data are white from their first number to the last, what was sent again red (orange where it was
spurious) with its mechanism, acknowledgements a green stair, the end of the receiver's window a
yellow one, SACK blocks purple.
"""

from __future__ import annotations

from collections.abc import Iterator

from rexmit import escaping
from rexmit.ladder.picture import Picture
from rexmit.ladder.steps import Step


def xplot(picture: Picture) -> str:
    """The file's text. Times are seconds as the capture has them, cut to microseconds."""
    shift = picture.shift()
    missing = "" if shift is not None else " (no window: the SYNs that scale it are not there)"
    head = [
        *("timeval double", "title", escaping.shown(picture.title) + missing),
        *("xlabel", "time", "ylabel", "sequence number"),
    ]
    return "\n".join([*head, *_drawn(picture, shift), "go", ""])


def _drawn(picture: Picture, shift: int | None) -> Iterator[str]:
    stairs = {"green": _Stair(), "yellow": _Stair()}
    for step in picture.in_order():
        at = _time(picture.start_ns + picture.at_ns(step))
        if picture.is_data(step):
            yield from _data(step, at)
            continue
        if step.ack is None:
            continue
        yield from stairs["green"].to(at, step.ack, "green")
        if shift is not None:
            # The window of a SYN is never shifted (RFC 7323, section 2.2).
            window = step.window << (0 if "SYN" in step.flags else shift)
            yield from stairs["yellow"].to(at, step.ack + window, "yellow")
        for left, right in step.sack:
            yield from ("purple", f"line {at} {left} {at} {right}")


def _data(step: Step, at: str) -> Iterator[str]:
    if not step.used:
        return
    end = step.seq + step.used
    color = "white"
    if step.mechanism:
        color = "orange" if step.need == "spurious" else "red"
    yield from (color, f"darrow {at} {step.seq}", f"uarrow {at} {end}")
    yield f"line {at} {step.seq} {at} {end}"
    words = [escaping.shown(step.mechanism)] if step.mechanism else []
    words += [word for word in ("SYN", "FIN") if word in step.flags]
    if step.lost or step.dropped:
        words.append("lost")
    if words:
        yield from (f"atext {at} {end}", " ".join(words))


class _Stair:
    """A value that lasts until the next one."""

    def __init__(self) -> None:
        self._before: tuple[str, int] | None = None

    def to(self, at: str, value: int, color: str) -> Iterator[str]:
        """The lines that lead there; a tick for a value that stays, as of a duplicate ACK."""
        if self._before is not None:
            since, before = self._before
            yield from (color, f"line {since} {before} {at} {before}")
            if value == before:
                yield f"dtick {at} {before}"
            else:
                yield f"line {at} {before} {at} {value}"
        self._before = (at, value)


def _time(at_ns: int) -> str:
    return f"{at_ns // 10**9}.{at_ns % 10**9 // 1000:06d}"
