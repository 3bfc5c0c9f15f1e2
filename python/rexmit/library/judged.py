"""Tests on kernels in virtual time, a kernel each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypedDict

from rexmit.engines.kernel import HANG_LIMIT_S, find_kernel
from rexmit.errors import UserError, argument
from rexmit.gate import scripts, session, verdicts
from rexmit.gate.attempts import Bench, Test
from rexmit.gate.formats import as_json, junit
from rexmit.gate.verdicts import Result
from rexmit.kernels import recipe
from rexmit.options import whole, workers


@dataclass(frozen=True, slots=True)
class Judged:
    """What tests say of a kernel."""

    command: str
    """Which command of rexmit ran them."""
    kernel: str
    """The kernel's name."""
    hz: int
    made_by: dict[str, str]
    """What else took part, by what it is."""
    results: tuple[Result, ...]

    @property
    def exit_status(self) -> int:
        """0: all are good, 1: one is worse, 3: the kernel warned of a defect of its own, 125: one
        has no verdict, and none is worse."""
        return verdicts.exit_status(self.results)

    def as_json(self) -> dict[str, Any]:
        """For a program."""
        made_by = {"command": self.command, "kernel": self.kernel, "hz": self.hz, **self.made_by}
        return as_json(self.results, made_by)

    def junit(self) -> bytes:
        """A JUnit report."""
        return junit(self.results, self.command)


class TestsKeywords(TypedDict, total=False):
    """Those of `Tests` as keywords."""

    kernel: str | None
    tool: str | PathLike[str] | None
    repeat: int
    jobs: int | None
    seed: int
    memory: int
    hang_limit_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tests:
    """How tests run. Raises UserError (usage) for numbers out of their range."""

    kernel: str | None = None
    tool: str | PathLike[str] | None = None
    repeat: int = 1
    jobs: int | None = None
    seed: int = 1
    memory: int = 256
    hang_limit_s: float | None = HANG_LIMIT_S

    def __post_init__(self) -> None:
        whole("repeat", self.repeat, 1)
        workers(self.jobs)


OnStart = Callable[[str, int], None] | None
"""Gets the kernel in words and the number of results to come."""

OnResult = Callable[[Result], None] | None
"""Gets each result, in the order of the tests."""


def judged(
    command: str,
    tests: Sequence[Test],
    how: Tests,
    made_by: dict[str, str],
    on_start: OnStart,
    on_result: OnResult,
) -> Judged:
    """Runs tests on the kernel that `how` says. Raises UserError where there is none."""
    kernel = find_kernel(_with_hz(how.kernel, scripts.hz(test.script for test in tests)))
    if kernel.image is not None:
        raise UserError(
            f"{kernel.name} is an image: tests run on kernels that rexmit built",
            "rexmit kernel build FOLDER builds one from its source",
        )
    if on_start is not None:
        on_start(f"{kernel.name}, HZ {kernel.hz}", len(tests))
    bench = Bench(kernel.path, how.seed, f"{how.memory}M", how.hang_limit_s)
    results = []
    for result in session.results(bench, tests, repeat=how.repeat, jobs=how.jobs):
        results.append(result)
        if on_result is not None:
            on_result(result)
    return Judged(command, kernel.name, kernel.hz, made_by, tuple(results))


def _with_hz(spec: str | None, hz: int | None) -> str | None:
    """The kernel that is meant, with the timer frequency that a file `config` beside the tests asks
    for where the caller names a series alone."""
    series, plus, patches = (spec or recipe.DEFAULT_SERIES).partition("+")
    if hz is None or not recipe.is_series(series):
        return spec
    if hz not in recipe.HZ_CHOICES:
        raise UserError(
            f"the scripts ask for HZ {hz}, and no kernel is built with it",
            f"name a kernel: {argument('kernel')} {series}@1000",
        )
    return f"{series}@{hz}{plus}{patches}"
