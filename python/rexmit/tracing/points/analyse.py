"""Captures of several points from files to tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from rexmit.progress import Progress, Silent
from rexmit.sources.capture import whole_name
from rexmit.store.trace_schema import TABLES
from rexmit.tracing.options import Analysis
from rexmit.tracing.points.captured import Span
from rexmit.tracing.points.combine import Combined, combine
from rexmit.tracing.points.follow import Ways, follow
from rexmit.tracing.points.recognise import Recognised
from rexmit.tracing.source import Core, Facts, File, batches, empty


@dataclass(frozen=True)
class Analysed:
    """One trace of several points. `about` is what its trace.json says of them."""

    combined: Combined
    facts: Facts
    about: list[dict[str, Any]]


def analyse(
    recognised: Recognised, analysis: Analysis, progress: Progress | None = None
) -> Analysed:
    """Follows the packets over the points, and analyses the captures of each point by themselves.

    The tables are held in memory; what is kept of packets while captures are read is bounded.
    """
    hearer = progress or Silent()
    analysis = replace(analysis, tables=None)
    ways = follow(recognised, hearer)
    points: list[dict[str, pl.DataFrame]] = []
    facts: list[Facts] = []
    for point in recognised.points:
        stream = Core(recognised.paths(point), analysis)
        parts = {name: [empty(name)] for name in TABLES}
        for batch in batches(stream, hearer.advance):
            for name, rows in batch.items():
                parts[name].append(rows)
        points.append({name: pl.concat(rows) for name, rows in parts.items()})
        facts.append(stream.facts())
    about = [
        {
            "name": point.name,
            "captures": [str(path) for path in recognised.paths(point)],
            "files": [whole_name(path) for path in recognised.paths(point)],
            "clock": steps,
        }
        for point, steps in zip(recognised.points, ways.clocks, strict=True)
    ]
    all_facts = _together(recognised, facts, ways)
    return Analysed(combine(points, ways, [_span(one) for one in facts]), all_facts, about)


def _span(facts: Facts) -> Span:
    """From the first packet of a point's captures to the last."""
    firsts = [file.first_s for file in facts.files if file.first_s is not None]
    lasts = [file.last_s for file in facts.files if file.last_s is not None]
    return (min(firsts), max(lasts)) if firsts and lasts else None


def _together(recognised: Recognised, facts: Sequence[Facts], ways: Ways) -> Facts:
    """What was read at all points."""
    skipped: Counter[str] = Counter()
    files: dict[int, File] = {}
    warnings = list(ways.warnings)
    for point, one in zip(recognised.points, facts, strict=True):
        skipped.update(one.not_understood)
        files.update(zip(point.files, one.files, strict=True))
        warnings += [f"{point.name}: {warning}" for warning in one.warnings]
    return Facts(
        packets=sum(one.packets for one in facts),
        tcp_packets=sum(one.tcp_packets for one in facts),
        bytes=sum(one.bytes for one in facts),
        not_understood=dict(skipped),
        evicted=sum(one.evicted for one in facts),
        evicted_openings=sum(one.evicted_openings for one in facts),
        failed=ways.failed + sum(one.failed for one in facts),
        failed_packets=ways.failed_packets + sum(one.failed_packets for one in facts),
        failures=(*ways.failures, *(failure for one in facts for failure in one.failures)),
        lookups=facts[0].lookups,
        warnings=tuple(warnings),
        settings=facts[0].settings,
        named=facts[0].named,
        files=tuple(files[number] for number in sorted(files)),
        capture_filter=facts[0].capture_filter,
        left_out=sum(one.left_out for one in facts),
    )
