"""Connections whose analysis failed: what a page says of them, and the command that cuts each out
for a report.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rexmit import escaping
from rexmit.addresses import is_address
from rexmit.tracing.source import Facts, Failure
from rexmit.wording import count

_SHOWN: Final = 5
"""Connections that are named as sentences."""


def warnings(facts: Facts) -> Iterator[str]:
    """What to know of connections that were left out; nothing where none was."""
    if not facts.failed:
        return
    was, its = ("was", "its") if facts.failed == 1 else ("were", "their")
    yield (
        f"{count(facts.failed, 'connection')} {was} left out: {its} analysis failed, which is a "
        f"defect of rexmit (packets that came after it: {facts.failed_packets:,}); all others are "
        "complete"
    )
    paths = [file.path for file in facts.files]
    for failure in facts.failures[-_SHOWN:]:
        begun = datetime.fromtimestamp(failure.start_s, UTC).strftime("%Y-%m-%d %H:%M:%S")
        yield (
            f"left out: {_end(failure.client, failure.client_port)} to "
            f"{_end(failure.server, failure.server_port)}, begun {begun} UTC "
            f"({failure.defect}); to report it, send failed.pcapng, which this writes: "
            f"{command(failure, paths)}"
        )
    if (more := facts.failed - min(len(facts.failures), _SHOWN)) > 0:
        yield f"{count(more, 'more connection')} left out like that"


def command(failure: Failure, captures: Sequence[str]) -> str:
    """What copies the packets between the connection's ends into a capture of their own. What came
    from a pipe or an interface is not there any more: the capture is whatever was kept of it.
    """
    kept = [path if _is_kept(path) else "CAPTURE" for path in captures] or ["CAPTURE"]
    ends = f"host {failure.client} and host {failure.server}"
    ports = f"tcp port {failure.client_port} and tcp port {failure.server_port}"
    words = ["rexmit", "trace", *kept, "--filter", f"{ends} and {ports}"]
    return escaping.shell([*words, "--annotate", "failed.pcapng"])


def _is_kept(path: str) -> bool:
    there = Path(path)
    return is_address(path) or there.is_file() or (not there.exists() and there.suffix != "")


def _end(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
