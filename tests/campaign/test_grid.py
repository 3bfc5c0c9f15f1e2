"""The grid, its boots, phases and plans."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.campaign.conftest import FakeStreams, Lab

from rexmit.campaign.boots import ENOUGH_TRANSFERS, boot_seed, boots
from rexmit.campaign.grid import Cell, cells, transfers
from rexmit.campaign.plan import cell_plan, network_plan, phase_period_ns, phases_ns
from rexmit.campaign.streams import core_streams
from rexmit.scenario import Page, find, load


def cell(repeat: int, number: int = 0) -> Cell:
    page = Page(segments=100, size_bytes=None)
    return Cell(number, "n", "c", page, None, "builtin", "cubic", 0.0, 5, repeat, "n c 5")


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
    assert len(boots(grid)) == 2 * 63 + -(-63 // 5)


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


@given(st.lists(st.integers(1, 150), min_size=1, max_size=60))
def test_boots_are_consecutive_full_and_no_longer_than_needed(repeats: list[int]) -> None:
    grid = tuple(cell(repeat, number) for number, repeat in enumerate(repeats))
    cut = boots(grid)
    assert tuple(c for boot in cut for c in boot.cells) == grid
    assert [boot.id for boot in cut] == list(range(len(cut)))
    for boot in cut[:-1]:
        assert boot.transfers >= ENOUGH_TRANSFERS
    for boot in cut:
        assert boot.transfers - boot.cells[-1].repeat < ENOUGH_TRANSFERS


@given(st.integers(1, 300), st.sampled_from([100, 250, 1000]), st.integers(0, 2**63 - 1))
def test_phases_are_one_of_each_part(repeat: int, hz: int, seed: int) -> None:
    period = phase_period_ns(hz)
    phases = phases_ns(FakeStreams(), seed, cell(repeat), period)
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
    seeds = {boot_seed(streams, seed, cell(1, n)) for seed in (1, 2) for n in range(50)}
    assert len(seeds) == 100
    phases = phases_ns(streams, 1, cell(100), 256_000_000)
    assert phases != phases_ns(streams, 1, cell(100, 1), 256_000_000)
    assert phases == sorted(phases)


def test_a_plan_is_the_contracts(lab: Lab) -> None:
    scenario = lab.scenario("network=near", "workload.receive_window=64kB", "config=er")
    chosen = cells(scenario)[2]
    assert cell_plan(scenario, chosen, phases=[5, 9], period_ns=256, capture=True) == {
        "id": 2,
        "label": "near er 2",
        "network": network_plan(scenario, "near"),
        "sysctls": {"net.ipv4.tcp_fack": "1"},
        "congestion_control": "cubic",
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
