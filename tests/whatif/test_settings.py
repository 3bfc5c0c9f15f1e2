"""Settings by name, as changes to a stack or a kernel."""

from __future__ import annotations

import pytest

from rexmit import stacks
from rexmit.errors import UserError
from rexmit.scenario.stacks import of_scenario
from rexmit.tracing.sentences.settings import in_words
from rexmit.whatif.settings import applicable, as_stack, as_sysctl, expanded, kind, named
from rexmit_validate.whatif.transfers import KERNEL_SETTINGS, Base, scenario, usual


def test_a_setting_becomes_settings_of_a_stack() -> None:
    linux = "linux-2.4"
    assert as_stack("k=2,min_rto=100ms", linux) == {"rttvar_factor": 2, "min_rto": "100ms"}
    assert as_stack("a=1/32,b=1", linux) == {"rttvar_shift": 5, "srtt_shift": 0}
    assert as_stack("no-tlp,rack", linux) == {"tlp": "off", "rack": True}
    assert as_stack("m=1.25,d=2", linux) == {"srtt_factor": 1.25, "dupack_threshold": 2}
    assert as_stack("no-sack", linux) == {"sack": False}
    assert as_stack("no-undo,no-frto", linux) == {"undo": False, "frto": False}


def test_a_fixed_threshold_stays_fixed_and_the_smart_one_follows_the_flight() -> None:
    fixed = {"dupack_threshold": 4, "max_reordering": 4}
    assert as_stack("d=4", "windows-xp") == fixed
    smart = as_stack("smart", "solaris-10")
    assert smart["early_retransmit"] == "flight"
    assert (smart["dupack_threshold"], smart["max_reordering"]) == (3, 3)
    assert (smart["rttvar_factor"], smart["min_rto"]) == (2, "100ms")


def test_the_initial_timeout_is_that_of_data_too_where_the_stack_has_one_for_both() -> None:
    assert as_stack("init_rto=3s", "linux-6.12") == {"initial_rto": "3s"}
    both = {"initial_rto": "1s", "fallback_rto": "1s"}
    assert as_stack("init_rto=1s", "freebsd-5") == both


def test_what_a_stack_has_or_cannot_have_is_not_tried_on_it() -> None:
    assert applicable(["k=4", "k=2", "rack", "undo"], "linux-2.4", {}) == ["k=2"]
    assert applicable(["tlp", "no-tlp"], "linux-6.12", {}) == ["no-tlp"]
    assert applicable(["tlp", "no-tlp"], "linux-6.12", {"tlp": "off"}) == ["tlp"]
    assert applicable(["sack", "no-sack", "init_rto=1s"], "linux-6.12", {}) == ["no-sack"]
    assert applicable(["sack", "no-sack"], "linux-6.12", {"sack": False}) == ["sack"]
    assert len(expanded(["grid"])) == 720
    with pytest.raises(UserError, match="nonsense"):
        expanded(["nonsense"])


def test_words_name_one_setting_or_many() -> None:
    assert named(["default", " k=2", "grid", "k=2", "d=smart"]) == ["k=2", "d=smart"]


def test_a_setting_becomes_sysctls() -> None:
    assert as_sysctl("rto_min=50ms") == {"net.ipv4.tcp_rto_min_us": 50_000}
    assert as_sysctl("no-sack") == {"net.ipv4.tcp_sack": 0}
    assert as_sysctl("no-tlp,d=2") == {
        "net.ipv4.tcp_early_retrans": 0,
        "net.ipv4.tcp_reordering": 2,
    }


def test_what_cannot_be_run_is_refused() -> None:
    with pytest.raises(UserError, match="smart: a kernel cannot be run with it"):
        as_sysctl("smart")
    with pytest.raises(UserError, match="k=2: a kernel cannot be run with it"):
        as_sysctl("k=2")


def test_kinds() -> None:
    kinds = [kind(setting) for setting in ("k=2", "rto_min=5ms", "no-tlp", "tlp,rack", "smart")]
    assert kinds == ["k", "min_rto", "tlp", "tlp,rack", "smart"]


def test_every_base_is_a_scenario() -> None:
    from rexmit import scenario as scenarios

    bases = usual()
    assert {base.stack for base in bases} == set(stacks.names())
    for base in bases:
        loaded = scenarios.from_plain(scenario(base, seed=1, kernel=False), where="t")
        of_scenario(loaded, base.stack, None)
    kernel = Base("kernel", KERNEL_SETTINGS)
    scenarios.from_plain(scenario(kernel, seed=1, kernel=True), where="t", engine="kernel")


def test_the_initial_timeout_and_sack_are_said_in_words() -> None:
    said = in_words("init_rto=3s,no-sack")
    assert said.startswith("timeout of 3 s before the first RTT sample (RFC 6298: 1 s) and no sel")
    assert in_words("sack").startswith("selective ACKs (RFC 2018)")
