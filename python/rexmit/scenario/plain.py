"""A scenario as plain data (numbers and text with units) for run.json, every default filled in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from rexmit.scenario.loss import Loss, PatternLoss
from rexmit.scenario.model import Bursts, Config, Pages, Scenario, Vary
from rexmit.scenario.network import Link, LinkedNetwork, Network, PathNetwork
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
    if isinstance(network, LinkedNetwork):
        found["at"] = network.at
    if network.repeat is not None:
        found["repeat"] = network.repeat
    if isinstance(network, PathNetwork):
        found["paths"] = [_link(path) for path in network.paths]
    elif network.links is not None:
        found["links"] = [_link(link) for link in network.links]
    return found


def _config(config: Config) -> dict[str, Any]:
    found: dict[str, Any] = {"about": config.about}
    if config.protocol != "tcp":
        found["protocol"] = config.protocol
    if config.path != 1:
        found["path"] = config.path
    if config.patch is not None:
        found["patch"] = config.patch
    found["sysctl"] = dict(config.sysctl)
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


def _loss(loss: Loss) -> dict[str, Any]:
    if isinstance(loss, PatternLoss):
        return {"rule": loss.rule, "pattern": _axis(loss.pattern, str)}
    return {
        "rule": loss.rule,
        "segments": counts_text(loss.segments),
        "mode": loss.mode,
        "hold_limit": DURATION.text(loss.hold_limit),
    }


def _workload(workload: Pages | Bursts) -> dict[str, Any]:
    found: dict[str, Any] = {
        "server": workload.server,
        "client": _axis(workload.client, str),
    }
    if isinstance(workload, Bursts):
        found["bursts"] = workload.bursts
        if workload.burst_size is None:
            found["burst_segments"] = workload.burst_segments
        else:
            found["burst_size"] = SIZE.text(workload.burst_size)
        found["gap"] = DURATION.text(workload.gap)
        return found | {"timeout": DURATION.text(workload.timeout)}
    if workload.size is not None:
        found["size"] = _axis(workload.size, SIZE.text)
    else:
        found["segments"] = counts_text(tuple(page.segments or 0 for page in workload.pages))
    found["receive_window"] = _axis(workload.receive_window, _window)
    if not workload.tcp_nopush:
        found["tcp_nopush"] = False
    if workload.read_rate is not None:
        found["read_rate"] = RATE.text(workload.read_rate)
    if workload.warm_up:
        found["warm_up"] = workload.warm_up
    return found | {"timeout": DURATION.text(workload.timeout)}


def effective(scenario: Scenario) -> dict[str, Any]:
    """The whole scenario as plain data with units as text, in the order of the file; `from_plain`
    reads it back.
    """
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
        "workload": _workload(scenario.workload),
        "ip": {"family": scenario.ip.family, "mtu": scenario.ip.mtu},
        "loss": _loss(scenario.loss),
        **({"stack": dict(scenario.stack)} if scenario.stack else {}),
        "vary": [_vary(vary) for vary in scenario.vary],
    }
