"""A run's figures as numbers, marks from elsewhere among them, for the browser to draw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rexmit.analysis.bursts import Cases, cases, has_bursts
from rexmit.present.figures import bursts
from rexmit.present.figures import plan as of_page
from rexmit.store.open_run import Run
from rexmit.webpage import commands, looks
from rexmit.webpage.part import Figure, Line, Mark

_WORDS = {
    "t_recover": "t_recover: first drop to first retransmission (s)",
    "t_total": "t_total: head sent to last lost data sent again (s)",
}


def figures(run: Run) -> list[Figure]:
    """Those that `rexmit plot` draws."""
    command = commands.command("plot", run.path)
    if has_bursts(run):
        found = cases(run)
        return list(of_bursts(found, bursts.plan(run, found), command))
    return [of_times(one, command) for one in of_page.plan(run)]


def of_times(planned: of_page.Figure, command: str) -> Figure:
    """A figure of times; `command` draws it."""
    configs = [*(one.config for one in planned.series), *(mark.config for mark in planned.marks)]
    look = looks.of_configs(tuple(dict.fromkeys(configs)))
    lines = []
    for one in planned.series:
        colour, shape = look[one.config]
        points = tuple(Mark(p.at, p.mean_s, p.sd_s) for p in one.points)
        lines.append(Line(one.config, points, colour=colour, shape=shape))
    for config in dict.fromkeys(mark.config for mark in planned.marks):
        colour, shape = look[config]
        marks = tuple(Mark(m.at, m.mean_s) for m in planned.marks if m.config == config)
        lines.append(Line(config, marks, planned.marks_label, colour=colour, shape=shape))
    notes = [*planned.subtitles, *([f"open marks: {planned.marks_label}"] if planned.marks else [])]
    return Figure(
        planned.name,
        planned.title,
        tuple(notes),
        planned.x.label,
        _WORDS[planned.measure],
        tuple(lines),
        command,
        planned.x.ticks,
    )


def of_bursts(found: Cases, figures: Iterable[bursts.Figure], command: str) -> Iterator[Figure]:
    """A figure for each panel; `command` draws them."""
    for planned in figures:
        for loss in planned.losses:
            yield _panel(found, planned, loss, command)


def _panel(found: Cases, planned: bursts.Figure, loss: str, command: str) -> Figure:
    lines, printed = [], []
    look = looks.of_configs(planned.configs)
    for config in planned.configs:
        colour, shape = look[config]
        marks, theirs = [], []
        for place, network in enumerate(planned.networks):
            case = found.of(network, config, loss)
            if case is not None and case.completion.mean_s is not None:
                spread = case.completion.sd_s or 0.0
                marks.append(Mark(place, case.completion.mean_s, spread))
            if (mark_s := planned.marks.get((network, config, loss))) is not None:
                theirs.append(Mark(place, mark_s))
        lines.append(Line(config, tuple(marks), colour=colour, shape=shape))
        if theirs:
            line = Line(config, tuple(theirs), planned.marks_label, colour=colour, shape=shape)
            printed.append(line)
    words = planned.words.get(loss, loss)
    notes = [planned.small, "of the two delays that of the path with the losses is the first"]
    notes += [f"open marks: {planned.marks_label}"] if printed else []
    ticks = tuple(
        (float(place), "-".join(f"{delay:g}" for delay in found.delays_ms[network]))
        for place, network in enumerate(planned.networks)
    )
    # A panel alone has the figure's title.
    alone = len(planned.losses) == 1 and loss not in planned.words
    return Figure(
        planned.name if alone else of_page.slug(f"{planned.name}-{loss}"),
        planned.title if alone else f"{planned.title}; {words}",
        tuple(notes),
        "one-way delays of the paths (ms)",
        "completion of the last burst (s)",
        tuple(lines + printed),
        command,
        ticks,
    )
