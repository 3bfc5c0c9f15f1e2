"""Bursts over several paths on real kernels: what was lost, what went where, and where again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.lab.conftest import KERNELS, Lab, Run, User, sets

STUDY = Path(__file__).parents[2] / "scenarios" / "mptcp-2017.toml"
ONE, TWO, PROBE = (
    "path 1 burst 2 data -1",
    "path 1 burst 2 data -2..-1",
    "path 1 burst 2 data -1#1..2",
)
LOSSES = {ONE: (1, 1), TWO: (2, 2), PROBE: (1, 2)}
"""Packets of new data that each drops, and packets in all."""
GRID = ("network=20-30,30-20", "config=tcp-tlp,mptcp-rto,mptcp-tlp", "repeat=2")
DELAYS_S = {"20-30": (0.02, 0.03), "30-20": (0.03, 0.02)}

CLIENTS = ("10.0.1.2", "10.0.2.2")
SCENARIO = """
format = 1
title = "errors"
repeat = 1
[networks.short]
rate = "54Mbit"
paths = [{{ delay = "2ms" }}, {{ delay = "2ms"{second} }}]
[configs.one]
protocol = "mptcp"
[configs.one.sysctl]
{sysctl}
[workload]
server = "burst"
bursts = 2
burst_segments = 5
gap = "100ms"
[loss]
rule = "pattern"
pattern = ["{pattern}"]
"""


def study(lab: Lab, out: str, *settings: str, options: tuple[str, ...] = ()) -> Run:
    """A part of Probe or Wait 2017; it has to succeed."""
    folder = lab.user.home / f"{out}-{lab.kernel}"
    words = ("run", str(STUDY), "--kernel", lab.kernel, "--out", str(folder))
    return Run(folder, lab.rexmit(*words, *sets(*settings), *options).ok())


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    """What `run` has run."""
    return {}


@pytest.fixture
def run(each: Lab, runs: dict[str, Run]) -> Run:
    """Every kernel's part of the study, with captures."""
    if each.kernel not in runs:
        runs[each.kernel] = study(each, "paths", *GRID, options=("--capture", "--jobs", "2"))
    return runs[each.kernel]


def table(run: Run, name: str) -> pl.DataFrame:
    return pl.read_parquet(run.path / f"{name}.parquet")


def of(rows: pl.DataFrame, row: dict[str, Any]) -> list[dict[str, Any]]:
    return rows.filter(cell=row["cell"], repetition=row["repetition"]).to_dicts()


def test_what_the_pattern_names_is_lost_and_nothing_else(run: Run) -> None:
    assert run.transfers.height == 2 * 3 * 3 * 2
    for row in run.transfers.to_dicts():
        dropped = row["dropped_segments"], row["dropped_packets"]
        assert dropped == LOSSES[row["loss_pattern"]], row
        # Kernel and filter count the same retransmissions, or a note would say so.
        assert (row["exact"], row["complete"], row["note"]) == (True, True, None), row
        if row["loss_pattern"] == PROBE:
            lost = [
                retransmission
                for retransmission in run.retransmissions_of(row)
                if retransmission["dropped"]
            ]
            assert [(one["path"], one["mechanism"]) for one in lost] in (
                [(1, "tlp")],
                [(1, "rto")],
            )


def test_both_paths_carry_data_and_tcp_one(run: Run) -> None:
    bursts, subflows = table(run, "bursts"), table(run, "subflows")
    for row in run.transfers.to_dicts():
        packets = [int(number) for number in row["path_packets"].split()]
        first, last = of(bursts, row)
        assert sum(packets) == last["packets"] == row["transfer_segments"]
        assert last["t_start_s"] - first["t_start_s"] == pytest.approx(2, abs=1e-6)
        assert last["completion_s"] == pytest.approx(row["t_total_s"], abs=1e-9)
        flows = of(subflows, row)
        assert row["subflows"] == len(flows)
        if row["config"] == "tcp-tlp":
            assert (row["protocol"], row["scheduler"]) == ("tcp", None)
            assert packets == [80, 0]
            assert row["reinjections"] == 0
            assert row["mptcp_retransmissions"] is None
        else:
            assert (row["protocol"], row["scheduler"]) == ("mptcp", "default")
            assert min(packets) > 0
            assert [flow["path"] for flow in flows] == [1, 2]
        for flow in flows:
            round_trip = 2 * DELAYS_S[row["network"]][flow["path"] - 1]
            assert flow["t_confirmed_s"] < first["t_start_s"]
            assert round_trip < flow["srtt_s"] < round_trip + 0.05
            assert flow["cwnd"] > 0
            assert flow["rto_s"] > 0.2


