"""The ways for old kernels, at work on kernels that have new ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.lab.conftest import KERNELS, SCENARIO, Lab, sets

from rexmit.engines.has import has
from rexmit.engines.kernel import KernelEngine, find_kernel

NEW: Mapping[str, str] = {"REXMIT_INTERFACES": "5.16"}
"""All but what lets packets pass without the filter."""

OLD: Mapping[str, str] = {"REXMIT_INTERFACES": "3.2"}
"""iptables for nf_tables, inet_diag for sock_diag (docs/notes/old-interfaces.md)."""

BY_CHANCE = ("isn_server", "isn_client", "client_port")
"""What hosts draw: programs that make other calls leave them another chance."""

CLOCK_S = 3e-6
"""Seconds by which times differ: new kernels do not give the filter every packet, and a look at the
clock takes 256 ns."""

SHAPES = {
    "page": (SCENARIO, "network=high-speed", "config=er,tlp", "loss.segments=5", "repeat=2"),
    "mininet": (
        *(SCENARIO, "network=mobile", "networks.mobile.at=host", "config=tlp"),
        *("loss.segments=5", "repeat=2"),
    ),
    "bursts": (SCENARIO.with_name("mptcp-smoke.toml"),),
}


def tables(lab: Lab, out: Path, shape: str, env: Mapping[str, str]) -> dict[str, pl.DataFrame]:
    scenario, *settings = map(str, SHAPES[shape])
    words = ("run", scenario, "--kernel", lab.kernel, "--out", str(out), *sets(*settings))
    lab.rexmit(*words, env=env).ok()
    found = {path.stem: pl.read_parquet(path) for path in out.glob("*.parquet")}
    return {name: table.drop(BY_CHANCE, strict=False) for name, table in found.items()}


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_are_the_same_without_any_interface_since_linux_3_2(
    each: Lab, shape: str, tmp_path: Path
) -> None:
    new, old = (
        tables(each, tmp_path / name, shape, env) for name, env in (("new", NEW), ("old", OLD))
    )
    assert new.keys() == old.keys()
    assert new["transfers"].height
    for name, table in new.items():
        assert table.equals(old[name]), name


def test_rows_are_the_same_where_packets_pass_without_the_filter(each: Lab, tmp_path: Path) -> None:
    """But for what its looks at the clock take. Where a timer and an acknowledgement come within
    that of each other (`at = "host"`), the other may come first.
    """
    new, old = (
        tables(each, tmp_path / name, "page", env) for name, env in (("new", {}), ("old", NEW))
    )
    for name, table in new.items():
        assert_frame_equal(table, old[name], check_exact=False, rel_tol=0, abs_tol=CLOCK_S)


def test_packets_over_ipv6_are_queued_without_nf_tables(lab: Lab) -> None:
    settings = ("network=high-speed", "config=tlp", "ip.family=6", "loss.segments=5", "repeat=2")
    run = lab.try_run(*settings, env=OLD)
    run.done.ok()
    assert [(row["dropped_segments"], row["complete"]) for row in run.rows()] == [(5, True)] * 2


def test_a_setting_that_hosts_share_is_set(lab: Lab) -> None:
    """As all of TCP's were before Linux 4.15: it stands in the first network namespace alone."""
    shared = 'configs.tlp.sysctl."net.core.rmem_max"=300000'
    run = lab.try_run("network=high-speed", "config=tlp", "loss.segments=1", "repeat=1", shared)
    run.done.ok()
    assert run.rows()[0]["complete"]


def test_all_that_is_missing_is_named_before_a_cell_runs(lab: Lab) -> None:
    run = lab.try_run(
        *("network=high-speed", "config=tlp", "loss.segments=1", "repeat=1"),
        *("configs.tlp.sysctl.net.ipv4.tcp_nothing=1", "configs.tlp.sysctl.net.ipv4.tcp_none=1"),
    )
    (failed,) = run.meta["failed_cells"]
    assert failed["message"].startswith(
        "this kernel has no setting net.ipv4.tcp_none; no setting net.ipv4.tcp_nothing "
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_says_what_it_has(kernel: str) -> None:
    engine = KernelEngine.open(find_kernel(kernel), [])
    asked = {"net.ipv4.tcp_sack", "net.ipv4.tcp_rto_min_us", "net.core.rmem_max", "net.no"}
    found = has(engine, asked, {"cubic", "nosuch"})
    newer = {"net.ipv4.tcp_rto_min_us"} if kernel == "6.12" else set()
    assert found.sysctls == {"net.ipv4.tcp_sack", "net.core.rmem_max"} | newer
    assert found.congestion_controls == {"cubic"}


def test_offloads_are_what_the_scenario_says(each: Lab) -> None:
    """With segmentation a probe sends what is left of a super-segment, and not one segment of
    it."""
    cell = ("network=high-speed", "config=tlp", "loss.segments=5", "repeat=2")
    gathers = ("offload.checksum=true",)
    none, some, every = (
        each.run(*cell, *more).transfers
        for more in ((), gathers, (*gathers, "offload.segmentation=true"))
    )
    times = ["t_recover_s", "t_total_s", "mechanism", "transfer_segments"]
    assert none[times].equals(some[times]), "since Linux 4.17 it makes no difference"
    assert (every["t_recover_s"] < none["t_recover_s"]).all()
    assert every["transfer_segments"].equals(none["transfer_segments"]), "the rule sees segments"


def test_routes_say_what_the_scenario_says(each: Lab) -> None:
    cell = ("config=er", "repeat=1")
    lost = (*cell, "network=high-speed", "loss.segments=5")
    (own,), (short,) = (
        each.run(*lost, *more).transfers["t_recover_s"] for more in ((), ("route.rto_min=50ms",))
    )
    assert own - short == pytest.approx(0.150, abs=0.010), "200 ms are the kernel's own"
    page = (*cell, "network=mobile", "loss.segments=0", "workload.segments=20")
    windows = ((), ("route.initcwnd=20",), ("route.initrwnd=2",))
    ten, twenty, held_up = (each.run(*page, *more).transfers["client_s"].item() for more in windows)
    assert twenty < ten < held_up


def test_a_route_has_every_segment_acknowledged(each: Lab) -> None:
    page = ("workload.segments=2000", "loss.segments=0")
    words = ("config=er", "repeat=1", "network=high-speed", *page)
    numbers = []
    for more in ((), ("route.quickack=true",)):
        run = each.run(*words, *more, options=("--capture",))
        (row,) = run.rows()
        packets = run.capture(row, "h1")
        data = sum(packet.payload_len > 0 for packet in packets if packet.sport == 80)
        acks = sum(packet.payload_len == 0 for packet in packets if packet.dport == 80)
        numbers.append(acks / data)
    seldom, always = numbers
    assert seldom < 0.8 < 0.98 < always
