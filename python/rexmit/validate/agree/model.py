"""The model's side of the cases."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rexmit.campaign.streams import Streams
from rexmit.interrupt import Interrupted
from rexmit.validate.agree.case import Case, plan
from rexmit.validate.agree.outcome import Outcome, note

if TYPE_CHECKING:
    from rexmit._core import Batch

RunModel = Callable[[str, str | None], tuple[str, Mapping[str, "Batch"]]]
"""See `rexmit._core.run_model`."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What the model's hosts are beside a stack: as those of the lab, unless a log shows others."""

    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings other than the stack's own."""
    crossing_ns: int = 0
    """How long the hosts work on a packet on its way from one to the other."""
    wake_ns: int = 0
    """How long the server takes to wake up."""
    packet_ns: int = 0
    """How long hosts and filter work on each packet that leaves, one after another."""
    retransmission_ns: int = 0
    """How long they work on a retransmission besides."""


def run(
    case: Case,
    run_model: RunModel,
    streams: Streams,
    *,
    stack: str,
    hz: int,
    bench: Bench | None = None,
    late_ns: int = 0,
) -> Outcome:
    """What the model makes of the case, in the form of a kernel's outcome; its SYN leaves `late_ns`
    after the case's start.
    """
    import polars as pl

    bench = bench or Bench()
    whole = plan({0: case}, streams, hz=hz, programs={})
    (cell,) = whole["cells"]
    own = {"name": stack, "hz": hz, "set": dict(bench.settings)}
    own["work"] = {
        "wake_ns": bench.wake_ns,
        "packet_ns": bench.packet_ns,
        "retransmission_ns": bench.retransmission_ns,
    }
    cell |= {"stack": own, "seed": case.seed}
    cell["starts"][0]["phase_ns"] += late_ns
    if bench.crossing_ns:
        cell["network"]["links"][0]["delay_ns"] += max(0, bench.crossing_ns - bench.packet_ns)
    try:
        text, tables = run_model(json.dumps(whole), None)
    except BaseException as error:
        # A panic of the machines is a disagreement too, and no end of the comparison.
        if isinstance(error, KeyboardInterrupt | SystemExit | Interrupted):
            raise
        return {"error": f"{type(error).__name__}: {error}"}
    found: Outcome = {}
    for line in text.splitlines():
        note(found, json.loads(line))
    completions_s = pl.DataFrame(tables["bursts"])["completion_s"]
    if len(completions_s):
        found["completions_ns"] = [s if s is None else round(s * 1e9) for s in completions_s]
    for row in found.get("packets", ()) if late_ns else ():
        row[0] += late_ns
    return found
