"""What routes say of connections: one set of words for kernels and for the model."""

from __future__ import annotations

from typing import Any

import pytest

from rexmit.campaign.grid import cells
from rexmit.campaign.plan import cell_plan
from rexmit.errors import UserError
from rexmit.scenario.load import from_plain
from rexmit.scenario.model import Scenario
from rexmit.scenario.stacks import of_scenario

PLAIN: dict[str, Any] = {
    "format": 1,
    "networks": {"n": {"rate": "10Mbit", "delay": "10ms"}},
    "configs": {"a": {}, "b": {"route": {"initcwnd": 30}}},
}


def scenario(**tables: object) -> Scenario:
    return from_plain({**PLAIN, **tables})


def plans(of: Scenario) -> list[dict[str, int] | None]:
    return [
        cell_plan(of, cell, phases=[0], period_ns=1, capture=False).get("route")
        for cell in cells(of)
    ]


def test_a_configuration_goes_before_the_scenario() -> None:
    assert plans(scenario()) == [None, {"initcwnd": 30}]
    route = {"initcwnd": 20, "initrwnd": 5, "rto_min": "50ms", "quickack": True}
    of_all = {"initcwnd": 20, "initrwnd": 5, "rto_min_ms": 50, "quickack": True}
    assert plans(scenario(route=route)) == [of_all, of_all | {"initcwnd": 30}]


@pytest.mark.parametrize(
    "wrong", [{"initcwnd": 0}, {"initrwnd": 1001}, {"rto_min": "1500us"}, {"rto_min": "0ms"}]
)
def test_what_no_route_says_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UserError, match=rf"route\.{next(iter(wrong))}: .* does not fit"):
        scenario(route=wrong)


def test_stacks_of_the_model_follow() -> None:
    names = ("initial_window", "initial_receive_window", "min_rto", "quick_acks")

    def settings(**tables: object) -> list[tuple[str, ...]]:
        built = of_scenario(scenario(**tables), "linux-6.12", None).values()
        return [tuple(one.settings[name] for name in names) for one in built]

    (own, thirty) = settings()
    assert (own[1:], thirty) == (thirty[1:], ("30", *own[1:]))
    route = {"initcwnd": 20, "initrwnd": 5, "rto_min": "50ms", "quickack": True}
    own = ("5", "50ms", "true")
    assert settings(route=route) == [("20", *own), ("30", *own)]
    assert settings(route=route, stack={"min_rto": "80ms"})[0] == ("20", "5", "80ms", "true")
