"""Packet scripts on kernels in virtual time, by packetdrill."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Unpack

from rexmit.gate import scripts
from rexmit.library.judged import Judged, OnResult, OnStart, Tests, TestsKeywords, judged
from rexmit.options import given, takes


class Keywords(TestsKeywords, total=False):
    """Those of `Scripts` as keywords."""

    families: Sequence[str]
    arguments: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scripts(Tests):
    """How packet scripts run."""

    families: Sequence[str] = scripts.DEFAULT_FAMILIES
    arguments: Sequence[str] = ()


@takes(Scripts, Keywords)
def packetdrill(
    paths: str | PathLike[str] | Sequence[str | PathLike[str]],
    how: Scripts | None = None,
    *,
    on_start: OnStart = None,
    on_result: OnResult = None,
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
    scripts.known(how.families)
    tool = scripts.tool(how.tool)
    cases = scripts.cases(named, how.families, tool, how.arguments)
    return judged("packetdrill", cases, how, {"packetdrill": str(tool)}, on_start, on_result)
