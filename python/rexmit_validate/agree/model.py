"""The model's side of the cases."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from rexmit.campaign.streams import Streams
from rexmit.interrupt import Interrupted
from rexmit.scenario.route import of_stack
from rexmit_validate.agree.case import Case, plan
from rexmit_validate.agree.outcome import Outcome, note

if TYPE_CHECKING:
    from rexmit._core import Batch

RunModel = Callable[[str, str | None], tuple[str, Mapping[str, "Batch"]]]
"""See `rexmit._core.run_model`."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What the model's hosts are beside a stack: as those of the lab, unless a log shows others."""

    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings other than the stack's own."""
    receive_ns: int = 0
    """How long the hosts' processor works on a packet that comes."""
    answer_ns: int = 0
    """How long a server that is asked works until it writes."""
    wake_ns: int = 0
    """How long it takes to wake a server that waits for room, or the filter."""
    take_ns: int = 0
    """How long a reader works on a packet that it takes in itself."""
    leave_ns: int = 0
    """How long a reader is on its way out of `recv`."""
    write_ns: int = 0
    """How long the server works to write as much as a packet holds."""
    make_ns: int = 0
    """How long a TCP works on a packet that it makes."""
    fetch_ns: int = 0
    """How long the filter works to fetch a packet with data."""
    judge_ns: int = 0
    """How long the filter works on a packet of those that it takes together."""
    retransmission_ns: int = 0
    """How long it works on a retransmission besides."""
    aligned: bool = False
    """Whether cases begin at the same place of its kernel's count of ticks as of ours."""

    @property
    def logging_ns(self) -> int:
        """How long after TCP begins to make a packet the filter writes it down."""
        return self.make_ns + self.wake_ns


class Model(NamedTuple):
    """What runs cases: the core's model, with a stack whose clock ticks at `hz`."""

    run: RunModel
    streams: Streams
    stack: str
    hz: int


def run(
    case: Case,
    model: Model,
    *,
    bench: Bench | None = None,
    late_ns: int = 0,
    start_ns: int | None = None,
    settings: Mapping[str, str] | None = None,
) -> Outcome:
    """What the model makes of the case, in the form of a kernel's outcome; its SYN is written down
    `late_ns` after the case's start, which is `start_ns` after the hosts were switched on. The
    stack has these `settings` besides.
    """
    import polars as pl

    bench = bench or Bench()
    whole = plan({0: case}, model.streams, hz=model.hz, programs={})
    (cell,) = whole["cells"]
    changed = {**bench.settings, **of_stack(case.route), **(settings or {})}
    own = {"name": model.stack, "hz": model.hz, "set": changed}
    own["work"] = {name: value for name, value in asdict(bench).items() if name.endswith("_ns")}
    late_ns -= min(late_ns, bench.logging_ns)
    cell |= {"stack": own, "seed": case.seed}
    (start,) = cell["starts"]
    if start_ns is not None:
        start["boundary_ns"] = start_ns - start["phase_ns"]
    start["phase_ns"] += late_ns
    try:
        text, tables = model.run(json.dumps(whole), None)
    except BaseException as error:
        # A panic of the machines is a disagreement too, and no end of the comparison.
        if isinstance(error, KeyboardInterrupt | SystemExit | Interrupted):
            raise
        return {"error": f"{type(error).__name__}: {error}"}
    outcome: Outcome = {}
    for line in text.splitlines():
        note(outcome, json.loads(line))
    completions_s = pl.DataFrame(tables["bursts"])["completion_s"]
    if len(completions_s):
        outcome["completions_ns"] = [s if s is None else round(s * 1e9) for s in completions_s]
    for row in outcome.get("packets", ()) if late_ns else ():
        row[0] += late_ns
    return outcome
