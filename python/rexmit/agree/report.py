"""What `rexmit agree` prints."""

from __future__ import annotations

from collections.abc import Iterator

from rexmit.agree.judge import Tally
from rexmit.agree.rates import kind_lines, rate_lines


def lines(tally: Tally, *, kernel: str, stack: str, hz: int) -> Iterator[str]:
    """The rates, then the classes of disagreement and what they have in common."""
    yield f"{tally.cases:,} cases, model {stack} against kernel {kernel} at {hz} Hz"
    if tally.failed:
        yield f"{tally.failed} more were not run by the kernel and do not count"
    rows = (
        ("every packet agrees", tally.exact, "order, bytes, mechanism, time within a tick"),
        ("the same packets and mechanisms", tally.mechanisms, "at whatever time"),
        ("the same packets in the same order", tally.packets, ""),
        ("mechanism and t_recover", tally.recovery, "of the first resend, within a tick"),
        ("resends", tally.with_resends, "cases in which something was sent again"),
    )
    yield from rate_lines(tally, rows)
    yield from kind_lines(tally, "first differing packet")
    if tally.skews:
        yield ""
        yield "more frequent among disagreements than among all cases:"
        for skew in tally.skews[:10]:
            yield (
                f"  {skew.setting:<34}{100 * skew.among_failed:5.0f}% against "
                f"{100 * skew.among_all:.0f}%"
            )
