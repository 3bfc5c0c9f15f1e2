"""`import rexmit`: what the command line does, from a program."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.processes import run_command
from tests.program.conftest import REXMIT
from tests.show.captures import pcapng, transfer

import rexmit
from rexmit import additions
from rexmit.progress import Step

SMALL = {"network": "high-speed", "loss.segments": "0..2", "repeat": 2}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return run_command([*REXMIT, *words])


def test_a_run_is_the_command_lines() -> None:
    steps: list[Step] = []
    run = rexmit.run("tlp-2013", engine="model", settings=SMALL, out="mine", progress=steps.append)
    words = [f"--set={key}={value}" for key, value in SMALL.items()]
    done = command("run", "tlp-2013", "--engine", "model", *words, "--out", "theirs")
    assert done.returncode == 0, done.stderr
    theirs = rexmit.open_run("theirs")
    assert run.transfers.equals(theirs.transfers)
    assert run.retransmissions().equals(theirs.retransmissions())
    assert run.meta["command"] == theirs.meta["command"]
    assert (steps[0].done, steps[0].unit) == (0, "transfers")
    assert steps[-1].done == steps[-1].total == run.transfers.height
    drawn = rexmit.plot(run)
    assert list(drawn) == ["t-total-t-recover-client-by-lost-segments"]
    assert all(figure.axes for figure in drawn.values())


def test_a_scenario_is_changed_and_run() -> None:
    scenario = rexmit.open_scenario("tlp-2013", SMALL)
    assert scenario.repeat == 2
    assert [lost for lost, _ in scenario.loss.losses] == [0, 1, 2]
    run = rexmit.run(scenario, engine="model", seed=3)
    assert run.meta["seed"] == 3
    same = rexmit.run("tlp-2013", engine="model", seed=3, settings=SMALL, out="same")
    assert run.transfers.drop("cell").equals(same.transfers.drop("cell"))


def test_two_runs_beside_each_other() -> None:
    old = rexmit.run("tlp-2013", engine="model", stack="linux-3.10", settings=SMALL, out="old")
    new = rexmit.run("tlp-2013", engine="model", settings=SMALL, out="new")
    found = rexmit.diff(old, new, metrics=["t_recover"], cells={"lost": [1, 2]})
    assert len(found.cells) == 6
    assert found.cells[0].difference("t_recover").metric == "t_recover"
    assert rexmit.diff("old", Path("new")).a.meta == old.meta
    with pytest.raises(rexmit.Error, match="no such quantity"):
        rexmit.diff(old, new, metrics=["t_recovery"])


def test_a_trace_is_the_command_lines(folder: Path) -> None:
    capture = folder / "a.pcapng"
    pcapng(capture, sorted(((p.ms, p, "") for p in transfer()), key=lambda entry: entry[0]))
    steps: list[Step] = []
    trace = rexmit.trace(capture, whatif=(), progress=steps.append)
    assert steps[-1].done == trace.facts.packets
    done = command("trace", str(capture), "--whatif", "none", "--out", "kept", "--json")
    assert json.loads(done.stdout)["totals"]["retransmissions"] == 3
    for table in ("connections", "retransmissions"):
        theirs = pl.read_parquet(folder / "kept" / f"{table}.parquet")
        assert trace.scan(table).collect().equals(theirs)
    assert rexmit.trace("kept").scan("connections").collect().height == 1
    assert rexmit.select(trace, hosts=["192.0.2.77"]).scan("connections").collect().is_empty()


def test_a_folder_that_nobody_keeps_goes_with_its_trace(folder: Path) -> None:
    capture = folder / "a.pcapng"
    pcapng(capture, sorted(((p.ms, p, "") for p in transfer()), key=lambda entry: entry[0]))
    trace = rexmit.trace(capture)
    path = trace.path
    assert path.exists()
    del trace
    assert not path.exists()


def test_a_corpus_of_the_model() -> None:
    corpus = rexmit.synth(connections=20, seed=5, stacks=["linux-6.12"], out="corpus")
    assert corpus.connections.height >= 20
    assert set(corpus.retransmissions.columns) >= {"mechanism", "need", "sender_ns"}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: rexmit.run("no-such"), "no-such"),
        (lambda: rexmit.run("smoke", engine="modell"), "there is no engine modell"),
        (lambda: rexmit.run("smoke", engine="model", kernel="6.1"), "`kernel` belongs to"),
        (lambda: rexmit.run("smoke", engine="model", jobs=9999), "`jobs` 9999: more than"),
        (lambda: rexmit.run("smoke", engine="model", settings={"x": 1}), "`settings` x=1: "),
        (lambda: rexmit.trace("no-such.pcap"), "there is no such file"),
        (lambda: rexmit.trace([]), "no capture"),
        (lambda: rexmit.synth(mix="no-such"), "there is no mix no-such"),
        (lambda: rexmit.open_run("no-such"), "no such run"),
    ],
)
def test_errors_speak_of_arguments(wrong: object, said: str) -> None:
    assert callable(wrong)
    with pytest.raises(rexmit.Error) as caught:
        wrong()
    assert said in caught.value.text()


def test_an_import_loads_nothing_and_sees_to_no_signals() -> None:
    code = (
        "import signal, sys; before = signal.getsignal(signal.SIGINT); import rexmit; "
        "assert not {'polars', 'rexmit._core', 'rexmit.library'} & set(sys.modules); "
        "rexmit.run; rexmit.trace; assert signal.getsignal(signal.SIGINT) is before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_name_is_there() -> None:
    offered = {*rexmit.__all__, *additions.functions()}
    assert offered <= set(dir(rexmit))
    assert {"trace", "synth"} <= offered
    for name in offered:
        assert getattr(rexmit, name).__doc__, name
