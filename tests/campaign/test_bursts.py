"""Campaigns of bursts over paths: their tables; configurations whose patch a kernel lacks."""

from __future__ import annotations

import copy
import dataclasses
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.campaign import fake_model
from tests.campaign.conftest import FakeStreams, Lab, Told
from tests.scenario.test_paths import GOOD

from rexmit._core import Batch
from rexmit.campaign.runner import CampaignRun, Request
from rexmit.campaign.suited import suited
from rexmit.engines.engine import Task
from rexmit.engines.intake import Intake
from rexmit.engines.kernel import KernelEngine
from rexmit.engines.model import ModelEngine
from rexmit.errors import UserError
from rexmit.scenario import Scenario, effective, from_plain
from rexmit.scenario.stacks import of_scenario
from rexmit.stacks import Stack
from rexmit.store.schema import BURSTS, RETRANSMISSIONS, SUBFLOWS, TRANSFERS, polars_schema

STUDY = copy.deepcopy(GOOD) | {"repeat": 2}

TRANSFER: dict[str, Any] = {
    "phase_ns": 1,
    "transfer_size_bytes": 80_000,
    "transfer_segments": 80,
    "lost_segments": 0,
    "loss_mode": "sequence",
    "loss_pattern": "path 1 burst 2 data -1",
    "dropped_segments": 1,
    "dropped_packets": 1,
    "fin_on_data": False,
    "mss_bytes": 1000,
    "exact": True,
    "stalled": False,
    "t_start_ns": 2 * 10**9,
    "t_drop_ns": 3,
    "t_retransmit_ns": 4,
    "t_fin_retransmit_ns": None,
    "t_end_ns": 5,
    "t_recover_ns": 1,
    "t_total_ns": 100_000_000,
    "is_tlp": None,
    "mechanism": "mptcp-reinject",
    "retransmissions": 1,
    "timeouts": 0,
    "probes": 0,
    "spurious_retransmissions": 0,
    "dsacks": 0,
    "srtt_us": 1,
    "rto_us": 1,
    "client_ns": 1,
    "client_port": 40_000,
    "isn_server": 1,
    "isn_client": 1,
    "complete": True,
    "note": None,
}

OF_PATHS: dict[str, Any] = {
    "protocol": "mptcp",
    "first_path": 1,
    "subflows": 2,
    "scheduler": "default",
    "path_packets": "41 39",
    "reinjections": 1,
    "reinjected_bytes": 1000,
    "mptcp_retransmissions": 1,
    "probe_reinjections": None,
}

RETRANSMISSION: dict[str, Any] = {
    "lost_segments": 0,
    "time_ns": 4,
    "seq": 1,
    "length_bytes": 1000,
    "fin": False,
    "mechanism": "mptcp-reinject",
    "need": "needed",
    "first_sent_ns": 3,
    "dropped": False,
}


def run_model(plan: str, share: str | None) -> tuple[str, dict[str, Batch]]:  # noqa: ARG001
    """A model that measures nothing."""
    return fake_model.answer(events(plan))


def events(plan: str) -> list[dict[str, Any]]:
    """What it tells, one thing after another."""
    (cell,) = json.loads(plan)["cells"]
    own = {"cell": cell["id"]}
    told: list[dict[str, Any]] = [{"type": "cell-start", **own, "virtual_ns": 0}]
    for start in cell["starts"]:
        each = {**own, "repetition": start["repetition"]}
        told.append({"type": "transfer", **each, **TRANSFER, **OF_PATHS})
        told.append(
            {"type": "retransmission", **each, **RETRANSMISSION}
            | {"path": 2, "first_path": 1, "data_seq": 159_001}
        )
        told += [
            {"type": "burst", **each, "burst": burst, "t_start_ns": burst, "bytes": 80_000}
            | {"completion_ns": 70_000_000, "packets": 80, "path_packets": "41 39"}
            for burst in (2, 1)
        ]
        told += [
            {"type": "subflow", **each, "path": path, "client_port": 40_000 + path}
            | {"t_confirmed_ns": None, "packets": 80, "retransmissions": 0, "reinjections": 1}
            | {"srtt_us": 40_000, "rto_us": 240_000, "cwnd": 10}
            for path in (1, 2)
        ]
    told.append({"type": "cell-end", **own, "virtual_ns": 9})
    return told


