"""From a TOML file or plain data to a checked scenario; errors name file, line, key, remedy."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from copy import deepcopy
from itertools import chain
from pathlib import Path as FilePath
from typing import Any, Final

from pydantic import ValidationError

from rexmit import toml_file
from rexmit.errors import UserError, argument
from rexmit.scenario import across, offload, work
from rexmit.scenario import overrides as override
from rexmit.scenario.invalid import invalid
from rexmit.scenario.loss import RULES
from rexmit.scenario.model import NO_SETTING, SERVERS, Bursts, Pages, Scenario
from rexmit.scenario.part import Part, refused
from rexmit.scenario.problem import Path, Problem, report
from rexmit.scenario.rate_trace import FOLDER

MOST_CELLS: Final = 1_000_000
"""Of a grid, under all its seeds: more would not fit into memory, and take years."""


class Sources:
    """Where each value came from: a line of the file, or a change."""

    def __init__(
        self, file: str, lines: Mapping[Path, int] | None = None, folder: FilePath = FilePath()
    ) -> None:
        self.file = file
        self.folder = folder
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


def load(path: FilePath, settings: Iterable[str] = (), *, engine: str | None = None) -> Scenario:
    """The scenario in a TOML file, changed by `--set` texts. Raises UserError.

    Keys that `engine` does not obey are an error.
    """
    data, sources = read(path)
    return check(data, sources, settings, engine=engine)


def read(path: FilePath) -> tuple[dict[str, Any], Sources]:
    """What a TOML file says, unchecked, and where. Raises UserError."""
    data, text = toml_file.read(path)
    from rexmit._core import toml_lines

    return data, Sources(str(path), toml_lines(text), path.parent)


def from_plain(
    data: Mapping[str, Any],
    *,
    where: str = "run.json",
    settings: Iterable[str] = (),
    engine: str | None = None,
) -> Scenario:
    """The scenario that `plain.effective` wrote. `where` names it in errors; `engine` as in
    `load`."""
    return check(deepcopy(dict(data)), Sources(where), settings, engine=engine)


def check(
    data: dict[str, Any],
    sources: Sources,
    settings: Iterable[str] = (),
    *,
    engine: str | None = None,
) -> Scenario:
    """Apply the settings to the data and check the whole. Raises UserError with every problem."""
    for setting in settings:
        for path in override.apply(data, setting):
            sources.settings.pop(path, None)
            sources.settings[path] = setting
    _leave_out_other_kinds(data, sources)
    try:
        scenario = Scenario.model_validate(data, context={FOLDER: sources.folder})
    except ValidationError as error:
        raise report(sources.where, map(invalid, error.errors())) from None
    problems = chain(across.problems(scenario), _of_engine(scenario, engine))
    for first in problems:
        raise report(sources.where, chain([first], problems))
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


def _of_engine(scenario: Scenario, engine: str | None) -> Iterable[Problem]:
    """What is wrong with settings of the model's stacks, each by itself, and what an engine does
    not obey.
    """
    stacks: list[tuple[Path, Mapping[str, str]]] = [(("stack",), scenario.stack)]
    parts: list[tuple[Path, Part]] = [
        (("workload",), scenario.workload),
        (("offload",), scenario.offload),
    ]
    for name in scenario.network_names:
        if name in scenario.networks:
            parts.append((("networks", name), scenario.networks[name]))
    for name in scenario.config_names:
        if name in scenario.configs:
            config = scenario.configs[name]
            stacks.append((("configs", name, "stack"), config.stack))
            # Of [stack] each setting is told by itself.
            parts.append((("configs", name), config.model_copy(update={"stack": {}})))
    for path, table in stacks:
        for key, value in table.items():
            at = (*path, *key.split("."))
            if engine not in (None, "model"):
                yield _refused(at, NO_SETTING, ["model"])
            elif (problem := _of_stack(key, value)) is not None:
                yield Problem(at, *problem)
    if engine is None:
        return
    for path, part in parts:
        for at, there in refused(part, path, engine):
            yield _refused(at, there.why, there.engines)
    if engine != "model" and isinstance(scenario.workload, Pages):
        asked = scenario.workload.read_rate is not None
        if asked and across.clients(scenario) != {"builtin"}:
            at = ("workload", "read_rate")
            yield _refused(at, "curl and lynx read as fast as they can", ["model"])
    if engine == "kernel":
        yield from _beyond_netem(scenario)


def _beyond_netem(scenario: Scenario) -> Iterable[Problem]:
    """What links that are a program do not carry, in each network that needs such links."""
    configs = [scenario.configs[name] for name in scenario.config_names if name in scenario.configs]
    does = [offload.merged(scenario.offload, config.offload) or {} for config in configs]
    asked = {
        "pages": isinstance(scenario.workload, Bursts),
        "single packets": any(one.get("segmentation") for one in does),
    }
    for name in scenario.network_names:
        if (there := scenario.networks.get(name)) is None:
            continue
        asked["one path"] = there.over == "paths"
        for at in there.beyond_netem():
            for what in (what for what, other in asked.items() if other):
                why = f"links that do this are a program, which carries {what} alone"
                yield _refused(("networks", name, *at), why, ["model"])


def _refused(at: Path, why: str, engines: Iterable[str]) -> Problem:
    others = " or ".join(argument("engine", name) for name in engines)
    return Problem(at, why, f"run it with {others}, or take it out")


def _of_stack(key: str, value: str) -> tuple[str, str] | None:
    from rexmit import stacks

    return (work.problem if key.startswith(work.PREFIX) else stacks.problem)(key, value)
