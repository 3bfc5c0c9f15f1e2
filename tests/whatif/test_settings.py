"""Settings by name, as changes to a stack or a kernel."""

from __future__ import annotations

import pytest

from rexmit.errors import UserError
from rexmit.scenario.stacks import of_scenario
from rexmit.validate.whatif.transfers import BASES, KERNEL_SETTINGS, Base, scenario
from rexmit.whatif.settings import as_stack, as_sysctl, kind


def test_a_setting_becomes_settings_of_a_stack() -> None:
    assert as_stack("k=2,min_rto=100ms") == {"rttvar_factor": 2, "min_rto": "100ms"}
    assert as_stack("a=1/32,b=1") == {"rttvar_shift": 5, "srtt_shift": 0}
    assert as_stack("no-tlp,rack") == {"tlp": "off", "rack": True}
    assert as_stack("m=1.25,d=2") == {"srtt_factor": 1.25, "dupack_threshold": 2}


def test_a_setting_becomes_sysctls() -> None:
    assert as_sysctl("rto_min=50ms") == {"net.ipv4.tcp_rto_min_us": 50_000}
    assert as_sysctl("no-tlp,d=2") == {
        "net.ipv4.tcp_early_retrans": 0,
        "net.ipv4.tcp_reordering": 2,
    }


def test_what_cannot_be_run_is_refused() -> None:
    with pytest.raises(UserError, match="smart: the model cannot be run with it"):
        as_stack("smart")
    with pytest.raises(UserError, match="k=2: a kernel cannot be run with it"):
        as_sysctl("k=2")


def test_kinds() -> None:
    kinds = [kind(setting) for setting in ("k=2", "rto_min=5ms", "no-tlp", "tlp,rack", "smart")]
    assert kinds == ["k", "min_rto", "tlp", "tlp,rack", "smart"]


def test_every_base_is_a_scenario() -> None:
    from rexmit import scenario as scenarios

    for base in BASES:
        loaded = scenarios.from_plain(scenario(base, seed=1, kernel=False), where="t")
        of_scenario(loaded, base.stack, None)
    kernel = Base("kernel", KERNEL_SETTINGS)
    scenarios.from_plain(scenario(kernel, seed=1, kernel=True), where="t", stacks=False)
