"""`rexmit trace FILE…`: what the senders in a capture did, why, and what it cost."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from rexmit import outputs
from rexmit.cli import trace_page, wireshark
from rexmit.cli.trace_options import TraceOptions
from rexmit.options import typed

EXAMPLES = """\
Examples:

\b
  rexmit trace capture.pcapng                      a page: losses, waits, the worst connections
  tcpdump -w - tcp | rexmit trace -                from a pipe; Ctrl-C at tcpdump ends it
  rexmit trace list.txt                            what tcpdump or tshark printed of packets
  rexmit trace ring.pcap0* --out today             a rotation; tables into today/
  rexmit trace capture.pcap.gz --out t --csv       as CSV as well
  rexmit trace day.pcap --out t --tables retransmissions,requests   these alone, and no page
  rexmit trace --out day 's3://bucket/day/*.pcap.zst'   from an object store, piece by piece
  rexmit trace --out day --cluster local:8 'day/*.pcap'   on eight processes; --resume goes on
  rexmit trace server.pcapng client.pcapng         both ends: where packets were lost, delays
  rexmit trace a0 a1 b0 b1 --points a,a,b,b        the same, and which capture is of which point
  rexmit trace --stacks no-rfc,no-windows-xp capture.pcapng  all other emulations
  rexmit trace big.pcapng --filter "host 10.0.0.1 and port 443"   a part of it (man pcap-filter)
  rexmit trace capture.pcapng --annotate out.pcapng   a copy with comments, for Wireshark
  rexmit trace --colorfilters                      colouring rules for these comments
  rexmit trace today --port 443 --host 10.0.0.7    the page of some connections of a kept trace
  rexmit trace today --slow 50                     why it was slow, waits of 50 ms counted
  rexmit trace today --by prefix                   who has the trouble: a line for each /24 or /64
  rexmit show today                                the connection that waited longest, by packets
  rexmit show today --flow 17                      another one
"""


@typed(TraceOptions)
def trace(options: TraceOptions) -> None:
    """Explain every retransmission in a capture: what made the sender retransmit, whether it was
    needed, how long it waited, which stack it was, and what other settings would have changed.

    Prints a page: what was captured; what went wrong; who retransmitted, and the connections that
    waited longest; which setting would have helped. --host, --port, --from and --to choose the
    connections that the page is about, and that --annotate comments on; all packets of the captures
    are analysed, and kept, all the same. --filter chooses packets before that. The captures may be
    cut short, begin in the middle, or hold anything else.

    Captures that show the same packets at several points are taken together: then it is known where
    packets were lost, which retransmissions were needed, and how long packets took.
    """
    # All that is asked is checked before anything is read.
    analysis, wanted, key = options.analysis(), options.wanted(), options.key()

    import sys

    from rexmit.library.trace import analysed
    from rexmit.progress import for_stream
    from rexmit.sources import find, spooled

    captures, missing = find(options.captures or (), every=analysis.points is not None)
    for capture in captures:
        outputs.detail(f"reads {capture}")
    paths = [capture for capture in captures if isinstance(capture, Path)]
    folder = next((path for path in paths if path.is_dir()), None)
    annotate = options.annotate
    with ExitStack() as kept:
        if annotate is not None:
            from rexmit.tracing.annotate.write import check as check_annotated

            check_annotated(captures, annotate)
            if folder is None:
                from rexmit.interrupt import spared
                from rexmit.tracing.inputs import left_to_pipe

                with spared(left_to_pipe(captures)):
                    captures = kept.enter_context(spooled(captures))
        progress = for_stream(sys.stderr, "packets", transient=True)
        trace = analysed(captures, options.out, kept, analysis, progress=progress, missing=missing)
        if analysis.tables:
            trace_page.print_tables_of(trace, as_json=options.as_json)
            return
        copy = None
        if annotate is not None:
            copied = (
                captures if folder is None else find(trace.meta.get("files", ()), every=True)[0]
            )
            copy = wireshark.Copy(copied, annotate)
        alone = paths[0] if len(captures) == 1 and paths and paths[0].is_file() else None
        trace_page.print_of(trace, wanted, key, options, kept=folder or alone, copy=copy)
