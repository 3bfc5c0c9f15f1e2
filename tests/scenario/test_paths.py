"""Scenarios of bursts and of several paths: what they mean, and mixes of keys that mean nothing."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest

from rexmit.campaign.grid import cells
from rexmit.campaign.plan import cell_plan
from rexmit.errors import UserError
from rexmit.scenario import Scenario, effective, find, from_plain, load

STUDY = find("mptcp-2017")

GOOD: dict[str, Any] = {
    "format": 1,
    "networks": {"two": {"rate": "54Mbit", "paths": [{"delay": "20ms"}, {"delay": "30ms"}]}},
    "configs": {"tcp": {}, "mptcp": {"protocol": "mptcp"}},
    "workload": {"server": "burst", "bursts": 2, "burst_segments": 80, "gap": "2s"},
    "loss": {"rule": "pattern", "pattern": "path 1 burst 2 data -1"},
}

PAGES: dict[str, Any] = {
    "format": 1,
    "networks": {"near": {"rate": "1Mbit", "delay": "1ms"}},
    "configs": {"tlp": {}},
}


def with_(data: dict[str, Any], *changes: tuple[str, object]) -> dict[str, Any]:
    """The data with these values; None takes a key out."""
    whole = copy.deepcopy(data)
    for key, value in changes:
        *way, last = key.split(".")
        table = whole
        for step in way:
            table = table.setdefault(step, {})
        table[last] = value
        if value is None:
            del table[last]
    return whole


def plan_of(scenario: Scenario, place: int) -> dict[str, Any]:
    return cell_plan(scenario, cells(scenario)[place], phases=[5], period_ns=9, capture=False)


def test_the_study_of_2017() -> None:
    study = load(STUDY)
    grid = cells(study)
    assert len(grid) == 5 * 5 * 3
    assert sum(cell.repeat for cell in grid) == 1500
    assert effective(from_plain(effective(study))) == effective(study)
    delays = {
        name: [spec.delay_ns // 10**6 for spec in study.networks[name].link_specs(0.0)]
        for name in study.network_names
    }
    assert delays == {name: [int(ms) for ms in name.split("-")] for name in study.network_names}
    assert list(study.configs) == ["tcp-rto", "tcp-tlp", "mptcp-rto", "mptcp-tlp", "mptcp-new"]
    assert study.configs["mptcp-new"].patch == "mptcp-reinject-on-tlp"


def test_what_the_study_left() -> None:
    study, further = load(STUDY), load(find("mptcp-further"))
    assert list(further.configs) == ["mptcp-tlp", "mptcp-head", "mptcp-new"]
    for name in ("mptcp-tlp", "mptcp-new"):
        assert further.configs[name].sysctl == study.configs[name].sysctl
    assert study.configs["mptcp-new"].sysctl["net.mptcp.reinject_on_tlp"] == "2"
    assert further.configs["mptcp-head"].sysctl["net.mptcp.reinject_on_tlp"] == "1"
    assert {name: further.networks[name] for name in study.networks} == dict(study.networks)
    assert len(further.networks["20-30-40"].link_specs(0.0)) == 3
    assert len(cells(further)) == 6 * 3 * 5


def test_the_small_one() -> None:
    grid = cells(load(find("mptcp-smoke")))
    assert [cell.label for cell in grid] == [
        f"two {config} {pattern}"
        for config in ("tcp", "mptcp")
        for pattern in ("none", "path 1 burst 2 data -1")
    ]


def test_a_cell_of_bursts_as_engines_read_it() -> None:
    plan = plan_of(from_plain(with_(GOOD, ("configs.mptcp.path", 2))), 1)
    link = {"rate_bps": 54_000_000, "jitter_ns": 0, "loss": 0.0, "queue_packets": 1000}
    assert plan == {
        "id": 0,
        "label": "two path 1 burst 2 data -1",
        "network": {
            "family": 4,
            "at": "wire",
            "mtu": 1500,
            "paths": [{**link, "delay_ns": 20_000_000}, {**link, "delay_ns": 30_000_000}],
        },
        "protocol": "mptcp",
        "first_path": 2,
        "sysctls": {},
        "congestion_control": "cubic",
        "workload": {
            "server": "burst",
            "count": 2,
            "segments": 80,
            "bytes": None,
            "gap_ns": 2_000_000_000,
        },
        "loss": {"rule": "pattern", "pattern": "path 1 burst 2 data -1"},
        "starts": [{"repetition": 0, "phase_ns": 5}],
        "phase_period_ns": 9,
        "capture": False,
        "transfer_timeout_ns": 120_000_000_000,
    }


def test_a_burst_may_be_given_in_bytes_and_bursts_be_changed() -> None:
    scenario = from_plain(GOOD, settings=["workload.burst_size=115kB", "workload.bursts=3"])
    work = plan_of(scenario, 0)["workload"]
    assert (work["count"], work["bytes"], work["segments"]) == (3, 115_000, None)
    assert effective(from_plain(effective(scenario))) == effective(scenario)
    again = from_plain(effective(scenario), settings=["workload.burst_segments=9"])
    assert plan_of(again, 0)["workload"]["segments"] == 9


def test_a_client_may_ask_for_each_burst() -> None:
    asked = {"request": "200B", "server_think": "50ms", "last_byte_after": "300ms"}
    scenario = from_plain(with_(GOOD, *((f"workload.{key}", asked[key]) for key in asked)))
    work = plan_of(scenario, 0)["workload"]
    assert work["request"] == {"bytes": 200, "server_think_ns": 50_000_000}
    assert (work["last_byte_after_ns"], work["gap_ns"]) == (300_000_000, 2_000_000_000)
    assert effective(from_plain(effective(scenario))) == effective(scenario)
    # A client that asks need not think.
    again = from_plain(effective(scenario), settings=["workload.gap=0s"])
    assert plan_of(again, 0)["workload"]["gap_ns"] == 0
    plain = plan_of(from_plain(GOOD), 0)["workload"]
    assert not plain.keys() & {"request", "last_byte_after_ns"}


def test_what_paths_leave_out_comes_from_the_network() -> None:
    paths = [{"rate": "1Mbit", "loss": "1%"}, {"delay": "30ms"}]
    network = {"rate": "54Mbit", "delay": "20ms", "loss": "2%", "queue": 7, "paths": paths}
    scenario = from_plain(with_(GOOD, ("networks.two", network)))
    first, second = plan_of(scenario, 0)["network"]["paths"]
    assert (first["rate_bps"], first["delay_ns"], first["loss"]) == (10**6, 20_000_000, 0.01)
    assert (second["rate_bps"], second["delay_ns"], second["loss"]) == (
        54 * 10**6,
        30_000_000,
        0.02,
    )
    assert second["queue_packets"] == 7


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("networks.two.paths", None, "networks.two.delay: missing"),
        ("networks.two.paths", [], "networks.two.paths: "),
        ("networks.two.paths", [{}, {"delay": "1ms"}], "networks.two.paths.0.delay: missing"),
        ("networks.two.paths", [{"delay": "1ms"}], "configs.mptcp.protocol: Multipath TCP needs"),
        (
            "networks.two.links",
            [{"delay": "1ms"}] * 2,
            "links: not a key of a network with paths\nleave it out, or leave out paths",
        ),
        ("networks.two.at", "wire", "networks.two.at: not a key of a network with paths\nleave it"),
        (
            "networks.two.att",
            "wire",
            "two.att: unknown key\nallowed here: aqm, delay, ",
        ),
        ("networks.two", 5, "networks.two: 5 does not fit"),
        ("configs.tcp.path", 3, "configs.tcp.path: there is no path 3, network two has 2"),
        ("configs.tcp.path", 0, "configs.tcp.path: "),
        ("configs.tcp.path", 2, "path 1, and TCP goes on path 2 alone"),
        ("configs.tcp.patch", "No such", 'configs.tcp.patch: "No such" is no name of a patch'),
        ("configs.tcp.protocol", "sctp", 'configs.tcp.protocol: unknown "sctp"'),
        ("workload.segments", 9, 'workload.segments: not a key of the server "burst"'),
        ("workload.receive_window", "9kB", "workload.receive_window: not a key of the server"),
        ("workload.tcp_nopush", False, "workload.tcp_nopush: not a key of the server"),
        ("workload.client", "curl", "workload.client: only the built-in client"),
        ("workload.burst_segments", None, "workload.burst_segments: missing"),
        ("workload.burst_size", "9kB", "workload.burst_size: the burst has segments as well"),
        ("workload.bursts", 0, "workload.bursts: "),
        ("workload.gap", "0s", "workload.gap: must be more than nothing"),
        ("workload.server_think", "9ms", "workload.server_think: nobody asks the server"),
        ("workload.request", "2MB", "workload.request: "),
        ("workload.burst_segments", 50_000, "workload.burst_segments: the bursts are too large"),
        ("workload.server", "nginx", 'workload.bursts: not a key of the server "nginx"'),
        ("workload.server", "bursts", 'unknown "bursts"; did you mean "burst"?'),
        (
            "loss.rule",
            "tail",
            'not a key of the rule "tail"\nleave it out, or write loss.rule = "pattern"',
        ),
        ("loss.hold_limit", "3s", 'loss.hold_limit: not a key of the rule "pattern"\nleave it out'),
        ("loss.rule", "tial", 'loss.rule: unknown "tial"; did you mean "tail"?\nallowed: "tail" ('),
        ("loss", 5, "loss: 5 does not fit"),
        ("loss", {"mode": "hold"}, "loss.mode: only a page over TCP"),
        ("loss.pattern", "path 3 data 1", '"path 3 data 1": there is no path 3'),
        ("loss.pattern", "burst 3 data 1", "there is no burst 3"),
        ("loss.pattern", "data 1 fin", "bursts have no FIN"),
        ("loss.pattern", ["data 1", "path 2 data 1"], "loss.pattern.1: "),
        ("loss.pattern", "path 1 burst x data 1", '"x" at column 14, expected a number from 1'),
        ("vary", [{"client": "curl"}], "vary.0.client: of pages"),
    ],
)
def test_mixes_that_mean_nothing_are_refused(key: str, value: object, said: str) -> None:
    with pytest.raises(UserError) as caught:
        from_plain(with_(GOOD, (key, value)))
    assert said in f"{caught.value}\n{caught.value.hint}"


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("configs.tlp.protocol", "mptcp", "Multipath TCP needs two paths, network near has 1"),
        ("configs.tlp.path", 2, "configs.tlp.path: there is no path 2, network near has 1"),
        ("workload.bursts", 2, 'workload.bursts: not a key of the server "nginx"'),
        ("workload.gap", "2s", 'workload.gap: not a key of the server "nginx"'),
        ("loss", {"rule": "pattern", "pattern": "path 2 data 1"}, "there is no path 2"),
        ("loss", {"rule": "pattern", "pattern": "burst 2 data 1"}, "there is no burst 2"),
    ],
)
def test_pages_know_nothing_of_bursts(key: str, value: object, said: str) -> None:
    with pytest.raises(UserError, match=re.escape(said)):
        from_plain(with_(PAGES, (key, value)))


def test_pages_and_bursts_go_over_any_network() -> None:
    two = GOOD["networks"]["two"]
    page = with_(PAGES, ("networks.near", two), ("configs.new.protocol", "mptcp"))
    plan = plan_of(from_plain(page), 1)
    assert (plan["protocol"], plan["workload"]["server"]) == ("mptcp", "nginx")
    assert len(plan["network"]["paths"]) == 2
    assert plan["loss"]["rule"] == "tail"
    burst = with_(PAGES, ("workload", GOOD["workload"]), ("loss", {"segments": 3}))
    plan = plan_of(from_plain(burst), 0)
    assert (plan["protocol"], plan["workload"]["server"]) == ("tcp", "burst")
    assert len(plan["network"]["links"]) == 2
    assert plan["loss"]["segments"] == 3
    for data in (page, burst):
        assert effective(from_plain(effective(from_plain(data)))) == effective(from_plain(data))
    with pytest.raises(UserError, match="only the built-in client speaks Multipath TCP"):
        from_plain(with_(page, ("workload", {"client": "curl"})))
    fin = {"rule": "pattern", "pattern": "data fin"}
    with pytest.raises(UserError, match="no FIN of their own"):
        from_plain(with_(page, ("loss", fin)))


def test_errors_name_the_line(tmp_path: Path) -> None:
    text = STUDY.read_text(encoding="utf-8")
    file = tmp_path / "mine.toml"
    wrong = text.replace('"path 1 burst 2 data -2..-1"', '"path 1 burst 9 data -2..-1"')
    file.write_text(wrong, encoding="utf-8")
    line = next(n for n, row in enumerate(wrong.splitlines(), 1) if "burst 9" in row)
    with pytest.raises(UserError) as caught:
        load(file)
    assert str(caught.value).startswith(f"{file}:{line}: loss.pattern.1: ")
    with pytest.raises(UserError) as caught:
        load(STUDY, ["configs.tcp-rto.path=2"])
    assert "TCP goes on path 2 alone" in f"{caught.value}\n{caught.value.hint}"
