"""A case of two paths: bursts of one connection, losses by path and burst."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Self

from rexmit.agree.case import PERIODS, TIMEOUT_NS
from rexmit.campaign.plan import phase_period_ns, phases_ns
from rexmit.campaign.streams import Streams
from rexmit.scenario.units import DURATION, RATE

QUEUE_PACKETS: Final = 1000


@dataclass(frozen=True, slots=True)
class PathCase:
    """What both engines are given. `seed` fixes the timers' phase as the last burst starts."""

    name: str
    seed: int
    protocol: str
    """`tcp` or `mptcp`."""
    first_path: int
    """On which the connection is opened, from 1."""
    path_rates_bps: tuple[int, ...]
    path_delays_ns: tuple[int, ...]
    """One way, of the whole path."""
    bursts: int
    segments: int
    """Of each burst."""
    gap_ns: int
    """From the first write of one burst to the first write of the next."""
    pattern: str
    congestion_control: str = "cubic"
    sysctls: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The case that `as_json` wrote."""
        data = json.loads(text)
        pairs = {name: tuple(data[name]) for name in ("path_rates_bps", "path_delays_ns")}
        return cls(**{**data, **pairs})

    def as_json(self) -> str:
        """One line."""
        return json.dumps(asdict(self))

    @property
    def receive_window_bytes(self) -> None:
        """Clients of bursts bind none."""
        return None

    def cell(self, streams: Streams, *, number: int, hz: int) -> dict[str, Any]:
        """The path cell of a plan, for either engine."""
        period = phase_period_ns(hz)
        return {
            "id": number,
            "label": self.name,
            "family": 4,
            "mtu": 1500,
            "paths": [
                {
                    "rate_bps": rate,
                    "delay_ns": delay,
                    "jitter_ns": 0,
                    "loss": 0.0,
                    "queue_packets": QUEUE_PACKETS,
                }
                for rate, delay in zip(self.path_rates_bps, self.path_delays_ns, strict=True)
            ],
            "protocol": self.protocol,
            "first_path": self.first_path,
            "sysctls": dict(self.sysctls),
            "congestion_control": self.congestion_control,
            "bursts": {
                "count": self.bursts,
                "segments": self.segments,
                "bytes": None,
                "gap_ns": self.gap_ns,
            },
            "loss": {"pattern": self.pattern},
            "starts": [{"repetition": 0, "phase_ns": phases_ns(streams, self.seed, 1, period)[0]}],
            "phase_period_ns": PERIODS * period,
            "capture": False,
            "packets": True,
            "transfer_timeout_ns": TIMEOUT_NS,
        }

    def scenario(self, title: str) -> str:
        """The case as a scenario file that `rexmit run` takes."""
        paths = ", ".join(
            f'{{ rate = "{RATE.text(rate)}", delay = "{DURATION.text(delay)}" }}'
            for rate, delay in zip(self.path_rates_bps, self.path_delays_ns, strict=True)
        )
        sysctls = ", ".join(f'"{name}" = "{value}"' for name, value in self.sysctls.items())
        lines = [
            "format = 1",
            f"title = {json.dumps(title)}",
            f"seed = {self.seed}",
            "",
            "[networks.paths]",
            f"paths = [{paths}]",
            f"queue = {QUEUE_PACKETS}",
            "",
            "[configs.host]",
            f'protocol = "{self.protocol}"',
            f"path = {self.first_path}",
            f"sysctl = {{ {sysctls} }}",
            "",
            "[tcp]",
            f'congestion_control = "{self.congestion_control}"',
            "",
            "[workload]",
            'server = "burst"',
            f"bursts = {self.bursts}",
            f"burst_segments = {self.segments}",
            f'gap = "{DURATION.text(self.gap_ns)}"',
            f'timeout = "{DURATION.text(TIMEOUT_NS)}"',
            "",
            "[loss]",
            'rule = "pattern"',
            f'pattern = "{self.pattern}"',
        ]
        return "\n".join(lines) + "\n"
