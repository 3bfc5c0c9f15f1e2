"""A case: one measurement with one pattern of losses; as a plan, as a scenario."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Self

from rexmit.campaign.plan import phase_period_ns, phases_ns
from rexmit.campaign.streams import Streams
from rexmit.engines.engine import PLAN_VERSION
from rexmit.scenario import route
from rexmit.scenario.units import DURATION, RATE, SIZE
from rexmit.store.plain_json import loads

PERIODS: Final = 64
"""A case starts at a multiple of this many phase periods: long timers have steps that long."""

TIMEOUT_NS: Final = 600 * 10**9
"""Virtual time after which it is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What both engines are given: a page over two links that meet at a switch, or bursts over
    paths. `seed` fixes where in the timers' period the page is asked for, or the last burst starts.
    """

    name: str
    seed: int
    segments: int
    """Of what the server sends at a time: a page, a burst."""
    page_bytes: int | None = None
    """Of a page that is no whole number of segments, head and body: its length instead."""
    pattern: str
    congestion_control: str = "cubic"
    sysctls: Mapping[str, str] = field(default_factory=dict)
    route: Mapping[str, int] = field(default_factory=dict)
    """What the routes of both hosts say, in the words of a plan."""
    over: str = "links"
    """`links` or `paths`."""
    rates_bps: tuple[int, ...]
    """Of the server's link and the client's, or of each path."""
    delays_ns: tuple[int, ...]
    """One way, of the same."""
    queue_packets: int
    """Of each direction of each of them."""
    receive_window_bytes: int | None = None
    """What the client binds; None where it binds nothing."""
    protocol: str = "tcp"
    """`tcp` or `mptcp`."""
    first_path: int = 1
    """On which the connection is opened, from 1."""
    bursts: int | None = None
    """None of a page."""
    gap_ns: int = 0
    """From the first write of one burst to the first write of the next."""

    @property
    def paths(self) -> int:
        """How many paths there are."""
        return len(self.rates_bps) if self.over == "paths" else 1

    @property
    def minds_paths(self) -> bool:
        """Whether its packets are logged with their paths: all but those of a page over TCP."""
        return self.bursts is not None or self.protocol == "mptcp"

    @property
    def rtt_ns(self) -> int:
        """Of an empty network, for a packet of no size: over both links, or the longest path."""
        return 2 * (sum(self.delays_ns) if self.over == "links" else max(self.delays_ns))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The case that `as_json` wrote."""
        data: dict[str, Any] = loads(text)
        for name, value in data.items():
            data[name] = tuple(value) if isinstance(value, list) else value
        return cls(**data)

    def as_json(self) -> str:
        """One line."""
        return json.dumps(asdict(self))

    def cell(self, streams: Streams, *, number: int, hz: int) -> dict[str, Any]:
        """The cell of a plan, for either engine."""
        period = phase_period_ns(hz)
        says = {"route": dict(self.route)} if self.route else {}
        return {
            **says,
            "id": number,
            "label": self.name,
            "network": {"family": 4, "at": "wire", "mtu": 1500, self.over: self._hops()},
            "protocol": self.protocol,
            "first_path": self.first_path,
            "workload": self._workload(),
            "loss": {"rule": "pattern", "pattern": self.pattern},
            "sysctls": dict(self.sysctls),
            "congestion_control": self.congestion_control,
            "starts": [{"repetition": 0, "phase_ns": phases_ns(streams, self.seed, 1, period)[0]}],
            "phase_period_ns": PERIODS * period,
            "capture": False,
            "packets": True,
            "transfer_timeout_ns": TIMEOUT_NS,
        }

    def _hops(self) -> list[dict[str, Any]]:
        """Links or paths, with nothing random about them."""
        return [
            {
                "rate_bps": rate,
                "delay_ns": delay,
                "jitter_ns": 0,
                "loss": 0.0,
                "queue_packets": self.queue_packets,
            }
            for rate, delay in zip(self.rates_bps, self.delays_ns, strict=True)
        ]

    def _workload(self) -> dict[str, Any]:
        length = {
            "segments": self.segments if self.page_bytes is None else None,
            "bytes": self.page_bytes,
        }
        if self.bursts is not None:
            return {"server": "burst", "count": self.bursts, **length, "gap_ns": self.gap_ns}
        return {
            "server": "nginx",
            "client": "builtin",
            **length,
            "receive_window_bytes": self.receive_window_bytes,
        }

    def scenario(self, title: str) -> str:
        """The case as a scenario file that `rexmit run` takes."""
        sysctls = ", ".join(f'"{name}" = "{value}"' for name, value in self.sysctls.items())
        hops = ", ".join(
            f'{{ rate = "{RATE.text(rate)}", delay = "{DURATION.text(delay)}" }}'
            for rate, delay in zip(self.rates_bps, self.delays_ns, strict=True)
        )
        over_paths = self.over == "paths"
        lines = [
            "format = 1",
            f"title = {json.dumps(title)}",
            f"seed = {self.seed}",
            "",
            "[networks.paths]" if over_paths else "[networks.link]",
            f"{self.over} = [{hops}]",
            f"queue = {self.queue_packets}",
            "",
            "[configs.host]",
            *([f'protocol = "{self.protocol}"', f"path = {self.first_path}"] * over_paths),
            f"sysctl = {{ {sysctls} }}",
            *route.toml(self.route),
            "",
            "[tcp]",
            f'congestion_control = "{self.congestion_control}"',
            "",
            "[workload]",
            *self._workload_keys(),
            f'timeout = "{DURATION.text(TIMEOUT_NS)}"',
            "",
            "[loss]",
            'rule = "pattern"',
            f'pattern = "{self.pattern}"',
        ]
        return "\n".join(lines) + "\n"

    def _workload_keys(self) -> list[str]:
        if self.bursts is not None:
            return [
                'server = "burst"',
                f"bursts = {self.bursts}",
                f"burst_segments = {self.segments}",
                f'gap = "{DURATION.text(self.gap_ns)}"',
            ]
        window = self.receive_window_bytes
        bound = [] if window is None else [f'receive_window = "{SIZE.text(window)}"']
        if self.page_bytes is not None:
            return [f'size = "{SIZE.text(self.page_bytes)}"', *bound]
        return [f"segments = {self.segments}", *bound]


def plan(
    cases: Mapping[int, Case],
    streams: Streams,
    *,
    hz: int,
    programs: Mapping[str, str | None],
) -> dict[str, Any]:
    """The plan of a boot that runs the cases one after the other."""
    return {
        "version": PLAN_VERSION,
        # Virtual seconds: cases that lose much take minutes of them.
        "heartbeat_s": 100,
        "programs": dict(programs),
        "cells": [case.cell(streams, number=number, hz=hz) for number, case in cases.items()],
    }
