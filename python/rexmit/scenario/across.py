"""What no field of a scenario tells alone: whether its parts go together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Any, Final

from rexmit.errors import choice
from rexmit.scenario import aqm, offload, paths
from rexmit.scenario.invalid import description
from rexmit.scenario.loss import TailLoss
from rexmit.scenario.model import (
    PAGE_LIMIT_BYTES,
    Bursts,
    Config,
    Page,
    Pages,
    Scenario,
    Vary,
    pages,
)
from rexmit.scenario.network import OF_WAY
from rexmit.scenario.problem import Path, Problem
from rexmit.scenario.units import SIZE


def problems(scenario: Scenario) -> Iterable[Problem]:
    """What no field alone can tell."""
    for key, named, known in (
        ("network", scenario.network, list(scenario.networks)),
        ("config", scenario.config, list(scenario.configs)),
    ):
        for index, name in enumerate(named or ()):
            if name not in known:
                path: Path = (key, index) if len(named or ()) > 1 else (key,)
                yield Problem(
                    path, f'there is no {key} "{name}"', choice(name, known, f"{key}s here")
                )
    yield from _rates(scenario)
    yield from _ways(scenario)
    yield from paths.problems(scenario)
    run = {
        name: scenario.configs[name] for name in scenario.config_names if name in scenario.configs
    }
    yield from offload.problems(scenario.offload, {name: one.offload for name, one in run.items()})
    yield from _senders(scenario, run)
    if isinstance(scenario.workload, Bursts):
        yield from _bursts(scenario, scenario.workload)
    elif scenario.workload.segments is not None and scenario.workload.size is not None:
        yield Problem(
            ("workload", "size"),
            "the page has segments as well",
            "give workload.segments or workload.size, not both",
        )
    for index, vary in enumerate(scenario.vary):
        if vary.segments is not None and vary.size is not None:
            yield Problem(
                ("vary", index, "size"), "the page has segments as well", "give one of the two"
            )
        if not vary.model_fields_set - {"about"}:
            keys = ", ".join(name for name in Vary.model_fields if name != "about")
            yield Problem(("vary", index), "it varies nothing", f"allowed here: {keys}")
    yield from _large_pages(scenario)
    yield from _short_pages(scenario)
    amounts: list[tuple[Path, int]] = [(("workload", "timeout"), scenario.workload.timeout)]
    if isinstance(scenario.loss, TailLoss):
        amounts.append((("loss", "hold_limit"), scenario.loss.hold_limit))
    for path, amount in amounts:
        if amount == 0:
            yield Problem(path, "must be more than nothing", f"allowed: {description(path)}")
    if scenario.ip.family == 6 and scenario.ip.mtu < 1280:
        yield Problem(("ip", "mtu"), "IPv6 needs 1280 bytes or more (RFC 8200 §5)")


def clients(scenario: Scenario) -> set[str]:
    """Who fetches its pages."""
    others = (name for one in scenario.vary for name in one.client or ())
    return {*scenario.workload.client, *others}


def _senders(scenario: Scenario, run: Mapping[str, Config]) -> Iterable[Problem]:
    """TLS with what does not speak or see through it, and queues where links are queues."""
    fast = isinstance(scenario.workload, Pages) and scenario.workload.fast_open
    if fast and "lynx" in clients(scenario):
        at: Path = ("workload", "fast_open")
        yield Problem(at, "lynx opens connections as usual", 'workload.client = "builtin"')
    for name, config in run.items():
        at = ("configs", name)
        if fast and config.protocol == "mptcp":
            yield Problem((*at, "protocol"), "requests travel in SYNs of TCP alone", '"tcp"')
        own = at if config.http is not None else ("workload",)
        http = scenario.http(name)
        if http is None and config.http is not None:
            yield Problem((*at, "http"), "of pages, not of bursts", "leave it out")
        if http not in (None, "1.1"):
            if clients(scenario) != {"curl"}:
                yield Problem((*own, "http"), "only curl speaks TLS", 'workload.client = "curl"')
            if config.protocol == "mptcp":
                yield Problem((*own, "http"), "TLS goes over TCP alone", 'protocol = "tcp"')
            if scenario.loss.mode == "hold":
                yield Problem(("loss", "mode"), "only a page that can be read is held back")
        if config.qdisc is not None:
            for network in scenario.network_names:
                there = scenario.networks.get(network)
                if there is not None and (there.at == "host" or there.over == "paths"):
                    yield Problem(
                        (*at, "qdisc"),
                        f"network {network} has links in the hosts, or paths",
                        "links on the wire have room for it",
                    )


def _bursts(scenario: Scenario, work: Bursts) -> Iterable[Problem]:
    """Bursts without a length, with two, or of too many bytes; departures that are of pages."""
    if work.burst_segments is None and work.burst_size is None:
        yield Problem(
            ("workload", "burst_segments"),
            "missing",
            'how long a burst is: burst_segments = 80, or burst_size = "115kB"',
        )
    if work.burst_segments is not None and work.burst_size is not None:
        yield Problem(
            ("workload", "burst_size"),
            "the burst has segments as well",
            "give workload.burst_segments or workload.burst_size, not both",
        )
    if work.request is None:
        if work.bursts > 1 and work.gap == 0:
            yield Problem(("workload", "gap"), "must be more than nothing")
        if work.server_think:
            yield Problem(
                ("workload", "server_think"),
                "nobody asks the server",
                'let the client: request = "200B"',
            )
    if work.last_byte_after and work.burst_size == 1:
        yield Problem(("workload", "last_byte_after"), "the burst's one byte is its last")
    each = work.burst_size or (work.burst_segments or 0) * scenario.ip.mtu
    if each * work.bursts > PAGE_LIMIT_BYTES:
        key = "burst_segments" if work.burst_size is None else "burst_size"
        yield Problem(
            ("workload", key),
            "the bursts are too large",
            f"all together at most {SIZE.text(PAGE_LIMIT_BYTES)}",
        )
    for index, vary in enumerate(scenario.vary):
        for key in ("segments", "size", "receive_window", "client"):
            if getattr(vary, key) is not None:
                yield Problem(
                    ("vary", index, key),
                    "of pages, not of bursts",
                    "allowed with bursts: congestion_control, line_loss",
                )


def _rates(scenario: Scenario) -> Iterable[Problem]:
    """Links and paths without a rate or a delay."""
    for name, network in scenario.networks.items():
        key = network.over
        for index, link in enumerate(getattr(network, key) or (None, None)):
            for field in ("rate", "delay"):
                keys = (field, "rate_from") if field == "rate" else (field,)
                if all(getattr(one, key, None) is None for one in (network, link) for key in keys):
                    whose: Path = ("networks", name)
                    whose = whose if link is None else (*whose, key, index)
                    remedy = description(("networks", name, field))
                    if link is not None or index == 0:
                        yield Problem((*whose, field), "missing", f"allowed: {remedy}")


def _ways(scenario: Scenario) -> Iterable[Problem]:
    """What a direction of a link cannot do together, or not where it is."""
    incomplete = any(_rates(scenario))
    for name, network in scenario.networks.items():
        at: Path = ("networks", name)
        tables: list[tuple[Path, Any]] = [(at, network), ((*at, "up"), network.up)]
        for index, link in enumerate(getattr(network, network.over) or ()):
            own = (*at, network.over, index)
            tables += [(own, link), ((*own, "up"), link.up)]
        for path, table in tables:
            given = {} if table is None else {key: value for key, value in table if value}
            if network.at == "host":
                for key in given.keys() & {*OF_WAY, "up"}:
                    yield Problem((*path, key), "acts on the wire", 'write at = "wire"')
            if "rate" in given and "rate_from" in given:
                yield Problem(
                    (*path, "rate_from"), "there is a rate as well", "give one of the two"
                )
            if (managed := given.get("aqm")) is not None:
                yield from aqm.problems((*path, "aqm"), managed)
            stalls = given.get("stalls")
            if stalls is not None and not 0 < stalls.least <= stalls.most:
                yield Problem((*path, "stalls", "least"), "must be from 1ns to `most`")
        if incomplete:
            continue
        ways = (way for link in network.link_specs(max(network.loss)) for way in link.ways)
        bursts = [way for way in ways if way.does("loss_bursts")]
        varied = any(vary.line_loss for vary in scenario.vary)
        if any(way.loss or varied for way in bursts):
            yield Problem(
                (*at, "loss_bursts"), "there is random loss as well", "give one of the two"
            )


def _large_pages(scenario: Scenario) -> Iterable[Problem]:
    """Pages that do not fit into a kernel's memory."""
    parts: list[tuple[Path, Pages | Vary]] = []
    if isinstance(scenario.workload, Pages):
        parts.append((("workload",), scenario.workload))
    parts += [(("vary", index), vary) for index, vary in enumerate(scenario.vary)]
    for path, part in parts:
        for key, unit, values in (
            ("size", 1, part.size),
            ("segments", scenario.ip.mtu, part.segments),
        ):
            if any(value * unit > PAGE_LIMIT_BYTES for value in values or ()):
                most = PAGE_LIMIT_BYTES // unit
                at = SIZE.text(most) if key == "size" else f"{most:,} of {unit:,} bytes"
                yield Problem((*path, key), "the page is too large", f"at most {at}")


