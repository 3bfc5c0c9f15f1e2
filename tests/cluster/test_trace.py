"""Captures analysed by workers on a cluster: real processes, some killed; the tables of one."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal
from tests.cluster.conftest import Scheduler
from tests.cluster.workers import nothing_left, workers_of
from tests.core.test_parts import syns
from tests.sources.servers import s3_server

import rexmit
from rexmit.errors import UserError
from rexmit.progress import Step
from rexmit.sources import objects
from rexmit.store.trace_schema import TABLES
from rexmit.tracing import folder

LARGE = 3_000
"""Values that wait for a part of a table to be written, so that tables have several."""


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Captures of four times, with losses; connections cross from each to the next."""
    out = tmp_path_factory.mktemp("captures")
    rexmit.synth(mix="campus,wireless", connections=250, seed=6, out=out / "made")
    made = sorted((out / "made").rglob("*-sender.pcapng"))
    whole = [rexmit.trace(one, whatif=()).facts.files[0] for one in made]
    cut = []
    for capture, held in zip(made, whole, strict=True):
        half = out / f"{capture.stem}-{{}}.pcapng"
        _cut(capture, held.packets // 2, half)
        cut += [Path(str(half).format(number)) for number in (0, 1)]
    return cut


def _cut(capture: Path, packets: int, to: Path) -> None:
    """A pcapng file in two, at a packet (blocks: draft-ietf-opsawg-pcapng section 3.1)."""
    data, at, seen = capture.read_bytes(), 0, 0
    head: list[bytes] = []
    halves: tuple[list[bytes], list[bytes]] = ([], [])
    while at < len(data):
        kind, length = (int.from_bytes(data[at + n : at + n + 4], "little") for n in (0, 4))
        block = data[at : at + length]
        at += length
        if kind == 6:
            halves[seen >= packets].append(block)
            seen += 1
        else:
            head.append(block)
    for number, blocks in enumerate(halves):
        Path(str(to).format(number)).write_bytes(b"".join([*head, *blocks]))


@pytest.fixture(scope="module")
def alone(captures: list[Path], tmp_path_factory: pytest.TempPathFactory) -> rexmit.Trace:
    """What one process makes of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folder, "PART_VALUES", LARGE)
        return rexmit.trace(captures, out=tmp_path_factory.mktemp("alone") / "t")


@pytest.fixture
def parted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "PART_VALUES", LARGE)


def _assert_same(made: rexmit.Trace, alone: rexmit.Trace) -> None:
    for name in TABLES:
        assert_frame_equal(made.scan(name).collect(), alone.scan(name).collect(), check_exact=True)
    assert made.facts == alone.facts


@pytest.mark.usefixtures("parted")
def test_workers_that_are_killed_at_random_make_no_difference(
    captures: list[Path], alone: rexmit.Trace, tmp_path: Path
) -> None:
    dice = random.Random(11)  # noqa: S311 - no secret
    killed: list[int] = []
    over = threading.Event()

    def kill() -> None:
        while len(killed) < 4:
            if workers := workers_of():
                worker = dice.choice(workers)
                worker.kill()
                killed.append(worker.pid)
            if over.wait(dice.uniform(0.6, 1.2)):
                return

    killer = threading.Thread(target=kill)

    def hear(step: Step) -> None:
        # Work has begun.
        if step.done and killer.ident is None:
            killer.start()

    with nothing_left():
        made = rexmit.trace(captures, out=tmp_path / "t", cluster="local:2", progress=hear)
        over.set()
        killer.join()
    assert killed
    _assert_same(made, alone)
    again = rexmit.trace(tmp_path / "t")
    _assert_same(again, alone)
    assert not (tmp_path / "t" / "partial").exists()
    parts = sorted((tmp_path / "t" / "connections.parquet").glob("part=*/rows.parquet"))
    assert parts
    parts[-1].write_bytes(parts[-1].read_bytes()[:-1])
    with pytest.raises(UserError, match="damaged"):
        rexmit.trace(tmp_path / "t")


@pytest.mark.usefixtures("parted")
def test_an_interrupted_run_goes_on(
    captures: list[Path], alone: rexmit.Trace, tmp_path: Path
) -> None:
    out = tmp_path / "t"
    words = [sys.executable, "-m", "rexmit", "trace", *map(str, captures), "--out", str(out)]
    words += ["--cluster", "local:1"]
    with nothing_left():
        run = subprocess.Popen(words, stderr=subprocess.PIPE)
        parts = out / "partial" / "parts"
        while run.poll() is None and len(list(parts.glob("*.json"))) < 2:
            time.sleep(0.02)
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=60)
    assert run.returncode == 130, errors
    assert b"--resume" in errors
    kept = {path: path.stat().st_mtime_ns for path in parts.glob("*.json")}
    assert len(kept) >= 2
    with pytest.raises(UserError, match="holds an analysis that was interrupted"):
        rexmit.trace(captures, out=out, cluster="local:1")
    # One capture has changed since: it is read anew, and nothing else.
    first = captures[0]
    os.utime(first, ns=(1, 1))
    stamps: dict[Path, int] = {}

    def hear(step: Step) -> None:
        if step.note is not None:
            stamps.update({path: path.stat().st_mtime_ns for path in parts.glob("*.json")})

    made = rexmit.trace(captures, out=out, cluster="local:1", resume=True, progress=hear)
    _assert_same(made, alone)
    same = [path for path, stamp in kept.items() if stamps.get(path) == stamp]
    assert len(stamps) == len(captures)
    assert len(kept) - 1 <= len(same) < len(captures)
    with pytest.raises(UserError, match="holds no analysis that was interrupted"):
        rexmit.trace(captures, out=out, cluster="local:1", resume=True)


def test_more_connections_than_are_remembered(tmp_path: Path) -> None:
    capture = tmp_path / "syns.pcap"
    capture.write_bytes(syns(6_000))
    most = 4_096
    notes: list[str] = []

    def hear(step: Step) -> None:
        notes.extend([step.note] if step.note else [])

    alone = rexmit.trace(capture, out=tmp_path / "alone", connections_limit=most)
    made = rexmit.trace(
        capture, out=tmp_path / "t", cluster="local:1", progress=hear, connections_limit=most
    )
    assert any("one worker analyses all of them" in note for note in notes)
    _assert_same(made, alone)
    assert made.scan("connections").collect()["evicted"].sum() > 0


@pytest.mark.usefixtures("parted")
def test_a_scheduler_whose_workers_come_and_go(
    captures: list[Path],
    alone: rexmit.Trace,
    scheduler: Scheduler,
    tmp_path: Path,
) -> None:
    first = scheduler.worker()
    changed = False

    def hear(step: Step) -> None:
        nonlocal changed
        if step.done and not changed:
            changed = True
            first.kill()
            scheduler.worker()

    made = rexmit.trace(captures, out=tmp_path / "t", cluster=scheduler.address, progress=hear)
    assert changed
    _assert_same(made, alone)


@pytest.mark.tools
def test_objects_of_a_store_by_workers(
    captures: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = tmp_path / "root" / "day"
    bucket.mkdir(parents=True)
    for capture in captures:
        (bucket / capture.name).write_bytes(capture.read_bytes())
    (bucket / "bad.pcapng").write_bytes(b"GIF89a" * 50)
    with s3_server(tmp_path / "root") as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        objects.store.cache_clear()
        words = ["s3://day/*.pcapng", "s3://day/gone.pcapng"]
        made = rexmit.trace(words, out=tmp_path / "t", cluster="local:2", whatif=())
        one = rexmit.trace(words, whatif=())
    objects.store.cache_clear()
    gone, bad = made.facts.warnings
    assert gone == "s3://day/gone.pcapng: there is no such object; it is left out"
    assert bad.startswith("s3://day/bad.pcapng: no capture of a known format")
    assert list(one.facts.warnings) == [gone, bad]
    for name in TABLES:
        rows = made.scan(name).collect()
        assert_frame_equal(
            rows.drop("capture", strict=False),
            one.scan(name).collect().drop("capture", strict=False),
            check_exact=True,
        )
    meta = json.loads((tmp_path / "t" / "trace.json").read_text())
    assert meta["captures"][0].startswith("s3://day/")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"cluster": "local:0"}, "as in local:8"),
        ({"cluster": "nowhere"}, "as in local:8"),
        ({"cluster": "127.0.0.1:1"}, "no answer"),
        ({"cluster": "local:1", "out": None}, "needs a folder for what workers make"),
        ({"cluster": "local:1", "points": ["a", "b"]}, "are not followed on a cluster"),
        ({"resume": True}, "needs"),
    ],
)
def test_what_is_asked_wrongly_is_told(
    options: dict[str, object],
    told: str,
    captures: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from rexmit.cluster import connect

    monkeypatch.setattr(connect, "CONNECT_S", 1)
    given = {"out": tmp_path / "t", **options}
    with pytest.raises((UserError,)) as caught:
        rexmit.trace(captures[:2], **given)  # type: ignore[arg-type]
    assert told in f"{caught.value.what} {caught.value.hint}"
    assert not (tmp_path / "t").exists()
