"""Writing the copy of captures that has the comments."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rexmit import _core
from rexmit.errors import UserError, argument
from rexmit.progress import Progress
from rexmit.sources import STDIN, Capture
from rexmit.store.files import whole_file
from rexmit.tracing.annotate import places, words
from rexmit.tracing.annotate.places import Places
from rexmit.tracing.folder import Trace


@dataclass(frozen=True)
class Annotated:
    """What was written to `path` (`-` is standard output): `packets`, of which so many
    `retransmissions` and `causes` (originals, acknowledgements) have comments. `warnings` are
    sentences: what found no room, what of a capture could not be copied.
    """

    path: Path
    packets: int
    retransmissions: int
    causes: int
    warnings: tuple[str, ...]


def annotate(
    trace: Trace, captures: Sequence[Capture], out: Path, expression: str | None, progress: Progress
) -> Annotated:
    """Copies the captures of a trace to `out`, whole or not at all. Raises UserError."""
    check(captures, out)
    if trace.points:
        raise UserError(
            "the captures are of several points, and show the same packets more than once",
            f"give the captures of one point alone to {argument('annotate', out)}",
        )
    progress.start(None)
    try:
        where = places.find(trace, captures, expression, progress)
        by_frame, causes = comments(where)
        with _opened(out) as file:
            packets, unplaced, warnings = _core.copy_commented(
                where.files,
                sorted(by_frame.items()),
                file,
                without=words.BEGINS,
                filter=expression,
                report=progress.advance,
            )
    except OSError as error:
        if error.filename is not None or error.errno is not None:
            raise
        raise UserError(f"cannot be copied: {error}") from error
    finally:
        progress.close()
    if where.missing:
        warnings.append(f"{where.missing:,} retransmissions were not found again in the captures")
    if unplaced:
        warnings.append(f"{unplaced:,} comments are of packets in blocks that have none")
    return Annotated(out, packets, where.rows.height, causes, tuple(warnings))


def comments(where: Places) -> tuple[dict[int, list[str]], int]:
    """The comments of each frame, and the number of frames that caused something."""
    by_frame: dict[int, list[str]] = defaultdict(list)
    again: dict[int, list[tuple[int, str, str]]] = defaultdict(list)
    triggered: dict[int, list[tuple[int, str, str]]] = defaultdict(list)
    sure: set[int] = set()
    for row in where.rows.iter_rows(named=True):
        text = words.retransmission(row, row["before"], row["trigger"])
        by_frame[row["frame"]].append(text)
        retransmission = (row["frame"], row["mechanism"], row["need"])
        if row["before"] is not None:
            again[row["before"]].append(retransmission)
        if row["trigger"] is not None:
            triggered[row["trigger"]].append(retransmission)
            if row["position"] == "sender":
                sure.add(row["trigger"])
    for frame, those in again.items():
        by_frame[frame].append(words.original(those))
    for frame, those in triggered.items():
        by_frame[frame].append(words.trigger(those, sure=frame in sure))
    return by_frame, len(again.keys() | triggered.keys())


def check(captures: Sequence[Capture], out: Path) -> None:
    """Raises UserError where the copy would replace a capture, or go to a terminal."""
    if str(out) == STDIN:
        if sys.stdout.isatty():
            raise UserError(
                "a capture cannot be shown on a terminal",
                f"write it into a pipe, or name a file: {argument('annotate', 'OUT.pcapng')}",
                usage=True,
            )
        return
    same = [one for one in captures if isinstance(one, Path) and one.exists() and out.exists()]
    if any(one.samefile(out) for one in same):
        raise UserError(
            f"{out} is the capture itself", "name another file for the copy", usage=True
        )
    if out.is_dir():
        raise UserError(f"{out} is a folder", "name a file for the copy", usage=True)
    if not out.parent.is_dir():
        raise UserError(f"{out}: there is no folder {out.parent}", "make it first")


def _opened(out: Path) -> AbstractContextManager[IO[bytes]]:
    if str(out) == STDIN:
        sys.stdout.flush()
        return nullcontext(sys.stdout.buffer)
    return whole_file(out)
