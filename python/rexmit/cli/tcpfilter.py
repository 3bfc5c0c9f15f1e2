"""`rexmit tcpfilter`: the last segments of this host's transfers dropped."""

from __future__ import annotations

from typing import Annotated, Literal

from rexmit.cli.front import Argument, Option

EXAMPLES = """\
Examples:

\b
  iptables -A OUTPUT -o h1-eth0 -p tcp --sport 80 -j NFQUEUE --queue-num 0 --queue-bypass
  rexmit tcpfilter 5
  rexmit tcpfilter --pattern 'data 3 3#2 -1'
"""


def tcpfilter(
    segments: Annotated[
        int | None,
        Argument(
            metavar="[N]", min=0, help="Data segments to drop at the end.", show_default=False
        ),
    ] = None,
    pattern: Annotated[
        str | None,
        Option(
            metavar="TEXT",
            help="Instead of N, packets by position: `data 5..7 5#2 -1; ack 3`. "
            "For `ack` the client's packets must reach the queue too. With Multipath TCP "
            "`path 2 data 3` is the third packet of a response on the second subflow; on a path "
            "positions count from the front alone. `burst 2` is the second response.",
        ),
    ] = None,
    queue: Annotated[
        int, Option(min=0, max=65535, help="The number of the NFQUEUE to listen on.")
    ] = 0,
    mode: Annotated[
        Literal["sequence", "hold"],
        Option(
            help="sequence: by sequence number, holds nothing. hold: holds the last packets until "
            "the FIN shows; stalls on today's kernels at low rates.",
        ),
    ] = "sequence",
    as_json: Annotated[bool, Option("--json", help="Print a JSON object a line.")] = False,
) -> None:
    """Drop the last N segments of every HTTP transfer that this host sends, and measure.

    Or packets by position, with --pattern.

    A firewall rule has to send the server's packets to the queue; that takes root, and so does
    listening there. With --queue-bypass (nft: bypass) in the rule the server answers on when
    nothing listens; without it the kernel drops every packet then. For every transfer one line is
    printed:

    \b
      <transfer size>, <transfer segments>, <dropped segments>, <t_total>, <t_recover>, <isTLP>

    in bytes and seconds; nan stands for what did not happen, and for isTLP where fewer than two
    packets were dropped. SIGINT or SIGTERM ends it; nothing is held any more then.
    """
    import os

    from rexmit.library.tcpfilter import command

    words = command(segments, pattern=pattern, queue=queue, mode=mode)
    os.execv(words[0], [*words, "--json"] if as_json else words)  # noqa: S606 - our own program
