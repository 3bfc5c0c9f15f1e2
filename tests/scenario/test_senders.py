"""What a server of today speaks and how its host queues: which settings go together."""

from __future__ import annotations

from typing import Any

import pytest

from rexmit.campaign.grid import cells
from rexmit.campaign.plan import cell_plan
from rexmit.errors import UserError
from rexmit.scenario.load import from_plain
from rexmit.scenario.model import Scenario

PLAIN: dict[str, Any] = {
    "format": 1,
    "networks": {"n": {"rate": "10Mbit", "delay": "10ms"}},
    "configs": {"plain": {}, "h2": {"http": "2+tls", "qdisc": "fq"}},
    "workload": {"client": "curl"},
}


def scenario(**tables: object) -> Scenario:
    return from_plain({**PLAIN, **tables})


def plans(of: Scenario) -> list[tuple[str | None, str | None]]:
    plan = (cell_plan(of, cell, phases=[0], period_ns=1, capture=False) for cell in cells(of))
    return [(one["workload"].get("http"), one.get("qdisc")) for one in plan]


def test_a_configuration_goes_before_the_scenario() -> None:
    assert plans(scenario()) == [(None, None), ("2+tls", "fq")]
    tls = scenario(workload={"client": "curl", "http": "1.1+tls"})
    assert plans(tls) == [("1.1+tls", None), ("2+tls", "fq")]


def test_openssl_is_used_where_a_configuration_that_runs_speaks_tls() -> None:
    assert scenario().programs == ("curl", "openssl")
    assert scenario(config="plain").programs == ("curl",)
    assert scenario(config="plain", workload={}).programs == ()


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"workload": {"client": ["curl", "lynx"]}}, "configs.h2.http: only curl speaks TLS"),
        ({"workload": {"http": "1.1+tls"}, "configs": {"a": {}}}, "workload.http: only curl"),
        ({"vary": [{"client": "builtin"}]}, "configs.h2.http: only curl speaks TLS"),
        (
            {"workload": {"client": "lynx", "fast_open": True}, "configs": {"a": {}}},
            "workload.fast_open: lynx opens connections as usual",
        ),
        (
            {"workload": {"fast_open": True}, "configs": {"a": {"protocol": "mptcp"}}},
            "configs.a.protocol: requests travel in SYNs of TCP alone",
        ),
        ({"loss": {"mode": "hold"}}, "loss.mode: only a page that can be read is held back"),
        (
            {"networks": {"n": {"rate": "10Mbit", "delay": "10ms", "at": "host"}}},
            "configs.h2.qdisc: network n has links in the hosts",
        ),
        (
            {"workload": {"server": "burst", "burst_segments": 9}},
            "configs.h2.http: of pages, not of bursts",
        ),
    ],
)
def test_what_does_not_go_together_is_named(tables: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as error:
        scenario(**tables)
    assert said in error.value.text()
