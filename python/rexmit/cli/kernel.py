"""`rexmit kernel`: the kernels that experiments run on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rexmit import outputs
from rexmit.cli import completion
from rexmit.cli.front import Argument, Group, Listed, Option
from rexmit.cli.limits import MOST_JOBS, Configs, Patches, Unconfined
from rexmit.errors import judging
from rexmit.options import typed

if TYPE_CHECKING:
    from rexmit.library.kernels import ListedKernel

BUILD_EXAMPLES = """\
Examples:

\b
  rexmit kernel build                              Linux 6.12 of Debian's, HZ 250
  rexmit kernel build 6.1 --hz 1000
  rexmit kernel build 6.12 --patch mptcp-reinject-on-tlp
  rexmit run mptcp-smoke --kernel 6.12+mptcp-reinject-on-tlp
  rexmit kernel build ~/src/linux --patch my.patch
  rexmit kernel build 6.12 --hz 1000 --config selftests
  rexmit kernel build ~/src/linux --debug
  rexmit kernel build ~/src/linux --config llvm    by clang and ld.lld
  rexmit run smoke --kernel "$(rexmit kernel build ~/src/linux)"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """What can be typed, in the order in which `--help` has it."""

    source: Annotated[
        str,
        Argument(
            metavar="6.1|6.12|FOLDER|TARBALL",
            help="Debian's package of a series, or a kernel source of your own (only read).",
            autocompletion=completion.series,
        ),
    ] = "6.12"
    hz: Annotated[int, Option(help="Ticks of the kernel's timer per second: 100, 250 or 1000.")] = (
        250
    )
    patch: Patches = None
    config: Configs = None
    debug: Annotated[
        bool,
        Option(
            "--debug",
            help="Find the kernel's own defects (KASAN, lockdep, UBSAN, kmemleak): --config debug.",
        ),
    ] = False
    jobs: Annotated[
        int | None,
        Option(
            "--jobs", "-j", min=1, max=MOST_JOBS, help="Compilers at a time (default: one a core)."
        ),
    ] = None
    unconfined: Unconfined = False
    install: Annotated[
        bool,
        Option(
            "--install",
            help="Install Debian's package of the series where it is missing, as root, by apt-get.",
        ),
    ] = False


@typed(BuildOptions)
def build(options: BuildOptions) -> None:
    """Build a kernel, unless it has been built already, and print its name.

    It takes about three minutes on two cores and no rights. The kernels lie in
    ~/.cache/rexmit/kernels, or in $REXMIT_CACHE/kernels; an interrupted build leaves none there.

    Of a tree (FOLDER) the objects are kept, so that the next build compiles only what has changed
    since: in files, options, flags. They take about 0.6 GB a tree and configuration; those of the
    four that were built last stay. `rexmit kernel remove --objects` drops them.

    Building a tree or tarball RUNS ITS CODE: makefiles, scripts, and programs made from it. That
    happens in a sandbox without a network, without your home and with nothing to write but the
    build's own folder. Where there can be no sandbox (a container without user namespaces), only
    Debian's source is built, or with --unconfined, any.
    """
    import sys

    from rexmit.library.kernels import built as build_kernel
    from rexmit.progress import for_stream

    judging()
    configs = [*(options.config or ()), *(["debug"] if options.debug else ())]
    kernel, new = build_kernel(
        options.source,
        hz=options.hz,
        patches=options.patch or (),
        configs=configs,
        jobs=options.jobs,
        unconfined=options.unconfined,
        install=options.install,
        progress=for_stream(sys.stderr, "steps", transient=True),
    )
    # The name alone on standard output, for scripts.
    outputs.line(kernel.name)
    built = (
        f"built in {kernel.seconds:.0f} s, {kernel.size / 1e6:.1f} MB" if new else "already built"
    )
    outputs.note(f"Linux {kernel.version}, HZ {kernel.hz}: {built}")


ADD_EXAMPLES = """\
Examples:

\b
  rexmit kernel add /boot/vmlinuz-6.1.0-56-cloud-amd64 --modules /lib/modules/6.1.0-56-cloud-amd64
  rexmit kernel add ~/linux-3.10/arch/x86/boot/bzImage --config ~/linux-3.10/.config --name mine
  rexmit run smoke --kernel mine
"""


