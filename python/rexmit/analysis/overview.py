"""What the run was: what ran it, scenario, seed, what failed, and the command that repeats it."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from rexmit.analysis.runner import Runner, runner
from rexmit.analysis.units import seed_words
from rexmit.store.open_run import Run


@dataclass(frozen=True)
class FailedCell:
    """A cell that did not end, with the kernel's last lines, or what it said of a defect of its own
    (`splat`)."""

    cell: int | None
    label: str
    message: str
    console_tail: str
    splat: str


@dataclass(frozen=True)
class Ignored:
    """A setting that the kernel took and does nothing with (or the model, and does not heed)."""

    config: str
    setting: str
    why: str


@dataclass(frozen=True)
class Note:
    """What the rows of some transfers remark; the first text where they differ in numbers only."""

    text: str
    transfers: int
    alike: bool  #: all of them say the very same


@dataclass(frozen=True)
class Overview:
    """The head of everything shown of a run; None where run.json does not say."""

    path: str
    scenario: str | None
    title: str | None
    runner: Runner
    seeds: str | None  #: `seed 1`, and of several how they were pooled
    created: str | None
    conditions: str | None  #: page, programs, congestion control, protocol, how the tail is found
    transfers: int
    wall_s: float | None
    virtual_s: float | None
    ignored: tuple[Ignored, ...]
    failed: tuple[FailedCell, ...]
    warnings: tuple[str, ...]
    notes: tuple[Note, ...]
    command: str | None


def overview(run: Run) -> Overview:
    """Reads run.json leniently: what is missing is None or empty."""
    meta = run.meta
    scenario = run.scenario
    name = meta.get("name")
    return Overview(
        path=str(run.path),
        scenario=str(name) if name else None,
        title=scenario.get("title"),
        runner=runner(meta),
        seeds=seed_words(run),
        created=meta.get("created"),
        conditions=_conditions(scenario),
        transfers=run.transfers.height,
        wall_s=meta.get("wall_s"),
        virtual_s=meta.get("virtual_s"),
        ignored=tuple(
            Ignored(str(i.get("config", "")), str(i.get("setting", "")), str(i.get("why", "")))
            for i in map(_dict, meta.get("ignored_settings") or ())
        ),
        failed=tuple(_failed(_dict(f)) for f in meta.get("failed_cells") or ()),
        warnings=tuple(str(w) for w in meta.get("warnings") or ()),
        notes=_notes(run.transfers["note"]),
        command=run.command,
    )


def overview_data(view: Overview) -> dict[str, Any]:
    """Every field by its name; what ran it stands among the others."""
    data = asdict(view)
    ran = data.pop("runner")
    return {**data, **ran, "stacks": dict(view.runner.stacks)}


def _conditions(scenario: dict[str, Any]) -> str | None:
    """`page of 100 segments, nginx to builtin, cubic, IPv4, tail found by sequence`; several values
    as the scenario lists them; what it does not say is left out.
    """
    work, loss = _dict(scenario.get("workload")), _dict(scenario.get("loss"))
    ip, tcp = _dict(scenario.get("ip")), _dict(scenario.get("tcp"))
    page = f"page of {_listed(work['segments'])} segments" if work.get("segments") else None
    if page is None and work.get("size"):
        page = f"page of {_listed(work['size'])}"
    if work.get("server") == "burst":
        page = _bursts(work)
    programs = [_listed(work[key]) for key in ("server", "client") if work.get(key)]
    window = work.get("receive_window")
    facts = [
        page,
        " to ".join(programs) or None if work.get("server") != "burst" else None,
        f"receive window {_listed(window)}" if window and window != "auto" else None,
        _listed(tcp["congestion_control"]) if tcp.get("congestion_control") else None,
        f"IPv{ip['family']}" if ip.get("family") else None,
        f"MTU {ip['mtu']}" if ip.get("mtu") not in (None, 1500) else None,
        f"tail found by {_listed(loss['mode'])}"
        if loss.get("mode") and loss.get("rule") != "pattern"
        else None,
    ]
    return ", ".join(fact for fact in facts if fact) or None


def _bursts(work: dict[str, Any]) -> str:
    each = work.get("burst_size") or f"{work.get('burst_segments')} segments"
    if work.get("request"):
        thinks = f"client thinks {work.get('gap')}, server {work.get('server_think', 'not at all')}"
        words = f"{work.get('bursts')} requests of {work['request']}, answers of {each}, {thinks}"
    else:
        words = f"{work.get('bursts')} bursts of {each}, {work.get('gap')} apart"
    late = work.get("last_byte_after")
    return f"{words}, last byte {late} after the others" if late else words


def _listed(value: object) -> str:
    values = value if isinstance(value, list | tuple) else [value]
    return "/".join(map(str, values))


def _notes(column: pl.Series) -> tuple[Note, ...]:
    alike: dict[str, list[str]] = {}
    for text in column.drop_nulls():
        alike.setdefault(re.sub(r"\d+(\.\d+)?", "#", text), []).append(text)
    return tuple(Note(texts[0], len(texts), len(set(texts)) == 1) for texts in alike.values())


def _failed(entry: dict[str, Any]) -> FailedCell:
    return FailedCell(
        cell=entry.get("cell"),
        label=str(entry.get("label", "")),
        message=str(entry.get("message", "")),
        console_tail=_text(entry.get("console_tail")),
        splat=_text(entry.get("splat")),
    )


def _text(lines: object) -> str:
    return "\n".join(map(str, lines)) if isinstance(lines, list) else str(lines or "")


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
