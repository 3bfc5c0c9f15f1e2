"""The synthetic runs of tests/show."""

from __future__ import annotations

from tests.show.conftest import _row, campaign, write_run

__all__ = ["_row", "campaign", "write_run"]
