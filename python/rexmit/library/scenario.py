"""Scenarios by name, from a file, or from what a run.json holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from rexmit import scenario as scenarios
from rexmit.errors import UserError
from rexmit.scenario import Scenario
from rexmit.scenario.load import Sources, check, read
from rexmit.scenario.problem import Locate
from rexmit.store.run_json import read_run

Settings = Mapping[str, object] | Iterable[str]
"""Changes to keys of a scenario: `{"network": "mobile", "loss.segments": "0..5"}`, or texts
`KEY=VALUE` as `--set` takes them."""


def open_scenario(
    spec: str | PathLike[str], settings: Settings = (), *, engine: str | None = None
) -> Scenario:
    """A scenario from its TOML file, by its name among those that come with rexmit, or from the
    run.json of a run, with keys changed by `settings`.

    Keys that `engine` does not obey are an error. Raises UserError where there
    is none, or with every problem of what it holds.
    """
    return named(spec, settings, engine=engine)[1]


def named(
    spec: str | PathLike[str], settings: Settings = (), *, engine: str | None = None
) -> tuple[str, Scenario, Locate]:
    """The name, the scenario, and where its keys stand; see `open_scenario`."""
    name, data, sources = _read(str(spec))
    return name, check(data, sources, texts(settings), engine=engine), sources.where


def _read(given: str) -> tuple[str, dict[str, Any], Sources]:
    if not given.endswith(".json"):
        file = scenarios.find(given)
        return file.stem, *read(file)
    try:
        meta = read_run(Path(given))
        name, data = meta["name"], meta["scenario"]
    except OSError as error:
        raise UserError(f"cannot read {given}: {error.strerror}", usage=True) from None
    except KeyError as error:
        what = f"{given} is no run.json of a run: {error.args[0]} is missing"
        raise UserError(what, usage=True) from None
    except ValueError as error:
        raise UserError(f"{given} is no run.json of a run: {error}", usage=True) from None
    return name, data, Sources(given)


def changed(scenario: Scenario, settings: Settings, *, engine: str) -> Scenario:
    """The scenario with keys changed. Raises UserError."""
    data = scenarios.effective(scenario)
    return scenarios.from_plain(data, where="scenario", settings=texts(settings), engine=engine)


def texts(settings: Settings) -> list[str]:
    """As `--set` takes them."""
    if isinstance(settings, Mapping):
        return [f"{key}={_text(value)}" for key, value in settings.items()]
    return list(settings)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ",".join(map(_text, value))
    return str(value)
