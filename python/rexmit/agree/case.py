"""A case: one transfer over one network with one pattern of losses; as a plan, as a scenario."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Protocol, Self

from rexmit.campaign.plan import phase_period_ns, phases_ns
from rexmit.campaign.streams import Streams
from rexmit.engines.engine import PLAN_VERSION
from rexmit.scenario.units import DURATION, RATE, SIZE

PERIODS: Final = 64
"""A transfer starts at a multiple of this many phase periods: long timers have steps that long."""

TIMEOUT_NS: Final = 600 * 10**9
"""Virtual time after which a transfer is given up."""


class AnyCase(Protocol):
    """What is asked of a case, whether of pages or of bursts over paths."""

    @property
    def name(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def sysctls(self) -> Mapping[str, str]: ...
    @property
    def receive_window_bytes(self) -> int | None: ...

    def as_json(self) -> str:
        """One line."""

    def cell(self, streams: Streams, *, number: int, hz: int) -> dict[str, Any]:
        """The cell of a plan, for either engine."""

    def scenario(self, title: str) -> str:
        """The case as a scenario file that `rexmit run` takes."""


@dataclass(frozen=True, slots=True)
class Case:
    """What both engines are given. `seed` fixes where in the timers' period the transfer starts."""

    name: str
    seed: int
    rates_bps: tuple[int, int]
    """Of the server's link and the client's."""
    delays_ns: tuple[int, int]
    """One way, of the same."""
    queue_packets: int
    segments: int
    pattern: str
    congestion_control: str = "cubic"
    receive_window_bytes: int | None = None
    sysctls: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The case that `as_json` wrote."""
        data = json.loads(text)
        pairs = {name: tuple(data[name]) for name in ("rates_bps", "delays_ns")}
        return cls(**{**data, **pairs})

    def as_json(self) -> str:
        """One line."""
        return json.dumps(asdict(self))

    @property
    def rtt_ns(self) -> int:
        """Of an empty network, for a packet of no size."""
        return 2 * sum(self.delays_ns)

    def cell(self, streams: Streams, *, number: int, hz: int) -> dict[str, Any]:
        """The cell of a plan, for either engine."""
        period = phase_period_ns(hz)
        return {
            "id": number,
            "label": self.name,
            "network": {
                "family": 4,
                "at": "wire",
                "mtu": 1500,
                "links": [
                    {
                        "rate_bps": rate,
                        "delay_ns": delay,
                        "jitter_ns": 0,
                        "loss": 0.0,
                        "queue_packets": self.queue_packets,
                    }
                    for rate, delay in zip(self.rates_bps, self.delays_ns, strict=True)
                ],
            },
            "sysctls": dict(self.sysctls),
            "congestion_control": self.congestion_control,
            "workload": {
                "server": "nginx",
                "client": "builtin",
                "segments": self.segments,
                "bytes": None,
                "receive_window_bytes": self.receive_window_bytes,
            },
            "loss": {"rule": "pattern", "pattern": self.pattern},
            "starts": [{"repetition": 0, "phase_ns": phases_ns(streams, self.seed, 1, period)[0]}],
            "phase_period_ns": PERIODS * period,
            "capture": False,
            "packets": True,
            "transfer_timeout_ns": TIMEOUT_NS,
        }

    def scenario(self, title: str) -> str:
        """The case as a scenario file that `rexmit run` takes."""
        links = ", ".join(
            f'{{ rate = "{RATE.text(rate)}", delay = "{DURATION.text(delay)}" }}'
            for rate, delay in zip(self.rates_bps, self.delays_ns, strict=True)
        )
        window = self.receive_window_bytes
        lines = [
            "format = 1",
            f"title = {json.dumps(title)}",
            f"seed = {self.seed}",
            "",
            "[networks.link]",
            f"links = [{links}]",
            f"queue = {self.queue_packets}",
            "",
            "[configs.host]",
            "sysctl = { "
            + ", ".join(f'"{name}" = "{value}"' for name, value in self.sysctls.items())
            + " }",
            "",
            "[tcp]",
            f'congestion_control = "{self.congestion_control}"',
            "",
            "[workload]",
            f"segments = {self.segments}",
            *([] if window is None else [f'receive_window = "{SIZE.text(window)}"']),
            f'timeout = "{DURATION.text(TIMEOUT_NS)}"',
            "",
            "[loss]",
            'rule = "pattern"',
            f'pattern = "{self.pattern}"',
        ]
        return "\n".join(lines) + "\n"


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
        "cells": [cell for cell in cells if "paths" not in cell],
        "path_cells": [cell for cell in cells if "paths" in cell],
    }
