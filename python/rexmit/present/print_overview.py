"""The head of what `rexmit show` prints: which run this is and what to know before trusting it."""

from __future__ import annotations

from rich.console import Console

from rexmit.analysis.overview import FailedCell, Overview
from rexmit.present.terminal import say
from rexmit.present.text import Text
from rexmit.wording import count, duration

#: So many lines of a failed kernel's console are shown; run.json has them all.
_TAIL_LINES = 6

#: So many cells that failed alike are named.
_LABELS = 4


def print_overview(view: Overview, console: Console) -> None:
    """Kernel or stack, scenario, size; then ignored settings, failed cells and warnings."""
    name = " - ".join(part for part in (view.scenario, view.title) if part)
    say(console, Text(f"{view.path}: {name}" if name else view.path, style="bold"))
    say(console, "; ".join(_facts(view)))
    if view.conditions:
        say(console, view.conditions)
    for setting, why, configs in _by_setting(view):
        head = (f"ignored by this {view.runner.thing}: ", "yellow")
        say(console, Text.assemble(head, f"{setting} ({configs}): {why}"))
    for warning in view.warnings:
        say(console, Text.assemble(("warning: ", "yellow"), warning))
    for note in view.notes:
        head = (f"note on {count(note.transfers, 'transfer')}: ", "yellow")
        say(console, Text.assemble(head, note.text if note.alike else f"{note.text} (and alike)"))
    if view.failed:
        _print_failed(view, console)


def print_command(view: Overview, console: Console) -> None:
    """The command that repeats the run, on one line, so that it can be copied."""
    if view.command:
        console.print(f"to repeat: {view.command}", soft_wrap=True)


def _facts(view: Overview) -> list[str]:
    facts = [view.runner.words]
    if view.runner.differing:
        facts.append(view.runner.differing)
    if view.seeds > 1:
        facts.append(f"{view.seeds} seeds pooled ({view.seed}), intervals by seed")
    elif view.seed is not None:
        facts.append(f"seed {view.seed}")
    size = count(view.transfers, "transfer")
    if view.wall_s is not None:
        size += f" in {duration(view.wall_s)}"
    if view.virtual_s is not None:
        size += f" ({duration(view.virtual_s)} of virtual time)"
    return [*facts, size]


def _by_setting(view: Overview) -> list[tuple[str, str, str]]:
    configs: dict[tuple[str, str], list[str]] = {}
    for ignored in view.ignored:
        names = configs.setdefault((ignored.setting, ignored.why), [])
        if ignored.config not in names:
            names.append(ignored.config)
    return [(setting, why, ", ".join(names)) for (setting, why), names in configs.items()]


def _print_failed(view: Overview, console: Console) -> None:
    text = f"{count(len(view.failed), 'cell')} failed and left no transfers:"
    say(console, Text(text, "bold red"))
    by_message: dict[str, list[FailedCell]] = {}
    for failed in view.failed:
        by_message.setdefault(failed.message, []).append(failed)
    for message, cells in by_message.items():
        labels = ", ".join(cell.label or f"cell {cell.cell}" for cell in cells[:_LABELS])
        more = f" and {len(cells) - _LABELS} more" if len(cells) > _LABELS else ""
        say(console, f"  {labels}{more}: {message}", indent=4)
        for line in cells[0].console_tail.splitlines()[-_TAIL_LINES:]:
            console.print(Text(f"    | {line}", style="dim"), soft_wrap=True)
