"""The tables of a trace, as `crates/schema/src/trace.rs` declares them.

docs/reference/columns.md has all.
"""

from __future__ import annotations

from typing import Final

from rexmit import _core
from rexmit.store.schema import declared

MECHANISMS: Final = tuple(_core.mechanisms())
"""The words for what made a sender retransmit, in their order."""

SIDES: Final = ("forward", "backward")
"""Directions: `forward` is from the client, who opened the connection or sent the first packet."""

SMART_CONFIG: Final = "smart"
"""The setting of UNC 2007, section V.D: k = 2, minRTO = 100 ms, a = 1/4, b = 1/8 and
D = max(1, min(3, F - 2)), F being what is outstanding at the loss.
"""

_DECLARED: Final = declared("trace")

TABLES: Final = {name: table.columns for name, table in _DECLARED.items()}
"""The columns of every table of a trace folder by its name."""

ORDERS: Final = {name: table.order for name, table in _DECLARED.items()}
"""By table, the columns that its rows are sorted by."""

_OF_POINTS: Final = declared("points")

POINT_TABLES: Final = {name: table.columns for name, table in _OF_POINTS.items()}
"""The columns of the tables that a folder has besides, where captures are of several points."""

POINT_ORDERS: Final = {name: table.order for name, table in _OF_POINTS.items()}
"""By table, the columns that its rows are sorted by."""

CONNECTIONS: Final = TABLES["connections"]
SIDE_ROWS: Final = TABLES["sides"]
MECHANISM_COUNTS: Final = TABLES["mechanisms"]
PARAMETERS: Final = TABLES["parameters"]
RETRANSMISSIONS: Final = TABLES["retransmissions"]
WHATIF: Final = TABLES["whatif"]
WHATIF_TOTALS: Final = TABLES["whatif_totals"]
