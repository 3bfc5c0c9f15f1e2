"""The `model` engine: our own TCP in our own network, in this process, on any machine."""

from __future__ import annotations

import hashlib
import json
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from rexmit import stacks
from rexmit.engines.engine import PLAN_VERSION, Calls, Lack, Task
from rexmit.engines.intake import EVENTS, Intake
from rexmit.engines.shares import PrivateFolder
from rexmit.errors import argument, choice
from rexmit.kernels import recipe
from rexmit.stacks import Stack
from rexmit.store.record import Record

if TYPE_CHECKING:
    from rexmit._core import Batch

NAME: Final = "model"

_CONTROL: Final = "net.ipv4.tcp_congestion_control"
CONTROLS: Final = ("cubic", "reno", "bbr", "dctcp")
"""What is named by a sysctl: every stack has the first two."""

RunModel = Callable[[str, str | None], tuple[str, Mapping[str, "Batch"]]]
"""See `rexmit._core.run_model`."""


@dataclass(frozen=True, slots=True)
class ModelEngine:
    """The model with the stack that each configuration has."""

    run_model: RunModel
    version: str
    hash: str
    stacks: Mapping[str, Stack]
    """By configuration."""
    choice: tuple[str, ...]
    """The words of the command line that chose stacks."""

    @classmethod
    def open(cls, version: str, stacks: Mapping[str, Stack], choice: Iterable[str]) -> Self:
        """The engine of this package. Raises UserError where it was not built."""
        from rexmit.stacks import core

        compiled = core()
        file = Path(str(compiled.__file__))
        return cls(
            run_model=compiled.run_model,
            version=version,
            hash=hashlib.sha256(file.read_bytes()).hexdigest()[:16],
            stacks=stacks,
            choice=tuple(choice),
        )

    @property
    def name(self) -> str:
        """See Engine."""
        return NAME

    @property
    def slug(self) -> str:
        """See Engine."""
        return "-".join(["model", *dict.fromkeys(stack.name for stack in self.stacks.values())])

    @property
    def words(self) -> list[str]:
        """See Engine."""
        return ["--engine", NAME, *self.choice]

    def identity(self) -> dict[str, Any]:
        """See Engine."""
        return {
            "model": {
                "version": self.version,
                "hash": self.hash,
                "stacks": {config: stack.plain() for config, stack in self.stacks.items()},
            }
        }

    def hz(self, config: str) -> int:
        """See Engine."""
        return self.stacks[config].hz

    def without_patch(self, name: str) -> Lack | None:
        """See Engine. What the optional patches of kernels add is a setting of its stacks."""
        known = recipe.optional_names()
        if name in known:
            return None
        return Lack("the model knows no such patch", choice(name, known, "it knows"))

    def without_mptcp(self, config: str) -> Lack | None:
        """See Engine."""
        stack = self.stacks[config]
        if stack.has_mptcp:
            return None
        able = ", ".join(name for name in stacks.names() if stacks.stack(name, {}).has_mptcp)
        return Lack(f"the stack {stack.name} does not have it", f"name one that has: {able}")

    def without_control(self, config: str, name: str) -> Lack | None:
        """See Engine."""
        stack = self.stacks[config]
        try:
            stacks.stack(stack.name, stack.changes, {_CONTROL: name})
        except ValueError as error:
            kernel = f"or run it with {argument('engine', 'kernel')}"
            remedy = f"{choice(name, CONTROLS, 'it has')}; {kernel}"
            return Lack(f"{stack.name}: {str(error).removeprefix(f'{_CONTROL} = ')}", remedy)
        return None

    def run(self, tasks: Iterable[Task], calls: Calls, *, jobs: int) -> None:
        """See Engine. Cells run in threads, which go down with the program when it is interrupted;
        what they still write to is removed."""
        waiting = iter(tasks)
        ended: queue.SimpleQueue[_Cell] = queue.SimpleQueue()
        running: list[_Cell] = []
        try:
            while True:
                while len(running) < jobs and (task := next(waiting, None)) is not None:
                    cell = _Cell(task, self._cell(task), ended)
                    running.append(cell)
                    threading.Thread(target=cell.run, args=(self.run_model,), daemon=True).start()
                if not running:
                    return
                cell = ended.get()
                _hand_over(cell, calls)
                running.remove(cell)
                cell.close()
        finally:
            for cell in running:
                cell.close()

    def _cell(self, task: Task) -> dict[str, Any]:
        stack = self.stacks[task.config]
        return {**task.plan, "seed": task.seed, "stack": stack.plan()}


class _Cell:
    """A cell under way in a thread of its own."""

    def __init__(
        self, task: Task, plan: Mapping[str, Any], ended: queue.SimpleQueue[_Cell]
    ) -> None:
        self.task = task
        self.text = ""
        self.tables: Mapping[str, Batch] = {}
        self.error: BaseException | None = None
        self.cpu_s = 0.0
        self.folder = PrivateFolder() if plan["capture"] else None
        self._plan = plan
        self._ended = ended

    def run(self, run_model: RunModel) -> None:
        """Run it, keep what it says or how it failed, and report the end."""
        began = time.thread_time()
        try:
            share = None
            if self.folder is not None:
                (self.folder.path / "captures").mkdir()
                share = str(self.folder.path)
            plan = {"version": PLAN_VERSION, "cells": [self._plan]}
            self.text, self.tables = run_model(json.dumps(plan), share)
        except BaseException as error:
            self.error = error
        self.cpu_s = time.thread_time() - began
        self._ended.put(self)

    @property
    def captures(self) -> Path | None:
        """See Calls.on_end."""
        return None if self.folder is None else self.folder.path / "captures"

    def close(self) -> None:
        """Remove its files."""
        if self.folder is not None:
            self.folder.remove()


def _hand_over(cell: _Cell, calls: Calls) -> None:
    record = _record(cell, calls.on_transfers)
    calls.on_end(record, cell.captures)


def _record(cell: _Cell, on_transfers: Callable[[int], None]) -> Record:
    """The record of a cell that has ended."""
    done = 0

    def count(transfers: int) -> None:
        nonlocal done
        done += transfers

    intake = Intake(cell.task, count, teller="the model")
    times: list[int] = []
    if cell.error is not None:
        intake.fail(_words(cell.error), [])
    elif (events := _events(cell.text)) is None:
        intake.fail("the model wrote a line that is no event; build the package again", [])
    else:
        for event in events:
            if isinstance(at := event.get("virtual_ns"), int):
                times.append(at)
            if event["type"] == "cell-end":
                intake.take_rows(cell.tables)
            if event["type"] in EVENTS:
                intake.take(event)
        intake.fail("the model did not run it to its end", [])
    # One step a cell: the model is done with all of it at once.
    if done:
        on_transfers(done)
    record = intake.record
    record.cpu_s = round(cell.cpu_s, 6)
    record.peak_memory_bytes = _memory_bytes()
    record.virtual_ns = max(times) - min(times) if times else 0
    return record


def _events(text: str) -> list[dict[str, Any]] | None:
    """None where a line is no event."""
    try:
        events = json.loads(f"[{','.join(text.splitlines())}]")
    except (ValueError, RecursionError):
        return None
    if all(isinstance(one, dict) and isinstance(one.get("type"), str) for one in events):
        return list(events)
    return None


def _words(error: BaseException) -> str:
    text = str(error).strip()
    if isinstance(error, ValueError) and text:
        return text
    return f"the model broke off: {type(error).__name__}: {text}"


def _memory_bytes() -> int:
    """The most memory that this process has had."""
    try:
        import resource
    except ImportError:  # no such thing on Windows
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
