"""`rexmit trace … --annotate`, `--filter`: the options that have to do with Wireshark and
libpcap.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rexmit import outputs
from rexmit.cli.front import Option
from rexmit.errors import EXIT_OK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rexmit.sources import Capture
    from rexmit.tracing.folder import Trace

Filter = Annotated[
    str | None,
    Option(
        "--filter",
        metavar="EXPRESSION",
        help="Analyse only the packets that pass, as tcpdump's and Wireshark's capture filters "
        '(man pcap-filter): "host 10.0.0.1 and port 443". Where both directions do not pass, the '
        "analysis sees one. --host, --port, --from and --to choose afterwards, among analysed "
        "connections, what is shown.",
        show_default=False,
    ),
]
Annotate = Annotated[
    Path | None,
    Option(
        "--annotate",
        metavar="OUT.pcapng",
        help="Write the same packets as pcapng for Wireshark, with a comment on every "
        "retransmission and on what caused it; - is standard output, in place of the page. A pipe "
        "is kept in TMPDIR until it ends, and nothing comes out before: cut one that has no end "
        "into files. Files of a rotation stand one behind the other.",
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
        help="Print colouring rules for --annotate's comments, a colour a mechanism, pale where "
        "spurious, and do nothing else: for the file colorfilters of a profile of Wireshark.",
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
