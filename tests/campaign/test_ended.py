"""Transfers that end early, or never begin: each has a row that says how it ended."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.campaign import fake_model
from tests.processes import run_command

from rexmit.campaign.runner import CampaignRun, Request
from rexmit.campaign.streams import core_streams
from rexmit.engines.engine import Task
from rexmit.engines.intake import Intake
from rexmit.engines.model import ModelEngine
from rexmit.progress import for_stream
from rexmit.scenario import from_plain
from rexmit.scenario.stacks import of_scenario

ENDS = ("finished", "short", "timed-out", "gave-up", "reset", "refused", "not-connected", "failed")

PAGES = """
format = 1
repeat = 3
[networks.slow]
rate = "10Mbit"
delay = "5ms"
[configs.plain]
[workload]
timeout = "60s"
[loss]
rule = "pattern"
pattern = ["data 5#1..100", "data 3", "ack 1..1000"]
"""

LOSSY = """
format = 1
repeat = 3
[networks.line]
rate = "1Mbit"
delay = "20ms"
loss = ["5%", "60%", "100%"]
[configs.plain]
[workload]
segments = 500
timeout = "8s"
"""

BURSTS = """
format = 1
repeat = 2
[networks.gone]
rate = "10Mbit"
loss = ["60%", "100%"]
paths = [{ delay = "5ms" }, { delay = "10ms" }]
[networks.fine]
rate = "10Mbit"
paths = [{ delay = "5ms" }, { delay = "10ms" }]
[configs.mptcp]
protocol = "mptcp"
[configs.tcp]
[workload]
server = "burst"
bursts = 2
burst_segments = 20
timeout = "2s"
[loss]
rule = "pattern"
pattern = ["none", "data 3#1..100"]
"""


def rexmit(*words: str) -> str:
    done = run_command([sys.executable, "-m", "rexmit", *words])
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(params=["model", pytest.param("kernel", marks=pytest.mark.kernel)])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def ran(tmp_path: Path, scenario: str, engine: str) -> tuple[Path, pl.DataFrame]:
    file, out = tmp_path / "early.toml", tmp_path / "run"
    file.write_text(scenario, encoding="utf-8")
    rexmit("run", str(file), "--engine", engine, "--out", str(out), "--capture")
    return out, pl.read_parquet(out / "transfers.parquet")


def by(rows: pl.DataFrame, column: str, value: object) -> set[tuple[str, bool, bool | None]]:
    chosen = rows.filter(pl.col(column) == value)
    assert not chosen.is_empty()
    return set(chosen.select("ended", "complete", "fin_on_data").rows())


@pytest.mark.slow
def test_pages_that_end_before_their_fin(tmp_path: Path, engine: str) -> None:
    out, rows = ran(tmp_path, PAGES, engine)
    assert rows.height == 9
    assert by(rows, "loss_pattern", "data 5#1..100") == {("timed-out", False, None)}
    assert by(rows, "loss_pattern", "data 3") == {("finished", True, True)}
    for words in (["show"], ["show", "--json"], ["plot"], ["show", "--flow", "0"]):
        rexmit(words[0], str(out), *words[1:])
    rexmit("diff", str(out), str(out))


def test_lines_that_lose_too_much(tmp_path: Path, engine: str) -> None:
    out, rows = ran(tmp_path, LOSSY, engine)
    assert rows.height == 9
    assert by(rows, "line_loss", 1.0) == {("timed-out", False, None)}
    dead = rows.filter(pl.col("line_loss") == 1.0).row(0, named=True)
    assert dead["t_start_s"] is None
    assert dead["transfer_segments"] == 0
    assert "no head of a response left the server" in dead["note"]
    assert dead["client_s"] == pytest.approx(8.0, abs=0.5)
    rexmit("show", str(out))
    rexmit("diff", str(out), str(out))


@pytest.mark.slow
def test_connections_that_do_not_come_up(tmp_path: Path, engine: str) -> None:
    out, rows = ran(tmp_path, BURSTS, engine)
    assert rows.height == 2 * 2 * 2 * 3
    gone = rows.filter(pl.col("line_loss") == 1.0)
    assert set(gone.select("ended", "complete").rows()) == {("not-connected", False)}
    assert gone["note"].str.contains("path 1 does not come up within 10 s").all()
    fine = rows.filter(pl.col("network") == "fine", pl.col("config") == "tcp")
    assert by(fine, "loss_pattern", "none") == {("finished", True, False)}
    assert by(fine, "loss_pattern", "data 3#1..100") == {("timed-out", False, False)}
    assert rows["ended"].is_in(list(ENDS)).all()
    rexmit("show", str(out))
    rexmit("diff", str(out), str(out))
    number = str(rows["line_loss"].arg_max())
    command = [sys.executable, "-m", "rexmit", "show", str(out), "--flow", number]
    done = run_command(command)
    assert "has no subflow: its connection never came up" in done.stderr


ROUGH = """
format = 1
repeat = 6
[networks.rough]
rate = "2Mbit"
delay = "10ms"
loss = "50%"
queue = 5
[configs.plain]
[workload]
client = ["builtin", "curl"]
segments = 40
timeout = "20s"
[loss]
rule = "pattern"
pattern = ["data 5 8#1..9; ack 2..9", "data fin#1..100"]
"""


@pytest.mark.kernel
def test_what_is_left_of_a_transfer_is_not_in_the_next_row(tmp_path: Path) -> None:
    _, rows = ran(tmp_path, ROUGH, "kernel")
    assert rows.height == 24
    assert not rows["complete"].all()
    # Two witnesses of each transfer, and one transfer seen in its time.
    assert not rows["note"].fill_null("").str.contains("the sender counts|transfers seen").any()


positions = st.one_of(
    st.integers(1, 60).map(str),
    st.integers(1, 9).map("-{}".format),
    st.integers(1, 30).map(lambda first: f"{first}..{first + 400}"),
)
again = st.sampled_from(["", "#2", "#1..3", "#1..100"])
some = st.lists(st.tuples(positions, again).map("".join), min_size=1, max_size=3).map(" ".join)
data = some.map("data {}".format)
acks = st.lists(positions.filter(lambda text: "-" not in text), min_size=1, max_size=2)
patterns = st.one_of(
    st.just("none"), data, acks.map(" ".join).map("ack {}".format), data.map("{}; ack 1..40".format)
)
losses = st.sampled_from(["0%", "10%", "60%", "100%"])
timeouts = st.sampled_from(["1ms", "40ms", "300ms", "2s", "60s"])


@st.composite
def scenarios(draw: st.DrawFn) -> dict[str, Any]:
    """Pages or bursts, with losses and timeouts that let few of them through."""
    network: dict[str, Any] = {"rate": "10Mbit", "delay": "10ms", "loss": draw(losses)}
    workload: dict[str, Any] = {"segments": draw(st.sampled_from([1, 60])), "timeout": "2s"}
    configs: dict[str, Any] = {"plain": {}}
    # A position that the page does not have is an error of the scenario's, too.
    of_one = st.sampled_from(["none", "data 1", "data 1..401#1..3", "data -1#1..100", "ack 1..40"])
    pattern = draw(patterns if workload["segments"] > 1 else of_one)
    if draw(st.booleans()):
        network["paths"] = [{"delay": "10ms"}, {"delay": "15ms", "loss": draw(losses)}]
        workload = {"server": "burst", "bursts": 2, "burst_segments": 30, "gap": "100ms"}
        configs = {"mptcp": {"protocol": "mptcp"}, "tcp": {}}
        # A position of which no burst has a packet is an error of the scenario's.
        pattern = draw(st.sampled_from(["none", "data 2#1..100", "ack 1..40", "data -1#1..3"]))
    return {
        "format": 1,
        "repeat": 2,
        "networks": {"hard": network},
        "configs": configs,
        "workload": workload | {"timeout": draw(timeouts)},
        "loss": {"rule": "pattern", "pattern": pattern},
    }


@settings(max_examples=60, deadline=None, derandomize=True)
@given(data=scenarios())
def test_every_repetition_has_a_row(data: dict[str, Any]) -> None:
    scenario = from_plain(data)
    engine = ModelEngine.open("1", of_scenario(scenario, "linux-6.12", None), ())
    with TemporaryDirectory() as folder:
        request = Request("hard", scenario, Path(folder) / "run", "x", "1", 1, capture=False)
        campaign = CampaignRun(request, engine, core_streams(), for_stream(sys.stderr, "transfers"))
        meta = campaign.run()
        rows = pl.read_parquet(request.out / "transfers.parquet")
    assert meta["failed_cells"] == []
    assert rows.height == 2 * len(data["configs"])
    assert rows["ended"].is_in(list(ENDS)).all()
    assert ((rows["ended"] == "finished") == rows["complete"]).all()


def test_a_row_that_is_none_fails_its_cell_alone() -> None:
    cell = {"id": 0, "loss": {"segments": 0}, "seed": 1, "stack": "x"}
    row = fake_model.transfer(cell, {"repetition": 0, "phase_ns": 0}, 10)[0]
    task = Task(cell=3, label="x", config="c", repeat=1, seed=1, plan={})
    start = {"type": "cell-start", "cell": 0}
    end = {"type": "cell-end", "cell": 0}

    def told(*events: dict[str, Any]) -> str | None:
        done: list[int] = []
        intake = Intake(task, done.append, teller="the guest")
        for event in events:
            intake.take(event)
        failed = intake.record.failed
        assert sum(done) == intake.record.transfers == (0 if failed else 1)
        return None if failed is None else failed.message

    assert told(start, row, end) is None
    assert told(start, row | {"fin_on_data": None}, end) is None
    for name, value in (
        ("exact", None),
        ("retransmissions", "1"),
        ("retransmissions", 2**70),
        ("complete", 1),
    ):
        message = told(start, row | {name: value}, end)
        assert message is not None
        assert f"told of a transfer in which {name} is" in message
    for events in ([row], [start, row, end, row], [start, row | {"cell": 1}], [end]):
        assert "out of turn" in str(told(*events))
    assert "cell-start" in str(told(start | {"ignored": [1]}))
