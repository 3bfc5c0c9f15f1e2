"""A capture without an end, read for days: rows as connections end, a folder after the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import polars as pl

from rexmit import escaping, outputs
from rexmit.errors import UserError
from rexmit.interrupt import spared
from rexmit.sources import STDIN
from rexmit.tracing import floods
from rexmit.tracing.always.amounts import Amount
from rexmit.tracing.always.metrics import served
from rexmit.tracing.always.pieces import Pieces, opened
from rexmit.tracing.always.tally import Tally, line
from rexmit.tracing.always.tcpdump_log import TcpdumpLog
from rexmit.tracing.folder import NEXT, PIECE, Writer, next_connection
from rexmit.tracing.options import Analysis
from rexmit.tracing.source import Batch, Facts, File, Stream, open_stream
from rexmit.version import version
from rexmit.wording import count

MOST_ATTEMPTS: Final = 100_000
"""So many connections of a piece that never got beyond the handshake have rows, the first. Of more,
their number is kept."""

_LOOKS_EVERY_S: Final = 0.2
"""How long the program waits for rows before it looks at clocks and signals."""

_STRETCH_S: Final = 10.0
"""By the capture's clock: how often connections that are over end, and give their rows."""

_HOSTS_S: Final = 300.0
"""By the capture's clock: how long rows wait at most for what other connections of their hosts
show."""

_LAST_S: Final = 0.5
"""After a signal: how long the other end of the pipe has to write what it holds."""

_ENOUGH_S: Final = 2.0
"""After a signal: when the pipe ends whatever waits in it."""


@dataclass(frozen=True)
class Wanted:
    """When a piece ends (a time, or a size of its tables), which pieces stay, where counts are told
    over HTTP, how often they are on standard error (None: not at all), and the file of tcpdump's
    standard error.
    """

    rotate: Amount
    keep: Amount | None = None
    metrics: tuple[str, int] | None = None
    every_s: float | None = 60.0
    tcpdump_log: Path | None = None


def run(capture: Path, folder: Path, wanted: Wanted, analysis: Analysis) -> Tally:
    """Analyses a pipe until it ends, or until a signal comes: then what was read is worked through
    and written, and only another signal gives that up. Raises UserError.
    """
    tally = Tally()
    told = _Signals()
    with ExitStack() as held:
        log = TcpdumpLog(wanted.tcpdump_log) if wanted.tcpdump_log else None
        pieces = held.enter_context(opened(folder))
        stream = open_stream([capture], analysis, stretch_s=_STRETCH_S, wait_s=_HOSTS_S)
        held.enter_context(served(wanted.metrics, lambda: tally))
        held.enter_context(spared(told))
        words = ["rexmit", "trace", str(capture), "--out", str(folder)]
        _Work(pieces, stream, wanted, tally, analysis, escaping.shell(words), log).go(told)
    return tally


class _Signals:
    """The first signal is heard and ends the pipe; the next one is an interrupt."""

    def __init__(self) -> None:
        self.at: float | None = None
        self._said = False

    def __call__(self, _number: int) -> bool:
        if self.at is not None:
            return False
        self.at = time.monotonic()
        return True

    def end(self, stream: Stream) -> None:
        """Ends the pipe, where a signal came: later, when whoever writes it had time to."""
        if self.at is None:
            return
        if not self._said:
            self._said = True
            outputs.say("rexmit: writing what was read; Ctrl-C again to give up")
        since = time.monotonic() - self.at
        if since > _LAST_S:
            stream.stop(now=since > _ENOUGH_S)


