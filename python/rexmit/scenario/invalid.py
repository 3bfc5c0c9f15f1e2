"""What is wrong with a value that does not fit where it stands, in words."""

from __future__ import annotations

import re
from typing import Final, get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from rexmit.errors import choice, closest
from rexmit.scenario.loss import RULES
from rexmit.scenario.model import SERVERS, Config, Ip, Scenario, Tcp, Vary
from rexmit.scenario.network import LAYOUTS, Link
from rexmit.scenario.offload import Offload
from rexmit.scenario.part import Kinds, Part
from rexmit.scenario.problem import Path, Problem, as_written
from rexmit.scenario.route import Route

_TABLES: Final[dict[str, type[BaseModel]]] = {
    "tcp": Tcp,
    "ip": Ip,
    "offload": Offload,
    "route": Route,
}


def invalid(detail: ErrorDetails) -> Problem:
    """One of pydantic's errors: the key, what about it, what to write instead."""
    kind, context = detail["type"], detail.get("ctx", {})
    path: Path = tuple(part for part in detail["loc"] if part != "[key]")
    kinds, own = _kinds(path), None
    if kinds is not None and kind == "union_tag_invalid":
        path, tag = (*path, kinds.key), str(context["tag"])
        near = closest(tag, list(kinds.tables))
        what = f'unknown "{tag}"' + (f'; did you mean "{near}"?' if near else "")
        return Problem(path, what, f"allowed: {description(path)}")
    if kinds is not None and len(path) > (depth := _depth(path)):
        # Which of the kinds it is stands behind the table's name.
        own, path = str(path[depth]), path[:depth] + path[depth + 1 :]
    expected = description(path, own)
    if kind == "extra_forbidden":
        if kinds is not None and own is not None and len(path) == _depth(path) + 1:
            table = ".".join(map(str, path[:-1]))
            if (foreign := kinds.foreign(str(path[-1]), own, table)) is not None:
                return Problem(path, *foreign)
        there = _table(path[:-1], own)
        keys = sorted(there.model_fields) if there else []
        key = str(path[-1])
        return Problem(path, "unknown key", _elsewhere(key) + choice(key, keys, "allowed here"))
    if kind == "missing":
        return Problem(path, "missing", f"allowed: {expected}" if expected else None)
    if kind == "rexmit":
        allowed = context.get("allowed") or expected
        if "key" in context:
            # Names of a stack's settings have no dots, but those of its tables; sysctls' have.
            key = str(context["key"])
            path = (*path, *(key.split(".") if path[-1] == "stack" else (key,)))
        return Problem(path, str(context["message"]), f"allowed: {allowed}" if allowed else None)
    what = f"{as_written(detail['input'])} does not fit"
    if kind == "literal_error" and isinstance(detail["input"], str):
        words = re.findall(r"'([^']*)'", str(context.get("expected", "")))
        near = closest(detail["input"], words)
        what = f'unknown "{detail["input"]}"' + (f'; did you mean "{near}"?' if near else "")
    return Problem(path, what, f"allowed: {expected}" if expected else None)


def _elsewhere(key: str) -> str:
    """The tables that have this key, where it stands in another."""
    tables: dict[str, tuple[type[BaseModel], ...]] = {
        "the top of the file": (Scenario,),
        "[networks.NAME]": tuple(LAYOUTS.tables.values()),
        "[configs.NAME]": (Config,),
        "[workload]": tuple(SERVERS.tables.values()),
        "[loss]": tuple(RULES.tables.values()),
        **{f"[{name}]": (table,) for name, table in _TABLES.items()},
    }
    have = [name for name, of in tables.items() if any(key in one.model_fields for one in of)]
    return f"{key} is a key of {' and '.join(have)}; " if have else ""


def description(path: Path, kind: str | None = None) -> str | None:
    """What may be written at `path`, or at the nearest field around it; `kind` of its table."""
    for length in range(len(path), 0, -1):
        table = _table(path[: length - 1], kind)
        field = table.model_fields.get(str(path[length - 1])) if table else None
        if field is not None:
            return field.description
    return None


def _kinds(path: Path) -> Kinds | None:
    """Of the table at the beginning of `path`, where there are several kinds of it."""
    match path:
        case ("networks", _, *_):
            return LAYOUTS
        case ("workload", *_):
            return SERVERS
        case ("loss", *_):
            return RULES
    return None


def _depth(path: Path) -> int:
    """How many parts of `path` name its table."""
    return 2 if path[0] == "networks" else 1


def _table(path: Path, kind: str | None) -> type[BaseModel] | None:
    """The model of the table at `path`, if there is one; of several that of this `kind`."""
    kinds = _kinds(path)
    if kinds is not None and len(path) == _depth(path):
        return kinds.tables.get(kind or kinds.default)
    match path:
        case ():
            return Scenario
        case ("networks", _, "links" | "paths", _):
            return Link
        case ("configs", _):
            return Config
        case ("configs", _, "offload" | "route" as name):
            return _TABLES[name]
        case ("vary", _):
            return Vary
        case (str(name),):
            return _TABLES.get(name)
        case (*_, str(name)):
            around = _table(path[:-1], kind)
            field = around.model_fields.get(name) if around else None
            inner = get_args(field.annotation if field else None)
            models = (one for one in inner if isinstance(one, type) and issubclass(one, Part))
            return next(models, None)
    return None
