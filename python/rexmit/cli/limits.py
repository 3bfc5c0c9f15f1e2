"""Options that several commands have, and their bounds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from rexmit.cli import completion
from rexmit.cli.front import Option
from rexmit.errors import UserError

if TYPE_CHECKING:
    from rexmit.cluster import ClusterAddress

MOST_JOBS: Final = 4096
"""Threads, kernels or compilers at a time: more than any machine has cores, and few enough to be
begun."""


def _allow(times: int | None) -> int | None:
    if times is not None:
        from rexmit.sources.packed import allow

        allow(times)
    return times


UnpackLimit = Annotated[
    int | None,
    Option(
        "--unpack-limit",
        metavar="N",
        min=1,
        max=2**63 - 1,
        callback=_allow,
        help="Read a compressed capture until it has unpacked to N times its size, and to 16 MiB "
        "at least; refuse a table that would take more. [default: 10000]",
        show_default=False,
    ),
]

OnKernel = Annotated[
    str | None,
    Option(
        metavar="KERNEL",
        help="6.1, 6.12, 6.12@HZ, 6.12+PATCH, or a name of `rexmit kernel list`.",
        autocompletion=completion.kernels,
    ),
]
"""On which kernel; None for the one that the command takes by itself."""

KernelsAtATime = Annotated[
    int | None,
    Option(
        "--jobs",
        "-j",
        min=1,
        max=MOST_JOBS,
        help="Kernels that run at the same time. Default: one per core.",
    ),
]

ScenarioSettings = Annotated[
    list[str] | None,
    Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a key of the scenario. Lists are separated by commas, ranges are written "
        "0..20. Repeatable.",
    ),
]

Packetdrill = Annotated[
    Path | None,
    Option(
        "--packetdrill",
        metavar="PROGRAM",
        help="The packetdrill to run, as it is. [default: the one on PATH]",
        show_default=False,
    ),
]

Patches = Annotated[
    list[str] | None,
    Option(
        "--patch",
        metavar="FILE|NAME",
        help="A patch to apply, or the name of an optional one of ours. Repeatable.",
        autocompletion=completion.patches,
    ),
]

Configs = Annotated[
    list[str] | None,
    Option(
        "--config",
        metavar="FILE|NAME",
        help="A fragment of configuration (FILE.config), or ours: selftests, what packet scripts "
        "ask for; debug, what finds the kernel's own defects; llvm, for a build by clang. "
        "Repeatable.",
        autocompletion=completion.fragments,
    ),
]

Unconfined = Annotated[
    bool,
    Option(
        "--unconfined",
        help="Run the code of the source and its patches without a sandbox, with your rights.",
    ),
]

OnCluster = Annotated[
    str | None,
    Option(
        "--cluster",
        metavar="ADDRESS",
        help="Run cells in N processes (local:N), or on the workers of a Dask scheduler "
        "(tls://HOST:PORT), instead of --jobs. Workers that lack a kernel are sent it.",
        show_default=False,
    ),
]
"""On which cluster; None for this process."""

ClusterCa = Annotated[
    Path | None,
    Option(
        "--cluster-ca",
        metavar="FILE",
        help="With --cluster tls://HOST:PORT: the certificate of the cluster's authority, PEM. "
        "[default: from Dask's configuration, like the next two]",
        show_default=False,
    ),
]
ClusterCert = Annotated[
    Path | None,
    Option(
        "--cluster-cert",
        metavar="FILE",
        help="Your certificate, which that authority signed.",
        show_default=False,
    ),
]
ClusterKey = Annotated[
    Path | None,
    Option(
        "--cluster-key", metavar="FILE", help="The key of that certificate.", show_default=False
    ),
]


def on_cluster(
    address: str | None, ca: Path | None, cert: Path | None, key: Path | None
) -> ClusterAddress | None:
    """What these options say together. Raises UserError."""
    if address is None:
        files = {"--cluster-ca": ca, "--cluster-cert": cert, "--cluster-key": key}
        if given := [name for name, file in files.items() if file is not None]:
            raise UserError(
                f"{given[0]} needs --cluster", "add --cluster tls://HOST:PORT", usage=True
            )
        return None
    from rexmit.cluster.address import ClusterAddress

    return ClusterAddress(address, ca, cert, key)
