"""`--set KEY=VALUE`: changes to a scenario's plain data, before it is checked.

A key is a path with dots, `loss.segments`; `*` stands for every entry of a table
(`networks.*.loss=1%`); the name of a kernel setting keeps its dots (`configs.tlp.sysctl.net.ipv4.
tcp_sack=1`). A value is read as a number, true or false, a list by commas, else text; TOML of its
own where it starts with a bracket, brace or quote.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any, Final

from rexmit.errors import UserError, argument, by_caller, choice
from rexmit.scenario.problem import Path
from rexmit.toml_file import too_deep

DEEPEST: Final = 16
"""No key of a scenario has so many parts."""

_TEXTS = frozenset({"title", "about"})

_INSTEAD = {
    "size": "segments",
    "segments": "size",
    "burst_size": "burst_segments",
    "burst_segments": "burst_size",
}
"""Keys of the workload that take the place of one another."""


def _given() -> str:
    return argument("settings")


def apply(data: dict[str, Any], setting: str) -> Iterator[Path]:
    """Change `data` as one `--set` asks and yield the path of every value it set.

    Raises UserError where the text is no KEY=VALUE or the key leads nowhere.
    """
    try:
        setting.encode()
    except UnicodeEncodeError:
        raise UserError(f"{_given()} {setting!r}: this is no UTF-8 text", usage=True) from None
    key, equals, text = setting.partition("=")
    path = _split(key.strip())
    if not equals or not path:
        raise UserError(
            f"{_given()} {setting}: this is no KEY=VALUE",
            by_caller(
                called='for example: {"network": "mobile", "loss.segments": "0..20"}',
                typed="for example: --set network=mobile --set loss.segments=0..20",
            ),
            usage=True,
        )
    if len(path) > DEEPEST:
        raise UserError(
            f"{_given()} {path[0]}.{path[1]}.…: a key of {len(path):,} parts",
            "no key of a scenario lies so deep",
            usage=True,
        )
    value = _value(path, text.strip(), setting)
    if too_deep(value):
        raise UserError(
            f"{_given()} {key.strip()}=…: lists or tables lie too deep in one another",
            usage=True,
        )
    for full in list(_expand(data, path, setting)):
        _put(data, full, value)
        yield full


def _split(key: str) -> list[str]:
    parts = [
        quoted or bare for quoted, bare in re.findall(r'"([^"]*)"|([^."]+)', key) if quoted or bare
    ]
    # Names of kernel settings have dots of their own.
    if len(parts) > 3 and parts[0] == "configs" and parts[2] == "sysctl":
        parts[3:] = [".".join(parts[3:])]
    return parts


def _value(path: list[str], text: str, setting: str) -> object:
    if path[-1] in _TEXTS or {"sysctl", "stack"} & set(path[:-1]):
        return text
    if text[:1] in ("[", "{", '"', "'"):
        try:
            return tomllib.loads(f"value = {text}")["value"]
        except (ValueError, RecursionError) as error:
            raise UserError(
                f"{_given()} {setting}: the value is no TOML ({error})",
                by_caller(
                    called="write a list of tables as [{…}, {…}]",
                    typed="quote the whole for the shell: --set 'KEY=[{…}, {…}]'",
                ),
                usage=True,
            ) from None
    try:
        items = [_scalar(item.strip()) for item in text.split(",")]
    except ValueError:
        raise UserError(
            f"{_given()} {_text(tuple(path))}: a number of too many digits", usage=True
        ) from None
    if "" in items:
        raise UserError(
            f"{_given()} {setting}: a value is missing",
            "one value, or several with commas between",
            usage=True,
        )
    return items[0] if len(items) == 1 else items


def _scalar(text: str) -> int | bool | str:
    if re.fullmatch(r"-?[0-9]{1,40}", text):
        return int(text)
    return {"true": True, "false": False}.get(text, text)


def _expand(data: dict[str, Any], path: list[str], setting: str) -> Iterator[Path]:
    def walk(node: object, done: Path, rest: list[str]) -> Iterator[Path]:
        if not rest:
            yield done
            return
        part = rest[0]
        if part == "*" and isinstance(node, dict) and node:
            for name in node:
                yield from walk(node[name], (*done, name), rest[1:])
            return
        step: str | int = part
        inner: object = None
        if isinstance(node, list):
            if not re.fullmatch("[0-9]{1,9}", part) or int(part) >= len(node):
                raise UserError(
                    f"{_given()} {setting}: {_text(done)} is a list of {len(node)}, not {part}",
                    f"its entries are 0 to {len(node) - 1}",
                    usage=True,
                )
            step = int(part)
            inner = node[step]
        elif isinstance(node, dict):
            if done in (("networks",), ("configs",)) and part not in node:
                raise UserError(
                    f"{_given()} {setting}: there is no {_text((*done, part))}",
                    choice(part, node, f"{done[0]} here"),
                    usage=True,
                )
            inner = node.get(part)
        elif node is not None:
            raise UserError(
                f"{_given()} {setting}: {_text(done)} is a value and has no keys",
                f"write {_given()} {_text(done)}=VALUE",
                usage=True,
            )
        yield from walk(inner, (*done, step), rest[1:])

    yield from walk(data, (), path)


def _put(data: dict[str, Any], path: Path, value: object) -> None:
    # The path was walked before, so every step is there or may be made.
    node: Any = data
    for part in path[:-1]:
        node = node.setdefault(part, {}) if isinstance(node, dict) else node[part]
    node[path[-1]] = value
    if path == ("seed",):
        data.pop("seeds", None)
    if path == ("repeat",):
        # One number for the whole campaign, so it goes before the networks' own.
        for network in data.get("networks", {}).values():
            if isinstance(network, dict):
                network.pop("repeat", None)
    if len(path) == 2 and path[0] == "workload" and path[1] in _INSTEAD:
        node.pop(_INSTEAD[str(path[1])], None)


def _text(path: Path) -> str:
    return ".".join(str(part) for part in path)