def data(row: dict[str, Any]) -> range:
    """What a retransmission carries, by its place in the connection's stream."""
    return range(row["data_seq"], row["data_seq"] + row["length_bytes"])


def meet(one: range, other: range) -> bool:
    return max(one.start, other.start) < min(one.stop, other.stop)


def test_what_is_re_injected_goes_another_path(run: Run) -> None:
    seen = 0
    for row in run.transfers.to_dicts():
        retransmissions = run.retransmissions_of(row)
        again = [one for one in retransmissions if one["mechanism"] == "mptcp-reinject"]
        assert len(again) == row["reinjections"]
        assert sum(one["length_bytes"] for one in again) == row["reinjected_bytes"]
        assert len(retransmissions) - len(again) == row["retransmissions"]
        if row["protocol"] == "tcp":
            continue
        # Two witnesses: the mappings on the wire, and the kernel's counter.
        assert row["reinjections"] == row["mptcp_retransmissions"]
        seen += len(again)
        # What was lost goes the other path. What lies behind it in the stream and has arrived long
        # since goes with it, some of it where it went before (docs/notes/mptcp-fragments.md).
        needed = [one for one in again if one["need"] == "needed"]
        assert {one["path"] for one in needed} <= {2}
        # The first path sends what was lost again as well. Where bytes lie behind it in the stream
        # that had gone the other path before, 6.1 joins them with it.
        lost = [data(one) for one in retransmissions if one["path"] == one["first_path"] == 1]
        assert all(any(meet(data(one), other) for other in lost) for one in needed), row
        probes = [one for one in retransmissions if one["mechanism"] == "tlp"]
        assert row["config"] == "mptcp-tlp" or not probes
        assert all(one["path"] == one["first_path"] for one in probes)
    assert seen > 0


def test_the_wire_says_the_same(run: Run) -> None:
    for row in run.rows(config="mptcp-tlp", network="20-30"):
        packets = run.capture(row, "h1")
        sent = [packet for packet in packets if packet.sport == 80]
        lost = [packet for packet in sent if "dropped" in (packet.comment or "")]
        assert [packet.dst for packet in lost] == [CLIENTS[0]] * row["dropped_packets"]
        again = [packet for packet in sent if "mptcp-reinject" in (packet.comment or "")]
        assert len(again) == row["reinjections"]
        assert {packet.dst for packet in again} <= {CLIENTS[1]}
        # What was dropped does not come out of the network, all else does.
        arrived = [packet for packet in run.capture(row, "h2") if packet.sport == 80]
        assert len(arrived) == len(sent) - len(lost)
        passed = sorted(p.seq for p in sent if p not in lost)
        assert sorted(packet.seq for packet in arrived) == passed
        for client, delay in zip(CLIENTS, DELAYS_S["20-30"], strict=True):
            first = next(packet for packet in sent if packet.dst == client)
            came = next(packet for packet in arrived if packet.dst == client)
            assert came.seq == first.seq
            assert came.time_ns - first.time_ns == pytest.approx(delay * 1e9, abs=1e6)


def test_same_seed_same_rows(each: Lab, run: Run) -> None:
    again = study(each, "again", *GRID, options=("--capture", "--jobs", "1"))
    for name in ("transfers", "retransmissions", "bursts", "subflows"):
        file = f"{name}.parquet"
        assert (again.path / file).read_bytes() == (run.path / file).read_bytes(), name


