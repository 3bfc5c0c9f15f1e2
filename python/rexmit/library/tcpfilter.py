"""A filter on this host: the last segments of what its server sends are dropped."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Generator
from tempfile import TemporaryFile
from typing import Any, Literal

from rexmit._core import loss_pattern
from rexmit.errors import UserError, argument, by_caller
from rexmit.guest import guest_binary

Mode = Literal["sequence", "hold"]


def tcpfilter(
    segments: int | None = None,
    *,
    pattern: str | None = None,
    queue: int = 0,
    mode: Mode = "sequence",
) -> Generator[dict[str, Any]]:
    """Drops the last `segments` of every HTTP transfer that this host sends, or packets by
    `pattern` ("data 5..7 5#2 -1; ack 3"), and yields a row for each transfer: sizes in bytes,
    times in seconds, None for what did not happen.

    It listens on the NFQUEUE of the number `queue`, to which a firewall rule has to send the
    server's packets; both take root. `mode` "hold" holds the last packets until the FIN shows. It
    goes on until the generator is closed. Raises UserError where it cannot listen.
    """
    words = command(segments, pattern=pattern, queue=queue, mode=mode)
    return _rows([*words, "--json"])


def command(segments: int | None, *, pattern: str | None, queue: int, mode: Mode) -> list[str]:
    """The program and its words. Raises UserError (usage)."""
    if (segments is None) == (pattern is None):
        raise UserError(
            by_caller(called="give segments or pattern", typed="give N or --pattern"),
            by_caller(called="rexmit.tcpfilter(5)", typed="rexmit tcpfilter 5"),
            usage=True,
        )
    program = str(guest_binary())
    if pattern is None:
        words = [program, "tcpfilter", str(segments), "--mode", mode]
    else:
        try:
            words = [program, "tcpfilter", "--pattern", loss_pattern(pattern)]
        except ValueError as error:
            raise UserError(f"{argument('pattern')}: {error}", usage=True) from None
    return [*words, "--queue", str(queue)]


def _rows(words: list[str]) -> Generator[dict[str, Any]]:
    with (
        TemporaryFile("w+") as errors,
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors, text=True) as program,
    ):
        try:
            for line in program.stdout or ():
                yield json.loads(line)
        finally:
            program.terminate()
        status = program.wait()
        errors.seek(0)
        message = errors.read().strip()
    raise UserError(message or f"the filter ended by itself, with status {status}")
