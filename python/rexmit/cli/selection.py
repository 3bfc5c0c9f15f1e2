"""Options that choose connections of a trace."""

from __future__ import annotations

from typing import Annotated

from rexmit.cli.front import Option

Host = Annotated[
    list[str] | None,
    Option(
        "--host",
        metavar="ADDRESS",
        help="Only connections of this host, or of a prefix such as 10.0.0.0/8. Repeatable.",
        show_default=False,
    ),
]

Port = Annotated[
    list[int] | None,
    Option(
        "--port",
        metavar="PORT",
        min=0,
        max=65_535,
        help="Only connections with this port at either end. Repeatable.",
        show_default=False,
    ),
]

Since = Annotated[
    str | None,
    Option(
        "--from",
        metavar="TIME",
        help="Only connections that lasted until this time (2024-12-12T16:03:42, in UTC, or "
        "seconds since 1970) or longer.",
        show_default=False,
    ),
]

Until = Annotated[
    str | None,
    Option(
        "--to",
        metavar="TIME",
        help="Only connections that began by this time.",
        show_default=False,
    ),
]
