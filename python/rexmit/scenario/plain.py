"""A scenario as plain data (numbers and text with units) for run.json, every default filled in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from rexmit.scenario.model import Config, Link, Loss, Network, Scenario, Vary
from rexmit.scenario.units import DURATION, RATE, SIZE, share_text
from rexmit.scenario.values import AUTO, counts_text

T = TypeVar("T")


def _axis(values: tuple[T, ...], text: Callable[[T], str]) -> str | list[str]:
    return text(values[0]) if len(values) == 1 else [text(value) for value in values]


def _window(size: int | None) -> str:
    return AUTO if size is None else SIZE.text(size)


def _link(link: Link) -> dict[str, Any]:
    own = {
        "rate": None if link.rate is None else RATE.text(link.rate),
        "delay": None if link.delay is None else DURATION.text(link.delay),
        "jitter": None if link.jitter is None else DURATION.text(link.jitter),
        "loss": None if link.loss is None else share_text(link.loss),
        "queue": link.queue,
    }
    return {key: value for key, value in own.items() if value is not None}


def _network(network: Network) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if network.rate is not None:
        found["rate"] = RATE.text(network.rate)
    if network.delay is not None:
        found["delay"] = DURATION.text(network.delay)
    found["jitter"] = DURATION.text(network.jitter)
    found["loss"] = _axis(network.loss, share_text)
    found["queue"] = network.queue
    found["at"] = network.at
    if network.repeat is not None:
        found["repeat"] = network.repeat
    if network.links is not None:
        found["links"] = [_link(link) for link in network.links]
    return found


def _config(config: Config) -> dict[str, Any]:
    found: dict[str, Any] = {"about": config.about, "sysctl": dict(config.sysctl)}
    if config.stack:
        found["stack"] = dict(config.stack)
    return found


def _vary(vary: Vary) -> dict[str, Any]:
    found: dict[str, Any] = {"about": vary.about}
    if vary.segments is not None:
        found["segments"] = counts_text(vary.segments)
    if vary.size is not None:
        found["size"] = _axis(vary.size, SIZE.text)
    if vary.receive_window is not None:
        found["receive_window"] = _axis(vary.receive_window, _window)
    if vary.client is not None:
        found["client"] = _axis(vary.client, str)
    if vary.congestion_control is not None:
        found["congestion_control"] = _axis(vary.congestion_control, str)
    if vary.line_loss is not None:
        found["line_loss"] = _axis(vary.line_loss, share_text)
    return found


def _lost(loss: Loss) -> dict[str, Any]:
    if loss.pattern is not None:
        return {"pattern": _axis(loss.pattern, str)}
    return {"segments": counts_text(loss.segments)}


def plain(scenario: Scenario) -> dict[str, Any]:
    """The whole scenario as plain data, in the order of the file."""
    workload: dict[str, Any] = {
        "server": scenario.workload.server,
        "client": _axis(scenario.workload.client, str),
    }
    if scenario.workload.size is not None:
        workload["size"] = _axis(scenario.workload.size, SIZE.text)
    else:
        pages = scenario.workload.pages
        workload["segments"] = counts_text(tuple(page.segments or 0 for page in pages))
    workload["receive_window"] = _axis(scenario.workload.receive_window, _window)
    if not scenario.workload.tcp_nopush:
        workload["tcp_nopush"] = False
    if scenario.workload.read_rate is not None:
        workload["read_rate"] = RATE.text(scenario.workload.read_rate)
    if scenario.workload.warm_up:
        workload["warm_up"] = scenario.workload.warm_up
    workload["timeout"] = DURATION.text(scenario.workload.timeout)
    return {
        "format": scenario.format,
        "title": scenario.title,
        "seed": scenario.seed,
        "network": list(scenario.network_names),
        "config": list(scenario.config_names),
        "repeat": scenario.repeat,
        "networks": {name: _network(network) for name, network in scenario.networks.items()},
        "configs": {name: _config(config) for name, config in scenario.configs.items()},
        "tcp": {"congestion_control": _axis(scenario.tcp.congestion_control, str)},
        "workload": workload,
        "ip": {"family": scenario.ip.family, "mtu": scenario.ip.mtu},
        "loss": {
            "rule": scenario.loss.rule,
            **_lost(scenario.loss),
            "mode": scenario.loss.mode,
            "hold_limit": DURATION.text(scenario.loss.hold_limit),
        },
        **({"stack": dict(scenario.stack)} if scenario.stack else {}),
        "vary": [_vary(vary) for vary in scenario.vary],
    }
