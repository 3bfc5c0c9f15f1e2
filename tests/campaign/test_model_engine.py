"""Campaigns on the model engine, over a model that measures nothing."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.campaign import fake_model
from tests.campaign.conftest import FakeStreams, Lab, Told

from rexmit import stacks
from rexmit.campaign.runner import CampaignRun, Request
from rexmit.engines.model import ModelEngine
from rexmit.errors import UserError
from rexmit.interrupt import Interrupted, installed
from rexmit.scenario.stacks import of_scenario

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """How the model misbehaves, to be filled."""
    monkeypatch.setattr(stacks, "core", lambda: fake_model)
    fake_model.CALLS.clear()
    yield fake_model.BEHAVIOUR
    fake_model.BEHAVIOUR.clear()


@pytest.fixture
def run(lab: Lab, model: dict[str, Any]) -> Run:  # noqa: ARG001
    def run(
        out: str = "run",
        *settings: str,
        stack: str | None = None,
        hz: int | None = None,
        jobs: int = 2,
        capture: bool = False,
        on_advance: Callable[[int], None] | None = None,
    ) -> dict[str, Any]:
        lab.told = Told()
        if on_advance is not None:
            lab.told.on_advance = on_advance
        scenario = lab.scenario(*settings)
        engine = ModelEngine.open("1.2.3", of_scenario(scenario, stack, hz), ())
        folder = lab.tmp_path / out
        request = Request("fake", scenario, folder, "rexmit run fake", "1.2.3", jobs, capture)
        return CampaignRun(request, engine, FakeStreams(), lab.told).run()

    return run


def test_a_run_has_every_row_and_says_what_it_was(run: Run, lab: Lab) -> None:
    meta = run(stack="linux-3.10")
    table = pl.read_parquet(lab.tmp_path / "run" / "transfers.parquet")
    assert table.height == 840 == meta["transfers"] == lab.told.done
    assert (meta["engine"], meta["state"]) == ("model", "complete")
    assert meta["model"]["version"] == "1.2.3"
    settings = {"hz": "250", "min_rto": "200ms", "sack": "true"}
    same = {"stack": "linux-3.10", "settings": settings}
    assert meta["model"]["stacks"] == {"er": same, "tlp": same}
    assert meta["virtual_s"] > 0
    assert meta["peak_memory_bytes"] > 1_000_000
    assert meta["ignored_settings"] == [
        {"config": "er", "setting": "net.ipv4.tcp_fack", "why": "not modelled"}
    ]
    assert {cell["seed"] for cell in fake_model.CALLS} == {
        cell["seed"] for cell in fake_model.CALLS if 0 <= cell["seed"] < 2**64
    }
    # One for each network.
    assert len({cell["seed"] for cell in fake_model.CALLS}) == 2


def test_rows_do_not_depend_on_jobs_or_the_grid(run: Run, lab: Lab) -> None:
    run("one", jobs=1)
    run("four", jobs=4)
    assert lab.files("one") == lab.files("four")
    run("part", "network=far", "config=tlp", "loss.segments=2")
    whole, part = (
        pl.read_parquet(lab.tmp_path / name / "transfers.parquet") for name in ("one", "part")
    )
    chosen = whole.filter(network="far", config="tlp", lost_segments=2)
    assert chosen.drop("cell").equals(part.drop("cell"))


def test_phases_follow_the_stacks_ticks(run: Run) -> None:
    run("a", "configs.tlp.stack.hz=100", stack="linux-6.12")
    periods = {(cell["stack"]["hz"], cell["phase_period_ns"]) for cell in fake_model.CALLS}
    assert periods == {(1000, 64_000_000), (100, 640_000_000)}


def test_settings_reach_the_plan(run: Run) -> None:
    meta = run(
        "run",
        "stack.min_rto=100ms",
        "stack.name=linux-3.10",
        "configs.er.stack.name=solaris-10",
        "configs.er.stack.min_rto=300ms",
        hz=250,
    )
    asked = {fake_model.named(cell).split()[1]: cell["stack"] for cell in fake_model.CALLS}
    assert asked == {
        "er": {"name": "solaris-10", "hz": 250, "set": {"min_rto": "300ms"}, "work": {}},
        "tlp": {"name": "linux-3.10", "hz": 250, "set": {"min_rto": "100ms"}, "work": {}},
    }
    assert meta["model"]["stacks"]["er"]["settings"]["min_rto"] == "300ms"
    assert meta["scenario"]["stack"] == {"min_rto": "100ms", "name": "linux-3.10"}
    assert meta["scenario"]["configs"]["er"]["stack"]["name"] == "solaris-10"


def test_another_stack_is_another_run(run: Run) -> None:
    run(stack="linux-3.10")
    with pytest.raises(UserError, match="holds another run") as error:
        run(stack="linux-6.12")
    assert 'stacks.er.stack: "linux-3.10" there, "linux-6.12" here' in str(error.value.hint)


def test_an_interrupted_run_goes_on_and_gives_the_same_rows(
    run: Run, lab: Lab, model: dict[str, Any]
) -> None:
    run("whole")

    def interrupt(done: int) -> None:
        if done >= 300:
            os.kill(os.getpid(), signal.SIGINT)

    model["slow"] = 0.0005
    with installed(), pytest.raises(Interrupted):
        run("cut", on_advance=interrupt)
    folder = lab.tmp_path / "cut"
    assert json.loads((folder / "run.json").read_text())["state"] == "unfinished"
    assert 0 < len(list((folder / "partial").glob("cell-*.record"))) < 12
    model.clear()
    fake_model.CALLS.clear()
    assert run("cut")["state"] == "complete"
    assert 0 < len(fake_model.CALLS) < 12
    assert lab.files("whole") == lab.files("cut")


def test_a_cell_that_does_not_end_does_not_hold_up_an_interrupt(
    run: Run, model: dict[str, Any]
) -> None:
    model["slow"] = 60

    def interrupt() -> None:
        while not fake_model.CALLS:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=interrupt, daemon=True).start()
    began = time.monotonic()
    with installed(), pytest.raises(Interrupted):
        run("run", "repeat=1")
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("trouble", "message"),
    [
        ("panic", "the model broke off: PanicException: index out of bounds"),
        ("refuse", "no such sysctl"),
        ("short", "the model gave 39 of 40 transfers"),
    ],
)
def test_a_cell_that_fails_leaves_the_others(
    run: Run, lab: Lab, model: dict[str, Any], trouble: str, message: str
) -> None:
    model[trouble] = "near er 1"
    meta = run()
    assert meta["state"] == "failed"
    (failed,) = meta["failed_cells"]
    assert (failed["label"], failed["message"]) == ("near er 1", message)
    assert meta["transfers"] == 800 == lab.told.done
    model.clear()
    assert run()["state"] == "complete"


def test_what_is_no_event_fails_its_cell(run: Run, lab: Lab, model: dict[str, Any]) -> None:
    model["garbage"] = "near er 1"
    meta = run()
    (failed,) = meta["failed_cells"]
    assert failed["message"].startswith("the model wrote a line that is no event")
    assert meta["transfers"] == 800 == lab.told.done


def test_captures_are_kept_by_cell(run: Run, lab: Lab) -> None:
    run("run", "network=near", "config=er", "repeat=2", capture=True)
    names = sorted(path.name for path in (lab.tmp_path / "run" / "captures").iterdir())
    assert names == [
        f"{cell}-{repetition}.{host}.pcapng"
        for cell in range(3)
        for repetition in range(2)
        for host in ("h1", "h2")
    ]


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    ("settings", "what", "hint"),
    [
        (["stack.min_rtt=1ms"], "stack.min_rtt: unknown key", "did you mean min_rto?"),
        (["stack.min_rto=soon"], "stack.min_rto: soon is no duration", "rexmit stacks"),
        (["stack.name=linux-6.2"], 'there is no stack "linux-6.2"', "did you mean linux-6.12?"),
        (['stack={min_rto=["1ms", "2ms"]}'], "stack.min_rto: is one value", "a configuration"),
        (["configs.er.stack.hz=x"], "configs.er.stack.hz: x is no number", "rexmit stacks"),
        (["stack=3"], "3 is no table", "a table like"),
    ],
)
def test_wrong_stack_settings_are_refused(
    lab: Lab, settings: list[str], what: str, hint: str
) -> None:
    with pytest.raises(UserError) as error:
        lab.scenario(*settings)
    assert what in error.value.what
    assert error.value.what.startswith(f"`settings` {settings[0]}")
    assert hint in str(error.value.hint)
    assert error.value.usage


@pytest.mark.usefixtures("model")
def test_a_stack_that_is_not_there_is_refused(lab: Lab) -> None:
    with pytest.raises(UserError, match=r"there is no stack linux-3\.1") as error:
        of_scenario(lab.scenario(), "linux-3.1", None)
    assert "did you mean linux-3.10?" in str(error.value.hint)


@pytest.mark.usefixtures("model")
def test_a_file_with_stack_settings_is_refused_by_kernels(tmp_path: Path) -> None:
    from tests.campaign.conftest import SCENARIO

    from rexmit.scenario import load

    path = tmp_path / "mine.toml"
    path.write_text(SCENARIO + '[stack]\nmin_rto = "100ms"\n', encoding="utf-8")
    assert load(path).stack == {"min_rto": "100ms"}
    with pytest.raises(UserError) as error:
        load(path, engine="kernel")
    assert error.value.what.startswith(f"{path}:18: stack.min_rto: a kernel has no such setting")
    assert "`engine='model'`" in str(error.value.hint)
