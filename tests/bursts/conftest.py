"""Run folders of the 2017 study, made of completion times."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rexmit.store.schema import RETRANSMISSIONS, TRANSFERS, polars_schema
from rexmit_papers.probe_or_wait_2017.paper import DIAGRAMS, LOSSES, PAIRS

Times = Mapping[str, float] | Callable[[str, tuple[int, int], str], float | None]
WriteStudy = Callable[..., Path]

CONFIGS = ("tcp-rto", "tcp-tlp", "mptcp-rto", "mptcp-tlp", "mptcp-new")


def _row(**values: Any) -> dict[str, Any]:  # noqa: ANN401 - any column
    usual: dict[str, Any] = {
        "lost_segments": 1,
        "transfer_size_bytes": 114_240,
        "transfer_segments": 80,
        "dropped_segments": 1,
        "t_recover_s": 0.2,
        "mechanism": "rto",
        "retransmissions": 1,
        "timeouts": 1,
        "probes": 0,
        "dsacks": 0,
        "t_drop_s": 5.0,
        "t_retransmit_s": 5.2,
        "dropped_packets": 1,
        "exact": True,
        "stalled": False,
        "complete": True,
        "phase_s": 0.0,
        "congestion_control": "cubic",
        "client": "burst",
        "loss_mode": "pattern",
        "line_loss": 0.0,
        "protocol": "mptcp",
    }
    return {**usual, **values}


@pytest.fixture
def write_study(tmp_path: Path) -> WriteStudy:
    """Writes the study's folder: `time(config, pair, loss)` is the mean completion in seconds, None
    for a case that is not there; eight connections each, 2 ms apart in turn. `change` edits each
    row.
    """

    def write(
        time: Callable[[str, tuple[int, int], str], float | None],
        change: Callable[[dict[str, Any]], dict[str, Any]] = lambda row: row,
        name: str = "run",
    ) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        rows, retransmissions, cell = [], [], 0
        for pair in PAIRS:
            for config in CONFIGS:
                for loss in LOSSES:
                    mean = time(config, pair, loss)
                    if mean is None:
                        continue
                    where = {
                        "network": f"{pair[0]}-{pair[1]}",
                        "config": config,
                        "lost_segments": 1,
                        "cell": cell,
                    }
                    for repetition, off in enumerate((-0.001, 0.001) * 4):
                        own = {**where, "repetition": repetition}
                        rows.append(change(_row(**own, loss_pattern=loss, t_total_s=mean + off)))
                        retransmissions += [
                            {
                                **own,
                                "time_s": 5.2 if place == 0 else 5.3,
                                "seq": 100,
                                "length_bytes": 1428,
                                "fin": False,
                                "mechanism": "mptcp-reinject" if "2 " in again else "rto",
                                "need": "needed",
                                "dropped": "lost" in again,
                                "path": int(again[0]),
                                "data_seq": "xy".index(again[2]),
                            }
                            for place, again in enumerate(
                                sorted(DIAGRAMS.get((config, loss), ("2 x",)), reverse=True)
                            )
                        ]
                    cell += 1
        _parquet(rows, TRANSFERS, folder / "transfers.parquet")
        _parquet(retransmissions, RETRANSMISSIONS, folder / "retransmissions.parquet")
        networks = {
            f"{a}-{b}": {"rate": "54Mbit", "paths": [{"delay": f"{a}ms"}, {"delay": f"{b}ms"}]}
            for a, b in PAIRS
        }
        meta = {
            "format": 1,
            "state": "complete",
            "name": "mptcp-2017",
            "engine": "kernel",
            "kernel": {"version": "6.12.117", "hz": 250, "patches": [], "hash": "0" * 16},
            "scenario": {"networks": networks, "workload": {"server": "burst"}},
            "seed": 1,
            "transfers": len(rows),
            "command": "rexmit run mptcp-2017",
        }
        (folder / "run.json").write_text(json.dumps(meta), encoding="utf-8")
        return folder

    return write


def _parquet(rows: list[dict[str, Any]], columns: Any, path: Path) -> None:  # noqa: ANN401
    pl.DataFrame(rows, schema=polars_schema(columns), orient="row").write_parquet(path)
