"""The scenario: what a TOML file says, checked, in exact numbers.

Amounts are held in bits per second, nanoseconds, bytes and shares of one. A field that may be an
axis of the grid is a tuple of its values. Every field's description says what may be written there;
error messages quote it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Discriminator, Field, PlainSerializer, Tag

from rexmit.scenario.loss import Loss, TailLoss
from rexmit.scenario.network import MOST_PATHS, REPEAT, Network
from rexmit.scenario.offload import Offload
from rexmit.scenario.part import AS_TUPLE, Kinds, Part, obeyed_by, unsaid
from rexmit.scenario.problem import as_written
from rexmit.scenario.route import Route
from rexmit.scenario.units import UnitError
from rexmit.scenario.values import (
    AUTO,
    DurationNs,
    NameAxis,
    ReadRate,
    SegmentsAxis,
    Share,
    ShareAxis,
    SizeAxis,
    SizeBytes,
    StackSettings,
    Sysctls,
    WindowAxis,
    axis,
    counts_from,
    counts_text,
    one_or_list,
    wrong,
)

FORMAT: Final = 1
"""The version of the scenario files that this program reads."""

PAGE_LIMIT_BYTES: Final = 50_000_000
"""A page lies in the memory of the kernel that serves it."""

NOT_PROBED: Final = "not-probed"
"""Transfers whose first retransmission was not the tail loss probe, on a line without loss."""

_NO_KEY: Final = "a lab with real programs has no such key"
NO_SETTING: Final = "a kernel has no such setting"

CLIENTS: Final = ("builtin", "curl", "lynx")

_WARM_UP = Field(
    ge=0,
    le=10_000,
    description="transfers without loss before those that count, 0 to 10,000, for hosts that "
    "remember (`stack.metrics`)",
    json_schema_extra=obeyed_by("model", why=_NO_KEY),
)


def _client(value: object) -> str:
    if value not in CLIENTS:
        raise UnitError(
            f"unknown client {as_written(value)}", " or ".join(f'"{name}"' for name in CLIENTS)
        )
    return str(value)


def _builtin(value: object) -> str:
    if value != "builtin":
        raise UnitError("only the built-in client reads bursts", '"builtin"')
    return "builtin"


def _algorithm(value: object) -> str:
    if not isinstance(value, str) or not value.replace("_", "").isalnum():
        raise UnitError(
            f"{as_written(value)} is no name of an algorithm", 'a name like "cubic" or "reno"'
        )
    return value


def _no_flag(value: object) -> object:
    # True is 1 to Python.
    if isinstance(value, bool):
        raise wrong(f"{as_written(value)} does not fit")
    return value


def _left_out(value: object) -> str:
    if value != NOT_PROBED:
        raise wrong(f"{as_written(value)} is nothing that can be left out")
    return NOT_PROBED


def _patch(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", value):
        raise wrong(f"{as_written(value)} is no name of a patch")
    return value


@dataclass(frozen=True, slots=True)
class Page:
    """What one transfer carries, head and body together: full segments, or bytes."""

    segments: int | None
    size_bytes: int | None


def pages(segments: tuple[int, ...] | None, sizes: tuple[int, ...] | None) -> tuple[Page, ...]:
    """The pages that either asks for."""
    return tuple(Page(segments=count, size_bytes=None) for count in segments or ()) + tuple(
        Page(segments=None, size_bytes=size) for size in sizes or ()
    )


Http = Literal["1.1", "1.1+tls", "2+tls"]
"""What server and client of a page speak."""
_HTTP: Final = (
    '"1.1" (HTTP/1.1), "1.1+tls" (over TLS 1.3) or "2+tls" (HTTP/2 over TLS 1.3); with TLS the '
    'client is "curl", and a transfer is all that the server writes'
)
_OF_KERNELS = obeyed_by(
    "kernel", "live", why="the model's pages are HTTP/1.1 that anybody can read", harmless="1.1"
)
_QUEUE = obeyed_by("kernel", why="neither the model's hosts nor TUN devices queue")

_OF_MODEL = obeyed_by("model", why=NO_SETTING)
_STACK = 'a table like { min_rto = "100ms" }, its keys as `rexmit stacks NAME` lists them'


class Config(Part):
    """A set of settings for both hosts."""

    about: str = Field(default="", description="text: what the settings mean, for readers")
    protocol: Literal["tcp", "mptcp"] = Field(
        default="tcp",
        description='"tcp" (on one path) or "mptcp" (on all)',
        exclude_if=unsaid("tcp"),
    )
    path: int = Field(
        default=1,
        ge=1,
        le=MOST_PATHS,
        description="the path on which the connection is opened, from 1; TCP has no other",
        exclude_if=unsaid(1),
    )
    patch: Annotated[str, BeforeValidator(_patch)] | None = Field(
        default=None,
        description='a name like "mptcp-reinject-on-tlp": an optional patch that the kernel must '
        "have been built with; the model has what it does as a setting and needs none",
    )
    leave_out: Annotated[tuple[str, ...], axis(_left_out), PlainSerializer(list)] = Field(
        default=(),
        description=f'["{NOT_PROBED}"]: means and figures are also without transfers whose first '
        "retransmission was not the probe, on a line without random loss",
        exclude_if=unsaid(()),
    )
    sysctl: Sysctls = Field(
        default_factory=dict,
        description='a table like { "net.ipv4.tcp_sack" = 1 }: kernel settings below `net.` for '
        "both hosts, as sysctl(8) names them; each is read back",
    )
    offload: Offload = Field(
        default=Offload(),
        description="a table as [offload], before which it goes, key by key",
        exclude_if=unsaid(Offload()),
    )
    route: Route = Field(
        default=Route(),
        description="a table as [route], before which it goes, key by key",
        exclude_if=unsaid(Route()),
    )
    http: Http | None = Field(
        default=None,
        description="as workload.http, before which it goes",
        exclude_if=unsaid(None),
        json_schema_extra=_OF_KERNELS,
    )
    qdisc: Literal["fq", "fq_codel", "pfifo"] | None = Field(
        default=None,
        description='what queues at both hosts\' interfaces, read back: "fq", "fq_codel" or '
        '"pfifo"; nothing does where it is not said',
        exclude_if=unsaid(None),
        json_schema_extra=_QUEUE,
    )
    stack: StackSettings = Field(
        default_factory=dict,
        description=f"{_STACK}; goes before [stack]",
        exclude_if=unsaid({}),
        json_schema_extra=_OF_MODEL,
    )


class Tcp(Part):
    """What TCP is told beside the settings of a configuration."""

    congestion_control: Annotated[tuple[str, ...], axis(_algorithm), one_or_list()] = Field(
        default=("cubic",),
        description='on both hosts, read back: a name like "bbr", or a list of names',
    )


_TIMEOUT = Field(
    default=120 * 10**9,
    description='virtual time after which a transfer is given up, like "300s", at most "3600s"; of '
    "bursts: without anything to read, and `gap` at least, beside the server's own pauses",
)


_SERVER: Final = '"nginx" (pages) or "burst" (a program that writes bursts, or answers requests)'


class Pages(Part):
    """The page, who serves it and who fetches it. Give `segments` or `size`, not both."""

    server: Literal["nginx"] = Field(default="nginx", description=_SERVER)
    client: Annotated[tuple[str, ...], axis(_client), one_or_list()] = Field(
        default=("builtin",), description='"builtin" (fast), "curl" or "lynx", or a list of these'
    )
    http: Http = Field(
        default="1.1",
        description=_HTTP,
        exclude_if=unsaid("1.1"),
        json_schema_extra=_OF_KERNELS,
    )
    segments: SegmentsAxis | None = Field(
        default=None,
        description='full segments of HTTP head and body together, like 10, or a list or "1..20"; '
        "100 where no size is given either; a page has at most 50 MB",
    )
    size: SizeAxis | None = Field(
        default=None,
        description='bytes of HTTP head and body together, like "144kB", at most "50MB", or a '
        "list; the head alone takes about 230",
    )
    receive_window: WindowAxis = Field(
        default=(None,),
        description=f'what the client\'s host offers at most, like "64kB", or "{AUTO}" for the '
        "kernel's own, or a list",
    )
    tcp_nopush: bool = Field(
        default=True,
        description="true (nginx's head and body leave together in full segments) or false (the "
        "head by itself)",
        exclude_if=unsaid(True),
    )
    read_rate: ReadRate = Field(
        default=None,
        description="bits per second that the client works through of what it reads, 4 kB at a "
        'time as lynx does, like "16Mbit", or "instant"; on kernels and live the client is '
        '"builtin" then',
    )
    fast_open: bool = Field(
        default=False,
        description="true (the request travels in the SYN, TCP Fast Open, RFC 7413; the client is "
        '"builtin" or "curl") or false',
        exclude_if=unsaid(False),
        json_schema_extra=obeyed_by(
            "kernel", "live", why="the model's SYNs bear no data", harmless=False
        ),
    )
    warm_up: Annotated[int, _WARM_UP] = Field(
        default=0,
        description=_WARM_UP.description,
        exclude_if=unsaid(0),
        json_schema_extra=_WARM_UP.json_schema_extra,
    )
    timeout: DurationNs = _TIMEOUT

    @property
    def pages(self) -> tuple[Page, ...]:
        """The pages to fetch, in order: 100 full segments where nothing is asked for."""
        return pages(self.segments, self.size) or pages((100,), None)


MOST_REQUEST_BYTES: Final = 1_000_000


class Bursts(Part):
    """What a program writes to another, at set times or when it is asked. Give `burst_segments` or
    `burst_size`.
    """

    server: Literal["burst"] = Field(
        description=_SERVER,
        json_schema_extra=obeyed_by("kernel", "model", why="live links carry pages"),
    )
    client: Annotated[tuple[Literal["builtin"]], axis(_builtin), one_or_list()] = Field(
        default=("builtin",), description='"builtin": only the built-in client reads bursts'
    )
    bursts: int = Field(
        default=1, ge=1, le=1000, description="bursts of each connection, 1 to 1,000"
    )
    burst_segments: int | None = Field(
        default=None,
        ge=1,
        le=100_000,
        description="full segments of each burst, like 80, at most 100,000; this or `burst_size` "
        "must be given",
    )
    burst_size: SizeBytes | None = Field(
        default=None,
        description='bytes of each burst, like "115kB"; all together at most "50MB"',
    )
    gap: DurationNs = Field(
        default=10**9,
        description='from the first write of a burst to the first write of the next, like "2s"; '
        "with `request` how long the client thinks: from its read of an answer's last byte to its "
        "next request",
    )
    request: SizeBytes | None = Field(
        default=None,
        le=MOST_REQUEST_BYTES,
        description="bytes with which the client asks for each burst: a closed loop, where each "
        'burst answers a request, like "200B", at most "1MB"',
        exclude_if=unsaid(None),
    )
    server_think: DurationNs = Field(
        default=0,
        description="from the server's read of a request's last byte to its first write of the "
        'answer, like "50ms"',
        exclude_if=unsaid(0),
    )
    last_byte_after: DurationNs = Field(
        default=0,
        description="how long the last byte of each burst waits when the socket has taken the "
        'others, like "300ms"',
        exclude_if=unsaid(0),
    )
    timeout: DurationNs = _TIMEOUT

    @property
    def pages(self) -> tuple[Page, ...]:
        """The one that is as long as each burst."""
        return (Page(segments=self.burst_segments, size_bytes=self.burst_size),)

    @property
    def receive_window(self) -> tuple[None]:
        """As the client's host has it."""
        return (None,)


