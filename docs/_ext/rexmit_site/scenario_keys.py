"""The keys of scenario files, as the models of `rexmit.scenario` have them, as a document:
`PYTHONPATH=docs/_ext python -m rexmit_site.scenario_keys > docs/reference/scenario-keys.md`.
"""

from __future__ import annotations

import json
import typing
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from rexmit.library.run import ENGINES
from rexmit.scenario import Scenario
from rexmit.scenario.part import obedience
from rexmit.scenario.work import NAMES
from rexmit_site.markdown import code, plain, table, together

HEAD: Final = """\
# Scenario keys

Made from `python/rexmit/scenario`; `PYTHONPATH=docs/_ext python -m rexmit_site.scenario_keys > docs/reference/scenario-keys.md` makes it again. Every key of a [scenario file](scenarios.md), as the program checks it. No entry under *default* means that nothing is set, or that another key's value holds. *Engine* says whether the engines kernel, model and live all do what a key says; one that does not refuses, when the scenario is read, any value but the default, for the reason behind its name.
"""  # noqa: E501 - a paragraph is a line
"""What stands above the tables."""

TITLES: Final = {
    "": "The top of the file",
    "networks": "[networks.NAME]",
    "links": "Entries of links and paths",
    "paths": "Entries of links and paths",
    "configs": "[configs.NAME]",
    "vary": "[[vary]]",
}
"""Of tables whose title is not `[NAME]`."""


def _models(annotation: Any) -> list[type[BaseModel]]:  # noqa: ANN401
    """The tables that an annotation speaks of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    found: list[type[BaseModel]] = []
    for inner in typing.get_args(annotation):
        found += [model for model in _models(inner) if model not in found]
    return found


def tables() -> Mapping[str, list[type[BaseModel]]]:
    """The kinds of each table by its title, in the order of the file; all that a scenario has."""
    found: dict[str, list[type[BaseModel]]] = {}

    def walk(name: str, models: list[type[BaseModel]]) -> None:
        kinds = found.setdefault(TITLES.get(name, f"[{name}]"), [])
        new = [model for model in models if model not in kinds]
        kinds += new
        for model in new:
            for key, field in model.model_fields.items():
                if inner := _models(field.annotation):
                    walk(key, inner)

    walk("", [Scenario])
    return found


def _default(model: type[BaseModel], key: str, field: FieldInfo) -> str:
    """As it is written in a file; empty where nothing is."""
    if field.is_required():
        return "must be given"
    default = field.get_default(call_default_factory=True)
    if default is None or default in ({}, (), "") or isinstance(default, BaseModel):
        return ""
    alone = model.model_construct(**{key: default})
    written = alone.model_dump(mode="json", include={key}, warnings=False).get(key, default)
    one = isinstance(written, list) and len(written) == 1
    written = written[0] if one else written
    return code(json.dumps(written))


def _engines(kinds: list[type[BaseModel]], key: str) -> str:
    """Which obey a key, as one of these tables has it, and why the others refuse it."""
    for model in kinds:
        if key in model.model_fields and (there := obedience(model, key)) is not None:
            others = ", ".join(name for name in ENGINES if name not in there.engines)
            return f"{', '.join(there.engines)}; {others}: {plain(there.why)}"
    return "all"


def scenario_keys() -> str:
    """A table of keys for each table of the file."""
    parts = []
    for title, kinds in tables().items():
        rows: dict[str, list[str]] = {}
        for model in kinds:
            for key, field in model.model_fields.items():
                engines = _engines(kinds, key)
                says = plain(field.description or "")
                row = [code(key), says, _default(model, key, field), engines]
                rows.setdefault(key, row)
        parts += [
            f"## {plain(title)}",
            table(["key", "what may be written", "default", "engine"], rows.values()),
        ]
    work = ", ".join(code(name) for name in NAMES)
    of_stack = (
        "`name` is a stack, `hz` the ticks of its timers a second; every other key is a setting of "
        f"[stacks](stacks.md). Keys of `[stack.work]` are durations: {work}."
    )
    return together([*parts, r"## \[stack\]", of_stack])


if __name__ == "__main__":
    print(f"{HEAD}\n{scenario_keys()}")
