"""`rexmit validate truth`: captures whose retransmissions are labelled by the kernel that sent
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rexmit import outputs
from rexmit.cli.front import Option
from rexmit.cli.limits import (
    ClusterCa,
    ClusterCert,
    ClusterKey,
    KernelsAtATime,
    OnCluster,
    OnKernel,
    on_cluster,
)
from rexmit.options import as_typed, typed

if TYPE_CHECKING:
    from rexmit_validate.truth.corpus import Tally

EXAMPLES = """\
Examples:

\b
  rexmit validate truth                                   1,500 connections on 6.12 into runs/
  rexmit validate truth --kernel 6.1@1000 --seed 7 --out corpora/fresh
  rexmit validate truth --kinds ids-host,offload          and as other hosts and monitors have them
  rexmit validate truth --kinds zero-windows,resets       and with hosts that behave so
  rexmit validate truth --connections 100 --json
  rexmit validate truth --kernel 6.12+tcp-record-waits    and whose the time was, by that kernel
  rexmit validate truth --connections 20000 --cluster local:8
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthOptions:
    """What can be typed, in the order in which `--help` has it."""

    kernel: OnKernel = None
    seed: Annotated[int, Option(min=0, max=2**64 - 1, help="What it is drawn from.")] = 1
    connections: Annotated[int, Option(min=1, max=250_000, help="How many of them.")] = 1500
    out: Annotated[
        Path | None,
        Option(metavar="DIR", help="A new folder. Default: below runs/."),
    ] = None
    kinds: Annotated[
        str,
        Option(
            metavar="KINDS",
            help="Kinds of other hosts and captures, with commas; or all. "
            "`rexmit validate synth --list` says what each is.",
        ),
    ] = "none"
    jobs: KernelsAtATime = None
    cluster: OnCluster = None
    cluster_ca: ClusterCa = None
    cluster_cert: ClusterCert = None
    cluster_key: ClusterKey = None
    as_json: Annotated[bool, Option("--json", help="Print the summary as JSON.")] = False


@typed(TruthOptions)
def truth(options: TruthOptions) -> None:
    """Build a corpus of captures whose retransmissions are labelled by the kernel that sent them.

    Connections of many sizes cross networks with loss, bursts, reordering, delay spikes, short
    queues and outages, under many settings, on a real kernel in virtual time. The kernel records
    why it sends a segment again; whether that was needed follows from what arrived. The folder has
    a capture of each part at the sender, at the switch and at the receiver,
    retransmissions.parquet, connections.parquet and truth.json. With --kinds there are more parts:
    the same connections as other hosts would number their packets, or as worse monitors would
    capture them; or the same networks with hosts that stop reading, defer accepting, reset or think
    for long. A kernel that is built with tcp-record-waits adds waits.parquet: whose the time was.
    """
    import json
    import sys
    import time

    from rexmit.interrupt import Interrupted
    from rexmit.progress import for_stream
    from rexmit_validate.library.truth import Labelled, prepare
    from rexmit_validate.synth.kinds import chosen as kinds_of

    at = on_cluster(options.cluster, options.cluster_ca, options.cluster_cert, options.cluster_key)
    asked = as_typed(Labelled, options, kinds=kinds_of(options.kinds), cluster=at)
    prepared = prepare(asked, options.out)
    folder = prepared.folder
    began = time.monotonic()
    try:
        tally = prepared.make(for_stream(sys.stderr, "connections"))
    except Interrupted as stopped:
        stopped.what = "stopped; nothing of the corpus is kept"
        raise
    seconds = round(time.monotonic() - began, 1)
    if options.as_json:
        outputs.lines(json.dumps({"folder": str(folder), "seconds": seconds, **tally.as_json()}))
    else:
        for line in _lines(tally, seconds):
            outputs.line(line)
        outputs.line(f"kept in {folder}")


def _lines(tally: Tally, seconds: float) -> list[str]:
    tallied = tally.as_json()
    size = f"{tally.parts} parts, {tally.connections:,} connections"
    lines = [
        f"{size}, {tally.packets:,} packets captured at three points, {seconds:,.0f} s",
        f"{'retransmissions':18}{'needed':>10}{'spurious':>10}",
    ]
    for mechanism, needs in tallied["retransmissions"].items():
        counts = [needs.get(need, 0) for need in ("needed", "spurious")]
        lines.append(f"{mechanism:18}{counts[0]:>10,}{counts[1]:>10,}")
    if tally.incomplete:
        lines.append(f"{tally.incomplete} connections gave up before their end")
    lines += [f"the kernel's counters disagree: {one}" for one in tally.disagreements]
    return lines
