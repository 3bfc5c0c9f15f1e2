"""Campaigns whose cells run on a cluster: the rows of one machine, whichever worker dies."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.cluster.conftest import Scheduler
from tests.cluster.workers import workers_of

import rexmit
from rexmit.engines import on_worker
from rexmit.errors import UserError
from rexmit.kernels import cache
from rexmit.kernels.kernel import QEMU
from rexmit.progress import Step

GRID = ("repeat=2", "loss.segments=0..4")


def _tables(run: rexmit.Run) -> list[pl.DataFrame]:
    return [
        pl.read_parquet(run.path / name)
        for name in ("transfers.parquet", "retransmissions.parquet")
    ]


def _assert_same(one: rexmit.Run, other: rexmit.Run, least: int = 11) -> None:
    for rows, theirs in zip(_tables(one), _tables(other), strict=True):
        assert rows.height >= least
        assert rows.equals(theirs)


def _run(out: Path, **more: object) -> rexmit.Run:
    return rexmit.run("tlp-2013", engine="model", settings=GRID, out=out, **more)  # type: ignore[arg-type]


def test_cells_of_the_model_and_a_worker_that_is_killed(tmp_path: Path) -> None:
    alone = _run(tmp_path / "alone", capture=True)
    killed: list[int] = []

    def kill() -> None:
        for one in workers_of():
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
    scheduler: Scheduler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = ("repeat=1", "loss.segments=1,2", "network=mobile", "config=tlp")
    alone = rexmit.run("tlp-2013", settings=settings, out=tmp_path / "alone")
    digest = alone.meta["kernel"]["hash"]
    kernel = next(one for one in cache.kernels() if one.hash == digest)
    # The only worker, on a machine of its own as far as kernels go.
    theirs = tmp_path / "cache"
    scheduler.worker(REXMIT_CACHE=str(theirs))

    def spread(name: str) -> rexmit.Run:
        out = tmp_path / name
        return rexmit.run("tlp-2013", settings=settings, out=out, cluster=scheduler.address)

    _assert_same(spread("first"), alone, least=1)
    (sent,) = (theirs / "kernels").glob(f"*/{kernel.path.name}")
    assert sent.read_bytes() == kernel.path.read_bytes()
    # It is kept there: nothing is sent a second time.
    monkeypatch.setattr(on_worker, "packed", _not_again)
    _assert_same(spread("second"), alone, least=1)


def _not_again(_: Path) -> bytes:
    raise AssertionError("the kernel is sent again")


@pytest.mark.kernel
def test_a_kernel_that_was_sent_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = next(one for one in cache.kernels() if one.engine != QEMU)
    archive = on_worker.packed(kernel.folder)
    monkeypatch.setenv("REXMIT_CACHE", str(tmp_path / "cache"))
    assert not on_worker.has_kernel(kernel.hash)
    with pytest.raises(UserError, match="is not 0123"):
        on_worker.unpack(archive, "0123")
    on_worker.unpack(archive, kernel.hash)
    assert on_worker.has_kernel(kernel.hash)
    on_worker.unpack(archive, kernel.hash)
