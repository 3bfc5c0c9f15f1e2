"""The model's stacks as a scenario changes them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from rexmit import stacks
from rexmit.errors import UserError
from rexmit.scenario import offload, route, work
from rexmit.scenario.model import Scenario
from rexmit.scenario.problem import Locate, Path, nowhere


def of_scenario(
    scenario: Scenario, name: str | None, hz: int | None, where: Locate = nowhere
) -> dict[str, stacks.Stack]:
    """The stack of each configuration that runs; `where` says where a key stands.

    A configuration's own name and frequency go first, then what the command line asks for (`name`,
    `hz`), then the scenario's. Raises UserError for settings that do not go together.
    """
    built: dict[str, stacks.Stack] = {}
    for config in scenario.config_names:
        changes = dict(scenario.stack)
        if name is not None:
            changes["name"] = stacks.known(name)
        if hz is not None:
            changes["hz"] = str(hz)
        changes.update(scenario.configs[config].stack)
        changes, takes_ns = work.apart(changes)
        chosen = changes.pop("name", stacks.DEFAULT)
        try:
            does = offload.merged(scenario.offload, scenario.configs[config].offload)
            if does is not None:
                own = dict(stacks.stack(chosen, {}).settings)
                changes = offload.of_stack(does, chosen, own) | changes
            says = route.plan(scenario.route, scenario.configs[config].route)
            changes = route.of_stack(says) | changes
            stack = stacks.stack(chosen, changes, scenario.configs[config].sysctl)
        except ValueError as error:
            at = _key_of(str(error), config, scenario)
            raise UserError(
                f"{where(at)}: configuration {config}: {chosen}: {error}", usage=True
            ) from None
        built[config] = replace(stack, work_ns=takes_ns)
    return built


def _key_of(text: str, config: str, scenario: Scenario) -> Path:
    """The key that an error of a stack names; its configuration where none does."""
    own = scenario.configs[config]
    tables: dict[Path, Iterable[str]] = {
        ("configs", config, "sysctl"): own.sysctl,
        ("configs", config, "stack"): own.stack,
        ("stack",): scenario.stack,
    }
    for path, keys in tables.items():
        for key in keys:
            if re.search(rf"\b{re.escape(key)}\b", text):
                return (*path, key)
    return ("configs", config)
