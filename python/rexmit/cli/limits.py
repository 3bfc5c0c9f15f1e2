"""Options that several commands have, and their bounds."""

from typing import Annotated, Final

import typer

MOST_JOBS: Final = 4096
"""Threads, kernels or compilers at a time: more than any machine has cores, and few enough to be
begun."""

OnCluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Run cells on N processes (local:N), or on the workers of a Dask scheduler "
        "(HOST:PORT), instead of --jobs. Kernels are sent to those that lack them.",
        show_default=False,
    ),
]
"""On which cluster; None for this process."""
