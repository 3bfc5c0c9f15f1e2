"""The model's stacks as a scenario changes them."""

from __future__ import annotations

from dataclasses import replace

from rexmit import stacks
from rexmit.errors import UserError
from rexmit.scenario import offload, work
from rexmit.scenario.model import Scenario


def of_scenario(scenario: Scenario, name: str | None, hz: int | None) -> dict[str, stacks.Stack]:
    """The stack of each configuration that runs.

    A configuration's own name and frequency go first, then what the command line asks for (`name`,
    `hz`), then the scenario's. Raises UserError for settings that do not go together.
    """
    found: dict[str, stacks.Stack] = {}
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
            stack = stacks.stack(chosen, changes, scenario.configs[config].sysctl)
        except ValueError as error:
            raise UserError(f"configuration {config}: {chosen}: {error}", usage=True) from None
        found[config] = replace(stack, work_ns=takes_ns)
    return found
