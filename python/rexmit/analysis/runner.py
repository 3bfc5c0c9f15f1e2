"""What ran a run's transfers, in words: a kernel, or the model with its stacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rexmit.escaping import shown

#: Timer ticks a second where a run does not say.
_HZ = 250


@dataclass(frozen=True)
class Runner:
    """As run.json has it; None and empty where it does not say."""

    engine: str | None
    kernel: str | None = None  #: its release
    hz: int | None = None  #: None also where stacks differ in it
    patches: tuple[str, ...] = ()
    model: str | None = None  #: the model's version
    stacks: tuple[tuple[str, str], ...] = ()  #: configuration and stack of the model

    @property
    def name(self) -> str | None:
        """`Linux 6.12.117`, with `+PATCH`s or `, live`; `model of linux-3.10`; None: not known."""
        if self.engine == "model":
            there = ", ".join(dict.fromkeys(stack for _, stack in self.stacks))
            return f"model of {there}" if there else "model"
        own = ", live" if self.engine == "live" else ""
        return "+".join((f"Linux {self.kernel}", *self.patches)) + own if self.kernel else None

    @property
    def words(self) -> str:
        """`Linux 6.12.117, HZ 250`."""
        name = self.name or "kernel not recorded"
        return name if self.hz is None else f"{name}, HZ {self.hz}"

    @property
    def differing(self) -> str:
        """`er: linux-3.10, tlp: linux-6.12` where stacks differ, else nothing."""
        if len({stack for _, stack in self.stacks}) < 2:
            return ""
        return ", ".join(f"{config}: {stack}" for config, stack in self.stacks)

    @property
    def clock(self) -> str:
        """Whose time a transfer takes."""
        return "real time" if self.engine == "live" else "virtual time"

    @property
    def thing(self) -> str:
        """What settings are told to."""
        return "model" if self.engine == "model" else "kernel"


def runner(meta: Mapping[str, Any]) -> Runner:
    """Reads run.json leniently."""
    engine = meta.get("engine")
    engine = str(engine) if engine else None
    if engine == "model":
        return _model(_mapping(meta.get("model")))
    kernel = _mapping(meta.get("kernel"))
    return Runner(
        engine,
        kernel=kernel.get("version"),
        hz=kernel.get("hz"),
        patches=tuple(str(patch) for patch in kernel.get("patches") or ()),
    )


def column_head(ran: Runner) -> str:
    """`model of\\nlinux-3.10`, `Linux\\n6.12.117`."""
    name = shown(ran.name or "kernel not recorded")
    first, _, rest = name.rpartition(" ")
    return f"{first}\n{rest}" if first else rest


def column_heads(runs: Sequence[tuple[Runner, Path]]) -> list[str]:
    """One for each run. Those that would be alike have the end of their folder's path below, as
    much of it as tells them apart.
    """
    heads = [column_head(ran) for ran, _ in runs]
    texts = []
    for head, (_, path) in zip(heads, runs, strict=True):
        alike = [other for one, (_, other) in zip(heads, runs, strict=True) if one == head]
        texts.append(head if len(alike) == 1 else f"{head}\n{shown(_end(path, alike))}")
    return texts


def _end(path: Path, others: Sequence[Path]) -> str:
    """The last parts of a path that none of the others ends in."""
    parts = path.parts
    for count in range(1, len(parts)):
        end = parts[-count:]
        if sum(other.parts[-count:] == end for other in others) == 1:
            return "/".join(end)
    return str(path)


def tick_ns(meta: Mapping[str, Any]) -> int:
    """A tick of the timers, that of 250 Hz where it is not known."""
    return 1_000_000_000 // (runner(meta).hz or _HZ)


def _model(model: Mapping[str, Any]) -> Runner:
    stacks = {
        str(config): _mapping(stack) for config, stack in _mapping(model.get("stacks")).items()
    }
    ticks = {str(_mapping(stack.get("settings")).get("hz")) for stack in stacks.values()}
    hz = ticks.pop() if len(ticks) == 1 else ""
    version = model.get("version")
    return Runner(
        "model",
        hz=int(hz) if hz.isdecimal() else None,
        model=str(version) if version else None,
        stacks=tuple((config, str(stack.get("stack"))) for config, stack in stacks.items()),
    )


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
