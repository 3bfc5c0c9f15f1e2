"""A cell as engines read it: plain data, in the form of plans of version 1.

It says what the cell is and nothing of its place in the grid or the name of its configuration, so
cells of the same settings have the same plan, to the byte, and their engine the same seed, whatever
else was asked for.
"""

from __future__ import annotations

import json
from typing import Any, Final

from rexmit.campaign.grid import Cell
from rexmit.campaign.streams import Streams
from rexmit.engines.engine import CELL_ID
from rexmit.scenario import Bursts, LinkSpec, Pages, PatternLoss, Scenario, offload, route
from rexmit.scenario.aqm import Aqm
from rexmit.scenario.network import LossBursts, PathMtu, Policer, Stalls
from rexmit.scenario.rate_trace import RateTrace

PHASE_TICKS: Final = 64
"""Transfers start spread over this many ticks: the step of the kernel's timer wheel for timers of
512 to 4096 ticks (2 to 16 s at 250 Hz); shorter timers have finer steps (kernel/time/timer.c)."""


def phase_period_ns(hz: int) -> int:
    """The period that start phases spread over, for timers of this frequency."""
    return PHASE_TICKS * 1_000_000_000 // hz


def phases_ns(streams: Streams, seed: int, repeat: int, period_ns: int) -> list[int]:
    """A start phase per repetition: one drawn from each of `repeat` equal parts of the period.

    They are common to all cells with as many repetitions (common random numbers): repetition N of
    two configurations starts at the same phase of the timers. So configurations that behave alike
    show no difference but the microsecond or two that reading the clock costs (256 ns each time),
    and the difference of two that behave otherwise is free of the phases' spread.
    """
    drawn = streams.stream_uniform(seed, "phase", 0, repeat)
    return [
        min(int((index + share) / repeat * period_ns), period_ns - 1)
        for index, share in enumerate(drawn)
    ]


def boot_seed(streams: Streams, seed: int, network: str) -> int:
    """The seed (64 bits) of whatever runs a cell: initial sequence numbers follow from it, and
    random loss and jitter of the line.

    It is common to all cells of a network (common random numbers), as their phases are: what
    differs between two of them is what they do, not what was drawn for them.
    """
    return streams.stream_u64(seed, f"boot network={json.dumps(network)}", 0, 1)[0]


def network_plan(scenario: Scenario, name: str, line_loss: float | None = None) -> dict[str, Any]:
    """The NETWORK of a plan; `line_loss` is the value of that axis (the first where none)."""
    network = scenario.networks[name]
    links = network.link_specs(network.loss[0] if line_loss is None else line_loss)
    return {
        "family": scenario.ip.family,
        "at": network.at,
        "mtu": scenario.ip.mtu,
        network.over: [_link(link) for link in links],
    }


def _link(link: LinkSpec) -> dict[str, Any]:
    plan: dict[str, Any] = {
        "rate_bps": link.rate_bps,
        "delay_ns": link.delay_ns,
        "jitter_ns": link.jitter_ns,
        "loss": link.loss,
        "queue_packets": link.queue_packets,
    }
    for key, value in link.besides:
        match value:
            case LossBursts() | PathMtu():
                plan[key] = dict(vars(value))
            case Stalls():
                times = {"every_ns": value.every, "least_ns": value.least, "most_ns": value.most}
                plan[key] = times
            case Policer():
                plan[key] = {"rate_bps": value.rate, "burst_bytes": value.burst}
            case RateTrace():
                plan["rate_trace"] = value.text
            case Aqm():
                plan[key] = value.plan()
            case tuple():
                plan[f"{key}_ns"] = value
            case _:
                plan[key] = value
    if link.up is not None:
        plan["up"] = _link(link.up)
    return plan


def cell_plan(
    scenario: Scenario, cell: Cell, *, phases: list[int], period_ns: int, capture: bool
) -> dict[str, Any]:
    """The CELL of a plan."""
    config = scenario.configs[cell.config]
    plan: dict[str, Any] = {
        "id": CELL_ID,
        # Not the cell's own label, which depends on the rest of its grid, and on names.
        "label": f"{cell.network} {cell.loss_pattern or cell.lost_segments}",
        "sysctls": dict(sorted({**_opening(scenario), **config.sysctl}.items())),
        "congestion_control": cell.congestion_control,
        "starts": [{"repetition": index, "phase_ns": phase} for index, phase in enumerate(phases)],
        "phase_period_ns": period_ns,
        "capture": capture,
        "transfer_timeout_ns": scenario.workload.timeout,
        "network": network_plan(scenario, cell.network, cell.line_loss),
        "protocol": config.protocol,
        "first_path": config.path,
        "workload": _workload(scenario, cell),
        "loss": _loss(scenario, cell),
    }
    does = offload.merged(scenario.offload, config.offload)
    if does is not None:
        plan["offload"] = does
    says = route.plan(scenario.route, config.route)
    if says:
        plan["route"] = says
    if config.qdisc is not None:
        plan["qdisc"] = config.qdisc
    if isinstance(scenario.workload, Pages) and scenario.workload.warm_up:
        plan["warm_up"] = scenario.workload.warm_up
    return plan


def _opening(scenario: Scenario) -> dict[str, str]:
    """What hosts need to be set to for requests in SYNs: both are clients and servers of that."""
    asked = isinstance(scenario.workload, Pages) and scenario.workload.fast_open
    return {"net.ipv4.tcp_fastopen": "3"} if asked else {}


def _workload(scenario: Scenario, cell: Cell) -> dict[str, Any]:
    workload = scenario.workload
    length = {"segments": cell.page.segments, "bytes": cell.page.size_bytes}
    if isinstance(workload, Bursts):
        plan: dict[str, Any] = {
            "server": workload.server,
            "count": workload.bursts,
            **length,
            "gap_ns": workload.gap,
        }
        if workload.request is not None:
            plan["request"] = {
                "bytes": workload.request,
                "server_think_ns": workload.server_think,
            }
        if workload.last_byte_after:
            plan["last_byte_after_ns"] = workload.last_byte_after
        return plan
    plan = {
        "server": workload.server,
        "client": cell.client,
        **length,
        "receive_window_bytes": cell.receive_window_bytes,
    }
    http = scenario.http(cell.config)
    if http != "1.1":
        plan["http"] = http
    if not workload.tcp_nopush:
        plan["tcp_nopush"] = False
    if workload.read_rate is not None:
        plan["read_bps"] = workload.read_rate
    if workload.fast_open:
        plan["fast_open"] = True
    return plan


def _loss(scenario: Scenario, cell: Cell) -> dict[str, Any]:
    loss = scenario.loss
    if isinstance(loss, PatternLoss):
        return {"rule": loss.rule, "pattern": cell.loss_pattern}
    return {
        "rule": loss.rule,
        "segments": cell.lost_segments,
        "mode": loss.mode,
        "hold_limit_ns": loss.hold_limit,
    }
