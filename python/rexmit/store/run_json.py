"""What stands in a run's run.json: the one place that reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from rexmit.store import digests, formats
from rexmit.store.plain_json import (
    Check,
    anything,
    either,
    flag,
    list_of,
    mapping_of,
    nothing,
    number,
    one_of,
    read,
    shape,
    text,
    whole,
)

NAME: Final = "run.json"


class OtherFormatError(ValueError):
    """A run.json of another format; `found` is that."""

    def __init__(self, version: object) -> None:
        super().__init__(
            f"it has format {version}, this program reads and writes format {formats.RUN}"
        )
        self.found = version


def _name(value: object, where: str) -> None:
    text(value, where)
    assert isinstance(value, str)  # noqa: S101 - was just checked
    if not value or len(value) > 200 or value in (".", "..") or "/" in value:
        raise ValueError(f"{where} must be a name of at most 200 characters")


_VALUE: Final[Check] = either(nothing, text, number(), list_of(either(text, number())))
_LINK: Final[Check] = mapping_of(
    either(mapping_of(either(mapping_of(_VALUE), _VALUE)), _VALUE),
)
"""`up` is a table, in which tables may stand, too."""

_REPEAT: Final[Check] = either(nothing, whole(1))

_NETWORK: Final = shape(
    {
        "repeat": _REPEAT,
        "links": either(nothing, list_of(_LINK)),
        "paths": either(nothing, list_of(_LINK)),
    }
)

_TABLE: Final[Check] = mapping_of(anything)

_SCENARIO: Final = shape(
    {
        "title": either(nothing, text),
        "repeat": _REPEAT,
        "networks": mapping_of(_NETWORK),
        "configs": mapping_of(shape({"leave_out": list_of(text)})),
        "tcp": _TABLE,
        "workload": _TABLE,
        "ip": _TABLE,
        "loss": _TABLE,
        "stack": _TABLE,
        "vary": list_of(_TABLE),
    }
)

_HZ: Final = whole(1, 1_000_000_000)

_SEED: Final = whole(0, 2**64 - 1)

_STACK: Final = shape({"stack": text, "settings": mapping_of(text)})

_RUN: Final = shape(
    {
        "state": one_of("unfinished", "failed", "complete"),
        "name": _name,
        "rexmit": text,
        "created": text,
        "command": text,
        "engine": either(nothing, text),
        "kernel": either(
            nothing,
            shape({"version": text, "hz": _HZ, "patches": list_of(text), "hash": text}),
        ),
        "model": shape({"version": text, "hash": text, "stacks": mapping_of(_STACK)}),
        "guest": mapping_of(text),
        "scenario": _SCENARIO,
        "seed": either(text, list_of(either(text, _SEED)), _SEED),
        "capture": flag,
        "jobs": whole(1),
        "wall_s": number(),
        "virtual_s": number(),
        "cpu_s": number(),
        "peak_memory_bytes": whole(),
        "lateness": mapping_of(whole()),
        "transfers": whole(),
        "failed_cells": list_of(
            shape(
                {
                    "cell": whole(),
                    "label": text,
                    "message": text,
                    "console_tail": either(text, list_of(text)),
                    "splat": list_of(text),
                },
            )
        ),
        "ignored_settings": list_of(mapping_of(text)),
        "warnings": list_of(text),
        digests.KEY: digests.CHECK,
    }
)

NEEDED: Final = (
    "state",
    "created",
    "command",
    "wall_s",
    "virtual_s",
    "transfers",
    "failed_cells",
)
"""What this program reads of a run.json of its own, besides what the run's identity is."""

_WHOLE: Final = shape({}, needed=NEEDED)


def read_run(file: Path, *, own: bool = False) -> dict[str, Any]:
    """A run.json whose values are of their types and within their bounds; `own`: one that this
    program may go on from, with all that it needs for that.

    Raises OtherFormatError, ValueError for anything else that is none, and OSError.
    """
    return checked_run(read(file), own=own)


def checked_run(meta: dict[str, Any], *, own: bool = False) -> dict[str, Any]:
    """The same of what was read already. Raises ValueError as `read_run` does."""
    if "format" not in meta:
        raise ValueError("format is missing")
    version = meta["format"]
    if version != formats.RUN or isinstance(version, bool):
        raise OtherFormatError(version)
    _RUN(meta, "")
    if own:
        _WHOLE(meta, "")
    return meta
