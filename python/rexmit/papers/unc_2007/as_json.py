"""The study as data: tables, and the points of every figure."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from rexmit.papers.unc_2007 import curves
from rexmit.papers.unc_2007.curves import Bins
from rexmit.papers.unc_2007.senders import Study
from rexmit.papers.unc_2007.tables import Tables
from rexmit.store.trace_schema import SMART_CONFIG
from rexmit.tracing import terms


def study_data(study: Study, tables: Tables, figures: list[Path]) -> dict[str, Any]:
    """Shares 0 to 1, times in seconds; null where the traces do not say."""
    return {
        "traces": [str(trace.path) for trace in study.traces],
        "rto": list(terms.RTO),
        "fr": list(terms.FR),
        "tables": asdict(tables),
        "curves": {
            "figure-1": [asdict(one) for one in curves.bytes_sent(study)],
            "figure-2": [asdict(one) for one in curves.detection(study)],
            "figure-3": [asdict(one) for one in curves.best_case(study)],
            "figure-6": [asdict(one) for one in curves.smart_change(study)],
        },
        "bins": {system: _bins(study, system) for system in study.systems},
        "figures": [str(path) for path in figures],
    }


def _bins(study: Study, system: str) -> list[dict[str, Any]]:
    settings = ("k=2", "k=3", "k=6", "min_rto=100ms", "min_rto=400ms", "a=1/2", SMART_CONFIG)
    made: list[Bins | None] = [
        *(curves.of_setting(study, system, setting) for setting in settings),
        *(bins for d in (2, 3, 4) for bins in curves.of_sizes(study, system, d)),
    ]
    return [asdict(one) for one in made if one is not None]
