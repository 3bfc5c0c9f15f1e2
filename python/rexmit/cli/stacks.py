"""`rexmit stacks`: the TCP stacks of the model and their settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from rexmit import outputs
from rexmit.cli import completion
from rexmit.cli.front import Argument, Option

if TYPE_CHECKING:
    from rexmit._core import StackPage

EXAMPLES = """\
Examples:

\b
  rexmit stacks                                    which there are
  rexmit stacks linux-3.10                         every setting, and where its value comes from
  rexmit stacks linux-3.10 --json | jq '.settings.min_rto'
"""


def stacks(
    name: Annotated[
        str | None,
        Argument(
            metavar="[NAME]",
            help="Show this stack's settings.",
            show_default=False,
            autocompletion=completion.stacks,
        ),
    ] = None,
    json_output: Annotated[
        bool, Option("--json", help="Print names, values and sources as JSON.")
    ] = False,
) -> None:
    """List the TCP stacks of the model, or the settings of one with the source of each value.

    Any setting can be changed in a scenario: `stack.min_rto = "100ms"`.
    """
    from rexmit.library.stacks import list_stacks, stack

    if name is None:
        _list(list_stacks(), json_output)
    else:
        _show(stack(name), json_output)


def _list(pages: list[StackPage], json_output: bool) -> None:
    if json_output:
        _print_json([{"name": page.name, "about": page.about} for page in pages])
        return
    width = max(len(page.name) for page in pages)
    for page in pages:
        outputs.line(f"{page.name:<{width}}  {page.about}")


def _show(page: StackPage, json_output: bool) -> None:
    if json_output:
        settings = {
            setting.name: {
                "value": setting.value,
                "source": setting.source,
                "about": setting.about,
                "allowed": setting.allowed,
            }
            for setting in page.settings
        }
        _print_json({"name": page.name, "about": page.about, "settings": settings})
        return
    from rich.table import Table

    outputs.line(f"{page.name}: {page.about}")
    outputs.line("")
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("Setting", no_wrap=True)
    table.add_column("Value", no_wrap=True)
    table.add_column("Source", overflow="fold")
    for setting in page.settings:
        table.add_row(setting.name, setting.value, setting.source)
    console = outputs.console()
    if not console.is_terminal:
        # One line a setting in a pipe, for grep.
        console.width = 250
    console.print(table)


def _print_json(what: object) -> None:
    import json

    outputs.lines(json.dumps(what, indent=2))
