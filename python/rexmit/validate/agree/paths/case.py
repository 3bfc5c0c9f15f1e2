"""A case of two paths: bursts of one connection, losses by path and burst."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from rexmit.scenario.units import DURATION
from rexmit.validate.agree.any_case import AnyCase, Hops, hops_as_cell, hops_as_scenario

QUEUE_PACKETS: Final = 1000
"""More than there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathCase(AnyCase):
    """Bursts over paths. `seed` fixes the timers' phase as the last of them starts."""

    protocol: str
    """`tcp` or `mptcp`."""
    first_path: int
    """On which the connection is opened, from 1."""
    path_rates_bps: tuple[int, ...]
    path_delays_ns: tuple[int, ...]
    """One way, of the whole path."""
    bursts: int
    gap_ns: int
    """From the first write of one burst to the first write of the next."""
    queue_packets: int = QUEUE_PACKETS
    """Of each direction of each path."""

    @property
    def _paths(self) -> Hops:
        return list(zip(self.path_rates_bps, self.path_delays_ns, strict=True))

    def _cell(self) -> dict[str, Any]:
        return {
            "network": {
                "family": 4,
                "mtu": 1500,
                "paths": hops_as_cell(self._paths, self.queue_packets),
            },
            "protocol": self.protocol,
            "first_path": self.first_path,
            "workload": {
                "server": "burst",
                "count": self.bursts,
                "segments": self.segments,
                "bytes": None,
                "gap_ns": self.gap_ns,
            },
            "loss": {"rule": "pattern", "pattern": self.pattern},
        }

    def _network(self) -> list[str]:
        return ["[networks.paths]", *hops_as_scenario("paths", self._paths, self.queue_packets)]

    def _config(self) -> list[str]:
        return [f'protocol = "{self.protocol}"', f"path = {self.first_path}"]

    def _workload(self) -> list[str]:
        return [
            'server = "burst"',
            f"bursts = {self.bursts}",
            f"burst_segments = {self.segments}",
            f'gap = "{DURATION.text(self.gap_ns)}"',
        ]
