"""Commands that print what a view shows, ready for a shell."""

from __future__ import annotations

from collections.abc import Iterable

from rexmit import escaping
from rexmit.tracing.folder import META, Trace
from rexmit.tracing.selection import Selection


def command(*words: object) -> str:
    """`rexmit …`, quoted where a shell needs it."""
    return escaping.shell(["rexmit", *(str(word) for word in words)])


def place(trace: Trace) -> list[str]:
    """What names the trace to a command: its folder where that is kept, else its captures."""
    is_kept = trace.meta.get("pieces") or (trace.path / META).is_file()
    return [str(trace.path)] if is_kept else trace.captures


def chosen(trace: Trace) -> list[str]:
    """The options that choose its connections."""
    if not isinstance(trace, Selection):
        return []
    wanted = trace.wanted
    options = [("--host", str(host)) for host in wanted.hosts]
    options += [("--port", str(port)) for port in wanted.ports]
    options += [
        (name, f"{at:.9f}".rstrip("0").rstrip("."))
        for name, at in (("--from", wanted.from_s), ("--to", wanted.to_s))
        if at is not None
    ]
    return [word for pair in options for word in pair]


def report(names: Iterable[str], *options: str) -> str:
    """The command that makes a page."""
    return command("report", *names, *options)


def for_any(names: Iterable[str]) -> str:
    """The command that makes a page with the packets of connection {number}, which the browser puts
    in.
    """
    return report(names, "--connections") + " {number} -o report.html"
