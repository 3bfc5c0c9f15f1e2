"""`rexmit watch`: what passes an interface, or comes through a pipe, for as long as it lasts."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rexmit.cli import trace_page
from rexmit.cli.front import Argument, Option
from rexmit.cli.trace_options import Paging, Rule, refuse
from rexmit.options import typed
from rexmit.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rexmit.tracing.watch.rotation import Rotation

EXAMPLES = """\
Examples:

\b
  sudo rexmit watch eth0                           until Ctrl-C, then the page
  sudo rexmit watch any --filter "port 443"        a part of it (man pcap-filter)
  sudo rexmit watch eth0 --rotate 1h --keep 7d --out always   for days: a folder every hour
  tcpdump -w - tcp | rexmit watch - --rotate 500MB --out always   what another program captures
  rexmit trace always                              the page of all that was kept
"""


@dataclass(frozen=True, kw_only=True)
class WatchOptions(Paging):
    """An interface or a pipe, and what is of them alone."""

    what: Annotated[
        str,
        Argument(
            metavar="IFACE|PIPE",
            help="An interface to capture on, with dumpcap or tcpdump (any: all interfaces); or a "
            "pipe that brings a capture: a named pipe, or - for standard input.",
            show_default=False,
        ),
    ]
    rotate: Annotated[
        str | None,
        Option(
            "--rotate",
            metavar="TIME|SIZE",
            help="For days: write rows as connections end, and begin a new folder in --out every "
            "1h, or after 500MB.",
            show_default=False,
        ),
    ] = None
    keep: Annotated[
        str | None,
        Option(
            "--keep",
            metavar="N|SIZE|TIME",
            help="With --rotate: keep this many folders (24), this much (20GB), or those of the "
            "last 7d. [default: all]",
            show_default=False,
        ),
    ] = None
    metrics: Annotated[
        str | None,
        Option(
            "--metrics",
            metavar="[ADDRESS:]PORT",
            help="With --rotate: serve counters as OpenMetrics at http://ADDRESS:PORT/metrics; "
            "without an address, on loopback only.",
            show_default=False,
        ),
    ] = None
    every: Annotated[
        str | None,
        Option(
            "--every",
            metavar="TIME",
            help="Print a line on standard error this often, with --rotate or where standard error "
            "is no terminal. [default: 60s with --rotate, else 10s]",
            show_default=False,
        ),
    ] = None
    tcpdump_log: Annotated[
        Path | None,
        Option(
            "--tcpdump-log",
            metavar="FILE",
            help="With --rotate: the file that has tcpdump's standard error, from which dropped "
            "packets are counted.",
            show_default=False,
        ),
    ] = None

    def __post_init__(self) -> None:
        refuse(self._rules())

    def _rules(self) -> Iterator[Rule]:
        yield from Paging._rules(self)
        of_rotate = {
            "--keep": self.keep,
            "--metrics": self.metrics,
            "--tcpdump-log": self.tcpdump_log,
        }
        for name, value in of_rotate.items():
            yield self.rotate is None and value, f"{name} needs --rotate", "add --rotate 1h"
        chooses = self.host or self.port or self.since or self.until or self.group
        yield (
            self.rotate is not None and self.out is None,
            "--rotate needs --out",
            "add --out DIR",
        )
        yield (
            self.rotate is not None and (self.as_json or self.html or chooses),
            "--rotate prints no page",
            "print that of the folder: rexmit trace DIR",
        )

    def rotation(self) -> Rotation | None:
        """How folders follow each other. Raises UserError."""
        if self.rotate is None:
            return None
        from rexmit.tracing.watch.rotation import Rotation

        return Rotation(
            rotate=self.rotate,
            keep=self.keep,
            metrics_address=self.metrics,
            tcpdump_log=self.tcpdump_log,
        )

    def every_s(self) -> float:
        """How often a line is written. Raises UserError."""
        from rexmit.tracing.watch.amounts import seconds

        return seconds("--every", self.every or ("60s" if self.rotate else "10s"))


@typed(WatchOptions)
def watch(options: WatchOptions) -> None:
    """Explain what passes an interface, or comes through a pipe, until Ctrl-C.

    What came so far is shown meanwhile, and in the end the page that `rexmit trace` prints. With
    --rotate it goes on for days: rows are written as connections end, into a new folder of --out
    every hour or after so many bytes, and memory stays bounded; `rexmit trace DIR` prints the page
    of all folders, or of one, at any time.
    """
    # All that is asked is checked before anything is read.
    analysis, wanted, key = options.analysis(), options.wanted(), options.key()
    rotation, every_s = options.rotation(), options.every_s()

    from rexmit.library.watch import watched
    from rexmit.tracing.watch.screen import shown

    with ExitStack() as kept:
        with shown(every_s, pieces=rotation is not None) as hear:
            trace = watched(options.what, options.out, kept, analysis, rotation, hear)
        if trace is not None and rotation is None:
            trace_page.print_of(trace, wanted, key, options)
