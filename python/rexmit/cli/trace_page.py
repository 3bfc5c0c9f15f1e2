"""What is printed of one trace: its page, or a table by host, port or prefix."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rexmit.cli.as_json import print_blocks, print_result
from rexmit.cli.html import write as write_page
from rexmit.wording import count

if TYPE_CHECKING:
    from rexmit.cli.trace_options import Paging
    from rexmit.cli.wireshark import Copy
    from rexmit.tracing.folder import Trace
    from rexmit.tracing.groups import Key
    from rexmit.tracing.selection import Selection, Wanted


def print_of(
    shown: Trace,
    wanted: Wanted,
    key: Key | None,
    options: Paging,
    *,
    kept: Path | None = None,
    copy: Copy | None = None,
) -> None:
    """What is asked for of a trace. `kept` is the folder or the capture that its commands name,
    where the tables are not kept now; `copy` is written first.
    """
    if shown.in_memory:
        from polars import Config

        # The other engine is for tables that do not fit there, and takes longer over small ones.
        Config.set_engine_affinity("in-memory")
    as_json = options.as_json
    shown = replace(shown, slow_s=options.slow_s())
    if wanted:
        from rexmit.tracing.selection import select

        shown = select(shown, wanted)
        if not as_json and copy is None and _is_unfit(shown):
            return
    if copy is not None:
        copy.write(shown)
        if str(copy.out) == "-":
            return
    if key:
        _print_groups_of(shown, key, as_json=as_json)
    else:
        _print_page_of(shown, kept=options.out or kept, as_json=as_json)
        write_page([shown], options.html, as_json=as_json)


def print_tables_of(trace: Trace, *, as_json: bool) -> None:
    """What was kept, where that is some tables alone."""
    import polars as pl

    from rexmit.result.blocks import Facts, heading, warning

    lengths = {name: trace.scan(name).select(pl.len()).collect().item() for name in trace.only}
    print_result(
        lambda: {
            "trace": str(trace.path),
            "captures": trace.captures,
            "packets": trace.facts.packets,
            "warnings": list(trace.facts.warnings),
            "tables": lengths,
        },
        lambda _: (
            heading(f"{', '.join(trace.captures)}: {count(trace.facts.packets, 'packet')}"),
            *map(warning, trace.facts.warnings),
            Facts(tuple((name, count(rows, "row")) for name, rows in lengths.items())),
        ),
        as_json=as_json,
    )


def _is_unfit(selection: Selection) -> bool:
    """Whether nothing was selected of what there is; it is said why."""
    from rexmit.library.page import why_empty
    from rexmit.tracing.sections.page import unfit_blocks

    if reasons := why_empty(selection):
        print_blocks(lambda _: unfit_blocks(selection.captures, selection.text, reasons))
    return bool(reasons)


def _print_groups_of(trace: Trace, key: Key, *, as_json: bool) -> None:
    """A line for each host, port or prefix."""
    from rexmit.library.page import groups
    from rexmit.result.plain import plain
    from rexmit.tracing.page import told_of
    from rexmit.tracing.sections.groups import group_blocks

    grouped = groups(trace, key)
    print_result(
        lambda: {"by": key, "groups": plain(grouped)},
        lambda _: group_blocks(grouped, key, told_of(trace)),
        as_json=as_json,
    )


def _print_page_of(trace: Trace, *, kept: Path | None, as_json: bool) -> None:
    """The page; `kept` is the folder or the capture that its commands name."""
    from rexmit.library.page import page
    from rexmit.tracing.sections.page import page_blocks

    shown = page(trace)
    print_result(shown.as_json, lambda _: page_blocks(shown, kept=kept), as_json=as_json)
