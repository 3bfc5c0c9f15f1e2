"""The files of a trace: when each was captured, and whether they belong together.

Files of a rotation follow each other; files of two places, or of two days, are better read one by
one. Nothing keeps a user from giving them at once, so the page says what was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import polars as pl

from rexmit.tracing.folder import Trace
from rexmit.tracing.source import File
from rexmit.tracing.words import span
from rexmit.values import dataclass
from rexmit.wording import count


@dataclass(frozen=True)
class Captured:
    """`files` in the order of time. `captured_s` is the time that at least one of them covers, of
    `whole_s` from the first packet to the last; `start_s` and `end_s` are None where nothing was
    captured. `strangers`: no address is in more than one of the files, as far as their times tell
    which connection is in which.
    """

    files: tuple[File, ...]
    start_s: float | None
    end_s: float | None
    captured_s: float
    strangers: bool

    @property
    def whole_s(self) -> float:
        """From the first packet to the last."""
        return 0.0 if self.start_s is None or self.end_s is None else self.end_s - self.start_s


def captured(trace: Trace) -> Captured:
    """What was captured when. Without the files' own times those of the connections serve."""
    timed = [(file.first_s, file.last_s) for file in trace.facts.files if _is_of_first(file, trace)]
    spans = sorted((first, last) for first, last in timed if first is not None and last is not None)
    if not spans:
        connections = trace.scan("connections").select(
            pl.col("start_s").min(), pl.col("end_s").max()
        )
        start_s, end_s = connections.collect().row(0)
        spans = [(start_s, end_s)] if start_s is not None and end_s is not None else []
    ordered = sorted(trace.facts.files, key=lambda file: (file.first_s is None, file.first_s or 0))
    return Captured(
        tuple(ordered),
        min((first for first, _ in spans), default=None),
        max((last for _, last in spans), default=None),
        _covered(spans),
        _strangers(trace, spans),
    )


def _is_of_first(file: File, trace: Trace) -> bool:
    """Whether its times are of the clock of the first point: those of others say nothing here."""
    points = trace.meta.get("points", [])
    return not points or file.path in points[0]["captures"]


def _covered(spans: Sequence[tuple[float, float]]) -> float:
    """The length of the union of spans in the order of their starts."""
    total, until = 0.0, float("-inf")
    for first, last in spans:
        total += max(0.0, last - max(first, until))
        until = max(until, last)
    return total


def _strangers(trace: Trace, spans: Sequence[tuple[float, float]]) -> bool:
    apart = all(last < first for (_, last), (first, _) in pairwise(spans))
    if len(spans) < 2 or not apart or trace.points:
        return False
    starts = pl.Series([first for first, _ in spans])
    flows = trace.scan("connections").select("start_s", "flow").collect()
    file = starts.search_sorted(flows["start_s"], side="right")
    hosts = (
        flows.select(pl.col("flow").str.split(" > ").alias("end"))
        .with_columns(file.alias("file"))
        .explode("end")
        .with_columns(pl.col("end").str.replace(r":\d+$", ""))
        .unique()
    )
    several = hosts["file"].n_unique() > 1
    return several and hosts["end"].n_unique() == hosts.height


def warnings(facts: Captured) -> list[str]:
    """What to know before several files are read as one."""
    texts = []
    files = count(len(facts.files), "file")
    if facts.captured_s * 2 < facts.whole_s:
        texts.append(
            f"the {files} lie apart: together they cover {span(facts.captured_s)} of the "
            f"{span(facts.whole_s)} from the first packet to the last"
        )
    if facts.strangers:
        texts.append(
            f"no host is in more than one of the {files}: if they are of different places, analyse "
            "each by itself"
        )
    return texts
