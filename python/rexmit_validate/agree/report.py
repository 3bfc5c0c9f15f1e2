"""What `rexmit validate agree` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rexmit_validate.agree.rates import Rates

_NAMED: Final = 6


def lines(tally: Rates, *, kernel: str, other: str, hz: int, ticks: int) -> Iterator[str]:
    """The rates, then the classes of disagreement and what they have in common."""
    cases = f"{tally.cases:,} {tally.measures.cases}"
    yield f"{cases}, {other} against kernel {kernel} at {hz} Hz"
    if tally.failed:
        yield f"{tally.failed} more were not run by the kernel and do not count"
    for name, count, about in tally.rows():
        within = "a tick" if ticks == 1 else f"{ticks} ticks"
        remark = f"  {about.format(within=within)}" if about else ""
        yield f"  {name:<36}{tally.share(count):6.1f}%  {count:>6,}{remark}"
    if tally.kinds:
        yield ""
        yield f"{tally.measures.difference}:"
        for kind, names in tally.kinds.items():
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            yield f"  {len(names):>4}  {kind}: {', '.join(names[:_NAMED])}{more}"
    if tally.skews:
        yield ""
        yield "more frequent among disagreements than among all cases:"
        for skew in tally.skews[:10]:
            yield (
                f"  {skew.setting:<34}{100 * skew.among_failed:5.0f}% against "
                f"{100 * skew.among_all:.0f}%"
            )
