"""Synthetic run folders: rows with every column of the schema, written as `rexmit run` does."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

from rexmit.cli import app
from rexmit.store.schema import RETRANSMISSIONS, TRANSFERS, polars_schema

Row = dict[str, Any]
MakeRow = Callable[..., Row]
WriteRun = Callable[..., Path]

CONFIGS = ("plain", "er", "tlp")
NETWORKS = {
    "high-speed": {"rate": "100Mbit", "delay": "2.5ms"},
    "mobile": {"rate": "7.2Mbit", "delay": "25ms"},
    "satellite": {"rate": "1Mbit", "delay": "200ms"},
}

#: As the paper's scenarios have it.
PROBED = {"tlp": {"leave_out": ["not-probed"]}}


_ROW: Row = {
    "network": "high-speed",
    "config": "er",
    "lost_segments": 5,
    "repetition": 0,
    "transfer_size_bytes": 144_800,
    "transfer_segments": 100,
    "dropped_segments": 5,
    "t_total_s": 0.3,
    "t_recover_s": 0.2,
    "is_tlp": False,
    "fin_on_data": True,
    "mechanism": "rto",
    "retransmissions": 5,
    "timeouts": 1,
    "probes": 0,
    "spurious_retransmissions": 0,
    "dsacks": 0,
    "srtt_s": 0.01,
    "rto_s": 0.21,
    "client_s": 0.3,
    "t_start_s": 1.0,
    "t_drop_s": 1.1,
    "t_retransmit_s": 1.3,
    "t_fin_retransmit_s": 1.3,
    "t_end_s": 1.3,
    "dropped_packets": 5,
    "mss_bytes": 1448,
    "exact": True,
    "stalled": False,
    "complete": True,
    "phase_s": 0.0,
    "congestion_control": "cubic",
    "client": "builtin",
    "loss_mode": "sequence",
    "loss_pattern": None,
    "page_segments": 100,
    "receive_window_bytes": None,
    "line_loss": 0.0,
    "isn_server": 1000,
    "isn_client": 2000,
    "client_port": 40000,
    "cell": 0,
    "note": None,
}

_RETRANSMISSION: Row = {
    "network": "high-speed",
    "config": "tlp",
    "lost_segments": 5,
    "repetition": 0,
    "time_s": 1.3,
    "seq": 1,
    "length_bytes": 1448,
    "fin": False,
    "mechanism": "tlp",
    "need": "needed",
    "first_sent_s": 1.1,
    "dropped": False,
    "cell": 0,
}


def make_row(**values: Any) -> Row:  # noqa: ANN401 - any column
    """A transfer's row; columns not named are those of a plain one."""
    unknown = set(values) - set(_ROW)
    assert not unknown, unknown
    return {**_ROW, **values}


def write_folder(
    path: Path,
    transfers: Iterable[Row],
    retransmissions: Iterable[Row] = (),
    **meta: Any,  # noqa: ANN401 - any key of run.json
) -> Path:
    """A finished run; `meta` replaces keys of run.json (None takes one out). Rows that leave their
    cells as they are, but stand for several, are numbered.
    """
    path.mkdir(parents=True, exist_ok=True)
    rows = list(transfers)
    if len({(row["cell"], row["repetition"]) for row in rows}) < len(rows):
        rows = [{**row, "cell": cell} for cell, row in enumerate(rows)]
    pl.DataFrame(rows, schema=polars_schema(TRANSFERS), orient="row").write_parquet(
        path / "transfers.parquet"
    )
    retransmissions = [{**_RETRANSMISSION, **row} for row in retransmissions]
    pl.DataFrame(
        retransmissions, schema=polars_schema(RETRANSMISSIONS), orient="row"
    ).write_parquet(path / "retransmissions.parquet")
    whole = {
        "format": 1,
        "state": "complete",
        "name": "test",
        "rexmit": "0.1.0",
        "engine": "kernel",
        "kernel": {"version": "6.12.117", "hz": 250, "patches": [], "hash": "0" * 16},
        "scenario": {"title": "a test", "networks": NETWORKS, "configs": PROBED},
        "seed": 1,
        "wall_s": 71.4,
        "virtual_s": 18_720.0,
        "transfers": len(rows),
        "failed_cells": [],
        "ignored_settings": [],
        "warnings": [],
        "command": "rexmit run scenarios/test.toml --seed 1",
        **meta,
    }
    text = json.dumps({key: value for key, value in whole.items() if value is not None})
    (path / "run.json").write_text(text, encoding="utf-8")
    return path