def campaign(folder: Path, run: Any = run_model) -> dict[str, Any]:  # noqa: ANN401
    scenario = from_plain(STUDY)
    stacks = {name: Stack("linux-6.12", {}, {"hz": "1000"}) for name in scenario.configs}
    engine = ModelEngine(run, "1", "h", stacks, ())
    request = Request("fake", scenario, folder, "rexmit run fake", "1", 1, capture=False)
    return CampaignRun(request, engine, FakeStreams(), Told()).run()


def test_a_run_has_tables_of_bursts_and_subflows(tmp_path: Path) -> None:
    meta = campaign(tmp_path / "run")
    assert (meta["state"], meta["transfers"]) == ("complete", 4)
    names = {file.name for file in (tmp_path / "run").iterdir()}
    assert {"bursts.parquet", "subflows.parquet"} <= names
    tables = {
        name: pl.read_parquet(tmp_path / "run" / f"{name}.parquet")
        for name in ("transfers", "retransmissions", "bursts", "subflows")
    }
    for name, columns in (
        ("transfers", TRANSFERS),
        ("retransmissions", RETRANSMISSIONS),
        ("bursts", BURSTS),
        ("subflows", SUBFLOWS),
    ):
        assert dict(tables[name].schema) == polars_schema(columns)
    row = tables["transfers"].row(0, named=True)
    assert row.items() >= {**OF_PATHS, "page_segments": 80, "t_total_s": 0.1}.items()
    assert row["loss_pattern"] == "path 1 burst 2 data -1"
    retransmission = tables["retransmissions"].row(0, named=True)
    assert (retransmission["path"], retransmission["first_path"], retransmission["data_seq"]) == (
        2,
        1,
        159_001,
    )
    order = tables["bursts"].select("cell", "repetition", "burst").rows()
    assert order == [(c, r, b) for c in (0, 1) for r in (0, 1) for b in (1, 2)]
    burst, subflow = (tables[name].row(0, named=True) for name in ("bursts", "subflows"))
    assert (burst["network"], burst["config"], burst["completion_s"]) == ("two", "tcp", 0.07)
    assert (subflow["srtt_s"], subflow["rto_s"], subflow["cwnd"]) == (0.04, 0.24, 10)


def test_a_row_without_what_it_must_have_or_a_failed_cell_leaves_nothing(tmp_path: Path) -> None:
    plan = {"cells": [{"id": 0, "starts": [{"repetition": 0}]}]}
    intake = Intake(Task(0, "x", "c", 1, 1, {}), lambda _: None, teller="the guest")
    for event in events(json.dumps(plan)):
        if event["type"] == "subflow":
            del event["packets"]
        intake.take(event)
    failed = intake.record.failed
    assert failed is not None
    assert "told of a subflow in which packets is missing" in failed.message
    assert intake.record.tables == {}

    def failing(plan: str, share: str | None) -> tuple[str, dict[str, Batch]]:  # noqa: ARG001
        error = {"type": "cell-error", "cell": 0, "message": "path 2 never came up"}
        return fake_model.answer([*events(plan)[:-1], error])

    meta = campaign(tmp_path / "failed", failing)
    assert meta["failed_cells"][0]["message"] == "path 2 never came up"
    assert not (tmp_path / "failed" / "bursts.parquet").exists()


def with_patch(**changes: object) -> dict[str, Any]:
    data = copy.deepcopy(STUDY)
    data["configs"]["new"] = {"protocol": "mptcp", "patch": "mptcp-reinject-on-tlp"}
    return data | changes


