"""Whether an engine can run a scenario's configurations, told before anything runs.

Those for an optional patch of the kernel are left out where the engine does not have the patch;
those of Multipath TCP are refused where it does not have that, and what only the kernels of
multipath-tcp.org and the model have of it, schedulers and coupled congestion controls, on upstream
kernels.
"""

from __future__ import annotations

from typing import Final

from rexmit.engines.engine import Engine
from rexmit.errors import UserError, argument
from rexmit.scenario import Scenario
from rexmit.scenario.problem import Locate, Path, nowhere

COUPLED: Final = ("lia", "olia", "balia")
"""Congestion controls that couple subflows."""
UPSTREAM: Final = (5, 6)
"""The release since which Multipath TCP is upstream's; those of multipath-tcp.org end before."""
_MODEL: Final = f"run it with {argument('engine', 'model')} {argument('stack', 'linux-4.1')}"


def suited(
    scenario: Scenario, engine: Engine, where: Locate = nowhere
) -> tuple[Scenario, list[str]]:
    """The scenario without configurations that the engine lacks a patch for, and a line for each;
    `where` says at which line of which file a key stands.

    Raises UserError where one of them was asked for by its name, or none is left; for those that
    speak Multipath TCP where the engine does not; and for congestion controls that it does not
    have.
    """
    scenario, left_out = _with_patches(scenario, engine)
    _check_mptcp(scenario, engine)
    _check_old_line(scenario, engine)
    _check_controls(scenario, engine, where)
    return scenario, left_out


def _with_patches(scenario: Scenario, engine: Engine) -> tuple[Scenario, list[str]]:
    lacking = {
        name: (patch, lack)
        for name in scenario.config_names
        if (patch := scenario.configs[name].patch) is not None
        and (lack := engine.without_patch(patch)) is not None
    }
    if not lacking:
        return scenario, []
    left = [name for name in scenario.config_names if name not in lacking]
    if scenario.config is not None or not left:
        name, (patch, lack) = next(iter(lacking.items()))
        message = f"configuration {name} needs the patch {patch}, and {lack.why}"
        raise UserError(message, lack.remedy)
    notes = [
        f"configuration {name} is left out: it needs the patch {patch}, and {lack.why} "
        f"({lack.remedy})"
        for name, (patch, lack) in lacking.items()
    ]
    return scenario.model_copy(update={"config": tuple(left)}), notes


def _check_mptcp(scenario: Scenario, engine: Engine) -> None:
    plain = [name for name in scenario.config_names if scenario.configs[name].protocol == "tcp"]
    for name in scenario.config_names:
        if name not in plain and (lack := engine.without_mptcp(name)) is not None:
            others = (
                f"; or without it: {argument('settings')} config={','.join(plain)}" if plain else ""
            )
            raise UserError(
                f"configuration {name} is of Multipath TCP, and {lack.why}",
                f"{lack.remedy}{others}",
            )


def _check_old_line(scenario: Scenario, engine: Engine) -> None:
    """What upstream kernels have not, told before they refuse it cell by cell."""
    version = str(engine.identity().get("kernel", {}).get("version", "0.0"))
    release = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if release < UPSTREAM:
        return
    varied = [control for vary in scenario.vary for control in vary.congestion_control or ()]
    for control in (*scenario.tcp.congestion_control, *varied):
        if control in COUPLED:
            raise UserError(
                f"tcp.congestion_control = {control}: upstream's Multipath TCP, as Linux {version} "
                f"has it, couples no subflows",
                f"{_MODEL}, or set what the kernel has: cubic, reno",
            )
    for name in scenario.config_names:
        for key, value in scenario.configs[name].sysctl.items():
            if key == "net.mptcp.mptcp_scheduler":
                fault = "is of multipath-tcp.org's kernels"
            elif key == "net.mptcp.scheduler" and value != "default":
                fault = "is not there: Linux has the scheduler default alone"
            else:
                continue
            raise UserError(
                f"configuration {name}: {key} = {value} {fault}, and Linux {version} has "
                "upstream's Multipath TCP",
                f"{_MODEL}, or take it out",
            )


def _check_controls(scenario: Scenario, engine: Engine, where: Locate) -> None:
    key = "congestion_control"
    asked: list[tuple[Path, tuple[str, ...]]] = [(("tcp", key), scenario.tcp.congestion_control)]
    for index, vary in enumerate(scenario.vary):
        asked.append((("vary", index, key), vary.congestion_control or ()))
    for path, names in asked:
        for name in names:
            for config in scenario.config_names:
                lack = engine.without_control(config, name)
                if lack is not None:
                    text = ".".join(map(str, path))
                    what = f"{where(path)}: {text}: {lack.why}"
                    raise UserError(what, lack.remedy, usage=True)