def realistic_rows(repeats: int = 20, losses: Iterable[int] = range(21)) -> list[Row]:
    """A campaign like the paper's, about its means, with the spread of a timer's ticks."""
    base = {"high-speed": (0.05, 0.0), "mobile": (0.62, 0.12), "satellite": (5.0, 0.6)}
    recover = {
        "high-speed": {"plain": 0.2396, "er": 0.2365, "tlp": 0.0447},
        "mobile": {"plain": 0.4392, "er": 0.4073, "tlp": 0.3310},
        "satellite": {"plain": 2.4792, "er": 2.4720, "tlp": 2.4331},
    }
    dice = random.Random(1)  # noqa: S311 - no secret
    rows: list[Row] = []
    for network, (lossless, step) in base.items():
        for config in CONFIGS:
            for lost in losses:
                cell = len({(row["network"], row["config"], row["lost_segments"]) for row in rows})
                for repetition in range(repeats):
                    none = lost == 0
                    t = recover[network][config] + dice.choice((0, 0.004, 0.008, 0.016))
                    if lost == 1 and config == "tlp":
                        t += 0.2
                    probe = config == "tlp" and dice.random() > 0.03
                    if config == "tlp" and not probe:
                        t = recover[network]["er"]
                    rounds = lost.bit_length() * (step + 0.012)
                    total = lossless + (0 if none else t + rounds) + dice.gauss(0, 0.002)
                    rows.append(
                        make_row(
                            network=network,
                            config=config,
                            lost_segments=lost,
                            repetition=repetition,
                            dropped_segments=lost,
                            dropped_packets=lost,
                            t_total_s=total,
                            t_recover_s=None if none else t,
                            is_tlp=probe if lost > 1 else None,
                            mechanism=None if none else "tlp" if probe else "rto",
                            cell=cell,
                        )
                    )
    return rows


@pytest.fixture(name="row")
def _row() -> MakeRow:
    return make_row


@pytest.fixture
def write_run(tmp_path: Path) -> WriteRun:
    """Writes a run folder RUN and returns its path."""

    def write(transfers: Iterable[Row], *more: Iterable[Row], **meta: Any) -> Path:  # noqa: ANN401
        return write_folder(tmp_path / "RUN", transfers, *more, **meta)

    return write


@pytest.fixture
def campaign() -> Callable[..., list[Row]]:
    """`realistic_rows`."""
    return realistic_rows


def printed(*argv: object) -> str:
    """What a command prints in 80 columns; a UserError comes through as it is."""
    words = list(map(str, argv))
    result = CliRunner().invoke(app, words, catch_exceptions=False, env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    return result.output


def squeezed(text: str) -> list[str]:
    """Lines with single blanks."""
    return [" ".join(line.split()) for line in text.splitlines()]


def three(row: MakeRow) -> list[Row]:
    """plain, er and tlp with round numbers; one tlp transfer without a probe."""
    return [
        row(config="plain", cell=0, t_total_s=0.36, t_recover_s=0.24),
        row(config="er", cell=1, t_total_s=0.30, t_recover_s=0.20),
        row(config="tlp", cell=2, t_total_s=0.20, t_recover_s=0.04, is_tlp=True, mechanism="tlp"),
        row(config="tlp", cell=2, t_total_s=0.24, t_recover_s=0.06, is_tlp=True, mechanism="tlp")
        | {"repetition": 1},
        row(config="tlp", cell=2, t_total_s=0.90, is_tlp=False) | {"repetition": 2},
    ]
