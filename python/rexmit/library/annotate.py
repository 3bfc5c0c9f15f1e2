"""Traces taken to Wireshark."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from rexmit.errors import UserError
from rexmit.progress import Hear, heard
from rexmit.sources import find
from rexmit.tracing.annotate import colours, write
from rexmit.tracing.annotate.write import Annotated
from rexmit.tracing.folder import Trace


def annotate(trace: Trace, out: str | PathLike[str], *, progress: Hear = None) -> Annotated:
    """Copies the captures of a trace to the pcapng file `out`: the same packets, each with its
    bytes, its time and what was said of it before, with a comment on every retransmission (what
    made it, whether it was needed, why, by which timer, how sure that is) and on what caused it,
    the packet that was sent again and the acknowledgement that triggered it.

    Of a selection only its connections get comments. Where the trace had a capture filter the copy
    has the packets that pass it. Files of a rotation stand one behind the other, in the order in
    which they begin. What was read from a pipe is not there any more.

    Raises UserError where the captures are of several points, cannot be read any more, have
    changed, or `out` cannot be written.
    """
    files = list(trace.meta.get("files", ()))
    if not files:
        raise UserError(
            f"{trace.path}: its packets came from a pipe", "keep them in a file, and trace that"
        )
    captures, _ = find(files)
    meter = heard(progress, "packets")
    return write.annotate(trace, captures, Path(out), trace.facts.capture_filter or None, meter)


def colorfilters() -> str:
    """Colouring rules for annotated captures, as Wireshark keeps them in the file `colorfilters` of
    a profile: a colour a mechanism, pale where the retransmission was spurious.
    """
    return colours.colorfilters()