SERVERS: Final = Kinds(
    key="server", default="nginx", tables={"nginx": Pages, "burst": Bursts}, of='of the server "{}"'
)

Workload = Annotated[
    Annotated[Pages, Tag("nginx")] | Annotated[Bursts, Tag("burst")], Discriminator(SERVERS.kind)
]
"""What is transferred, by whom: each server has keys of its own."""


class Ip(Part):
    """The network layer."""

    family: Literal[4, 6] = Field(default=4, description="4 or 6")
    mtu: int = Field(
        default=1500,
        ge=576,
        le=65535,
        description="bytes of the largest packet, 576 (IPv6: 1280) to 65,535",
    )


class Vary(Part):
    """One departure from the scenario: these axes instead of its own, everything else as it is."""

    about: str = Field(default="", description="text: what one learns from it, for readers")
    segments: SegmentsAxis | None = Field(default=None, description="as workload.segments")
    size: SizeAxis | None = Field(default=None, description="as workload.size")
    receive_window: WindowAxis | None = Field(
        default=None, description="as workload.receive_window"
    )
    client: Annotated[tuple[str, ...], axis(_client), one_or_list()] | None = Field(
        default=None, description="as workload.client"
    )
    congestion_control: Annotated[tuple[str, ...], axis(_algorithm), one_or_list()] | None = Field(
        default=None, description="as tcp.congestion_control"
    )
    line_loss: ShareAxis | None = Field(
        default=None, description='random loss of every link of every network, like "1%"; or a list'
    )


