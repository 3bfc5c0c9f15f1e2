"""Which servers and requests of two traces belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from rexmit.comparison.pairs import Selection
from rexmit.comparison.traces.observed import ALL_REQUESTS, AXES, Place, Seen, servers
from rexmit.errors import UserError, argument, by_caller
from rexmit.tracing.folder import Trace
from rexmit.wording import count

MOST = 1_000
"""So many servers and requests are compared: each takes milliseconds, and of single units nothing
is told by it."""

_NAMED = 3
"""So many servers are named where none is in common."""


@dataclass(frozen=True)
class Servers:
    """The servers that both traces have, as frames of `host` and `port`, and the others."""

    common: tuple[pl.DataFrame, pl.DataFrame]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


@dataclass(frozen=True)
class Pair:
    """A place of A and the one of B that it is compared with."""

    place: Place
    other: Place
    a: Seen
    b: Seen


def common_servers(a: Trace, b: Trace, names: tuple[str, str], selection: Selection) -> Servers:
    """Raises UserError (usage) where a trace has no connection, or they share no server."""
    tables = [_servers(trace, name) for trace, name in zip((a, b), names, strict=True)]
    of_servers = _without_paths(selection)
    kept = [
        [place for place in places if of_servers.keeps(place, mapped=bool(side))]
        for side, places in enumerate(tables)
    ]
    partners = {place: Place(*of_servers.partner(place)) for place in kept[0]}
    there = set(kept[1])
    both = [(mine, theirs) for mine, theirs in partners.items() if theirs in there]
    if not both:
        raise UserError(
            f"{names[0]} and {names[1]} have no server in common",
            [
                *(_described(*one) for one in zip(names, kept, tables, strict=True)),
                _remedy(selection, kept[0], kept[1]),
            ],
            usage=True,
        )
    ends = [
        pl.DataFrame({"host": [p.host for p in s], "port": [p.port for p in s]})
        for s in zip(*both, strict=True)
    ]
    met = set(partners.values())
    return Servers(
        (ends[0], ends[1]),
        tuple(str(mine) for mine, theirs in partners.items() if theirs not in there),
        tuple(str(place) for place in kept[1] if place not in met),
    )


def pairs(
    in_a: Mapping[Place, Seen],
    in_b: Mapping[Place, Seen],
    names: tuple[str, str],
    selection: Selection,
) -> tuple[list[Pair], list[Place], list[Place]]:
    """What belongs together, and the requests that only one trace has. Raises UserError (usage)
    where nothing does.
    """
    mine = [place for place in in_a if selection.keeps(place, mapped=False)]
    theirs = {place for place in in_b if selection.keeps(place, mapped=True)}
    partners = {place: Place(*selection.partner(place)) for place in mine}
    both = [
        Pair(place, other, in_a[place], in_b[other])
        for place, other in partners.items()
        if other in theirs
    ]
    if not both:
        raise UserError(
            f"{names[0]} and {names[1]} have no such request in common",
            f"choose others with {argument('cells')} and {argument('maps')}",
            usage=True,
        )
    met = set(partners.values())
    alone = [place for place, other in partners.items() if other not in theirs]
    return _without_repeats(both, in_a, in_b), alone, [p for p in sorted(theirs) if p not in met]


def largest(found: Sequence[Pair]) -> list[Pair]:
    """The `MOST` of most units, in their order."""
    units = [pair.a.units + pair.b.units for pair in found]
    most = sorted(range(len(found)), key=lambda place: -units[place])[:MOST]
    return [found[place] for place in sorted(most)]


def _without_repeats(
    both: Sequence[Pair], in_a: Mapping[Place, Seen], in_b: Mapping[Place, Seen]
) -> list[Pair]:
    """Without `all requests` of servers of which both have requests of one kind alone."""
    kinds = [
        Counter((place.host, place.port) for place in seen if place.path) for seen in (in_a, in_b)
    ]
    # One kind and all of them.
    return [
        pair
        for pair in both
        if pair.place.path != ALL_REQUESTS
        or kinds[0][pair.place.host, pair.place.port] > 2
        or kinds[1][pair.other.host, pair.other.port] > 2
    ]


def _servers(trace: Trace, name: str) -> list[Place]:
    """Those with most connections first."""
    rows = servers(trace).sort("connections", "host", "port", descending=[True, False, False])
    if rows.is_empty():
        facts = trace.facts
        what = f"{count(facts.packets, 'packet')}, {facts.tcp_packets:,} of TCP"
        raise UserError(
            f"{name}: there is no TCP connection to compare ({what})",
            f"rexmit trace {name} says what it holds",
            usage=True,
        )
    return [Place(str(host), str(port)) for host, port, _ in rows.iter_rows()]


def _without_paths(selection: Selection) -> Selection:
    only, maps = (
        {axis: values for axis, values in some.items() if axis != "path"}
        for some in (selection.only, selection.maps)
    )
    return Selection(only, maps, AXES)  # type: ignore[arg-type]


def _described(name: str, kept: Sequence[Place], there: Sequence[Place]) -> str:
    places = kept or there
    words = ", ".join(map(str, places[:_NAMED]))
    more = f" and {len(places) - _NAMED:,} more" if len(places) > _NAMED else ""
    return f"{name}: {'' if kept else 'none of '}{count(len(places), 'server')}: {words}{more}"


def _remedy(selection: Selection, a: Sequence[Place], b: Sequence[Place]) -> str:
    if selection.only or selection.maps or not a or not b:
        return f"choose others with {argument('cells')} and {argument('maps')}"
    mine, theirs = a[0], b[0]
    axis, left, right = "host", mine.host, theirs.host
    if left == right:
        axis, left, right = "port", mine.port, theirs.port
    called, typed = f'maps={{"{axis}": {{"{left}": "{right}"}}}}', f"--map {axis}:{left}={right}"
    return f"if they are the same service, say so: {by_caller(called=called, typed=typed)}"
