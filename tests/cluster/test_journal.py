"""What an analysis on a cluster leaves in its folder: when it cannot be written, and for others."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal
from tests.cluster.test_broken_store import Here

import rexmit
from rexmit.errors import UserError
from rexmit.store.trace_schema import TABLES
from rexmit.tracing import on_cluster, tasks
from rexmit.tracing.journal import Journal


@contextmanager
def _here(_: str) -> Iterator[Here]:
    yield Here()


@contextmanager
def _files_have_at_most(size: int) -> Iterator[None]:
    """Inside, what is written beyond so many bytes of a file is refused, as by a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    out = tmp_path_factory.mktemp("captures") / "made"
    rexmit.synth(mix="campus,wireless", connections=60, seed=5, out=out)
    return sorted((out / "captures").glob("*-sender.pcapng"))


@pytest.mark.parametrize("size", [2_000, 12_000])
def test_a_disk_that_is_full_is_no_fault_of_captures(
    size: int, captures: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_cluster, "open_cluster", _here)
    out = tmp_path / "t"
    with _files_have_at_most(size), pytest.raises(UserError, match="cannot be written") as caught:
        rexmit.trace(captures, out=out, cluster="local:1", whatif=())
    assert str(out / "partial") in caught.value.what
    resume = any((out / "partial").rglob("*.json")) if out.exists() else False
    # The first are of packets, the others of rows.
    assert resume == (size > 2_000)
    made = rexmit.trace(captures, out=out, cluster="local:1", whatif=(), resume=resume)
    alone = rexmit.trace(captures, whatif=())
    for name in TABLES:
        assert_frame_equal(made.scan(name).collect(), alone.scan(name).collect())
    assert made.facts == alone.facts


@pytest.mark.parametrize(
    "planted",
    [
        "[" * 100_000,
        "[]",
        "{}",
        '{"packets": "x", "tcp_packets": -1, "tables": [], "pieces": [1e9]}',
    ],
)
def test_what_somebody_else_wrote_there_is_made_anew(
    planted: str, captures: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_cluster, "open_cluster", _here)
    out = tmp_path / "t"

    def stop(*_: object) -> None:
        raise UserError("at the very end")

    with monkeypatch.context() as at_the_end:
        at_the_end.setattr(on_cluster, "facts_of", stop)
        with pytest.raises(UserError, match="at the very end"):
            rexmit.trace(captures, out=out, cluster="local:1", whatif=())
    there = sorted((out / "partial").rglob("*.json"))
    assert {path.parent.name for path in there} == {"partial", "parts", "rows", "tables"}
    for path in there:
        # By another key nothing that is there would be read.
        if path.name != "journal.json" or planted.startswith("[["):
            path.write_text(planted)
    made = rexmit.trace(captures, out=out, cluster="local:1", whatif=(), resume=True)
    assert made.facts == rexmit.trace(captures, whatif=()).facts


def test_nothing_is_left_where_nothing_was_made(captures: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "t"
    with Journal(out, "p", {}).open(captures, resume=False):
        assert (out / "partial").is_dir()
    assert not out.exists()
    # What a program that was killed at once has left is no analysis.
    (out / "partial" / "parts").mkdir(parents=True)
    with Journal(out, "p", {}).open(captures, resume=False):
        pass
    assert list(out.iterdir()) == []


def test_one_is_at_work_at_a_time(captures: list[Path], tmp_path: Path) -> None:
    journal = Journal(tmp_path / "t", "p", {})
    with journal.open(captures, resume=False):
        (journal.parts / "a.json").touch()
        for resume in (False, True):
            with (
                pytest.raises(UserError, match="another rexmit is at work"),
                Journal(tmp_path / "t", "p", {}).open(captures, resume=resume),
            ):
                pass
    with (
        pytest.raises(UserError, match="was interrupted"),
        Journal(tmp_path / "t", "p", {}).open(captures, resume=False),
    ):
        pass


def test_pieces_that_cannot_be_were_not_made(tmp_path: Path) -> None:
    judged = tmp_path / "judged"
    judged.mkdir()
    for pieces, is_known in (([5, 3], True), (2**40, False), ([-1], False), (["x"], False)):
        (tmp_path / "judged.json").write_text(json.dumps({"pieces": pieces}))
        assert (tasks.kept(judged, ("pieces",)) is not None) == is_known


def test_who_goes_on_has_the_groups_of_who_began(captures: list[Path], tmp_path: Path) -> None:
    journal = Journal(tmp_path / "t", "p", {})
    with journal.open(captures, resume=False):
        assert journal.groups(16) == 16
        (journal.parts / "a.json").touch()
    again = Journal(tmp_path / "t", "p", {})
    with again.open(captures, resume=True):
        assert again.groups(40) == 16


def test_workers_have_runs_of_pieces_of_about_one_length() -> None:
    # What ends with the capture is in pieces that are next to empty.
    pieces = [20_000_000] * 10 + [100] * 300
    runs = on_cluster._runs(pieces, 2)
    assert runs == [(0, 3), (3, 6), (6, 8), (8, 310)]
    assert on_cluster._runs([5], 3) == [(0, 1)]
