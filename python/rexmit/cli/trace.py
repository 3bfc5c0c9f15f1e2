"""`rexmit trace FILE…`: what the senders in a capture did, why, and what it cost."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rexmit.cli import trace_page, trace_study, wireshark
from rexmit.cli.html import write as write_page
from rexmit.cli.trace_options import TraceOptions
from rexmit.options import typed

if TYPE_CHECKING:
    from rexmit.tracing.groups import Key
    from rexmit.tracing.options import Analysis
    from rexmit.tracing.selection import Wanted

EXAMPLES = """\
Examples:

\b
  rexmit trace capture.pcapng                      a page: losses, waits, the worst connections
  tcpdump -w - tcp | rexmit trace -                from a pipe; Ctrl-C at tcpdump ends it
  tcpdump -w - tcp | rexmit trace - --rotate 1h --keep 7d --out always   for days
  rexmit trace ring.pcap0* --out today             a rotation; tables into today/
  rexmit trace capture.pcap.gz --out t --csv       as CSV as well
  rexmit trace --out day 's3://bucket/day/*.pcap.zst'   from an object store, piece by piece
  rexmit trace --out day --cluster local:8 'day/*.pcap'   on eight processes; --resume goes on
  rexmit trace server.pcapng client.pcapng         both ends: where packets were lost, delays
  rexmit trace a0 a1 b0 b1 --points a,a,b,b        the same, and which capture is of which point
  rexmit trace --study capture.pcapng today        tables and figures of UNC 2007
  rexmit trace --study --claims --stacks unc-2007 old.pcap   its claims, on its own four stacks
  rexmit trace --stacks no-rfc,no-windows-xp capture.pcapng  all other emulations
  rexmit trace big.pcapng --filter "host 10.0.0.1 and port 443"   a part of it (man pcap-filter)
  rexmit trace capture.pcapng --annotate out.pcapng   a copy with comments, for Wireshark
  rexmit trace --colorfilters                      colouring rules for these comments
  sudo rexmit trace -i eth0                        what passes an interface, until Ctrl-C
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
    slow_s = options.slow_s()
    if options.rotate is not None:
        _go_on(options, analysis)
    elif options.study:
        trace_study.print_study_of(options, analysis)
    else:
        with ExitStack() as kept:
            _print(options, analysis, wanted, key, slow_s, kept)


def _go_on(options: TraceOptions, analysis: Analysis) -> None:
    """A pipe until it ends, a folder after the other."""
    from rexmit.library.always import always, wanted

    assert options.captures and options.out and options.rotate  # noqa: S101, PT018 - it was checked
    always(
        options.captures[0],
        options.out,
        wanted(
            options.rotate,
            options.keep,
            options.metrics,
            options.every or "60s",
            options.tcpdump_log,
        ),
        analysis,
    )


def _print(
    options: TraceOptions,
    analysis: Analysis,
    wanted: Wanted,
    key: Key | None,
    slow_s: float,
    kept: ExitStack,
) -> None:
    """The page of one trace, or what is asked for in its place."""
    import sys

    from rexmit.library.trace import analysed
    from rexmit.progress import for_stream
    from rexmit.sources import find, spooled
    from rexmit.tracing.annotate.write import check as check_annotated
    from rexmit.tracing.selection import select

    found, missing = find(options.captures or (), every=analysis.points is not None)
    paths = [capture for capture in found if isinstance(capture, Path)]
    folder = next((path for path in paths if path.is_dir()), None)
    annotate, as_json = options.annotate, options.as_json
    if annotate is not None:
        check_annotated(found, annotate)
        if folder is None:
            from rexmit.interrupt import spared
            from rexmit.tracing.run import PipesOwn

            with spared(PipesOwn(any(str(path) == "-" for path in paths))):
                found = kept.enter_context(spooled(found))
    if options.interface is not None:
        made = wireshark.captured(
            options.interface, options.out, options.every or "10s", analysis, kept
        )
    else:
        told = for_stream(sys.stderr, "packets", transient=True)
        made = analysed(found, options.out, kept, analysis, progress=told, missing=missing)
    made = replace(made, slow_s=slow_s)
    if wanted:
        made = select(made, wanted)
        if not as_json and annotate is None and trace_page.is_unfit(made):
            return
    if annotate is not None:
        if folder is not None:
            found, _ = find(made.meta.get("files", ()), every=True)
        wireshark.write_annotated(made, found, annotate)
        if str(annotate) == "-":
            return
    if key:
        trace_page.print_groups_of(made, key, as_json=as_json)
    else:
        alone = paths[0] if len(found) == 1 and paths and paths[0].is_file() else None
        trace_page.print_page_of(made, kept=options.out or folder or alone, as_json=as_json)
        write_page([made], options.html, as_json=as_json)
