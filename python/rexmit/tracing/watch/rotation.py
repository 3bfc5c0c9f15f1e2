"""Rows of something without an end: as connections end, into a folder after the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import polars as pl

from rexmit.errors import UserError, argument
from rexmit.tracing import floods
from rexmit.tracing.folder import NEXT, PIECE, Trace, Writer, next_connection
from rexmit.tracing.inputs import Read
from rexmit.tracing.options import Analysis
from rexmit.tracing.run import Destination
from rexmit.tracing.source import Batch, Core, Facts, File
from rexmit.tracing.watch.amounts import Amount, amount
from rexmit.tracing.watch.metrics import address, served
from rexmit.tracing.watch.pieces import Pieces, opened
from rexmit.tracing.watch.tally import Tally
from rexmit.wording import count

MOST_ATTEMPTS: Final = 100_000
"""So many connections of a piece that never got beyond the handshake have rows, the first. Of more,
their number is kept."""

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation:
    """How folders follow each other. Raises UserError (usage) for words that say no amount, and no
    address.
    """

    rotate: str
    """When the next one begins: after a time ("1h"), or a size of its tables ("500MB")."""
    keep: str | None = None
    """How many of them stay ("24"), or how much ("20GB", "7d"); all where it is None."""
    metrics_address: str | None = None
    """Where counts are told as OpenMetrics ("127.0.0.1:9100")."""
    tcpdump_log: Path | None = None
    """The file of tcpdump's standard error, from which dropped packets are counted."""

    def __post_init__(self) -> None:
        if self.ends().number is not None:
            raise UserError(
                f"{argument('rotate')} takes a time or a size",
                f"as in {argument('rotate', '1h')}, {argument('rotate', '500MB')}",
                usage=True,
            )
        self.most()
        self.metrics()

    def ends(self) -> Amount:
        """When the next one begins."""
        return amount(argument("rotate"), self.rotate)

    def most(self) -> Amount | None:
        """How much stays."""
        return None if self.keep is None else amount(argument("keep"), self.keep)

    def metrics(self) -> tuple[str, int] | None:
        """Where counts are told: an address and a port."""
        return None if self.metrics_address is None else address(self.metrics_address)


@contextmanager
def folders(
    folder: Path, rotation: Rotation, analysis: Analysis, tally: Tally
) -> Iterator[_Rotating]:
    """The folders of the pieces. `tally` is what was counted, which somebody else keeps up to date;
    it is told over HTTP.
    """
    with opened(folder) as pieces, served(rotation.metrics(), lambda: tally):
        yield _Rotating(pieces, rotation, analysis, tally)


