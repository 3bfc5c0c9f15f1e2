"""Upstream kernels are refused upfront what only multipath-tcp.org's kernels and the model have."""

from __future__ import annotations

from typing import Any, cast

import pytest

from rexmit.campaign.suited import suited
from rexmit.engines.engine import Engine
from rexmit.errors import UserError
from rexmit.scenario import load
from rexmit.scenario.find import find


class Upstream:
    """An engine as far as it is asked: a kernel of a release."""

    name = "kernel"

    def __init__(self, version: str) -> None:
        self.version = version

    def identity(self) -> dict[str, Any]:
        """See Engine."""
        return {"kernel": {"version": self.version}}

    def without_patch(self, _name: str) -> None:
        """See Engine."""

    def without_mptcp(self, _config: str) -> None:
        """See Engine."""

    def without_control(self, _config: str, _name: str) -> None:
        """See Engine."""


def told(version: str, *settings: str, name: str = "mptcp-smoke") -> str:
    """What a run on that kernel is refused with; nothing where it is not."""
    scenario = load(find(name), settings)
    try:
        suited(scenario, cast("Engine", Upstream(version)))
    except UserError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("control", ["lia", "olia", "balia"])
def test_coupled_congestion_control(control: str) -> None:
    said = told("6.12.117", f"tcp.congestion_control=cubic,{control}")
    assert f"tcp.congestion_control = {control}" in said
    assert told("6.12.117", "tcp.congestion_control=cubic,reno") == ""
    # A kernel of the line itself, before Multipath TCP was upstream's, may have it.
    assert told("4.1.39", f"tcp.congestion_control={control}") == ""


def test_schedulers_of_the_old_line() -> None:
    set_to = 'configs.mptcp.sysctl."net.mptcp.{}"={}'
    said = told("6.1.192", set_to.format("mptcp_scheduler", "blest"))
    assert "net.mptcp.mptcp_scheduler = blest is of multipath-tcp.org's kernels" in said
    said = told("6.12.117", set_to.format("scheduler", "redundant"))
    assert "Linux has the scheduler default alone" in said
    assert told("6.12.117", set_to.format("scheduler", "default")) == ""
    assert told("4.1.39", set_to.format("mptcp_scheduler", "blest")) == ""


def test_the_shipped_scenario_says_so() -> None:
    assert "net.mptcp.mptcp_scheduler" in told("6.12.117", name="mptcp-schedulers")
    assert "couples no subflows" in told("6.12.117", name="mptcp-bulk")
    assert told("6.12.117", name="mptcp-messages") == ""
