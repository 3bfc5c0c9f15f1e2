"""Corpora made on real kernels: labels against counters, the record on and off, the same again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.processes import run_command

from rexmit import _core
from rexmit.engines.engine import cores
from rexmit.errors import UserError
from rexmit_validate.library.score import score
from rexmit_validate.synth import behaviours
from rexmit_validate.truth import causes, counters, kernel
from rexmit_validate.truth import corpus as corpora
from rexmit_validate.truth.draw import DrawnPart, draw
from rexmit_validate.truth.kernel import POINTS, Ran

pytestmark = pytest.mark.kernel

KERNELS = ("6.12", "6.1")
WAITS = "6.12+tcp-record-waits"
"""A kernel that records what its sockets wait for, too."""
QUIET = 0
"""A part without trouble."""
MIXED = 11
"""A part with loss both ways, disorder, delay spikes and outages."""


def rexmit(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rexmit", "validate", "truth", *words]
    return run_command(command, timeout=600)


@pytest.fixture(scope="module", params=KERNELS)
def corpus(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("truth") / "corpus"
    done = rexmit(
        "--kernel",
        request.param,
        "--seed",
        "5",
        "--connections",
        "300",
        "--out",
        str(out),
        "--json",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads(done.stdout)
    assert (said["parts"], said["connections"]) == (12, 300)
    return out


def test_labels_are_what_the_kernel_counted(corpus: Path) -> None:
    about = json.loads((corpus / "truth.json").read_text())
    assert about["kind"] == "kernel"
    assert about["counter_disagreements"] == []
    rows = pl.read_parquet(corpus / "retransmissions.parquet")
    assert Counter(rows["mechanism"].to_list()) == {
        mechanism: sum(needs.values()) for mechanism, needs in about["retransmissions"].items()
    }
    mechanisms = set(rows["mechanism"].to_list())
    assert mechanisms <= {
        *("rto", "rto-recovery", "tlp", "rack", "fast-retransmit", "sack-recovery")
    }
    assert {"rto", "rto-recovery", "tlp", "rack", "fast-retransmit"} <= mechanisms
    assert set(rows["need"].to_list()) == {"needed", "spurious"}


def test_rows_meet_their_packets(corpus: Path) -> None:
    rows = pl.read_parquet(corpus / "retransmissions.parquet")
    part = rows["part"].to_list()[0]
    for point in POINTS:
        of_part = rows.filter(pl.col("part") == part, pl.col(f"{point}_ns").is_not_null())
        packets = _core.read_pcapng(corpus / "captures" / f"{part}-{point}.pcapng")
        seen = {(p.time_ns, f"{p.src}:{p.sport} > {p.dst}:{p.dport}", p.seq) for p in packets}
        wanted = of_part.select(f"{point}_ns", "flow", "seq_start").iter_rows()
        assert {tuple(row) for row in wanted} <= seen
    lost = rows.filter(pl.col("dropped"), pl.col("home") == "sender")
    assert lost["receiver_ns"].null_count() == len(lost)


def run(part: DrawnPart, spec: str) -> tuple[dict[str, bytes], dict[str, Any], str]:
    """The captures of a part by point, the counters of its hosts, the kernel's record."""
    found: list[tuple[dict[str, bytes], dict[str, Any], str]] = []

    def keep(ran: Ran) -> None:
        captures = {point: ran.capture(point).read_bytes() for point in POINTS}
        text = ran.causes if part.plan["causes"] else ""
        found.append((captures, ran.end["counters"], text))

    kernel.run_part(part, kernel.open_engine(spec), core=cores()[0], on_part=keep)
    return found[0]


@pytest.mark.parametrize("spec", [*KERNELS, WAITS])
def test_recording_leaves_every_packet_and_time_as_it_is(spec: str) -> None:
    part = draw(_core, 3, MIXED, 25)
    on, counted, text = run(part, spec)
    off, counted_off, _ = run(replace(part, plan={**part.plan, "causes": 0}), spec)
    assert len(causes.parse(text)) > 50
    assert counted == counted_off
    assert on == off


@pytest.mark.parametrize("spec", KERNELS)
def test_the_same_seed_gives_the_same_packets_and_causes(spec: str) -> None:
    part = draw(_core, 4, MIXED, 10)
    assert run(part, spec) == run(part, spec)
    other = replace(part, seed=part.seed ^ 1)
    assert run(other, spec)[0] != run(part, spec)[0]


def test_single_connections_are_labelled_as_counted() -> None:
    """Each connection's host counters alone, so that no two labels can make up for each other."""
    for seed in range(6):
        part = draw(_core, seed, MIXED, 1)
        _, counted, text = run(part, "6.12")
        for host, address in (("h1", "10.0.0.1:"), ("h2", "10.0.0.2:")):
            mine = [one for one in causes.parse(text) if one.flow.startswith(address)]
            found = counters.difference(counted[host])
            assert counters.disagreements(found, mine) == []


