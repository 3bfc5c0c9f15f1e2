"""Packet scripts on kernels in virtual time, by packetdrill."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, Unpack

from rexmit.engines.kernel import HANG_LIMIT_S, find_kernel
from rexmit.errors import UserError, argument
from rexmit.gate import scripts, session, verdicts
from rexmit.gate.attempts import Bench
from rexmit.gate.formats import as_json, junit
from rexmit.gate.verdicts import Result
from rexmit.kernels import recipe
from rexmit.options import given, takes, whole, workers


@dataclass(frozen=True, slots=True)
class Judged:
    """What packet scripts say of a kernel."""

    kernel: str
    """The kernel's name."""
    hz: int
    tool: Path
    """The packetdrill that ran."""
    results: tuple[Result, ...]
    """One for each script and family of addresses."""

    @property
    def exit_status(self) -> int:
        """0: all are good, 1: one is worse, 3: the kernel warned of a defect of its own, 125: one
        has no verdict, and none is worse."""
        return verdicts.exit_status(self.results)

    def as_json(self) -> dict[str, Any]:
        """For a program."""
        made_by = {"kernel": self.kernel, "hz": self.hz, "packetdrill": str(self.tool)}
        return as_json(self.results, made_by)

    def junit(self) -> bytes:
        """A JUnit report."""
        return junit(self.results)


class Keywords(TypedDict, total=False):
    """Those of `Scripts` as keywords."""

    kernel: str | None
    tool: str | PathLike[str] | None
    families: Sequence[str]
    arguments: Sequence[str]
    repeat: int
    jobs: int | None
    seed: int
    memory: int
    hang_limit_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scripts:
    """How packet scripts run. Raises UserError (usage) for numbers out of their range."""

    kernel: str | None = None
    tool: str | PathLike[str] | None = None
    families: Sequence[str] = scripts.DEFAULT_FAMILIES
    arguments: Sequence[str] = ()
    repeat: int = 1
    jobs: int | None = None
    seed: int = 1
    memory: int = 256
    hang_limit_s: float | None = HANG_LIMIT_S

    def __post_init__(self) -> None:
        whole("repeat", self.repeat, 1)
        workers(self.jobs)


@takes(Scripts, Keywords)
def packetdrill(
    paths: str | PathLike[str] | Sequence[str | PathLike[str]],
    how: Scripts | None = None,
    *,
    on_start: Callable[[str, int], None] | None = None,
    on_result: Callable[[Result], None] | None = None,
    **keywords: Unpack[Keywords],
) -> Judged:
    """Runs packet scripts, files and folders of them, on a kernel in virtual time.

    `tool` is the packetdrill that runs them, as it is; None: the one on PATH. Each script runs with
    each of `families` (ipv4, ipv6, ipv4-mapped-ipv6), `repeat` times, in a kernel that has done
    nothing else, `jobs` kernels at a time; `arguments` are packetdrill's own. Where the folder of
    the scripts has a file `config` that asks for a frequency of the timer, `kernel` is taken with
    that one, unless it names another. `on_start` gets the kernel in words and the number of results
    to come, `on_result` each result, in the order of the scripts.

    Raises UserError where there is no such kernel, script or packetdrill.
    """
    how = given(how, Scripts, keywords)
    named = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    cases = scripts.cases(named, how.families)
    tool = scripts.tool(how.tool)
    kernel = find_kernel(_with_hz(how.kernel, scripts.hz(case.script for case in cases)))
    if kernel.image is not None:
        raise UserError(
            f"{kernel.name} is an image: packet scripts run on kernels that rexmit built",
            "rexmit kernel build FOLDER builds one from its source",
        )
    if on_start is not None:
        on_start(f"{kernel.name}, HZ {kernel.hz}", len(cases))
    bench = Bench(tool, how.arguments, kernel.path, how.seed, f"{how.memory}M", how.hang_limit_s)
    results = []
    for result in session.results(bench, cases, repeat=how.repeat, jobs=how.jobs):
        results.append(result)
        if on_result is not None:
            on_result(result)
    return Judged(kernel.name, kernel.hz, tool, tuple(results))


def _with_hz(spec: str | None, hz: int | None) -> str | None:
    """The kernel that is meant, with the timer frequency that scripts ask for where the caller
    names a series alone."""
    series, plus, patches = (spec or recipe.DEFAULT_SERIES).partition("+")
    if hz is None or not recipe.is_series(series):
        return spec
    if hz not in recipe.HZ_CHOICES:
        raise UserError(
            f"the scripts ask for HZ {hz}, and no kernel is built with it",
            f"name a kernel: {argument('kernel')} {series}@1000",
        )
    return f"{series}@{hz}{plus}{patches}"
