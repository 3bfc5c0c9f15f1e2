"""The model's stacks as Python sees them."""

from __future__ import annotations

import pytest

from rexmit import _core, stacks


def test_every_stack_has_every_setting() -> None:
    names = _core.stack_names()
    assert {"linux-2.4", "linux-3.10", "linux-6.1", "linux-6.12", "rfc"} <= set(names)
    assert stacks.DEFAULT in names
    keys = [[key for key, _ in _core.check_stack(name, {}, {})] for name in names]
    assert all(found == keys[0] for found in keys)
    assert {"hz", "min_rto", "sack", "tlp"} <= set(keys[0])


def test_changes_go_before_sysctls() -> None:
    sysctls = {"net.ipv4.tcp_sack": "0", "net.ipv4.tcp_early_retrans": "0"}
    found = dict(_core.check_stack("linux-3.10", {"sack": "true", "hz": "100"}, sysctls))
    assert (found["sack"], found["hz"]) == ("true", "100")
    assert (found["tlp"], found["early_retransmit"]) == ("off", "off")
    assert stacks.stack("linux-3.10", {"hz": "1000"}).hz == 1000


@pytest.mark.parametrize(
    ("name", "changes", "sysctls"),
    [
        ("linux-3.11", {}, {}),
        ("rfc", {"min_rtt": "1s"}, {}),
        ("rfc", {"min_rto": "soon"}, {}),
        ("linux-6.1", {}, {"net.ipv4.tcp_sack": "x"}),
    ],
)
def test_what_there_is_not_is_refused(
    name: str, changes: dict[str, str], sysctls: dict[str, str]
) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        _core.check_stack(name, changes, sysctls)


@pytest.mark.parametrize(
    ("key", "value"), [("early_retransmit", "delayed"), ("fack", "true"), ("min_rto", "200s")]
)
def test_a_setting_that_only_another_stack_can_have_is_none_of_the_wrong_ones(
    key: str, value: str
) -> None:
    assert stacks.problem(key, value) is None


def test_a_value_that_no_stack_can_have_is_a_problem() -> None:
    assert stacks.problem("min_rto", "soon") is not None
    assert stacks.problem("tlp", "maybe") is not None


@pytest.mark.parametrize(
    ("version", "stack"),
    [
        ("6.12.117", "linux-6.12"),
        ("7.3.4", "linux-6.12"),
        ("6.6.87", "linux-6.1"),
        ("6.1.0-56-cloud-amd64", "linux-6.1"),
        ("2.2.26", "linux-2.4"),
    ],
)
def test_a_kernel_has_the_stack_of_its_series_or_the_nearest_before_it(
    version: str, stack: str
) -> None:
    assert stacks.of_linux(version) == stack
