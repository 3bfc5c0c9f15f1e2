"""Verdicts by another seed, beside those that the results of findings have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Final

from scripts.findings import results
from scripts.findings.markdown import table
from scripts.findings.results import Data, Value

DECIDED: Final = ("holds", "does not")


def _known(finding: str) -> dict[tuple[Value, Value], Value]:
    """The verdicts of its result, by where and key."""
    rows = results.read(finding).data.rows("claims")
    if finding == "tlp-2013":
        return {(where, row["key"]): row[where] for row in rows for where in ("bench", "lab")}
    if finding == "mptcp-2017":
        return {(row["run"], row["key"]): row["holds"] for row in rows}
    return {(f"{row['kind']} {row['mix']}", row["key"]): row["holds"] for row in rows}


def _beside(finding: str, data: Data) -> str:
    """How many verdicts are the same by both seeds, and which are not."""
    known = _known(finding)
    pairs = [
        (row, str(known[row["where"], row["key"]]), str(row["holds"]))
        for row in data.rows("verdicts")
        if row["finding"] == finding and row["holds"] in (*DECIDED, "undecided")
    ]
    other = [(row, old, new) for row, old, new in pairs if old != new]
    opposite = sum(old in DECIDED and new in DECIDED for _, old, new in other)
    words = (
        f"By seed {data.values['seed']}, {len(pairs) - len(other)} of {len(pairs)} verdicts are "
        f"the same, {opposite} are the opposite"
    )
    if not other:
        return f"{words}."
    places = defaultdict(list)
    for row, old, new in other:
        places[f"`{row['key']}`", old, new].append(str(row["where"]))
    lines = [(*one, ", ".join(of)) for one, of in places.items()]
    return f"{words}:\n\n{table(('claim', 'above', 'by it', 'of'), lines)}"


def _table(finding: str) -> Callable[[Data], str]:
    return lambda data: _beside(finding, data)


TABLES: Final[Mapping[str, Callable[[Data], str]]] = {
    finding: _table(finding) for finding in ("tlp-2013", "mptcp-2017", "unc-2007")
}
