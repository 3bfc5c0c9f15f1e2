"""The study as data: tables, and the points of every figure."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from rexmit.study import curves
from rexmit.study.curves import Bins
from rexmit.study.senders import Study
from rexmit.study.tables import Tables, only
from rexmit.trace import terms


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
    made: list[Bins | None] = [
        *(curves.of_setting(study, system, f"k = {k}", only("k", k)) for k in (2, 3, 6)),
        *(
            curves.of_setting(study, system, f"minRTO = {ms} ms", only("min_rto_s", ms / 1000))
            for ms in (100, 400)
        ),
        curves.of_setting(study, system, "a = 1/2", only("a", 0.5)),
        *(bins for d in (2, 3, 4) for bins in curves.of_sizes(study, system, d)),
        curves.of_setting(study, system, "Smart-Config", curves.is_smart()),
    ]
    return [asdict(one) for one in made if one is not None]