def add(
    image: Annotated[
        Path, Argument(metavar="IMAGE", help="A bzImage for x86-64 (vmlinuz); only read.")
    ],
    modules: Annotated[
        Path | None,
        Option(metavar="FOLDER", help="Its modules, as in /lib/modules/VERSION."),
    ] = None,
    config: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="What it was configured with (default: config-VERSION beside the image).",
        ),
    ] = None,
    name: Annotated[
        str | None, Option(metavar="NAME", help="What to call it (default: its version).")
    ] = None,
) -> None:
    """Take a kernel image that others have built, unmodified, and print its name.

    It runs in an emulated machine (QEMU, Debian's qemu-system-x86) whose clock counts instructions:
    virtual time as in kernels of `build`, the same at every boot, but some ten times slower. The
    image is booted once here; every run goes on from the state that this leaves in the cache.
    """
    from rexmit.library.kernels import added

    kernel, new = added(image, modules=modules, config=config, name=name)
    outputs.line(kernel.name)
    done = "added" if new else "already there"
    outputs.note(f"Linux {kernel.version}, HZ {kernel.hz}: {done}")


REMOVE_EXAMPLES = """\
Examples:

\b
  rexmit kernel remove 6.12+mine
  rexmit kernel remove --objects
"""


def remove(
    kernel: Annotated[
        list[str] | None,
        Argument(metavar="KERNEL", help="As in `run --kernel`.", autocompletion=completion.kernels),
    ] = None,
    objects: Annotated[
        bool,
        Option("--objects", help="What builds of trees have left for the next build of each."),
    ] = False,
) -> None:
    """Remove kernels, or the objects that builds of trees have left, and say what that gave back.

    Results that were made with a kernel stay; what a build that runs uses stays, too.
    """
    from rexmit.errors import UserError
    from rexmit.library.kernels import remove_kernel, remove_objects

    if not kernel and not objects:
        raise UserError("nothing to remove is named", "Name kernels, or --objects.", usage=True)
    freed = sum(remove_kernel(one) for one in kernel or ())
    if objects:
        freed += remove_objects()
    outputs.note(f"removed: {freed / 1e6:,.1f} MB")


LIST_EXAMPLE = "Example:\n\n\b\n  rexmit kernel list --json"


def list_kernels(
    json_output: Annotated[
        bool, Option("--json", help="Print all that is known of them as JSON.")
    ] = False,
) -> None:
    """List the kernels that have been built or added; the one used by default has a star.

    A damaged one, whose files are not those that were built, is named as such; the command that
    built it builds it again. Engine: `uml` is a kernel built as a program, `qemu` an image.
    """
    from rexmit.library.kernels import list_kernels as listed
    from rexmit.library.kernels import objects_bytes

    built = listed()
    if json_output:
        import json

        outputs.lines(json.dumps([one.as_json() for one in built], indent=2))
        return
    if not built:
        outputs.line("No kernel is built. Build one: rexmit kernel build")
        return
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    # Names are there to be copied: never cut on a narrow screen or in a pipe.
    table.add_column("")
    table.add_column("Name", no_wrap=True, min_width=max(len(one.name) for one in built))
    table.add_column("Version", no_wrap=True)
    table.add_column("Engine", no_wrap=True)
    table.add_column("HZ", justify="right")
    table.add_column("Patches", no_wrap=True)
    table.add_column("Size", justify="right")
    table.add_column("")
    for one in built:
        kernel = one.kernel
        if kernel is None:
            table.add_row("", one.name, "", "", "", "", "", "damaged")
            continue
        table.add_row(
            "*" if one.default else "",
            kernel.name,
            kernel.version,
            kernel.engine,
            str(kernel.hz),
            ", ".join(kernel.patches) or "none",
            f"{kernel.size / 1e6:.1f} MB",
            _remark(one),
        )
    console = outputs.console()
    if not console.is_terminal:
        console.width = 200
    console.print(table)
    if size := objects_bytes():
        outputs.note(f"Objects of trees take {size / 1e6:,.0f} MB: rexmit kernel remove --objects")


def _remark(one: ListedKernel) -> str:
    if one.fault:
        return "damaged"
    return "" if one.current else "other options"


app = Group(
    {
        "build": Listed(
            f"{__name__}:build",
            "Build a kernel, unless it has been built already, and print its name.",
            "BUILD_EXAMPLES",
        ),
        "add": Listed(
            f"{__name__}:add",
            "Take a kernel image that others have built, unmodified, and print its name.",
            "ADD_EXAMPLES",
        ),
        "list": Listed(
            f"{__name__}:list_kernels",
            "List the kernels that have been built or added; the one used by default has a star.",
            "LIST_EXAMPLE",
        ),
        "remove": Listed(
            f"{__name__}:remove",
            "Remove kernels, or the objects that builds of trees have left.",
            "REMOVE_EXAMPLES",
        ),
        "exec": Listed(
            "rexmit.cli.kernel_exec:exec_",
            "Run a command of this machine inside a booted kernel.",
            context={"allow_interspersed_args": False},
        ),
    },
    help="Build, add, list and remove kernels that experiments run on, or run a command in one.",
)
