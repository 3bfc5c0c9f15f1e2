"""What no key alone can tell of bursts over paths: which keys go together, and which do not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from rexmit.scenario.model import PAGE_LIMIT_BYTES, Config, Scenario, Vary, Workload
from rexmit.scenario.problem import Problem
from rexmit.scenario.units import SIZE

OF_BURSTS: Final = ("bursts", "burst_segments", "burst_size", "gap")
"""Keys of the workload that only the server "burst" heeds."""

OF_PAGES: Final = ("segments", "size", "receive_window", "tcp_nopush", "read_rate", "warm_up")
"""Keys of the workload that only a server of pages heeds."""

_OF_PAGES_VARIED: Final = ("segments", "size", "receive_window", "client")
_BURST: Final = 'workload.server = "burst"'


def problems(scenario: Scenario) -> Iterator[Problem]:
    """Every mix of keys that makes no sense."""
    if scenario.workload.server == "burst":
        yield from _of_bursts(scenario)
    else:
        yield from _of_pages(scenario)


def _given(workload: Workload, keys: Iterable[str]) -> Iterator[str]:
    """Those keys that say something other than their defaults."""
    for key in keys:
        if getattr(workload, key) != Workload.model_fields[key].default:
            yield key


def _of_pages(scenario: Scenario) -> Iterator[Problem]:
    for key in _given(scenario.workload, OF_BURSTS):
        yield Problem(("workload", key), "no page has it", f"leave it out, or add {_BURST}")
    for name, network in scenario.networks.items():
        if network.paths is not None:
            yield Problem(
                ("networks", name, "paths"),
                "a page goes over two links, not over paths",
                f"write links, or add {_BURST}",
            )
    for name, config in scenario.configs.items():
        if config.protocol == "mptcp":
            yield Problem(
                ("configs", name, "protocol"),
                "pages are fetched over TCP",
                f"leave it out, or add {_BURST}",
            )
        if config.path != 1:
            yield Problem(
                ("configs", name, "path"), "there is no other path", "leave it out, or write 1"
            )
    for index, pattern in enumerate(scenario.loss.pattern or ()):
        if re.search(r"\b(path|burst) [0-9]", pattern):
            yield Problem(
                _pattern_at(scenario, index),
                f'"{pattern}": a page has neither paths nor bursts',
                f"write data and ack alone, or add {_BURST}",
            )


def _of_bursts(scenario: Scenario) -> Iterator[Problem]:
    yield from _workload(scenario)
    if scenario.loss.rule != "pattern":
        yield Problem(
            ("loss", "rule"),
            f'the rule "{scenario.loss.rule}" reads pages, bursts have none',
            'write loss.rule = "pattern" and, for no loss at all, loss.pattern = "none"',
        )
    for name, network in scenario.networks.items():
        if network.paths is None:
            yield Problem(
                ("networks", name, "paths"),
                "missing: bursts go over paths",
                'add paths = [{ delay = "20ms" }, { delay = "20ms" }], one for plain TCP',
            )
        if network.links is not None:
            yield Problem(
                ("networks", name, "links"), "bursts go over paths", "write paths instead"
            )
        if network.at != "wire":
            yield Problem(
                ("networks", name, "at"), "a path's rate and delay act on the wire", "leave it out"
            )
    for name, config in scenario.configs.items():
        yield from _config(scenario, name, config)
    for index, vary in enumerate(scenario.vary):
        yield from _vary(index, vary)
    yield from _patterns(scenario)


def _workload(scenario: Scenario) -> Iterator[Problem]:
    workload = scenario.workload
    for key in _given(workload, OF_PAGES):
        yield Problem(
            ("workload", key), "of pages, not of bursts", 'leave it out, or write server = "nginx"'
        )
    if workload.client != ("builtin",):
        yield Problem(("workload", "client"), "only the built-in client reads bursts")
    if workload.burst_segments is None and workload.burst_size is None:
        yield Problem(
            ("workload", "burst_segments"),
            "missing",
            'how long a burst is: burst_segments = 80, or burst_size = "115kB"',
        )
    if workload.burst_segments is not None and workload.burst_size is not None:
        yield Problem(
            ("workload", "burst_size"),
            "the burst has segments as well",
            "give workload.burst_segments or workload.burst_size, not both",
        )
    if workload.bursts > 1 and workload.gap == 0:
        yield Problem(("workload", "gap"), "must be more than nothing")
    each = workload.burst_size or (workload.burst_segments or 0) * scenario.ip.mtu
    if each * workload.bursts > PAGE_LIMIT_BYTES:
        key = "burst_segments" if workload.burst_size is None else "burst_size"
        yield Problem(
            ("workload", key),
            "the bursts are too large",
            f"all together at most {SIZE.text(PAGE_LIMIT_BYTES)}",
        )


def _config(scenario: Scenario, name: str, config: Config) -> Iterator[Problem]:
    for network, there in scenario.networks.items():
        paths = len(there.paths or ())
        if there.paths is None:
            continue
        if config.protocol == "mptcp" and paths < 2:
            yield Problem(
                ("configs", name, "protocol"),
                f"Multipath TCP needs two paths, network {network} has {paths}",
                'add a path, or write protocol = "tcp"',
            )
        if config.path > paths:
            yield Problem(
                ("configs", name, "path"),
                f"there is no path {config.path}, network {network} has {paths}",
                f"a number from 1 to {paths}",
            )


def _vary(index: int, vary: Vary) -> Iterator[Problem]:
    for key in _OF_PAGES_VARIED:
        if getattr(vary, key) is not None:
            yield Problem(
                ("vary", index, key),
                "of pages, not of bursts",
                "allowed with bursts: congestion_control, line_loss",
            )


def _patterns(scenario: Scenario) -> Iterator[Problem]:
    """Patterns in their printed form that name what there is not."""
    paths = min(
        (
            len(scenario.networks[name].paths or ())
            for name in scenario.network_names
            if name in scenario.networks
        ),
        default=0,
    )
    of_tcp = {
        scenario.configs[name].path
        for name in scenario.config_names
        if name in scenario.configs and scenario.configs[name].protocol == "tcp"
    }
    for index, pattern in enumerate(scenario.loss.pattern or ()):
        at = _pattern_at(scenario, index)
        if re.search(r"\bfin\b", pattern):
            yield Problem(at, f'"{pattern}": bursts have no FIN', "name positions")
        named = {
            what: {int(number) for number in re.findall(rf"\b{what} ([0-9]+)", pattern)}
            for what in ("path", "burst")
        }
        for what, most in (("path", paths), ("burst", scenario.workload.bursts)):
            beyond = sorted(number for number in named[what] if number > most)
            if beyond and most:
                yield Problem(
                    at, f'"{pattern}": there is no {what} {beyond[0]}', f"{what}s here: 1 to {most}"
                )
        for own in sorted(of_tcp):
            others = sorted(named["path"] - {own})
            if others and others[0] <= paths:
                yield Problem(
                    at,
                    f'"{pattern}": path {others[0]}, and TCP goes on path {own} alone',
                    "name the path of the configurations with TCP, or leave these out",
                )


def _pattern_at(scenario: Scenario, index: int) -> tuple[str | int, ...]:
    alone = len(scenario.loss.pattern or ()) == 1
    return ("loss", "pattern") if alone else ("loss", "pattern", index)
