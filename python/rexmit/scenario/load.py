"""From a TOML file or plain data to a checked scenario; errors name file, line, key, remedy."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from copy import deepcopy
from itertools import chain, islice
from pathlib import Path as FilePath
from typing import Any, Final

from pydantic import ValidationError

from rexmit import toml_file
from rexmit.errors import UserError, argument
from rexmit.scenario import across, work
from rexmit.scenario import overrides as override
from rexmit.scenario.invalid import invalid
from rexmit.scenario.loss import RULES
from rexmit.scenario.model import SERVERS, Scenario
from rexmit.scenario.part import Part, refused_by_kernels
from rexmit.scenario.problem import Path, Problem

MOST_CELLS: Final = 1_000_000
"""Of a grid, under all its seeds: more would not fit into memory, and take years."""

MOST_TOLD: Final = 20
"""Errors that are told at a time."""


class Sources:
    """Where each value came from: a line of the file, or a change."""

    def __init__(self, file: str, lines: Mapping[Path, int] | None = None) -> None:
        self.file = file
        self.lines = dict(lines or {})
        self.settings: dict[Path, str] = {}

    def where(self, path: Path) -> str:
        """`FILE:LINE` or the change of the key, else of the nearest table around it."""
        for length in range(len(path), 0, -1):
            for setting_path, setting in self.settings.items():
                # A table that no line has was made by the setting of a key in it.
                is_new = path[:length] not in self.lines and setting_path[:length] == path[:length]
                if is_new or setting_path == path[:length]:
                    return f"{argument('settings')} {setting}"
            # A dotted key without quotes is a path of its own to TOML.
            split = tuple(part for step in path[:length] for part in str(step).split("."))
            for candidate in (path[:length], split):
                if candidate in self.lines:
                    return f"{self.file}:{self.lines[candidate]}"
        return self.file


def load(path: FilePath, settings: Iterable[str] = (), *, stacks: bool = True) -> Scenario:
    """The scenario in a TOML file, changed by `--set` texts. Raises UserError.

    Without `stacks` settings of the model's stacks are an error: nothing would heed them.
    """
    data, sources = read(path)
    return check(data, sources, settings, stacks=stacks)


def read(path: FilePath) -> tuple[dict[str, Any], Sources]:
    """What a TOML file says, unchecked, and where. Raises UserError."""
    data, text = toml_file.read(path)
    from rexmit._core import toml_lines

    return data, Sources(str(path), toml_lines(text))


def from_plain(
    data: Mapping[str, Any],
    *,
    where: str = "run.json",
    settings: Iterable[str] = (),
    stacks: bool = True,
) -> Scenario:
    """The scenario that `plain.effective` wrote. `where` names it in errors; `stacks` as in
    `load`."""
    return check(deepcopy(dict(data)), Sources(where), settings, stacks=stacks)


def check(
    data: dict[str, Any],
    sources: Sources,
    settings: Iterable[str] = (),
    *,
    stacks: bool = True,
) -> Scenario:
    """Apply the settings to the data and check the whole. Raises UserError with every problem."""
    for setting in settings:
        for path in override.apply(data, setting):
            sources.settings.pop(path, None)
            sources.settings[path] = setting
    _leave_out_other_kinds(data, sources)
    try:
        scenario = Scenario.model_validate(data)
    except ValidationError as error:
        raise _report(sources, map(invalid, error.errors())) from None
    problems = chain(across.problems(scenario), _stacks(scenario, allowed=stacks))
    for first in problems:
        raise _report(sources, chain([first], problems))
    cells, seeds = _most_cells(scenario), len(scenario.all_seeds)
    if cells * seeds > MOST_CELLS:
        under = f", each under {seeds:,} seeds" if seeds > 1 else ""
        raise UserError(
            f"{sources.file}: the grid has {cells:,} cells{under}",
            f"at most {MOST_CELLS:,}: give fewer values, or several scenarios",
        )
    return scenario


_KINDS: Final = {"loss": RULES, "workload": SERVERS}
"""Tables of which there are several kinds, told by a key of theirs."""


def _leave_out_other_kinds(data: dict[str, Any], sources: Sources) -> None:
    """Where a change chose another kind of a table, the file's keys of the kind that it had go.
    Those that a change set stay, and are refused.
    """
    for name, kinds in _KINDS.items():
        table = data.get(name)
        if (name, kinds.key) not in sources.settings or not isinstance(table, dict):
            continue
        own = kinds.tables.get(kinds.kind(table) or "")
        if own is None:
            continue
        others = {key for part in kinds.tables.values() for key in part.model_fields}
        for key in others - set(own.model_fields):
            if (name, key) not in sources.settings:
                table.pop(key, None)


def _most_cells(scenario: Scenario) -> int:
    """The cells of the grid, those counted twice that are in it twice."""
    work, tcp = scenario.workload, scenario.tcp
    points = 0
    for name in scenario.network_names:
        base = {
            "page": len(work.pages),
            "window": len(work.receive_window),
            "client": len(work.client),
            "algorithm": len(tcp.congestion_control),
            "line_loss": len(scenario.networks[name].loss),
        }
        points += math.prod(base.values())
        for vary in scenario.vary:
            own = {
                "page": vary.size or vary.segments,
                "window": vary.receive_window,
                "client": vary.client,
                "algorithm": vary.congestion_control,
                "line_loss": vary.line_loss,
            }
            points += math.prod(len(own[key] or "") or base[key] for key in base)
    return points * len(scenario.config_names) * len(scenario.loss.losses)


def _report(sources: Sources, every: Iterable[Problem]) -> UserError:
    # What is near each, to guess at what was meant, takes a while to find.
    problems = list(islice(every, MOST_TOLD + 1))
    more = len(problems) > MOST_TOLD
    problems = problems[:MOST_TOLD]

    def line(problem: Problem) -> str:
        key = ".".join(
            f'"{part}"' if isinstance(part, str) and "." in part else str(part)
            for part in problem.path
        )
        return f"{sources.where(problem.path)}: {key}: {problem.what}"

    changed = f"{argument('settings')} "
    usage = any(sources.where(problem.path).startswith(changed) for problem in problems)
    if len(problems) == 1:
        return UserError(line(problems[0]), problems[0].remedy, usage=usage)
    lines = [
        text
        for problem in problems
        for text in (line(problem), *((f"  {problem.remedy}",) if problem.remedy else ()))
    ]
    what = f"more than {MOST_TOLD} errors" if more else f"{len(problems)} errors"
    return UserError(f"{sources.file}: {what}", lines, usage=usage)


def _stacks(scenario: Scenario, *, allowed: bool) -> Iterable[Problem]:
    """What is wrong with settings of the model's stacks, each by itself."""
    tables: list[tuple[Path, Mapping[str, str]]] = [(("stack",), scenario.stack)]
    for name in scenario.config_names:
        if name in scenario.configs:
            tables.append((("configs", name, "stack"), scenario.configs[name].stack))
    for path, table in tables:
        for key, value in table.items():
            if not allowed:
                yield Problem(
                    (*path, *key.split(".")),
                    "a kernel has no such setting; the model has",
                    f"run it with {argument('engine', 'model')}, or take it out",
                )
            elif (problem := _of_stack(key, value)) is not None:
                yield Problem((*path, *key.split(".")), *problem)
    if allowed:
        return
    parts: list[tuple[Path, Part]] = [(("workload",), scenario.workload)]
    for name in scenario.network_names:
        if name in scenario.networks:
            parts.append((("networks", name), scenario.networks[name]))
    for path, part in parts:
        for at, why in refused_by_kernels(part, path):
            yield Problem(
                at,
                f"{why}; the model has",
                f"run it with {argument('engine', 'model')}, or take it out",
            )


def _of_stack(key: str, value: str) -> tuple[str, str] | None:
    from rexmit import stacks

    return (work.problem if key.startswith(work.PREFIX) else stacks.problem)(key, value)