_LARGEST_HEAD: Final = 100
"""Bytes of headers and options in a packet with data, at most: IPv6, TCP, timestamps, a mapping."""


def _short_pages(scenario: Scenario) -> Iterable[Problem]:
    """More lost than the shortest page, or burst, has: its transfers would lose all of it, and
    stand in tables among those that lost what was asked for.
    """
    if not isinstance(scenario.loss, TailLoss):
        return
    there: list[tuple[Path, Page]] = [(("workload",), page) for page in scenario.workload.pages]
    for index, vary in enumerate(scenario.vary):
        there += [(("vary", index), page) for page in pages(vary.segments, vary.size)]
    segment_bytes = scenario.ip.mtu - _LARGEST_HEAD
    # A burst without a length is a problem of its own.
    has = [
        (count, path, page)
        for path, page in there
        if (count := -(-page.size_bytes // segment_bytes) if page.size_bytes else page.segments)
    ]
    if not has:
        return
    least, path, page = min(has, key=itemgetter(0))
    lost = max(scenario.loss.segments)
    if least < lost:
        kind = "burst" if isinstance(scenario.workload, Bursts) else "page"
        key = "segments" if page.size_bytes is None else "size"
        key = f"burst_{key}" if kind == "burst" else key
        yield Problem(
            ("loss", "segments"),
            f"{lost} segments are lost of a {kind} of {least} ({'.'.join(map(str, (*path, key)))})",
            f"lose at most {least}, or send more",
        )
