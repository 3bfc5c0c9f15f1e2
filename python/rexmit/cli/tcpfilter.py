"""`rexmit tcpfilter`: the 2013 paper's program, on this host."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

EXAMPLE = """\
Example:

\b
  iptables -A OUTPUT -o h1-eth0 -p tcp --sport 80 -j NFQUEUE --queue-num 0
  rexmit tcpfilter 5
"""


class Mode(StrEnum):
    """How the tail of a transfer is found."""

    SEQUENCE = "sequence"
    HOLD = "hold"


def tcpfilter(
    segments: Annotated[
        int, typer.Argument(metavar="N", min=0, help="Data segments to drop at the end.")
    ],
    queue: Annotated[
        int, typer.Option(min=0, max=65535, help="The number of the NFQUEUE to listen on.")
    ] = 0,
    mode: Annotated[
        Mode,
        typer.Option(
            help="sequence: by sequence number, holds nothing. hold: as the paper did, holds the "
            "last packets until the FIN shows; stalls on today's kernels at low rates.",
        ),
    ] = Mode.SEQUENCE,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object a line.")] = False,
) -> None:
    """Drop the last N segments of every HTTP transfer that this host sends, and measure.

    A firewall rule has to send the server's packets to the queue; that takes root, and so does
    listening there. For every transfer one line is printed:

    \b
      <transfer size>, <transfer segments>, <dropped segments>, <t_total>, <t_recover>, <isTLP>

    in bytes and seconds; nan stands for what did not happen, and for isTLP where fewer than two
    packets were dropped. SIGINT or SIGTERM ends it; nothing is held any more then.
    """
    import os

    from rexmit.engines.guest import guest_binary

    program = str(guest_binary())
    words = [program, "tcpfilter", str(segments), "--queue", str(queue), "--mode", mode.value]
    os.execv(program, [*words, "--json"] if as_json else words)  # noqa: S606 - our own program
