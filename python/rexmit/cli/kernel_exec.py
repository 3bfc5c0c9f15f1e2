"""`rexmit kernel exec`: any command of the host, inside a booted kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rexmit import outputs
from rexmit.cli import completion
from rexmit.cli.front import Argument, Option
from rexmit.cli.limits import OnKernel, ScenarioSettings
from rexmit.errors import EXIT_SPLAT, SPLATTED, judging
from rexmit.options import as_typed, typed

EXAMPLES = """\
Examples:

\b
  rexmit kernel exec -- uname -r
  rexmit kernel exec --net smoke --set network=mobile -- \\
    ip netns exec h2 ip route get 10.0.0.1
  git bisect run sh -c \\
    'k=$(rexmit kernel build .) || exit 125; rexmit kernel exec --kernel "$k" -- ./check'
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecOptions:
    """What can be typed, in the order in which `--help` has it."""

    argv: Annotated[
        list[str], Argument(metavar="COMMAND...", help="The command and its arguments.")
    ]
    kernel: OnKernel = None
    net: Annotated[
        str | None,
        Option(
            metavar="SCENARIO",
            help="Set up this scenario's network; its hosts are h1, h2 (see ip netns exec).",
            autocompletion=completion.scenarios,
        ),
    ] = None
    settings: ScenarioSettings = None
    host: Annotated[
        str | None,
        Option(help="With --net: the host that the command runs on, h1 (default) or h2."),
    ] = None
    keep: Annotated[
        Path | None,
        Option(metavar="DIR", help="Bring back here what the command leaves in $REXMIT_SCRATCH."),
    ] = None
    scratch_limit: Annotated[
        int,
        Option(
            metavar="MIB",
            min=1,
            max=1 << 20,
            help="The most that $REXMIT_SCRATCH holds, and that --keep brings back, holes counted.",
        ),
    ] = 1024
    env: Annotated[
        list[str] | None,
        Option(
            metavar="NAME[=VALUE]",
            help="Give the command this variable, too; without a value, the one it has here.",
        ),
    ] = None
    seed: Annotated[int, Option(min=0, max=2**64 - 1, help="Seed of the kernel's randomness.")] = 1
    memory: Annotated[int, Option(metavar="MIB", min=64, help="The kernel's memory.")] = 256
    hang_limit: Annotated[
        float,
        Option(
            metavar="S",
            min=0,
            help="End a guest that for so many real seconds writes nothing while its clock stands "
            "still; 0: never.",
        ),
    ] = 60.0


@typed(ExecOptions)
def exec_(options: ExecOptions) -> None:
    """Run a command of this machine inside a booted kernel and end with its exit status, with 3 if
    the kernel warned of a defect of its own, and with 125 if the kernel failed.

    The command sees this machine's files and can write none of them: what it writes below /tmp,
    /var and /run stays in the guest, and $REXMIT_SCRATCH is a folder that --keep brings back. Its
    output comes through as it is written; it has no input. 127 means that it could not be run.

    Places of keys and passwords are empty for it, and of the environment it gets PATH, HOME, LANG
    and their like: --env passes on more.
    """
    import sys

    from rexmit.library.kernel_exec import Inside, kernel_exec

    judging()
    inside = as_typed(
        Inside,
        options,
        settings=options.settings or (),
        env=options.env or (),
        hang_limit_s=options.hang_limit or None,
    )
    ended = kernel_exec(
        options.argv,
        inside,
        keep=options.keep,
        on_stdout=_writer(sys.stdout.fileno()),
        on_stderr=_writer(sys.stderr.fileno()),
    )
    if ended.splat:
        outputs.say(f"rexmit: {SPLATTED}:")
        for line in ended.splat:
            outputs.say(f"  {line}")
        raise SystemExit(EXIT_SPLAT)
    raise SystemExit(ended.status)


def _writer(descriptor: int) -> Callable[[bytes], None]:
    """Writes all bytes to a file descriptor of ours, unbuffered."""
    import os

    def write(data: bytes) -> None:
        while data:
            data = data[os.write(descriptor, data) :]

    return write
