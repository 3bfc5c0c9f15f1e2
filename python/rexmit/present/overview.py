"""The head of what `rexmit show` prints: which run this is and what to know before trusting it."""

from __future__ import annotations

from collections.abc import Iterator

from rexmit.analysis.overview import FailedCell, Overview
from rexmit.result.blocks import Block, Paragraph, heading, warning
from rexmit.wording import count, duration

#: So many lines of a failed kernel's console are shown; run.json has them all.
_TAIL_LINES = 6

#: So many cells that failed alike are named.
_LABELS = 4


def overview_blocks(view: Overview) -> Iterator[Block]:
    """Kernel or stack, scenario, size; then ignored settings, failed cells and warnings."""
    name = " - ".join(part for part in (view.scenario, view.title) if part)
    yield heading(f"{view.path}: {name}" if name else view.path)
    yield Paragraph("; ".join(_facts(view)))
    if view.conditions:
        yield Paragraph(view.conditions)
    for setting, why, configs in _by_setting(view):
        head = f"ignored by this {view.runner.thing}: "
        yield Paragraph(f"{setting} ({configs}): {why}", kind=head)
    yield from map(warning, view.warnings)
    for note in view.notes:
        head = f"note on {count(note.transfers, 'transfer')}: "
        yield Paragraph(note.text if note.alike else f"{note.text} (and alike)", kind=head)
    if view.failed:
        yield from _failed(view)


def command_blocks(view: Overview) -> Iterator[Block]:
    """The command that repeats the run, on one line, so that it can be copied."""
    if view.command:
        yield Paragraph(f"to repeat: {view.command}", whole=True)


def _facts(view: Overview) -> list[str]:
    facts = [view.runner.words]
    if view.runner.differing:
        facts.append(view.runner.differing)
    if view.seeds is not None:
        facts.append(view.seeds)
    size = count(view.transfers, "transfer")
    if view.wall_s is not None:
        size += f" in {duration(view.wall_s)}"
    if view.virtual_s is not None:
        size += f" ({duration(view.virtual_s)} of {view.runner.clock})"
    return [*facts, size]


def _by_setting(view: Overview) -> list[tuple[str, str, str]]:
    configs: dict[tuple[str, str], list[str]] = {}
    for ignored in view.ignored:
        names = configs.setdefault((ignored.setting, ignored.why), [])
        if ignored.config not in names:
            names.append(ignored.config)
    return [(setting, why, ", ".join(names)) for (setting, why), names in configs.items()]


def _failed(view: Overview) -> Iterator[Block]:
    text = f"{count(len(view.failed), 'cell')} failed and left no transfers:"
    yield Paragraph(text, "bold red")
    by_message: dict[str, list[FailedCell]] = {}
    for failed in view.failed:
        by_message.setdefault(failed.message, []).append(failed)
    for message, cells in by_message.items():
        labels = ", ".join(cell.label or f"cell {cell.cell}" for cell in cells[:_LABELS])
        more = f" and {len(cells) - _LABELS} more" if len(cells) > _LABELS else ""
        yield Paragraph(f"  {labels}{more}: {message}", indent=4)
        tail = cells[0].console_tail.splitlines()[-_TAIL_LINES:]
        for line in cells[0].splat.splitlines()[:_TAIL_LINES] or tail:
            yield Paragraph(f"    | {line}", "dim", whole=True)