class _Rotating(Destination[Core]):
    """A folder for each piece."""

    def __init__(
        self, pieces: Pieces, rotation: Rotation, analysis: Analysis, tally: Tally
    ) -> None:
        super().__init__(analysis)
        self._pieces, self._tally = pieces, tally
        self._ends, self._most = rotation.ends(), rotation.most()
        self._first = next_connection(pieces.path)
        """Connections of an earlier process have smaller numbers."""
        self._next = self._first
        self._read = tally.copy()
        """What was counted when this piece began."""
        self._attempts = 0
        """Of this piece; those beyond `MOST_ATTEMPTS` have no rows."""

    @contextmanager
    def next(self) -> Iterator[Writer]:
        """The next piece. Those that are too many are deleted once it is there."""
        self.began, piece = time.time(), self._pieces.next()
        self._attempts = 0
        with Writer(piece) as writer:
            yield writer
        self._tally.pieces_deleted += self._pieces.keep(self._most)

    def add(self, writer: Writer, batch: Batch) -> None:
        """Keeps rows, with the numbers that connections have over all pieces."""
        moved = {name: _moved(rows, self._first) for name, rows in batch.items()}
        for rows in moved.values():
            if _has_numbers(rows):
                self._next = max(self._next, rows.select(pl.col("connection").max()).item() + 1)
        kept = self._without_flood(moved)
        _aside(lambda: writer.add(kept))

    def _without_flood(self, batch: Batch) -> Batch:
        """Rows, but for those of attempts beyond so many, or a flood would fill the disk."""
        attempts = floods.attempts(batch)
        over = attempts.tail(max(self._attempts + attempts.len() - MOST_ATTEMPTS, 0))
        self._attempts += attempts.len()
        if over.is_empty():
            return batch
        return {
            name: rows.filter(~pl.col("connection").is_in(over.implode()))
            if _has_numbers(rows)
            else rows
            for name, rows in batch.items()
        }

    def is_full(self, writer: Writer) -> bool:
        """Whether the piece ends here: one that has something."""
        rotate = self._ends
        if rotate.seconds is not None:
            # At whole hours, as `tcpdump -G` does not, so that pieces of two machines are alike.
            full = time.time() // rotate.seconds > self.began // rotate.seconds
        else:
            assert rotate.bytes is not None  # noqa: S101 - it is one of the two
            if writer.waiting_bytes > rotate.bytes:
                _aside(writer.flush)
            full = writer.parts_bytes >= rotate.bytes
        if full and not self._has_any():
            # Nothing came that could not be written.
            self._pieces.check()
            self.began = time.time()
            return False
        return full

    def _has_any(self) -> bool:
        now, before = self._tally, self._read
        return (now.packets, now.connections) != (before.packets, before.connections)

    def finish(self, writer: Writer, read: Read[Core], facts: Facts, **about: object) -> Trace:
        """As `Place` has it; what goes on with the next piece stands in its trace.json."""
        about[PIECE] = {"began_s": round(self.began, 3), NEXT: self._next}
        trace = _aside(partial(super().finish, writer, read, facts, **about))
        self._tally.pieces += 1
        self._read = self._tally.copy()
        return trace

    def facts(self, read: Read[Core], *, last: bool) -> Facts | None:
        """What was read for this piece."""
        if not self._has_any():
            return None
        stream = read.stream
        now, before = self._tally, self._read
        so_far = stream.so_far()
        end = stream.facts() if last else Facts(stacks=so_far["stacks"])
        warnings = list(end.warnings)
        if dropped := now.dropped - before.dropped:
            warnings.append(
                f"{count(dropped, 'packet')} never reached the capture: "
                f"{'it was' if dropped == 1 else 'they were'} dropped before"
            )
        if (over := self._attempts - MOST_ATTEMPTS) > 0:
            warnings.append(
                f"{count(over, 'connection')} that never got beyond the handshake have no rows: "
                f"a piece keeps those of the first {MOST_ATTEMPTS:,}"
            )
        packets = now.packets - before.packets
        first_s = before.clock_s if before.clock_s is not None else so_far["first_s"]
        return replace(
            end,
            packets=packets,
            tcp_packets=now.tcp_packets - before.tcp_packets,
            bytes=now.bytes - before.bytes,
            not_understood={
                why: n - before.skipped.get(why, 0)
                for why, n in now.skipped.items()
                if n > before.skipped.get(why, 0)
            },
            evicted=now.evicted - before.evicted,
            evicted_openings=0,
            failed=now.failed - before.failed,
            failed_packets=now.failed_packets - before.failed_packets,
            failures=tuple(one for one in now.failures if one not in before.failures),
            warnings=warnings,
            settings=so_far["settings"],
            capture_filter=self.analysis.capture_filter or "",
            left_out=now.left_out - before.left_out,
            files=(File(stream.name, packets, first_s, now.clock_s),),
        )


def _has_numbers(rows: pl.DataFrame) -> bool:
    return "connection" in rows.columns and not rows.is_empty()


def _moved(rows: pl.DataFrame, by: int) -> pl.DataFrame:
    """Rows, the numbers of their connections made greater."""
    if not by or not _has_numbers(rows):
        return rows
    kind = rows.schema["connection"]
    return rows.with_columns((pl.col("connection") + by).cast(kind))


def _aside(work: Callable[[], Made]) -> Made:
    """Does work on another thread, so that this one hears signals meanwhile: native code that runs
    on the main thread for long would be taken for stuck (see `interrupt`).
    """
    done: Future[Made] = Future()

    def do() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    thread = threading.Thread(target=do, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.05)
    return done.result()
