"""The grid, its seeds, phases and plans."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.campaign.conftest import FakeStreams, Lab

from rexmit.campaign.grid import Cell, cells, transfers
from rexmit.campaign.plan import boot_seed, cell_plan, network_plan, phase_period_ns, phases_ns
from rexmit.campaign.streams import core_streams
from rexmit.campaign.tasks import task
from rexmit.engines.kernel import boot_plan
from rexmit.scenario import Scenario, find, load
from rexmit.scenario.load import Sources, check


def test_the_campaign_of_2013_has_13860_transfers() -> None:
    scenario = load(find("tlp-2013"))
    grid = cells(scenario)
    assert len(grid) == 3 * 3 * 21
    assert transfers(grid) == 13_860
    assert [c.id for c in grid] == list(range(189))
    assert [(c.network, c.config, c.lost_segments) for c in grid[:2]] == [
        ("high-speed", "plain", 0),
        ("high-speed", "plain", 1),
    ]
    assert (grid[21].config, grid[63].network, grid[-1].lost_segments) == ("er", "mobile", 20)
    assert grid[17].label == "high-speed plain 17"
    # Table 3: two links, two ways, make the round trip.
    trips = {
        name: 2 * sum(link.delay_ns for link in network.link_specs(0.0))
        for name, network in scenario.networks.items()
    }
    assert trips == {"high-speed": 10**7, "mobile": 10**8, "satellite": 8 * 10**8}
    # Table 2.
    names = ("tcp_early_retrans", "tcp_fack", "tcp_sack")
    table = {
        name: [config.sysctl[f"net.ipv4.{key}"] for key in names]
        for name, config in scenario.configs.items()
    }
    assert table == {"plain": ["0"] * 3, "er": ["2", "1", "1"], "tlp": ["3", "1", "1"]}
    assert all(config.about for config in scenario.configs.values())


def test_axes_multiply_in_a_fixed_order(lab: Lab) -> None:
    grid = cells(
        lab.scenario(
            "network=near",
            "config=tlp",
            "networks.near.loss=0%,1%",
            "workload.size=10kB,20kB",
            "workload.receive_window=auto,64kB",
            "workload.client=curl,builtin",
            "tcp.congestion_control=cubic,reno",
            "loss.segments=5",
        )
    )
    assert len(grid) == 32
    assert [c.line_loss for c in grid[:3]] == [0.0, 0.01, 0.0]
    assert [c.congestion_control for c in grid[:5:2]] == ["cubic", "reno", "cubic"]
    assert [c.client for c in grid[:9:4]] == ["curl", "builtin", "curl"]
    assert [c.receive_window_bytes for c in grid[:17:8]] == [None, 64_000, None]
    assert [c.page.size_bytes for c in grid[::16]] == [10_000, 20_000]
    assert (
        grid[-1].label == "near tlp page=20kB window=64kB client=builtin congestion=reno line=1% 5"
    )


def test_vary_departs_one_option_at_a_time(lab: Lab) -> None:
    grid = cells(
        lab.scenario(
            "network=near",
            "config=tlp",
            "loss.segments=1,5",
            'vary=[{segments=[10, 100]}, {line_loss="1%"}]',
        )
    )
    points = [(c.page.segments, c.line_loss, c.lost_segments) for c in grid]
    # The page of 100 is the scenario's own and is measured once.
    assert points == [
        (pages, loss, lost)
        for pages, loss in ((100, 0.0), (10, 0.0), (100, 0.01))
        for lost in (1, 5)
    ]


def test_a_cell_is_what_it_is_in_every_grid(lab: Lab) -> None:
    settings = (
        "workload.segments=5,100",
        "workload.receive_window=auto,64kB",
        "workload.client=curl,builtin",
        "tcp.congestion_control=cubic,reno",
        "networks.*.loss=0%,0.5%",
    )
    grid = cells(lab.scenario(*settings))
    assert len({alone(cell) for cell in grid}) == len(grid) == 2 * 2 * 32 * 3
    # One cell of them, in a grid of its own, has another id and another label.
    one = ("network=far", "config=tlp", "workload.client=builtin", "networks.*.loss=0.5%")
    chosen = cells(lab.scenario(*settings, *one, "loss.segments=2"))[-1]
    there = next(cell for cell in grid if alone(cell) == alone(chosen))
    assert (there.id, there.label) != (chosen.id, chosen.label)


def alone(cell: Cell) -> Cell:
    """What it is, wherever it stands."""
    return replace(cell, id=0, label="")


@given(st.integers(1, 300), st.sampled_from([100, 250, 1000]), st.integers(0, 2**63 - 1))
def test_phases_are_one_of_each_part(repeat: int, hz: int, seed: int) -> None:
    period = phase_period_ns(hz)
    phases = phases_ns(FakeStreams(), seed, repeat, period)
    assert len(phases) == repeat
    for index, phase in enumerate(phases):
        # A part begins at a fraction of a nanosecond.
        assert index * period // repeat <= phase <= (index + 1) * period // repeat
        assert phase < period


def test_the_period_is_64_ticks() -> None:
    assert phase_period_ns(250) == 256_000_000


def test_the_core_gives_the_streams() -> None:
    streams = core_streams()
    assert streams.stream_u64(1, "boot", 3, 2) == streams.stream_u64(1, "boot", 3, 2)
    networks = ("high-speed", "mobile", 'with "quotes"')
    seeds = {boot_seed(streams, seed, name) for seed in (1, 2**64 - 1) for name in networks}
    assert len(seeds) == 6
    phases = phases_ns(streams, 1, 100, 256_000_000)
    assert phases == sorted(phases)
    assert phases != phases_ns(streams, 2, 100, 256_000_000)


def plans(scenario: Scenario) -> dict[Cell, dict[str, Any]]:
    """The plan of every cell, by what the cell is, wherever it stands."""
    return {
        alone(cell): cell_plan(
            scenario,
            cell,
            phases=phases_ns(FakeStreams(), scenario.seed, cell.repeat, 256),
            period_ns=256,
            capture=False,
        )
        for cell in cells(scenario)
    }


def test_a_selected_cell_has_the_plan_of_the_whole_grid(lab: Lab) -> None:
    whole = plans(lab.scenario("workload.client=curl,builtin", "workload.size=10kB,20kB"))
    for settings in (
        ("network=far", "config=tlp", "workload.client=builtin", "workload.size=20kB"),
        ("network=far,near", "workload.client=curl", "workload.size=20kB", "loss.segments=2"),
    ):
        selected = plans(lab.scenario(*settings))
        assert selected == {key: whole[key] for key in selected}


def test_configurations_start_at_the_same_phases(lab: Lab) -> None:
    first, *others = plans(lab.scenario("networks.far.repeat=40")).values()
    assert all(other["starts"] == first["starts"] for other in others)


def test_names_and_the_order_of_keys_are_nothing_to_an_engine() -> None:
    def tasks(*configs: str) -> list[tuple[int, str]]:
        text = '[networks.a]\nrate = "1Mbit"\ndelay = "1ms"\nloss = "1%"\n'
        scenario = check(tomllib.loads("format = 1\n" + text + "\n".join(configs)), Sources("x"))
        made = [
            task(scenario, cell, core_streams(), hz=250, capture=False) for cell in cells(scenario)
        ]
        return [(one.seed, json.dumps(one.plan)) for one in made]

    one, two = '"net.ipv4.tcp_sack" = 0\n', '"net.ipv4.tcp_fack" = 0\n'
    (first, second) = tasks(
        "[configs.tlp.sysctl]\n" + one + two, "[configs.b.sysctl]\n" + two + one
    )
    assert first == second
    plain, (again, changed) = (
        tasks("[configs.x]"),
        tasks("[configs.z.sysctl]\n" + one, "[configs.a]"),
    )
    assert [changed] == plain
    # Another configuration has another plan, and the same seed.
    assert again[0] == changed[0]
    assert again[1] != changed[1]


def test_a_plan_is_the_contracts(lab: Lab) -> None:
    scenario = lab.scenario("network=near", "workload.receive_window=64kB", "config=er")
    chosen = cells(scenario)[2]
    planned = cell_plan(scenario, chosen, phases=[5, 9], period_ns=256, capture=True)
    whole = boot_plan(planned, {"ip": "/ip"})
    assert (whole["version"], whole["heartbeat_s"], whole["programs"]) == (1, 5, {"ip": "/ip"})
    assert whole["cells"] == [
        {
            "id": 0,
            "label": "near 2",
            "network": network_plan(scenario, "near"),
            "sysctls": {"net.ipv4.tcp_fack": "1"},
            "congestion_control": "cubic",
            "protocol": "tcp",
            "first_path": 1,
            "workload": {
                "server": "nginx",
                "client": "builtin",
                "segments": 100,
                "bytes": None,
                "receive_window_bytes": 64_000,
            },
            "loss": {
                "rule": "tail",
                "segments": 2,
                "mode": "sequence",
                "hold_limit_ns": 3_000_000_000,
            },
            "starts": [{"repetition": 0, "phase_ns": 5}, {"repetition": 1, "phase_ns": 9}],
            "phase_period_ns": 256,
            "capture": True,
            "transfer_timeout_ns": 120_000_000_000,
        }
    ]
    link = {
        "rate_bps": 100_000_000,
        "delay_ns": 2_500_000,
        "jitter_ns": 0,
        "loss": 0.0,
        "queue_packets": 1000,
    }
    assert network_plan(scenario, "near") == {
        "family": 4,
        "at": "wire",
        "mtu": 1500,
        "links": [link, link],
    }
    with pytest.raises(KeyError):
        network_plan(scenario, "nowhere")