class _Work:
    """The loop: rows in, pieces out."""

    def __init__(
        self,
        pieces: Pieces,
        stream: Stream,
        wanted: Wanted,
        tally: Tally,
        analysis: Analysis,
        command: str,
        log: TcpdumpLog | None,
    ) -> None:
        self._pieces, self._stream, self._wanted = pieces, stream, wanted
        self._tally, self._analysis, self._command, self._log = tally, analysis, command, log
        self._first = next_connection(pieces.path)
        """Connections of an earlier process have smaller numbers."""
        self._next = self._first
        self._before = tally.copy()
        self._read = tally.copy()
        self._attempts = 0
        """Of this piece; those beyond `MOST_ATTEMPTS` have no rows."""

    def go(self, signals: _Signals) -> None:
        """Until there is nothing more."""
        self._began_at = self._said_at = time.monotonic()
        more = True
        while more:
            began, piece = time.time(), self._pieces.next()
            self._attempts = 0
            with Writer(piece) as writer:
                most = self._wanted.rotate.bytes
                while more:
                    signals.end(self._stream)
                    batch = self._stream.next_batch(_LOOKS_EVERY_S)
                    more = batch is not None
                    if batch:
                        self._keep(writer, batch)
                    self._count()
                    if most is not None and writer.waiting_bytes > most:
                        _aside(writer.flush)
                    if self._is_full(writer, began):
                        if self._has_any():
                            break
                        # Nothing came that could not be written.
                        self._pieces.check()
                        began = time.time()
                if self._has_any():
                    facts = self._facts(last=not more)
                    meta = self._meta(began)
                    _aside(partial(writer.finish, facts, meta, csv=self._analysis.csv))
                    self._tally.pieces += 1
                    self._read = self._tally.copy()
                else:
                    writer.leave()
            self._tally.pieces_deleted += self._pieces.keep(self._wanted.keep)
        self._say(ended=True)

    def _keep(self, writer: Writer, batch: Batch) -> None:
        moved = {name: _moved(rows, self._first) for name, rows in batch.items()}
        for rows in moved.values():
            if _has_numbers(rows):
                self._next = max(self._next, rows.select(pl.col("connection").max()).item() + 1)
        self._tally.came_out(moved)
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

    def _count(self) -> None:
        self._tally.read(self._stream.so_far())
        every_s = self._wanted.every_s
        if every_s is not None and time.monotonic() - self._said_at >= every_s:
            self._say()

    def _say(self, *, ended: bool = False) -> None:
        if self._log is not None:
            self._tally.tcpdump_drops = self._log.drops()
        now = time.monotonic()
        before, since = (Tally(), self._began_at) if ended else (self._before, self._said_at)
        told = line(self._tally, before, now - since)
        if ended:
            told = f"ended; in all {told}; {count(self._tally.pieces, 'piece')} written"
        outputs.say(f"rexmit: {told}")
        self._before, self._said_at = self._tally.copy(), now

    def _is_full(self, writer: Writer, began: float) -> bool:
        rotate = self._wanted.rotate
        if rotate.seconds is not None:
            # At whole hours, as `tcpdump -G` does not, so that pieces of two machines are alike.
            return time.time() // rotate.seconds > began // rotate.seconds
        assert rotate.bytes is not None  # noqa: S101 - it is one of the two
        return writer.parts_bytes >= rotate.bytes

    def _has_any(self) -> bool:
        now, before = self._tally, self._read
        return (now.packets, now.connections) != (before.packets, before.connections)

    def _facts(self, *, last: bool) -> Facts:
        """What was read for this piece."""
        now, before = self._tally, self._read
        if self._log is not None:
            now.tcpdump_drops = self._log.drops()
        end = self._stream.facts() if last else Facts(stacks=self._stream.so_far()["stacks"])
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
        first_s = before.clock_s if before.clock_s is not None else self._stream.so_far()["first_s"]
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
            settings=self._stream.so_far()["settings"],
            capture_filter=self._analysis.capture_filter or "",
            left_out=now.left_out - before.left_out,
            files=(File(self._stream.name, packets, first_s, now.clock_s),),
        )

    def _meta(self, began: float) -> Mapping[str, Any]:
        return {
            "rexmit": version(),
            "captures": [self._stream.name],
            "files": [],
            "command": self._command,
            "wall_s": round(time.time() - began, 3),
            PIECE: {"began_s": round(began, 3), NEXT: self._next},
        }


def _has_numbers(rows: pl.DataFrame) -> bool:
    return "connection" in rows.columns and not rows.is_empty()


def _moved(rows: pl.DataFrame, by: int) -> pl.DataFrame:
    """Rows, the numbers of their connections made greater."""
    if not by or not _has_numbers(rows):
        return rows
    kind = rows.schema["connection"]
    return rows.with_columns((pl.col("connection") + by).cast(kind))


def _aside(work: Callable[[], object]) -> None:
    """Does work on another thread, so that this one hears signals meanwhile: native code that runs
    on the main thread for long would be taken for stuck (see `interrupt`).
    """
    failed: list[BaseException] = []

    def do() -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=do, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.05)
    if failed:
        raise failed[0]


def check(capture: Path, rotate: Amount) -> None:
    """Raises UserError (usage) for what cannot be read always, or cut."""
    if str(capture) != STDIN and not capture.is_fifo():
        what = "there is no such file" if not capture.exists() else "no pipe"
        raise UserError(f"{capture}: {what}", "- or a named pipe (mkfifo)", usage=True)
    if rotate.number is not None:
        raise UserError(
            "--rotate takes a time or a size", "as in --rotate 1h, --rotate 500MB", usage=True
        )
