"""What the run was: kernel, scenario, seed, what failed, and the command that repeats it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rexmit.tables.run_folder import Run


@dataclass(frozen=True)
class FailedCell:
    """A cell that did not end, with the kernel's last lines."""

    cell: int | None
    label: str
    message: str
    console_tail: str


@dataclass(frozen=True)
class Ignored:
    """A setting that the kernel took and does nothing with."""

    config: str
    setting: str
    why: str


@dataclass(frozen=True)
class Overview:
    """The head of everything shown of a run; None where run.json does not say."""

    path: str
    scenario: str | None
    title: str | None
    engine: str | None
    kernel: str | None
    hz: int | None
    patches: tuple[str, ...]
    seed: int | None
    created: str | None
    transfers: int
    wall_s: float | None
    virtual_s: float | None
    ignored: tuple[Ignored, ...]
    failed: tuple[FailedCell, ...]
    warnings: tuple[str, ...]
    command: str | None


def overview(run: Run) -> Overview:
    """Reads run.json leniently: what is missing is None or empty."""
    meta = run.meta
    kernel = _dict(meta.get("kernel"))
    scenario = run.scenario
    name = meta.get("name")
    return Overview(
        path=str(run.path),
        scenario=str(name) if name else None,
        title=scenario.get("title"),
        engine=meta.get("engine"),
        kernel=kernel.get("version"),
        hz=kernel.get("hz"),
        patches=tuple(str(p) for p in kernel.get("patches") or ()),
        seed=meta.get("seed"),
        created=meta.get("created"),
        transfers=run.transfers.height,
        wall_s=meta.get("wall_s"),
        virtual_s=meta.get("virtual_s"),
        ignored=tuple(
            Ignored(str(i.get("config", "")), str(i.get("setting", "")), str(i.get("why", "")))
            for i in map(_dict, meta.get("ignored_settings") or ())
        ),
        failed=tuple(_failed(_dict(f)) for f in meta.get("failed_cells") or ()),
        warnings=tuple(str(w) for w in meta.get("warnings") or ()),
        command=run.command,
    )


def _failed(entry: dict[str, Any]) -> FailedCell:
    tail = entry.get("console_tail") or ""
    return FailedCell(
        cell=entry.get("cell"),
        label=str(entry.get("label", "")),
        message=str(entry.get("message", "")),
        console_tail="\n".join(map(str, tail)) if isinstance(tail, list) else str(tail),
    )


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
