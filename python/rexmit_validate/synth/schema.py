"""The tables of the truth, of kernels and the model alike, as `crates/schema` declares them."""

from __future__ import annotations

from typing import Final

from rexmit.store.schema import declared

_TRUTH: Final = declared("truth")

TABLES: Final = {name: table.columns for name, table in _TRUTH.items()}
"""The columns of every table by its name."""

RETRANSMISSIONS: Final = TABLES["retransmissions"]
CONNECTIONS: Final = TABLES["connections"]
