"""`rexmit validate synth`: captures of the model, of any size, with their truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rexmit.cli.limits import MOST_JOBS
from rexmit.errors import UserError

if TYPE_CHECKING:
    from rexmit.validate.synth.make import Made, Order, Report

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


def synth(
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder to make. Default: below runs/."),
    ] = None,
    connections: Annotated[
        int, typer.Option(min=1, max=2**24, help="Connections of each mix.")
    ] = 1000,
    mix: Annotated[
        str, typer.Option(metavar="MIX", help="Mixes by name, with commas; or a TOML file.")
    ] = "campus",
    stacks: Annotated[
        str | None,
        typer.Option(metavar="STACKS", help="Stacks that send, with commas. Default: seven."),
    ] = None,
    receivers: Annotated[
        str | None,
        typer.Option(metavar="STACKS", help="Stacks that receive. Default: those that send."),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a setting of those that send."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**63, help="Where all chance comes from.")] = 1,
    perturb: Annotated[
        float,
        typer.Option(min=0, max=0.5, help="Constants of stacks are off by up to this share."),
    ] = 0.05,
    at: Annotated[
        str, typer.Option(metavar="POINTS", help="Where to capture, with commas; or none.")
    ] = "sender,switch,receiver",
    snaplen: Annotated[
        int, typer.Option(min=54, max=65_535, help="Bytes captured of a packet.")
    ] = 96,
    format: Annotated[  # noqa: A002
        str, typer.Option(metavar="FORMAT", help="pcapng, or pcap in nanoseconds.")
    ] = "pcapng",
    kinds: Annotated[
        str,
        typer.Option(
            metavar="KINDS", help="Hosts and captures as the world has them, with commas; or all."
        ),
    ] = "none",
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, max=MOST_JOBS, help="Threads. Default: one a core."),
    ] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Say what was made as JSON.")] = False,
    list_mixes: Annotated[
        bool, typer.Option("--list", help="List the mixes and kinds, and end.")
    ] = False,
) -> None:
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
    import os

    from rexmit.validate.synth import make as maker
    from rexmit.validate.synth import mixes
    from rexmit.validate.synth.kinds import chosen as kinds_of
    from rexmit.validate.synth.kinds import made as made_kinds

    if list_mixes:
        _list(json_output)
        return
    if format not in maker.FORMATS:
        raise UserError(f"--format {format}", "there are pcapng and pcap", usage=True)
    wanted: dict[str, mixes.Mix] = {}
    for name in _split(mix, "--mix"):
        wanted.update(mixes.find(name))
    order = maker.Order(
        mixes=wanted,
        connections=connections,
        stacks=_stacks(stacks, "--stacks"),
        receivers=_stacks(receivers or stacks, "--receivers"),
        changes=_changes(changes or []),
        seed=seed,
        perturb=perturb,
        points=_points(at),
        snaplen=snaplen,
        format=format,
        kinds=kinds_of(kinds),
        jobs=jobs or len(os.sched_getaffinity(0)),
    )
    folder = out or Path("runs") / f"synth-{'-'.join(wanted)}-{seed}"
    parts = len(wanted) * len(made_kinds(order.kinds))
    progress = _Progress(parts * connections, connections)
    try:
        made = maker.make(order, folder, _command(order, mix), progress.report)
    finally:
        progress.close()
    if json_output:
        typer.echo(json.dumps({"folder": str(folder), "parts": made}))
    else:
        _tell(made, folder)


def _split(text: str, option: str) -> list[str]:
    words = [word.strip() for word in text.split(",")]
    if not all(words):
        raise UserError(f"{option} {text}", "give names with commas between them", usage=True)
    return words


def _points(text: str) -> tuple[str, ...]:
    from rexmit.validate.synth.make import POINTS

    asked = [] if text == "none" else _split(text, "--at")
    for point in asked:
        if point not in POINTS:
            there = f"there are {', '.join(POINTS)}, and none"
            raise UserError(f"--at {point}", there, usage=True)
    return tuple(point for point in POINTS if point in asked)


def _changes(words: list[str]) -> dict[str, str]:
    from rexmit._core import check_setting

    changes = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise UserError(f"--set {word}", "give KEY=VALUE, as in min_rto=100ms", usage=True)
        try:
            check_setting(key, value)
        except ValueError as error:
            raise UserError(
                f"--set {word}: {error}", "see rexmit stacks NAME", usage=True
            ) from error
        changes[key] = value
    return changes


def _stacks(text: str | None, option: str) -> tuple[str, ...]:
    from rexmit.stacks import known
    from rexmit.validate.synth.make import STACKS

    if text is None:
        return STACKS
    names = _split(text, option)
    for name in names:
        known(name)
    return tuple(names)


def _list(json_output: bool) -> None:
    import json

    from rexmit.validate.synth.kinds import known as known_kinds
    from rexmit.validate.synth.mixes import known

    mixes = {name: mix["about"] for name, mix in known().items()}
    kinds = known_kinds()
    if json_output:
        typer.echo(json.dumps({"mixes": mixes, "kinds": kinds}, indent=2))
        return
    width = max(len(name) for name in (*mixes, *kinds))
    for head, abouts in (("mixes:", mixes), ("kinds:", kinds)):
        typer.echo(head)
        for name, about in abouts.items():
            typer.echo(f"  {name:<{width}}  {about}")


def _command(order: Order, mix: str) -> str:
    import shlex

    words = [
        *("rexmit", "validate", "synth", "--mix", mix, "--connections", str(order.connections)),
        *("--stacks", ",".join(order.stacks), "--receivers", ",".join(order.receivers)),
        *("--seed", str(order.seed)),
        *(word for key, value in order.changes.items() for word in ("--set", f"{key}={value}")),
        *("--perturb", str(order.perturb), "--at", ",".join(order.points) or "none"),
        *("--snaplen", str(order.snaplen), "--format", order.format),
        *(("--kinds", ",".join(order.kinds)) if order.kinds else ()),
    ]
    return shlex.join(words)


def _tell(made: Made, folder: Path) -> None:
    for part, counts in made.items():
        seen = ", ".join(f"{count:,} at {point}" for point, count in counts["packets"].items())
        typer.echo(
            f"{part}: {counts['connections']:,} connections, "
            f"{counts['retransmissions']:,} retransmissions; "
            f"packets: {seen or 'not captured'}"
        )
    typer.echo(f"kept in {folder}")


class _Progress:
    """A bar on a terminal, a line every ten seconds elsewhere."""

    def __init__(self, total: int, each: int) -> None:
        import sys
        import time

        from rich.console import Console
        from rich.progress import Progress

        self._parts: dict[str, int] = {}
        self._total, self._each = total, each
        self._clock, self._last = time.monotonic, time.monotonic()
        self._bar: Progress | None = None
        if sys.stderr.isatty():
            self._bar = Progress(console=Console(stderr=True))
            self._task = self._bar.add_task("connections", total=total)
            self._bar.start()

    @property
    def report(self) -> Report:
        """To be called with a part and what is there of it."""
        return self._report

    def _report(self, part: str, connections: int, packets: int) -> None:
        # Connections on ports that served before come on top.
        self._parts[part] = min(connections, self._each)
        done = sum(self._parts.values())
        if self._bar is not None:
            text = f"{part}: {packets:,} packets"
            self._bar.update(self._task, completed=done, description=text)
        elif self._clock() - self._last >= 10:
            self._last = self._clock()
            text = f"{done:,} of {self._total:,} connections, {packets:,} packets of {part}"
            typer.echo(f"rexmit: {text}", err=True)

    def close(self) -> None:
        """Nothing more will be told."""
        if self._bar is not None:
            self._bar.stop()
