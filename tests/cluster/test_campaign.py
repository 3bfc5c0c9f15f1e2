"""Campaigns whose cells run on a cluster: the rows of one machine, whichever worker dies."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import polars as pl
import psutil  # type: ignore[import-untyped]
import pytest

import rexmit
from rexmit.engines import on_cluster
from rexmit.errors import UserError
from rexmit.kernels import cache
from rexmit.progress import Step

PSUTIL: Any = psutil
"""It says nothing of its types."""

GRID = ("repeat=2", "loss.segments=0..4")


def _tables(run: rexmit.Run) -> list[pl.DataFrame]:
    return [
        pl.read_parquet(run.path / name)
        for name in ("transfers.parquet", "retransmissions.parquet")
    ]


def _assert_same(one: rexmit.Run, other: rexmit.Run) -> None:
    for rows, theirs in zip(_tables(one), _tables(other), strict=True):
        assert rows.height > 10
        assert rows.equals(theirs)


def _run(out: Path, **more: object) -> rexmit.Run:
    return rexmit.run("tlp-2013", engine="model", settings=GRID, out=out, **more)  # type: ignore[arg-type]


def test_cells_of_the_model_and_a_worker_that_is_killed(tmp_path: Path) -> None:
    alone = _run(tmp_path / "alone", capture=True)
    killed: list[int] = []

    def kill() -> None:
        for one in PSUTIL.Process().children():
            if any("spawn_main" in word for word in one.cmdline()):
                one.kill()
                killed.append(one.pid)
                return

    def hear(step: Step) -> None:
        if step.done and not killed:
            kill()

    spread = _run(tmp_path / "spread", capture=True, cluster="local:2", progress=hear)
    assert killed
    _assert_same(spread, alone)
    assert "--cluster local:2" in spread.meta["command"]
    theirs = {path.name: path.read_bytes() for path in (alone.path / "captures").iterdir()}
    assert theirs
    assert {p.name: p.read_bytes() for p in (spread.path / "captures").iterdir()} == theirs


@pytest.mark.kernel
def test_a_kernel_travels_to_a_worker_that_lacks_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = ("repeat=1", "loss.segments=1,2", "network=mobile", "config=tlp")
    alone = rexmit.run("tlp-2013", settings=settings, out=tmp_path / "alone")
    digest = alone.meta["kernel"]["hash"]
    kernel = next(one for one in cache.kernels() if one.hash == digest)
    archive = on_cluster.packed(kernel.folder)
    spread = rexmit.run("tlp-2013", settings=settings, out=tmp_path / "spread", cluster="local:2")
    for rows, theirs in zip(_tables(spread), _tables(alone), strict=True):
        assert rows.equals(theirs)
    monkeypatch.setenv("REXMIT_CACHE", str(tmp_path / "cache"))
    assert not on_cluster.has_kernel(digest)
    began = time.monotonic()
    on_cluster.unpack(archive, digest)
    assert on_cluster.has_kernel(digest)
    on_cluster.unpack(archive, digest)
    assert time.monotonic() - began < 30
    with pytest.raises(UserError, match="is not 0123"):
        on_cluster.unpack(archive, "0123")
