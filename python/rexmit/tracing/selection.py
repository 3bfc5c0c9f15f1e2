"""A part of a trace: the connections of some hosts, ports or a time.

The whole capture is analysed all the same. What else a host sent is evidence (its count of packets,
its clock), so a capture that is cut first (`tcpdump -r`) may be judged worse.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import polars as pl

from rexmit.errors import UserError, argument
from rexmit.tracing.folder import Trace
from rexmit.tracing.words import listed
from rexmit.wording import count

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True)
class Wanted:
    """Which connections: one end is of any of the `hosts` (addresses or prefixes), one has any of
    the `ports`, and some of it was between the two times. What is empty or None asks for nothing.
    """

    hosts: Sequence[Network] = ()
    ports: Sequence[int] = ()
    from_s: float | None = None
    to_s: float | None = None

    def __bool__(self) -> bool:
        return bool(self.hosts or self.ports) or (self.from_s, self.to_s) != (None, None)

    def words(self) -> str:
        """As it is said behind "connections"."""
        texts = []
        if self.hosts:
            texts.append(f"with {listed([_host(one) for one in self.hosts], 'or')}")
        if self.ports:
            texts.append(f"with port {listed([str(port) for port in self.ports], 'or')}")
        if self.from_s is not None:
            texts.append(f"from {clock(self.from_s)} on")
        if self.to_s is not None:
            texts.append(f"up to {clock(self.to_s)}")
        return ", ".join(texts)


@dataclass(frozen=True)
class Selection(Trace):
    """A trace as if it had these connections alone; a grid's sums, which are of all, are empty.

    `whole` is the trace that it is of, `text` a sentence that says how many of all they are.
    """

    whole: Trace | None = None
    wanted: Wanted = Wanted()
    text: str = ""
    chosen: pl.Series = field(default_factory=lambda: pl.Series("connection", [], pl.Int64))

    def scan(self, table: str) -> pl.LazyFrame:
        """The rows of the table that belong to them."""
        rows = super().scan(table)
        if table == "points":
            return rows
        if "connection" not in rows.collect_schema():
            return rows.limit(0)
        return self._only_chosen(rows)

    def numbered(self) -> pl.LazyFrame:
        """The connections with their rows in connections.parquet."""
        return self._only_chosen(super().scan("connections").with_row_index("number"))

    def _only_chosen(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        return rows.filter(pl.col("connection").is_in(self.chosen.implode()))


def select(trace: Trace, wanted: Wanted) -> Selection:
    """The connections that are wanted."""
    connections = (
        trace.scan("connections").select("connection", "flow", "start_s", "end_s").collect()
    )
    rows = fitting(connections, wanted)
    text = (
        f"only those {wanted.words()}: {rows.height:,} of {count(connections.height, 'connection')}"
    )
    return Selection(
        trace.path,
        trace.meta,
        trace.facts,
        trace,
        wanted,
        text,
        rows["connection"],
        held=trace.held,
        slow_s=trace.slow_s,
        names=trace.names,
    )


def fitting(connections: pl.DataFrame, wanted: Wanted) -> pl.DataFrame:
    """Those of the connections (`flow`, `start_s`, `end_s`) that are wanted."""
    rows = connections
    if wanted.from_s is not None:
        rows = rows.filter(pl.col("end_s") >= wanted.from_s)
    if wanted.to_s is not None:
        rows = rows.filter(pl.col("start_s") <= wanted.to_s)
    if wanted.hosts or wanted.ports:
        rows = rows.filter(_ends(rows, wanted))
    return rows


def _ends(rows: pl.DataFrame, wanted: Wanted) -> pl.Series:
    ends = rows.select(
        pl.col("flow").str.split_exact(" > ", 1).struct.rename_fields(["client", "server"])
    ).unnest("flow")
    fits = pl.Series([True]).new_from_index(0, rows.height)
    if wanted.ports:
        port = pl.all().str.extract(r":(\d+)$").cast(pl.Int64).is_in(list(wanted.ports))
        fits &= ends.select(pl.any_horizontal(port)).to_series()
    if wanted.hosts:
        address = ends.with_columns(pl.all().str.replace(r":\d+$", "").str.strip_chars("[]"))
        every = pl.concat([address["client"], address["server"]]).unique().to_list()
        inside = [one for one in every if _inside(one, wanted.hosts)]
        fits &= address.select(pl.any_horizontal(pl.all().is_in(inside))).to_series()
    return fits


def _inside(address: str, networks: Sequence[Network]) -> bool:
    try:
        one = ipaddress.ip_address(address)
    except ValueError:
        return False  # A folder may hold any text.
    return any(one in network for network in networks)


def host(word: str) -> Network:
    """An address, or a prefix as in 10.0.0.0/8. Raises UserError."""
    try:
        return ipaddress.ip_network(word, strict=False)
    except ValueError as error:
        raise UserError(
            f"{argument('hosts')} {word}: no address",
            "as in 10.0.0.1, 10.0.0.0/8, 2001:db8::1",
            usage=True,
        ) from error


def time_s(where: str, word: str) -> float:
    """Seconds of the capture's clock, or a date and time in UTC. Raises UserError."""
    try:
        number = float(word)
    except ValueError:
        number = None
    try:
        if number is not None:
            # It is one that a date can have.
            clock(number)
            return number
        moment = datetime.fromisoformat(word)
    except (ValueError, OverflowError, OSError) as error:
        raise UserError(
            f"{where} {word}: no time",
            "as in 2024-12-12T16:03:42 (UTC), or seconds since 1970: 1734019422.5",
            usage=True,
        ) from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _host(network: Network) -> str:
    alone = network.prefixlen == network.max_prefixlen
    return f"host {network.network_address}" if alone else f"a host of {network}"


def clock(value_s: float) -> str:
    """A time of the capture's clock, in words."""
    if value_s < 1e8:
        return f"{value_s:g} s"
    return f"{datetime.fromtimestamp(value_s, tz=UTC):%Y-%m-%d %H:%M:%S} UTC"
