"""Runs over several paths and the analysis of their captures, held against each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rexmit.tracing.memory import tables

REINJECT = "mptcp-reinject"

Row = dict[str, Any]


def compare(run: Path) -> tuple[int, int]:
    """Every connection of a run, as the server's capture tells of it and as the run knows it: how
    many retransmissions of subflows were compared, and how many re-injections.
    """
    own, again = 0, 0
    retransmissions = pl.read_parquet(run / "retransmissions.parquet")
    for transfer in pl.read_parquet(run / "transfers.parquet").iter_rows(named=True):
        here = {name: transfer[name] for name in ("cell", "repetition")}
        name = f"{transfer['cell']}-{transfer['repetition']}.h1.pcapng"
        traced = tables(run / "captures" / name).retransmissions
        told = sorted(
            traced.filter(direction="backward").to_dicts(),
            key=lambda row: (_path(row), row["mechanism"] == REINJECT, row["time_ns"]),
        )
        known = sorted(
            retransmissions.filter(**here).to_dicts(),
            key=lambda row: (row["path"], row["mechanism"] == REINJECT, row["time_s"]),
        )
        assert len(told) == len(known), (transfer, told, known)
        for one, other in zip(known, told, strict=True):
            _compare(one, other, known)
            again += one["mechanism"] == REINJECT
            own += one["mechanism"] != REINJECT
    return own, again


def _path(row: Row) -> int:
    # The client's address on path K is 10.0.K.2.
    return int(row["flow"].split(" > ")[1].split(".")[2])


def _compare(one: Row, other: Row, known: list[Row]) -> None:
    both = (one, other)
    told = {other["mechanism"], other["runner_up"] if other["either"] else None}
    assert one["mechanism"] in told, both
    assert (one["path"], one["length_bytes"]) == (_path(other), other["length_bytes"]), both
    waited = one["time_s"] - one["first_sent_s"]
    assert other["time_s"] - other["first_sent_s"] == pytest.approx(waited, abs=2e-6), both
    if one["mechanism"] == REINJECT:
        assert one["first_path"] == other["first_subflow"], both
        if (other["seq_end"] - other["seq_start"]) % 2**32 == one["length_bytes"]:
            assert one["need"] == other["need"], both
        else:
            # The run judges all of a packet, which for its new data was needed.
            assert (one["need"], other["need"]) in [("needed", "spurious"), ("needed", "needed")]
    elif one["need"] == "spurious" and any(_brought(one, row) for row in known):
        # The data were there already; the subflow has to bring them all the same.
        assert other["need"] in ("needed", "spurious"), both
    else:
        assert one["need"] == other["need"], both


def _brought(retransmission: Row, row: Row) -> bool:
    """Whether a re-injection had brought a part of what a subflow sent again."""
    if row["mechanism"] != REINJECT or row["dropped"] or row["time_s"] >= retransmission["time_s"]:
        return False
    end = row["data_seq"] + row["length_bytes"]
    retransmitted = retransmission["data_seq"] + retransmission["length_bytes"]
    return bool(row["data_seq"] < retransmitted and retransmission["data_seq"] < end)
