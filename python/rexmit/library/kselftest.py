"""The kernel's own tests on kernels in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import Unpack

from rexmit.gate import selftests
from rexmit.library.judged import Judged, OnResult, OnStart, Tests, TestsKeywords, judged
from rexmit.options import given, takes


class Keywords(TestsKeywords, total=False):
    """Those of `Selftests` as keywords."""

    scripts_from: str | PathLike[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Selftests(Tests):
    """How the kernel's own tests run."""

    scripts_from: str | PathLike[str] | None = None


@takes(Selftests, Keywords)
def kselftest(
    target: str,
    how: Selftests | None = None,
    *,
    on_start: OnStart = None,
    on_result: OnResult = None,
    on_note: Callable[[str], object] = lambda _: None,
    **keywords: Unpack[Keywords],
) -> Judged:
    """Runs the kernel's own tests of a folder (`net/packetdrill`), or one (`net:fib_tests.sh`), by
    the runner that their tree brings, on a kernel in virtual time.

    They come from `scripts_from`, a kernel's source tree, a tarball or a series; None: from what
    the kernel was built from. Everything else is as for `packetdrill`: each test in a kernel that
    has done nothing else, at the frequency of the timer that the tests ask for. `tool` is the
    packetdrill that the runner finds, where tests need one. `on_note` gets what takes a while, in
    words: a tarball is read to its end.

    Raises UserError where there is no such kernel, test or packetdrill.
    """
    how = given(how, Selftests, keywords)
    tree = selftests.tree(how.scripts_from, how.kernel)
    with selftests.selftests(target, tree, how.tool, on_note) as tests:
        made_by = {"scripts_from": str(tree.path)}
        return judged("kselftest", tests, how, made_by, on_start, on_result)
