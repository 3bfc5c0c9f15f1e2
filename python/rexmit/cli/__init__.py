"""The command line: `rexmit COMMAND`.

Commands live in a module each; this one registers them. `rexmit.main` runs them and reports errors.

Start-up stays fast: a command module imports only Typer and `rexmit.errors` at its top, the rest
inside the command.
"""

from __future__ import annotations

from typing import Annotated, Final

import typer

from rexmit import additions, configuration, outputs
from rexmit.cli import renamed
from rexmit.errors import EXIT_OK, speaking_of_options
from rexmit.store import formats
from rexmit.version import commit, version

EXAMPLES = """\
Examples:

\b
  rexmit kernel build 6.12                         build a kernel to measure
  rexmit run smoke                                 run a campaign
  rexmit show RUN                                  its tables: times, gains, repairs
  rexmit plot RUN                                  its figures as PDF and PNG
  rexmit diff RUN_A RUN_B                          what another kernel or setting changes
  rexmit trace CAPTURE                             what senders did, why, what it cost
  rexmit watch eth0 --rotate 1h --out always       the same of a link, for days
  rexmit kernel exec -- ss -ti                     run any command inside a kernel
  rexmit packetdrill test.pkt                      run packet scripts on a kernel
  rexmit stacks linux-3.10                         a stack of the model, with sources
  rexmit tcpfilter 5                               drop the last five segments on this host
  rexmit doctor                                    what is missing here, and how to get it
"""

OPTIONS: Final = {
    "arguments": "--argument",
    "capture_filter": "--filter",
    "cells": "--cell",
    "configs": "--config",
    "families": "--family",
    "formats": "--format",
    "hang_limit_s": "--hang-limit",
    "hosts": "--host",
    "maps": "--map",
    "metrics": "--metric",
    "metrics_address": "--metrics",
    "patches": "--patch",
    "ports": "--port",
    "settings": "--set",
    "since": "--from",
    "tool": "--packetdrill",
    "until": "--to",
}
"""Options for arguments of the library that have other names."""

app = typer.Typer(
    name="rexmit",
    cls=renamed.Commands,
    help="A laboratory for TCP loss recovery.",
    epilog=EXAMPLES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        made_of = commit() or "unknown"
        written = f"run.json format {formats.RUN}, trace.json format {formats.TRACE}"
        outputs.line(f"rexmit {version()} (commit {made_of}; {written})")
        raise typer.Exit(EXIT_OK)


def _set_quiet(asked: bool) -> None:
    if asked:
        outputs.level = outputs.Level.QUIET


def _set_verbose(asked: bool) -> None:
    if asked:
        outputs.level = outputs.Level.VERBOSE


def _set_no_color(asked: bool) -> None:
    if asked:
        outputs.without_colors = True


# Their callbacks do it all. Behind commands they may be typed as well (`renamed.Commands`).
@app.callback()
def root(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001
        bool,
        typer.Option(
            "--version",
            help="Print version, commit and formats of results, and exit.",
            is_eager=True,
            callback=_print_version,
        ),
    ] = False,
    quiet: Annotated[  # noqa: ARG001
        bool,
        typer.Option(
            "--quiet",
            "-q",
            help="On standard error errors and warnings alone: no progress, no notes.",
            expose_value=False,
            callback=_set_quiet,
        ),
    ] = False,
    verbose: Annotated[  # noqa: ARG001
        bool,
        typer.Option(
            "--verbose",
            "-v",
            help="Say on standard error what is read and what it took, and of an error where in "
            "the program it arose.",
            expose_value=False,
            callback=_set_verbose,
        ),
    ] = False,
    no_color: Annotated[  # noqa: ARG001
        bool,
        typer.Option(
            "--no-color",
            help="Without colours, as NO_COLOR in the environment.",
            expose_value=False,
            callback=_set_no_color,
        ),
    ] = False,
) -> None:
    """A laboratory for TCP loss recovery."""
    # What is wrong with the file is for `doctor` to say among the rest.
    if context.invoked_subcommand != "doctor":
        configuration.use(configuration.read())
    context.with_resource(speaking_of_options(OPTIONS))


from rexmit.cli import (  # noqa: E402
    diff,
    doctor,
    kernel,
    kselftest,
    packetdrill,
    plot,
    report,
    run,
    show,
    stacks,
    tcpfilter,
    trace,
    watch,
)

app.command("run", short_help="Run a campaign from a scenario file.")(run.run)
app.command("show", short_help="Print a run's tables, or one transfer.")(show.show)
app.command("plot", short_help="Draw a run's figures.")(plot.plot)
app.command("diff", short_help="Compare two runs, by cells and by packets.", epilog=diff.EXAMPLES)(
    diff.diff
)
app.command(
    "trace",
    short_help="Explain the retransmissions in captures, and what they cost.",
    epilog=trace.EXAMPLES,
)(trace.trace)
app.command(
    "watch",
    short_help="Explain what passes an interface or comes through a pipe.",
    epilog=watch.EXAMPLES,
)(watch.watch)
app.command("report", short_help="Write a page for the browser, one file.", epilog=report.EXAMPLES)(
    report.report
)
app.command(
    "stacks", short_help="List the model's TCP stacks and settings.", epilog=stacks.EXAMPLES
)(stacks.stacks)
app.command(
    "tcpfilter",
    short_help="Drop the last N segments of this host's transfers.",
    epilog=tcpfilter.EXAMPLE,
)(tcpfilter.tcpfilter)
app.command(
    "doctor", short_help="What is missing here, and how to get it.", epilog=doctor.EXAMPLES
)(doctor.doctor)
app.command(
    "packetdrill",
    short_help="Run packet scripts on a kernel in virtual time.",
    epilog=packetdrill.EXAMPLES,
)(packetdrill.packetdrill)
app.command(
    "kselftest",
    short_help="Run the kernel's own tests in virtual time.",
    epilog=kselftest.EXAMPLES,
)(kselftest.kselftest)
app.add_typer(kernel.app, name="kernel", short_help="Build, list and use kernels.")
for package in additions.packages():
    package.add_commands(app)
