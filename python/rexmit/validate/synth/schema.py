"""The tables of the truth, of kernels and the model alike, as `crates/schema` declares them."""

from __future__ import annotations

from typing import Final

from rexmit.store.schema import declared

_TRUTH: Final = declared("truth")

RETRANSMISSIONS: Final = _TRUTH["retransmissions"].columns
CONNECTIONS: Final = _TRUTH["connections"].columns
