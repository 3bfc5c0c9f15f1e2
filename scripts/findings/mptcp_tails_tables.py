"""The tables of losses that go on behind the tail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from scripts.findings.markdown import NONE, judged, number, table
from scripts.findings.mptcp_tails import STACKS
from scripts.findings.results import Data

from rexmit_papers.probe_or_wait_2017.paper import PAIRS

_NETWORKS: Final = tuple("{}-{}".format(*pair) for pair in PAIRS)


def tails(data: Data) -> str:
    """By the probe alone and with New."""
    rows = []
    for lost in dict.fromkeys(row["lost"] for row in data.rows("tails") if row["holds"]):
        for network in _NETWORKS:
            cells = []
            for run in STACKS:
                row = data.row("tails", run=run, network=network, lost=lost)
                cells.append(" / ".join(number(row[key], ".0f") for key in ("tlp_ms", "new_ms")))
                cells.append(": ".join(judged(row)))
            first = network == _NETWORKS[0]
            rows.append((str(lost) if first else "", network.replace("-", NONE), *cells))
    columns = ((f"{run}: TLP / New", "New is earlier") for run in STACKS)
    return table(("lost", "paths", *(name for each in columns for name in each)), rows)


def copies(data: Data) -> str:
    """What New takes longer than a burst without loss."""
    rows = []
    for network in _NETWORKS:
        cells = []
        for run in STACKS:
            none, *others = (
                float(data.row("tails", run=run, network=network, lost=lost)["new_ms"] or 0)
                for lost in ("0", "1", "2")
            )
            cells += [number(none, ".0f"), *(number(one - none, ".0f") for one in others)]
        rows.append((network.replace("-", NONE), *cells))
    columns = ((f"{run}: without loss", "one lost", "two lost") for run in STACKS)
    head = ("paths", *(name for each in columns for name in each))
    return table(head, rows, right=range(1, 7))


def costs(data: Data) -> str:
    """The bytes that New re-injects more than the probe alone."""
    rows = []
    for lost in dict.fromkeys(row["lost"] for row in data.rows("bytes")):
        cells = (judged(data.row("bytes", run=run, lost=lost)) for run in STACKS)
        rows.append((str(lost), *(text for each in cells for text in each)))
    columns = ((f"{run}: it is small", "of the burst") for run in STACKS)
    return table(("lost", *(name for each in columns for name in each)), rows)


TABLES: Final[Mapping[str, Callable[[Data], str]]] = {
    "tails": tails,
    "copies": copies,
    "costs": costs,
}
