"""Offloads: one set of words for kernels and for the model."""

from __future__ import annotations

from typing import Any

import pytest

from rexmit.campaign.grid import cells
from rexmit.campaign.plan import cell_plan
from rexmit.errors import UserError
from rexmit.scenario.load import from_plain
from rexmit.scenario.model import Scenario
from rexmit.scenario.plain import effective
from rexmit.scenario.stacks import of_scenario

PLAIN: dict[str, Any] = {
    "format": 1,
    "networks": {"n": {"rate": "10Mbit", "delay": "10ms"}},
    "configs": {"a": {}, "b": {"offload": {"checksum": True}}},
}
ALL = {"checksum": True, "scatter_gather": True, "segmentation": True}


def scenario(**tables: object) -> Scenario:
    return from_plain({**PLAIN, **tables})


def offloads(of: Scenario) -> list[dict[str, bool] | None]:
    return [
        cell_plan(of, cell, phases=[0], period_ns=1, capture=False).get("offload")
        for cell in cells(of)
    ]


def test_a_scenario_that_says_nothing_has_the_plan_that_it_had() -> None:
    nothing = from_plain({**PLAIN, "configs": {"a": {}}})
    assert offloads(nothing) == [None]
    assert "offload" not in effective(nothing)
    assert "offload" not in effective(nothing)["configs"]["a"]


def test_a_configuration_goes_before_the_scenario() -> None:
    gathers = {"checksum": True, "scatter_gather": True, "segmentation": False}
    assert offloads(scenario()) == [None, gathers]
    assert offloads(scenario(offload={"checksum": True})) == [
        gathers,
        gathers,
    ]
    assert offloads(scenario(offload={"scatter_gather": False})) == [
        {"checksum": False, "scatter_gather": False, "segmentation": False},
        {"checksum": True, "scatter_gather": False, "segmentation": False},
    ]
    assert offloads(scenario(offload=ALL)) == [ALL, ALL]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"segmentation": True}, "offload.segmentation: no interface does it without checksum"),
        (ALL | {"scatter_gather": False}, "without scatter_gather"),
        ({"checksum": "yes"}, "allowed: true (checksums of what is sent) or false"),
        ({"gro": True}, "allowed here: checksum, scatter_gather, segmentation"),
    ],
)
def test_what_cannot_be_is_named(table: dict[str, Any], said: str) -> None:
    configs = {"a": {}, "b": {"offload": table}}
    for tables in ({"offload": table, "configs": {"a": {}}}, {"configs": configs}):
        with pytest.raises(UserError) as error:
            scenario(**tables)
        assert said in f"{error.value.what}\n{error.value.hint}"


def test_what_is_wrong_for_all_configurations_is_named_once() -> None:
    with pytest.raises(UserError) as error:
        scenario(offload={"segmentation": True}, configs={"a": {}, "b": {}})
    assert "errors" not in f"{error.value.what}"


def test_stacks_of_the_model_follow() -> None:
    def settings(name: str, /, **tables: object) -> list[tuple[str, str]]:
        found = of_scenario(scenario(**tables), name, None).values()
        return [(one.settings["scatter_gather"], one.settings["gso_segments"]) for one in found]

    # Since 4.17 it makes no difference whether an interface gathers.
    assert settings("linux-3.10") == [("false", "1"), ("true", "1")]
    assert settings("linux-6.1") == [("true", "1"), ("true", "1")]
    assert settings("linux-3.10", offload=ALL) == [("true", "65535")] * 2
    own = {"gso_segments": "7"}
    assert settings("linux-3.10", offload=ALL, stack=own) == [("true", "7")] * 2
    with pytest.raises(UserError, match=r"configuration a: freebsd-5: offload\.segmentation"):
        settings("freebsd-5", offload=ALL)
