"""The tables of tail losses with servers of today."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from scripts.findings.markdown import number, span, table
from scripts.findings.results import Data, Value
from scripts.findings.tlp_tables import percent
from scripts.findings.tlp_today import COST, GAIN, OPEN

NETWORKS: Final = {
    "data-centre": "50 µs",
    "high-speed": "10 ms",
    "mobile": "100 ms",
    "satellite": "800 ms",
}
_SPEAKS: Final = {"h1": "HTTP/1.1", "tls": "TLS 1.3", "h2": "HTTP/2"}


def _sender(row: Mapping[str, Value]) -> str:
    http, _, gso = str(row["sender"]).partition("-")
    segments = "super-segments" if gso else "segments"
    return f"{row['congestion_control']}, {_SPEAKS[http]}, {segments}"


def _change(row: Mapping[str, Value]) -> str:
    half = float(row["half"] or 0)
    text = percent(row["percent"])
    return f"{text} ± {number(half, '.1f')} %" if half >= 0.05 else f"{text} %"


def five(data: Data) -> str:
    """What the probe changes of five lost segments, by sender and network."""
    rows = [row for row in data.rows("gains") if row["lost_segments"] == 5]
    senders = dict.fromkeys(_sender(row) for row in rows)
    found = {(_sender(row), row["network"]): _change(row) for row in rows}
    lines = [[name, *(found.get((name, one), "–") for one in NETWORKS)] for name in senders]  # noqa: RUF001
    return table(["", *NETWORKS.values()], lines, range(1, 5))


def lost(data: Data) -> str:
    """By network, congestion control and lost segments: senders whose transfers the probe shortens,
    lengthens, and from which change to which.
    """
    every = data.rows("gains")
    keys = dict.fromkeys(
        (network, row["congestion_control"], row["lost_segments"])
        for network in NETWORKS
        for row in every
        if row["network"] == network
    )
    lines = []
    for network, control, count in keys:
        rows = [
            row
            for row in every
            if (row["network"], row["congestion_control"], row["lost_segments"])
            == (network, control, count)
        ]
        changes = [str(row["change"]) for row in rows]
        recover = [
            1e3 * (float(r["tlp_recover_s"] or 0) - float(r["er_recover_s"] or 0)) for r in rows
        ]
        lines.append(
            [
                NETWORKS[network],
                str(control),
                str(count),
                *(str(changes.count(word)) for word in (GAIN, COST, OPEN)),
                f"{span((float(row['percent'] or 0) for row in rows), '+.1f')} %",
                f"{span(recover, '+.0f')} ms",
            ]
        )
    head = ["", "", "lost", GAIN, COST, OPEN, "t_total", "t_recover"]
    return table(head, lines, range(2, 8))


TABLES: Final[Mapping[str, Callable[[Data], str]]] = {"five": five, "lost": lost}