def kernel(lab: Lab, *patches: str) -> KernelEngine:
    return KernelEngine(dataclasses.replace(lab.kernel, patches=patches), Path(), "g", {})


def model(scenario: Scenario, stack: str | None = None) -> ModelEngine:
    return ModelEngine(run_model, "1", "h", of_scenario(scenario, stack, None), ())


def test_a_configuration_for_a_patch_is_left_out_where_the_kernel_lacks_it(lab: Lab) -> None:
    scenario = from_plain(with_patch())
    left, said = suited(scenario, kernel(lab))
    assert left.config_names == ("tcp", "mptcp")
    (line,) = said
    assert line.startswith("configuration new is left out: it needs the patch mptcp-reinject-on")
    assert "rexmit kernel build 6.12 --patch mptcp-reinject-on-tlp" in line
    assert from_plain(effective(left)).config_names == ("tcp", "mptcp")
    assert suited(scenario, kernel(lab, "mptcp-reinject-on-tlp")) == (scenario, [])
    assert suited(scenario, model(scenario)) == (scenario, [])


def test_a_configuration_asked_for_by_name_is_not_left_out(lab: Lab) -> None:
    for config in (["tcp", "new"], ["new"]):
        with pytest.raises(UserError, match="new needs the patch mptcp-reinject-on-tlp"):
            suited(from_plain(with_patch(config=config)), kernel(lab))
    only = with_patch()
    only["configs"] = {"new": only["configs"]["new"]}
    with pytest.raises(UserError) as caught:
        suited(from_plain(only), kernel(lab))
    assert "`kernel='6.12+mptcp-reinject-on-tlp'`" in str(caught.value.hint)


def test_a_patch_that_is_not_known_is_said_with_those_that_are(lab: Lab) -> None:
    data = with_patch(config=["new"])
    data["configs"]["new"]["patch"] = "mptcp-reinject-on-tpl"
    scenario = from_plain(data)
    near = "mptcp-reinject-on-tlp"
    with pytest.raises(UserError, match=r"and 6\.12\.0 does not have it") as caught:
        suited(scenario, kernel(lab))
    assert str(caught.value.hint).startswith(f"did you mean {near}?")
    assert "rexmit kernel build 6.12 --patch FILE" in str(caught.value.hint)
    with pytest.raises(UserError, match="and the model knows no such patch") as caught:
        suited(scenario, model(scenario))
    hint = f"did you mean {near}? it knows: {near}, tcp-record-waits"
    assert str(caught.value.hint) == hint


def test_a_kernel_without_multipath_tcp_is_refused_for_it(lab: Lab, tmp_path: Path) -> None:
    config = tmp_path / "config"
    engine = kernel(lab)
    engine = dataclasses.replace(engine, kernel=dataclasses.replace(engine.kernel, config=config))
    scenario = from_plain(STUDY)
    # Where nobody knows, the kernel will say.
    assert suited(scenario, engine) == (scenario, [])
    config.write_text("CONFIG_INET=y\n# CONFIG_MPTCP is not set\nCONFIG_MPTCP_IPV6=y\n")
    with pytest.raises(UserError, match="mptcp is of Multipath TCP, and the kernel fake") as caught:
        suited(scenario, engine)
    hint = str(caught.value.hint)
    assert f"CONFIG_MPTCP is not set in {config}; name a kernel" in hint
    assert hint.endswith("; or without it: `settings` config=tcp")
    assert suited(from_plain(copy.deepcopy(STUDY) | {"config": ["tcp"]}), engine)[1] == []
    config.write_text("CONFIG_MPTCP=y\n")
    assert suited(scenario, engine) == (scenario, [])


def test_a_stack_without_multipath_tcp_is_refused_for_it() -> None:
    scenario = from_plain(STUDY)
    with pytest.raises(UserError, match=r"and the stack linux-3\.10 does not have it") as caught:
        suited(scenario, model(scenario, "linux-3.10"))
    assert "linux-4.1, linux-6.1, linux-6.12; or without it" in str(caught.value.hint)
