"""What `rexmit trace` prints of one trace: its page, or a table by host, port or prefix."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rexmit.cli.as_json import print_json

if TYPE_CHECKING:
    from rexmit.tracing.folder import Trace
    from rexmit.tracing.groups import Key
    from rexmit.tracing.selection import Selection


def is_unfit(made: Selection) -> bool:
    """Whether nothing was selected of what there is; it is said why."""
    from rexmit.library.page import why_empty
    from rexmit.present.terminal import console
    from rexmit.tracing.print_page import print_unfit

    if reasons := why_empty(made):
        print_unfit(made.captures, made.told, reasons, console())
    return bool(reasons)


def print_groups_of(made: Trace, key: Key, *, as_json: bool) -> None:
    """A line for each host, port or prefix."""
    from dataclasses import asdict

    from rexmit.library.page import groups, told_of
    from rexmit.present.terminal import console, say
    from rexmit.tracing.print_groups import print_groups

    found = groups(made, key)
    if as_json:
        print_json({"by": key, "groups": [asdict(one) for one in found]})
        return
    shown = console()
    if selected := told_of(made):
        say(shown, selected)
    print_groups(found, key, shown)


def print_page_of(made: Trace, *, kept: Path | None, as_json: bool) -> None:
    """The page; `kept` is the folder or the capture that its commands name."""
    from rexmit.library.page import page

    shown = page(made)
    if as_json:
        print_json(shown.as_json())
        return
    from rexmit.present.terminal import console
    from rexmit.tracing.print_page import print_page

    print_page(
        made.captures,
        made.facts,
        shown.summary,
        shown.advice,
        console(),
        kept=kept,
        checked=shown.checked,
        selected=shown.selected,
    )
