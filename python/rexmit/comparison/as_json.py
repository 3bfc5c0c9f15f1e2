"""A comparison as data, for `--json`."""

from __future__ import annotations

from typing import Any

from rexmit.analysis.axes import AXES
from rexmit.comparison.compare import CellDiff, Comparison
from rexmit.comparison.gate import Gate
from rexmit.comparison.measures import Difference, Firsts
from rexmit.comparison.packets import Compared
from rexmit.comparison.show_diff import summary
from rexmit.comparison.show_packets import parting_data
from rexmit.statistics.spread import spread_data


def comparison_data(
    comparison: Comparison, gate: Gate | None, compared: Compared | None = None
) -> dict[str, Any]:
    """Times in seconds, percentages in percent, null where there is none; `gate` is null without
    `--worse-than`, `parting` without captures.
    """
    runs = zip("ab", (comparison.a, comparison.b), comparison.runners, strict=True)
    return {
        **{
            letter: {"run": str(run.path), "runs_on": ran.words, "seed": run.meta.get("seed")}
            for letter, run, ran in runs
        },
        "tick_s": comparison.tick_s,
        "metrics": list(comparison.metrics),
        "summary": summary(comparison),
        "cells": [_cell(cell) for cell in comparison.cells],
        "differing": len(comparison.differing),
        "only_in_a": list(comparison.only_a),
        "only_in_b": list(comparison.only_b),
        "failed_cells": dict(zip("ab", comparison.failed, strict=True)),
        "gate": None if gate is None else gate.as_json(),
        "parting": None if compared is None else parting_data(compared),
    }


def _cell(cell: CellDiff) -> dict[str, Any]:
    return {
        "label": cell.label,
        "a": _side(cell, 0),
        "b": _side(cell, 1),
        "paired": cell.paired,
        "differs": cell.differs,
        "differences": [_difference(one) for one in (*cell.measures, *cell.counts)],
        "first_retransmission": _firsts(cell.firsts),
    }


def _side(cell: CellDiff, side: int) -> dict[str, Any]:
    there = (cell.pair.a, cell.pair.b)[side]
    return {
        "cell": there.number,
        **dict(zip(AXES, there.point.values, strict=True)),
        "transfers": cell.transfers[side],
        "left_out": cell.left_out[side],
    }


def _difference(difference: Difference) -> dict[str, Any]:
    return {
        "metric": difference.metric,
        "a": spread_data(difference.a),
        "b": spread_data(difference.b),
        "pairs": difference.pairs,
        "difference": difference.difference,
        "interval": None if difference.interval is None else difference.interval.data,
        "percent": difference.percent,
        "limit": difference.limit,
        "smallest": difference.smallest,
        "beyond": difference.beyond,
    }


def _firsts(firsts: Firsts) -> dict[str, Any]:
    a, b = ({name or "none": n for name, n in side.items()} for side in (firsts.a, firsts.b))
    return {"a": a, "b": b, "differing": firsts.differing, "differs": firsts.beyond}
