"""What was counted since the beginning: for the line of each minute, and for OpenMetrics."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from rexmit.tracing.source import Batch, Failure, failures_of
from rexmit.tracing.words import size, span
from rexmit.wording import count


@dataclass
class Tally:
    """Counts that only grow, and how far behind the reader is.

    `packets`, `bytes`, `skipped` (by why), `evicted`, `failed` connections with the `failures` that
    are named, and the drops are of what was read;
    `connections`, `retransmissions` (by mechanism and need) and `waited_s` (by mechanism) of the
    rows that came out, so they follow later. `interface_drops` and `system_drops` are from the
    statistics blocks of pcapng, `tcpdump_drops` from what tcpdump said. `clock_s` is the time stamp
    of the last packet, seconds since 1970, None before the first. `left_out` packets did not pass
    the capture filter, and count nowhere else.
    """

    packets: int = 0
    tcp_packets: int = 0
    bytes: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    evicted: int = 0
    failed: int = 0
    failed_packets: int = 0
    failures: tuple[Failure, ...] = ()
    steps_back: int = 0
    interface_drops: int = 0
    system_drops: int = 0
    tcpdump_drops: int = 0
    clock_s: float | None = None
    connections: int = 0
    retransmissions: Counter[tuple[str, str]] = field(default_factory=Counter)
    waited_s: dict[str, float] = field(default_factory=dict)
    left_out: int = 0
    pieces: int = 0
    pieces_deleted: int = 0

    @property
    def dropped(self) -> int:
        """Packets that never reached the capture, as far as anybody said so."""
        return self.interface_drops + self.system_drops + self.tcpdump_drops

    def read(self, summary: Mapping[str, Any]) -> None:
        """What was read so far, as `_core.Trace.so_far` has it."""
        self.packets = summary["packets"]
        self.tcp_packets = summary["tcp_packets"]
        self.bytes = summary["bytes"]
        self.skipped = {why: n for why, n in summary["skipped"].items() if n}
        self.evicted = summary["evicted"]
        self.failed = summary["failed"]
        self.failed_packets = summary["failed_packets"]
        self.failures = failures_of(summary)
        self.steps_back = summary["steps_back"]
        self.left_out = summary["left_out"]
        self.interface_drops = summary["interface_drops"]
        self.system_drops = summary["system_drops"]
        self.clock_s = summary["last_s"]

    def came_out(self, batch: Batch) -> None:
        """Rows that came out."""
        self.connections += batch["connections"].height
        rows = batch["retransmissions"].group_by("mechanism", "need")
        summed = rows.agg(pl.len(), pl.col("waited_s").sum())
        for mechanism, need, n, waited_s in summed.iter_rows():
            self.retransmissions[mechanism, need] += n
            self.waited_s[mechanism] = self.waited_s.get(mechanism, 0.0) + waited_s

    def lag_s(self) -> float | None:
        """How far the capture's clock is behind the wall clock, seconds; None before a packet."""
        return None if self.clock_s is None else time.time() - self.clock_s

    def copy(self) -> Tally:
        """The counts as they are now."""
        return Tally(
            **{
                **vars(self),
                "retransmissions": Counter(self.retransmissions),
                "waited_s": dict(self.waited_s),
            }
        )


def line(now: Tally, before: Tally, over_s: float) -> str:
    """What came since `before`, `over_s` seconds ago, in a line."""
    packets = now.packets - before.packets
    mechanisms: Counter[str] = Counter()
    needs: Counter[str] = Counter()
    for (mechanism, need), n in (now.retransmissions - before.retransmissions).items():
        mechanisms[mechanism] += n
        needs[need] += n
    retransmissions = sum(mechanisms.values())
    a_second = f"{packets / max(over_s, 1e-3):,.0f}/s, {size(now.bytes - before.bytes)}"
    texts = [
        f"{count(packets, 'packet')} ({a_second})",
        count(now.connections - before.connections, "connection"),
        count(retransmissions, "retransmission"),
    ]
    if retransmissions:
        kinds = ", ".join(f"{word} {n:,}" for word, n in mechanisms.most_common())
        texts[-1] += f" ({kinds}; {needs['spurious']:,} spurious)"
        waited_s = sum(now.waited_s.values()) - sum(before.waited_s.values())
        texts.append(f"{span(waited_s)} waited")
    lag_s = now.lag_s()
    if lag_s is not None:
        texts.append(f"{span(lag_s)} behind" if lag_s >= 0 else f"{span(-lag_s)} ahead")
    for word, n in (
        ("skipped", sum(now.skipped.values()) - sum(before.skipped.values())),
        ("evicted", now.evicted - before.evicted),
        ("failed, left out", now.failed - before.failed),
        ("dropped before the capture", now.dropped - before.dropped),
    ):
        if n:
            texts.append(f"{n:,} {word}")
    return "; ".join(texts)
