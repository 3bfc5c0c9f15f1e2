"""`rexmit trace - --rotate 1h`: the options of a capture that has no end."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Rotate = Annotated[
    str | None,
    typer.Option(
        "--rotate",
        metavar="TIME|SIZE",
        help="Read a pipe for days: write rows as connections end, and begin another folder in "
        "--out every 1h, or after 500MB.",
        show_default=False,
    ),
]
Keep = Annotated[
    str | None,
    typer.Option(
        "--keep",
        metavar="N|SIZE|TIME",
        help="With --rotate: keep so many folders, so much (20GB), or for so long (7d). "
        "[default: all]",
        show_default=False,
    ),
]
Metrics = Annotated[
    str | None,
    typer.Option(
        "--metrics",
        metavar="[ADDRESS:]PORT",
        help="With --rotate: tell counts as OpenMetrics at http://ADDRESS:PORT/metrics; without an "
        "address on loopback alone.",
        show_default=False,
    ),
]
Every = Annotated[
    str | None,
    typer.Option(
        "--every",
        metavar="TIME",
        help="With --rotate: a line on standard error so often; with -i where that is no terminal. "
        "[default: 60s; with -i 10s]",
        show_default=False,
    ),
]
TcpdumpLog = Annotated[
    Path | None,
    typer.Option(
        "--tcpdump-log",
        metavar="FILE",
        help="With --rotate: the file of tcpdump's standard error; the packets that it says were "
        "dropped are counted.",
        show_default=False,
    ),
]