THREE = """
format = 1
title = "three paths"
repeat = 2
[ip]
family = 6
[networks.three]
rate = "54Mbit"
paths = [{ delay = "20ms" }, { delay = "30ms" }, { delay = "5ms" }]
[configs.middle]
protocol = "mptcp"
path = 2
[workload]
server = "burst"
bursts = 3
burst_segments = 60
gap = "500ms"
[loss]
rule = "pattern"
pattern = ["path 3 burst 3 data -1; path 1 burst 2 data 1"]
"""


def test_three_paths_with_ipv6_from_the_second(each: Lab, tmp_path: Path) -> None:
    scenario = tmp_path / "three.toml"
    scenario.write_text(THREE)
    out = tmp_path / "out"
    words = ("run", str(scenario), "--kernel", each.kernel, "--out", str(out), "--capture")
    run = Run(out, each.rexmit(*words).ok())
    for row in run.transfers.to_dicts():
        assert (row["exact"], row["complete"], row["subflows"]) == (True, True, 3), row
        assert (row["first_path"], row["dropped_segments"]) == (2, 2)
        packets = [packet for packet in run.capture(row, "h1") if packet.sport == 80]
        lost = [packet.dst for packet in packets if "dropped" in (packet.comment or "")]
        assert lost == ["fd00:0:0:1::2", "fd00:0:0:3::2"]
        # The connection begins on its configuration's path.
        assert packets[0].dst == "fd00:0:0:2::2"
    subflows = table(run, "subflows")
    flows = of(subflows, run.transfers.to_dicts()[0])
    assert [flow["path"] for flow in flows] == [1, 2, 3]
    assert min(flows, key=lambda flow: flow["t_confirmed_s"])["path"] == 2


def attempt(lab: Lab, folder: Path, **what: str) -> tuple[int, str]:
    """The exit status of a run of a changed scenario, and what rexmit says of it."""
    scenario = folder / "errors.toml"
    values = {"second": "", "sysctl": "", "pattern": ONE, **what}
    scenario.write_text(SCENARIO.format(**values))
    out = folder / "out"
    done = lab.rexmit("run", str(scenario), "--kernel", lab.kernel, "--out", str(out))
    return done.status, " ".join((done.text + done.err).split())


def fails(lab: Lab, folder: Path, **what: str) -> str:
    """What rexmit says of a run that fails."""
    status, said = attempt(lab, folder, **what)
    assert status != 0, said
    return said


def test_a_path_that_never_comes_up(lab: Lab, tmp_path: Path) -> None:
    status, said = attempt(lab, tmp_path, second=', loss = "100%"')
    assert status == 0
    assert "warning: path 2 did not come up within 10 s; path 1 did" in said
    rows = pl.read_parquet(tmp_path / "out" / "transfers.parquet")
    assert set(rows.select("ended", "complete").rows()) == {("not-connected", False)}


def test_a_packet_that_is_never_sent(lab: Lab, tmp_path: Path) -> None:
    said = fails(lab, tmp_path, pattern="path 2 burst 1 data 40")
    assert '"path 2 burst 1 data 40" names a packet that is never sent' in said
    assert "on path 1" in said
    assert "burst 2" in said


def test_multipath_tcp_switched_off(lab: Lab, tmp_path: Path) -> None:
    said = fails(lab, tmp_path, sysctl='"net.mptcp.enabled" = 0')
    assert "Multipath TCP is switched off (net.mptcp.enabled = 0)" in said


def test_a_setting_that_only_a_patched_kernel_has(lab: Lab, tmp_path: Path) -> None:
    said = fails(lab, tmp_path, sysctl='"net.mptcp.reinject_on_tlp" = 1')
    assert "this kernel has no setting net.mptcp.reinject_on_tlp" in said


