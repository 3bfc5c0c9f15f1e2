"""Making a folder of captures and their truth, whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rexmit.errors import UserError
from rexmit.store import digests
from rexmit.store.files import new_folder, whole_file, write_text
from rexmit.store.rows import whole
from rexmit.version import version
from rexmit_validate.synth import behaviours, kinds
from rexmit_validate.synth.mixes import Mix
from rexmit_validate.synth.schema import TABLES

STACKS: Final = (
    "linux-2.4",
    "linux-3.10",
    "linux-6.12",
    "windows-xp",
    "freebsd-5",
    "solaris-10",
    "rfc",
)
POINTS: Final = ("sender", "switch", "receiver")
FORMATS: Final = ("pcapng", "pcap")

BEGIN_NS: Final = 1_700_000_000_000_000_000
"""When corpora begin, nanoseconds since 1970."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be made."""

    mixes: Mapping[str, Mix]
    connections: int
    stacks: tuple[str, ...]
    receivers: tuple[str, ...]
    changes: Mapping[str, str]
    seed: int
    perturb: float
    points: tuple[str, ...]
    snaplen: int
    format: str
    kinds: tuple[str, ...]
    jobs: int


Made = dict[str, dict[str, Any]]
"""Of each part: connections, retransmissions and the packets of each point."""

Report = Callable[[str, int, int], None]
"""Hears a part's name, and how many connections and packets of it are there."""


def make(order: Order, folder: Path, command: str, report: Report) -> Made:
    """Make the folder `folder`. Raises UserError where it holds anything."""
    with new_folder(folder) as partial:
        (partial / "captures").mkdir()
        counts = _fill(order, partial, report)
        kinds.add(partial, order.kinds, order.seed, order.jobs)
        _describe(order, partial, command, counts)
    return counts


def _fill(order: Order, folder: Path, report: Report) -> Made:
    import polars as pl

    from rexmit._core import make_corpus

    counts: Made = {}
    tables: dict[str, list[pl.DataFrame]] = {name: [] for name in TABLES}
    for part, kind, number, mix in _parts(order):
        files = [
            (point, folder / "captures" / f"{part}-{point}.{order.format}")
            for point in order.points
        ]
        request = {
            "mix": json.dumps(mix),
            "senders": list(order.stacks),
            "receivers": list(order.receivers),
            "changes": dict(order.changes),
            "seed": order.seed + number,
            "connections": order.connections,
            "perturb": order.perturb,
            "snaplen": order.snaplen,
            # A day apart, so that mixes do not overlap in time.
            "begin_ns": BEGIN_NS + number * 86_400_000_000_000,
            "jobs": order.jobs,
            "format": order.format,
            "captures": files,
        }

        def told(done: int, _retransmissions: int, packets: list[int], part: str = part) -> None:
            report(part, done, sum(packets))

        try:
            count, retransmitted, packets, batches = make_corpus(request, told)
        except ValueError as error:
            raise UserError(f"mix {part}: {error}") from error
        counts[part] = {
            "connections": count,
            "retransmissions": retransmitted,
            "packets": dict(zip(order.points, packets, strict=True)),
        }
        for name, rows in tables.items():
            told_rows = pl.concat(pl.DataFrame(batch) for batch in batches[name])
            rows.append(whole(TABLES[name], told_rows, {"part": part, "kind": kind}))
    for name, rows in tables.items():
        with whole_file(folder / f"{name}.parquet") as file:
            pl.concat(rows).write_parquet(file, compression="zstd")
    return counts


def _parts(order: Order) -> Iterator[tuple[str, str, int, Mix]]:
    """Each part that is made: its name, its kind, the place of its mix, the mix."""
    for kind in kinds.made(order.kinds):
        for number, (name, mix) in enumerate(order.mixes.items()):
            changed = mix if kind == kinds.PLAIN else behaviours.changed(mix, kind)
            yield kinds.name_of(name, kind), kind, number, changed


def _describe(order: Order, folder: Path, command: str, written: Made) -> None:
    about = {
        "version": 1,
        "kind": "model",
        "seed": order.seed,
        "command": command,
        "program": f"rexmit {version()}",
        "kernels": [],
        "stacks": list(order.stacks),
        "receivers": list(order.receivers),
        "changes": dict(order.changes),
        "perturb": order.perturb,
        "snaplen_bytes": order.snaplen,
        "kinds": list(order.kinds),
        "parts": written,
        "mixes": order.mixes,
        digests.KEY: digests.of_tables(folder, ("retransmissions.parquet", "connections.parquet")),
    }
    write_text(folder / "truth.json", json.dumps(about, indent=2) + "\n")
