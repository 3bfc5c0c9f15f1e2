"""Tables of `rexmit._core` as Arrow: what Polars makes of them is what is declared, null or not."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from tests.trace.test_core import capture

from rexmit import _core
from rexmit.store.schema import polars_schema
from rexmit.store.trace_schema import TABLES


def batches(path: Path, connections: int) -> dict[str, _core.Batch]:
    path.write_bytes(capture(connections))
    made = _core.Trace([path], jobs=1).next_batch()
    assert made is not None
    return made


def test_every_kind_and_its_null(tmp_path: Path) -> None:
    tables = {name: pl.DataFrame(one) for name, one in batches(tmp_path / "a", 2).items()}
    assert {name: dict(one.schema) for name, one in tables.items()} == {
        name: polars_schema(columns) for name, columns in TABLES.items()
    }
    rows = tables["connections"].select(
        "flow",
        "closed",
        "mid_stream",
        "mptcp_connection",
        "start_s",
    )
    # Texts of more than 12 bytes and of fewer are kept apart.
    assert rows.rows() == [
        ("10.0.0.1:2000 > 10.0.0.2:80", "fin", False, None, 1_000.0),
        ("10.0.0.1:2001 > 10.0.0.2:80", "fin", False, None, 1_001.0),
    ]
    sides = tables["sides"].select("direction", "syn_system", "bytes", "best_case_s")
    assert sides.rows()[2:] == [("forward", None, 50, None), ("backward", None, 2_000, 0.201)]
    several = tables["mechanisms"].select("connection", "direction", "mechanism", "needed")
    assert several.height == 2
    assert several["direction"].to_list() == ["backward"] * 2


def test_rows_may_be_taken_twice_and_outlive_what_gave_them(tmp_path: Path) -> None:
    tables = batches(tmp_path / "a", 50)
    one, two = pl.DataFrame(tables["connections"]), pl.DataFrame(tables["connections"])
    del tables
    assert one.equals(two)
    assert sorted(one["start_s"].to_list()) == [1_000.0 + n for n in range(50)]


def test_a_table_without_rows_has_its_columns(tmp_path: Path) -> None:
    totals = pl.DataFrame(batches(tmp_path / "a", 1)["whatif_totals"])
    assert totals.is_empty()
    assert dict(totals.schema) == polars_schema(TABLES["whatif_totals"])
