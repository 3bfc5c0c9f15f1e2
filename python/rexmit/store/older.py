"""What earlier versions called things: the one place that reads their tables and captures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

from rexmit.store import checked
from rexmit.store.schema import polars_schema, scan_table
from rexmit.store.trace_schema import SIDES
from rexmit.store.trace_schema import TABLES as TRACE_TABLES

COLUMNS: Final = {"resends": "retransmissions", "needless_resends": "spurious_retransmissions"}
"""Names of columns, and what they are now."""

TABLES: Final = {"retransmissions": "resends"}
"""Tables of a corpus of known retransmissions, and what they were."""

QUANTITIES: Final = {"resends": "retransmissions", "needless": "spurious"}
"""Quantities of `rexmit diff`, and what they are now."""

RETRANSMISSION_COMMENTS: Final = frozenset({"retransmission", "resend"})
"""The word in a packet's comment that says that the packet is a retransmission."""


def scenario(data: dict[str, Any]) -> dict[str, Any]:
    """The scenario of a run.json without the keys that were written whatever the loss rule and the
    network: those of the rule "tail" beside the rule "pattern", `at` beside paths.
    """
    found = dict(data)
    if isinstance(loss := found.get("loss"), dict) and loss.get("rule") == "pattern":
        found["loss"] = {
            key: value
            for key, value in loss.items()
            if (key, value) not in (("mode", "sequence"), ("hold_limit", "3s"))
        }
    if isinstance(networks := found.get("networks"), dict):
        found["networks"] = {name: _network(network) for name, network in networks.items()}
    return found


def _network(network: object) -> object:
    if isinstance(network, dict) and "paths" in network and network.get("at") == "wire":
        return {key: value for key, value in network.items() if key != "at"}
    return network


def renamed(frame: pl.DataFrame) -> pl.DataFrame:
    """A table, its columns named as they are now."""
    old = {name: new for name, new in COLUMNS.items() if new not in frame.columns}
    return frame.rename(old, strict=False)


def corpus_table(folder: Path, name: str) -> Path:
    """The file of a table of a corpus."""
    file = folder / f"{name}.parquet"
    if name in TABLES and not file.exists():
        older = folder / f"{TABLES[name]}.parquet"
        if older.exists():
            return older
    return file


ANALYSE: Final = "analyse the captures again"
"""What is to be done where a trace's folder cannot be read."""

TRACE_FORMATS: Final = (1, 2, 3)
"""Formats of a trace's folder that are read beside today's.

In format 3 there was no `account`. In format 2 a connection's row had the columns of `sides` for
each side, such as `forward_bytes`; in format 1 those of `mechanisms` and `parameters`, too, such as
`forward_rto_needed` and `backward_k_low`. There were no such tables.
"""

_KEYS: Final = ("capture", "connection", "flow", "direction")

_OF_SIDES: Final = tuple(
    one.name for one in TRACE_TABLES["sides"] if one.name not in _KEYS and not one.later
)

_MECHANISMS: Final = (
    "rto",
    "rto-recovery",
    "fast-retransmit",
    "sack-recovery",
    "fack",
    "early-retransmit",
    "rack",
    "tlp",
    "mptcp-reinject",
    "unknown",
)
"""Those of format 1."""

_COUNTS: Final = ("needed", "spurious", "waited_s")

_INFERRED: Final = {"value": "", "low": "_low", "high": "_high"}

_LONG: Final = {"mechanisms": _MECHANISMS, "parameters": ("d", "a", "b", "m", "k", "min_rto_s")}
"""What had columns of its own in format 1, by the table that has rows of it now."""


def trace_files(found: int) -> Mapping[str, Sequence[str]]:
    """The tables that a trace's folder of this format has as files, and the columns that none of
    them may lack.
    """
    files = {
        name: [one.name for one in columns if not one.later]
        for name, columns in TRACE_TABLES.items()
    }
    if found <= 3:
        del files["account"]
    if found <= 2:
        del files["sides"]
        files["connections"] += [f"{side}_{name}" for side in SIDES for name in _OF_SIDES]
    if found == 1:
        for name, kinds in _LONG.items():
            del files[name]
            for side in SIDES:
                for kind in kinds:
                    files["connections"] += _wide(name, side, kind)
    return files


def trace_file(path: Path, table: str, found: int) -> Path:
    """The file that has a table's columns, in a trace's folder of this format."""
    wide = table in TRACE_TABLES and table not in trace_files(found)
    return path / f"{'connections' if wide else table}.parquet"


def scan_trace(path: Path, table: str, found: int) -> pl.LazyFrame:
    """A table of a trace's folder of this format, in today's columns, read when asked. Raises
    UserError where it is no such table.
    """
    file = trace_file(path, table, found)
    return checked.fitting(_scanned(file, table), TRACE_TABLES[table], file, ANALYSE)


def _scanned(file: Path, table: str) -> pl.LazyFrame:
    rows = scan_table(file)
    if file.stem == table:
        return rows
    if table == "account":
        return pl.LazyFrame(schema=polars_schema(TRACE_TABLES[table]))
    if table == "sides":
        parts = [
            rows.select(
                *_whose(side), *(pl.col(f"{side}_{name}").alias(name) for name in _OF_SIDES)
            )
            for side in SIDES
        ]
    else:
        parts = [_long(rows, table, side, kind) for side in SIDES for kind in _LONG[table]]
    return pl.concat(parts).sort("connection", "direction", maintain_order=True)


def _wide(table: str, side: str, kind: str) -> dict[str, str]:
    """The columns of a side and mechanism, or parameter, and what they are called now."""
    if table == "parameters":
        return {f"{side}_{kind}{end}": name for name, end in _INFERRED.items()}
    return {f"{side}_{kind.replace('-', '_')}_{what}": what for what in _COUNTS}


def _whose(side: str) -> tuple[pl.Expr, ...]:
    """The columns that tables of sides begin with."""
    flow = pl.col("flow")
    if side == "backward":
        ends = flow.str.split_exact(" > ", 1).struct
        flow = pl.format("{} > {}", ends.field("field_1"), ends.field("field_0")).alias("flow")
    return pl.col("capture"), pl.col("connection"), flow, pl.lit(side).alias("direction")


def _long(connections: pl.LazyFrame, table: str, side: str, kind: str) -> pl.LazyFrame:
    values = [pl.col(was).alias(name) for was, name in _wide(table, side, kind).items()]
    return connections.select(
        *_whose(side),
        pl.lit(kind).alias(table.removesuffix("s")),
        *values,
    ).filter(
        pl.col("value").is_not_null()
        if table == "parameters"
        else pl.any_horizontal(pl.col(_COUNTS) != 0)
    )
