"""The fields of the guest's rows: what they are called there, and which a column comes from.

The guest writes integers, nanoseconds and microseconds; what the campaign knows of a cell anyhow
(its network, its client, …) it does not write. `Column.field` says which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from rexmit.store.schema import BURSTS, RETRANSMISSIONS, SUBFLOWS, TRANSFERS, Column


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a run, its rows' event, and the fields that such a row has and may have."""

    name: str
    event: str
    columns: tuple[Column, ...]
    must_have: tuple[str, ...]
    may_have: tuple[str, ...]

    def fault(self, row: Mapping[str, Any]) -> str | None:
        """What keeps a row out of the table: a field that it lacks, or that has a value which is
        none of its column's. Fields that the table does not have are no fault."""
        missing = [name for name in self.must_have if name not in row]
        if missing:
            return f"{', '.join(missing)} is missing"
        for column in self.columns:
            if column.field is not None:
                name, _ = column.field
                if not _suits(column, row.get(name)):
                    return f"{name} is {row.get(name)!r:.40}"
        return None

    def fits(self, row: Mapping[str, Any]) -> bool:
        """Whether a row can be one of the table and has no field besides."""
        return self.fault(row) is None and row.keys() <= {*self.must_have, *self.may_have}


_LARGEST: Final = 2**63


def _suits(column: Column, value: object) -> bool:
    """Whether a value can stand in the column."""
    if value is None:
        return column.nullable
    match column.kind:
        case "text":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return type(value) is int and -_LARGEST <= value < _LARGEST
        case "number":
            return type(value) in (int, float) and abs(cast("float", value)) < _LARGEST


def _table(name: str, event: str, columns: tuple[Column, ...]) -> Table:
    def fields(*, later: bool) -> tuple[str, ...]:
        own = (column for column in columns if column.later == later)
        return tuple(sorted(column.field[0] for column in own if column.field is not None))

    return Table(name, event, columns, fields(later=False), fields(later=True))


TABLES: Final = (
    _table("transfers", "transfer", TRANSFERS),
    _table("retransmissions", "retransmission", RETRANSMISSIONS),
    _table("bursts", "burst", BURSTS),
    _table("subflows", "subflow", SUBFLOWS),
)
"""Every table of a run."""
