"""`rexmit trace … --annotate`, `--filter`: the options that have to do with Wireshark and
libpcap.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rexmit import outputs
from rexmit.cli.front import Option
from rexmit.errors import EXIT_OK
from rexmit.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rexmit.sources import Capture
    from rexmit.tracing.folder import Trace

Filter = Annotated[
    str | None,
    Option(
        "--filter",
        metavar="EXPRESSION",
        help="Analyse only packets that match this filter, in the language of tcpdump and of "
        "Wireshark's "
        'capture filters (man pcap-filter): "host 10.0.0.1 and port 443". Let it match both '
        "directions "
        "of a connection. --host, --port, --from and --to instead choose, after the analysis, "
        "which "
        "connections are shown.",
        show_default=False,
    ),
]
Annotate = Annotated[
    Path | None,
    Option(
        "--annotate",
        metavar="OUT.pcapng",
        help="Write the same packets as pcapng for Wireshark, with a comment on every "
        "retransmission and on what caused it; - writes it to standard output instead of the page. "
        "What comes through a pipe is kept in TMPDIR until the pipe ends, and nothing is written "
        "before: cut an endless one into files. Files of a rotation are written one after another.",
        show_default=False,
    ),
]


def _print_colorfilters(wanted: bool) -> None:
    if wanted:
        from rexmit.library.annotate import colorfilters

        outputs.lines(colorfilters())
        raise SystemExit(EXIT_OK)


Colorfilters = Annotated[
    bool,
    Option(
        "--colorfilters",
        callback=_print_colorfilters,
        is_eager=True,
        help="Only print colouring rules for --annotate's comments, for the file colorfilters of a "
        "Wireshark profile: one colour per mechanism, pale where the retransmission was spurious.",
    ),
]


@dataclass(frozen=True)
class Copy:
    """A copy with comments, of which captures, and where it goes."""

    captures: Sequence[Capture]
    out: Path

    def write(self, trace: Trace) -> None:
        """Writes it, and says what is in it on standard error."""
        import sys

        from rexmit.progress import for_stream
        from rexmit.tracing.annotate.words import summary
        from rexmit.tracing.annotate.write import annotate

        progress = for_stream(sys.stderr, "packets", transient=True)
        done = annotate(
            trace, self.captures, self.out, trace.facts.capture_filter or None, progress
        )
        for warning in done.warnings:
            outputs.say(f"rexmit: {warning}")
        name = "standard output" if str(self.out) == "-" else self.out
        written = summary(done.packets, done.retransmissions, done.causes)
        outputs.note(f"rexmit: {name}: {written}")
