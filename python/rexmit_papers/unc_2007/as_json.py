"""The study as data: tables, and the points of every figure."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from rexmit.store.trace_schema import SMART_CONFIG
from rexmit_papers.claim import Claim, claims_data
from rexmit_papers.unc_2007 import curves, paper
from rexmit_papers.unc_2007.curves import Bins
from rexmit_papers.unc_2007.senders import Study
from rexmit_papers.unc_2007.systems import FR, RTO
from rexmit_papers.unc_2007.tables import Tables


class Studied(Protocol):
    """A study with what was counted of it."""

    @property
    def study(self) -> Study:
        """The connections."""

    @property
    def tables(self) -> Tables:
        """What was counted."""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What the paper claims."""


def study_data(studied: Studied, figures: list[Path]) -> dict[str, Any]:
    """Shares 0 to 1, times in seconds; null where the traces do not say. `paper` has what the paper
    prints, shares in percent.
    """
    study = studied.study
    return {
        "traces": [str(trace.path) for trace in study.traces],
        "rto": list(RTO),
        "fr": list(FR),
        "stacks": sorted({page for trace in study.traces for page in trace.facts.stacks}),
        "tables": asdict(studied.tables),
        "paper": {
            "table-1": {system: asdict(one) for system, one in paper.TABLE_1.items()},
            "table-2": [asdict(one) for one in paper.TABLE_2],
            "table-3": [asdict(one) for one in paper.TABLE_3],
            "table-4": {system: asdict(one) for system, one in paper.TABLE_4.items()},
            "table-5": {system: asdict(one) for system, one in paper.TABLE_5.items()},
        },
        "claims": claims_data(studied.claims),
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
    binned: list[Bins | None] = [
        *(curves.of_setting(study, system, setting) for setting in settings),
        *(bins for d in (2, 3, 4) for bins in curves.of_sizes(study, system, d)),
    ]
    return [asdict(one) for one in binned if one is not None]
