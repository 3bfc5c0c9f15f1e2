"""Whole campaigns over a fake guest: same rows whatever happens, clear ends, nothing mixed."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

import polars as pl
import pytest
from tests.campaign.conftest import Lab

from rexmit.errors import SPLATTED, UserError
from rexmit.interrupt import Interrupted, installed
from rexmit.store.folder import TABLES, RunFolder
from rexmit.store.schema import RETRANSMISSIONS, TRANSFERS, polars_schema


def test_a_run_has_every_row_and_says_what_it_was(lab: Lab) -> None:
    meta = lab.run()
    table = pl.read_parquet(lab.tmp_path / "run" / "transfers.parquet")
    assert dict(table.schema) == polars_schema(TRANSFERS)
    assert table.height == 840 == meta["transfers"] == lab.told.done == lab.told.total
    keys = table.select("cell", "repetition").rows()
    assert keys == sorted(set(keys))
    retransmissions = pl.read_parquet(lab.tmp_path / "run" / "retransmissions.parquet")
    assert dict(retransmissions.schema) == polars_schema(RETRANSMISSIONS)
    assert retransmissions.height == 280 * 3
    order = retransmissions.select("cell", "repetition", "time_s").rows()
    assert order == sorted(order)
    first = table.filter(cell=4).row(0, named=True)
    assert (first["network"], first["config"], first["lost_segments"]) == ("near", "tlp", 1)
    assert first["srtt_s"] == 0.01025
    assert first["t_total_s"] == pytest.approx(first["t_end_s"] - first["t_start_s"])
    assert table.filter(lost_segments=0)["t_recover_s"].is_null().all()
    stored = json.loads((lab.tmp_path / "run" / "run.json").read_text())
    assert stored == meta
    assert (meta["format"], meta["state"], meta["seed"]) == (1, "complete", 7)
    assert meta["kernel"] == {"version": "6.12.0", "hz": 250, "patches": [], "hash": "k1"}
    assert meta["failed_cells"] == []
    assert meta["virtual_s"] > 0
    assert meta["peak_memory_bytes"] > 1_000_000
    assert sorted(p.name for p in (lab.tmp_path / "run").iterdir()) == [
        "retransmissions.parquet",
        "run.json",
        "transfers.csv",
        "transfers.parquet",
    ]


def test_csv_and_parquet_say_the_same(lab: Lab) -> None:
    lab.run(settings=("network=near", "repeat=3"))
    folder = lab.tmp_path / "run"
    table = pl.read_parquet(folder / "transfers.parquet")
    assert pl.read_csv(folder / "transfers.csv", schema=polars_schema(TRANSFERS)).equals(table)


def test_boots_and_rows_do_not_depend_on_jobs(lab: Lab, tmp_path: Path) -> None:
    for jobs in (1, 3):
        lab.fake(log=str(tmp_path / f"log{jobs}"))
        lab.run(f"jobs{jobs}", jobs=jobs)
    one, three = (lab.boots(tmp_path / f"log{jobs}") for jobs in (1, 3))
    # A kernel a cell.
    assert len({boot["cell"] for boot in one}) == len(one) == 12
    assert [(b["cell"], b["seed"]) for b in one] == [(b["cell"], b["seed"]) for b in three]
    # One for each network.
    assert len({boot["seed"] for boot in one}) == 2
    assert lab.files("jobs1") == lab.files("jobs3")


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        ("network=far", "config=tlp", "loss.segments=2"),
        ("network=far,near", "config=tlp,er", "loss.segments=2,0"),
        ("workload.client=builtin,curl", "loss.segments=0..9"),
        ('vary=[{line_loss="1%"}]', "seed=7"),
    ],
)
def test_a_cell_has_the_same_rows_in_any_grid(lab: Lab, settings: tuple[str, ...]) -> None:
    def by_cell(run: str) -> dict[tuple[object, ...], list[tuple[object, ...]]]:
        table = pl.read_parquet(lab.tmp_path / run / "transfers.parquet").drop("cell")
        keys = ("network", "config", "lost_segments", "client", "line_loss")
        parts = table.partition_by(keys, as_dict=True)
        return {key: part.rows() for key, part in parts.items()}

    lab.run("whole")
    lab.run("other", settings=settings)
    whole, other = by_cell("whole"), by_cell("other")
    common = whole.keys() & other.keys()
    assert 0 < len(common) < max(len(whole), len(other))
    for key in common:
        assert whole[key] == other[key]
    assert len({row for rows in other.values() for row in rows}) == sum(map(len, other.values()))


def test_each_boot_gets_a_core_of_its_own(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {3, 5})
    lab.fake(log=str(tmp_path / "log"), slow=0.001)
    lab.run(jobs=2)
    assert {boot["core"] for boot in lab.boots(tmp_path / "log")} == {"3", "5"}


def test_another_seed_gives_other_rows(lab: Lab) -> None:
    lab.run("a", settings=("network=near",))
    lab.run("b", settings=("network=near", "seed=8"))
    assert lab.files("a")["transfers.csv"] != lab.files("b")["transfers.csv"]


def once(at: int, number: signal.Signals) -> Callable[[int], None]:
    """Sends the test a signal when so much is done; a second one would end the process."""
    sent: list[int] = []

    def send(done: int) -> None:
        if done == at and not sent:
            sent.append(done)
            os.kill(os.getpid(), number)

    return send


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_goes_on_and_gives_the_same_rows(
    lab: Lab, tmp_path: Path, number: signal.Signals
) -> None:
    lab.run("whole")

    lab.fake(log=str(tmp_path / "log"), slow=0.001)
    with installed(), pytest.raises(Interrupted):
        lab.run("cut", on_advance=once(450, number))
    assert lab.told.closed
    for boot in lab.boots(tmp_path / "log"):
        assert not Path(f"/proc/{boot['pid']}/cmdline").exists()
    folder = tmp_path / "cut"
    assert not (folder / "transfers.parquet").exists()
    assert json.loads((folder / "run.json").read_text())["state"] == "unfinished"
    kept = len(list((folder / "partial").glob("cell-*.record")))
    assert 0 < kept < 12
    lab.fake(log=str(tmp_path / "rest"))
    meta = lab.run("cut")
    assert lab.told.before > 0
    assert meta["state"] == "complete"
    assert len(lab.boots(tmp_path / "rest")) == 12 - kept
    assert lab.files("cut") == lab.files("whole")
    assert not (folder / "partial").exists()


def test_a_complete_run_is_left_alone(lab: Lab, tmp_path: Path) -> None:
    before = lab.run()
    lab.fake(log=str(tmp_path / "log"))
    assert lab.run() == before
    assert not (tmp_path / "log").exists()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (("loss.segments=0..3",), 'scenario.loss.segments: "0..2" there, "0..3" here'),
        (("seed=8",), "seed: 7 there, 8 here"),
        (("network=far",), 'scenario.network: ["near", "far"] there, ["far"] here'),
    ],
)
def test_runs_are_not_mixed(lab: Lab, settings: tuple[str, ...], said: str) -> None:
    lab.run()
    before = lab.files("run")
    with pytest.raises(UserError) as error:
        lab.run(settings=settings)
    assert said in str(error.value.hint)
    assert "`out`" in str(error.value.hint)
    assert lab.files("run") == before


def test_another_kernel_is_not_mixed_in(lab: Lab) -> None:
    lab.run(settings=("network=near",))
    lab.kernel_hash = "k2"
    with pytest.raises(UserError, match="holds another run") as error:
        lab.run(settings=("network=near",))
    assert 'kernel.hash: "k1" there, "k2" here' in str(error.value.hint)


def test_other_words_are_the_same_run(lab: Lab) -> None:
    lab.run(settings=("network=near",))
    lab.run(settings=("network=near", "title=other words"))


def test_a_folder_with_other_things_is_refused(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.txt").touch()
    with pytest.raises(UserError, match="other files and no run"):
        lab.run()
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["thesis.txt"]


def test_a_dying_kernel_costs_one_cell(lab: Lab, tmp_path: Path) -> None:
    lab.run("whole")
    log = tmp_path / "log"
    lab.fake(die="near er 1", once=str(tmp_path / "once"), log=str(log))
    meta = lab.run("hurt")
    (failed,) = meta["failed_cells"]
    assert (failed["cell"], failed["label"]) == (1, "near er 1")
    assert "exit status 134" in failed["message"]
    assert failed["console_tail"][-1] == "Kernel panic - not syncing: fake"
    assert lab.told.failures == [f"near er 1: {failed['message']}"]
    assert meta["state"] == "failed"
    assert meta["transfers"] == 800 == lab.told.done
    assert len(lab.boots(log)) == 12
    hurt = pl.read_parquet(tmp_path / "hurt" / "transfers.parquet")
    assert hurt["cell"].unique(maintain_order=True).to_list() == [0, *range(2, 12)]
    # That cell runs again, and nothing else does.
    log.unlink()
    assert lab.run("hurt")["state"] == "complete"
    assert [boot["cell"] for boot in lab.boots(log)] == ["near er 1"]
    assert lab.files("hurt") == lab.files("whole")


def test_a_kernel_that_warns_costs_one_cell(lab: Lab, tmp_path: Path) -> None:
    lab.fake(splat="near er 1")
    meta = lab.run("hurt")
    (failed,) = meta["failed_cells"]
    assert (failed["label"], failed["message"]) == ("near er 1", SPLATTED)
    assert failed["splat"][0].startswith("WARNING: CPU: 0 PID: 9 at net/ipv4/fake.c:7")
    assert meta["transfers"] == 800 == lab.told.done
    hurt = pl.read_parquet(tmp_path / "hurt" / "transfers.parquet")
    assert 1 not in hurt["cell"]


def test_a_hanging_kernel_costs_one_cell(lab: Lab, tmp_path: Path) -> None:
    lab.fake(hang="near tlp 1", log=str(tmp_path / "log"))
    began = time.monotonic()
    meta = lab.run(settings=("network=near",), hang_limit_s=1.0)
    assert time.monotonic() - began < 30
    (failed,) = meta["failed_cells"]
    assert failed["cell"] == 4
    assert failed["message"] == "no sign of life for 1 s; it was busy with: transfer 2 of many"
    assert meta["transfers"] == 200
    for boot in lab.boots(tmp_path / "log"):
        assert not Path(f"/proc/{boot['pid']}/cmdline").exists()


def test_a_slow_kernel_does_not_hang(lab: Lab) -> None:
    lab.fake(slow=0.05)
    meta = lab.run(settings=("network=near", "config=tlp", "repeat=10"), hang_limit_s=0.5)
    assert meta["state"] == "complete"


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        ({"fail": "near er 1"}, "net.ipv4.tcp_x: no such setting"),
        ({"short": "near er 1"}, "the guest gave 39 of 40 transfers"),
        ({"skip": "near er 1"}, "the guest did not run it"),
        ({"garbage": "near er 1"}, "the guest wrote a line that is no event"),
    ],
)
def test_a_failed_cell_has_no_rows(lab: Lab, behaviour: dict[str, str], message: str) -> None:
    lab.fake(**behaviour)
    meta = lab.run(settings=("network=near", "config=er"))
    (failed,) = meta["failed_cells"]
    assert failed["cell"] == 1
    assert message in failed["message"]
    table = pl.read_parquet(lab.tmp_path / "run" / "transfers.parquet")
    assert set(table["cell"]) == {0, 2}


@pytest.mark.parametrize(
    ("start", "message", "hint"),
    [
        ("no-sandbox", "sandbox could not be made", "no namespaces today"),
        ("dead", "before it ran anything", "Kernel panic - no init"),
        ("silent", "no sign of life for 1 s", "Linux version"),
        ("version", "speaks version 99", "build them again"),
    ],
)
def test_what_no_boot_can_do_ends_the_campaign(
    lab: Lab, start: str, message: str, hint: str
) -> None:
    lab.fake(start=start)
    with pytest.raises(UserError, match=message) as error:
        lab.run(hang_limit_s=1.0)
    assert hint in str(error.value.hint)
    assert not (lab.tmp_path / "run").exists()


def test_ignored_settings_and_warnings_are_said_once(lab: Lab) -> None:
    lab.fake(warn=True)
    # Three cells have this configuration.
    meta = lab.run(settings=("network=near", "repeat=60"))
    entry = {"config": "er", "setting": "net.ipv4.tcp_fack", "why": "gone since 4.15"}
    assert meta["ignored_settings"] == [entry]
    assert meta["warnings"] == ["the line is short"]
    assert sorted(lab.told.notes) == [
        "config er: net.ipv4.tcp_fack: gone since 4.15",
        "warning: the line is short",
    ]


def test_captures_come_into_the_run(lab: Lab) -> None:
    lab.fake(short="near er 1")
    lab.run(settings=("network=near", "repeat=2", "config=er"), capture=True)
    names = sorted(path.name for path in (lab.tmp_path / "run" / "captures").iterdir())
    assert names == [f"{c}-{r}.{h}.pcapng" for c in (0, 2) for r in (0, 1) for h in ("h1", "h2")]


def test_two_at_work_in_one_folder_are_refused(lab: Lab) -> None:
    lab.fake(slow=0.002)

    def second(done: int) -> None:
        if done == 5:
            told = lab.told
            with pytest.raises(UserError, match="another rexmit is at work"):
                lab.run(settings=("network=near",))
            lab.told = told

    assert lab.run(settings=("network=near",), on_advance=second)["state"] == "complete"


def test_a_finished_run_that_lost_a_table_is_made_again(lab: Lab) -> None:
    settings = ("network=near", "repeat=2")
    lab.run(settings=settings)
    before = lab.files("run")
    (lab.tmp_path / "run" / "transfers.csv").unlink()
    lab.run(settings=settings)
    assert lab.files("run") == before


def test_what_a_program_left_that_was_killed_at_its_very_end_goes(lab: Lab) -> None:
    settings = ("network=near", "repeat=2")
    lab.run(settings=settings)
    before = lab.files("run")
    partial = lab.tmp_path / "run" / "partial"
    partial.mkdir()
    for name in ("lock", "cell-000000.record", ".cell-000001.json.77.tmp"):
        (partial / name).touch()
    assert lab.run(settings=settings)["state"] == "complete"
    assert not partial.exists()
    assert lab.files("run") == before


def interrupted(lab: Lab) -> Path:
    """The partial folder of a run that was stopped with some cells done."""

    lab.fake(slow=0.001)
    with installed(), pytest.raises(Interrupted):
        lab.run(settings=("network=near",), on_advance=once(100, signal.SIGTERM))
    lab.fake()
    return lab.tmp_path / "run" / "partial"


@pytest.mark.parametrize("damage", [b"", b"\0" * 40, b"[]", b"{}", b'{"format": 2, "cell": 0}'])
def test_a_damaged_record_runs_again(lab: Lab, damage: bytes) -> None:
    lab.run("whole", settings=("network=near",))
    file = sorted(interrupted(lab).glob("cell-*.record"))[0]
    file.write_bytes(damage)
    assert lab.run(settings=("network=near",))["state"] == "complete"
    assert any(f"{file} was damaged" in note for note in lab.told.notes)
    assert lab.files("run") == lab.files("whole")


def test_a_bit_that_flips_in_a_record_is_seen(lab: Lab) -> None:
    lab.run("whole", settings=("network=near",))
    file = sorted(interrupted(lab).glob("cell-*.record"))[0]
    damaged = bytearray(file.read_bytes())
    damaged[-100] ^= 1
    file.write_bytes(damaged)
    assert lab.run(settings=("network=near",))["state"] == "complete"
    assert any(f"{file} was damaged" in note for note in lab.told.notes)
    assert lab.files("run") == lab.files("whole")


@pytest.mark.parametrize("name", TABLES)
def test_a_damaged_table_of_a_complete_run_is_made_again(lab: Lab, name: str) -> None:
    settings = ("network=near", "repeat=3")
    lab.run(settings=settings)
    before = lab.files("run")
    file = lab.tmp_path / "run" / name
    damaged = bytearray(file.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    file.write_bytes(damaged)
    assert lab.run(settings=settings)["state"] == "complete"
    assert any(f"{file}: damaged" in note for note in lab.told.notes)
    assert lab.files("run") == before


def test_a_record_under_another_name_is_not_taken(lab: Lab) -> None:
    lab.run("whole", settings=("network=near",))
    file = sorted(interrupted(lab).glob("cell-*.record"))[0]
    file.rename(file.with_name("cell-000005.record"))
    lab.run(settings=("network=near",))
    assert lab.files("run") == lab.files("whole")


@pytest.mark.parametrize(
    "text", ["", "[]", "null", '"format"', '{"format": 1}', '{"format": 1, "state": 3}', "\0\0"]
)
def test_a_damaged_run_json_is_named(lab: Lab, text: str) -> None:
    partial = interrupted(lab)
    file = partial.parent / "run.json"
    file.write_text(text)
    with pytest.raises(UserError, match=r"cannot read .*run\.json") as error:
        lab.run(settings=("network=near",))
    assert "`out`" in str(error.value.hint)
    assert file.read_text() == text
    assert list(partial.glob("cell-*.record"))


def test_what_a_killed_program_left_is_no_hindrance(lab: Lab) -> None:
    folder = lab.tmp_path / "run"
    (folder / "partial").mkdir(parents=True)
    (folder / "partial" / "lock").touch()
    (folder / "partial" / ".cell-000001.record.77.tmp").write_text("{")
    (folder / ".run.json.77.tmp").write_text("{")
    lab.run(settings=("network=near", "repeat=2"))
    assert sorted(path.name for path in folder.iterdir()) == sorted([*TABLES, "run.json"])


def test_who_comes_too_early_removes_nothing(lab: Lab) -> None:
    """A second program that finds no folder yet, and the lock taken a moment later."""
    folder = RunFolder(lab.tmp_path / "run")
    with folder.locked(), pytest.raises(UserError, match="another rexmit is at work"):
        lab.run(settings=("network=near", "repeat=2"))
    assert (folder.partial / "lock").exists()


def test_a_lock_that_was_removed_is_none(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who had the lock removes it as it ends, after we opened it and before we have it."""
    folder = RunFolder(lab.tmp_path / "run")
    flock = fcntl.flock
    calls: list[int] = []

    def late(lock: IO[str], operation: int) -> None:
        calls.append(operation)
        if len(calls) == 1:
            folder.drop_partial()
        flock(lock, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with folder.locked():
        assert len(calls) == 2
        with pytest.raises(UserError, match="another rexmit is at work"), folder.locked():
            pass


@pytest.mark.parametrize("name", ["run.json", "cell-000000.record", "transfers.csv"])
def test_a_disk_that_is_full(lab: Lab, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    lab.run("whole", settings=("network=near", "repeat=2"))
    rename = os.rename

    def full(source: str, target: str, **folders: int) -> None:
        if target == name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
        rename(source, target, **folders)

    monkeypatch.setattr(os, "rename", full)
    with pytest.raises(OSError, match="No space left"):
        lab.run(settings=("network=near", "repeat=2"), jobs=1)
    left = sorted(path.name for path in lab.tmp_path.glob("run/*"))
    # Where cells are done they stay, else there is nothing.
    assert left == (["partial", "run.json"] if name == "transfers.csv" else []) or (
        name == "transfers.csv" and left == ["partial", "run.json", "transfers.parquet"]
    )
    assert not list(lab.tmp_path.glob("run/**/.*.tmp"))
    monkeypatch.setattr(os, "rename", rename)
    lab.run(settings=("network=near", "repeat=2"))
    assert lab.files("run") == lab.files("whole")


@pytest.mark.parametrize("entry", [{}, {"setting": "s"}, {"setting": "s", "means": "w"}])
def test_entries_of_another_kind_are_printed(lab: Lab, entry: dict[str, str]) -> None:
    lab.fake(ignored=[entry])
    meta = lab.run(settings=("network=near", "config=er", "repeat=2"))
    assert meta["ignored_settings"][0]["setting"] == entry.get("setting", "")
