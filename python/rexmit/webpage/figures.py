"""A run's figures as numbers, marks from elsewhere among them, for the browser to draw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rexmit.analysis.bursts import Cases, cases, has_bursts
from rexmit.analysis.chart import Question, along, charts
from rexmit.present.figures import bursts, plan
from rexmit.store.open_run import Run
from rexmit.webpage import commands, looks
from rexmit.webpage.part import Figure, FigureLine, Mark


def figures(run: Run) -> list[Figure]:
    """Those that `rexmit plot` draws, of a grid with too many axes along the usual one."""
    if has_bursts(run):
        of_run = cases(run)
        return list(of_bursts(of_run, bursts.plan(run, of_run), commands.command("plot", run.path)))
    x = along(run)
    command = commands.command("plot", run.path, *(("--x", x) if x else ()))
    planned = plan.plan(charts([run], Question(x=x)))
    return [one for figure in planned for one in of_times(figure, command)]


def of_times(planned: plan.Figure, command: str) -> Iterator[Figure]:
    """A figure for each panel; `command` draws them."""
    look = looks.of_configs(planned.labels)
    several = len(planned.panels) > 1
    for panel in planned.panels:
        lines = [
            FigureLine(
                one.label or panel.column.name,
                tuple(
                    Mark(
                        point.at,
                        point.mean * panel.factor,
                        (point.interval.half if point.interval else 0.0) * panel.factor,
                        few=point.interval is None,
                    )
                    for point in one.points
                ),
                colour=look[one.label][0],
                shape=look[one.label][1],
            )
            for one in panel.series
        ]
        for label in dict.fromkeys(mark.label for mark in panel.marks):
            colour, shape = look[label]
            marks = tuple(
                Mark(m.at, m.mean * panel.factor) for m in panel.marks if m.label == label
            )
            lines.append(FigureLine(label, marks, planned.marks_label, colour=colour, shape=shape))
        if not lines:
            continue
        open_marks = [f"open marks: {planned.marks_label}"] if panel.marks else []
        words = "; ".join(part for part in (panel.title, panel.column.name) if part)
        yield Figure(
            plan.slug(f"{planned.name}-{words}") if several else planned.name,
            f"{planned.title}: {words}" if several else planned.title,
            (*planned.notes, *open_marks),
            planned.x.label,
            panel.y,
            tuple(lines),
            command,
            planned.x.ticks,
        )


def of_bursts(of_run: Cases, figures: Iterable[bursts.Figure], command: str) -> Iterator[Figure]:
    """A figure for each panel; `command` draws them."""
    for planned in figures:
        for loss in planned.losses:
            yield _panel(of_run, planned, loss, command)


def _panel(of_run: Cases, planned: bursts.Figure, loss: str, command: str) -> Figure:
    lines, printed = [], []
    look = looks.of_configs(planned.configs)
    for config in planned.configs:
        colour, shape = look[config]
        marks, theirs = [], []
        for place, network in enumerate(planned.networks):
            case = of_run.case(network, config, loss)
            if case is not None and case.completion.mean_s is not None:
                marks.append(Mark(place, case.completion.mean_s, bursts.half(case.completion)))
            if (mark_s := planned.marks.get((network, config, loss))) is not None:
                theirs.append(Mark(place, mark_s))
        lines.append(FigureLine(config, tuple(marks), colour=colour, shape=shape))
        if theirs:
            line = FigureLine(
                config, tuple(theirs), planned.marks_label, colour=colour, shape=shape
            )
            printed.append(line)
    words = planned.words.get(loss, loss)
    notes = [planned.small, "of the two delays that of the path with the losses is the first"]
    notes += [f"open marks: {planned.marks_label}"] if printed else []
    ticks = tuple(
        (float(place), "-".join(f"{delay:g}" for delay in of_run.delays_ms[network]))
        for place, network in enumerate(planned.networks)
    )
    # A panel alone has the figure's title.
    alone = len(planned.losses) == 1 and loss not in planned.words
    return Figure(
        planned.name if alone else plan.slug(f"{planned.name}-{loss}"),
        planned.title if alone else f"{planned.title}; {words}",
        tuple(notes),
        "one-way delays of the paths (ms)",
        "completion of the last burst (s)",
        tuple(lines + printed),
        command,
        ticks,
    )
