"""A case of pages: one transfer over one network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rexmit.scenario.units import SIZE
from rexmit.validate.agree.any_case import AnyCase, Hops, hops_as_cell, hops_as_scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Case(AnyCase):
    """A page over two links that meet at a switch."""

    rates_bps: tuple[int, int]
    """Of the server's link and the client's."""
    delays_ns: tuple[int, int]
    """One way, of the same."""
    queue_packets: int
    receive_window_bytes: int | None = None

    @property
    def rtt_ns(self) -> int:
        """Of an empty network, for a packet of no size."""
        return 2 * sum(self.delays_ns)

    @property
    def _links(self) -> Hops:
        return list(zip(self.rates_bps, self.delays_ns, strict=True))

    def _cell(self) -> dict[str, Any]:
        return {
            "network": {
                "family": 4,
                "at": "wire",
                "mtu": 1500,
                "links": hops_as_cell(self._links, self.queue_packets),
            },
            "workload": {
                "server": "nginx",
                "client": "builtin",
                "segments": self.segments,
                "bytes": None,
                "receive_window_bytes": self.receive_window_bytes,
            },
            "loss": {"rule": "pattern", "pattern": self.pattern},
        }

    def _network(self) -> list[str]:
        return ["[networks.link]", *hops_as_scenario("links", self._links, self.queue_packets)]

    def _workload(self) -> list[str]:
        window = self.receive_window_bytes
        return [
            f"segments = {self.segments}",
            *([] if window is None else [f'receive_window = "{SIZE.text(window)}"']),
        ]