@pytest.mark.parametrize("series", KERNELS)
def test_a_probe_re_injects_with_the_patch(me: User, series: str) -> None:
    lab = Lab(me, f"{series}+mptcp-reinject-on-tlp")
    settings = ("network=20-30,20-120", "config=mptcp-tlp,mptcp-new", "repeat=2")
    run = study(lab, "patched", *settings, options=("--capture",))
    assert run.transfers.height == 2 * 2 * 3 * 2
    seen = 0
    for row in run.transfers.to_dicts():
        # Three witnesses: both of the kernel's counters, and the mappings on the wire.
        counted = row["mptcp_retransmissions"] + row["probe_reinjections"]
        assert row["reinjections"] == counted
        if row["config"] == "mptcp-tlp":
            assert row["probe_reinjections"] == 0
        # Where the connection's timer is there first, or the other path is busy until the loss is
        # repaired, the probe re-injects nothing.
        if not row["probe_reinjections"]:
            continue
        seen += 1
        assert row["probes"] == 1
        (probe,) = (one for one in run.retransmissions_of(row) if one["mechanism"] == "tlp")
        # All that the first path has outstanding, on the other path: as the probe goes, or as soon
        # as the other path can take it.
        again = [one for one in run.retransmissions_of(row) if one["mechanism"] == "mptcp-reinject"]
        assert [(one["first_path"], one["path"]) for one in again] == [(1, 2)] * len(again)
        assert len(again) == row["probe_reinjections"]
        lost = [p for p in run.capture(row, "h1") if "dropped" in (p.comment or "")]
        for one, packet in zip(again, lost, strict=False):
            assert -1e-5 < one["time_s"] - probe["time_s"] < 0.05
            assert one["first_sent_s"] == pytest.approx(packet.time_ns / 1e9, abs=1e-6)
    assert seen > 0


PAGES = """
format = 1
title = "pages over paths"
repeat = 1
[networks.two]
rate = "54Mbit"
paths = [{ delay = "20ms" }, { delay = "30ms" }]
[configs.tcp]
[configs.mptcp]
protocol = "mptcp"
[workload]
segments = [100, 1500]
[loss]
segments = [0, 2]
"""

BURSTS = """
format = 1
title = "bursts over links"
repeat = 1
[networks.one]
rate = "54Mbit"
delay = "10ms"
[configs.tcp]
[workload]
server = "burst"
bursts = 2
burst_segments = 80
[loss]
rule = "pattern"
pattern = ["none", "burst 2 data -2..-1"]
"""


def on_both(lab: Lab, name: str, text: str) -> tuple[Run, Run]:
    """The scenario on the kernel and on the model of its series."""
    file = lab.user.home / f"{name}.toml"
    file.write_text(text, encoding="utf-8")
    engines = {
        "kernel": ("--kernel", lab.kernel),
        "model": ("--engine", "model", "--stack", f"linux-{lab.kernel}"),
    }
    runs = []
    for engine, words in engines.items():
        folder = lab.user.home / f"{name}-{engine}-{lab.kernel}"
        done = lab.rexmit("run", str(file), *words, "--out", str(folder)).ok()
        runs.append(Run(folder, done))
    kernel, model = runs
    return kernel, model


def test_a_page_goes_over_one_path_or_both(each: Lab) -> None:
    kernel, model = on_both(each, "pages", PAGES)
    assert kernel.transfers.height == 8
    for row, other in zip(kernel.transfers.to_dicts(), model.transfers.to_dicts(), strict=True):
        lost = row["lost_segments"]
        assert (row["complete"], row["exact"], row["dropped_segments"]) == (True, True, lost), row
        if row["config"] == "tcp":
            assert (row["protocol"], row["path_packets"]) == (None, None)
        else:
            packets = [int(number) for number in row["path_packets"].split()]
            # The server has closed the short page before anybody joins, and the long one not.
            assert (min(packets) > 0) == (row["subflows"] == 2) == (row["page_segments"] == 1500)
        if row["page_segments"] == 100:
            assert row["mechanism"] == other["mechanism"], row
            assert row["t_total_s"] == pytest.approx(other["t_total_s"], abs=0.001), row


def test_bursts_go_over_two_links(each: Lab) -> None:
    kernel, model = on_both(each, "bursts", BURSTS)
    assert kernel.transfers.height == 2
    for row, other in zip(kernel.transfers.to_dicts(), model.transfers.to_dicts(), strict=True):
        for name in ("protocol", "path_packets", "mechanism", "retransmissions", "exact"):
            assert row[name] == other[name], name
        assert row["t_total_s"] == pytest.approx(other["t_total_s"], abs=0.001)
