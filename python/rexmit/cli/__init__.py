"""The command line: `rexmit COMMAND`.

Commands live in a module each, which is imported when one is called; this one lists them.
`rexmit.main` runs them and reports errors.
"""

from __future__ import annotations

from typing import Final

import click

from rexmit import additions, configuration, outputs
from rexmit.cli import completion
from rexmit.cli.front import Listed, Option, parameter
from rexmit.cli.renamed import Commands
from rexmit.errors import EXIT_OK, speaking_of_options

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

COMMANDS: Final = {
    "run": "Run a campaign from a scenario file.",
    "show": "Print a run's tables, or one transfer.",
    "plot": "Draw a run's figures.",
    "diff": "Compare two runs, by cells and by packets.",
    "trace": "Explain the retransmissions in captures, and what they cost.",
    "watch": "Explain what passes an interface or comes through a pipe.",
    "report": "Write a page for the browser, one file.",
    "stacks": "List the model's TCP stacks and settings.",
    "tcpfilter": "Drop the last N segments of this host's transfers.",
    "doctor": "What is missing here, and how to get it.",
    "packetdrill": "Run packet scripts on a kernel in virtual time.",
    "kselftest": "Run the kernel's own tests in virtual time.",
    "bisect": "Find the commit that made a kernel worse.",
    "series": "Say what each commit of a kernel's tree makes worse.",
    "kernel": "Build, list and use kernels.",
}
"""What each command does; it is the function, or the group, of its name in its module."""


def _print_version(asked: bool) -> None:
    if asked:
        from rexmit.store.formats import line

        outputs.line(line())
        raise SystemExit(EXIT_OK)


def _set_quiet(asked: bool) -> None:
    if asked:
        outputs.level = outputs.Level.QUIET


def _set_verbose(asked: bool) -> None:
    if asked:
        outputs.level = outputs.Level.VERBOSE


def _set_no_color(asked: bool) -> None:
    if asked:
        outputs.without_colors = True


_OPTIONS: Final = {
    "version": Option(
        "--version",
        help="Print version, commit and formats of results, and exit.",
        is_eager=True,
        expose_value=False,
        callback=_print_version,
    ),
    "quiet": Option(
        "--quiet",
        "-q",
        help="Print only errors and warnings on standard error: no progress, no notes.",
        expose_value=False,
        callback=_set_quiet,
    ),
    "verbose": Option(
        "--verbose",
        "-v",
        help="Print on standard error what is read and how long that takes, and where in the "
        "program an error arose.",
        expose_value=False,
        callback=_set_verbose,
    ),
    "no_color": Option(
        "--no-color",
        help="Print without colours, like NO_COLOR in the environment.",
        expose_value=False,
        callback=_set_no_color,
    ),
    "install_completion": Option(
        "--install-completion",
        help="Install completion for the current shell.",
        is_eager=True,
        expose_value=False,
        callback=completion.install,
    ),
    "show_completion": Option(
        "--show-completion",
        help="Show completion for the current shell, to copy it or customize the installation.",
        is_eager=True,
        expose_value=False,
        callback=completion.show,
    ),
}
"""The program's own. Their callbacks do it all; some may be typed behind commands, too."""


def _begin() -> None:
    """What is done before any command."""
    context = click.get_current_context()
    # What is wrong with the file is for `doctor` to say among the rest.
    if context.invoked_subcommand != "doctor":
        configuration.use(configuration.read())
    context.with_resource(speaking_of_options(OPTIONS))


app = Commands(
    {
        **{
            name: Listed(f"{__name__}.{name}:{'app' if name == 'kernel' else name}", about)
            for name, about in COMMANDS.items()
        },
        **{
            name: Listed(*listed)
            for package in additions.packages()
            for name, listed in package.COMMANDS.items()
        },
    },
    name="rexmit",
    callback=_begin,
    params=[parameter(name, bool, one, False) for name, one in _OPTIONS.items()],
    help="A laboratory for TCP loss recovery.",
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
