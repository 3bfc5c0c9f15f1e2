"""`rexmit validate synth`: captures of the model, of any size, with their truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rexmit import outputs
from rexmit.cli.front import Option
from rexmit.cli.limits import MOST_JOBS
from rexmit.errors import UserError
from rexmit.options import as_typed, typed

if TYPE_CHECKING:
    from rexmit_validate.synth.make import Made

EXAMPLES = """\
Examples:

\b
  rexmit validate synth --connections 2000 --seed 7            a campus, captured at three places
  rexmit validate synth --mix wireless --stacks windows-xp,linux-2.4 --at switch
  rexmit validate synth --mix campus,server-farm,wireless --out runs/three
  rexmit validate synth --mix bench --connections 128000 --at switch --format pcap
  rexmit validate synth --mix mine.toml                        your own mixes
  rexmit validate synth --kinds ids-host,doubles-router         and as worse monitors capture them
  rexmit validate synth --kinds zero-windows,resets             and with hosts that behave so
  rexmit validate synth --list                                 mixes and kinds that come with rexmit
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthOptions:
    """What can be typed, in the order in which `--help` has it."""

    out: Annotated[
        Path | None,
        Option(metavar="DIR", help="The folder to make. Default: below runs/."),
    ] = None
    connections: Annotated[int, Option(min=1, max=2**24, help="Connections of each mix.")] = 1000
    mix: Annotated[
        str, Option(metavar="MIX", help="Mixes by name, with commas; or a TOML file.")
    ] = "campus"
    stacks: Annotated[
        str | None,
        Option(metavar="STACKS", help="Stacks that send, with commas. Default: seven."),
    ] = None
    receivers: Annotated[
        str | None,
        Option(metavar="STACKS", help="Stacks that receive. Default: those that send."),
    ] = None
    changes: Annotated[
        list[str] | None,
        Option("--set", metavar="KEY=VALUE", help="Change a setting of those that send."),
    ] = None
    seed: Annotated[int, Option(min=0, max=2**63, help="Where all chance comes from.")] = 1
    perturb: Annotated[
        float,
        Option(min=0, max=0.5, help="Constants of stacks are off by up to this share."),
    ] = 0.05
    at: Annotated[str, Option(metavar="POINTS", help="Where to capture, with commas; or none.")] = (
        "sender,switch,receiver"
    )
    snaplen: Annotated[int, Option(min=54, max=65_535, help="Bytes captured of a packet.")] = 96
    format: Annotated[str, Option(metavar="FORMAT", help="pcapng, or pcap in nanoseconds.")] = (
        "pcapng"
    )
    kinds: Annotated[
        str,
        Option(metavar="KINDS", help="Kinds of other hosts and captures, with commas; or all."),
    ] = "none"
    jobs: Annotated[
        int | None,
        Option("--jobs", "-j", min=1, max=MOST_JOBS, help="Threads. Default: one a core."),
    ] = None
    json_output: Annotated[bool, Option("--json", help="Say what was made as JSON.")] = False
    list_mixes: Annotated[bool, Option("--list", help="List the mixes and kinds, and end.")] = False


@typed(SynthOptions)
def synth(options: SynthOptions) -> None:
    """Make captures of the model's stacks, of any size, with the truth of every retransmission.

    Each connection has a network and a workload of its own, drawn from a mix; its stacks' constants
    are a little off, so that who judges the captures does not know them to the last digit.
    DIR/retransmissions.parquet says of every retransmission why its sender sent it and whether it
    was needed. With --kinds there are more parts: the same connections as other hosts would number
    their packets, or as worse monitors would capture them; or the same networks and stacks with
    hosts that stop reading, defer accepting, reset or think for long. --list says what each kind
    is. The same seed makes the same bytes.
    """
    import json
    import sys

    from rexmit.progress import for_stream
    from rexmit_validate.library.synth import Synthetic, comma_names, prepare
    from rexmit_validate.synth.kinds import chosen as kinds_of

    if options.list_mixes:
        _list(options.json_output)
        return
    asked = as_typed(
        Synthetic,
        options,
        stacks=None if options.stacks is None else comma_names(options.stacks, "--stacks"),
        receivers=None
        if options.receivers is None
        else comma_names(options.receivers, "--receivers"),
        settings=_settings(options.changes or []),
        points=[] if options.at == "none" else comma_names(options.at, "--at"),
        kinds=kinds_of(options.kinds),
    )
    prepared = prepare(asked, options.out)
    counts = prepared.make(for_stream(sys.stderr, "connections"))
    if options.json_output:
        outputs.lines(json.dumps({"folder": str(prepared.folder), "parts": counts}))
    else:
        _tell(counts, prepared.folder)


def _settings(words: list[str]) -> dict[str, str]:
    changes = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise UserError(f"--set {word}", "give KEY=VALUE, as in min_rto=100ms", usage=True)
        changes[key] = value
    return changes


def _list(json_output: bool) -> None:
    import json

    from rexmit_validate.library.synth import synth_kinds, synth_mixes

    mixes, kinds = synth_mixes(), synth_kinds()
    if json_output:
        outputs.lines(json.dumps({"mixes": mixes, "kinds": kinds}, indent=2))
        return
    width = max(len(name) for name in (*mixes, *kinds))
    for head, abouts in (("mixes:", mixes), ("kinds:", kinds)):
        outputs.line(head)
        for name, about in abouts.items():
            outputs.line(f"  {name:<{width}}  {about}")


def _tell(written: Made, folder: Path) -> None:
    for part, counts in written.items():
        seen = ", ".join(f"{count:,} at {point}" for point, count in counts["packets"].items())
        outputs.line(
            f"{part}: {counts['connections']:,} connections, "
            f"{counts['retransmissions']:,} retransmissions; "
            f"packets: {seen or 'not captured'}"
        )
    outputs.line(f"kept in {folder}")
