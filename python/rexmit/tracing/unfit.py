"""What to say where no connection is of the hosts, ports or time that were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import polars as pl

from rexmit.errors import argument
from rexmit.tracing.folder import Trace
from rexmit.tracing.selection import Wanted, clock, fitting
from rexmit.tracing.words import listed
from rexmit.wording import count

SHOWN: Final = 5
"""So many hosts and ports are named, those with most connections first."""


def unfit(trace: Trace, wanted: Wanted) -> list[tuple[str, str]]:
    """Labels and lines: which of the wishes leaves nothing, what there is in its place, and what to
    do. `trace` is the whole one, of which nothing is `wanted`.
    """
    connections = trace.scan("connections").select("flow", "start_s", "end_s").collect()
    alone = {
        one.words(): (one, fitting(connections, one).height) for one in _one_by_one(wanted) if one
    }
    empty = [one for one, number in alone.values() if not number]
    if not empty:
        each = [f"{number:,} {words}" for words, (_, number) in alone.items()]
        text = f"no connection fits all of it; of {count(connections.height, 'connection')} there "
        text += f"{'is' if alone[next(iter(alone))][1] == 1 else 'are'} {listed(each)}"
        return [
            ("nothing", text),
            ("what to do", f"leave out {_options([one for one, _ in alone.values()])}"),
        ]
    lines = [("nothing", f"no connection {listed([one.words() for one in empty], 'and none')}")]
    for one in empty:
        lines += _there(connections, one)
    options = _options(empty, "and")
    lines.append(("what to do", f"give what is there, or leave out {options}"))
    return lines


def _one_by_one(wanted: Wanted) -> Sequence[Wanted]:
    """Each wish by itself."""
    nothing = Wanted()
    return (
        replace(nothing, hosts=wanted.hosts),
        replace(nothing, ports=wanted.ports),
        replace(nothing, from_s=wanted.from_s, to_s=wanted.to_s),
    )


def _options(wishes: Sequence[Wanted], last: str = "or") -> str:
    names = []
    for one in wishes:
        names += [argument("hosts")] * bool(one.hosts) + [argument("ports")] * bool(one.ports)
        names += [argument("since")] * (one.from_s is not None)
        names += [argument("until")] * (one.to_s is not None)
    return listed(names, last)


def _there(connections: pl.DataFrame, missing: Wanted) -> list[tuple[str, str]]:
    """What there is of what was missing."""
    if missing.hosts:
        return [("hosts there", _most(connections["flow"], r"^\[?(.*?)\]?:\d+$"))]
    if missing.ports:
        return [("ports there", _most(connections["flow"], r":(\d+)$", clients=False))]
    first, last = connections.select(pl.col("start_s").min(), pl.col("end_s").max()).row(0)
    return [("time there", f"from {clock(first)} to {clock(last)}")]


def _most(flows: pl.Series, pattern: str, *, clients: bool = True) -> str:
    """What the pattern finds at either end, or at the servers' alone, with most connections."""
    ends = flows.str.split(" > ").list.slice(0 if clients else 1).explode()
    counted = (
        ends.str.extract(pattern)
        .alias("key")
        .value_counts()
        .sort("count", "key", descending=[True, False])
    )
    shown = [
        f"{key} ({count(number, 'connection')})" for key, number in counted.head(SHOWN).iter_rows()
    ]
    more = counted.height - SHOWN
    return listed([*shown, f"{more:,} more"] if more > 0 else shown)