@pytest.mark.parametrize("spec", KERNELS)
@pytest.mark.parametrize("kind", list(behaviours.known()))
def test_hosts_do_what_their_kind_says_and_labels_hold(spec: str, kind: str) -> None:
    found: dict[str, Any] = {}

    def keep(ran: Ran) -> None:
        labelled = corpora.label_part(ran)
        found["disagreements"] = labelled.disagreements
        found["causes"] = [
            r.cause.text for flow in labelled.flows for r in flow.retransmissions if r.cause
        ]
        found["outcomes"] = ran.end["connections"]
        packets = _core.read_pcapng(ran.capture("switch"))
        found["shut"] = sum(not p.window and not p.flags & 4 for p in packets)
        found["resets"] = sum(bool(p.flags & 4) for p in packets)
        found["counted"] = counters.difference(ran.end["counters"]["h1"])
        found["seconds"] = (packets[-1].time_ns - packets[0].time_ns) / 1e9

    engine = kernel.open_engine(spec)
    for behaviour in ("plain", kind):
        part = draw(_core, 3, QUIET, 25, behaviour)
        found["plain"] = dict(found)
        kernel.run_part(part, engine, core=cores()[0], on_part=keep)
        assert found["disagreements"] == []
    plain = found["plain"]
    if kind == "resets":
        assert all(one["cut"] for one in found["outcomes"] if not one["complete"])
        assert found["resets"] > plain["resets"] + 10
        return
    assert all(one["complete"] for one in found["outcomes"])
    assert not any(one["cut"] for one in found["outcomes"])
    if kind == "zero-windows":
        assert found["shut"] > plain["shut"] + 10
    elif kind == "deferred-accepts":
        assert found["counted"]["TCPDeferAcceptDrop"] > 10
        assert found["causes"].count("synack-timer") > plain["causes"].count("synack-timer")
    else:
        assert found["seconds"] > plain["seconds"] + 5


def test_a_log_without_room_is_refused() -> None:
    part = draw(_core, 3, MIXED, 25)
    _, _, text = run(replace(part, plan={**part.plan, "causes": 3}), "6.12")
    with pytest.raises(UserError, match="had no room"):
        causes.parse(text)


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    done = rexmit("--connections", "1", "--out", str(tmp_path))
    assert done.returncode == 1
    assert "not empty" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_an_interruption_leaves_nothing(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "rexmit",
        "validate",
        "truth",
        "--connections",
        "5000",
        "--jobs",
        "1",
    ]
    with subprocess.Popen(
        [*command, "--out", str(tmp_path / "corpus")],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        assert "5,000" in process.stderr.readline()
        while not any(path.name.startswith(".corpus") for path in tmp_path.iterdir()):
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        said = process.stderr.read()
        assert process.wait(60) == 143
    assert "stopped" in said
    assert list(tmp_path.iterdir()) == []


def test_the_time_of_connections_is_what_their_programs_were_told() -> None:
    """The record of a kernel against what the lab set: how long servers think."""
    found: dict[str, Any] = {}

    def keep(ran: Ran) -> None:
        rows = corpora.label_part(ran).waits
        assert rows is not None
        found["rows"] = pl.DataFrame(rows)
        found["outcomes"] = ran.end["connections"]

    part = draw(_core, 3, QUIET, 25)
    kernel.run_part(part, kernel.open_engine(WAITS), core=cores()[0], on_part=keep)
    plans = part.plan["connections"]
    judged = 0
    for outcome in found["outcomes"]:
        plan = plans[outcome["connection"]]
        flow = f"{outcome['server']} > {outcome['client']}"
        rows = found["rows"].filter(pl.col("flow") == flow)
        home = "sender" if plan["server"] == "h1" else "receiver"
        begin, end = rows[f"{home}_from_ns"], rows[f"{home}_to_ns"]
        assert (begin.slice(1) <= end.head(-1)).all()
        assert end.is_sorted()
        exchanges = plan["exchanges"]
        if "writing" in plan or any(one["duplex"] for one in exchanges):
            continue
        judged += 1
        lengths = rows.select("owner", length=pl.col(f"{home}_to_ns") - pl.col(f"{home}_from_ns"))
        thought = lengths.filter(pl.col("owner") == "server")["length"].sum()
        told = sum(one["serve_ns"] for one in exchanges)
        assert thought == pytest.approx(told, rel=0.05, abs=2e6)
    assert judged > 10


def test_recorded_time_is_scored(tmp_path: Path) -> None:
    out = tmp_path / "corpus"
    done = rexmit("--kernel", WAITS, "--seed", "5", "--connections", "300", "--out", str(out))
    assert done.returncode == 0, done.stdout + done.stderr
    made = score(out, with_tshark=False)
    for point in POINTS:
        time_ = made.at(point).time
        assert time_ is not None
        assert time_.largest.retransmissions > 100