MOST_SEEDS: Final = 100
"""So many are run at most where repetitions go on until an interval is narrow."""


class Scenario(Part):
    """A whole campaign: networks, configurations, workload, loss, repetitions."""

    format: Annotated[Literal[1], BeforeValidator(_no_flag)] = Field(
        description=f"{FORMAT} (the version of scenario files)"
    )
    title: str = Field(default="", description="text: what is measured, for readers")
    seed: int = Field(
        default=1,
        ge=0,
        le=2**64 - 1,
        description=f"a whole number from 0 to {2**64 - 1:,} (TOML itself goes to 2^63 - 1), where "
        "all randomness comes from: start phases, initial sequence numbers, random loss",
    )
    seeds: Annotated[
        tuple[int, ...], counts_from(0, 2**64 - 1, 10_000), PlainSerializer(counts_text)
    ] = Field(
        default=(),
        description='instead of a seed several, at most 10,000: a range like "1..10", or a list; '
        "the whole grid runs under each, and its transfers are pooled",
        exclude_if=unsaid(()),
    )
    until: Share | None = Field(
        default=None,
        gt=0,
        description="seed after seed, until half the 95 % interval of the mean of `t_total_s` is "
        'within this share of it in every cell, like "2%"; five seeds at least, those of `seeds` '
        f"or {MOST_SEEDS} at most",
    )
    network: NameAxis | None = Field(
        default=None,
        description="names out of [networks], one or a list, which run in this order; default all",
    )
    config: NameAxis | None = Field(
        default=None,
        description="names out of [configs], one or a list, which run in this order; default all",
    )
    repeat: Annotated[int, REPEAT] = Field(default=1, description=REPEAT.description)
    networks: dict[str, Network] = Field(
        min_length=1, description="a table per network, at least one"
    )
    configs: dict[str, Config] = Field(
        min_length=1, description="a table per configuration, at least one"
    )
    tcp: Tcp = Field(default=Tcp(), description="a table")
    workload: Workload = Field(default=Pages(), description="a table")
    ip: Ip = Field(default=Ip(), description="a table")
    loss: Loss = Field(default=TailLoss(), description="a table")
    offload: Offload = Field(default=Offload(), description="a table", exclude_if=unsaid(Offload()))
    route: Route = Field(default=Route(), description="a table", exclude_if=unsaid(Route()))
    stack: StackSettings = Field(
        default_factory=dict,
        description=_STACK,
        exclude_if=unsaid({}),
        json_schema_extra=_OF_MODEL,
    )
    vary: Annotated[tuple[Vary, ...], AS_TUPLE] = Field(
        default=(), description="[[vary]] tables, each a departure from the rest of the file"
    )

    def http(self, config: str) -> Http | None:
        """What a configuration's server and client speak; None of bursts."""
        if not isinstance(self.workload, Pages):
            return None
        return self.configs[config].http or self.workload.http

    @property
    def programs(self) -> tuple[str, ...]:
        """The programs of a machine that fetch pages, or make their server's certificate."""
        varied = [client for vary in self.vary for client in vary.client or ()]
        named = {*self.workload.client, *varied} - {"builtin"}
        if any(self.http(config) not in (None, "1.1") for config in self.config_names):
            named.add("openssl")
        return tuple(sorted(named))

    @property
    def all_seeds(self) -> tuple[int, ...]:
        """Those to run, in order; with `until` at most."""
        if self.seeds or self.until is None:
            return self.seeds or (self.seed,)
        return tuple(range(self.seed, min(self.seed + MOST_SEEDS, 2**64)))

    @property
    def network_names(self) -> tuple[str, ...]:
        """The networks to run, in order."""
        return tuple(self.networks) if self.network is None else self.network

    @property
    def config_names(self) -> tuple[str, ...]:
        """The configurations to run, in order."""
        return tuple(self.configs) if self.config is None else self.config

    def repeats(self, network: str) -> int:
        """Transfers per cell in this network."""
        own = self.networks[network].repeat
        return self.repeat if own is None else own
