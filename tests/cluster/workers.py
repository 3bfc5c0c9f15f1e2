"""The processes of clusters of this machine."""

from __future__ import annotations

import contextlib
from typing import Any

import psutil  # type: ignore[import-untyped]

PSUTIL: Any = psutil
"""It says nothing of its types."""


class nothing_left:  # noqa: N801 - a context manager
    """Nothing that was started inside is left at the end."""

    def __enter__(self) -> None:
        self.before = set(PSUTIL.Process().children(recursive=True))

    def __exit__(self, *_: object) -> None:
        left = set(PSUTIL.Process().children(recursive=True)) - self.before
        # The tracker of resources ends with the program.
        left = {one for one in left if not _runs(one, "resource_tracker")}
        _, alive = PSUTIL.wait_procs(left, timeout=10)
        assert not alive


def _runs(process: Any, what: str) -> bool:  # noqa: ANN401
    """Whether it is multiprocessing's own and does this; one that ends meanwhile does nothing."""
    with contextlib.suppress(PSUTIL.NoSuchProcess):
        return any(what in word for word in process.cmdline())
    return False


def workers_of(pid: int | None = None) -> list[Any]:
    """The workers of a local cluster of a process (None: this one)."""
    return [one for one in PSUTIL.Process(pid).children() if _runs(one, "spawn_main")]
