"""A run's figures as numbers, the paper's marks among them, for the browser to draw."""

from __future__ import annotations

from collections.abc import Iterator

from rexmit.analysis.bursts import Cases, cases, has_bursts
from rexmit.papers.probe_or_wait_2017 import figures as of_2017
from rexmit.papers.probe_or_wait_2017.paper import BARS_MS, LOSSES
from rexmit.papers.ryll_2013.figures import PRINTED
from rexmit.present.figures import plan as of_2013
from rexmit.store.open_run import Run
from rexmit.webpage import commands, looks
from rexmit.webpage.part import Figure, Line, Mark

_WORDS = {
    "t_recover": "t_recover: first drop to first retransmission (s)",
    "t_total": "t_total: head sent to last lost data sent again (s)",
}


def figures(run: Run) -> list[Figure]:
    """Those that `rexmit plot` draws."""
    if has_bursts(run):
        return list(_of_bursts(run))
    return [_of_page(run, one) for one in of_2013.plan(run, None, printed=PRINTED)]


def _of_page(run: Run, planned: of_2013.Figure) -> Figure:
    configs = [*(one.config for one in planned.series), *(mark.config for mark in planned.paper)]
    look = looks.of_configs(tuple(dict.fromkeys(configs)))
    lines = []
    for one in planned.series:
        colour, shape = look[one.config]
        points = tuple(Mark(p.at, p.mean_s, p.sd_s) for p in one.points)
        lines.append(Line(one.config, points, colour=colour, shape=shape))
    for config in dict.fromkeys(mark.config for mark in planned.paper):
        colour, shape = look[config]
        marks = tuple(Mark(m.at, m.mean_s) for m in planned.paper if m.config == config)
        lines.append(Line(config, marks, printed=True, colour=colour, shape=shape))
    number = f"Figure {planned.number} of the paper: " if planned.number else ""
    notes = [*planned.subtitles, *([f"open marks: {planned.paper_label}"] if planned.paper else [])]
    return Figure(
        planned.name,
        f"{number}{planned.title}",
        tuple(notes),
        planned.x.label,
        _WORDS[planned.measure],
        tuple(lines),
        commands.command("plot", run.path),
        planned.x.ticks,
    )


def _of_bursts(run: Run) -> Iterator[Figure]:
    found = cases(run, keep_inexact=False)
    for planned in of_2017.plan(run, found):
        for loss in planned.losses:
            yield _panel(run, found, planned, loss)


def _panel(run: Run, found: Cases, planned: of_2017.Figure, loss: str) -> Figure:
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
            delays = found.delays_ms[network]
            bars = BARS_MS.get((config, loss), {})
            theirs += [Mark(place, ms / 1e3) for pair, ms in bars.items() if pair == delays]
        lines.append(Line(config, tuple(marks), colour=colour, shape=shape))
        if theirs:
            line = Line(config, tuple(theirs), printed=True, colour=colour, shape=shape)
            printed.append(line)
    words = LOSSES.get(loss, loss)
    notes = [planned.small, "of the two delays that of the path with the losses is the first"]
    notes += ["open marks: the authors' bars, 2017"] if printed else []
    ticks = tuple(
        (float(place), "-".join(f"{delay:g}" for delay in found.delays_ms[network]))
        for place, network in enumerate(planned.networks)
    )
    return Figure(
        of_2013.slug(f"{planned.name}-{loss}"),
        f"{planned.title}; {words}",
        tuple(notes),
        "one-way delays of the paths (ms)",
        "completion of the last burst (s)",
        tuple(lines + printed),
        commands.command("plot", run.path),
        ticks,
    )
