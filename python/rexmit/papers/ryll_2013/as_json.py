"""Tables 1 and 4 as data, for `--json`: plain dicts, lists and numbers under stable names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rexmit.analysis.cells import Cell
from rexmit.papers.ryll_2013 import paper
from rexmit.papers.ryll_2013.beside import Beside
from rexmit.papers.ryll_2013.table1 import Sequence, Table1
from rexmit.papers.ryll_2013.table4 import Block, Entry, Table4


def table4_data(table: Table4) -> dict[str, Any]:
    """Times in seconds, percentages in percent, null where there is none."""
    return {
        "lost_segments": table.lost_segments,
        "lost_segments_in_run": list(table.losses_in_run),
        "baseline": table.baseline,
        "paper": paper.SOURCE,
        "networks": [_block(block) for block in table.blocks],
    }


def table1_data(table: Table1) -> dict[str, Any]:
    """A sequence is a list of mechanisms in order of time, empty for no retransmission."""
    return {
        "config": table.config,
        "rows": [
            {
                "network": row.network,
                "group": dict(row.group.values),
                "lost_segments": list(row.lost_segments),
                "dropped_packets": list(row.dropped_packets),
                "transfers": row.transfers,
                "left_out": row.left_out,
                "first_retransmission": row.first_retransmission,
                "sequences": _sequences(row.sequences),
                "after_probe": _sequences(row.after_probe),
                "line_loses_by_itself": row.lossy,
                "as_in_paper": row.as_in_paper,
                "paper": asdict(row.repair),
            }
            for row in table.rows
        ],
    }


def beside_data(table: Beside) -> dict[str, Any]:
    """Runs beside the paper: `values` in the order of `runs`, null for a run without the cell."""
    return {
        "lost_segments": table.lost_segments,
        "baseline": table.baseline,
        "paper": paper.SOURCE,
        "runs": [
            {
                "path": str(run.path),
                "runs_on": ran.words,
                "near_the_paper": {
                    measure: {"near": n, "of": every} for measure, (n, every) in near.counts.items()
                },
            }
            for run, ran, near in zip(table.runs, table.runners, table.near, strict=True)
        ],
        "cells": [
            {
                "network": section.network,
                "group": dict(section.group.values),
                "measure": section.measure,
                **asdict(line),
            }
            for section in table.sections
            for line in section.lines
        ],
    }


def _block(block: Block) -> dict[str, Any]:
    totals = {entry.config: entry for entry in block.t_total}
    recovers = {entry.config: entry for entry in block.t_recover}
    return {
        "network": block.network,
        "rate_bps": block.setting.rate_bps,
        "rtt_ms": block.setting.rtt_ms,
        "group": dict(block.group.values),
        "configs": [
            {
                "config": config,
                "t_total": _entry(totals[config]),
                "t_recover": _entry(recovers[config]),
                **_counts(block.cells.get(config)),
            }
            for config in block.configs
        ],
    }


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        **asdict(entry.spread),
        "to_the_letter": asdict(entry.to_the_letter),
        "percent": entry.percent,
        "paper": asdict(entry.paper) if entry.paper else None,
    }


def _counts(cell: Cell | None) -> dict[str, Any]:
    if cell is None:
        return {"transfers": 0, "used": 0, "left_out": {}}
    return {
        "transfers": cell.transfers,
        "used": cell.used,
        "left_out": {reason.value: n for reason, n in cell.left_out.items()},
        "used_though_not_probed": cell.not_probed,
        "first_retransmission": cell.first_retransmission,
        "no_retransmission": cell.no_retransmission,
        "spurious_retransmissions": cell.spurious_retransmissions,
    }


def _sequences(counts: Mapping[Sequence, int]) -> list[dict[str, Any]]:
    return [{"mechanisms": list(sequence), "transfers": n} for sequence, n in counts.items()]
