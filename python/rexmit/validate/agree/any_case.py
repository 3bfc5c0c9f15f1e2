"""A case of any kind: one measurement with one pattern of losses; as a plan, as a scenario."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Self

from rexmit.campaign.plan import phase_period_ns, phases_ns
from rexmit.campaign.streams import Streams
from rexmit.engines.engine import PLAN_VERSION
from rexmit.scenario.units import DURATION, RATE
from rexmit.store.plain_json import loads

PERIODS: Final = 64
"""A case starts at a multiple of this many phase periods: long timers have steps that long."""

TIMEOUT_NS: Final = 600 * 10**9
"""Virtual time after which it is given up."""

Hops = Sequence[tuple[int, int]]
"""Rate in bit/s and one-way delay in ns of each link or path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyCase(ABC):
    """What both engines are given. `seed` fixes where in the timers' period the case starts."""

    name: str
    seed: int
    segments: int
    """Of what the server sends at a time: a page, a burst."""
    pattern: str
    congestion_control: str = "cubic"
    sysctls: Mapping[str, str] = field(default_factory=dict)

    @property
    def receive_window_bytes(self) -> int | None:
        """What the client binds; None where it binds nothing."""
        return None

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
        return {
            "id": number,
            "label": self.name,
            **self._cell(),
            "sysctls": dict(self.sysctls),
            "congestion_control": self.congestion_control,
            "starts": [{"repetition": 0, "phase_ns": phases_ns(streams, self.seed, 1, period)[0]}],
            "phase_period_ns": PERIODS * period,
            "capture": False,
            "packets": True,
            "transfer_timeout_ns": TIMEOUT_NS,
        }

    def scenario(self, title: str) -> str:
        """The case as a scenario file that `rexmit run` takes."""
        sysctls = ", ".join(f'"{name}" = "{value}"' for name, value in self.sysctls.items())
        lines = [
            "format = 1",
            f"title = {json.dumps(title)}",
            f"seed = {self.seed}",
            "",
            *self._network(),
            "",
            "[configs.host]",
            *self._config(),
            f"sysctl = {{ {sysctls} }}",
            "",
            "[tcp]",
            f'congestion_control = "{self.congestion_control}"',
            "",
            "[workload]",
            *self._workload(),
            f'timeout = "{DURATION.text(TIMEOUT_NS)}"',
            "",
            "[loss]",
            'rule = "pattern"',
            f'pattern = "{self.pattern}"',
        ]
        return "\n".join(lines) + "\n"

    @abstractmethod
    def _cell(self) -> dict[str, Any]:
        """What this kind's cells say of network, workload and loss."""

    @abstractmethod
    def _network(self) -> list[str]:
        """The scenario's table of the network."""

    @abstractmethod
    def _workload(self) -> list[str]:
        """The scenario's keys of the workload, without its timeout."""

    def _config(self) -> list[str]:
        """The scenario's keys of the configuration, without its sysctls."""
        return []


def hops_as_cell(hops: Hops, queue_packets: int) -> list[dict[str, Any]]:
    """Links or paths in a plan, with nothing random about them."""
    return [
        {
            "rate_bps": rate,
            "delay_ns": delay,
            "jitter_ns": 0,
            "loss": 0.0,
            "queue_packets": queue_packets,
        }
        for rate, delay in hops
    ]


def hops_as_scenario(key: str, hops: Hops, queue_packets: int) -> list[str]:
    """The same in a scenario's table of a network."""
    each = ", ".join(
        f'{{ rate = "{RATE.text(rate)}", delay = "{DURATION.text(delay)}" }}'
        for rate, delay in hops
    )
    return [f"{key} = [{each}]", f"queue = {queue_packets}"]


def plan(
    cases: Mapping[int, AnyCase],
    streams: Streams,
    *,
    hz: int,
    programs: Mapping[str, str | None],
) -> dict[str, Any]:
    """The plan of a boot that runs the cases one after the other."""
    cells = [case.cell(streams, number=number, hz=hz) for number, case in cases.items()]
    return {
        "version": PLAN_VERSION,
        # Virtual seconds: cases that lose much take minutes of them.
        "heartbeat_s": 100,
        "programs": dict(programs),
        "cells": cells,
    }
