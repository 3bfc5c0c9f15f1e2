"""Configurations for kernels with an optional patch: left out where the kernel does not have it."""

from __future__ import annotations

from rexmit.engines.engine import Engine
from rexmit.errors import UserError
from rexmit.scenario import Scenario


def suited(scenario: Scenario, engine: Engine) -> tuple[Scenario, list[str]]:
    """The scenario without configurations that the engine cannot run, and a line for each of them.

    Raises UserError where one of them was asked for by its name, or none is left.
    """
    lacking = {
        name: patch
        for name in scenario.config_names
        if (patch := scenario.configs[name].patch) is not None and not engine.has_patch(patch)
    }
    if not lacking:
        return scenario, []
    name, patch = next(iter(lacking.items()))
    left = [name for name in scenario.config_names if name not in lacking]
    if scenario.config is not None or not left:
        series = ".".join(engine.slug.split(".")[:2])
        raise UserError(
            f"configuration {name} needs the patch {patch}, and {engine.slug} does not have it",
            f"rexmit kernel build {series} --patch {patch}, then --kernel {series}+{patch}; "
            "or --engine model",
        )
    said = [
        f"configuration {name} is left out: it needs the patch {patch}, and {engine.slug} does not "
        "have it"
        for name, patch in lacking.items()
    ]
    return scenario.model_copy(update={"config": tuple(left)}), said
